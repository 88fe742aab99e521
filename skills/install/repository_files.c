/* A skill's files out of Git's own lists. */
#include "skills/install/repository_files.h"

#include "base/err.h"
#include "base/file.h"
#include "base/text.h"

#define NAMED 8 /* skills that an error names */
#define TEXT "SKILL.md"
#define LFS "version https://git-lfs.github.com/spec/"

/* One entry of a tree: "100644 blob OID\tPATH", ended by NUL. */
struct entry {
    const char *mode, *oid, *path;
    size_t oid_len;
};

/* Reads the next entry; false at the end or if the bytes are not an entry. */
static bool next_entry(struct entry *e, const char **at, const char *end) {
    const char *line = *at, *stop = memchr(line, '\0', (size_t)(end - line));
    const char *tab = stop ? memchr(line, '\t', (size_t)(stop - line)) : NULL;
    const char *type = tab ? memchr(line, ' ', (size_t)(tab - line)) : NULL;
    const char *oid = type ? memchr(type + 1, ' ', (size_t)(tab - type - 1)) : NULL;
    if (!oid || tab - oid - 1 > 64) {
        return false;
    }
    *e = (struct entry){.mode = line,
                        .oid = oid + 1,
                        .oid_len = (size_t)(tab - oid - 1),
                        .path = tab + 1};
    *at = stop + 1;
    return true;
}

static bool is_mode(const struct entry *e, const char *mode) {
    return strncmp(e->mode, mode, strlen(mode)) == 0;
}

/* --- which folder --- */

/* The length of the folder's path when this is a skill's SKILL.md, else -1. */
static long skill_of(const struct entry *e) {
    const char *base = path_basename(e->path);
    if (strcmp(base, TEXT) != 0) {
        return -1;
    }
    return base == e->path ? 0 : (long)(base - e->path) - 1;
}

/* The only skill's folder; the one at the top stands before those beneath it. */
static char *only_skill(const char *listing, const char *end, struct err *err) {
    autobuf named = BUF_INIT(400);
    autofree char *found = NULL;
    struct entry e;
    size_t count = 0;
    for (const char *at = listing; next_entry(&e, &at, end);) {
        long len = skill_of(&e);
        if (len == 0) {
            return xstrdup("");
        }
        if (len > 0 && count++ < NAMED) {
            buf_addf(&named, "%s%.*s", count > 1 ? ", " : "", (int)len, e.path);
            free(found);
            found = xstrndup(e.path, (size_t)len);
        }
    }
    if (count == 1) {
        return take(found);
    }
    err_set(err, count ? -ENOTUNIQ : -ENOENT,
            count ? "it has %zu skills; name one's folder: %s%s"
                  : "no folder of it has a SKILL.md",
            count, named.data, count > NAMED ? ", …" : "");
    return NULL;
}

/* --- its files --- */

/* The entry's path in the folder, or NULL. */
static const char *beneath(const struct entry *e, const char *folder) {
    size_t len = strlen(folder);
    if (!len) {
        return e->path;
    }
    return strncmp(e->path, folder, len) == 0 && e->path[len] == '/' ? e->path + len + 1
                                                                     : NULL;
}

static bool is_skipped(const char *path) {
    autofree char *names = xstrdup(path);
    char *rest = NULL;
    for (char *name = strtok_r(names, "/", &rest); name;
         name = strtok_r(NULL, "/", &rest)) {
        if (skill_skips(name)) {
            return true;
        }
    }
    return false;
}

static int add_file(struct repository_files *files, const struct entry *e,
                    const char *path, struct err *err) {
    autofree char *normal = path_normalize(path);
    bool link = is_mode(e, "120000"), regular = is_mode(e, "100");
    if (!regular || strcmp(normal, path) != 0 || path_leads_out(path) ||
        !text_is_utf8(path, strlen(path))) {
        return err_set(err, -EINVAL, "%.200s is %s, which no skill may contain", path,
                       link                   ? "a link"
                       : regular              ? "an odd name"
                       : is_mode(e, "160000") ? "another repository"
                                              : "no regular file");
    }
    if (files->count == SKILL_MAX_FILES) {
        return err_set(err, -EFBIG, "the folder has more than %d files", SKILL_MAX_FILES);
    }
    struct repository_file *f = &files->list[files->count++];
    *f = (struct repository_file){.path = take(normal),
                                  .executable = is_mode(e, "100755")};
    memcpy(f->oid, e->oid, e->oid_len);
    return 0;
}

