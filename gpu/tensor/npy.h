#pragma once
/* npy: reads and writes arrays in the format of numpy.save.
 *
 * The header is a Python literal; our reader knows its three
 * keys and evaluates nothing. Versions 1.0, 2.0 and 3.0 of the format (NEP 1;
 * numpy.lib.format). Files may be hostile: sizes are checked against the file,
 * products for overflow. */
#include "gpu/tensor/tensor_type.h"

#define NPY_MAX_RANK 8
#define NPY_MAX_HEADER (64u << 10)
#define NPY_MAX_COUNT (1ull << 40) /* elements; far above what any limit lets through */

struct npy {
    enum tensor_type type; /* TENSOR_TYPES: bytes without a meaning ("|V2") */
    size_t item_bytes;
    char descr[8]; /* the file's type string: "<f4" */
    bool big_endian;
    bool fortran; /* the first index varies fastest */
    int64_t shape[NPY_MAX_RANK];
    size_t rank;
    uint64_t count;
    size_t offset; /* of the first element */
};

/* Reads the header of a file of len bytes, of which the first `have` are available: all
 * of them, or at least NPY_HEAD. -EINVAL with a sentence: "the header's shape [3, 4] of
 * <f4 takes 48 bytes, 40 follow". Python objects, structures, strings, times and complex
 * numbers are not supported; the error names them. */
#define NPY_HEAD (NPY_MAX_HEADER + 12)
int npy_read_head(struct npy *ret, const void *bytes, size_t have, size_t len,
                  struct err *err);
/* Whether the elements can represent this type: the type itself, or, for types that numpy
 * lacks, unsigned integers and void of the same size (bfloat16: <u2, |V2; float8: |u1,
 * |V1). */
bool npy_stands_for(const struct npy *npy, enum tensor_type type);
/* numpy's type string: "<f4"; "<u2" and "|u1" for types that numpy lacks. */
const char *npy_descr(enum tensor_type type);
/* Appends the header (version 1.0) for row-major, little-endian elements, like
 * numpy.save. rank <= NPY_MAX_RANK. -EMSGSIZE at out's limit. */
int npy_write_header(struct buf *out, enum tensor_type type, const int64_t *shape,
                     size_t rank);
/* A pointer to the elements in the file, if they are row-major, little-endian and
 * aligned; otherwise NULL: use npy_copy. */
const void *npy_elements(const struct npy *npy, const void *file);
/* Copies the elements to ret in row-major order and little-endian: npy->count *
 * npy->item_bytes bytes. */
void npy_copy(const struct npy *npy, const void *file, void *ret);
