#pragma once
/* argument_type: whether a check spec's arguments have the types of the kernel's
 * parameters. A pointer has no type at run time: float64 elements for a `const float *`
 * would only show as wrong elements. */
#include "gpu/spec/kernel_spec.h"
#include "protocol/finding.h"

/* Inserts a finding `argument_type` before the others for each argument whose type has
 * another size than the kernel's parameter, or is an integer for a float or the reverse.
 * Bytes match any type. kernels: from kernel/check. Does nothing for a kernel whose
 * symbol has no types (extern "C"). */
void argument_type_note(const struct kernel_spec *spec, const json_t *kernels,
                        enum finding_severity severity, json_t *findings);
