/* expect: {"op": …} in a check spec: who takes what from where, and what comes out. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/spec/expect_operator.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static bool never(void) {
    return false;
}

#define BUFFER(name, shape, more)                                                        \
    "{\"name\": \"" name "\", \"type\": \"float32\", \"shape\": " shape ", " more "}"
#define INPUT "\"init\": {\"arange\": [1, 1]}"
#define OUTPUT "\"output\": true"
#define ARGS_ONE BUFFER("x", "[\"m\", \"n\"]", INPUT) ", "
#define ARGS_Y BUFFER("y", "[\"m\", \"n\"]", OUTPUT)

static json_t *params_of(const char *args, const char *expect) {
    autofree char *text =
        xasprintf("{\"sizes\": {\"m\": 2, \"n\": 3}, \"launch\": {\"grid\": [1], "
                  "\"block\": [1]}, \"args\": [%s], \"expect\": %s}",
                  args, expect);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    return json;
}

/* Reads the spec and computes with x = 1, 2, 3 … in every buffer of float32. */
static int outcome(const char *args, const char *expect, double *ret, size_t count,
                   struct err *err) {
    autojson *params = params_of(args, expect);
    struct kernel_spec spec;
    *err = (struct err){0};
    int r = kernel_spec_read(&spec, params, err);
    if (r < 0) {
        return r;
    }
    struct spec_case c;
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, err), 0, "%s", err->msg);
    float numbers[64];
    for (size_t i = 0; i < 64; i++) {
        numbers[i] = (float)(i + 1);
    }
    void *before[SPEC_MAX_BUFFERS];
    double *outputs[SPEC_MAX_BUFFERS] = {0};
    for (size_t i = 0; i < spec.buffer_count; i++) {
        before[i] = numbers;
    }
    struct expect_work *w;
    r = expect_work_new(&w, &c, spec.expect_operator, before, never, err);
    r = r < 0 ? r : expect_work_whole(w, outputs, err);
    expect_work_free(w);
    for (size_t i = 0; i < spec.buffer_count; i++) {
        if (outputs[i] && ret) {
            memcpy(ret, outputs[i], count * sizeof *ret);
        }
        free(outputs[i]);
    }
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
    return r;
}

static void gives(const char *args, const char *expect, const double *wanted,
                  size_t count) {
    double got[32] = {0};
    struct err err;
    int r = outcome(args, expect, got, count, &err);
    cr_expect_eq(r, 0, "%s: %s", expect, err.msg);
    for (size_t i = 0; i < count; i++) {
        cr_expect_float_eq(got[i], wanted[i], 1e-12,
                           "%s: element %zu is %.17g, not %.17g", expect, i, got[i],
                           wanted[i]);
    }
}

static void refused(const char *args, const char *expect, const char *words) {
    struct err err;
    int r = outcome(args, expect, NULL, 0, &err);
    cr_expect_eq(r, -EINVAL, "%s: %d", expect, r);
    cr_expect_not_null(strstr(err.msg, words), "%s: %s", expect, err.msg);
}

Test(expect_operator, finds_its_buffers) {
    const double sums[] = {1, 3, 6, 4, 9, 15};
    gives(ARGS_ONE ARGS_Y, "{\"op\": \"cumsum\", \"dim\": 1}", sums, 6);
    gives(ARGS_ONE ARGS_Y,
          "{\"op\": \"cumsum\", \"dim\": \"n - 2\", \"inputs\": {\"input\": \"x\"}, "
          "\"outputs\": {\"output\": \"y\"}}",
          sums, 6);
    const double twice[] = {2, 4, 6, 8, 10, 12};
    gives(ARGS_ONE ARGS_Y,
          "{\"op\": \"mul\", \"inputs\": {\"input\": \"x\", \"other\": 2}}", twice, 6);
    gives(ARGS_ONE ARGS_Y,
          "{\"op\": \"add\", \"inputs\": {\"other\": \"x\", "
          "\"input\": \"x\"}}",
          twice, 6);
    /* One role is named by a buffer, the other is the only one left. */
    const double product[] = {1, 4, 9, 16, 25, 36};
    gives(ARGS_ONE BUFFER("other", "[\"m\", \"n\"]", INPUT) ", " ARGS_Y,
          "{\"op\": \"mul\"}", product, 6);
    const double joined[] = {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6};
    gives(ARGS_ONE BUFFER("y", "[\"m\", 6]", OUTPUT),
          "{\"op\": \"cat\", \"inputs\": {\"tensors\": [\"x\", \"x\"]}, \"dim\": 1}",
          joined, 12);
}

