#pragma once
/* run_report: what a validation has found so far, trial by trial, and its verdict. */
#include "gpu/run/expectation.h"

/* What the values expected of one output, of all cases and trials, can tell apart. */
struct output_strength {
    bool compared; /* with at least one element */
    /* A trivial output would fail in some case. Zeros, or one value, may be right in one
     * of them and too easy in the others. */
    bool zero_fails, constant_fails, shift_fails;
    bool nonzero, varies; /* in some case */
    double shift;         /* of the first case */
    bool finite;          /* somewhere a finite number is expected */
    uint64_t elements,
        held;              /* that were compared, that there are: of all cases, trials */
    bool differs;          /* not all of them are expected to be the same */
    double value;          /* what the first are */
    uint64_t sized, loose; /* as compare_result has them: of all cases, trials */
    double scale, largest; /* of the first comparison with `narrowed` mismatches */
    uint64_t narrowed;
    bool inexact; /* in some case */
};

struct run_report {
    const struct kernel_spec *spec; /* what is asked for; read before anything is added */
    json_t *cases;
    json_t *findings; /* array; equal ones of several trials are one */
    uint64_t omitted;
    json_t *printed;  /* text of the first trial of each case that printed */
    json_t *counters; /* of the largest case */
    uint64_t counted; /* its lane-instructions */
    bool mismatch, error_finding;
    bool unjudged; /* there was an output that should be judged and nothing said how */
    bool does_something; /* some output was expected to be other than it was before */
    bool stays;          /* one of more than a few elements was not */
    struct output_strength outputs[SPEC_MAX_BUFFERS]; /* by the spec's buffers */
};

/* Its buffer, also in its message, as people call it. */
void run_report_name_buffer(json_t *finding);
void run_report_start(struct run_report *r, const struct kernel_spec *spec);
void run_report_finish(struct run_report *r);
/* One finished trial of the kernel under test, compared with what is expected. */
int run_report_add(struct run_report *r, const struct trial *t, unsigned trial,
                   const struct expectation *expected, struct err *err);
/* One finding; equal ones are counted. Not stolen. */
void run_report_finding(struct run_report *r, json_t *finding);
/* A cause stands before its effects, and so names the verdict: a race before the reads of
 * what was not written yet. All else stays in its order. */
void run_report_causes_first(json_t *findings);
/* A finding of the run itself: of no file, no thread; of a buffer, or NULL. Its message
 * is cut at 1,023 bytes. */
void run_report_note(struct run_report *r, const char *code, const char *severity,
                     const char *buffer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* A trial of the kernel under test that did not come to its end. */
void run_report_add_ended(struct run_report *r, const struct trial *t, unsigned trial,
                          const char *verdict);
/* Findings, printf and counters of a trial, also of one that faulted. */
void run_report_observe(struct run_report *r, const struct trial *t, unsigned trial);

/* Outputs that prove nothing: zeros, one constant, or nothing at all would pass. */
struct report_weakness {
    bool compared, zeros, constant, nonfinite;
    bool unchanged; /* all outputs may stay as they were before: no kernel would pass */
    bool same;      /* all outputs are expected to be one value, each its own */
    size_t buffer;  /* of one that is weak, but for `unchanged` */
};
void run_report_weakness(const struct run_report *r, struct report_weakness *ret);
/* The sizes of a case: {"n": 5}. New reference. */
json_t *case_sizes_to_json(const struct spec_case *c);
