#pragma once
/* tensor_type: element types by their numpy and PyTorch names, and their exact values.
 *
 * float8_e4m3 is OCP FP8 E4M3 ("fn": no infinities, NaN 0x7f), float8_e5m2 OCP FP8 E5M2.
 * Source: OCP 8-bit Floating Point Specification, revision 1.0; IEEE 754-2019; bfloat16
 * as the upper half of binary32. */
#include "base/mem.h"

#define TENSOR_MAX_RANK 8 /* of a shape */

enum tensor_type {
    TENSOR_FLOAT32,
    TENSOR_FLOAT16,
    TENSOR_BFLOAT16,
    TENSOR_FLOAT8_E4M3,
    TENSOR_FLOAT8_E5M2,
    TENSOR_FLOAT64,
    TENSOR_INT8,
    TENSOR_INT16,
    TENSOR_INT32,
    TENSOR_INT64,
    TENSOR_UINT8,
    TENSOR_UINT16,
    TENSOR_UINT32,
    TENSOR_UINT64,
    TENSOR_BOOL,
    TENSOR_TYPES
};

const char *tensor_type_name(enum tensor_type type); /* "float32" */
/* TENSOR_TYPES when the name is unknown. */
enum tensor_type tensor_type_find(const char *name);
size_t tensor_type_bytes(enum tensor_type type);
bool tensor_type_float(enum tensor_type type);

/* Loads elements [first, first + count). All types except the 64-bit integers convert to
 * double exactly. data need not be aligned. */
void tensor_load(enum tensor_type type, const void *data, uint64_t first, size_t count,
                 double *ret);
/* Stores values rounded to nearest, ties to even. Values beyond the range become
 * infinity, or NaN if the float type has no infinity (e4m3); integers saturate. NaN
 * becomes 0 in integers. */
void tensor_store(enum tensor_type type, void *data, uint64_t first, size_t count,
                  const double *restrict values);
/* The values after storing and loading them. */
void tensor_round(enum tensor_type type, const double *values, size_t count, double *ret);
/* The largest finite magnitude of elements [first, first + count), or 0. */
double tensor_largest(enum tensor_type type, const void *data, uint64_t first,
                      uint64_t count);
/* One element; for many, the functions above take a tenth of the time. */
double tensor_get(enum tensor_type type, const void *data, size_t i);
void tensor_set(enum tensor_type type, void *data, size_t i, double value);
/* Exact for 64-bit integers; values outside the type wrap. */
void tensor_set_integer(enum tensor_type type, void *data, size_t i, int64_t value);
/* Whether the value fits the type as signed or unsigned. 255 for an int8 and -1 for a
 * uint8 are valid, as in C conversions; 256 is a mistake. Floats and bool hold anything.
 */
bool tensor_type_holds(enum tensor_type type, int64_t value);
/* The element's bits, zero-extended. */
uint64_t tensor_bits(enum tensor_type type, const void *data, size_t i);
