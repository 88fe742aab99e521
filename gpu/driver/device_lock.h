#pragma once
/* device_lock: who may time kernels on a GPU now.
 *
 * Two processes that measure on one GPU at once spoil each other's figures. A file per
 * GPU, named by its UUID, in a folder of the user's own, carries a lock of one open file
 * description (F_OFD_SETLK): it ends with the descriptor, so a process that is killed
 * frees it, and a forked or exec'ed child that inherits the descriptor shares it. Waiting
 * is polling until a deadline, because nothing else can be bounded.
 *
 * The folder is /tmp/upskilld-UID, or where that belongs to somebody else /run/user/UID.
 * It does not depend on the environment, which the processes that run kernels do not
 * have: all of one user's must meet at the same file. A confined process opens the lock
 * before it is confined; waiting needs fcntl and clock_nanosleep alone. */
#include <stdbool.h>
#include <stdint.h>

struct err;

struct device_lock {
    int fd; /* -1: none */
    char path[256];
    bool held;
};
#define DEVICE_LOCK_NONE                                                                 \
    (struct device_lock) {                                                               \
        .fd = -1                                                                         \
    }

/* Opens the file, making folder and file where they are missing; does not wait. folder:
 * NULL for the one above; uuid: letters, digits and dashes, at most 64. -EINVAL,
 * -EACCES (not ours), or what the system says. The lock must stay where it is. */
int device_lock_open(struct device_lock *ret, const char *folder, const char *uuid,
                     struct err *err);
/* Hold it: 0, with how long that took in *ret_waited_ms; -ETIMEDOUT when somebody else
 * still holds it at until_ms (clock_ms). Asks at least once. */
int device_lock_wait(struct device_lock *lock, uint64_t until_ms, uint64_t *ret_waited_ms,
                     struct err *err);
void device_lock_release(struct device_lock *lock); /* stays open */
void device_lock_close(struct device_lock *lock);   /* releases too */
