#pragma once
/* spec_text: check specs for tests, written with single quotes. */
#include "gpu/spec/kernel_spec.h"

#include <criterion/criterion.h>
#include <stdio.h>

static inline int read_spec(struct kernel_spec *ret, const char *text, struct err *err) {
    char json[4096];
    /* What a test does not care about. */
    snprintf(json, sizeof json, "{%s%s}",
             strstr(text, "'launch") ? "" : "'launch':{'grid':[1],'block':[1]},", text);
    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    autojson *params = json_loads(json, 0, NULL);
    cr_assert(params != NULL, "%s", json);
    return kernel_spec_read(ret, params, err);
}
