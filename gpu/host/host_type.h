#pragma once
/* host_type: a declaration's type, through the names that stand for types: typedefs,
 * using, and a function template's own parameters as its caller gives them. */
#include "gpu/host/host_params.h"
#include "gpu/host/host_program.h"

/* place: one declaration, or a type alone. type stays TENSOR_TYPES where it is none that
 * a tensor has. */
void host_type_read(struct host_program *p, const struct place *place,
                    struct host_param *ret);
/* The same for one that was read; frame NULL: typedefs alone. */
void host_type_resolve(struct host_program *p, const struct host_frame *frame,
                       struct host_param *param);
/* "float *d_x": the declaration of the variable whose name is at a token of the program;
 * of "float *a, *b" the first part. */
struct place host_declaration(const struct host_program *p,
                              const struct host_frame *frame, size_t name);
/* sizeof of a type, a variable, *x or x[0]; 0: not known. */
int64_t host_sizeof(struct host_program *p, const struct place *place);
