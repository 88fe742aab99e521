#pragma once
/* log_room: a compiler's log, read with its sources. */
#include "gpu/facts/compiler_log.h"
#include "gpu/facts/ptx_lines.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

static const char *const cuda_dirs[] = {"/cuda/include", "/cuda/include/cccl", NULL};

/* One of the logs in data/logs, read with its source, the headers beside it and its PTX.
 */
struct reading {
    struct source_set sources;
    struct compiler_log log;
};

static inline void add_source(struct source_set *sources, const char *path) {
    size_t len = 0;
    autofree char *text = test_data_read(path, &len);
    cr_assert(zero(int, source_set_add(sources, path, path + 3, text, len, NULL)));
}

static inline void read_log(struct reading *r, const char *log, const char *source) {
    *r = (struct reading){0};
    autofree char *source_path = xasprintf("r0/src/%s.cu", source);
    autofree char *log_path = xasprintf("logs/%s.log", log);
    autofree char *ptx_path = xasprintf("logs/%s.ptx", log);
    add_source(&r->sources, source_path);
    add_source(&r->sources, "r0/inc/tmpl.cuh");
    add_source(&r->sources, "r0/inc/asm.cuh");
    size_t len, ptx_len;
    autofree char *text = test_data_read(log_path, &len);
    autofree char *ptx_text = test_data_try_read(ptx_path, &ptx_len);
    struct ptx_lines *ptx = ptx_text ? ptx_lines_new(ptx_text, ptx_len) : NULL;
    compiler_log_read(&r->log, text, len, &r->sources, cuda_dirs, ptx);
    ptx_lines_free(ptx);
}

static inline void read_text(struct reading *r, const char *log, size_t len,
                             const char *source) {
    *r = (struct reading){0};
    cr_assert(zero(int, source_set_add(&r->sources, "r0/k.cu", "k.cu", source,
                                       strlen(source), NULL)));
    compiler_log_read(&r->log, log, len, &r->sources, cuda_dirs, NULL);
}

static inline void reading_finish(struct reading *r) {
    compiler_log_finish(&r->log);
    source_set_finish(&r->sources);
}

/* Criterion's eq(str, …) wants char *. */
static inline char *string_of(const json_t *object, const char *key) {
    return (char *)(uintptr_t)json_get_string(object, key, "");
}

static inline bool starts(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

struct expected {
    const char *log, *source;
    const char *message; /* its beginning */
    const char *severity, *code, *from;
    const char *file;
    int line;
    const char *word; /* what the range covers; "" = a line without columns */
};

static inline char *all_text(const struct reading *r) {
    return json_dumps(r->log.findings, JSON_ENCODE_ANY);
}
