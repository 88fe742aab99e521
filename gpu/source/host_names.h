#pragma once
/* host_names: headers, namespaces, types and macros that only host code can use.
 * Part of host_code; the names themselves are in host_names.txt. */
#include <stdbool.h>
#include <stddef.h>

/* "vector", "torch/extension.h": a header whose contents NVRTC can never compile and no
 * kernel needs. */
bool host_names_header(const char *target);
/* One of PyTorch's: what device code uses of them comes from the shim <torch>. */
bool host_names_torch_header(const char *target);
/* One of NVIDIA's libraries for the host, which brings half, cuComplex … along: device
 * code has those of the shim of that name. */
bool host_names_library_header(const char *target);
/* at::NAME, c10::NAME or torch::NAME that the shim gives: acc_type, Half … */
bool host_names_torch_device(const char *name);
/* "algorithm", "tuple": a C++ header that device code can use and that costs the compiler
 * half a second: worth leaving out where only host code used it. */
bool host_names_costly_header(const char *target);
/* std::NAME that no shim and no cuda/std header gives. */
bool host_names_std(const char *name);
/* NAME:: of a library that runs on the host. */
bool host_names_namespace(const char *name);
/* A type or function by itself: FILE, cudaMalloc, cublasHandle_t … */
bool host_names_plain(const char *name);
/* A macro that makes host functions: PYBIND11_MODULE, TEST_F … */
bool host_names_macro(const char *name);
