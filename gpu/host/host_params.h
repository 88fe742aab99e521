#pragma once
/* host_params: a kernel's parameters as written. */
#include "gpu/source/host_declarations.h"
#include "gpu/tensor/tensor_type.h"

enum { HOST_PARAMS_MAX = 64, HOST_PARAM_NAME = 64 };

enum host_param_kind { HOST_SCALAR, HOST_POINTER, HOST_TENSOR_MAP, HOST_UNKNOWN };
struct host_param {
    char name[HOST_PARAM_NAME], type_name[HOST_PARAM_NAME];
    enum host_param_kind kind;
    enum tensor_type type; /* TENSOR_TYPES: an unknown type */
    unsigned lanes;        /* of a vector type, otherwise 1 */
    bool is_const;         /* the data pointed to */
};

/* The parameters of a kernel. Returns their number; -1 if there are more than `max`, or
 * no list. */
int host_params(const struct code_tokens *t, const struct declaration *kernel,
                struct host_param *ret, int max);
/* Those in "void k<float>(float*, int)", which gives only types. Returns their number; 0
 * if the text has no list, such as an extern "C" symbol; -1: more than `max`. */
int host_signature_params(const char *signature, struct host_param *ret, int max);
/* One declaration, or only a type (then without a name): tokens [from, to). */
void host_param_read(const struct code_tokens *t, size_t from, size_t to,
                     struct host_param *ret);
