#pragma once
/* device_lock: exclusive use of a GPU for timing, because two processes that measure on
 * one GPU distort each other's times.
 *
 * One file per GPU, named by its UUID, in a folder of the user, has a lock on the open
 * file description (F_OFD_SETLK): it ends with the descriptor, so a killed process
 * releases it, and a forked or exec'ed child that inherits the descriptor shares it.
 * Waiting is polling until a deadline, because other ways have no time limit.
 *
 * The folder is /tmp/upskilld-UID, or /run/user/UID if the first belongs to another user.
 * It does not depend on the environment, which the processes that run kernels do not
 * have: all processes of a user must find the same file. A confined process opens the
 * lock before it is confined; waiting needs only fcntl and clock_nanosleep. */
#include "base/mem.h"

struct device_lock {
    int fd; /* -1: none */
    char path[256];
    bool held;
};
#define DEVICE_LOCK_NONE                                                                 \
    (struct device_lock) {                                                               \
        .fd = -1                                                                         \
    }

/* Opens the file, creating folder and file if missing; does not wait. folder: NULL for
 * the one above; uuid: letters, digits and dashes, at most 64. -EINVAL, -EACCES (not
 * ours), or the system's error. The lock must not be moved. */
int device_lock_open(struct device_lock *ret, const char *folder, const char *uuid,
                     struct err *err);
/* Acquires it: 0, with the waiting time in *ret_waited_ms; -ETIMEDOUT if another process
 * still holds it at until_ms (clock_ms). Tries at least once. */
int device_lock_wait(struct device_lock *lock, uint64_t until_ms, uint64_t *ret_waited_ms,
                     struct err *err);
void device_lock_release(struct device_lock *lock); /* keeps the file open */
void device_lock_close(struct device_lock *lock);   /* also releases */
