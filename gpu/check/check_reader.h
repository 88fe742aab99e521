#pragma once
/* check_reader: reads kernel/check's inputs on one of libuv's threads.
 *
 * A source may have megabytes, and its includes may be on a slow disk; neither may
 * block the loop. One input is read at a time, so that compilations start in the order
 * of their requests and checks never use more than one of the shared threads. */
#include "gpu/check/check_input.h"

struct check_reader;
struct check_reading;

struct check_reader *check_reader_new(uv_loop_t *loop);
/* Drops waiting requests; the loop stays alive until the thread is done. NULL is a
 * no-op. */
void check_reader_free(struct check_reader *reader);

/* Called from the loop, at most once, never from inside check_reader_start. r is
 * check_input_read's; if it is 0, the callee must finish *input. */
typedef void check_reading_done(int r, struct check_input *input,
                                const struct check_refusal *refusal, void *data);
/* The arguments of check_input_read. Everything is copied except the values within
 * params, which must not change any more. */
struct check_reading *check_reader_start(struct check_reader *reader,
                                         const json_t *params,
                                         const struct check_wants *wants,
                                         const char *const *roots,
                                         const struct check_places *places,
                                         check_reading_done *done, void *data);
/* While held, no further input is read. */
void check_reader_hold(struct check_reader *reader, bool held);
/* `done` does not follow. */
void check_reading_cancel(struct check_reading *reading);