Test(expect_operator, steps) {
    const double wanted[] = {0, 0, 0, 3, 5, 7};
    gives(ARGS_ONE ARGS_Y,
          "{\"op\": \"mul\", \"inputs\": {\"input\": \"x\", \"other\": 2}, \"then\": ["
          "{\"op\": \"sub\", \"inputs\": {\"other\": 5}, \"outputs\": {\"output\": "
          "\"less\"}}, {\"op\": \"relu\", \"outputs\": {\"output\": \"kept\"}},"
          "{\"op\": \"where\", \"inputs\": {\"condition\": 0, \"input\": \"x\", "
          "\"other\": \"kept\"}}, {\"op\": \"threshold\", \"threshold\": 2, \"value\": "
          "0}]}",
          wanted, 6);
    /* A sum to one number goes to an array of one; names find intermediates. */
    const double sum[] = {42};
    gives(ARGS_ONE BUFFER("s", "[1]", OUTPUT),
          "{\"op\": \"mul\", \"inputs\": {\"input\": \"x\", \"other\": 2}, \"outputs\": "
          "{\"output\": \"input\"}, \"then\": [{\"op\": \"identity\", \"inputs\": "
          "{\"input\": \"x\"}}, {\"op\": \"sum\", \"inputs\": {\"input\": \"input\"}}]}",
          sum, 1);
}

/* What an output holds before is an input only where nothing else can be. */
Test(expect_operator, an_output_with_contents_is_the_last_choice) {
    const double square[] = {1, 4, 9};
    gives(BUFFER("y", "[3]", INPUT ", " OUTPUT) ", " BUFFER("x", "[3]", INPUT),
          "{\"op\": \"square\"}", square, 3);
    const double doubled[] = {2, 4, 6};
    gives(BUFFER("x", "[3]", INPUT ", " OUTPUT),
          "{\"op\": \"mul\", \"inputs\": {\"other\": 2}}", doubled, 3);
    refused(
        BUFFER("x", "[3]", INPUT ", " OUTPUT) ", " BUFFER("y", "[3]", INPUT ", " OUTPUT),
        "{\"op\": \"relu\"}", "which buffer?");
}

Test(expect_operator, refuses_names) {
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"softmacks\"}",
            "expect.op: there is no operator 'softmacks'");
    static const char *const meant[][2] = {
        {"softmaxx", "softmax"},
        {"attention", "scaled_dot_product_attention"},
        {"torch.nn.functional.layernorm", "layer_norm"},
        {"nn.RMSNorm", "rms_norm"},
        {"fused_add_rms_norm", "rms_norm"},
        {"GEMM", "matmul"},
        {"top_k", "topk"},
        {"batchnorm2d", "batch_norm"},
        {"silu_and_mul", "swiglu"},
    };
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
        char expect[96], words[160];
        snprintf(expect, sizeof expect, "{\"op\": \"%s\"}", meant[i][0]);
        snprintf(words, sizeof words, "no operator '%s'; did you mean \"%s\"?",
                 meant[i][0], meant[i][1]);
        refused(ARGS_ONE ARGS_Y, expect, words);
    }
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"qwxyzv\"}", "the guide to operators lists all");
}

