#pragma once
/* host_type: a declaration's type, resolving names of types: typedefs, using, and a
 * function template's parameters with its caller's arguments. */
#include "gpu/host/host_params.h"
#include "gpu/host/host_program.h"

/* Of a parameter that was already read; frame NULL: only typedefs. type stays
 * TENSOR_TYPES if no tensor has that type. */
void host_type_resolve(struct host_program *p, const struct host_frame *frame,
                       struct host_param *param);
/* sizeof of a type, a variable, *x or x[0]; 0: not known. */
int64_t host_sizeof(struct host_program *p, const struct place *place);
