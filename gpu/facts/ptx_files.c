#include "gpu/facts/ptx_files.h"

#include "base/buf.h"
#include "base/file.h"

#define FILE_WORD "\t.file\t"

/* What follows `dir` and a slash in path, or NULL. */
static const char *beneath(const char *path, const char *dir) {
    size_t len = strlen(dir);
    return len && !strncmp(path, dir, len) && path[len] == '/' ? path + len + 1 : NULL;
}

static char *name_elsewhere(const char *path) {
    static const char *const folders[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        const char *at = strstr(path, folders[i]);
        if (at) {
            return xasprintf("<%s>", at + strlen(folders[i]));
        }
    }
    return xstrdup(path);
}

static char *name_of(const char *path, const char *folder,
                     const struct source_set *sources, char *const *include_dirs) {
    if (!folder) {
        return name_elsewhere(path);
    }
    const char *inside = beneath(path, folder);
    const struct source_file *file = source_set_find(sources, inside ? inside : path);
    if (file) {
        return xstrdup(file->display);
    }
    for (; include_dirs && *include_dirs; include_dirs++) {
        const char *header = beneath(path, *include_dirs);
        if (header) {
            return xasprintf("<%s>", header);
        }
    }
    if (*path != '/') { /* a stand-in that the compiler got as text */
        return xasprintf("<%s>", path);
    }
    return xstrdup(path_basename(path));
}

void ptx_files_add_name(struct buf *out, const char *name) {
    buf_addc(out, '"');
    for (; *name; name++) {
        buf_addc(out, *name == '"' || *name == '\\' || *name == '\n' ? '?' : *name);
    }
    buf_addc(out, '"');
}

char *ptx_files_rename(const char *ptx, const char *folder,
                       const struct source_set *sources, char *const *include_dirs) {
    struct buf out = BUF_INIT(strlen(ptx) + (1u << 20));
    const char *at;
    while ((at = strstr(ptx, FILE_WORD))) {
        size_t line = strcspn(at, "\n");
        const char *open = memchr(at, '"', line);
        const char *close =
            open ? memchr(open + 1, '"', line - (size_t)(open + 1 - at)) : NULL;
        if (!close) {
            buf_add(&out, ptx, (size_t)(at - ptx) + line);
        } else {
            autofree char *raw = xstrndup(open + 1, (size_t)(close - open - 1));
            autofree char *path = path_normalize(raw);
            autofree char *name = name_of(path, folder, sources, include_dirs);
            buf_add(&out, ptx, (size_t)(open - ptx));
            ptx_files_add_name(&out, name);
            buf_add(&out, close + 1, line - (size_t)(close + 1 - at));
        }
        ptx = at + line;
    }
    buf_adds(&out, ptx);
    return buf_detach(&out);
}