Test(expect_operator, refuses_inputs_and_attributes) {
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"input\": \"x\"}",
            "expect.op.input: it belongs in \"inputs\"");
    refused(ARGS_ONE ARGS_Y, "{\"op\": 1}", "expect.op: an operator's name is expected");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"softmax\", \"dim\": 3}",
            "expect.op.dim: 3 is outside the rank 2 of 'x'");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"softmax\", \"dim\": \"rows\"}",
            "expect.op.dim: ");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"softmax\", \"axis\": 1}", "expect.op.axis: ");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"add\"}",
            "expect.op.inputs.other: 'add' needs it");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"inputs\": {\"input\": \"y\"}}",
            "expect.op.inputs.input: there is no buffer 'y' with an init");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"inputs\": {\"x\": \"x\"}}",
            "expect.op.inputs.x: 'relu' has no input of that name; it has input");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"inputs\": [\"x\"]}",
            "expect.op.inputs: an object");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"cat\", \"inputs\": {\"tensors\": []}}",
            "expect.op.inputs.tensors");
}

Test(expect_operator, refuses_outputs_and_steps) {
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"outputs\": {\"y\": \"y\"}}",
            "expect.op.outputs.y: 'relu' has no output of that name; it has output");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"outputs\": {\"output\": \"x\"}}",
            "expect.op.outputs.output: 'x' is not an output");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"outputs\": {\"output\": \"z\"}}",
            "expect.op.outputs.output: there is no output 'z', and no step follows");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"sum\", \"dim\": 1}",
            "expect.op.outputs.output: 'sum' makes shape [2], 'y' has [2, 3]");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"transpose\"}",
            "'transpose' makes shape [3, 2], 'y' has [2, 3]");
    refused(ARGS_ONE ARGS_Y ", " BUFFER("z", "[1]", OUTPUT), "{\"op\": \"relu\"}",
            "which buffer is it? There is not exactly one output left");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"then\": {\"op\": \"relu\"}}",
            "expect.then: a list");
    refused(ARGS_ONE ARGS_Y, "{\"op\": \"relu\", \"then\": [{\"op\": \"nope\"}]}",
            "expect.then[0]: there is no operator 'nope'");
    refused(ARGS_ONE ARGS_Y,
            "{\"op\": \"relu\", \"then\": [{\"op\": \"relu\", \"then\": []}]}",
            "expect.then[0].then: only the first operator has it");
    refused(ARGS_ONE ARGS_Y,
            "{\"op\": \"relu\", \"outputs\": {\"output\": \"y\"}, \"then\": [{\"op\": "
            "\"relu\", \"inputs\": {\"input\": \"x\"}, \"outputs\": {\"output\": "
            "\"y\"}}]}",
            "expect.then[0].outputs.output: 'y' is expected twice");
}

