#pragma once
/* spec_struct: structures that a kernel takes by value.
 *
 * {"struct": [members…], "bytes"?, "align"?}; a member is {"type", "value"} or {"type",
 * "values": […]} (an array), {"type", "value", "count": n}, {"of": "x", "at"?} (a pointer
 * to a buffer, 8 bytes; "at" so many bytes behind its beginning) or another {"struct":
 * […]}, with "count" an array of it. Members have their natural alignment, as in C; a
 * member's "offset" and a structure's "bytes" say what the author believes (offsetof,
 * sizeof) and are checked; "align" is what alignas says. */
#include "gpu/spec/kernel_spec.h"

struct spec_reader;

enum {
    SPEC_STRUCT_MAX_DEPTH = 8,
    SPEC_STRUCT_MAX_MEMBERS = 256,
    SPEC_STRUCT_MAX_BYTES = 32764, /* limit of a kernel's parameters, PTX 8.1 */
};

struct spec_layout {
    size_t bytes, align;
};
/* Checks {"struct": …} at the path `at`; -EINVAL names the field. */
int spec_struct_check(struct spec_reader *r, const json_t *holder, const char *at);
/* For a structure that was checked. */
struct spec_layout spec_struct_layout(const json_t *holder);
/* Calls visit for every value of a checked structure in order, and for each element of an
 * array. The first non-zero result ends it. value: the number, expression or buffer's
 * name. */
struct spec_struct_value {
    enum tensor_type type; /* TENSOR_TYPES: a pointer */
    const json_t *value;
    const json_t *at; /* for a pointer: bytes into the buffer, or NULL */
    size_t offset;
};
int spec_struct_each(const json_t *holder,
                     int (*visit)(const struct spec_struct_value *value, void *data),
                     void *data);
