/* skill/generate: its start, and its entry in the table. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/words.h"
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
    if (given && !job) {
        call_fail_param(call, draft ? "/job" : "/tests",
                        draft ? "job and draft belong together"
                              : "a list of tests belongs to a job; say how many are wanted");
    } else if (job) {
        generate_give_draft(call, params);
    } else {
        skills_when_current(call, go_named);
    }
}

/* --- the table --- */

#define COUNT(member, one, more)                                                        \
    "{" member "|0} " one "[{!" member "=1}" more "]"

static const char saved_words[] =
    "Saved {skill.name|} in {skill.path|}.\n" SKILL_NAME_WORDS("")
    "[{?lessons}It has " COUNT("lessons.fixes", "fix", "es") ", " COUNT(
        "lessons.corrections", "correction", "s") ", " COUNT("lessons.commands", "command",
                                                              "s") ", "
    COUNT("lessons.files", "file", "s") ".\n]"
    COUNT("tests.count", "test", "s") "[{?tests.wanted>tests.count} of at most "
    "{tests.wanted}[{?tests.marked}, {tests.marked} left out as too easy]]"
    "[: {tests.reason}]; check: [{?check.ok}passed|failed], [{check.findings-0}|0] "
    "finding[{!check.findings=1}s].\n";

static const char traces_words[] =
    "{provenance.traces:[{?truncated}{name|} is cut off: it ends within a record.\n]"
    "[{?broken}{broken|0} record[{!broken=1}s] of {name|} could not be read.\n]"
    "[{?left_out}{left_out.records|0} records of {left_out.format|} in {name|} were left "
    "out: give that session in a file of its own.\n]}";

static const char done_words[] =
    "[Not installed: {install.error}\n"
    "|{install:{agent|}: {outcome|} {path|}[: {reason}]\n}]"
    "[{?diff=*}What changed:\n{diff|}]"
    "[{?evaluation}Evaluation: {evaluation.sentence}[; {evaluation.hint}]\n"
    "|{?evaluation}Evaluation: {evaluation.error|}[; {evaluation.hint}]\n]";

static void describe_saved(const json_t *result, struct buf *out) {
    words_add(out, saved_words, result);
    refinement_describe(json_object_get(result, "refinement"), out);
    words_add(out, traces_words, result);
    words_add(out, done_words, result);
}

static void generate_describe(const json_t *result, struct buf *out) {
    if (json_says(result, "outcome", "saved") && !json_object_get(result, "state")) {
        describe_saved(result, out);
        return;
    }
    words_add(
        out,
        "[{?state=*}[{work_order.instructions}|{state|}]\nFormat: {work_order.format|}\n"
        "[{?work_order.tests=*}Tests, if you give any: {work_order.tests|}\n]"
        "Reply again with job {job|}[{?work_order.next_part} alone for part {work_order.next_part}| and the draft or tests].\n"
        "|Nothing to teach: {reason|}.\n]",
        result);
    words_add(out, traces_words, result);
}

const struct operation generate_operations[] = {
    {SKILL_GENERATE_OPERATION, .start = generate_start, .describe = generate_describe},
};
const size_t generate_operation_count = ARRAY_LEN(generate_operations);