Test(expect_operator, flops) {
    autojson *params = params_of(
        ARGS_ONE BUFFER("y", "[\"m\", \"m\"]", OUTPUT),
        "{\"op\": \"matmul\", \"inputs\": {\"input\": \"x\", \"other\": \"x\"}, "
        "\"transpose_b\": true, \"then\": [{\"op\": \"relu\"}]}");
    struct kernel_spec spec;
    struct spec_case c;
    struct err err = {0};
    double flops = 0;
    cr_assert_eq(kernel_spec_read(&spec, params, &err), 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    cr_expect_eq(expect_operator_flops(&c, spec.expect_operator, &flops, &err), 0);
    cr_expect_eq(flops, 2 * 2 * 2 * 3 + 4);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

/* --- by rows --- */

/* All rows of y as parts of a few bytes make them, against the whole. */
static void same_by_rows(const char *args, const char *expect, int64_t rows_wanted) {
    autojson *params = params_of(args, expect);
    struct kernel_spec spec;
    struct spec_case c;
    struct expect_work *whole, *parts;
    struct err err = {0};
    float numbers[64];
    void *before[SPEC_MAX_BUFFERS];
    double *outputs[SPEC_MAX_BUFFERS] = {0}, got[64];
    for (size_t i = 0; i < 64; i++) {
        numbers[i] = (float)(i * 7 % 13) - 5;
    }
    cr_assert_eq(kernel_spec_read(&spec, params, &err), 0, "%s", err.msg);
    cr_assert_eq(spec_case_resolve(&c, &spec, 0, &err), 0, "%s", err.msg);
    for (size_t i = 0; i < spec.buffer_count; i++) {
        before[i] = numbers;
    }
    size_t y = kernel_spec_buffer(&spec, "y");
    int64_t rows, at_once, row;
    int r = expect_work_new(&whole, &c, spec.expect_operator, before, never, &err);
    expect_work_slice(whole, 64); /* the whole too, and nothing else comes out */
    r = r < 0 ? r : expect_work_whole(whole, outputs, &err);
    r = r < 0 ? r
              : expect_work_new(&parts, &c, spec.expect_operator, before, never, &err);
    cr_assert_eq(r, 0, "%s: %s", expect, err.msg);
    expect_work_slice(parts, 1);
    cr_assert(expect_work_rows(parts, y, &rows, &at_once));
    cr_expect_eq(rows, rows_wanted, "%s: %lld rows", expect, (long long)rows);
    cr_expect_eq(at_once, 1);
    row = (int64_t)c.buffers[y].count / rows;
    for (int64_t k = rows; k-- > 0;) { /* in any order */
        r = expect_work_part(parts, y, k, k + 1, got + k * row, &err);
        cr_assert_eq(r, 0, "%s: %s", expect, err.msg);
    }
    cr_expect_arr_eq(got, outputs[y], c.buffers[y].count * sizeof *got, "%s", expect);
    free(outputs[y]);
    expect_work_free(whole);
    expect_work_free(parts);
    spec_case_finish(&c);
    kernel_spec_finish(&spec);
}

Test(expect_operator, by_rows_as_in_the_whole) {
    const char *args = BUFFER("x", "[5, 3, 4]", INPUT) ", " BUFFER(
        "w", "[3, 1]", INPUT) ", " BUFFER("y", "[5, 3, 4]", OUTPUT);
    same_by_rows(args, "{\"op\": \"relu\", \"inputs\": {\"input\": \"x\"}}", 5);
    same_by_rows(args, "{\"op\": \"softmax\", \"inputs\": {\"input\": \"x\"}}", 5);
    /* These depend on all rows. */
    same_by_rows(args,
                 "{\"op\": \"softmax\", \"inputs\": {\"input\": \"x\"}, \"dim\": 0}", 1);
    same_by_rows(
        args,
        "{\"op\": \"batch_norm\", \"inputs\": {\"input\": \"x\"}, \"training\": true}",
        1);
    /* A step before that has rows as well, one that is another shape, and one number. */
    same_by_rows(args,
                 "{\"op\": \"exp\", \"inputs\": {\"input\": \"x\"}, \"then\": ["
                 "{\"op\": \"mul\", \"inputs\": {\"other\": \"w\"}}]}",
                 5);
    same_by_rows(
        args,
        "{\"op\": \"norm\", \"inputs\": {\"input\": \"x\"}, \"dim\": [1, 2], "
        "\"outputs\": {\"output\": \"lengths\"}, \"then\": [{\"op\": \"norm\", "
        "\"inputs\": {\"input\": \"lengths\"}, \"outputs\": {\"output\": "
        "\"length\"}}, {\"op\": \"div\", \"inputs\": {\"input\": \"x\", \"other\": "
        "\"length\"}}]}",
        5);
    /* One step serves two. */
    same_by_rows(args,
                 "{\"op\": \"exp\", \"inputs\": {\"input\": \"x\"}, \"outputs\": "
                 "{\"output\": \"e\"}, \"then\": [{\"op\": \"mean\", \"dim\": 0, "
                 "\"inputs\": {\"input\": \"e\"}, \"outputs\": {\"output\": \"m\"}}, "
                 "{\"op\": \"sub\", \"inputs\": {\"input\": \"e\", \"other\": \"m\"}}]}",
                 5);
}
