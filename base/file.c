#include "base/file.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define READ_STEP (64u << 10)

/* --- reading --- */

static int open_failed(struct err *err, const char *path) {
    int code = -errno;
    return err_set(err, code, "%s: %s", path, strerror(-code));
}

static int too_large(struct err *err, const char *path, size_t limit) {
    char size[TEXT_SIZE_MAX];
    return err_set(err, -EFBIG, "%s: larger than %s", path, text_size(size, limit));
}

/* One byte more than the limit is asked for, to tell a full buffer from a longer file. */
static int read_step(int fd, struct buf *out, const char *path, struct err *err) {
    char spill;
    size_t room = out->max - out->len;
    size_t want = room < READ_STEP ? room : READ_STEP;
    char *to = want ? buf_reserve(out, want) : &spill;
    ssize_t got = read(fd, to ? to : &spill, want && to ? want : 1);
    if (got < 0) {
        return errno == EINTR ? 1 : open_failed(err, path);
    }
    if (got > 0 && (!want || !to)) {
        return too_large(err, path, out->max);
    }
    if (got > 0) {
        buf_commit(out, (size_t)got);
    }
    return got > 0;
}

/* Of a regular file; else a negative errno. */
static int status_of(int fd, const char *path, struct stat *ret, struct err *err) {
    if (fd < 0 || fstat(fd, ret) < 0) {
        return open_failed(err, path);
    }
    bool folder = S_ISDIR(ret->st_mode);
    return S_ISREG(ret->st_mode)
               ? 0
               : err_set(err, folder ? -EISDIR : -EINVAL, "%s%s", path,
                         folder ? " is a folder, not a file" : ": not a regular file");
}

int file_read_stream(int fd, const char *path, struct buf *out, struct err *err) {
    size_t before = out->len;
    int rc = 1;
    while (rc > 0) {
        rc = read_step(fd, out, path, err);
    }
    if (rc < 0 && out->cap) {
        out->len = before;
        out->data[before] = '\0';
    }
    return rc;
}

int file_read_open(int fd_given, const char *path, struct buf *out, struct err *err) {
    autofd int fd = fd_given;
    struct stat st;
    int rc = status_of(fd, path, &st, err);
    if (rc < 0) {
        return rc;
    }
    if (st.st_size > 0 && (uintmax_t)st.st_size > out->max - out->len) {
        return too_large(err, path, out->max);
    }
    return file_read_stream(fd, path, out, err);
}

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

int file_read(const char *path, struct buf *out, struct err *err) {
    return file_read_open(open(path, READ_FLAGS), path, out, err);
}

bool file_is_missing(int rc) {
    return rc == -ENOENT || rc == -ENOTDIR || rc == -EACCES;
}

/* --- beneath a root --- */

