#pragma once
/* spec_case: one case of a check spec with its sizes inserted.
 *
 * All extents, sizes and grids are numbers; the parameter block of a launch is
 * packed once the buffers have addresses. */
#include "gpu/spec/kernel_spec.h"
#include "gpu/spec/value_expression.h"
#include "gpu/tensor/tensor_map.h"

struct case_buffer {
    int64_t shape[TENSOR_MAX_RANK];
    size_t rank;
    uint64_t count, bytes;
};
struct case_launch {
    uint32_t grid[3], block[3], cluster[3]; /* cluster all 0: none */
    uint32_t shared_bytes;
};
struct spec_case {
    const struct kernel_spec *spec;
    struct size_value sizes[SPEC_MAX_SIZES];
    struct size_values size_list; /* into sizes: valid while the case stays where it is */
    struct case_buffer *buffers;  /* spec->buffer_count */
    struct case_launch *launches, *reference;
    uint64_t bytes; /* of all buffers */
    struct value_scalar *scalars; /* named arguments whose value is the same everywhere */
    size_t scalar_count;
};

/* Resolves case i of the spec into *ret, which must not move afterwards. -EINVAL names
 * the field and the case: an extent below 0, a grid of 0, more than SPEC_MAX_BYTES … */
int spec_case_resolve(struct spec_case *ret, const struct kernel_spec *spec, size_t i,
                      struct err *err);
void spec_case_finish(struct spec_case *c);
/* Evaluates an integer or expression of the spec over the case's sizes. -EINVAL quotes
 * it. */
int case_size_value(const struct spec_case *c, const json_t *value, int64_t *ret,
                    struct err *err);
/* One value of a scalar argument. -EINVAL. at: of the argument, for the error. */
int case_scalar(const struct spec_case *c, enum tensor_type type, const json_t *value,
                const char *at, void *to, struct err *err);
/* The buffers and scalars as inputs of an expression, in list. before: their initial contents, or
 * NULL if the expression is only parsed. */
struct value_inputs case_value_inputs(const struct spec_case *c, void *const *before,
                                      struct value_input list[static SPEC_MAX_BUFFERS]);
/* {"grid": [x,y,z], "block", "shared_bytes", "cluster"?}: new reference. */
json_t *case_launch_to_json(const struct case_launch *launch);

/* The initial contents of a buffer. If ret_values is not NULL, it gets the allocated
 * init->values, which the caller frees. */
int spec_case_init(const struct spec_case *c, size_t buffer, struct tensor_init *ret,
                   double **ret_values, struct err *err);

/* One parameter of a kernel, as its PTX declares it. */
struct kernel_param {
    uint64_t offset, bytes;
};
/* Addresses and handles in the device's memory. */
struct case_places {
    const uint64_t *addresses; /* of the spec's buffers */
    const uint64_t *handles;   /* by argument: of a pointer array, a texture, a surface */
    const unsigned char (*tensor_maps)[TENSOR_MAP_BYTES]; /* by argument */
};
/* Packs the arguments into the kernel's parameter block (param_bytes, zeroed by the
 * caller). -EINVAL if the number or size of the arguments does not match the kernel:
 * "args: the kernel takes 4 arguments, the spec gives 3". */
int spec_case_params(const struct spec_case *c, const struct spec_launch *launch,
                     const struct kernel_param *params, size_t param_count,
                     const struct case_places *places, void *block, struct err *err);
/* A buffer's initial contents where they are a structure, whose pointers get these
 * addresses. */
int spec_case_struct(const struct spec_case *c, size_t buffer, const uint64_t *addresses,
                     void *to, struct err *err);
