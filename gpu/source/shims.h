#pragma once
/* shims: the C and C++ standard headers that NVRTC lacks, in memory.
 *
 * NVRTC contains no standard library, but most .cu files include <cstdint>, <cmath>,
 * <type_traits> … Each shim declares the part of such a header that device code can use:
 * plain typedefs and macros if these are enough, otherwise CUDA's own cuda/std header,
 * imported into std; the longer texts are headers/NAME.cuh. They are passed to
 * nvrtcCreateProgram in addition to the source, so the job folder contains only the
 * user's files; if the job or the toolkit has a file of the same name, the caller leaves
 * out the shim.
 *
 * Headers for host code only (<vector>, <iostream> …) have no shim: host_code blanks
 * their includes. Two libraries are partly for the device: <cub/cub.cuh> is here without
 * its launching code, and <torch> and <torch_std> replace PyTorch's headers (in
 * headers/). */
#include <stddef.h>

struct shim {
    const char *name; /* as included: "cstdint" */
    const char *text;
};

/* The headers that nvcc reads before a source's first line; must be included first. */
#define SHIM_AS_NVCC "upskilld_as_nvcc"

extern const struct shim shims[];
extern const size_t shim_count;
