#pragma once
/* check_maker: what a check sends to a worker, and its result.
 *
 * Sources have megabytes: writing them, and looking for cures in them, takes long, and so
 * does telling the occupancy of a thousand kernels. All but check_params and
 * check_is_long is therefore a thread's work (base/work.h). */
#include "gpu/check/guess_attempts.h"
#include "gpu/check/omissions.h"
#include "gpu/compile/compile.h"

struct shared_bytes;

/* What a worker is asked: params for pool_submit, a new reference. */
json_t *check_params(const struct check_input *input, unsigned wall_ms);
/* The sources, for pool_submit: one holder. NULL: more than a message holds. */
struct shared_bytes *check_sources(const struct check_input *input);

/* A result on its way, from one attempt to the next. Who makes it owns all of it. */
struct check_making {
    struct check_input input;
    bool failed; /* an attempt did not compile: only then are these two in use */
    struct guess_attempts attempts;
    struct omissions omissions;
    json_t *answer; /* the worker's */
    json_t *worker; /* who that is */
    /* what became of them: */
    bool again;   /* input now holds the sources of another attempt; no result yet */
    json_t *base; /* check_result_new's; NULL: again, or no answer at all */
    bool keep;    /* base may be cached */
};
void check_make(struct check_making *m);
void check_making_finish(struct check_making *m); /* but answer, worker and base */

/* Whether check_result_complete takes so long that it is a thread's work. */
bool check_is_long(const json_t *base);
