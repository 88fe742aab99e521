#pragma once
/* injection: did the skill reach the model?
 *
 * A skill that is measured but never sent gives a confident "no lift"; upskill's own
 * sample run was such a one. The endpoint's own count of prompt tokens must be larger
 * with the skill than without it, by at least half of what the skill is estimated at
 * (tokenizers differ by up to 1.5; half leaves room for that and for framing). */
#include <stdbool.h>
#include <stddef.h>

struct cell_grid;

struct injection {
    size_t expected_tokens; /* the estimate of what the arm adds */
    double
        seen_tokens; /* median over pairs of the growth; NaN when no endpoint counted */
    bool known;      /* seen_tokens says something */
    bool ok;         /* true also while nothing is known */
};
/* Of one student: arm against the baseline (arm 0). */
void injection_check(const struct cell_grid *g, size_t student, size_t arm,
                     size_t expected_tokens, struct injection *ret);
