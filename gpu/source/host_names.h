#pragma once
/* host_names: headers, namespaces, types and macros that only host code can use.
 * Part of host_code; the names themselves are in host_names.txt. */
#include "base/mem.h"

/* "vector", "torch/extension.h": a header that NVRTC can never compile and no kernel
 * needs. */
bool host_names_header(const char *target);
/* One of PyTorch's headers: the shim <torch> replaces it for device code. */
bool host_names_torch_header(const char *target);
/* A header of one of NVIDIA's host libraries that also declares half, cuComplex …: the
 * shim of that name replaces it for device code. */
bool host_names_library_header(const char *target);
/* at::NAME, c10::NAME or torch::NAME that the shim declares: acc_type, Half … */
bool host_names_torch_device(const char *name);
/* "algorithm", "tuple": a C++ header that device code can use but that takes the compiler
 * half a second: left out if only host code used it. */
bool host_names_costly_header(const char *target);
/* std::NAME that no shim and no cuda/std header declares. */
bool host_names_std(const char *name);
/* NAME:: of a host library. */
bool host_names_namespace(const char *name);
/* A type or function without a namespace: FILE, cudaMalloc, cublasHandle_t … */
bool host_names_plain(const char *name);
/* A macro that expands to host functions: PYBIND11_MODULE, TEST_F … */
bool host_names_macro(const char *name);
