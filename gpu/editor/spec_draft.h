#pragma once
/* spec_draft: a check spec to begin with, from a kernel's parameters as they are
 * written.
 *
 * Integers become sizes, pointers buffers of all of them, those to const data inputs.
 * What the outputs should be it cannot know: "expect" is null, unless a built-in operator
 * has the kernel's name. */
#include "base/json.h"
#include "gpu/source/host_code.h"
#include "gpu/tensor/tensor_type.h"

enum { DRAFT_MAX_PARAMS = 64, DRAFT_MAX_NAME = 64 };

enum draft_kind { DRAFT_SCALAR, DRAFT_POINTER, DRAFT_TENSOR_MAP, DRAFT_UNKNOWN };
struct draft_param {
    char name[DRAFT_MAX_NAME];
    enum draft_kind kind;
    enum tensor_type type; /* TENSOR_TYPES: not one we know */
    unsigned lanes;        /* of a vector type, else 1 */
    bool is_const;         /* the data pointed to */
};

/* The parameters of a kernel in its text. How many there are, at most `max` in ret; -1
 * when the list cannot be read. */
int draft_params(const char *text, const struct kernel_place *kernel,
                 struct draft_param *ret, int max);
/* A check spec for the kernel; NULL when its parameters cannot be read. named: say which
 * kernel is meant. */
json_t *spec_draft(const char *text, const struct kernel_place *kernel, bool named);
/* The same as text, a member a line, ending in a newline (malloc'ed). */
char *spec_draft_text(const json_t *draft);
