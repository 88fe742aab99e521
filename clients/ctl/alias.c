#include "clients/ctl/alias.h"

#include "base/mem.h"

#include <string.h>

static const char *const aliases[][3] = {
    {"status", "daemon", "status"}, {"runs", "run", "list"},
    {"jobs", "job", "list"},        {"generate", "skill", "generate"},
    {"eval", "skill", "evaluate"},  {"benchmark", "skill", "evaluate"},
    {"list", "skill", "list"},      {"plot", "run", "list"}};

const char **alias_expand(const char **words, int *count) {
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++) {
        if (*count && strcmp(words[0], aliases[i][0]) == 0) {
            words = xreallocarray(words, (size_t)*count + 2, sizeof *words);
            memmove(words + 2, words + 1, (size_t)(*count - 1) * sizeof *words);
            words[0] = aliases[i][1];
            words[1] = aliases[i][2];
            ++*count;
            break;
        }
    }
    return words;
}
