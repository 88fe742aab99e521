#pragma once
/* expect_flat: operators that take a buffer of one dimension as one row.
 *
 * Programs allocate rows of a matrix as one array, and a specification begun from such a
 * program has flat shapes. softmax and others then work on all of it at once, and a
 * correct kernel looks wrong. */
#include "gpu/spec/kernel_spec.h"

/* Whether an operator of `expect` works along a dimension that it chose itself while no
 * buffer has two: its name, borrowed from the specification; else NULL. */
const char *expect_flat_operator(const struct kernel_spec *spec);
