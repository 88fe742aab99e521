#pragma once
/* gather: the elements of a tensor that are folded into one, line by line. */
#include "gpu/reference/operator_call.h"

struct gather {
    int64_t kept[OPERATOR_MAX_RANK], kept_strides[OPERATOR_MAX_RANK];
    size_t kept_rank;
    int64_t lines, n; /* lines of n elements; the order of lines is row-major */
    int64_t *offsets; /* of a line's elements, row-major; owned */
};

/* dims[i]: is dimension i folded? */
void gather_start(struct gather *g, const struct operator_array *a, const bool *dims);
/* Where a line's offsets count from. */
int64_t gather_base(const struct gather *g, int64_t line);
/* The line at a base, copied into g->n numbers. */
void gather_line(const struct gather *g, int64_t base, const double *v, double *ret);
void gather_finish(struct gather *g);
/* The shape without the folded dimensions, which stay as 1 with keep. */
int gather_output(struct operator_call *c, size_t output, const struct operator_array *a,
                  const bool *dims, bool keep);
