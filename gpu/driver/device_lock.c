#include "gpu/driver/device_lock.h"

#include "base/clock.h"
#include "base/err.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ASK_AGAIN_MS = 20, MAX_UUID = 64 };

static bool is_uuid(const char *text) {
    size_t len = strlen(text);
    return len && len <= MAX_UUID &&
           strspn(text,
                  "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") ==
               len;
}

/* A folder that nobody else can put anything into: its descriptor, or a negative errno.
 */
static int folder_open(const char *path) {
    struct stat st;
    if (mkdir(path, 0700) < 0 && errno != EEXIST) {
        return -errno;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
        close(fd);
        return -EACCES;
    }
    return fd;
}

/* The first of the folders that is ours; its path in ret. */
static int own_folder_open(char *ret, size_t size) {
    unsigned user = (unsigned)geteuid();
    snprintf(ret, size, "/tmp/upskilld-%u", user);
    int r = folder_open(ret);
    if (r < 0) {
        snprintf(ret, size, "/run/user/%u", user);
        r = folder_open(ret);
    }
    return r;
}

int device_lock_open(struct device_lock *ret, const char *folder, const char *uuid,
                     struct err *err) {
    char own[64], name[MAX_UUID + 16];
    *ret = DEVICE_LOCK_NONE;
    if (!is_uuid(uuid)) {
        return err_set(err, -EINVAL, "a GPU's UUID names its lock");
    }
    int dir = folder ? folder_open(folder) : own_folder_open(own, sizeof own);
    folder = folder ? folder : own;
    if (dir < 0) {
        return err_set(err, dir, "the folder of the GPU's lock, %s, cannot be used: %s",
                       folder, strerror(-dir));
    }
    snprintf(name, sizeof name, "gpu-%s.lock", uuid);
    snprintf(ret->path, sizeof ret->path, "%s/%s", folder, name);
    int fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    int r = fd < 0 ? -errno : 0;
    close(dir);
    if (r < 0) {
        return err_set(err, r, "the GPU's lock %s: %s", ret->path, strerror(-r));
    }
    (void)futimens(fd, NULL); /* what sweeps /tmp spares what is in use */
    ret->fd = fd;
    return 0;
}

static int ask(const struct device_lock *lock, short type) {
    struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
    int r;
    do {
        r = fcntl(lock->fd, F_OFD_SETLK, &whole) < 0 ? -errno : 0;
    } while (r == -EINTR);
    return r;
}

int device_lock_wait(struct device_lock *lock, uint64_t until_ms, uint64_t *ret_waited_ms,
                     struct err *err) {
    const struct timespec pause = {.tv_nsec = ASK_AGAIN_MS * 1000000L};
    uint64_t start = clock_ms();
    int r;
    while ((r = ask(lock, F_WRLCK)) == -EAGAIN || r == -EACCES) {
        if (clock_ms() >= until_ms) {
            return err_set(err, -ETIMEDOUT,
                           "another process of yours is timing on this GPU (%s)",
                           lock->path);
        }
        (void)nanosleep(&pause, NULL);
    }
    if (r < 0) {
        return err_set(err, r, "the GPU's lock %s: %s", lock->path, strerror(-r));
    }
    lock->held = true;
    *ret_waited_ms = clock_ms() - start;
    return 0;
}

void device_lock_release(struct device_lock *lock) {
    if (lock->held) {
        (void)ask(lock, F_UNLCK);
        lock->held = false;
    }
}

void device_lock_close(struct device_lock *lock) {
    if (lock->fd >= 0) {
        close(lock->fd);
    }
    *lock = DEVICE_LOCK_NONE;
}
