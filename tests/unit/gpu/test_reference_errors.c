/* What a reference operator refuses, and in which words; cost and budgets. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/reference/operator.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

static const double zeros[4096];

static bool never(void) {
    return false;
}
static bool always(void) {
    return true;
}

struct shape {
    const char *role;
    int64_t extents[OPERATOR_MAX_RANK];
    size_t rank;
};

/* Prepares a call of inputs that hold zeros; what start or infer returns. */
static int prepare(struct operator_call *c, const char *op, const char *attributes,
                   const struct shape *inputs, size_t count, struct err *err) {
    autojson *json = json_loads(attributes, 0, NULL);
    cr_assert_not_null(json, "%s", attributes);
    *err = (struct err){0};
    int r = operator_call_start(c, operator_find(op), "expect.op", json, err);
    for (size_t i = 0; r == 0 && i < count; i++) {
        int role = operator_input(c->op, inputs[i].role);
        cr_assert(role >= 0);
        operator_call_input(c, (size_t)role, inputs[i].role, TENSOR_FLOAT64, zeros,
                            inputs[i].extents, inputs[i].rank);
    }
    return r < 0 ? r : operator_call_infer(c, err);
}

static void refuse_all(const char *op, const char *attributes, const struct shape *inputs,
                       size_t count, const char *words) {
    struct operator_call c = {0};
    struct err err;
    int r = prepare(&c, op, attributes, inputs, count, &err);
    cr_expect_eq(r, -EINVAL, "%s %s: %d", op, attributes, r);
    cr_expect_not_null(strstr(err.msg, words), "%s %s: %s", op, attributes, err.msg);
    operator_call_finish(&c);
}

static void refuse(const char *op, const char *attributes, const char *words) {
    static const struct shape x = {"input", {2, 3}, 2};
    refuse_all(op, attributes, &x, 1, words);
}

Test(reference_errors, attributes) {
    refuse("softmax", "{\"dim\": 3}",
           "expect.op.dim: 3 is outside the rank 2 of 'input'");
    refuse("softmax", "{\"dim\": -3}", "expect.op.dim: -3 is outside the rank 2");
    refuse("softmax", "{\"dim\": 1.5}", "expect.op.dim: an integer is expected");
    refuse("softmax", "{\"axis\": 1}",
           "expect.op.axis: 'softmax' has no attribute 'axis'; it has dim");
    refuse("sum", "{\"keepdims\": true}",
           "expect.op.keepdims: 'sum' has no attribute 'keepdims'; did you mean "
           "\"keepdim\"?");
    refuse("relu", "{\"dim\": 1}", "it has none");
    refuse("gelu", "{\"approximate\": \"erf\"}",
           "expect.op.approximate: none|tanh is expected");
    refuse("gelu", "{\"approximate\": \"tan\"}", "none|tanh is expected");
    refuse("threshold", "{\"value\": 1}", "expect.op.threshold: 'threshold' needs it");
    refuse("sum", "{\"dim\": [0, -2]}", "expect.op.dim: -2 appears twice");
    refuse("sum", "{\"dim\": []}", "expect.op.dim: an integer or a list");
    refuse("sum", "{\"keepdim\": 1}", "expect.op.keepdim: true or false");
    refuse("normalize", "{\"p\": -1}", "expect.op.p: -1 is not within");
    refuse("clamp", "{\"min\": \"low\"}", "expect.op.min: a number is expected");
    refuse("topk", "{\"k\": 4}", "expect.op.k: 4 is more than the extent 3");
    refuse("narrow", "{\"length\": 3}", "expect.op.length");
    refuse("roll", "{\"shifts\": [1, 2], \"dims\": 0}", "expect.op.shifts");
    refuse("reshape", "{\"shape\": [4, -1]}", "expect.op.shape: 'input' has 6 elements");
    refuse("reshape", "{\"shape\": [-1, -1]}", "expect.op.shape: -1 cannot be");
    refuse("reshape", "{\"shape\": [4611686018427387904, 4]}", "expect.op.shape");
    refuse("expand", "{\"shape\": [2]}", "expect.op.shape");
    refuse("expand", "{\"shape\": [4611686018427387904, 2, 3]}", "too many elements");
    refuse("repeat", "{\"repeats\": [100000000, 100000000]}", "too many elements");
    refuse("pad", "{\"pad\": [1]}", "expect.op.pad: pairs");
    refuse("pad", "{\"pad\": [3, 0], \"mode\": \"reflect\"}", "expect.op.pad");
    refuse("pad", "{\"pad\": [-4, 0]}", "expect.op.pad");
    refuse("one_hot", "{\"num_classes\": 0}", "expect.op.num_classes");
    refuse("layer_norm", "{\"normalized_shape\": [2]}",
           "it is not how the shape of 'input' ends: [2, 3]");
    refuse("group_norm", "{\"num_groups\": 2}",
           "expect.op.num_groups: 2 does not divide the 3 channels");
    refuse("interpolate", "{\"size\": 3}", "rank 4, like [1, 1, 2, 3], is expected");
    refuse("glu", "{}", "expect.op.dim: the extent there is odd");
}

