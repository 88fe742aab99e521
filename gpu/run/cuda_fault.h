#pragma once
/* cuda_fault: what is found of a kernel whose launch a CUDA device ended. */
#include "protocol/finding.h"

/* "label words", with the kernel's label; appended. */
void cuda_finding_add(json_t *findings, const char *code, enum finding_severity how,
                      const char *label, const char *words);
/* What a CUDA code says, where the driver has told no more than that. */
void cuda_fault_add(json_t *findings, int code, const char *label);
