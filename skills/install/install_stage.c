/* Writes a skill under a temporary name until all of it is on the disk. */
#define LOG_MODULE "install"
#include "skills/install/install_stage.h"

#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "skills/install/install_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void install_discard(int folder, const char *name) {
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
        return;
    }
    /* By way of the descriptor: the folder may have been moved since it was opened. */
    autofree char *path = xasprintf("/proc/self/fd/%d/%s", folder, name);
    struct err err = {0};
    if (dir_remove(path, &err) < 0) {
        log_warning("leftover not removed: name=%s why=\"%s\"", name, err.msg);
    }
}

/* A descriptor of the folder that `path` lies in, made where it is missing, and in *name
 * the last component (points into path). Everything in the stage is ours. */
static int make_parents(int stage, char *path, char **name) {
    autofd int at = fcntl(stage, F_DUPFD_CLOEXEC, 3);
    *name = path;
    for (char *slash; at >= 0 && (slash = strchr(*name, '/')); *name = slash + 1) {
        *slash = '\0';
        if (mkdirat(at, *name, 0755) < 0 && errno != EEXIST) {
            return -1;
        }
        int next = openat(at, *name, OPEN_FOLDER);
        if (next >= 0 && fchmod(next, 0755) < 0) { /* whatever the umask says */
            fd_close_p(&next);
            next = -1;
        }
        fd_close_p(&at);
        at = next;
    }
    return take_fd(at);
}

/* Copy until the end or one byte over the expected size; *ret_digest is of what was read.
 * *reading tells a failure of the source from one of the target. */
static int copy_bytes(int from, int to, size_t size, char ret_digest[static 72],
                      bool *reading) {
    struct hash hash;
    char bytes[64u << 10];
    size_t done = 0;
    int rc = 0;
    hash_init(&hash);
    while (rc == 0 && done <= size) {
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            *reading = n < 0;
            rc = n < 0 ? -errno : 0;
            break;
        }
        hash_add(&hash, bytes, (size_t)n);
        done += (size_t)n;
        rc = file_write_all(to, bytes, (size_t)n);
    }
    snprintf(ret_digest, 8, "sha256:");
    hash_hex(&hash, ret_digest + 7);
    return rc;
}

static int source_changed(struct err *err, const char *path) {
    return err_set(err, -ESTALE, "source_changed: %s changed while it was copied", path);
}

static int open_source(int source, const struct skill_file *file, struct err *err) {
    struct stat st;
    int fd = skill_open_beneath(source, file->path);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        return fd;
    }
    fd_close_p(&fd);
    return source_changed(err, file->path);
}

static int copy_file(int source, int stage, const struct skill_file *file,
                     struct err *err) {
    autofree char *path = xstrdup(file->path);
    char *name, digest[72];
    bool reading = false;
    autofd int from = open_source(source, file, err);
    if (from < 0) {
        return from;
    }
    autofd int parent = make_parents(stage, path, &name);
    autofd int to =
        parent < 0 ? -1
                   : openat(parent, name,
                            O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0) {
        return install_failed(err, -errno, file->path);
    }
    int rc = copy_bytes(from, to, file->size, digest, &reading);
    if (rc < 0) {
        return reading ? source_changed(err, file->path)
                       : install_failed(err, rc, file->path);
    }
    if (strcmp(digest, file->digest) != 0) {
        return source_changed(err, file->path);
    }
    if (fchmod(to, file->mode) < 0 || fsync(to) < 0) {
        return install_failed(err, -errno, file->path);
    }
    return 0;
}

/* Read back all that was written. */
static int verify(int stage, const struct install_tree *tree, struct err *err) {
    struct install_tree is = {0};
    char want[72], got[72];
    int rc = install_tree_read(stage, true, &is, err);
    if (rc < 0) {
        return rc;
    }
    install_tree_digest(tree, want);
    install_tree_digest(&is, got);
    bool same = !is.odd && strcmp(want, got) == 0;
    install_tree_finish(&is);
    return same ? 0
                : err_set(err, -EIO,
                          "io_error: what was written does not read back as "
                          "it was");
}

static int fill(int stage, const char *source_path, const struct install_tree *tree,
                struct err *err) {
    autofd int source = open(source_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (source < 0) {
        return source_changed(err, source_path);
    }
    for (size_t i = 0; i < tree->count; i++) {
        int rc = copy_file(source, stage, &tree->files[i], err);
        if (rc < 0) {
            return rc;
        }
    }
    if (fchmod(stage, 0755) < 0) {
        return install_failed(err, -errno, INSTALL_STAGE);
    }
    return verify(stage, tree, err);
}

int install_stage(int folder, const char *source, const struct install_tree *tree,
                  char ret_name[static INSTALL_NAME_SIZE], struct err *err) {
    install_fresh_name(ret_name, INSTALL_STAGE, "");
    if (mkdirat(folder, ret_name, 0700) < 0) {
        return install_failed(err, -errno, "the folder of skills");
    }
    autofd int stage = openat(folder, ret_name, OPEN_FOLDER);
    int rc = stage < 0 ? install_failed(err, -errno, ret_name)
                       : fill(stage, source, tree, err);
    if (rc < 0) {
        install_discard(folder, ret_name);
    }
    return rc;
}