Test(reference_errors, shapes) {
    const struct shape mm[] = {{"input", {2, 3}, 2}, {"mat2", {4, 5}, 2}};
    refuse_all("mm", "{}", mm, 2,
               "the inner extents of 'input' [2, 3] and 'mat2' [4, 5] differ: 3 and 4");
    refuse_all("mm", "{}", mm, 1, "expect.op.inputs.mat2: 'mm' needs it");
    const struct shape add[] = {{"input", {2, 3}, 2}, {"other", {2}, 1}};
    refuse_all("add", "{}", add, 2, "expect.op.inputs.other: 'other' has shape [2]");
    const struct shape batches[] = {{"input", {2, 3, 4}, 3}, {"other", {3, 4, 5}, 3}};
    refuse_all("matmul", "{}", batches, 2, "do not broadcast: 2 and 3");
    const struct shape conv[] = {{"input", {1, 4, 5, 5}, 4}, {"weight", {6, 3, 3, 3}, 4}};
    refuse_all("conv2d", "{}", conv, 2,
               "expect.op.inputs.weight: 'weight' is for 3 channels, 'input' has 4");
    refuse_all("conv2d", "{\"groups\": 3}", conv, 2,
               "expect.op.groups: 3 does not divide");
    refuse_all("conv2d", "{\"stride\": 0}", conv, 2,
               "expect.op.stride: 0 is not within 1");
    refuse_all("conv2d", "{\"stride\": [1, 2, 3]}", conv, 2,
               "expect.op.stride: 3 numbers");
    const struct shape big[] = {{"input", {1, 3, 2, 2}, 4}, {"weight", {6, 3, 3, 3}, 4}};
    refuse_all("conv2d", "{}", big, 2, "the kernel reaches over 3 elements");
    refuse_all("max_pool2d", "{\"kernel_size\": 2, \"padding\": 2}", big, 1,
               "expect.op.padding: 2 is more than half");
    refuse_all("max_pool3d", "{\"kernel_size\": 65536}", big, 1,
               "the kernel reaches over");
    const struct shape wide[] = {{"input", {1, 1, 60, 60, 60}, 5},
                                 {"weight", {1, 1, 1, 1, 1}, 5}};
    refuse_all("conv_transpose3d", "{\"stride\": 65536}", wide, 2, "too many elements");
    refuse_all("conv_transpose3d", "{\"output_padding\": 1}", wide, 2,
               "expect.op.output_padding: 1 is not below the stride 1");
    const struct shape heads[] = {
        {"query", {1, 5, 2, 4}, 4}, {"key", {1, 2, 3, 4}, 4}, {"value", {1, 2, 3, 4}, 4}};
    refuse_all("scaled_dot_product_attention", "{\"enable_gqa\": true}", heads, 3,
               "5 heads of 'query' are not a multiple of the 2 of 'key'");
    refuse_all("scaled_dot_product_attention", "{}", heads, 3,
               "'key' has shape [1, 2, 3, 4], [1, 5, 3, 4] is expected");
    const struct shape scalar[] = {{"input", {0}, 0}, {"other", {3, 4}, 2}};
    refuse_all("matmul", "{}", scalar, 2, "'input' is a scalar");
    const struct shape empty[] = {{"input", {3, 0}, 2}};
    refuse_all("max", "{\"dim\": 1}", empty, 1, "no elements of 'input'");
}