static int add_all(struct repository_files *files, const char *listing, const char *end,
                   struct err *err) {
    struct entry e;
    bool text = false;
    for (const char *at = listing; next_entry(&e, &at, end);) {
        const char *path = beneath(&e, files->folder);
        if (path && !is_skipped(path)) {
            text = text || strcasecmp(path, TEXT) == 0;
            if (add_file(files, &e, path, err) < 0) {
                return -EINVAL;
            }
        }
    }
    return text ? 0
                : err_set(err, -ENOENT, "there is no %s/SKILL.md in it",
                          *files->folder ? files->folder : ".");
}

int repository_files_find(struct repository_files *ret, const char *listing, size_t len,
                          const char *path, struct err *err) {
    char *folder = *path ? xstrdup(path) : only_skill(listing, listing + len, err);
    if (!folder) {
        return err->code;
    }
    *ret = (struct repository_files){
        .folder = folder,
        .list = xcalloc(SKILL_MAX_FILES, sizeof *ret->list),
    };
    return add_all(ret, listing, listing + len, err);
}

void repository_files_finish(struct repository_files *files) {
    for (size_t i = 0; i < files->count; i++) {
        free(files->list[i].path);
    }
    free(files->list);
    free(files->folder);
    *files = (struct repository_files){0};
}

void repository_files_ask(const struct repository_files *files, struct buf *out) {
    for (size_t i = 0; i < files->count; i++) {
        buf_addf(out, "%s\n", files->list[i].oid);
    }
}

/* --- their bytes --- */

/* "OID blob SIZE\n", the bytes, "\n". */
static const char *next_blob(const struct repository_file *f, const char **at,
                             const char *end, size_t *ret_size) {
    const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
    autofree char *head = stop ? xstrndup(line, (size_t)(stop - line)) : NULL;
    char oid[65] = "";
    unsigned long long size = 0;
    if (!head || sscanf(head, "%64[0-9a-f] blob %llu", oid, &size) != 2 ||
        strcmp(oid, f->oid) != 0 || size >= (size_t)(end - stop - 1)) {
        return NULL;
    }
    *at = stop + 1 + size + 1;
    *ret_size = (size_t)size;
    return stop + 1;
}

static int write_file(const struct root *root, const struct repository_file *f,
                      const char *bytes, size_t size, struct err *err) {
    struct root_file out;
    if (size >= strlen(LFS) && memcmp(bytes, LFS, strlen(LFS)) == 0) {
        return err_set(
            err, -EINVAL,
            "%.200s is kept in Git LFS, which is not read: clone the repository "
            "and install the skill from its folder",
            f->path);
    }
    int rc = root_file_begin(&out, root, f->path, f->executable ? 0755 : 0644, err);
    if (rc < 0) {
        return rc;
    }
    rc = root_file_add(&out, bytes, size);
    rc = rc < 0 ? rc : root_file_end(&out, false);
    root_file_drop(&out);
    return rc < 0
               ? err_set(err, rc, "%.200s cannot be written: %s", f->path, strerror(-rc))
               : 0;
}

int repository_files_write(const struct repository_files *files, const struct buf *blobs,
                           const char *folder, struct err *err) {
    const char *at = blobs->data, *end = blobs->data + blobs->len;
    struct root root;
    int rc = root_open(&root, folder, err);
    if (rc < 0) {
        return rc;
    }
    for (size_t i = 0; i < files->count && rc == 0; i++) {
        size_t size = 0;
        const char *bytes = next_blob(&files->list[i], &at, end, &size);
        rc = bytes
                 ? write_file(&root, &files->list[i], bytes, size, err)
                 : err_set(err, -EIO, "Git gave no bytes of %.200s", files->list[i].path);
    }
    root_close(&root);
    return rc;
}