int root_open(struct root *r, const char *path, struct err *err) {
    autofree char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
    *r = (struct root){.fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (r->fd < 0) {
        return open_failed(err, path);
    }
    r->path = path_resolve(cwd ? cwd : "", path);
    return 0;
}

void root_close(struct root *r) {
    if (r->path) {
        close(r->fd);
    }
    free(r->path);
    *r = (struct root){.fd = -1};
}

/* For kernels before 5.6 and sandboxes without openat2: component by component, following
 * no link at all. */
static int open_walking(int root, const char *rel, int flags) {
    autofree char *path = path_normalize(rel);
    if (path_leads_out(path)) {
        errno = EXDEV;
        return -1;
    }
    autofd int dir = fcntl(root, F_DUPFD_CLOEXEC, 3);
    char *name = path;
    for (char *slash; dir >= 0 && (slash = strchr(name, '/')); name = slash + 1) {
        *slash = '\0';
        int next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        fd_close_p(&dir);
        dir = next;
    }
    return dir < 0 ? -1 : openat(dir, name, flags | O_NOFOLLOW);
}

/* Returns a descriptor, or -1 with errno. */
static int open_beneath(int root, const char *rel, int flags) {
    struct open_how how = {.flags = (unsigned)flags,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    for (int tries = 0; tries < 16; tries++) {
        long fd = syscall(SYS_openat2, root, rel, &how, sizeof how);
        if (fd >= 0) {
            return (int)fd;
        }
        if (errno == ENOSYS || errno == EPERM) { /* EPERM: an old sandbox's ENOSYS */
            return open_walking(root, rel, flags);
        }
        if (errno != EAGAIN && errno != EINTR) { /* EAGAIN: a rename raced with a ".." */
            break;
        }
    }
    return -1;
}

/* The path shown in messages: the root's and the requested one beneath it. */
static int failed_beneath(const struct root *r, const char *rel, struct err *err) {
    int code = -errno;
    const char *why = code == -EXDEV ? "leads out of its folder" : strerror(-code);
    return err_set(err, code, "%s/%s: %s", r->path, rel, why);
}

int root_read(const struct root *r, const char *rel, struct buf *out, struct err *err) {
    int fd = open_beneath(r->fd, rel, READ_FLAGS);
    autofree char *path = path_join(r->path, rel);
    return fd < 0 ? failed_beneath(r, rel, err) : file_read_open(fd, path, out, err);
}

int root_open_file(const struct root *r, const char *rel, struct err *err) {
    autofd int fd = open_beneath(r->fd, rel, READ_FLAGS);
    struct stat st;
    int n = fd < 0 ? failed_beneath(r, rel, err) : status_of(fd, rel, &st, err);
    return n < 0 ? n : take_fd(fd);
}

/* Open the folder rel beneath root, making it and its parents where they are missing.
 * Returns a descriptor, or -1 with errno. */
static int make_folders(int root, const char *rel, mode_t mode) {
    autofree char *path = path_normalize(rel);
    if (path_leads_out(path)) {
        errno = EXDEV;
        return -1;
    }
    autofd int dir = fcntl(root, F_DUPFD_CLOEXEC, 3);
    char *name = path;
    for (bool last = false; dir >= 0 && !last;) {
        char *slash = strchr(name, '/');
        last = !slash;
        if (slash) {
            *slash = '\0';
        }
        if (mkdirat(dir, name, mode) < 0 && errno != EEXIST) {
            return -1;
        }
        /* From the root again: a link on the way may lead elsewhere beneath it. */
        int next = open_beneath(root, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd_close_p(&dir);
        dir = next;
        if (slash) {
            *slash = '/';
            name = slash + 1;
        }
    }
    return take_fd(dir);
}

int root_mkdir(const struct root *r, const char *rel, mode_t mode, struct err *err) {
    autofd int dir = make_folders(r->fd, rel, mode);
    return dir < 0 ? failed_beneath(r, rel, err) : 0;
}

int root_open_folder(const struct root *r, const char *rel, struct err *err) {
    int fd = open_beneath(r->fd, rel, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? failed_beneath(r, rel, err) : fd;
}

int file_open_standard(void) {
    for (int fd = 0; fd < 3; fd++) {
        int how = fd == STDOUT_FILENO ? O_RDONLY : O_RDWR;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", how) < 0) {
            return -errno;
        }
    }
    return 0;
}

int file_write_all(int fd, const void *data, size_t len) {
    const char *bytes = data;
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno != EINTR) {
            return -errno;
        }
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* --- replacing files --- */

#define TEMPORARY ".upskilld-" /* 32 hexadecimal digits and ".tmp" follow */
#define STALE_S 60

/* The folder of rel, made when missing, and the name in it. 0 or -errno. */
static int file_place(struct root_file *f, const struct root *r, const char *rel) {
    autofree char *folder = path_normalize(rel);
    if (path_leads_out(folder)) {
        return -EXDEV;
    }
    f->name = xstrdup(path_basename(folder));
    folder[strlen(folder) - strlen(f->name)] = '\0';
    f->dir = make_folders(r->fd, folder, 0755);
    return f->dir < 0 ? -errno : 0;
}

int root_file_begin(struct root_file *ret, const struct root *r, const char *rel,
                    mode_t mode, struct err *err) {
    char random[33];
    size_t len = strlen(rel);
    autofree char *normal = path_normalize(rel);
    *ret = (struct root_file){.dir = -1, .fd = -1};
    if (strcmp(normal, ".") == 0 || !len || rel[len - 1] == '/') {
        return err_set(err, -EINVAL, "%s/%s: not a file name", r->path, rel);
    }
    int rc = file_place(ret, r, rel);
    random_hex(16, random);
    snprintf(ret->temporary, sizeof ret->temporary, TEMPORARY "%s.tmp", random);
    if (rc == 0) {
        ret->fd = openat(ret->dir, ret->temporary,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        rc = ret->fd < 0 ? -errno : 0;
    }
    if (rc < 0) {
        root_file_drop(ret);
        errno = -rc;
        return failed_beneath(r, rel, err);
    }
    return 0;
}

int root_file_add(struct root_file *f, const void *bytes, size_t len) {
    return file_write_all(f->fd, bytes, len);
}

static void file_close(struct root_file *f) {
    fd_close_p(&f->fd);
    fd_close_p(&f->dir);
    free(take(f->name));
    f->fd = f->dir = -1;
}

void root_file_drop(struct root_file *f) {
    if (f->fd >= 0) {
        unlinkat(f->dir, f->temporary, 0);
    }
    file_close(f);
}

/* A link that is made twice is refused, on every file system that has links; between the
 * calls it has two names, so it is the second choice. */
static int file_name(const struct root_file *f) {
    unsigned flags = f->only_new ? RENAME_NOREPLACE : 0;
    if (renameat2(f->dir, f->temporary, f->dir, f->name, flags) == 0) {
        return 0;
    }
    if (!f->only_new || (errno != EINVAL && errno != ENOSYS)) {
        return -errno;
    }
    if (linkat(f->dir, f->temporary, f->dir, f->name, 0) < 0) {
        return -errno;
    }
    return unlinkat(f->dir, f->temporary, 0) < 0 ? -errno : 0;
}

int root_file_end(struct root_file *f, bool durable) {
    int rc = durable && fsync(f->fd) < 0 ? -errno : 0;
    rc = rc == 0 ? file_name(f) : rc;
    if (rc < 0) {
        root_file_drop(f);
        return rc;
    }
    /* Some file systems cannot sync a folder; the file itself is on the disk. */
    rc = durable && fsync(f->dir) < 0 && errno != EINVAL && errno != ENOTSUP ? -errno : 0;
    file_close(f);
    return rc;
}

static bool is_stale(int dir, const char *name) {
    size_t head = strlen(TEMPORARY);
    struct stat st;
    return strncmp(name, TEMPORARY, head) == 0 &&
           strspn(name + head, "0123456789abcdef") == 32 &&
           strcmp(name + head + 32, ".tmp") == 0 &&
           fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
           st.st_uid == geteuid() && time(NULL) - st.st_mtime > STALE_S;
}

void root_make_room(const struct root *r, size_t most) {
    autodir *entries = dir_entries(r->fd);
    autofree char *oldest = NULL;
    struct timespec since = {0};
    size_t count = 0;
    for (const struct dirent *entry; (entry = dir_next(entries));) {
        struct stat st;
        if (fstatat(r->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            (!count++ || st.st_mtim.tv_sec < since.tv_sec)) {
            since = st.st_mtim;
            free(oldest);
            oldest = path_join(r->path, entry->d_name);
        }
    }
    if (count >= most && oldest && unlink(oldest) < 0) {
        (void)dir_remove(oldest, NULL);
    }
}

void root_sweep(const struct root *r) {
    autodir *entries = dir_entries(r->fd);
    for (const struct dirent *e; (e = dir_next(entries));) {
        if (is_stale(r->fd, e->d_name)) {
            unlinkat(r->fd, e->d_name, 0);
        }
    }
}

static int write_whole(const struct root *r, const char *rel, const void *bytes,
                       size_t len, mode_t mode, bool only_new, struct err *err) {
    struct root_file f;
    int rc = root_file_begin(&f, r, rel, mode, err);
    if (rc < 0) {
        return rc;
    }
    f.only_new = only_new;
    rc = root_file_add(&f, bytes, len);
    if (rc < 0) {
        root_file_drop(&f);
    } else {
        rc = root_file_end(&f, true);
    }
    errno = -rc;
    return rc < 0 ? failed_beneath(r, rel, err) : 0;
}

int root_write(const struct root *r, const char *rel, const void *bytes, size_t len,
               mode_t mode, struct err *err) {
    return write_whole(r, rel, bytes, len, mode, false, err);
}

int root_create(const struct root *r, const char *rel, const void *bytes, size_t len,
                struct err *err) {
    return write_whole(r, rel, bytes, len, 0644, true, err);
}

/* --- folders --- */

char *dir_make_temporary(const char *name, struct err *err) {
    const char *tmp = getenv("TMPDIR");
    autofree char *path =
        xasprintf("%s/upskilld-%s-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp", name);
    if (!mkdtemp(path)) {
        err_set(err, -errno, "%s: %s", path, strerror(errno));
        return NULL;
    }
    return take(path);
}

int dir_make(const char *path, mode_t mode, struct err *err) {
    autofree char *copy = path_normalize(path);
    for (char *slash = copy; slash;) {
        slash = strchr(slash + 1, '/');
        if (slash) {
            *slash = '\0';
        }
        struct stat st;
        if (mkdir(copy, mode) < 0) {
            int code = errno;
            if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode)) {
                errno = code == EEXIST ? ENOTDIR : code;
                return open_failed(err, copy);
            }
        }
        if (slash) {
            *slash = '/';
        }
    }
    return 0;
}

DIR *dir_entries(int folder) {
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0 && errno == EACCES) { /* it may be listed, and not entered */
        copy = fcntl(folder, F_DUPFD_CLOEXEC, 3);
    }
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    if (!entries) {
        fd_close_p(&copy);
    }
    return entries;
}

const struct dirent *dir_next(DIR *entries) {
    const struct dirent *entry = entries ? readdir(entries) : NULL;
    while (entry && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))) {
        entry = readdir(entries);
    }
    return entry;
}

