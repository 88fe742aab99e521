#include "gpu/source/include_closure.h"

#include "base/buf.h"
#include "base/strings.h"
#include "gpu/source/include_macros.h"
#include "gpu/source/include_search.h"

#define LOOKUPS_MAX 20000 /* each may touch the disk, and the daemon waits for it */

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

static void hide(struct include_builder *b, size_t file, const struct file_reference *r) {
    struct source_file *f = &b->ret->sources.files[file];
    if (r->kind == REFERENCE_HAS_INCLUDE) {
        blank_operand(f, r);
    } else {
        blank_directive(f, r);
    }
}

/* ---- what an include means ---- */

static void refuse_outside(struct include_builder *b, size_t file,
                           const struct file_reference *r) {
    if (r->target[0] == '/') {
        include_refuse(
            b, file, r, "include_outside_roots",
            "absolute includes are not followed; name %s relative to this file or to a "
            "folder given with -I",
            r->target);
    } else {
        include_refuse(
            b, file, r, "include_outside_roots",
            "%s is outside the folders that may be read; open the folder that has both "
            "files as the workspace",
            r->target);
    }
}

static void refuse_computed(struct include_builder *b, size_t file,
                            const struct file_reference *r) {
    include_refuse(
        b, file, r, "include_computed",
        "an include whose name is computed by macros is not followed; write \"name\" or "
        "<name>");
}

static void refuse_missing(struct include_builder *b, size_t file,
                           const struct file_reference *r) {
    if (r->kind == REFERENCE_INCLUDE) {
        include_refuse(
            b, file, r, "include_not_found",
            "%s was not found in the folders that may be read; correct the path, or give "
            "its folder with -I, or for all files with include_dirs in upskilld.yaml or "
            "with a compile_commands.json",
            r->target);
    }
}

/* Does the name lead out of the folder it is looked up in, whichever that is? */
static bool leads_up(const char *target) {
    autofree char *normal = path_normalize(target);
    return strncmp(normal, "..", 2) == 0 && (normal[2] == '/' || !normal[2]);
}

static void later_add(struct include_builder *b, size_t file,
                      const struct file_reference *r) {
    list_room(b->later, b->later_count, b->later_cap, 16);
    b->later[b->later_count++] = (struct include_later){file, *r};
}

struct visit {
    struct include_builder *b;
    size_t file;
};

static void visit_reference(const struct file_reference *r, void *data) {
    struct visit *v = data;
    if (r->kind == REFERENCE_LINE) {
        hide(v->b, v->file, r);
        return;
    }
    if (!r->target) {
        later_add(v->b, v->file, r);
        return;
    }
    if (++v->b->lookups > LOOKUPS_MAX) {
        include_refuse(
            v->b, v->file, r, "include_too_large",
            "more than %d includes in one compilation; leave out what the kernel does "
            "not "
            "need",
            LOOKUPS_MAX);
        hide(v->b, v->file, r);
        return;
    }
    struct include_search s = {.b = v->b, .file = v->file, .reference = r};
    enum include_lookup found = INCLUDE_MISSING;
    bool up = leads_up(r->target);
    if (r->target[0] == '/' || !*r->target) {
        s.escaped = true;
    } else if (!r->skipped || up) {
        found = include_search_target(&s, r->target, r->form);
    }
    if (found == INCLUDE_MISSING && !s.escaped && !up && !r->skipped &&
        r->form == INCLUDE_QUOTED && r->kind == REFERENCE_INCLUDE) {
        found = include_search_usual(&s, r->target);
    }
    if (found == INCLUDE_MISSING && s.escaped) {
        refuse_outside(v->b, v->file, r);
    } else if (found == INCLUDE_MISSING &&
               up) { /* the compiler must not try its own folders */
        refuse_missing(v->b, v->file, r);
    }
    if (found == INCLUDE_REFUSED || (found == INCLUDE_MISSING && (s.escaped || up))) {
        hide(v->b, v->file, r);
    }
}

static void forget_lines(struct include_builder *b) {
    if (b->has_lines) {
        lines_finish(&b->lines);
        b->has_lines = false;
    }
}

/* Every file's references in turn, from the first that was not followed on; the set grows
 * on the way. The text that is read stays as it is while its file's own copy is blanked.
 */
static void follow_new(struct include_builder *b) {
    for (; b->followed < b->ret->sources.count; b->followed++) {
        struct visit v = {b, b->followed};
        size_t len = b->ret->sources.files[v.file].len;
        autofree char *text = xmalloc(len + 1);
        memcpy(text, b->ret->sources.files[v.file].text, len + 1);
        include_directives_read(text, len, visit_reference, &v);
        forget_lines(b);
    }
}

/* A computed include whose macro is known by now takes its name and is followed. */
static bool expand_one(struct include_builder *b, const struct include_later *l) {
    struct source_file *f = &b->ret->sources.files[l->file];
    autofree char *directive =
        include_macro_expand(&b->ret->sources, f->text, &l->reference);
    if (!directive) {
        return false;
    }
    keep_original(f);
    memcpy(f->text + l->reference.start, directive, strlen(directive));
    char *close = strpbrk(directive + strlen("#include") + 1, ">\"");
    struct file_reference r = l->reference;
    r.form = *close == '>' ? INCLUDE_ANGLED : INCLUDE_QUOTED;
    r.target = directive + strlen("#include") + 1;
    *close = '\0';
    struct visit v = {b, l->file};
    visit_reference(&r, &v);
    forget_lines(b);
    return true;
}

/* Adds what one definition of an include's macro names, without a word if that cannot be
 * had: which definition counts is for the compiler of a whole program to say. */
