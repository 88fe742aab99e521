#include "gpu/source/include_search.h"

#include "base/buf.h"
#include "base/err.h"

#define DEPTH_MAX 64

/* One file the reference may mean, by its absolute path. */
static enum include_lookup try_path(struct include_search *s, const char *path) {
    struct include_builder *b = s->b;
    if (include_root_of(b, path) == SIZE_MAX) {
        s->escaped = true;
        return INCLUDE_MISSING;
    }
    autofree char *job_path = include_job_path(b, path);
    if (source_set_find(&b->ret->sources, job_path)) {
        return INCLUDE_FOUND;
    }
    struct err err = {0};
    autobuf text = BUF_INIT(SOURCE_SET_MAX_BYTES);
    int r = include_read(b, path, &text, &err);
    autofree char *display = include_display(b, path);
    unsigned depth = b->depth[s->file] + 1;
    if (r == 0 && depth > DEPTH_MAX) {
        include_refuse(
            b, s->file, s->reference, "include_too_deep",
            "%s is included more than %d levels deep; include it from fewer headers",
            display, DEPTH_MAX);
        return INCLUDE_REFUSED;
    }
    r = r == 0 ? include_add_file(b, job_path, display, text.data, text.len, depth, &err)
               : r;
    switch (r) {
    case 0:
        return INCLUDE_FOUND;
    case -ENOENT:
    case -ENOTDIR:
    case -EISDIR: /* "thread" may be a folder of the project's: compilers look on */
        return INCLUDE_MISSING;
    case -EXDEV:
    case -ELOOP:
        include_refuse(
            b, s->file, s->reference, "include_outside_roots",
            "%s is outside the folders that may be read (a link?); copy the file in or "
            "give its real folder with -I",
            display);
        return INCLUDE_REFUSED;
    case -EFBIG:
    case -E2BIG:
    case -EMSGSIZE:
        include_refuse(
            b, s->file, s->reference, "include_too_large",
            "%s does not fit: one compilation takes at most %u MiB in %d files; leave "
            "out "
            "what the kernel does not need",
            display, SOURCE_SET_MAX_BYTES >> 20, SOURCE_SET_MAX_FILES);
        return INCLUDE_REFUSED;
    default:
        include_refuse(
            b, s->file, s->reference, "include_not_regular",
            "%s can't be included: %s; include a regular file that can be read", display,
            err.msg);
        return INCLUDE_REFUSED;
    }
}

/* A file of the request's headers, by its path there. */
static enum include_lookup try_header(struct include_search *s, const char *path) {
    struct include_builder *b = s->b;
    autofree char *normal = path_normalize(path);
    if (strncmp(normal, "..", 2) == 0 && (normal[2] == '/' || !normal[2])) {
        return INCLUDE_MISSING;
    }
    const json_t *text = json_object_get(b->options->headers, normal);
    text = text ? text : json_object_get(b->options->headers, path);
    if (!json_is_string(text)) {
        return INCLUDE_MISSING;
    }
    autofree char *job_path = xasprintf(INCLUDE_HEADERS "/%s", normal);
    if (source_set_find(&b->ret->sources, job_path)) {
        return INCLUDE_FOUND;
    }
    struct err err = {0};
    int r = include_add_file(b, job_path, path, json_string_value(text),
                             json_string_length(text), b->depth[s->file] + 1, &err);
    if (r < 0) {
        include_refuse(b, s->file, s->reference, "include_too_large",
                       "%s does not fit: %s", normal, err.msg);
        return INCLUDE_REFUSED;
    }
    return INCLUDE_FOUND;
}

