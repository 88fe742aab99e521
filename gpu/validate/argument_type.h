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

/* Gives each number without a type (spec_arg.open) the type of the kernel's parameter, as
 * its symbol or else its PTX says, where that holds the number. compiled: from
 * kernel/check, before its code is moved. */
void argument_types_settle(struct kernel_spec *spec, const json_t *compiled);
/* Writes these types into a copy of the spec's JSON, whose `args` or `launches` it
 * replaces. */
void argument_types_tell(const struct kernel_spec *spec, json_t *plain);
