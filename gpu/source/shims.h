#pragma once
/* shims: the C and C++ standard headers that NVRTC has not got, in memory.
 *
 * NVRTC ships no standard library, but .cu files include <cstdint>, <cmath>,
 * <type_traits> … all the time. Each shim declares what device code can use of such a
 * header: plain typedefs and macros where these are enough, else CUDA's own cuda/std
 * header, brought into std; the longer texts are headers/NAME.cuh. They are passed to nvrtcCreateProgram beside the source, so
 * the job folder stays the user's; a file of the job or of the toolkit with the same name
 * wins over a shim that the caller leaves out. Headers whose contents are host-only
 * (<vector>, <iostream> …) have no shim: host_code blanks their includes. Two libraries
 * are half host, half device: <cub/cub.cuh> is here without its launching code, and
 * <torch> and <torch_std> stand for PyTorch's headers (headers/, texts of their own). */
#include <stddef.h>

struct shim {
    const char *name; /* as included: "cstdint" */
    const char *text;
};

/* What nvcc has read before a source's first line; to be included before anything else.
 */
#define SHIM_AS_NVCC "upskilld_as_nvcc"

extern const struct shim shims[];
extern const size_t shim_count;
