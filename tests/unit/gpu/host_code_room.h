#pragma once
/* host_code_room: a text without its host code. */
#include "base/buf.h"
#include "base/mem.h"
#include "host_code_blank.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <jansson.h>
#include <string.h>

/* Blanked, with runs of blanks made one and the ends trimmed. */
static inline char *blank(const char *text, bool *has_host) {
    autofree char *copy = xstrdup(text);
    struct host_code h;
    host_code_blank(copy, strlen(copy), &h);
    *has_host = h.has_host_code;
    host_code_finish(&h);
    cr_expect(eq(sz, strlen(copy), strlen(text)), "the length changed: %s", text);
    struct buf out = BUF_INIT(1u << 20);
    for (const char *c = copy; *c; c++) {
        bool space = *c == ' ' || *c == '\n';
        if (!space) {
            buf_addc(&out, *c);
        } else if (out.len && out.data[out.len - 1] != ' ') {
            buf_addc(&out, ' ');
        }
    }
    while (out.len && out.data[out.len - 1] == ' ') {
        out.data[--out.len] = '\0';
    }
    return buf_detach(&out);
}

struct blank_case {
    const char *text, *left; /* left NULL: all of it, and no host code */
};

static inline void check_cases(const struct blank_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool has_host = false;
        autofree char *got = blank(cases[i].text, &has_host);
        const char *want = cases[i].left ? cases[i].left : cases[i].text;
        cr_expect(eq(str, got, (char *)want), "of: %s", cases[i].text);
        cr_expect(eq(int, has_host, cases[i].left != NULL), "of: %s", cases[i].text);
    }
}
