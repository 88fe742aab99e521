#pragma once
/* draft_params: a kernel's parameters as they are written. */
#include "gpu/source/host_declarations.h"
#include "gpu/tensor/tensor_type.h"

enum { DRAFT_MAX_PARAMS = 64, DRAFT_MAX_NAME = 64 };

enum draft_kind { DRAFT_SCALAR, DRAFT_POINTER, DRAFT_TENSOR_MAP, DRAFT_UNKNOWN };
struct draft_param {
    char name[DRAFT_MAX_NAME], type_name[DRAFT_MAX_NAME];
    enum draft_kind kind;
    enum tensor_type type; /* TENSOR_TYPES: not one we know */
    unsigned lanes;        /* of a vector type, else 1 */
    bool is_const;         /* the data pointed to */
};

/* The parameters of a kernel. How many there are; -1 when there are more than `max`, or
 * no list. */
int draft_params(const struct code_tokens *t, const struct declaration *kernel,
                 struct draft_param *ret, int max);
/* One declaration, or a type alone (then without a name): tokens [from, to). */
void draft_param_read(const struct code_tokens *t, size_t from, size_t to,
                      struct draft_param *ret);
