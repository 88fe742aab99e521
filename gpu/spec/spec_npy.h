#pragma once
/* spec_npy: the .npy files that a check spec names.
 *
 * The daemon opens them beneath the roots (gpu/validate/array_load.h) and reads their
 * headers; the process that runs the kernel maps or receives them and reads the headers
 * again. */
#include "gpu/spec/kernel_spec.h"

/* Whole files, for as long as the spec lives. */
struct spec_file {
    const void *bytes;
    size_t len;
};
struct spec_files {
    const struct spec_file *list;
    size_t count;
};

/* Checks the first `have` bytes of the file for array i, which has len bytes
 * (npy_read_head): its header, and that type and extents match in every case. Extents of
 * 1 may be missing or added ([1, 64] matches [64]). Expected floats may be float32 or
 * float64 whatever the output's type. -EINVAL names the field and the file: "x.init.file
 * 'x.npy': …". */
int spec_array_check(const struct kernel_spec *spec, size_t i, const void *bytes,
                     size_t have, size_t len, struct err *err);
/* Sets every array's type and contents. places: {"x.npy": [index of the file, …]}. */
int spec_arrays_take(struct kernel_spec *spec, const json_t *places,
                     const struct spec_files *files, struct err *err);
/* Bytes as base64 in a JSON string. */
json_t *spec_array_encode(const void *bytes, size_t len);
/* The decoded bytes, malloc'ed; NULL if it is not base64. */
unsigned char *spec_array_decode(const json_t *text, size_t *ret_len);
/* "x.init.file 'x.npy'", for errors. */
void spec_array_name(const struct kernel_spec *spec, size_t i, char *ret, size_t size);
