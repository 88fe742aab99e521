#pragma once
/* expectation: what the outputs of one trial should be. */
#include "gpu/run/compare.h"
#include "gpu/run/trial.h"

struct expect_work;

struct expectation {
    /* By the spec's buffers; without data and work nothing is said about it. */
    struct expected_output {
        enum tensor_type type;
        void *data; /* owned; NULL with work: it is made by rows when it is compared */
        struct expect_work *work; /* the expectation's */
        bool *judged;             /* by element; NULL: all; owned */
        bool inexact; /* an expression met whole numbers that a double lacks */
    } * outputs;
    size_t count;
    struct expect_work *work; /* owned, or NULL */
};

/* From values, files, expressions or operators; without any of them only which elements
 * would be judged. before: contents of the buffers before the launches, which an
 * expectation by rows goes on reading. by_rows: what operators say may be made by rows.
 */
int expectation_compute(struct expectation *ret, const struct spec_case *c,
                        void *const *before, bool by_rows, struct err *err);
/* Is something said about it? */
bool expectation_has(const struct expected_output *e);
/* The rows of output `buffer`, where there is no data: make reads e->work. */
bool expectation_source(const struct expected_output *e, size_t buffer,
                        struct compare_source *ret);
/* From a reference kernel's trial. */
int expectation_take(struct expectation *ret, const struct trial *reference,
                     struct err *err);
void expectation_finish(struct expectation *e);
