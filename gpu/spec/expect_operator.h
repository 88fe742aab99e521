#pragma once
/* expect_operator: outputs that a built-in operator computes.
 *
 *   {"op": "softmax", "inputs": {"input": "x"}, "outputs": {"output": "y"}, "dim": 1}
 *   {"op": "linear", "then": [{"op": "gelu", "approximate": "tanh"}, {"op": "add", …}]}
 *
 * Members beside op, inputs, outputs and then are the operator's attributes
 * (gpu/reference/operator.h); where an integer is wanted, an expression over the sizes
 * may stand. An input is a buffer, a number, or what an operator before it made under a
 * name that `outputs` gave; a list of them where the operator takes several tensors.
 *
 * What `inputs` leaves out is found: the buffer (or the intermediate) of the role's name;
 * in a later step the first input is the first output of the step before; else, when one
 * role and one buffer with contents are left, that one. What `outputs` leaves out: the
 * output of the role's name; else, in the last step, the only output buffer left. */
#include "gpu/spec/spec_case.h"

enum { EXPECT_MAX_STEPS = 16, EXPECT_SLICE_BYTES = 64 << 20 };
#define EXPECT_STEPS_PER_S 1e9 /* of operators: a step takes a nanosecond or more */

/* Everything that needs no sizes: names, attributes, roles. spec->buffers must have been
 * read. -EINVAL names the field. */
int expect_operator_read(const struct kernel_spec *spec, const json_t *expect,
                         struct err *err);
/* The operators of one trial. before: the buffers' contents by buffer; NULL: only shapes
 * are wanted. All is borrowed. Computing gives -EINVAL for shapes and values that do not
 * fit, -ETIME once stopped() became true; *ret is freed in any case. */
struct expect_work;
int expect_work_new(struct expect_work **ret, const struct spec_case *c,
                    const json_t *expect, void *const *before, bool (*stopped)(void),
                    struct err *err);
void expect_work_free(struct expect_work *w); /* NULL is fine */
/* So much memory is taken at a time, about, instead of EXPECT_SLICE_BYTES. */
void expect_work_slice(struct expect_work *w, uint64_t bytes);
/* Everything. ret: one place per buffer, NULL on entry; those that the operators say
 * something about get their elements in double precision, to be freed by the caller. */
int expect_work_whole(struct expect_work *w, double **ret, struct err *err);
/* Rows of a buffer along the first dimension that can be computed apart, 1: all of them
 * only together; how many to take at once. False: nothing is said about it. */
bool expect_work_rows(const struct expect_work *w, size_t buffer, int64_t *ret_rows,
                      int64_t *ret_at_once);
/* Rows [from, to) of these, bit for bit as in the whole; nothing is kept but what several
 * rows need. */
int expect_work_part(struct expect_work *w, size_t buffer, int64_t from, int64_t to,
                     double *ret, struct err *err);
/* Before anything is run: -EINVAL for shapes that do not fit, -ETIME when the time that
 * the spec gives the run is too short for it in any case. Of memory it takes ret_bytes,
 * and by rows no more than ret_sliced. */
int expect_operator_foresee(const struct spec_case *c, const json_t *expect,
                            double *ret_bytes, double *ret_sliced, struct err *err);
/* Floating-point operations of a case, by the operators' own count. */
int expect_operator_flops(const struct spec_case *c, const json_t *expect, double *ret,
                          struct err *err);
