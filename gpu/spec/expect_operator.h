#pragma once
/* expect_operator: expected outputs computed by built-in operators.
 *
 *   {"op": "softmax", "inputs": {"input": "x"}, "outputs": {"output": "y"}, "dim": 1}
 *   {"op": "linear", "then": [{"op": "gelu", "approximate": "tanh"}, {"op": "add", …}]}
 *
 * Members other than op, inputs, outputs and then are the operator's attributes
 * (gpu/reference/operator.h); integers may be expressions over the sizes. An input is a
 * buffer, a number, or an earlier operator's output under the name that `outputs` gave
 * it; or a list of these if the operator takes several tensors.
 *
 * A role missing in `inputs` is the buffer (or the intermediate) of the role's name; in
 * a later step the first input is the first output of the previous step; otherwise, if
 * one role and one buffer with contents remain, that buffer. A role missing in `outputs`
 * is the output of the role's name; otherwise, in the last step, the only remaining
 * output. */
#include "gpu/spec/spec_case.h"

enum { EXPECT_MAX_STEPS = 16, EXPECT_SLICE_BYTES = 64 << 20 };
#define EXPECT_STEPS_PER_S 1e9 /* operators' steps: one takes a nanosecond or more */

/* Checks everything that needs no sizes: names, attributes, roles. spec->buffers must
 * have been read. -EINVAL names the field. */
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
/* Sets the approximate memory of one slice instead of EXPECT_SLICE_BYTES. */
void expect_work_slice(struct expect_work *w, uint64_t bytes);
/* Computes all outputs at once. ret: one pointer per buffer, NULL on entry; expected
 * outputs get their elements in double precision, which the caller frees. */
int expect_work_whole(struct expect_work *w, double **ret, struct err *err);
/* The number of rows of a buffer, along the first dimension, that can be computed
 * separately (1: only all together), and how many to compute at once. False: nothing is
 * expected of the buffer. */
bool expect_work_rows(const struct expect_work *w, size_t buffer, int64_t *ret_rows,
                      int64_t *ret_at_once);
/* Computes rows [from, to), bit-identical to the whole; keeps only what several rows
 * need. */
int expect_work_part(struct expect_work *w, size_t buffer, int64_t from, int64_t to,
                     double *ret, struct err *err);
/* Before anything runs: -EINVAL for shapes that do not fit, -ETIME if the spec's time
 * limit is too short in any case. It needs *ret_bytes of memory, and by rows at most
 * *ret_sliced. */
int expect_operator_foresee(const struct spec_case *c, const json_t *expect,
                            double *ret_bytes, double *ret_sliced, struct err *err);
/* Floating-point operations of a case, by the operators' own count. */
int expect_operator_flops(const struct spec_case *c, const json_t *expect, double *ret,
                          struct err *err);
