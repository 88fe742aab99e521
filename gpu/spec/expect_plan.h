#pragma once
/* expect_plan: the operators of `expect` and where their inputs come from; only by names,
 * without sizes. */
#include "gpu/reference/operator.h"
#include "gpu/spec/expect_operator.h"

/* The source of an input. */
struct expect_source {
    enum { FROM_NOWHERE, FROM_BUFFER, FROM_STEP, FROM_NUMBER } kind;
    size_t buffer;       /* of FROM_BUFFER */
    size_t step, output; /* of FROM_STEP */
    double number;
};

struct expect_step {
    const struct operator* op;
    const json_t *json;
    char at[32]; /* "expect.op", "expect.then[0]" */
    struct expect_source inputs[OPERATOR_MAX_INPUTS];
    size_t buffers[OPERATOR_MAX_OUTPUTS]; /* SIZE_MAX: not written to a buffer */
    const char *names[OPERATOR_MAX_OUTPUTS];
};

struct expect_plan {
    const struct kernel_spec *spec;
    struct err *err;
    size_t count;
    struct expect_step steps[EXPECT_MAX_STEPS];
};

/* expect as in a check spec, borrowed for the plan's life. -EINVAL names the field. */
int expect_plan_start(struct expect_plan *plan, const struct kernel_spec *spec,
                      const json_t *expect, struct err *err);
