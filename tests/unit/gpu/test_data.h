#pragma once
/* test_data: the files under tests/unit/gpu/data. */
#include "base/mem.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* The whole file, NUL-ended; NULL when there is none. The caller frees. */
static inline char *test_data_try_read(const char *path, size_t *ret_len) {
    autofree char *full = xasprintf("%s/%s", TEST_DATA, path);
    FILE *file = fopen(full, "rb");
    if (!file) {
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = xmalloc((size_t)size + 1);
    *ret_len = fread(text, 1, (size_t)size, file);
    text[*ret_len] = '\0';
    fclose(file);
    return text;
}

static inline char *test_data_read(const char *path, size_t *ret_len) {
    char *text = test_data_try_read(path, ret_len);
    cr_assert(text != NULL, "%s is not there", path);
    return text;
}
