/* The worker's private folder; those of workers that were killed go. */
#include "gpu/worker/worker_internal.h"

#include "base/err.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define FOLDER_NAME "upskilld-worker-"
#define SHM_WANTED (1u << 30) /* bytes */

/* In memory where there is room for two precompiled headers (writing 140 MB to a disk
 * takes longer than compiling them), else where temporary files go. */
static const char *folder_base(void) {
    struct statvfs room;
    if (!statvfs("/dev/shm", &room) && !access("/dev/shm", W_OK) &&
        (uint64_t)room.f_bavail * room.f_bsize >= SHM_WANTED) {
        return "/dev/shm";
    }
    const char *tmp = getenv("TMPDIR");
    return tmp && tmp[0] == '/' ? tmp : "/tmp";
}

/* Ours, and without the lock that a living worker holds on its folder: its worker was
 * killed. Process ids would not do, for containers may share the place. */
static bool is_left_over(const char *path) {
    struct stat st;
    autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && !fstat(fd, &st) && st.st_uid == geteuid() &&
           !flock(fd, LOCK_EX | LOCK_NB);
}

static void sweep(const char *base) {
    autodir *entries = opendir(base);
    for (const struct dirent *entry; (entry = dir_next(entries));) {
        if (strncmp(entry->d_name, FOLDER_NAME, strlen(FOLDER_NAME)) != 0) {
            continue;
        }
        autofree char *path = path_join(base, entry->d_name);
        if (is_left_over(path)) {
            (void)dir_remove(path, NULL);
        }
    }
}

/* Between its making and its locking another worker could sweep a folder away: then the
 * locked one has no name any more, and another is made. */
static int folder_lock(const char *path) {
    struct stat locked, named;
    autofd int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) || fstat(fd, &locked) ||
        stat(path, &named) || locked.st_ino != named.st_ino) {
        return -EAGAIN;
    }
    return take_fd(fd);
}

int worker_folder_make(struct worker *w, struct err *err) {
    enum { TRIES = 5 };
    if (w->folder) {
        return 0;
    }
    const char *base = folder_base();
    sweep(base);
    for (int i = 0; i < TRIES; i++) {
        char *path = xasprintf("%s/" FOLDER_NAME "%d-XXXXXX", base, w->pid);
        if (!mkdtemp(path)) {
            int r = -errno;
            free(path);
            return err_set(err, r,
                           "no folder can be made in %s (TMPDIR says where): %s", base,
                           strerror(-r));
        }
        w->folder_fd = folder_lock(path);
        if (w->folder_fd >= 0) {
            w->folder = path;
            return 0;
        }
        free(path);
    }
    return err_set(err, -EAGAIN, "folders made in %s vanish", base);
}

void worker_folder_remove(struct worker *w) {
    if (w->folder) {
        (void)dir_remove(w->folder, NULL);
        close(w->folder_fd);
        free(take(w->folder));
    }
}