/* A quoted name, relative to the file that includes it. */
static enum include_lookup try_beside(struct include_search *s, const char *target) {
    const char *from = s->b->ret->sources.files[s->file].path;
    if (strncmp(from, INCLUDE_HEADERS "/", strlen(INCLUDE_HEADERS "/")) == 0) {
        autofree char *dir = path_folder(from + strlen(INCLUDE_HEADERS "/"));
        autofree char *path = path_join(dir, target);
        return try_header(s, path);
    }
    autofree char *real = include_closure_real_path(s->b->ret, from);
    if (!real) {
        return INCLUDE_MISSING;
    }
    autofree char *dir = path_folder(real);
    autofree char *path = path_resolve(dir, target);
    /* From one root into another the compiler could not follow inside the job. */
    if (include_root_of(s->b, path) != include_root_of(s->b, real)) {
        s->escaped = true;
        return INCLUDE_MISSING;
    }
    return try_path(s, path);
}

enum include_lookup include_search_target(struct include_search *s, const char *target,
                                          enum include_form form) {
    enum include_lookup r =
        form == INCLUDE_QUOTED ? try_beside(s, target) : INCLUDE_MISSING;
    r = r == INCLUDE_MISSING ? try_header(s, target) : r;
    for (const char *const *dir = s->b->options->include_dirs;
         dir && *dir && r == INCLUDE_MISSING; dir++) {
        autofree char *normal_dir = path_normalize(*dir);
        autofree char *joined = path_join(*dir, target);
        autofree char *path = path_normalize(joined);
        if (include_root_of(s->b, normal_dir) == SIZE_MAX) {
            continue;
        }
        if (include_root_of(s->b, path) != include_root_of(s->b, normal_dir)) {
            s->escaped = true;
            continue;
        }
        r = try_path(s, path);
    }
    for (size_t i = 0; i < s->b->assumed_count && r == INCLUDE_MISSING; i++) {
        autofree char *path = path_resolve(s->b->assumed[i], target);
        r = path_is_beneath(path, s->b->assumed[i]) ? try_path(s, path) : r;
    }
    return r;
}

/* ---- folders that nobody named ---- */

#define GUESSES_MAX 4000 /* files looked for; each may touch the disk */

static void assume_folder(struct include_search *s, const char *folder,
                          const char *target) {
    struct include_builder *b = s->b;
    struct include_closure *c = b->ret;
    b->assumed = xreallocarray(b->assumed, b->assumed_count + 2, sizeof *b->assumed);
    b->assumed[b->assumed_count++] = xstrdup(folder);
    b->assumed[b->assumed_count] = NULL;
    size_t count = 0;
    while (c->include_dirs[count]) {
        count++;
    }
    c->include_dirs = xreallocarray(c->include_dirs, count + 2, sizeof *c->include_dirs);
    c->include_dirs[count] = include_job_path(b, folder);
    c->include_dirs[count + 1] = NULL;
    include_note(
        b, s->file, s->reference, "include_folder_assumed",
        "%s was found in %s, which no option names: if it is the right one, give the "
        "folder with -I",
        target, folder);
}

/* The one above; false at a root. */
static bool folder_rise(const struct include_builder *b, char **dir) {
    char *above = path_folder(*dir);
    bool rises = strcmp(above, *dir) != 0 && include_root_of(b, above) != SIZE_MAX;
    free(rises ? *dir : above);
    *dir = rises ? above : *dir;
    return rises;
}

enum include_lookup include_search_usual(struct include_search *s, const char *target) {
    static const char *const usual[] = {"", "include", "inc", "src", "csrc"};
    struct include_builder *b = s->b;
    autofree char *real =
        include_closure_real_path(b->ret, b->ret->sources.files[s->file].path);
    if (!real) {
        return INCLUDE_MISSING;
    }
    autofree char *dir = path_folder(real);
    do {
        for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
            autofree char *folder = *usual[i] ? path_join(dir, usual[i]) : xstrdup(dir);
            autofree char *path = path_join(folder, target);
            if (b->guesses++ >= GUESSES_MAX) {
                return INCLUDE_MISSING;
            }
            enum include_lookup r = try_path(s, path);
            if (r == INCLUDE_FOUND) {
                assume_folder(s, folder, target);
            }
            if (r != INCLUDE_MISSING) {
                return r;
            }
        }
    } while (folder_rise(b, &dir));
    return INCLUDE_MISSING;
}
