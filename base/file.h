#pragma once
/* file: reading whole files, and replacing them atomically beneath a root.
 *
 * Reads refuse anything that is not a regular file, without ever blocking on a FIFO, and
 * stop at a limit. Paths given by others are opened beneath a directory descriptor with
 * openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), so neither ".." nor a link leads out.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct buf;
struct err;

/* Read a regular file whole into out (appended). -EFBIG over out's limit, -EINVAL when it
 * is not a regular file, else -errno. */
int file_read(const char *path, struct buf *out, struct err *err);
/* The same of one that was opened, or of the errno why not (-1); fd is closed, path is
 * for messages. */
int file_read_open(int fd, const char *path, struct buf *out, struct err *err);
/* After it failed with rc: there is no such file for this user, who may run with
 * another's home (HOME=/root in a container) or with none. */
bool file_is_missing(int rc);

/* A directory that paths are resolved beneath. */
struct root {
    int fd;
    char *path; /* as given, absolute; for messages */
};
int root_open(struct root *r, const char *path, struct err *err);
void root_close(struct root *r);

/* `rel` is relative; -EXDEV when it leads out of the root. */
int root_read(const struct root *r, const char *rel, struct buf *out, struct err *err);
/* A descriptor of the regular file rel, open for reading, for the caller to close; or a
 * negative errno. */
int root_open_file(const struct root *r, const char *rel, struct err *err);
/* Create or replace rel: the bytes are written beside it, fsynced and renamed, so a
 * reader sees the old file or the new one, whole. Missing parent folders are made (mode
 * 0755). */
int root_write(const struct root *r, const char *rel, const void *bytes, size_t len,
               mode_t mode, struct err *err);
/* Only creates: -EEXIST when something has the name, also if another came first. */
int root_create(const struct root *r, const char *rel, const void *bytes, size_t len,
                struct err *err);
/* The same piece by piece. After a begin that succeeded comes one end or one drop; from
 * any thread, one at a time. */
struct root_file {
    int dir, fd;
    char *name;
    char temporary[40];
    bool only_new; /* set before the end: -EEXIST where something has the name by then */
};
int root_file_begin(struct root_file *ret, const struct root *r, const char *rel,
                    mode_t mode, struct err *err);
int root_file_add(struct root_file *f, const void *bytes, size_t len); /* 0 or -errno */
/* durable: on the disk before it has its name. 0 or -errno; nothing is left then. */
int root_file_end(struct root_file *f, bool durable);
void root_file_drop(struct root_file *f); /* as if it had never begun; twice is fine */
/* Make a folder and its parents beneath the root; existing ones are fine. */
int root_mkdir(const struct root *r, const char *rel, mode_t mode, struct err *err);
/* A descriptor of the existing folder rel beneath the root, for the caller to close. */
int root_open_folder(const struct root *r, const char *rel, struct err *err);

/* All of the bytes, however write(2) cuts them. 0 or -errno. */
int file_write_all(int fd, const void *bytes, size_t len);

/* First thing in main(): /dev/null on those of the descriptors 0 to 2 that were closed,
 * which the next open would take. Writing to such a standard output fails: an answer that
 * nobody gets is no success. 0 or -errno. */
int file_open_standard(void);

/* mkdir -p for a path of our own choosing (state folders). */
int dir_make(const char *path, mode_t mode, struct err *err);
/* A new folder of our own (0700) in $TMPDIR, else in /tmp: "/tmp/upskilld-NAME-…". Its
 * path, freed by the caller, who removes the folder; NULL with err. */
char *dir_make_temporary(const char *name, struct err *err);
/* The entries of an open folder, from the first on; the descriptor stays the caller's.
 * NULL with errno, as for a negative descriptor. */
DIR *dir_entries(int folder);
/* The next one but "." and ".."; NULL at the end, and of NULL. */
const struct dirent *dir_next(DIR *entries);
void dir_close_p(DIR **entries);
#define autodir __attribute__((cleanup(dir_close_p))) DIR
/* Remove a folder and all that is in it, never following links. */
int dir_remove(const char *path, struct err *err);

/* Paths as text; none of these touches the disk. Results are freed by the caller. */
char *path_join(const char *dir, const char *name); /* name alone when it is absolute */
/* "a/./b/../c" -> "a/c"; "../x" keeps its leading ".."; "" -> ".". */
char *path_normalize(const char *path);
/* True when `path` is `dir` or beneath it, by components. Both absolute and normalised.
 */
bool path_is_beneath(const char *path, const char *dir);
/* Whether a path leads out of the folder that it begins in: an absolute one, and one
 * whose
 * ".." are more than what stands before them. */
bool path_leads_out(const char *path);
const char *path_basename(const char *path); /* points into path */

/* $XDG_CONFIG_HOME/upskilld and so on, with the specification's defaults beneath $HOME;
 * NULL when neither is set. Freed by the caller. */
char *xdg_config_dir(void);
char *xdg_state_dir(void);
char *xdg_data_dir(void);
char *xdg_cache_dir(void);

/* The real folder of the running program, links followed; NULL without /proc. Freed by
 * the caller. */
char *program_folder(void);
/* The first of `places`, relative to that folder, that access(2) grants for `mode`, as a
 * normalised path; NULL when there is none. Freed by the caller. */
char *beside_program(const char *const *places, size_t count, int mode);
