#pragma once
/* array_save: writes files from a worker beneath the workspace's folders.
 *
 * A worker never writes to the user's folders: it sends bytes or memory
 * (gpu/run/run_notes.h), and the daemon decides where they are written. Decoding, hashing
 * and writing run on libuv's threads, one batch at a time and in order. Every file
 * appears completely under its name or not at all, and no link leads out of the root. The
 * worker is not trusted: names are checked, sizes counted, and data that does not begin
 * as a .npy file is refused. */
#include "base/json.h"

#include <uv.h>

struct array_save;

/* dir: beneath one of roots (absolute, NULL-terminated); a relative one is beneath the
 * first. Created with the first file. -EACCES: outside; -EXDEV: a link leads out;
 * -ENOTDIR. Changes nothing on disk yet. */
int array_save_new(struct array_save **ret, uv_loop_t *loop, const char *dir,
                   const char *const *roots, struct err *err);
/* The "file" of a note, in the order of arrival. memory: borrowed, the memory that the
 * note refers to, or -1. */
void array_save_part(struct array_save *s, const json_t *part, int memory);
/* The worker has ended and another begins: drops incomplete files. (Complete files stay;
 * they will be sent again.) */
void array_save_again(struct array_save *s);
/* Exactly once, from the loop, when all received data is written: {"name": {"path",
 * "bytes", "sha256"}}, borrowed, and the first error or NULL. An incomplete file is
 * dropped. */
typedef void array_save_done(const json_t *written, const struct err *err, void *data);
void array_save_end(struct array_save *s, array_save_done *done, void *data);
/* Adds the files to kernel/validate's result from the worker: each of cases[].files gets
 * "path" and "sha256", or is removed; `saved` gets "dir" (absolute) and, if err or the
 * worker reports one, "error". */
void array_save_tell(const struct array_save *s, json_t *result, const json_t *written,
                     const struct err *err);
/* Frees it as soon as its thread has ended; `done` is no longer called. NULL is a
 * no-op. */
void array_save_free(struct array_save *s);
