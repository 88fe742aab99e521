#pragma once
/* array_save: files that a worker sends, written beneath the workspace's folders.
 *
 * A worker touches nobody's tree: it sends bytes or memory (gpu/run/run_notes.h), and the
 * daemon decides where they go. Decoding, hashing and writing run on libuv's threads, one
 * batch at a time and in order. Every file appears whole under its name or not at all,
 * and no link leads out of the root. What the worker says is not believed: names are
 * checked, sizes counted, and what does not begin as a .npy file is refused. */
#include "base/json.h"

#include <uv.h>

struct array_save;
struct err;

/* dir: beneath one of roots (absolute, NULL-terminated); relative: beneath the first. It
 * is made when the first file comes. -EACCES: outside; -EXDEV: a link leads out;
 * -ENOTDIR. Touches nothing yet. */
int array_save_new(struct array_save **ret, uv_loop_t *loop, const char *dir,
                   const char *const *roots, struct err *err);
/* The "file" of a note, in the order they came. memory: borrowed, what it says it is in,
 * or -1. */
void array_save_part(struct array_save *s, const json_t *part, int memory);
/* The worker is gone and another begins: what came so far is forgotten. (Files that are
 * whole stay; they will come again.) */
void array_save_again(struct array_save *s);
/* Exactly once, from the loop, when all that came is written: {"name": {"path", "bytes",
 * "sha256"}}, borrowed, and what went wrong first or NULL. A file that is not whole then
 * is dropped. */
typedef void array_save_done(const json_t *written, const struct err *err, void *data);
void array_save_end(struct array_save *s, array_save_done *done, void *data);
/* kernel/validate's result, as the worker gave it, with what became of the files: each of
 * cases[].files has "path" and "sha256", or is gone; `saved` has "dir" (absolute) and,
 * when err or the worker says so, "error". */
void array_save_tell(const struct array_save *s, json_t *result, const json_t *written,
                     const struct err *err);
/* Frees it, as soon as its thread has ended; `done` does not come any more. NULL is a
 * no-op. */
void array_save_free(struct array_save *s);
