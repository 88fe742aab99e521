/* The folders that files may come from, and their names inside the job. */
#include "gpu/source/include_search.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

size_t include_root_of(const struct include_builder *b, const char *path) {
    for (size_t i = 0; i < b->root_count; i++) {
        if (path_is_beneath(path, b->ret->roots[i])) {
            return i;
        }
    }
    return SIZE_MAX;
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

int include_read(struct include_builder *b, const char *path, struct buf *out,
                 struct err *err) {
    size_t i = include_root_of(b, path);
    if (i == SIZE_MAX) {
        return err_set(err, -EXDEV, "%s is outside the folders files may come from",
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

char *include_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? xstrndup(path, slash > path ? (size_t)(slash - path) : 1)
                 : xstrdup("");
}
