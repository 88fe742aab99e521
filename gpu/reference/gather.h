#pragma once
/* gather: the elements of a tensor that are reduced to one, line by line. */
#include "gpu/reference/operator_call.h"

struct gather {
    int64_t kept[OPERATOR_MAX_RANK], kept_strides[OPERATOR_MAX_RANK];
    size_t kept_rank;
    int64_t lines, n; /* lines of n elements; the order of lines is row-major */
    int64_t run;      /* contiguous elements of a line; so are `side` */
    int64_t side;     /* first elements of lines, if a run is one element */
    int64_t *offsets; /* of a line's runs, row-major; owned */
};

/* The current lines: each contiguous, `stride` after the one before. */
struct gathered {
    const double *v;
    int64_t base, count, stride;
};

/* dims[i]: whether dimension i is reduced */
void gather_start(struct gather *g, const struct operator_array *a, const bool *dims);
/* A buffer for the lines that are taken together; freed by the caller. */
double *gather_room(const struct gather *g);
/* The lines from `line` on, some of those before `end`: in place in v, or copied into
 * room. */
struct gathered gather_lines(const struct gather *g, int64_t line, int64_t end,
                             const double *v, double *room);
void gather_finish(struct gather *g);

/* Makes a line of n elements from another one. */
typedef void gather_line(const void *data, const double *x, int64_t n, double *ret);
/* Makes every line of output 0 from that of input 0, both in the shape of `view`, on
 * several threads. apart: ret must not be x. least: as for call_parts, in elements. */
int gather_map(struct operator_call *c, const struct operator_array *view,
               const bool *dims, bool apart, int64_t least, gather_line *line,
               const void *data);
/* The shape without the reduced dimensions; with keep they stay as 1. */
int gather_output(struct operator_call *c, size_t output, const struct operator_array *a,
                  const bool *dims, bool keep);
