#pragma once
/* odd_sizes: cases with odd sizes for a spec whose author gave round ones only.
 *
 * A kernel that forgets its last partial block passes with 1024 and fails with 1000.
 * Where every size of every case is a multiple of 32 or a power of two, the smallest case
 * is tried again with one size less by one, for each size that a shape or a launch is
 * made of; or less by another size of its name that divides it in every case: heads stay
 * a multiple of kv_heads. Nothing is added when the spec says "odd_sizes": false, when
 * numbers or files are expected, or for a size in an expression that divides evenly ("n / 4", "n % 4": the author
 * means a multiple; "(n + 255) / 256" rounds up and does not count), or when the case
 * would be impossible. */
#include "gpu/spec/kernel_spec.h"

enum { ODD_SIZES_MAX = 4 };

/* Appends to spec->cases; returns how many. */
size_t odd_sizes_add(struct kernel_spec *spec);
/* The size that added case i has changed, and what it was: a name of the spec. */
const char *odd_sizes_name(const struct kernel_spec *spec, size_t i, json_int_t *ret_was,
                           json_int_t *ret_is);
