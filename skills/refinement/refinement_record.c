#include "skills/refinement/refinement_record.h"

#include "base/buf.h"
#include "base/mem.h"
#include "skills/evaluation/statistics.h"

#include <math.h>

void refinement_record_init(struct refinement_record *r) {
    *r = (struct refinement_record){.rounds = json_array(), .start = NAN, .final = NAN};
}

void refinement_record_round(struct refinement_record *r,
                             const struct refine_round *round) {
    /* A teacher's texts are outside bytes: cleaned before anybody sees them. */
    json_t *one = json_pack(
        "{s:i,s:o,s:o,s:o,s:b,s:o,s:o*,s:o*}", "round", (int)round->round, "edits",
        round->edits ? json_clean_all(round->edits) : json_array(), "gate_before",
        json_finite(round->before), "gate_after", json_finite(round->after), "accepted",
        round->accepted, "reason", json_clean_z(round->reason), "p",
        isnan(round->p) ? NULL : json_real(round->p), "why",
        round->why ? json_clean_z(round->why) : NULL);
    json_array_append_new(r->rounds, one);
    r->kept += round->accepted;
}

void refinement_record_verdict(struct refinement_record *r,
                               const struct refine_score *start,
                               const struct refine_score *final, size_t tests,
                               unsigned runs) {
    autofree double *before = xcalloc(tests + 1, sizeof *before);
    autofree double *after = xcalloc(tests + 1, sizeof *after);
    struct paired_results results = {
        .baseline = before, .skill = after, .runs = runs, .seed = 1};
    for (size_t i = 0; i < tests; i++) {
        if (start[i].graded && final[i].graded) {
            before[results.n] = (double)start[i].passed / start[i].graded;
            after[results.n++] = (double) final[i].passed / final[i].graded;
        }
    }
    struct lift lift;
    lift_judge(&lift, &results);
    json_decref(r->verdict);
    r->verdict = json_pack(
        "{s:s,s:o,s:o,s:{s:o,s:o,s:o,s:o,s:I}}", "verdict", verdict_name(lift.verdict),
        "start", json_finite(lift.baseline), "final", json_finite(lift.skill), "lift",
        "estimate", json_finite(lift.lift.estimate), "low", json_finite(lift.lift.low),
        "high", json_finite(lift.lift.high), "p", json_finite(lift.p), "n_tests",
        (json_int_t)results.n);
}

json_t *refinement_record_json(const struct refinement_record *r) {
    const char *problem = r->problem         ? r->problem
                          : r->nothing_fails ? "the refine split holds no failure to "
                                               "learn from; write harder tests"
                                             : NULL;
    return json_pack("{s:o,s:i,s:{s:o,s:o},s:s*,s:o*,s:O*}", "rounds",
                     json_deep_copy(r->rounds), "kept", (int)r->kept, "gate", "start",
                     json_finite(r->start), "final", json_finite(r->final), "stopped",
                     r->stopped, "problem", problem ? json_clean_z(problem) : NULL,
                     "verdict", r->verdict);
}

static double percent(const json_t *object, const char *key) {
    return 100 * json_number_value(json_object_get(object, key));
}

void refinement_describe(const json_t *refinement, struct buf *out) {
    const json_t *gate = json_object_get(refinement, "gate");
    const json_t *verdict = json_object_get(refinement, "verdict");
    const char *problem = json_get_string(refinement, "problem", NULL);
    if (!refinement) {
        return;
    }
    buf_addf(out, "Refinement: %d of %zu rounds kept; it ended by %s",
             (int)json_get_integer(refinement, "kept", 0),
             json_array_size(json_object_get(refinement, "rounds")),
             json_get_string(refinement, "stopped", "?"));
    buf_addf(out, problem ? " (%s)" : "%s", problem ? problem : "");
    if (json_is_number(json_object_get(gate, "start"))) {
        buf_addf(out, "; the gate passes %.0f %% instead of %.0f %%",
                 percent(gate, "final"), percent(gate, "start"));
    }
    buf_adds(out, ".\n");
    if (verdict) {
        buf_addf(out, "On tests that decided nothing: %.0f %% instead of %.0f %% (%s).\n",
                 percent(verdict, "final"), percent(verdict, "start"),
                 json_get_string(verdict, "verdict", "?"));
    }
}

void refinement_record_finish(struct refinement_record *r) {
    json_decref(r->rounds);
    json_decref(r->verdict);
    free(r->problem);
}
