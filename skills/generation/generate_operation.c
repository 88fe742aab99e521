/* skill/generate: its start, and its entry in the table. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "skills/check/skill_check.h"
#include "skills/evaluation/named_models.h"
#include "skills/generation/generation.h"
#include "skills/refinement/refinement.h"
#include "skills/skill_generate.operation.h"

/* --- the start --- */

static void go(struct skills *s, struct call *call, const json_t *params) {
    struct generating *g = xcalloc(1, sizeof *g);
    if (generate_request_read(&g->request, s, call, params) < 0) {
        generate_request_finish(&g->request);
        free(g);
        return;
    }
    g->call = call_ref(call);
    generate_begin(g);
}

static void go_named(struct skills *s, struct call *call, const json_t *params) {
    static const struct named_models of[] = {
        {"teacher", "teacher", "base_url"},
        {"students", "default_students", "students_url"},
        {"judge", "judge", NULL},
        {0}};
    named_models_learn(s, call, params, of, go);
}

static void generate_start(struct call *call, const json_t *params) {
    const json_t *draft = json_object_get(params, "draft");
    const json_t *tests = json_object_get(params, "tests");
    bool job = json_object_get(params, "job"), given = draft || json_is_array(tests);
    if (job != given) {
        call_fail_param(
            call,
            job     ? "/draft"
            : draft ? "/job"
                    : "/tests",
            job || draft ? "job and draft belong together"
                         : "a list of tests belongs to a job; say how many are wanted");
    } else if (job) {
        generate_give_draft(call, params);
    } else {
        skills_when_current(call, go_named);
    }
}

/* --- the table --- */

static void describe_install(const json_t *install, struct buf *out) {
    json_each(install, i, one) {
        buf_addf(out, "%s: %s %s%s%s\n", json_get_string(one, "agent", ""),
                 json_get_string(one, "outcome", ""), json_get_string(one, "path", ""),
                 json_get_string(one, "reason", NULL) ? ": " : "",
                 json_get_string(one, "reason", ""));
    }
    if (json_is_object(install)) {
        buf_addf(out, "Not installed: %s\n", json_get_string(install, "error", ""));
    }
}

static void describe_saved(const json_t *result, struct buf *out) {
    const json_t *skill = json_object_get(result, "skill");
    const json_t *tests = json_object_get(result, "tests");
    const json_t *counts = json_object_get(result, "lessons");
    const json_t *check = json_object_get(result, "check");
    buf_addf(out, "Saved %s in %s.\n", json_get_string(skill, "name", ""),
             json_get_string(skill, "path", ""));
    skill_tell_name(out, result, "");
    if (json_object_size(counts)) {
        buf_addf(out, "It has %d fixes, %d corrections, %d commands, %d files.\n",
                 (int)json_get_integer(counts, "fixes", 0),
                 (int)json_get_integer(counts, "corrections", 0),
                 (int)json_get_integer(counts, "commands", 0),
                 (int)json_get_integer(counts, "files", 0));
    }
    buf_addf(
        out,
        "%d tests (%d requested, %d left out as too easy)%s%s; check: %s, %d findings.\n",
        (int)json_get_integer(tests, "count", 0),
        (int)json_get_integer(tests, "wanted", 0),
        (int)json_get_integer(tests, "marked", 0),
        json_get_string(tests, "reason", NULL) ? ": " : "",
        json_get_string(tests, "reason", ""),
        json_get_bool(check, "ok", 0) ? "passed" : "failed",
        (int)json_array_size(json_object_get(check, "findings")));
    refinement_describe(json_object_get(result, "refinement"), out);
    describe_install(json_object_get(result, "install"), out);
    if (json_object_get(result, "diff")) {
        buf_addf(out, "What changed:\n%s", json_get_string(result, "diff", ""));
    }
    const json_t *evaluation = json_object_get(result, "evaluation");
    if (evaluation) {
        const char *hint = json_get_string(evaluation, "hint", "");
        buf_addf(out, "Evaluation: %s%s%s\n",
                 json_get_string(evaluation, "sentence",
                                 json_get_string(evaluation, "error", "")),
                 *hint ? "; " : "", hint);
    }
}

static void generate_describe(const json_t *result, struct buf *out) {
    const char *state = json_get_string(result, "state", NULL);
    if (state) {
        buf_addf(out, "%s\n",
                 json_get_string(json_object_get(result, "work_order"), "instructions",
                                 state));
        const json_t *order = json_object_get(result, "work_order");
        buf_addf(out, "Format: %s\n", json_get_string(order, "format", ""));
        if (json_object_get(order, "tests")) {
            buf_addf(out, "Tests, if you give any: %s\n",
                     json_get_string(order, "tests", ""));
        }
        buf_addf(out, "Reply again with job %s and the draft or tests.\n",
                 json_get_string(result, "job", ""));
    } else if (json_says(result, "outcome", "saved")) {
        describe_saved(result, out);
    } else {
        buf_addf(out, "Nothing to teach: %s.\n", json_get_string(result, "reason", ""));
    }
}

const struct operation generate_operations[] = {
    {SKILL_GENERATE_OPERATION, .start = generate_start, .describe = generate_describe},
};
const size_t generate_operation_count = ARRAY_LEN(generate_operations);
