#pragma once
/* fixes: adds fixes for known mistakes. Adds `fixes` (and clearer messages) to a
 * compilation's findings: a missing standard or CUDA header, INFINITY and friends, sm_90
 * where sm_90a is needed, static shared memory over 48 KB, uint32_t without <cstdint>,
 * half without cuda_fp16.h, a misspelt built-in … */
#include "gpu/source/source_set.h"

/* findings: array, changed in place. arch: the compiled architecture. */
void fixes_add(json_t *findings, const struct source_set *sources, const char *arch);
/* What the host's compiler, which nvcc runs for whole programs, did not find: which package
 * the header belongs to. */
void fixes_name_packages(json_t *findings);