/* --- values --- */

static int compute(const char *op, const char *attributes, const double *input,
                   const int64_t *shape, size_t rank, const char *second,
                   const double *values, int64_t count, struct err *err) {
    struct operator_call c;
    struct operator_budget budget = {1000000, never};
    autojson *json = json_loads(attributes, 0, NULL);
    int r = operator_call_start(&c, operator_find(op), "expect.op", json, err);
    cr_assert_eq(r, 0);
    operator_call_input(&c, 0, "x", TENSOR_FLOAT64, input, shape, rank);
    int role = operator_input(c.op, second);
    operator_call_input(&c, (size_t)role, "k", TENSOR_FLOAT64, values, &count, 1);
    r = operator_call_infer(&c, err);
    r = r < 0 ? r : operator_call_compute(&c, &budget, err);
    operator_call_finish(&c);
    return r;
}

Test(reference_errors, indices) {
    static const int64_t shape[] = {4};
    struct err err = {0};
    const double bad[][1] = {{4}, {-1}, {0.5}, {NAN}, {1e300}};
    for (size_t i = 0; i < 5; i++) {
        int r = compute("index_select", "{}", zeros, shape, 1, "index", bad[i], 1, &err);
        cr_expect_eq(r, -EINVAL);
        cr_expect_not_null(strstr(err.msg, "expect.op.inputs.index: 'k' holds"), "%s",
                           err.msg);
    }
    const double good[] = {3};
    cr_expect_eq(compute("index_select", "{}", zeros, shape, 1, "index", good, 1, &err),
                 0);
}

/* --- cost and budget --- */

static double flops_of(const char *op, const char *attributes, const struct shape *inputs,
                       size_t count) {
    struct operator_call c;
    struct err err;
    cr_assert_eq(prepare(&c, op, attributes, inputs, count, &err), 0, "%s", err.msg);
    double flops = c.flops;
    operator_call_finish(&c);
    return flops;
}

Test(reference_errors, flops) {
    const struct shape mm[] = {{"input", {32, 16}, 2}, {"mat2", {16, 8}, 2}};
    cr_expect_eq(flops_of("mm", "{}", mm, 2), 2.0 * 32 * 16 * 8);
    const struct shape conv[] = {{"input", {2, 4, 9, 9}, 4}, {"weight", {6, 2, 3, 3}, 4}};
    cr_expect_eq(flops_of("conv2d", "{\"groups\": 2}", conv, 2),
                 2.0 * 2 * 6 * 7 * 7 * 2 * 9);
    const struct shape x[] = {{"input", {7, 9}, 2}};
    cr_expect_eq(flops_of("relu", "{}", x, 1), 63);
    cr_expect_eq(flops_of("reshape", "{\"shape\": -1}", x, 1), 0);
    /* Every input element of a transposed convolution meets the whole kernel. */
    const struct shape up[] = {{"input", {1, 3, 5}, 3}, {"weight", {3, 2, 4}, 3}};
    cr_expect_eq(flops_of("conv_transpose1d", "{}", up, 2), 2.0 * 5 * 3 * 2 * 4);
}

Test(reference_errors, budget) {
    const struct shape mm[] = {{"input", {64, 64}, 2}, {"mat2", {64, 64}, 2}};
    struct operator_call c;
    struct err err;
    struct operator_budget few = {100000, never}, stopped = {1000000, always};
    cr_assert_eq(prepare(&c, "mm", "{}", mm, 2, &err), 0);
    cr_expect_eq(operator_call_compute(&c, &few, &err), -ETIME);
    cr_expect_not_null(strstr(err.msg, "'mm' takes some 1.43e+05 steps"), "%s", err.msg);
    cr_expect_eq(few.steps, 100000, "nothing was computed");
    operator_call_finish(&c);
    cr_assert_eq(prepare(&c, "mm", "{}", mm, 2, &err), 0);
    cr_expect_eq(operator_call_compute(&c, &stopped, &err), -ETIME);
    cr_expect_not_null(strstr(err.msg, "time ran out"), "%s", err.msg);
    operator_call_finish(&c);
}
