#pragma once
/* host_lambdas: lambdas in kernels that nvcc takes and NVRTC does not. Part of host_code.
 *
 * One with an execution space, [=] __device__ (int i) { … }, wants nvcc's
 * --extended-lambda, which NVRTC has not; inside a kernel it means the same without. A
 * generic one, [](auto x) { … }, is a template without an execution space to NVRTC, which
 * compiles it with -default-device. */
#include "gpu/source/host_tokens.h"

/* Blanks the execution spaces; text NULL: only looks. Were there any? */
bool host_lambdas_blank(const struct code_tokens *t, char *text);
bool host_lambdas_are_generic(const struct code_tokens *t);
