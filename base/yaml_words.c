#include "base/yaml_words.h"

#include "base/mem.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *s, const char *const words[]) {
    for (; *words; words++) {
        if (strcmp(s, *words) == 0) {
            return true;
        }
    }
    return false;
}

static json_t *typed_number(const char *s, size_t len) {
    if (len > 40 || strspn(s, "+-.0123456789eE") != len || !strpbrk(s, "0123456789")) {
        return NULL;
    }
    char *end;
    errno = 0;
    if (!strpbrk(s, ".eE")) {
        long long i = strtoll(s, &end, 10);
        return *end || errno ? NULL : json_integer(i);
    }
    double d = strtod(s, &end);
    return *end || errno ? NULL : json_real(d);
}

json_t *yaml_plain_scalar(const char *s, size_t len) {
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    if (strlen(s) != len) {
        return NULL;
    }
    if (is_word(s, nulls)) {
        return json_null();
    }
    if (is_word(s, yes) || is_word(s, no)) {
        return json_boolean(is_word(s, yes));
    }
    return typed_number(s, len);
}

const char *yaml_problem_cure(const char *problem) {
    static const struct {
        const char *problem, *cure;
    } cures[] = {
        {"mapping values are not allowed", " (a value with \": \" in it must be quoted)"},
        {"could not find expected ':'", " (a line here is no \"key: value\")"},
        {"cannot start any token",
         " (indent with spaces; a value that begins with @, ` or % must be quoted)"},
        {"unexpected end of stream", " (a quote is not closed)"},
        {"unexpected document indicator", " (a quote is not closed)"},
        {"did not find expected key",
         " (indented otherwise than the lines above, or text after a closed quote or "
         "bracket)"},
        {"did not find expected ',' or", " (a bracket is not closed)"},
        {"did not find expected <document start>",
         " (indented otherwise than the lines above)"},
        {"did not find expected '-' indicator",
         " (indented otherwise than the lines above)"},
        {"unknown escape character",
         " (a backslash within double quotes is written \\\\)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cures); i++) {
        if (strstr(problem, cures[i].problem)) {
            return cures[i].cure;
        }
    }
    return "";
}
