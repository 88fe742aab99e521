#pragma once
/* tensor_init: the contents of buffers before a launch.
 *
 * Element i depends only on (seed, stream, i): the same seed gives the same bytes on
 * every backend and machine, in any order, for a part or the whole. Random bits:
 * Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011),
 * checked against the authors' known answers; 64 bits per element. Normal values:
 * Marsaglia and Tsang's ziggurat ("The ziggurat method for generating random variables",
 * 2000) with a table computed exactly. For the one in a hundred values that the table
 * does not decide, it uses a logarithm written here in plain IEEE arithmetic, because the
 * C library's may differ in the last bit. */
#include "gpu/tensor/tensor_type.h"

/* Incremented whenever a seed gives other bytes; in results as "generator". 1 was Box and
 * Muller's transform with 128 bits per element. */
#define TENSOR_GENERATOR 2

struct tensor_init {
    enum tensor_init_kind {
        INIT_POISON,   /* NaN for floats, 0xA5 bytes for integers */
        INIT_NORMAL,   /* a = mean, b = standard deviation */
        INIT_UNIFORM,  /* [a, b) before rounding to the type */
        INIT_INTEGERS, /* integers of [low, high) */
        INIT_FILL,     /* a */
        INIT_ARANGE,   /* a + i * b */
        INIT_VALUES,   /* values[i], repeated if there are fewer */
        INIT_COPY,     /* elements[i]; there must be exactly the requested number */
    } kind;
    double a, b;
    int64_t low, high;
    const double *values; /* borrowed */
    /* borrowed; the same values if all are integers (beyond 2^53 a double is not exact),
     * or NULL */
    const int64_t *whole;
    size_t value_count;
    const void *elements; /* borrowed; of the buffer's own type */
};

/* Writes elements [first, first + count) to data (whose element 0 is element `first`).
 * stream: different for each buffer of one seed. */
void tensor_fill(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                 const struct tensor_init *init, uint64_t seed, uint32_t stream);
