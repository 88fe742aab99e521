#pragma once
/* tensor_shape: extents, beginning with the outermost dimension. */
#include "base/mem.h"

/* "[3, 4]", cut to size. Returns buf. */
const char *tensor_shape_text(const int64_t *shape, size_t rank, char *buf, size_t size);
/* Whether they are equal apart from extents of 1, which are ignored: a sum to one number
 * is written to an array of one. */
bool tensor_shape_fits(const int64_t *a, size_t a_rank, const int64_t *b, size_t b_rank);
