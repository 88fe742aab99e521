#pragma once
/* host_spelling: rewrites kept code that nvcc accepts and NVRTC does not. Part of
 * host_code. */
#include "gpu/source/host_blanker.h"

/* Changes the text of b, keeping places: removes __host__ from kept host functions
 * (mostly constexpr ones), because NVRTC rejects a host function whatever its use; and
 * adds a parameter to the static one of two member templates that differ only in their
 * result and in being static, which g++ allows. text NULL: only checks. False if there is
 * nothing to change. */
bool host_spelling_settle(const struct host_blanker *b, char *text);

/* Blanks the execution space of lambdas in kernels: [=] __device__ (int i) { … } needs
 * nvcc's --extended-lambda, which NVRTC does not have, but inside a kernel it means the
 * same without. text NULL: only checks. True if there are any. */
bool host_lambdas_blank(const struct code_tokens *t, char *text);
/* Whether there is a generic lambda, [](auto x) { … }: for NVRTC it is a template without
 * an execution space, which needs -default-device. */
bool host_lambdas_are_generic(const struct code_tokens *t);
