#pragma once
/* check_reader: kernel/check's inputs, read on one of libuv's threads.
 *
 * A source may have megabytes, and what it includes may lie on a slow disk: neither may
 * hold the loop up. One input is read at a time, so that compilations begin in the order
 * of their requests and checks never take more than one of the threads that everybody
 * shares. */
#include "gpu/check/check_input.h"

#include <uv.h>

struct check_reader;
struct check_reading;

struct check_reader *check_reader_new(uv_loop_t *loop);
/* Drops what still waits; the loop runs on until the thread is done. NULL is a no-op. */
void check_reader_free(struct check_reader *reader);

/* From the loop, at most once, and never from inside check_reader_start. r is
 * check_input_read's; *input is the callee's to finish when it is 0. */
typedef void check_reading_done(int r, struct check_input *input,
                                const struct check_refusal *refusal, void *data);
/* The arguments as check_input_read's. Everything is copied but the values within params,
 * which nobody may change any more. */
struct check_reading *check_reader_start(struct check_reader *reader,
                                         const json_t *params,
                                         const struct check_wants *wants,
                                         const char *const *roots,
                                         const struct check_places *places,
                                         check_reading_done *done, void *data);
/* While held, nothing more is read: it costs least where it is. */
void check_reader_hold(struct check_reader *reader, bool held);
/* `done` does not follow. */
void check_reading_cancel(struct check_reading *reading);
