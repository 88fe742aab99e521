/* One rename makes the difference between the old skill and the new one. */
#include "skills/install/install_stage.h"

#include "base/err.h"
#include "base/file.h"
#include "skills/format/skill_name.h"
#include "skills/install/install_tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEX_LEN 32

static bool is_there(int folder, const char *name) {
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Some file systems cannot sync a folder; nothing more can be done there. */
static void sync_folder(int folder) {
    (void)!fsync(folder);
}

/* Where names cannot be exchanged, the old skill steps aside first. A reader may miss the
 * skill between the two renames; after a crash there install_sweep puts it back. */
static int exchange_in_two(int folder, const char *stage, const char *name,
                           char ret_old[static INSTALL_NAME_SIZE]) {
    autofree char *tail = xasprintf("-%s", name);
    install_fresh_name(ret_old, INSTALL_ASIDE, tail);
    if (renameat(folder, name, folder, ret_old) < 0) {
        return -errno;
    }
    sync_folder(folder);
    if (renameat(folder, stage, folder, name) < 0) {
        int code = -errno;
        (void)!renameat(folder, ret_old, folder, name);
        return code;
    }
    return 0;
}

static bool lacks_flags(int code) {
    return code == -EINVAL || code == -ENOSYS || code == -ENOTSUP;
}

/* ret_old: where the old one lies afterwards. */
static int put_over(int folder, const char *stage, const char *name,
                    char ret_old[static INSTALL_NAME_SIZE]) {
    if (renameat2(folder, stage, folder, name, RENAME_EXCHANGE) == 0) {
        snprintf(ret_old, INSTALL_NAME_SIZE, "%s", stage);
        return 0;
    }
    return lacks_flags(-errno) ? exchange_in_two(folder, stage, name, ret_old) : -errno;
}

static int put_new(int folder, const char *stage, const char *name) {
    if (renameat2(folder, stage, folder, name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (!lacks_flags(-errno)) {
        return -errno;
    }
    return renameat(folder, stage, folder, name) < 0 ? -errno : 0;
}

/* Whether what was moved to `name` is what was judged before: an editor may have saved
 * a file between the two. */
static bool is_as_judged(int folder, const char *name, const char *digest) {
    struct install_tree tree = {0};
    char is[72];
    autofd int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || install_tree_read(fd, false, &tree, NULL) < 0) {
        return false;
    }
    install_tree_digest(&tree, is);
    bool same = !tree.odd && strcmp(is, digest) == 0;
    install_tree_finish(&tree);
    return same;
}

static int changed_meanwhile(const char *name, struct err *err) {
    return err_set(err, -EEXIST, "conflict: %s was changed while it was replaced", name);
}

/* Put the old one back and drop the new one. */
static int undo(int folder, const char *old, const char *name, struct err *err) {
    char aside[INSTALL_NAME_SIZE];
    install_fresh_name(aside, INSTALL_STAGE, "");
    if (renameat2(folder, old, folder, name, RENAME_EXCHANGE) == 0) {
        install_discard(folder, old);
    } else if (renameat(folder, name, folder, aside) < 0 ||
               renameat(folder, old, folder, name) < 0) {
        return install_failed(err, -errno, name);
    } else {
        install_discard(folder, aside);
    }
    sync_folder(folder);
    return changed_meanwhile(name, err);
}

int install_exchange(int folder, const char *stage, const char *name, const char *digest,
                     struct err *err) {
    char old[INSTALL_NAME_SIZE] = "";
    int rc = is_there(folder, name) ? put_over(folder, stage, name, old)
                                    : put_new(folder, stage, name);
    if (rc < 0) {
        install_discard(folder, stage);
        return install_failed(err, rc, name);
    }
    if (old[0] && digest && !is_as_judged(folder, old, digest)) {
        return undo(folder, old, name, err);
    }
    sync_folder(folder);
    if (old[0]) {
        install_discard(folder, old);
    }
    return 0;
}

int install_take_away(int folder, const char *name, const char *digest, struct err *err) {
    char aside[INSTALL_NAME_SIZE];
    install_fresh_name(aside, INSTALL_STAGE, "");
    if (renameat(folder, name, folder, aside) < 0) {
        return install_failed(err, -errno, name);
    }
    if (digest && !is_as_judged(folder, aside, digest) &&
        renameat(folder, aside, folder, name) == 0) {
        return changed_meanwhile(name, err);
    }
    sync_folder(folder);
    install_discard(folder, aside);
    return 0;
}

/* --- leftovers --- */

/* After `prefix` and the random digits of a name of ours; NULL for any other name. */
static const char *tail_of(const char *name, const char *prefix) {
    size_t len = strlen(prefix);
    if (strncmp(name, prefix, len) != 0 ||
        strspn(name + len, "0123456789abcdef") != HEX_LEN) {
        return NULL;
    }
    return name + len + HEX_LEN;
}

static bool is_leftover(int folder, const char *name) {
    const char *stage = tail_of(name, INSTALL_STAGE),
               *aside = tail_of(name, INSTALL_ASIDE);
    struct stat st;
    bool ours = (stage && !*stage) ||
                (aside && aside[0] == '-' && skill_name_is_valid(aside + 1));
    return ours && fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_uid == geteuid();
}

/* A generated skill is checked and tested in its stage for longer than the folder's lock
 * may be held, so its writer locks the stage itself. A process that died holds no lock.
 */
static bool is_held(int folder, const char *name) {
    autofd int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static void sweep_entry(int folder, const char *name) {
    const char *aside = tail_of(name, INSTALL_ASIDE);
    if (is_held(folder, name)) {
        return;
    }
    if (aside && !is_there(folder, aside + 1)) {
        (void)!renameat(folder, name, folder, aside + 1);
    } else {
        install_discard(folder, name);
    }
}

/* The first leftover's name in ret, or false. */
static bool next_leftover(int folder, long skip, char ret[static INSTALL_NAME_SIZE]) {
    autodir *entries = dir_entries(folder);
    bool found = false;
    for (const struct dirent *entry; !found && (entry = dir_next(entries));) {
        found = strlen(entry->d_name) < INSTALL_NAME_SIZE &&
                is_leftover(folder, entry->d_name) && skip-- == 0;
        if (found) {
            snprintf(ret, INSTALL_NAME_SIZE, "%s", entry->d_name);
        }
    }
    return found;
}

void install_sweep(int folder) {
    char name[INSTALL_NAME_SIZE];
    long stuck = 0;
    for (int i = 0; i < 1024 && next_leftover(folder, stuck, name); i++) {
        sweep_entry(folder, name);
        stuck += is_there(folder, name);
    }
}
