#pragma once
/* check_maker: what a check sends to a worker, and its result, made on libuv's threads.
 *
 * Sources have megabytes: writing them, and looking for cures in them, takes long. So
 * does telling the occupancy of a thousand kernels. Nothing of it may hold the loop up.
 * The functions are called on the loop's thread and call back from the loop, exactly once
 * and never from inside. */
#include "gpu/check/guess_attempts.h"
#include "gpu/check/omissions.h"
#include "gpu/compile/compile.h"

#include <uv.h>

struct shared_bytes;

/* What a worker is asked: params for pool_submit, a new reference. */
json_t *check_params(struct check_input *input, unsigned wall_ms);

/* sources: for pool_submit, borrowed; NULL: more than a message holds. */
typedef void check_writing_done(struct shared_bytes *sources, void *data);
/* Until the callback nobody else touches input. */
void check_writing_start(uv_loop_t *loop, struct check_input *input,
                         check_writing_done *done, void *data);

/* What a result is made from. Until the callback nobody else touches what the pointers
 * lead to. */
struct check_material {
    struct check_input *input;
    struct guess_attempts *attempts;
    struct omissions *omissions;
    json_t *answer; /* the worker's, a new reference: stolen */
    json_t *worker; /* who that is; stolen */
};

/* What became of it. */
struct check_made {
    bool again;   /* input now holds the sources of another attempt; no result yet */
    json_t *base; /* check_result_new's, borrowed; NULL: again, or no answer at all */
    bool keep;    /* base may be cached */
};

typedef void check_making_done(const struct check_made *made, void *data);
void check_making_start(uv_loop_t *loop, const struct check_material *material,
                        check_making_done *done, void *data);

/* Whether check_result_complete takes so long that it is a thread's work. */
bool check_is_long(const json_t *base);

struct check_completing;
/* result: check_result_complete's, a new reference passed on. */
typedef void check_completing_done(json_t *result, void *data);
struct check_completing *check_completing_start(uv_loop_t *loop, json_t *base,
                                                json_t *launch, bool cached,
                                                check_completing_done *done, void *data);
/* `done` does not follow; the loop runs on until the thread is done. */
void check_completing_cancel(struct check_completing *completing);
