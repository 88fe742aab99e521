/* Locks a folder of skills for changes, and records what was installed in it. */
#include "skills/install/install_lock.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/work.h"
#include "skills/format/skill_name.h"
#include "skills/install/install.h"
#include "skills/install/install_stage.h"
#include "skills/install/install_tree.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define RECORD_MAX (8u << 20)
#define SOURCE_MAX (1u << 20) /* of a record that the loop reads */
#define RECORD_VERSION 1
#define POLL_MS 10

/* --- the lock --- */

static int open_lock(int folder, struct err *err) {
    int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat st;
    int fd = openat(folder, INSTALL_LOCK, flags, 0644);
    if (fd < 0) {
        return install_failed(err, -errno, INSTALL_LOCK);
    }
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, -EINVAL, "unsafe_path: %s is not a regular file",
                       INSTALL_LOCK);
    }
    return fd;
}

/* The file may have been removed by the one who held it before. */
static bool is_still_there(int folder, int fd) {
    struct stat is, named;
    return fstat(fd, &is) == 0 &&
           fstatat(folder, INSTALL_LOCK, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           is.st_dev == named.st_dev && is.st_ino == named.st_ino;
}

int install_lock(int folder, unsigned wait_ms, struct err *err) {
    uint64_t end = clock_ms() + wait_ms;
    for (;;) {
        autofd int fd = open_lock(folder, err);
        if (fd < 0) {
            return fd;
        }
        int rc = flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
        if (rc == 0 && is_still_there(folder, fd)) {
            return take_fd(fd);
        }
        if (rc < 0 && rc != -EWOULDBLOCK && rc != -EINTR) {
            return install_failed(err, rc, INSTALL_LOCK);
        }
        if (work_is_stopped()) {
            return err_set(err, -ECANCELED,
                           "stopped: the request was cancelled; nothing was changed");
        }
        if (clock_ms() >= end) {
            return err_set(err, -EBUSY, "busy: another process is installing here");
        }
        if (rc < 0) {
            nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
        }
    }
}

void install_unlock(int folder, int lock) {
    struct stat st;
    if (fstatat(folder, INSTALL_LOCK_FILE, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
        errno == ENOENT) {
        unlinkat(folder, INSTALL_LOCK, 0);
    }
    close(lock);
}

/* --- the record --- */

void install_record_finish(struct install_record *record) {
    json_decref(record->skills);
    *record = (struct install_record){0};
}

static int write_temporary(int folder, const char *name, const struct buf *text) {
    autofd int fd =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0) {
        return -errno;
    }
    int rc = file_write_all(fd, text->data, text->len);
    return rc == 0 && fsync(fd) < 0 ? -errno : rc;
}

static int replace_record(int folder, const struct buf *text) {
    char name[INSTALL_NAME_SIZE];
    install_fresh_name(name, INSTALL_STAGE, "");
    int rc = write_temporary(folder, name, text);
    if (rc == 0 && renameat(folder, name, folder, INSTALL_LOCK_FILE) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        unlinkat(folder, name, 0);
    } else {
        (void)!fsync(folder);
    }
    return rc;
}

int install_record_write(int folder, const struct install_record *record,
                         struct err *err) {
    if (!json_object_size(record->skills)) {
        int rc =
            unlinkat(folder, INSTALL_LOCK_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
        return rc < 0 ? install_failed(err, rc, INSTALL_LOCK_FILE) : 0;
    }
    autobuf text = BUF_INIT(RECORD_MAX);
    autojson *whole =
        json_pack("{s:i, s:O}", "version", RECORD_VERSION, "skills", record->skills);
    int rc = json_write(&text, whole);
    if (rc == 0) {
        rc = buf_addc(&text, '\n');
    }
    if (rc == 0) {
        rc = replace_record(folder, &text);
    }
    return rc < 0 ? install_failed(err, rc, INSTALL_LOCK_FILE) : 0;
}

static bool entry_is_sound(const char *name, const json_t *entry) {
    json_t *files = json_object_get(entry, "files");
    json_each_member(files, path, digest) {
        if (!json_is_string(digest)) {
            return false;
        }
    }
    return skill_name_is_valid(name) && json_is_object(files) &&
           json_is_string(json_object_get(entry, "digest")) &&
           json_is_texts(json_object_get(entry, "agents"));
}

/* Take the sound entries over; false when anything was not. */
static bool take_entries(const json_t *whole, json_t *skills) {
    json_t *entries = json_object_get(whole, "skills");
    bool sound = json_is_object(entries);
    json_each_member(entries, name, entry) {
        if (entry_is_sound(name, entry)) {
            json_object_set(skills, name, entry);
        } else {
            sound = false;
        }
    }
    return sound;
}

static int keep_damaged(int folder, struct install_record *record, struct err *err) {
    char random[9];
    random_hex(4, random);
    snprintf(record->kept, sizeof record->kept, INSTALL_LOCK_FILE ".damaged-%s", random);
    if (renameat(folder, INSTALL_LOCK_FILE, folder, record->kept) < 0) {
        return install_failed(err, -errno, INSTALL_LOCK_FILE);
    }
    return install_record_write(folder, record, err);
}

static int take_record(int folder, struct buf *text, int read_rc,
                       struct install_record *record, struct err *err) {
    struct err bad = {0};
    autojson *whole = read_rc == 0 ? json_parse(text->data, text->len, &bad) : NULL;
    json_int_t version = whole ? json_get_integer(whole, "version", 0) : 0;
    if (version > RECORD_VERSION) {
        return err_set(err, -EPROTO, "lock_newer: %s was written by a newer upskilld",
                       INSTALL_LOCK_FILE);
    }
    bool sound = version == RECORD_VERSION && take_entries(whole, record->skills);
    return sound ? 0 : keep_damaged(folder, record, err);
}

int install_record_read(int folder, struct install_record *ret, struct err *err) {
    struct install_record record = {.skills = json_object()};
    autobuf text = BUF_INIT(RECORD_MAX);
    int rc = skill_read_beneath(folder, INSTALL_LOCK_FILE, &text);
    if (rc == -EACCES || rc == -EPERM || rc == -EIO) {
        rc = install_failed(err, rc, INSTALL_LOCK_FILE);
    } else {
        rc = rc == -ENOENT ? 0 : take_record(folder, &text, rc, &record, err);
    }
    if (rc < 0) {
        install_record_finish(&record);
        return rc;
    }
    *ret = record;
    return 0;
}

/* --- entries --- */

bool install_entry_matches(const json_t *entry, const char *digest) {
    return entry &&
           (json_says(entry, "digest", digest) || json_says(entry, "previous", digest));
}

json_t *install_entry_new(const struct install_tree *tree, const char *source,
                          const json_t *agents, const char *before) {
    char digest[72], now[25];
    json_t *files = json_object();
    for (size_t i = 0; i < tree->count; i++) {
        json_object_set_new(files, tree->files[i].path,
                            json_string(tree->files[i].digest));
    }
    install_tree_digest(tree, digest);
    clock_iso8601(now);
    return json_pack("{s:s, s:o, s:o, s:s, s:O, s:s*}", "digest", digest, "files", files,
                     "source", json_clean_z(source), "installed_at", now, "agents",
                     agents, "previous", before);
}

char *install_source(const char *folder) {
    const char *name = path_basename(folder);
    autofree char *parent = xstrndup(folder, (size_t)(name - folder));
    autofd int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    autobuf text = BUF_INIT(SOURCE_MAX);
    if (fd < 0 || skill_read_beneath(fd, INSTALL_LOCK_FILE, &text) < 0) {
        return NULL;
    }
    autojson *whole = json_parse(text.data, text.len, NULL);
    const json_t *entry = json_object_get(json_object_get(whole, "skills"), name);
    const char *source = json_get_string(entry, "source", NULL);
    return source ? xstrdup(source) : NULL;
}
