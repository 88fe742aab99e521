/* Trees of files, read by descriptor: the contents of a folder of skills are not
 * trusted. */
#include "skills/install/install_tree.h"

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/strings.h"
#include "skills/install/install_stage.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 32
#define MAX_ENTRIES 4096
#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* --- refusals --- */

static const char *reason_of(int code) {
    switch (-code) {
    case EACCES:
    case EPERM:
    case EROFS:
        return "not_writable";
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return "no_space";
    case ELOOP:
    case EXDEV:
    case ENOTDIR:
    case ENAMETOOLONG:
        return "unsafe_path";
    case EBUSY:
        return "busy";
    case EEXIST:
        return "conflict";
    default:
        return "io_error";
    }
}

int install_failed(struct err *err, int code, const char *path) {
    const char *why = code == -EXDEV ? "leads out of the project" : strerror(-code);
    return err_set(err, code, "%s: %s: %s", reason_of(code), path, why);
}

void install_fresh_name(char ret[static INSTALL_NAME_SIZE], const char *prefix,
                        const char *tail) {
    char random[33];
    random_hex(16, random);
    snprintf(ret, INSTALL_NAME_SIZE, "%s%s%s", prefix, random, tail);
}

/* --- trees --- */

void install_tree_finish(struct install_tree *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->files[i].path);
    }
    free(t->files);
    free(t->odd);
    *t = (struct install_tree){0};
}

static mode_t plain_mode(mode_t mode) {
    return mode & 0111 ? 0755 : 0644;
}

static struct skill_file *tree_add(struct install_tree *t, const char *path) {
    if ((t->count & (t->count - 1)) == 0) {
        t->files = xreallocarray(t->files, t->count ? t->count * 2 : 1, sizeof *t->files);
    }
    struct skill_file *file = &t->files[t->count++];
    *file = (struct skill_file){.path = xstrdup(path)};
    return file;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const struct skill_file *)a)->path,
                  ((const struct skill_file *)b)->path);
}

static void tree_sort(struct install_tree *t) {
    if (t->count) {
        qsort(t->files, t->count, sizeof *t->files, by_path);
    }
}

const struct skill_file *install_tree_find(const struct install_tree *t,
                                           const char *path) {
    char *key = (char *)(uintptr_t)path;
    struct skill_file want = {.path = key};
    return t->count ? bsearch(&want, t->files, t->count, sizeof *t->files, by_path)
                    : NULL;
}

void install_tree_digest(const struct install_tree *t, char ret[static 72]) {
    struct skill skill = {.files = t->files, .file_count = t->count, .bytes = t->bytes};
    skill_digest(&skill, ret);
}

/* --- what a skill asks for --- */

/* "a/b.md": no empty, "." or ".." component, nothing absolute, nothing of ours on top. */
static bool path_is_safe(const char *path) {
    autofree char *normal = path_normalize(path);
    size_t depth = 1;
    for (const char *s = path; *s; s++) {
        depth += *s == '/';
        if ((unsigned char)*s < 0x20 || *s == 0x7f) {
            return false;
        }
    }
    return strcmp(normal, path) == 0 && !path_leads_out(path) && strcmp(path, ".") != 0 &&
           depth <= MAX_DEPTH && strlen(path) < 4096;
}

int install_tree_of(const struct skill *skill, struct install_tree *ret,
                    struct err *err) {
    struct install_tree tree = {0};
    for (size_t i = 0; i < skill->file_count; i++) {
        const struct skill_file *from = &skill->files[i];
        if (!path_is_safe(from->path) || tree.count >= SKILL_MAX_FILES) {
            install_tree_finish(&tree);
            return err_set(err, -EINVAL, "unsafe_path: %s", from->path);
        }
        struct skill_file *file = tree_add(&tree, from->path);
        file->size = from->size;
        file->mode = plain_mode(from->mode);
        memcpy(file->digest, from->digest, sizeof file->digest);
        tree.bytes += from->size;
    }
    tree_sort(&tree);
    *ret = tree;
    return 0;
}

/* --- what lies there --- */

