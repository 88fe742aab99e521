#include "skills/refinement/refinement_record.h"

#include "base/buf.h"
#include "base/mem.h"
#include "skills/evaluation/statistics.h"

#include <math.h>

void refinement_record_init(struct refinement_record *r) {
    *r = (struct refinement_record){.rounds = json_array(), .start = NAN, .final = NAN};
}

static json_t *rate(double value) {
    return isnan(value) ? json_null() : json_real(value);
}

/* A teacher's texts are outside bytes: cleaned before anybody sees them. */
static json_t *clean_edits(const json_t *edits) {
    json_t *list = json_array();
    const json_t *edit;
    size_t i;
    json_array_foreach(edits, i, edit) {
        static const char *const keys[] = {"find", "section", "replace", "append"};
        json_t *one = json_object();
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            const json_t *text = json_object_get(edit, keys[k]);
            if (json_is_string(text)) {
                json_object_set_new(
                    one, keys[k],
                    json_clean(json_string_value(text), json_string_length(text)));
            }
        }
        json_array_append_new(list, one);
    }
    return list;
}

void refinement_record_round(struct refinement_record *r,
                             const struct refine_round *round) {
    json_t *one =
        json_pack("{s:i,s:o,s:o,s:o,s:b,s:o}", "round", (int)round->round, "edits",
                  clean_edits(round->edits), "gate_before", rate(round->before),
                  "gate_after", rate(round->after), "accepted", round->accepted, "reason",
                  json_clean_z(round->reason));
    if (!isnan(round->p)) {
        json_object_set_new(one, "p", json_real(round->p));
    }
    if (round->why) {
        json_object_set_new(one, "why", json_clean_z(round->why));
    }
    json_array_append_new(r->rounds, one);
    r->kept += round->accepted;
}

void refinement_record_gate(struct refinement_record *r, double value) {
    r->final = value;
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
        "start", rate(lift.baseline), "final", rate(lift.skill), "lift", "estimate",
        rate(lift.lift.estimate), "low", rate(lift.lift.low), "high",
        rate(lift.lift.high), "p", rate(lift.p), "n_tests", (json_int_t)results.n);
}

json_t *refinement_record_json(const struct refinement_record *r) {
    json_t *all =
        json_pack("{s:o,s:i,s:{s:o,s:o}}", "rounds", json_deep_copy(r->rounds), "kept",
                  (int)r->kept, "gate", "start", rate(r->start), "final", rate(r->final));
    if (r->stopped) {
        json_object_set_new(all, "stopped", json_string(r->stopped));
    }
    if (r->problem) {
        json_object_set_new(all, "problem", json_clean_z(r->problem));
    } else if (r->nothing_fails) {
        json_object_set_new(all, "problem",
                            json_string("the refine split holds no failure to learn "
                                        "from; write harder tests"));
    }
    if (r->verdict) {
        json_object_set(all, "verdict", r->verdict);
    }
    return all;
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
