#pragma once
/* check_result: from a worker's answer to kernel/check's result.
 *
 * In two steps, because the first is what the cache keeps: everything that the content
 * decides; then what depends on the single request. Both may take long: looking for cures
 * in megabytes, and telling the occupancy of a thousand kernels. All but check_is_long is
 * therefore a thread's work (base/work.h). */
#include "gpu/check/guess_attempts.h"
#include "gpu/check/omissions.h"

struct buf;

#define CHECK_MAX_FINDINGS 100

/* The first step, a new reference, or NULL when the answer is not of the shape that
 * compile.h tells (a worker elsewhere may be anything). `keep` says whether it may be
 * cached: a crash or a time-out may be this moment's. note: one more finding, or NULL.
 * Once it is shared, nobody changes the result any more. */
json_t *check_result_new(const struct check_input *input, const json_t *answer,
                         json_t *note, bool *keep);

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

/* The second step, a new reference: base with occupancy and the launch's findings (NULL:
 * no launch), the findings in order. What it does not change it shares with base. The
 * verdict is still to be set: check_verdict.h. */
json_t *check_result_complete(const json_t *base, const json_t *launch, bool cached);
/* Whether that takes so long that it is a thread's work. */
bool check_is_long(const json_t *base);
/* kernel/check's result as a compiler would print it; appended. */
void check_result_describe(const json_t *result, struct buf *out);
