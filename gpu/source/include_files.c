/* The files of a closure: where they may come from, what they are called inside the job,
 * and what is told of them. */
#include "base/find.h"
#include "gpu/source/include_search.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "gpu/source/python_strings.h"
#include "protocol/finding.h"

#define FINDINGS_MAX 200

/* ---- folders that files may come from, and names inside the job ---- */

size_t include_root_of(const struct include_builder *b, const char *path) {
    size_t at = first_of(i, 0, b->root_count, path_is_beneath(path, b->ret->roots[i]));
    return at < b->root_count ? at : SIZE_MAX;
}

/* Before those that lie beneath it: a path is of the first root that it is beneath, and
 * files of one root may include each other. */
static void add_root(struct include_builder *b, const char *path) {
    struct include_closure *c = b->ret;
    char *root = path_normalize(path);
    c->roots = xreallocarray(c->roots, b->root_count + 2, sizeof *c->roots);
    size_t at = 0;
    while (at < b->root_count && !path_is_beneath(c->roots[at], root)) {
        at++;
    }
    memmove(c->roots + at + 1, c->roots + at, (b->root_count - at) * sizeof *c->roots);
    c->roots[at] = root;
    c->roots[++b->root_count] = NULL;
}

void include_roots_init(struct include_builder *b, const char *unit_dir) {
    for (const char *const *r = b->options->roots; r && *r; r++) {
        if ((*r)[0] == '/') {
            add_root(b, *r);
        }
    }
    if (unit_dir && include_root_of(b, unit_dir) == SIZE_MAX) {
        add_root(b, unit_dir);
    }
    b->roots = xcalloc(b->root_count + 1, sizeof *b->roots);
    b->root_open = xcalloc(b->root_count + 1, sizeof *b->root_open);
}

static const char *below_root(const struct include_builder *b, size_t root,
                              const char *path) {
    const char *rel = path + strlen(b->ret->roots[root]);
    while (*rel == '/') {
        rel++;
    }
    return rel;
}

char *include_job_path(const struct include_builder *b, const char *path) {
    size_t root = include_root_of(b, path);
    const char *rel = below_root(b, root, path);
    return *rel ? xasprintf("r%zu/%s", root, rel) : xasprintf("r%zu", root);
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

int include_read(struct include_builder *b, const char *path, struct buf *out,
                 struct err *err) {
    size_t i = include_root_of(b, path);
    if (i == SIZE_MAX) {
        return err_set(err, -EXDEV, "%s is outside the folders that may be read",
                       path);
    }
    const json_t *text = json_object_get(b->options->headers, path);
    if (text) { /* what stands in an editor, and not yet on the disk */
        return buf_add(out, json_string_value(text), json_string_length(text));
    }
    if (!b->root_open[i]) {
        int r = root_open(&b->roots[i], b->ret->roots[i], err);
        if (r < 0) {
            return r;
        }
        b->root_open[i] = true;
    }
    return root_read(&b->roots[i], below_root(b, i, path), out, err);
}

char *include_display(const struct include_builder *b, const char *path) {
    return xstrdup(b->absolute_names ? path
                                     : below_root(b, include_root_of(b, path), path));
}

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
    const struct finding_span span = finding_span_of(&b->lines, at->start, at->end);
    json_array_append_new(b->ret->findings, finding_new("upskilld", code, severity,
                                                        message, f->display, &span));
}

void include_refuse(struct include_builder *b, size_t file,
                    const struct file_reference *at, const char *code, const char *fmt,
                    ...) {
    char message[1024];
    text_format(message, fmt);
    tell(b, file, at, FINDING_ERROR, code, message);
}

void include_note(struct include_builder *b, size_t file, const struct file_reference *at,
                  const char *code, const char *fmt, ...) {
    char message[1024];
    text_format(message, fmt);
    tell(b, file, at, FINDING_INFO, code, message);
}

/* ---- files ---- */

static void note_depth(struct include_builder *b, size_t file, unsigned depth) {
    list_room(b->depth, file, b->depth_cap, 32);
    b->depth[file] = depth;
}

static bool is_script(const char *name) {
    size_t len = strlen(name);
    return len > 3 && strcmp(name + len - 3, ".py") == 0;
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
    bool script = is_script(job_path);
    if (script) {
        b->ret->script_units =
            python_strings_keep_cuda(f->text, len, b->options->script_unit);
    }
    if (source_text_settle(f->text, len) || script) {
        f->original = take(before);
    }
    note_depth(b, s->count - 1, depth);
    return 0;
}
