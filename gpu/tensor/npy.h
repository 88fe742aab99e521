#pragma once
/* npy: arrays as numpy.save writes them.
 *
 * The header is a literal of Python; it is read by a reader of its own that knows three
 * keys and evaluates nothing. Versions 1.0, 2.0 and 3.0 of the format (NEP 1;
 * numpy.lib.format). Hostile bytes are expected: sizes are checked against the file,
 * products for overflow. */
#include "gpu/tensor/tensor_type.h"

struct buf;
struct err;

#define NPY_MAX_RANK 8
#define NPY_MAX_HEADER (64u << 10)
#define NPY_MAX_COUNT (1ull << 40) /* elements; far above what any limit lets through */

struct npy {
    enum tensor_type type; /* TENSOR_TYPES: bytes without a meaning ("|V2") */
    size_t item_bytes;
    char descr[8]; /* as the file says it: "<f4" */
    bool big_endian;
    bool fortran; /* the first index varies fastest */
    int64_t shape[NPY_MAX_RANK];
    size_t rank;
    uint64_t count;
    size_t offset; /* of the first element */
};

/* Of a file of len bytes the first `have` are at hand: all of them, or NPY_HEAD at least.
 * -EINVAL with a sentence: "the header's shape [3, 4] of <f4 takes 48 bytes, 40 follow".
 * Types of Python objects, structures, texts, times and complex numbers are named as not
 * understood. */
#define NPY_HEAD (NPY_MAX_HEADER + 12)
int npy_read_head(struct npy *ret, const void *bytes, size_t have, size_t len,
                  struct err *err);
/* May its elements stand for this type? The type itself; for the types that numpy has
 * not, unsigned integers and void of the same size (bfloat16: <u2, |V2; float8: |u1,
 * |V1). */
bool npy_stands_for(const struct npy *npy, enum tensor_type type);
/* numpy's word for a type: "<f4"; "<u2" and "|u1" for those that numpy has not. */
const char *npy_descr(enum tensor_type type);
/* What stands in front of the elements, row by row and little-endian, as numpy.save
 * writes it (version 1.0); appended. rank <= NPY_MAX_RANK. -EMSGSIZE at out's limit. */
int npy_write_header(struct buf *out, enum tensor_type type, const int64_t *shape,
                     size_t rank);
/* The elements where they are, if they stand there row by row, little-endian and aligned;
 * else NULL, for npy_copy. */
const void *npy_elements(const struct npy *npy, const void *file);
/* The elements row by row and little-endian: npy->count * npy->item_bytes of them. */
void npy_copy(const struct npy *npy, const void *file, void *ret);
