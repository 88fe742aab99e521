#pragma once
/* expectation: the expected outputs of one trial. */
#include "gpu/run/compare.h"
#include "gpu/run/trial.h"

struct expect_work;

struct expectation {
    /* By the spec's buffers; without data and work nothing is expected of a buffer. */
    struct expected_output {
        enum tensor_type type;
        const void *data; /* NULL with work: computed by rows during comparison */
        void *owned;      /* data, unless that is the spec's file */
        struct expect_work *work; /* the expectation's */
        bool *judged;             /* by element; NULL: all; owned */
        bool inexact; /* an expression used integers that a double cannot represent */
    } * outputs;
    size_t count;
    struct expect_work *work; /* owned, or NULL */
};

/* Computes it from values, files, expressions or operators; without any of them only
 * which elements would be judged. before: the buffers' contents before the launches,
 * which must stay valid for an expectation by rows. by_rows: compute operators' outputs
 * by rows where possible. */
int expectation_compute(struct expectation *ret, const struct spec_case *c,
                        void *const *before, bool by_rows, struct err *err);
/* Whether something is expected of the output. */
bool expectation_has(const struct expected_output *e);
/* A source of the rows of output `buffer` if there is no data; it uses e->work. */
bool expectation_source(const struct expected_output *e, size_t buffer,
                        struct compare_source *ret);
/* Takes the outputs of a reference kernel's trial. */
int expectation_take(struct expectation *ret, const struct trial *reference,
                     struct err *err);
void expectation_finish(struct expectation *e);
