#pragma once
/* expectation: what the outputs of one trial should be. */
#include "gpu/run/trial.h"

struct expectation {
    /* By the spec's buffers; data NULL: nothing is said about it. */
    struct expected_output {
        enum tensor_type type;
        void *data;   /* owned */
        bool *judged; /* by element; NULL: all; owned */
        bool inexact; /* an expression met whole numbers that a double lacks */
    } * outputs;
    size_t count;
};

/* From values, files, expressions or operators; without any of them only which elements
 * would be judged. before: contents of the buffers before the launches. */
int expectation_compute(struct expectation *ret, const struct spec_case *c,
                        void *const *before, struct err *err);
/* From a reference kernel's trial. */
int expectation_take(struct expectation *ret, const struct trial *reference,
                     struct err *err);
void expectation_finish(struct expectation *e);
