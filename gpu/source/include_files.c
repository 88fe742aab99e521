/* The files of a closure, and what is told of them. */
#include "base/mem.h"
#include "gpu/source/include_search.h"
#include "gpu/source/python_strings.h"
#include "gpu/source/text_span.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FINDINGS_MAX 200

/* ---- findings ---- */

static void tell(struct include_builder *b, size_t file, const struct file_reference *at,
                 enum finding_severity severity, const char *code, const char *message) {
    const struct source_file *f = &b->ret->sources.files[file];
    if (at->skipped || json_array_size(b->ret->findings) >= FINDINGS_MAX) {
        return;
    }
    if (!b->has_lines) {
        lines_init(&b->lines, f->text, f->len);
        b->has_lines = true;
    }
    const struct finding_span span = text_span(&b->lines, at->start, at->end);
    json_array_append_new(b->ret->findings, finding_new("upskilld", code, severity,
                                                        message, f->display, &span));
}

void include_refuse(struct include_builder *b, size_t file,
                    const struct file_reference *at, const char *code, const char *fmt,
                    ...) {
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    tell(b, file, at, FINDING_ERROR, code, message);
}

void include_note(struct include_builder *b, size_t file, const struct file_reference *at,
                  const char *code, const char *fmt, ...) {
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    tell(b, file, at, FINDING_INFO, code, message);
}

/* ---- files ---- */

static void note_depth(struct include_builder *b, size_t file, unsigned depth) {
    if (file >= b->depth_cap) {
        b->depth_cap = b->depth_cap ? b->depth_cap * 2 : 32;
        b->depth = xreallocarray(b->depth, b->depth_cap, sizeof *b->depth);
    }
    b->depth[file] = depth;
}

int include_add_file(struct include_builder *b, const char *job_path, const char *display,
                     const char *text, size_t len, unsigned depth, struct err *err) {
    struct source_set *s = &b->ret->sources;
    int r = source_set_add(s, job_path, display, text, len, err);
    if (r < 0) {
        return r;
    }
    struct source_file *f = &s->files[s->count - 1];
    autofree char *before = xmalloc(len + 1);
    memcpy(before, f->text, len + 1);
    bool is_script = python_strings_is_script(job_path);
    if (is_script) {
        b->ret->script_units =
            python_strings_keep_cuda(f->text, len, b->options->script_unit);
    }
    if (source_text_settle(f->text, len) || is_script) {
        f->original = take(before);
    }
    note_depth(b, s->count - 1, depth);
    return 0;
}

char *include_closure_real_path(const struct include_closure *c, const char *job_path) {
    if (job_path[0] != 'r' || job_path[1] < '0' || job_path[1] > '9') {
        return NULL;
    }
    char *rest;
    unsigned long wanted = strtoul(job_path + 1, &rest, 10), i = 0;
    if (*rest != '/' && *rest) {
        return NULL;
    }
    while (c->roots && c->roots[i] && i < wanted) {
        i++;
    }
    if (!c->roots || !c->roots[i]) {
        return NULL;
    }
    return *rest ? path_join(c->roots[i], rest + 1) : xstrdup(c->roots[i]);
}
