/* Error codes of CUDA's driver: names, hints, and what they say of the context. */
#include "gpu/driver/cuda_api.h"

#include <stdio.h>

struct named_code {
    const char *name, *hint; /* hint: "" where there is none */
    int code;
    enum { LOST = 1, FOREIGN = 2 } marks;
};
#include "gpu/cuda_codes_table.h"

static const struct named_code *code_find(int code) {
    for (const struct named_code *c = named_codes; c->name; c++) {
        if (c->code == code) {
            return c;
        }
    }
    return NULL;
}

const char *cuda_code_name(int code) {
    static _Thread_local char unknown[32];
    const struct named_code *found = code_find(code);
    if (found) {
        return found->name;
    }
    snprintf(unknown, sizeof unknown, "CUDA_ERROR_%d", code);
    return unknown;
}

const char *cuda_code_hint(int code) {
    const struct named_code *found = code_find(code);
    return found ? found->hint : "";
}

static bool has_mark(int code, unsigned mark) {
    const struct named_code *found = code_find(code);
    return found && (found->marks & mark);
}

bool cuda_code_is_foreign(int code) {
    return has_mark(code, FOREIGN);
}

bool cuda_code_is_sticky(int code) {
    return has_mark(code, LOST);
}
