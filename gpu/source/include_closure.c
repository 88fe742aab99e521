#include "gpu/source/include_closure.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/strings.h"
#include "gpu/source/include_directives.h"
#include "protocol/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DEPTH_MAX 64
#define HEADERS "h" /* the folder of the request's headers inside the job */
#define FINDINGS_MAX 200
#define LOOKUPS_MAX 20000 /* each may touch the disk, and the daemon waits for it */

struct builder {
    const struct include_options *options;
    struct include_closure *ret;
    struct root *roots; /* as many as ret->roots; opened when first read */
    bool *root_open;
    size_t root_count;
    unsigned *depth; /* of each file */
    size_t depth_cap;
    size_t lookups;
    struct lines lines; /* of the file followed now, once a finding needed them */
    bool has_lines;
    bool absolute_names; /* findings name included files by their absolute paths */
};

/* ---- roots ---- */

static size_t root_of(const struct builder *b, const char *path) {
    for (size_t i = 0; i < b->root_count; i++) {
        if (path_is_beneath(path, b->ret->roots[i])) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void add_root(struct builder *b, const char *path) {
    struct include_closure *c = b->ret;
    c->roots = xreallocarray(c->roots, b->root_count + 2, sizeof *c->roots);
    c->roots[b->root_count++] = path_normalize(path);
    c->roots[b->root_count] = NULL;
}

/* The roots that were given, and the unit's own folder unless it lies beneath one. */
static void init_roots(struct builder *b, const char *unit_dir) {
    for (const char *const *r = b->options->roots; r && *r; r++) {
        if ((*r)[0] == '/') {
            add_root(b, *r);
        }
    }
    if (unit_dir && root_of(b, unit_dir) == SIZE_MAX) {
        add_root(b, unit_dir);
    }
    b->roots = xcalloc(b->root_count + 1, sizeof *b->roots);
    b->root_open = xcalloc(b->root_count + 1, sizeof *b->root_open);
}

static const char *below_root(const struct builder *b, size_t root, const char *path) {
    const char *rel = path + strlen(b->ret->roots[root]);
    while (*rel == '/') {
        rel++;
    }
    return rel;
}

static char *job_path_of(const struct builder *b, const char *path) {
    size_t root = root_of(b, path);
    const char *rel = below_root(b, root, path);
    return *rel ? xasprintf("r%zu/%s", root, rel) : xasprintf("r%zu", root);
}

static int read_in_root(struct builder *b, const char *path, struct buf *out,
                        struct err *err) {
    size_t i = root_of(b, path);
    if (i == SIZE_MAX) {
        return err_set(err, -EXDEV, "%s is outside the folders files may come from",
                       path);
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

/* ---- findings ---- */

static void refuse(struct builder *b, size_t file, const struct file_reference *at,
                   const char *code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

static void refuse(struct builder *b, size_t file, const struct file_reference *at,
                   const char *code, const char *fmt, ...) {
    const struct source_file *f = &b->ret->sources.files[file];
    if (at->skipped || json_array_size(b->ret->findings) >= FINDINGS_MAX) {
        return;
    }
    char message[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    if (!b->has_lines) {
        lines_init(&b->lines, f->text, f->len);
        b->has_lines = true;
    }
    const struct lines *lines = &b->lines;
    size_t line = lines_at(lines, at->start), end_line = lines_at(lines, at->end);
    struct finding_span span = {
        .line = (int)line + 1,
        .column = (int)(at->start - lines->starts[line]) + 1,
        .end_line = (int)end_line + 1,
        .end_column = (int)(at->end - lines->starts[end_line]) + 1,
    };
    json_array_append_new(b->ret->findings, finding_new("upskilld", code, FINDING_ERROR,
                                                        message, f->display, &span));
}

/* ---- hiding from the compiler ---- */

static void keep_original(struct source_file *f) {
    if (!f->original) {
        f->original = xmalloc(f->len + 1);
        memcpy(f->original, f->text, f->len + 1);
    }
}

static void blank_directive(struct source_file *f, const struct file_reference *r) {
    keep_original(f);
    for (size_t i = r->start; i < r->end; i++) {
        if (f->text[i] != '\n' && f->text[i] != '\r') {
            f->text[i] = ' ';
        }
    }
}

/* __has_include's operand becomes a file that is nowhere; its quotes stay. */
static void blank_operand(struct source_file *f, const struct file_reference *r) {
    keep_original(f);
    for (size_t i = r->start + 1; i + 1 < r->end; i++) {
        bool splice = f->text[i] == '\\' && strchr("\r\n", f->text[i + 1]);
        if (f->text[i] != '\n' && f->text[i] != '\r' && !splice) {
            f->text[i] = '_';
        }
    }
}

static void hide(struct builder *b, size_t file, const struct file_reference *r) {
    struct source_file *f = &b->ret->sources.files[file];
    if (r->kind == REFERENCE_HAS_INCLUDE) {
        blank_operand(f, r);
    } else {
        blank_directive(f, r);
    }
}

/* ---- files ---- */

static void note_depth(struct builder *b, size_t file, unsigned depth) {
    if (file >= b->depth_cap) {
        b->depth_cap = b->depth_cap ? b->depth_cap * 2 : 32;
        b->depth = xreallocarray(b->depth, b->depth_cap, sizeof *b->depth);
    }
    b->depth[file] = depth;
}

static int add_file(struct builder *b, const char *job_path, const char *display,
                    const char *text, size_t len, unsigned depth, struct err *err) {
    struct source_set *s = &b->ret->sources;
    int r = source_set_add(s, job_path, display, text, len, err);
    if (r < 0) {
        return r;
    }
    struct source_file *f = &s->files[s->count - 1];
    autofree char *before = xmalloc(len + 1);
    memcpy(before, f->text, len + 1);
    if (source_text_settle(f->text, len)) {
        f->original = take(before);
    }
    note_depth(b, s->count - 1, depth);
    return 0;
}

/* What findings call a file on this machine. */
static char *display_of(const struct builder *b, const char *path) {
    return xstrdup(b->absolute_names ? path : below_root(b, root_of(b, path), path));
}

/* ---- where an include leads ---- */

enum lookup { FOUND, MISSING, REFUSED };

struct search {
    struct builder *b;
    size_t file; /* that holds the reference */
    const struct file_reference *reference;
    bool escaped; /* a candidate lay outside every root */
};

/* One file the reference may mean, by its absolute path. */
static enum lookup try_path(struct search *s, const char *path) {
    struct builder *b = s->b;
    if (root_of(b, path) == SIZE_MAX) {
        s->escaped = true;
        return MISSING;
    }
    autofree char *job_path = job_path_of(b, path);
    if (source_set_find(&b->ret->sources, job_path)) {
        return FOUND;
    }
    struct err err = {0};
    autobuf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    int r = read_in_root(b, path, &text, &err);
    autofree char *display = display_of(b, path);
    unsigned depth = b->depth[s->file] + 1;
    if (r == 0 && depth > DEPTH_MAX) {
        refuse(b, s->file, s->reference, "include_too_deep",
               "%s is included more than %d levels deep; include it from fewer headers",
               display, DEPTH_MAX);
        return REFUSED;
    }
    r = r == 0 ? add_file(b, job_path, display, text.data, text.len, depth, &err) : r;
    switch (r) {
    case 0:
        return FOUND;
    case -ENOENT:
    case -ENOTDIR:
        return MISSING;
    case -EXDEV:
    case -ELOOP:
        refuse(b, s->file, s->reference, "include_outside_roots",
               "%s leads out of the folders files may come from (a link?); copy the file "
               "in or "
               "add its real folder to include_roots",
               display);
        return REFUSED;
    case -EFBIG:
    case -E2BIG:
    case -EMSGSIZE:
        refuse(b, s->file, s->reference, "include_too_large",
               "%s does not fit: one compilation takes at most %u MiB in %d files; leave "
               "out "
               "what the kernel does not need",
               display, SOURCE_SET_MAX_BYTES >> 20, SOURCE_SET_MAX_FILES);
        return REFUSED;
    default:
        refuse(b, s->file, s->reference, "include_not_regular",
               "%s can't be included: %s; include a regular file that can be read",
               display, err.msg);
        return REFUSED;
    }
}

/* A file of the request's headers, by its path there. */
static enum lookup try_header(struct search *s, const char *path) {
    struct builder *b = s->b;
    autofree char *normal = path_normalize(path);
    if (strncmp(normal, "..", 2) == 0 && (normal[2] == '/' || !normal[2])) {
        return MISSING;
    }
    const json_t *text = json_object_get(b->options->headers, normal);
    text = text ? text : json_object_get(b->options->headers, path);
    if (!json_is_string(text)) {
        return MISSING;
    }
    autofree char *job_path = xasprintf(HEADERS "/%s", normal);
    if (source_set_find(&b->ret->sources, job_path)) {
        return FOUND;
    }
    struct err err = {0};
    int r = add_file(b, job_path, path, json_string_value(text), json_string_length(text),
                     b->depth[s->file] + 1, &err);
    if (r < 0) {
        refuse(b, s->file, s->reference, "include_too_large", "%s does not fit: %s",
               normal, err.msg);
        return REFUSED;
    }
    return FOUND;
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? xstrndup(path, slash > path ? (size_t)(slash - path) : 1)
                 : xstrdup("");
}

/* A quoted name, relative to the file that includes it. */
static enum lookup try_beside(struct search *s, const char *target) {
    const char *from = s->b->ret->sources.files[s->file].path;
    if (strncmp(from, HEADERS "/", strlen(HEADERS "/")) == 0) {
        autofree char *dir = folder_of(from + strlen(HEADERS "/"));
        autofree char *path = path_join(dir, target);
        return try_header(s, path);
    }
    autofree char *real = include_closure_real_path(s->b->ret, from);
    if (!real) {
        return MISSING;
    }
    autofree char *dir = folder_of(real);
    autofree char *joined = path_join(dir, target);
    autofree char *path = path_normalize(joined);
    /* From one root into another the compiler could not follow inside the job. */
    if (root_of(s->b, path) != root_of(s->b, real)) {
        s->escaped = true;
        return MISSING;
    }
    return try_path(s, path);
}

static enum lookup find_target(struct search *s, const char *target,
                               enum include_form form) {
    enum lookup r = form == INCLUDE_QUOTED ? try_beside(s, target) : MISSING;
    r = r == MISSING ? try_header(s, target) : r;
    for (const char *const *dir = s->b->options->include_dirs;
         dir && *dir && r == MISSING; dir++) {
        autofree char *normal_dir = path_normalize(*dir);
        autofree char *joined = path_join(*dir, target);
        autofree char *path = path_normalize(joined);
        if (root_of(s->b, normal_dir) == SIZE_MAX) {
            continue;
        }
        if (root_of(s->b, path) != root_of(s->b, normal_dir)) {
            s->escaped = true;
            continue;
        }
        r = try_path(s, path);
    }
    return r;
}

static void refuse_outside(struct builder *b, size_t file,
                           const struct file_reference *r) {
    if (r->target[0] == '/') {
        refuse(b, file, r, "include_outside_roots",
               "absolute includes are not followed; name %s relative to this file or to "
               "one of "
               "include_roots",
               r->target);
    } else {
        refuse(b, file, r, "include_outside_roots",
               "%s leads out of the folders files may come from; add the folder that "
               "holds both "
               "files to include_roots",
               r->target);
    }
}

static void refuse_computed(struct builder *b, size_t file,
                            const struct file_reference *r) {
    refuse(
        b, file, r, "include_computed",
        "an include whose name is computed by macros is not followed; write \"name\" or "
        "<name>");
}

static void refuse_missing(struct builder *b, size_t file,
                           const struct file_reference *r) {
    if (r->kind == REFERENCE_INCLUDE) {
        refuse(
            b, file, r, "include_not_found",
            "%s is nowhere in the folders files may come from; correct the path or add "
            "the folder that holds the file to include_roots",
            r->target);
    }
}

/* Does the name lead out of the folder it is looked up in, whichever that is? */
static bool leads_up(const char *target) {
    autofree char *normal = path_normalize(target);
    return strncmp(normal, "..", 2) == 0 && (normal[2] == '/' || !normal[2]);
}

struct visit {
    struct builder *b;
    size_t file;
};

static void visit_reference(const struct file_reference *r, void *data) {
    struct visit *v = data;
    if (r->kind == REFERENCE_LINE) {
        hide(v->b, v->file, r);
        return;
    }
    if (!r->target) {
        refuse_computed(v->b, v->file, r);
        hide(v->b, v->file, r);
        return;
    }
    if (++v->b->lookups > LOOKUPS_MAX) {
        refuse(v->b, v->file, r, "include_too_large",
               "more than %d includes in one compilation; leave out what the kernel does "
               "not "
               "need",
               LOOKUPS_MAX);
        hide(v->b, v->file, r);
        return;
    }
    struct search s = {.b = v->b, .file = v->file, .reference = r};
    enum lookup found = MISSING;
    bool up = leads_up(r->target);
    if (r->target[0] == '/' || !*r->target) {
        s.escaped = true;
    } else if (!r->skipped || up) {
        found = find_target(&s, r->target, r->form);
    }
    if (found == MISSING && s.escaped) {
        refuse_outside(v->b, v->file, r);
    } else if (found == MISSING && up) { /* the compiler must not try its own folders */
        refuse_missing(v->b, v->file, r);
    }
    if (found == REFUSED || (found == MISSING && (s.escaped || up))) {
        hide(v->b, v->file, r);
    }
}

/* Every file's references in turn; the set grows on the way. The text that is read stays
 * as it is while its file's own copy is blanked. */
static void follow_all(struct builder *b) {
    for (size_t i = 0; i < b->ret->sources.count; i++) {
        struct visit v = {b, i};
        size_t len = b->ret->sources.files[i].len;
        autofree char *text = xmalloc(len + 1);
        memcpy(text, b->ret->sources.files[i].text, len + 1);
        include_directives_read(text, len, visit_reference, &v);
        if (b->has_lines) {
            lines_finish(&b->lines);
            b->has_lines = false;
        }
    }
}

/* ---- the unit ---- */

static bool is_header_name(const char *name) {
    const char *dot = strrchr(path_basename(name), '.');
    return dot && (strcmp(dot, ".cuh") == 0 || strcmp(dot, ".h") == 0 ||
                   strcmp(dot, ".hpp") == 0 || strcmp(dot, ".hh") == 0 ||
                   strcmp(dot, ".inl") == 0 || strcmp(dot, ".hxx") == 0);
}

/* A file name that is safe inside a job, from a client's display name. */
static char *plain_name(const char *display) {
    char *name = xstrdup(path_basename(display));
    for (char *c = name; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '"' || *c == '\\') {
            *c = '_';
        }
    }
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        free(name);
        return xstrdup("kernel.cu");
    }
    return name;
}

static int add_unit(struct builder *b, const char *job_path, const char *display,
                    const char *text, size_t len, struct err *err) {
    if (is_header_name(job_path)) {
        autofree char *unit = xasprintf("#include \"%s\"\n", job_path);
        int r = add_file(b, "unit.cu", display, unit, strlen(unit), 0, err);
        if (r < 0) {
            return r;
        }
    }
    return add_file(b, job_path, display, text, len, 0, err);
}

static int add_unit_file(struct builder *b, const char *path, const char *display,
                         struct err *err) {
    autobuf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    int r = read_in_root(b, path, &text, err);
    if (r < 0) {
        return r;
    }
    autofree char *job_path = job_path_of(b, path);
    return add_unit(b, job_path, display, text.data, text.len, err);
}

static int add_unit_text(struct builder *b, const char *dir, const char *display,
                         const char *text, size_t len, struct err *err) {
    autofree char *name = plain_name(display);
    autofree char *whole = dir ? path_join(dir, name) : NULL;
    autofree char *job_path = dir ? job_path_of(b, whole) : xasprintf("u/%s", name);
    return add_unit(b, job_path, display, text, len, err);
}

static void list_include_dirs(struct builder *b) {
    struct include_closure *c = b->ret;
    size_t n = 0;
    for (const char *const *dir = b->options->include_dirs; dir && *dir; dir++) {
        n++;
    }
    c->include_dirs = xcalloc(n + 2, sizeof *c->include_dirs);
    n = 0;
    if (json_object_size(b->options->headers) > 0) {
        c->include_dirs[n++] = xstrdup(HEADERS);
    }
    for (const char *const *dir = b->options->include_dirs; dir && *dir; dir++) {
        autofree char *normal = path_normalize(*dir);
        if (root_of(b, normal) != SIZE_MAX) {
            c->include_dirs[n++] = job_path_of(b, normal);
        }
    }
}

/* Whether the unit's include of `target` means one of the files that were found. */
static bool is_users_header(const char *target, enum include_form form, void *data) {
    const struct include_closure *c = data;
    const struct source_set *s = &c->sources;
    if (form == INCLUDE_QUOTED) {
        autofree char *dir = folder_of(s->files[0].path);
        autofree char *joined = path_join(dir, target);
        autofree char *path = path_normalize(joined);
        if (source_set_find(s, path)) {
            return true;
        }
    }
    for (char **dir = c->include_dirs; *dir; dir++) {
        autofree char *joined = path_join(*dir, target);
        autofree char *path = path_normalize(joined);
        if (source_set_find(s, path)) {
            return true;
        }
    }
    return false;
}

void include_closure_find_prefix(struct include_closure *c) {
    const struct source_file *unit = &c->sources.files[0];
    free(c->prefix);
    c->prefix = include_prefix_read(unit->text, unit->len, is_users_header, c);
}

static void finish_builder(struct builder *b) {
    for (size_t i = 0; i < b->root_count; i++) {
        if (b->root_open[i]) {
            root_close(&b->roots[i]);
        }
    }
    free(b->roots);
    free(b->root_open);
    free(b->depth);
}

int include_closure_build(const char *path, const char *display, const char *text,
                          size_t len, const struct include_options *options,
                          struct include_closure *ret, struct err *err) {
    *ret = (struct include_closure){.findings = json_array()};
    struct builder b = {.options = options, .ret = ret};
    autofree char *normal = path ? path_normalize(path) : NULL;
    autofree char *dir = normal && !text ? folder_of(normal)
                         : normal        ? xstrdup(normal)
                                         : NULL;
    b.absolute_names = display[0] == '/';
    init_roots(&b, dir);
    int r = text ? add_unit_text(&b, dir, display, text, len, err)
                 : add_unit_file(&b, normal, display, err);
    if (r == 0) {
        list_include_dirs(&b);
        follow_all(&b);
    }
    finish_builder(&b);
    if (r < 0) {
        include_closure_finish(ret);
    }
    return r;
}

void include_closure_finish(struct include_closure *c) {
    source_set_finish(&c->sources);
    strings_free(c->include_dirs);
    strings_free(c->roots);
    json_decref(c->findings);
    free(c->prefix);
    *c = (struct include_closure){0};
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
