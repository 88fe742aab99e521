#include "skills/evaluation/injection.h"

#include "base/mem.h"
#include "skills/evaluation/cells.h"
#include "skills/evaluation/statistics.h"

#include <math.h>

/* Refused and errored answers may have been billed for more than one prompt. */
static size_t growths(const struct cell_grid *g, size_t student, size_t arm,
                      double *ret) {
    size_t n = 0;
    for (size_t test = 0; test < g->tests; test++) {
        for (size_t run = 0; run < g->runs; run++) {
            const struct cell *without = cell_at(g, student, 0, test, run);
            const struct cell *with = cell_at(g, student, arm, test, run);
            if (cell_counts(without) && cell_counts(with) && without->reported &&
                with->reported) {
                ret[n++] = (double)with->input - (double)without->input;
            }
        }
    }
    return n;
}

void injection_check(const struct cell_grid *g, size_t student, size_t arm,
                     size_t expected_tokens, struct injection *ret) {
    autofree double *seen = xcalloc(g->tests * g->runs + 1, sizeof *seen);
    size_t n = growths(g, student, arm, seen);
    *ret = (struct injection){
        .expected_tokens = expected_tokens, .seen_tokens = NAN, .ok = true};
    if (n == 0) {
        return;
    }
    ret->known = true;
    ret->seen_tokens = median_of(seen, n);
    ret->ok = expected_tokens == 0 || ret->seen_tokens >= 0.5 * (double)expected_tokens;
}
