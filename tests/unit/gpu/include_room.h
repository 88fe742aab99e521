#pragma once
/* include_room: a project of files whose includes are followed. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/source/include_closure.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* A project in a fresh folder: proj/src, proj/include and, outside it, out/secret.txt. */
struct project {
    char dir[64];
    char *proj, *include;
    const char *roots[2], *dirs[2];
    struct include_options options;
    struct include_closure closure;
};

static inline void put(const struct project *p, const char *rel, const char *text) {
    struct root r;
    struct err err = {0};
    cr_assert(zero(int, root_open(&r, p->dir, &err)), "%s", err.msg);
    cr_assert(zero(int, root_write(&r, rel, text, strlen(text), 0644, &err)), "%s",
              err.msg);
    root_close(&r);
}

static inline void project_open(struct project *p) {
    memset(p, 0, sizeof *p);
    strcpy(p->dir, "/tmp/include-closure-XXXXXX");
    cr_assert_not_null(mkdtemp(p->dir));
    p->proj = xasprintf("%s/proj", p->dir);
    p->include = xasprintf("%s/proj/include", p->dir);
    p->roots[0] = p->proj;
    p->dirs[0] = p->include;
    p->options = (struct include_options){.roots = p->roots, .include_dirs = p->dirs};
    put(p, "proj/src/.keep", "");
    put(p, "proj/include/.keep", "");
    put(p, "out/secret.txt", "the secret\n");
}

static inline void project_close(struct project *p) {
    include_closure_finish(&p->closure);
    dir_remove(p->dir, NULL);
    free(p->proj);
    free(p->include);
}

static inline int build_unit(struct project *p, const char *text) {
    put(p, "proj/src/k.cu", text);
    autofree char *path = xasprintf("%s/src/k.cu", p->proj);
    struct err err = {0};
    include_closure_finish(&p->closure);
    int r =
        include_closure_build(path, "src/k.cu", NULL, 0, &p->options, &p->closure, &err);
    if (r == 0) {
        include_closure_find_prefix(&p->closure);
    }
    return r;
}

static inline const struct source_file *file(const struct project *p, const char *path) {
    return source_set_find(&p->closure.sources, path);
}

/* "code@line:column …" */
static inline char *spell_findings(const struct project *p) {
    struct buf out = BUF_INIT(1u << 16);
    size_t i;
    json_t *f;
    json_array_foreach(p->closure.findings, i, f) {
        buf_addf(&out, "%s%s@%d:%d", i ? " " : "", json_get_string(f, "code", ""),
                 (int)json_get_integer(f, "line", 0),
                 (int)json_get_integer(f, "column", 0));
        cr_expect(eq(str, (char *)json_get_string(f, "severity", ""), "error"));
        cr_expect(eq(str, (char *)json_get_string(f, "source", ""), "upskilld"));
    }
    return buf_detach(&out);
}
