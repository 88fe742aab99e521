#pragma once
/* cuda_fault: findings for a kernel whose launch a CUDA device aborted. */
#include "protocol/finding.h"

/* Appends the finding "label words", with the kernel's label. */
void cuda_finding_add(json_t *findings, const char *code, enum finding_severity how,
                      const char *label, const char *words);
/* Explains a CUDA error code, if the driver gave no details. */
void cuda_fault_add(json_t *findings, int code, const char *label);
