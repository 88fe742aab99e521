#pragma once
/* spec_npy: the .npy files that a check spec names.
 *
 * The daemon reads them beneath the roots (gpu/validate/array_load.h), checks them and
 * sends them whole; the process that runs the kernel reads them again and unpacks them.
 */
#include "gpu/spec/kernel_spec.h"

/* Of all files of a spec together: in base64 they pass as one message. */
#define SPEC_MAX_FILE_BYTES (40u << 20)

/* The file's bytes for array i: its header, its type and its extents in every case, where
 * an extent of 1 may be missing or one too many ([1, 64] is as good as [64]). Expected
 * floats may be saved as float32 or float64 whatever the output's type. -EINVAL names the
 * field and the file: "x.init.file 'x.npy': …". */
int spec_array_check(const struct kernel_spec *spec, size_t i, const void *bytes,
                     size_t len, struct err *err);
/* files: {"x.npy": base64 of the whole file}. Fills every array's type and contents. */
int spec_arrays_take(struct kernel_spec *spec, const json_t *files, struct err *err);
/* The file's bytes as a JSON string. */
json_t *spec_array_encode(const void *bytes, size_t len);
/* Its bytes, malloc'ed; NULL when it is no base64. */
unsigned char *spec_array_decode(const json_t *text, size_t *ret_len);
/* "x.init.file 'x.npy'", for errors. */
void spec_array_name(const struct kernel_spec *spec, size_t i, char *ret, size_t size);
