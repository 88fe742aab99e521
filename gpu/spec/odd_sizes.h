#pragma once
/* odd_sizes: adds cases with odd sizes to a spec whose author gave only round ones.
 *
 * A kernel that forgets its last partial block passes with 1024 and fails with 1000. If
 * every size of every case is a multiple of 32 or a power of two, the smallest case is
 * repeated with one size reduced by one, for each size that a shape or a launch uses; or
 * reduced by another size of similar name that divides it in every case, so that heads
 * stay a multiple of kv_heads. Nothing is added if the spec says "odd_sizes": false, if
 * numbers or files are expected, for a size in an expression that divides evenly ("n /
 * 4", "n % 4": the author means a multiple; "(n + 255) / 256" rounds up and does not
 * count), or if the case would be impossible. */
#include "gpu/spec/kernel_spec.h"

enum { ODD_SIZES_MAX = 4 };

/* Whether every size of a case is a multiple of 32 or a power of two. */
bool odd_sizes_round(const json_t *sizes);
/* Appends to spec->cases; returns the number of cases added. */
size_t odd_sizes_add(struct kernel_spec *spec);
/* The size that added case i changed, with its old and new value: a name in the spec. */
const char *odd_sizes_name(const struct kernel_spec *spec, size_t i, json_int_t *ret_was,
                           json_int_t *ret_is);
/* If the old value of the size that added case i changed fills the last block and the
 * grid is rounded up for smaller ones: gives the size the value that fills half of that
 * block, so that vectors and alignment are no reason to fail with it, and returns it.
 * Otherwise 0. */
json_int_t odd_sizes_halve(struct kernel_spec *spec, size_t i);
