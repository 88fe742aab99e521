#pragma once
/* host_parameters: a template's parameters, and lists in angle brackets. Part of
 * host_code. */
#include "gpu/source/host_declarations.h"

#define TEMPLATE_PARAMETERS_MAX 32

struct template_parameter {
    uint64_t name;
    bool is_type;
    size_t fallback, fallback_end; /* tokens of its default, 0 if none */
};
struct template_parameters {
    struct template_parameter list[TEMPLATE_PARAMETERS_MAX];
    size_t count;
    bool bad; /* a pack, too many, or not a list */
};

/* Whether token `name` is the name in "float (*NAME)(float)". */
bool points_to_function(const struct code_tokens *t, size_t name);

void template_parameters_read(const struct code_tokens *t, const struct declaration *d,
                              struct template_parameters *ret);
/* Whether a text names one of them, or cannot be parsed. */
bool template_parameters_mentioned(const char *text, const struct template_parameters *p);

/* Tokens [from, to). */
struct list_part {
    size_t from, to;
};
/* The next element of a comma-separated list in angle brackets or parentheses that ends
 * at token `close`; *at starts at the token after the opening bracket and is advanced.
 * False: no more. */
bool template_list_next(const struct code_tokens *t, size_t *at, size_t close,
                        struct list_part *ret);
