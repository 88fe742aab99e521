#pragma once
/* tensor_init: what buffers hold before a launch.
 *
 * Element i depends on (seed, stream, i) alone: the same seed gives the same bytes on
 * every backend and machine, in any order, in part or whole. Random bits: Philox4x32-10
 * (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011), checked against
 * the authors' known answers; 64 bits an element. Normal values: Marsaglia and Tsang's
 * ziggurat ("The ziggurat method for generating random variables", 2000) with a table
 * made in exact arithmetic, and a logarithm of our own in plain IEEE arithmetic for the
 * one in a hundred that the table does not decide, because the C library's may differ in
 * the last bit. */
#include "gpu/tensor/tensor_type.h"

/* Grows whenever a seed comes to mean other bytes; told in results as "generator". 1 was
 * Box and Muller's transform with 128 bits an element. */
#define TENSOR_GENERATOR 2

struct tensor_init {
    enum tensor_init_kind {
        INIT_POISON,   /* NaN for floats, 0xA5 bytes for integers */
        INIT_NORMAL,   /* a = mean, b = standard deviation */
        INIT_UNIFORM,  /* [a, b) before rounding to the type */
        INIT_INTEGERS, /* whole numbers of [low, high) */
        INIT_FILL,     /* a */
        INIT_ARANGE,   /* a + i * b */
        INIT_VALUES,   /* values[i], repeated when there are fewer */
        INIT_COPY,     /* elements[i], which must be as many as are asked for */
    } kind;
    double a, b;
    int64_t low, high;
    const double *values; /* borrowed */
    const int64_t *whole; /* borrowed; the same when all are whole numbers (beyond 2^53
                             a double is not exact), or NULL */
    size_t value_count;
    const void *elements; /* borrowed; of the buffer's own type */
};

/* Elements [first, first + count) into data (whose element 0 is element `first`). stream
 * tells buffers of one seed apart. */
void tensor_fill(enum tensor_type type, void *data, uint64_t first, uint64_t count,
                 const struct tensor_init *init, uint64_t seed, uint32_t stream);
