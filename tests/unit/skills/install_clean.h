#pragma once
/* install_clean: sweeps a folder of skills as an install does before its own work, with
 * nothing to install. */
#include "base/mem.h"
#include "skills/install/install_lock.h"
#include "skills/install/install_stage.h"

#include <fcntl.h>

/* Somebody who is at work there sweeps first. */
static inline void install_clean(const char *folder) {
    autofd int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int lock = fd < 0 ? -1 : install_lock(fd, 0, NULL);
    if (lock >= 0) {
        install_sweep(fd);
        install_unlock(fd, lock);
    }
}