static void seek_target(const char *target, void *data) {
    struct visit *v = data;
    size_t len = strlen(target);
    autofree char *name = len > 2 ? xstrndup(target + 1, len - 2) : NULL;
    const struct file_reference silent = {.skipped = true};
    struct include_search s = {.b = v->b, .file = v->file, .reference = &silent};
    if (name && name[0] != '/' && !leads_up(name) && ++v->b->lookups <= LOOKUPS_MAX) {
        (void)include_search_target(
            &s, name, target[0] == '<' ? INCLUDE_ANGLED : INCLUDE_QUOTED);
    }
}

/* A computed include or question that stays unknown: refused, unless it can be told what
 * any compiler would say. */
static void settle_computed(struct include_builder *b, const struct include_later *l) {
    const struct file_reference *r = &l->reference;
    struct source_file *f = &b->ret->sources.files[l->file];
    keep_original(f);
    if (include_macro_answer_no(f->text, f->len, r)) {
        return;
    }
    if (include_macro_is_unknown(&b->ret->sources, f->text, r)) {
        memcpy(memmem(f->text + r->start, r->end - r->start, "include", 7), "error  ", 7);
        return;
    }
    refuse_computed(b, l->file, r);
    hide(b, l->file, r);
}

/* Until no macro and no file is known that was not before; what is left is settled. */
static void follow_all(struct include_builder *b) {
    const struct source_set *all = &b->ret->sources;
    follow_new(b);
    for (size_t before = 0, files = 0;
         b->later_count && (before != b->later_count || files != all->count);) {
        before = b->later_count;
        files = all->count;
        struct include_later *list = b->later;
        b->later = NULL;
        b->later_count = b->later_cap = 0;
        for (size_t i = 0; i < before; i++) {
            if (!expand_one(b, &list[i])) {
                struct visit v = {b, list[i].file};
                include_macro_each(all, all->files[v.file].text, &list[i].reference,
                                   seek_target, &v);
                later_add(b, list[i].file, &list[i].reference);
            }
        }
        free(list);
        follow_new(b);
    }
    for (size_t i = 0; i < b->later_count; i++) {
        settle_computed(b, &b->later[i]);
        forget_lines(b);
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

static int add_unit(struct include_builder *b, const char *job_path, const char *display,
                    const char *text, size_t len, struct err *err) {
    if (is_header_name(job_path)) {
        autofree char *unit = xasprintf("#include \"%s\"\n", job_path);
        int r = include_add_file(b, SOURCE_SET_UNIT, display, unit, strlen(unit), 0, err);
        if (r < 0) {
            return r;
        }
    }
    return include_add_file(b, job_path, display, text, len, 0, err);
}

static int add_unit_file(struct include_builder *b, const char *path, const char *display,
                         struct err *err) {
    autobuf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    int r = include_read(b, path, &text, err);
    if (r < 0) {
        return r;
    }
    autofree char *job_path = include_job_path(b, path);
    return add_unit(b, job_path, display, text.data, text.len, err);
}

static int add_unit_text(struct include_builder *b, const char *dir, const char *display,
                         const char *text, size_t len, struct err *err) {
    autofree char *name = plain_name(display);
    autofree char *whole = dir ? path_join(dir, name) : NULL;
    autofree char *job_path = dir ? include_job_path(b, whole) : xasprintf("u/%s", name);
    return add_unit(b, job_path, display, text, len, err);
}

static void list_include_dirs(struct include_builder *b) {
    struct include_closure *c = b->ret;
    size_t n = 0;
    for (const char *const *dir = b->options->include_dirs; dir && *dir; dir++) {
        n++;
    }
    c->include_dirs = xcalloc(n + 2, sizeof *c->include_dirs);
    n = 0;
    if (json_object_size(b->options->headers) > 0) {
        c->include_dirs[n++] = xstrdup(INCLUDE_HEADERS);
    }
    for (const char *const *dir = b->options->include_dirs; dir && *dir; dir++) {
        autofree char *normal = path_normalize(*dir);
        if (include_root_of(b, normal) != SIZE_MAX) {
            c->include_dirs[n++] = include_job_path(b, normal);
        }
    }
}

/* Whether the unit's include of `target` means one of the files that were found. */
static bool is_users_header(const char *target, enum include_form form, void *data) {
    const struct include_closure *c = data;
    const struct source_set *s = &c->sources;
    if (form == INCLUDE_QUOTED) {
        autofree char *dir = path_folder(s->files[0].path);
        autofree char *joined = path_join(dir, target);
        autofree char *path = path_normalize(joined);
        if (source_set_find(s, path)) {
            return true;
        }
    }
    for (char **dir = c->include_dirs; *dir; dir++) {
        autofree char *path = path_resolve(*dir, target);
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

static void finish_builder(struct include_builder *b) {
    for (size_t i = 0; i < b->root_count; i++) {
        if (b->root_open[i]) {
            root_close(&b->roots[i]);
        }
    }
    free(b->roots);
    free(b->root_open);
    free(b->depth);
    free(b->later);
    strings_free(b->assumed);
}

int include_closure_build(const char *path, const char *display, const char *text,
                          size_t len, const struct include_options *options,
                          struct include_closure *ret, struct err *err) {
    *ret = (struct include_closure){.findings = json_array()};
    struct include_builder b = {.options = options, .ret = ret};
    autofree char *normal = path ? path_normalize(path) : NULL;
    autofree char *dir = normal && !text ? path_folder(normal)
                         : normal        ? xstrdup(normal)
                                         : NULL;
    b.absolute_names = display[0] == '/';
    include_roots_init(&b, dir);
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
