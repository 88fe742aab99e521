#pragma once
/* catalog_room: a catalog over folders of skills, asked. */
#include "tests/unit/skills/lookup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sys/resource.h>

static const char *const all_scopes[] = {"bundled", "agent", "user", "project", NULL};
static const char *const user_scope[] = {"user", NULL};

static inline json_t *list(struct fixture *f) {
    struct err err = {0};
    json_t *l = catalog_list(f->catalog, NULL, &err);
    cr_assert(ne(ptr, l, NULL), "%s", err.msg);
    return l;
}

static inline size_t count(struct fixture *f) {
    autojson *l = list(f);
    return json_array_size(l);
}

static inline void open_with(struct fixture *f, const char *const *scopes) {
    fixture_open(f);
    fixture_folders(f, scopes);
    cr_assert(zero(int, fixture_wait(f)), "%s",
              json_get_string(catalog_status(f->catalog), "problem", ""));
}

static inline void close_and_drop(struct fixture *f) {
    cr_expect(zero(int, fixture_close(f)));
    fixture_drop(f);
}
