#pragma once
/* host_spelling: what stays and nvcc takes, but NVRTC wants written otherwise. Part of
 * host_code. */
#include "gpu/source/host_blanker.h"

/* In the text of b, with places kept: functions of the host's that stay, constexpr ones
 * mostly, without their __host__, which NVRTC refuses whatever they are for; and of two
 * member templates that differ in their result and in being static, as g++ allows, the
 * static one with a parameter more. text NULL: only look. False when there is nothing of
 * that. */
bool host_spelling_settle(const struct host_blanker *b, char *text);

/* Lambdas in kernels. One with an execution space, [=] __device__ (int i) { … }, wants
 * nvcc's --extended-lambda, which NVRTC has not; inside a kernel it means the same
 * without: blanks those; text NULL: only looks. Were there any? */
bool host_lambdas_blank(const struct code_tokens *t, char *text);
/* A generic one, [](auto x) { … }, is a template without an execution space to NVRTC,
 * which compiles it with -default-device. */
bool host_lambdas_are_generic(const struct code_tokens *t);
