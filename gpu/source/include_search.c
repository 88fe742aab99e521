#include "gpu/source/include_search.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

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
        return INCLUDE_MISSING;
    case -EXDEV:
    case -ELOOP:
        include_refuse(
            b, s->file, s->reference, "include_outside_roots",
            "%s leads out of the folders files may come from (a link?); copy the file "
            "in or "
            "add its real folder to include_roots",
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
        autofree char *dir = include_folder(from + strlen(INCLUDE_HEADERS "/"));
        autofree char *path = path_join(dir, target);
        return try_header(s, path);
    }
    autofree char *real = include_closure_real_path(s->b->ret, from);
    if (!real) {
        return INCLUDE_MISSING;
    }
    autofree char *dir = include_folder(real);
    autofree char *joined = path_join(dir, target);
    autofree char *path = path_normalize(joined);
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
    return r;
}