struct reading {
    struct install_tree *tree;
    struct err *err;
    size_t entries;
    bool sync;
};

static void set_odd(struct reading *r, const char *path, const char *what) {
    if (!r->tree->odd) {
        r->tree->odd = xasprintf("%s is %s", path, what);
    }
}

/* The digest of an open file. A file that exceeds a skill's limits makes the tree odd. */
static int read_file(struct reading *r, int fd, const char *path) {
    struct hash hash;
    struct stat st;
    char bytes[32u << 10];
    ssize_t n;
    if (fstat(fd, &st) < 0) {
        return install_failed(r->err, -errno, path);
    }
    if (!S_ISREG(st.st_mode)) {
        set_odd(r, path, "not a regular file");
        return 0;
    }
    struct skill_file *file = tree_add(r->tree, path);
    file->mode = plain_mode(st.st_mode);
    hash_init(&hash);
    while ((n = read(fd, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
        if (n > 0) {
            hash_add(&hash, bytes, (size_t)n);
            file->size += (size_t)n;
            r->tree->bytes += (size_t)n;
        }
        if (r->tree->bytes > SKILL_MAX_BYTES) {
            set_odd(r, path, "over the size of a skill");
            return 0;
        }
    }
    if (n < 0) {
        return install_failed(r->err, -errno, path);
    }
    memcpy(file->digest, "sha256:", 7);
    hash_hex(&hash, file->digest + 7);
    return 0;
}

static int read_folder(struct reading *r, int dir, const char *prefix, unsigned depth);

static int read_entry(struct reading *r, int dir, const char *name, const char *path,
                      unsigned depth) {
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        return install_failed(r->err, -errno, path);
    }
    bool folder = S_ISDIR(st.st_mode);
    if (!folder && !S_ISREG(st.st_mode)) {
        set_odd(r, path, S_ISLNK(st.st_mode) ? "a link" : "not a regular file");
        return 0;
    }
    if (depth >= MAX_DEPTH) {
        set_odd(r, path, "too deep");
        return 0;
    }
    autofd int fd =
        folder ? openat(dir, name, OPEN_FOLDER) : skill_open_beneath(dir, name);
    if (fd < 0) {
        return install_failed(r->err, -errno, path);
    }
    return folder ? read_folder(r, fd, path, depth + 1) : read_file(r, fd, path);
}

/* Files that appear by merely using a skill do not count as changes. */
static bool is_passed_over(const char *name) {
    static const char *const names[] = {"__pycache__", ".DS_Store", "Thumbs.db", NULL};
    return strings_have(names, name);
}

static int read_folder(struct reading *r, int dir, const char *prefix, unsigned depth) {
    autodir *entries = dir_entries(dir);
    int rc = entries ? 0 : install_failed(r->err, -errno, prefix[0] ? prefix : ".");
    for (const struct dirent *entry;
         rc == 0 && !r->tree->odd && (entry = dir_next(entries));) {
        if (is_passed_over(entry->d_name)) {
            continue;
        }
        autofree char *path = prefix[0] ? xasprintf("%s/%s", prefix, entry->d_name)
                                        : xstrdup(entry->d_name);
        if (++r->entries > MAX_ENTRIES || r->tree->count >= SKILL_MAX_FILES) {
            set_odd(r, path, "one file too many");
        } else {
            rc = read_entry(r, dir, entry->d_name, path, depth);
        }
    }
    if (rc == 0 && r->sync && fsync(dir) < 0 && errno != EINVAL && errno != ENOTSUP) {
        rc = install_failed(r->err, -errno, prefix[0] ? prefix : ".");
    }
    return rc;
}

int install_tree_read(int dir, bool sync, struct install_tree *ret, struct err *err) {
    struct install_tree tree = {0};
    struct reading r = {.tree = &tree, .err = err, .sync = sync};
    int rc = read_folder(&r, dir, "", 0);
    if (rc < 0) {
        install_tree_finish(&tree);
        return rc;
    }
    tree_sort(&tree);
    *ret = tree;
    return 0;
}
