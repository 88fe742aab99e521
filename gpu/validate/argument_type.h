#pragma once
/* argument_type: does a check spec give its arguments the types that the kernel takes? A
 * pointer knows no type: float64 elements for a `const float *` show as wrong ones alone.
 */
#include "gpu/spec/kernel_spec.h"
#include "protocol/finding.h"

/* Puts a finding `argument_type` in front of the others for each argument whose type has
 * another size than the kernel's parameter, or is an integer's where that is a float's,
 * or the other way round. Bytes may stand for anything. kernels: kernel/check's. Says
 * nothing of a kernel whose symbol has no types (extern "C"). */
void argument_type_note(const struct kernel_spec *spec, const json_t *kernels,
                        enum finding_severity severity, json_t *findings);
