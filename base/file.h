#pragma once
/* file: reading whole files, and replacing them atomically beneath a root.
 *
 * Reads accept only regular files, never block on a FIFO, and
 * stop at a limit. Paths given by others are opened beneath a directory descriptor with
 * openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS), so neither ".." nor a link leads out.
 */
#include "base/mem.h"

#include <dirent.h>
#include <sys/types.h>

/* Read a regular file whole into out (appended). -EFBIG over out's limit, -EINVAL when it
 * is not a regular file, else -errno. */
int file_read(const char *path, struct buf *out, struct err *err);
/* The same for an open descriptor, which is closed. fd -1: opening failed, errno says
 * why. path is for messages. */
int file_read_open(int fd, const char *path, struct buf *out, struct err *err);
/* The same to the end of whatever fd is, such as a pipe; fd stays open. Blocks. */
int file_read_stream(int fd, const char *path, struct buf *out, struct err *err);
/* Whether the error rc means that this user has no such file. The user may run with
 * another user's home (HOME=/root in a container) or with none. */
bool file_is_missing(int rc);

/* A directory that paths are resolved beneath. */
struct root {
    int fd;
    char *path; /* as given, absolute; for messages */
};
int root_open(struct root *r, const char *path, struct err *err);
void root_close(struct root *r);

/* `rel` is relative; -EXDEV if it leads out of the root. */
int root_read(const struct root *r, const char *rel, struct buf *out, struct err *err);
/* Opens the regular file rel for reading: a descriptor that the caller closes, or a
 * negative errno. */
int root_open_file(const struct root *r, const char *rel, struct err *err);
/* Create or replace rel: the bytes are written beside it, fsynced and renamed, so a
 * reader sees the old file or the new one, whole. Missing parent folders are made (mode
 * 0755). */
int root_write(const struct root *r, const char *rel, const void *bytes, size_t len,
               mode_t mode, struct err *err);
/* Only creates: -EEXIST if the name exists, even if another process created it
 * meanwhile. */
int root_create(const struct root *r, const char *rel, const void *bytes, size_t len,
                struct err *err);
/* root_write piece by piece. After a successful begin, call end or drop exactly once. Any
 * thread, one at a time. */
struct root_file {
    int dir, fd;
    char *name;
    char temporary[48];
    bool only_new; /* set before the end: -EEXIST where something has the name by then */
};
int root_file_begin(struct root_file *ret, const struct root *r, const char *rel,
                    mode_t mode, struct err *err);
int root_file_add(struct root_file *f, const void *bytes, size_t len); /* 0 or -errno */
/* durable: fsync before the rename. 0, or -errno with the temporary file removed. */
int root_file_end(struct root_file *f, bool durable);
void root_file_drop(struct root_file *f); /* undoes begin; may be called twice */
/* Removes the temporary files in the folder itself that a killed process left: those of
 * this user that were last written more than a minute ago. */
void root_sweep(const struct root *r);
/* Removes the oldest entry of the folder itself if it has `most` or more. */
void root_make_room(const struct root *r, size_t most);
/* Make a folder and its parents beneath the root; existing ones are fine. */
int root_mkdir(const struct root *r, const char *rel, mode_t mode, struct err *err);
/* Opens the existing folder rel beneath the root; the caller closes the descriptor. */
int root_open_folder(const struct root *r, const char *rel, struct err *err);

/* Writes all bytes, repeating short writes. 0 or -errno. */
int file_write_all(int fd, const void *bytes, size_t len);

/* Call first in main(). Opens /dev/null on closed descriptors among 0 to 2, because the
 * next open would reuse them. Writing to such a standard output fails, so that a lost
 * answer is not a success. 0 or -errno. */
int file_open_standard(void);

/* mkdir -p for a path of our own choosing (state folders). */
int dir_make(const char *path, mode_t mode, struct err *err);
/* Creates a private folder (0700) in $TMPDIR or /tmp: "/tmp/upskilld-NAME-…". Returns its
 * path, or NULL with err. The caller frees the path and removes the folder. */
char *dir_make_temporary(const char *name, struct err *err);
/* Lists an open folder from its first entry; the caller keeps the descriptor. NULL with
 * errno on failure, and for a negative descriptor. */
DIR *dir_entries(int folder);
/* The next entry other than "." and ".."; NULL at the end, and if entries is NULL. */
const struct dirent *dir_next(DIR *entries);
void dir_close_p(DIR **entries);
#define autodir __attribute__((cleanup(dir_close_p))) DIR
/* Remove a folder and its contents, never following links. */
int dir_remove(const char *path, struct err *err);

/* Paths as text; none of these touches the disk. Results are freed by the caller. */
char *path_join(const char *dir, const char *name); /* name alone when it is absolute */
/* "a/./b/../c" -> "a/c"; "../x" keeps its leading ".."; "" -> ".". */
char *path_normalize(const char *path);
char *path_resolve(const char *dir, const char *name); /* joined and normalised */
/* Whether `path` is `dir` or beneath it, compared by components. Both must be absolute
 * and normalised. */
bool path_is_beneath(const char *path, const char *dir);
/* `path` as it is named from the folder `dir`: "../inc". Both must be absolute and
 * normalised; without a common folder it stays as it is. */
char *path_relative(const char *path, const char *dir);
/* Whether a path leads out of its starting folder: it is absolute, or some ".." goes
 * above the start. */
bool path_leads_out(const char *path);
const char *path_basename(const char *path); /* points into path */
char *path_folder(const char *path);         /* "a" of "a/b", "/" of "/b", "" of "b" */

/* $XDG_CONFIG_HOME/upskilld and so on, with the specification's defaults beneath $HOME;
 * NULL when neither is set. Freed by the caller. */
char *xdg_config_dir(void);
char *xdg_state_dir(void);
char *xdg_data_dir(void);
char *xdg_cache_dir(void);

/* The real folder of the running program, links followed; NULL without /proc. Freed by
 * the caller. */
char *program_folder(void);
/* The first of `places`, relative to that folder, for which access(2) grants `mode`, as a
 * normalised path; NULL if there is none. Freed by the caller. */
char *beside_program(const char *const *places, size_t count, int mode);
