#include "skills/evaluation/evaluation_record.h"

#include "base/mem.h"
#include "base/text.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/evaluation.h"
#include "skills/grading/suite.h"
#include "skills/runs/run_record.h"

#include <string.h>

/* Cut to what the record keeps, so that a long answer does not lie twice in memory. */
static void set_output(json_t *record, const char *text) {
    size_t len = strlen(text), kept = text_cut(text, len, RUN_MAX_OUTPUT);
    if (!len) {
        return;
    }
    json_object_set_new(record, "output", json_text(text, kept));
    if (kept < len) {
        json_object_set_new(record, "output_bytes", json_integer((json_int_t)len));
    }
}

static json_t *tokens_json(uint64_t input, uint64_t output, bool reported) {
    return json_pack("{s:I,s:I,s:I,s:b}", "input", (json_int_t)input, "output",
                     (json_int_t)output, "total", (json_int_t)(input + output),
                     "reported", reported);
}

json_t *evaluation_answer_record(const struct model_answer *answer) {
    const struct model_usage *u = &answer->usage;
    json_t *tokens = tokens_json(u->input, u->output, u->reported);
    autojson *parts =
        json_pack("{s:I,s:I,s:I}", "cache_read", (json_int_t)u->cache_read, "cache_write",
                  (json_int_t)u->cache_write, "thinking", (json_int_t)u->thinking);
    json_object_update(tokens, parts);
    json_t *record = json_pack("{s:o,s:o,s:o,s:f}", "tokens", tokens, "served_model",
                               json_clean_z(answer->served_model), "stop_reason",
                               json_clean_z(answer->stop_reason), "ms", answer->ms);
    set_output(record, answer->text);
    return record;
}

json_t *evaluation_agent_record(const struct agent_answer *answer) {
    json_t *record =
        json_pack("{s:o,s:o,s:f,s:b}", "tokens",
                  tokens_json(answer->input, answer->output, answer->reported),
                  "served_model", json_clean_z(answer->served_model), "ms", answer->ms,
                  "activated", answer->activated);
    set_output(record, answer->text);
    return record;
}

static const char *outcome(const struct cell *c) {
    return c->state == CELL_PASSED    ? "passed"
           : c->state == CELL_FAILED  ? "failed"
           : c->state == CELL_REFUSED ? "refused"
                                      : "errored";
}

json_t *evaluation_cell_record(const struct evaluation_options *o, const struct cell *c,
                               const json_t *answer) {
    const struct student *s = &o->students[c->student];
    const struct test_case *test = o->tests[c->test];
    const struct arm *arm = &o->arms[c->arm];
    json_t *record = json_pack(
        "{s:s,s:s,s:s,s:s,s:I,s:s,s:i,s:i,s:o,s:i,s:b,s:i,s:s,s:o*,s:o*,s:o*}", "model",
        s->name, "arm", arm_name(arm->kind), "test", test->id, "split",
        test_split_name(test->split), "run", (json_int_t)c->run + 1, "outcome",
        outcome(c), "assertions_passed", (int)c->assertions_passed, "assertions_total",
        (int)c->assertions_total, "cost", c->cost < 0 ? json_null() : json_real(c->cost),
        "requests", (int)c->requests, "cached", c->cached, "attempts", (int)c->attempts,
        "prompt_digest", arm->digest, "why",
        c->why && !cell_counts(c) ? json_clean_z(c->why) : NULL, "reused",
        c->reused ? json_true() : NULL, "base_url",
        s->model ? json_clean_z(s->model->base_url) : NULL);
    autojson *tokens =
        json_pack("{s:o}", "tokens", tokens_json(c->input, c->output, c->reported));
    json_object_update_missing(record, (json_t *)(uintptr_t)answer);
    json_object_update_missing(record, tokens);
    return record;
}
