#include "skills/format/skill.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "skills/format/skill_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char *absolute_path(const char *folder) {
    autofree char *cwd = *folder == '/' ? NULL : getcwd(NULL, 0);
    return path_resolve(cwd ? cwd : "/", folder);
}

static int open_folder(const char *folder, struct err *err) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR) {
        return err_set(err, -EINVAL, "%s: not a folder", folder);
    }
    if (fd < 0) {
        int code = -errno;
        return err_set(err, code, "%s: %s", folder, strerror(-code));
    }
    return fd;
}

/* Why there is no SKILL.md: perhaps it is there but may not be read. */
static int missing_text(const struct skill *s, struct err *err) {
    json_each(s->problems, i, problem) {
        const char *file = json_get_string(problem, "file", "");
        if (strcasecmp(file, "SKILL.md") == 0) {
            return err_set(err, -ENOENT, "%s/%s: %s", s->folder, file,
                           json_get_string(problem, "message", "cannot be read"));
        }
    }
    return err_set(err, -ENOENT, "%s: there is no SKILL.md in this folder", s->folder);
}

int skill_open(struct skill *ret, const char *folder, bool digests, struct err *err) {
    *ret = (struct skill){0};
    autofd int fd = open_folder(folder, err);
    if (fd < 0) {
        return fd;
    }
    ret->folder = absolute_path(folder);
    ret->problems = json_array();
    autobuf text = BUF_INIT(SKILL_MAX_TEXT);
    if (!skill_files_read(ret, fd, digests, &text)) {
        int rc = missing_text(ret, err);
        skill_finish(ret);
        return rc;
    }
    skill_text_read(&ret->text, text.data, text.len);
    return 0;
}

void skill_finish(struct skill *s) {
    for (size_t i = 0; i < s->file_count; i++) {
        free(s->files[i].path);
    }
    free(s->files);
    free(s->folder);
    skill_text_finish(&s->text);
    json_decref(s->problems);
    *s = (struct skill){0};
}

static int by_path(const void *path, const void *file) {
    return strcmp(path, ((const struct skill_file *)file)->path);
}

const struct skill_file *skill_find_file(const struct skill *s, const char *path) {
    return s->file_count
               ? bsearch(path, s->files, s->file_count, sizeof *s->files, by_path)
               : NULL;
}

void skill_digest(const struct skill *s, char ret[static 72]) {
    struct hash hash;
    hash_init(&hash);
    for (size_t i = 0; i < s->file_count; i++) {
        const struct skill_file *f = &s->files[i];
        uint8_t executable = (f->mode & 0111) != 0;
        hash_add_field(&hash, f->path, strlen(f->path));
        hash_add_field(&hash, &executable, 1);
        hash_add_field(&hash, f->digest, strlen(f->digest));
    }
    memcpy(ret, "sha256:", sizeof "sha256:");
    hash_hex(&hash, ret + 7);
}

/* --- one file of a folder --- */

static bool is_normal_path(const char *path) {
    autofree char *normal = path_normalize(path);
    return strcmp(normal, path) == 0 && !path_leads_out(path) && strcmp(path, ".") != 0;
}

/* Opens each component relative to the one before, none of them a link. */
int skill_open_beneath(int folder, const char *path) {
    int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    autofd int parent = fcntl(folder, F_DUPFD_CLOEXEC, 3);
    const char *slash;
    while (parent >= 0 && (slash = strchr(path, '/'))) {
        autofree char *name = xstrndup(path, (size_t)(slash - path));
        int next = openat(parent, name, flags | O_DIRECTORY);
        fd_close_p(&parent);
        parent = next;
        path = slash + 1;
    }
    return parent < 0 ? -1 : openat(parent, path, flags);
}

int skill_open_file(int folder, const char *path) {
    if (!is_normal_path(path)) {
        errno = EINVAL;
        return -1;
    }
    return skill_open_beneath(folder, path);
}

static int read_all(int fd, struct buf *out) {
    for (;;) {
        size_t room = out->max - out->len;
        size_t want = room < (64u << 10) ? room + 1 : (64u << 10);
        char step[64u << 10];
        ssize_t got = read(fd, step, want < sizeof step ? want : sizeof step);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 ? -errno : 0;
        }
        if (buf_add(out, step, (size_t)got) < 0) {
            return -EFBIG;
        }
    }
}

int skill_read_beneath(int folder, const char *path, struct buf *out) {
    autofd int fd = skill_open_beneath(folder, path);
    struct stat st;
    return fd < 0 || fstat(fd, &st) < 0 ? -errno
           : !S_ISREG(st.st_mode)       ? -EINVAL
                                        : read_all(fd, out);
}

int skill_read_file(const char *folder, const char *path, struct buf *out,
                    struct err *err) {
    if (!is_normal_path(path)) {
        return err_set(err, -EINVAL, "%s: not a path within a skill", path);
    }
    autofd int root = open_folder(folder, err);
    if (root < 0) {
        return root;
    }
    int rc = skill_read_beneath(root, path, out);
    if (rc == -ELOOP || rc == -ENOTDIR) {
        return err_set(err, -ELOOP, "%s: links are not followed", path);
    }
    return rc < 0 ? err_set(err, rc, "%s: %s", path,
                            rc == -EINVAL ? "not a regular file" : strerror(-rc))
                  : 0;
}
