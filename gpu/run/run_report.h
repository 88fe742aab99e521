#pragma once
/* run_report: collects a validation's findings and comparisons, trial by trial. */
#include "gpu/run/expectation.h"

/* Which trivial outputs the expected values of one output would detect, over all cases
 * and trials. */
struct output_strength {
    bool compared; /* with at least one element */
    /* Whether a trivial output would fail in some case. */
    bool zero_fails, constant_fails, shift_fails;
    bool nonzero, varies; /* in some case */
    double shift;         /* of the first case */
    bool finite;          /* somewhere a finite number is expected */
    uint64_t elements,
        held;              /* that were compared, that there are: of all cases, trials */
    bool differs;          /* not all expected values are the same */
    double value;          /* the first expected value */
    uint64_t sized, loose; /* as compare_result has them: of all cases, trials */
    double scale, largest; /* of the first comparison with `narrowed` mismatches */
    uint64_t narrowed;
    bool inexact; /* in some case */
};

struct run_report {
    const struct kernel_spec *spec; /* must be read before anything is added */
    json_t *cases;
    json_t *findings; /* array; equal ones of several trials are one */
    uint64_t omitted;
    json_t *printed;  /* text of the first trial of each case that printed */
    json_t *counters; /* of the largest case */
    uint64_t counted; /* its lane-instructions */
    bool mismatch, error_finding;
    bool unjudged;       /* an output to judge has no expectation */
    bool does_something; /* some output was expected to change */
    bool stays;          /* one with more than a few elements was not */
    struct output_strength outputs[SPEC_MAX_BUFFERS]; /* by the spec's buffers */
};

/* Replaces the buffer's internal name by the one for people, also in the message. */
void run_report_name_buffer(json_t *finding);
void run_report_start(struct run_report *r, const struct kernel_spec *spec);
void run_report_finish(struct run_report *r);
/* One finished trial of the kernel under test, compared with what is expected. */
int run_report_add(struct run_report *r, const struct trial *t, unsigned trial,
                   const struct expectation *expected, struct err *err);
/* Adds a finding (not stolen); equal ones are counted. */
void run_report_finding(struct run_report *r, json_t *finding);
/* Appends it, unless the answer has as many as it may: false. */
bool run_report_keep(json_t *findings, json_t *finding);
/* Whether a finding tells the same: at the same lines, of the same memory, whatever its
 * instruction and offset. Then it is counted there. */
bool run_report_is_known(json_t *findings, json_t *finding);
/* Moves causes before their effects, such as a race before the uninitialised reads that
 * it causes, because the first finding explains the verdict. Otherwise keeps the order.
 */
void run_report_causes_first(json_t *findings);
/* Adds a finding about the run itself, without file and thread; buffer may be NULL. The
 * message is cut at 1,023 bytes. */
void run_report_note(struct run_report *r, const char *code, const char *severity,
                     const char *buffer, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds a trial of the kernel under test that did not complete. */
void run_report_add_ended(struct run_report *r, const struct trial *t, unsigned trial,
                          const char *verdict);
/* Adds findings, printf output and counters of a trial, also of one that faulted. */
void run_report_observe(struct run_report *r, const struct trial *t, unsigned trial);

/* Weaknesses of a check: zeros, one constant, or no work at all would pass. */
struct report_weakness {
    bool compared, zeros, constant, nonfinite;
    bool unchanged; /* all outputs may keep their contents: a kernel that does nothing
                       passes */
    bool same;      /* each output is expected to hold one value everywhere */
    size_t buffer;  /* a weak output, except for `unchanged` */
};
void run_report_weakness(const struct run_report *r, struct report_weakness *ret);
/* The sizes of a case: {"n": 5}. New reference. */
json_t *case_sizes_to_json(const struct spec_case *c);