void dir_close_p(DIR **entries) {
    if (*entries) {
        closedir(*entries);
    }
}

static int open_folder(int dir, const char *name) {
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);
    struct stat st;
    if (fd < 0 && errno == EACCES && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(st.st_mode) && fchmodat(dir, name, 0700, 0) == 0) {
        fd = openat(dir, name, flags);
    }
    return fd;
}

/* A removal in progress. Folders that are not empty are moved up to `top` under a random
 * name and emptied there, so that neither a deep tree nor a long path needs recursion or
 * many descriptors. */
struct removal {
    int top;
    bool progress; /* something went or moved in this pass */
    int failure;   /* the last negative errno */
};

typedef void visit_entry(struct removal *r, int folder, const char *name);

static void each_entry(struct removal *r, int folder, visit_entry *visit) {
    autodir *entries = dir_entries(folder);
    r->failure = entries ? r->failure : -errno;
    for (const struct dirent *entry; (entry = dir_next(entries));) {
        visit(r, folder, entry->d_name);
    }
}

/* Remove the entry, or move it to the top. */
static void remove_entry(struct removal *r, int folder, const char *name) {
    char other[33];
    if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0) {
        r->progress = true;
    } else if (errno == ENOTEMPTY) {
        random_hex(16, other);
        if (renameat(folder, name, r->top, other) == 0) {
            r->progress = true;
        } else {
            r->failure = -errno;
        }
    } else if (errno != ENOENT) {
        r->failure = -errno;
    }
}

static void remove_at_top(struct removal *r, int top, const char *name) {
    if (unlinkat(top, name, 0) == 0) {
        r->progress = true;
        return;
    }
    autofd int folder = open_folder(top, name);
    if (folder >= 0) {
        each_entry(r, folder, remove_entry);
    }
    if (unlinkat(top, name, AT_REMOVEDIR) == 0) {
        r->progress = true;
    } else {
        r->failure = -errno;
    }
}

int dir_remove(const char *path, struct err *err) {
    autofd int top = open_folder(AT_FDCWD, path);
    struct removal r = {.top = top, .progress = true};
    if (top < 0) {
        return open_failed(err, path);
    }
    while (r.progress) {
        r.progress = false;
        r.failure = 0;
        each_entry(&r, top, remove_at_top);
    }
    if (unlinkat(AT_FDCWD, path, AT_REMOVEDIR) < 0) {
        errno = r.failure ? -r.failure : errno;
        return open_failed(err, path);
    }
    return 0;
}
