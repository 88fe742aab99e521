#pragma once
/* check_result: turns a worker's answer into kernel/check's result.
 *
 * There are two steps: the first gives everything that depends on the content, which the
 * cache keeps; the second adds what depends on the request. Both may take long (searching
 * megabytes for fixes, the occupancy of a thousand kernels): the functions that end in
 * is_long say when to call them on a thread (base/work.h). */
#include "gpu/check/guess_attempts.h"
#include "gpu/check/omissions.h"

#define CHECK_MAX_FINDINGS 100

/* The first step: a new reference, or NULL if the answer does not have the format of
 * compile.h (a remote worker may send anything). *keep: whether it may be cached; a crash
 * or a timeout may be temporary. note: one more finding, or NULL. Do not change the
 * result once it is shared. */
json_t *check_result_new(const struct check_input *input, const json_t *answer,
                         json_t *note, bool *keep);

/* The state of making a result, over several attempts. The maker owns all of it. */
struct check_making {
    struct check_input input;
    bool failed; /* an attempt did not compile: only then are these two in use */
    struct guess_attempts attempts;
    struct omissions omissions;
    json_t *answer; /* the worker's */
    json_t *worker; /* that worker's name and host */
    /* the outcome of an attempt: */
    bool again;   /* input now holds the sources of another attempt; no result yet */
    json_t *base; /* check_result_new's; NULL: again, or no answer at all */
    bool keep;    /* base may be cached */
};
void check_make(struct check_making *m);
/* Whether check_make takes so long that it needs a thread. */
bool check_making_is_long(const struct check_making *m);
void check_making_finish(struct check_making *m); /* not answer, worker and base */

/* The second step, a new reference: base with occupancy, the findings on launch (NULL: no
 * launch), and the findings sorted. Shares unchanged parts with base. The verdict must
 * still be set: check_verdict.h. */
json_t *check_result_complete(const json_t *base, const json_t *launch, bool cached);
/* Whether the second step takes so long that it needs a thread. */
bool check_is_long(const json_t *base);
/* Appends kernel/check's result in the format of a compiler's output. */
void check_result_describe(const json_t *result, struct buf *out);
