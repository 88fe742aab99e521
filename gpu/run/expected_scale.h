#pragma once
/* expected_scale: the magnitude that an output's default absolute tolerance follows.
 *
 * It is the largest finite expected magnitude, unless a gap shows that this one belongs
 * to other values: attention scores masked by -1e9 would else be judged to 1e4. A gap is
 * a factor of more than 1000 (or 1/rtol, if that is less) between neighbouring magnitudes
 * that are not 0: what is above it is judged by rtol; for what is below, an atol of a
 * tenth of rtol times the largest is too wide, for float32 a hundred times. The scale is
 * then the largest below the lowest gap that has beneath it
 *  - 4 magnitudes: of evenly spread ones, 4 gather below such a gap by chance once in
 *    gap^4 times (1e12 of float32, 6e6 of bfloat16);
 *  - 2 % of all: fewer are the tail of one distribution, as near a function's zeros,
 *    where a kernel's rounding is as large as its terms;
 *  - what is not 2^-40 to 2^-60 of the largest: sums that cancel leave that in double
 *    precision, in which references are computed, and float leaves much more. */
#include "base/mem.h"

struct expected_scale;
/* Released with free. */
struct expected_scale *expected_scale_new(void);
/* Adds the magnitudes of `count` values, except 0 and values that are not finite. */
void expected_scale_add(struct expected_scale *s, const double *values, size_t count);
/* Adds everything that was added to another. */
void expected_scale_join(struct expected_scale *s, const struct expected_scale *other);
/* The scale, or 0 if nothing was added. */
double expected_scale_get(const struct expected_scale *s, double rtol);
/* The largest added magnitude below `limit` (`limit` itself if another with the same
 * binary exponent is not below it), or 0. */
double expected_scale_largest(const struct expected_scale *s, double limit);
