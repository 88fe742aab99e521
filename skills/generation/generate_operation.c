/* skill/generate: its start, and its entry in the table. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/mem.h"
#include "skills/check/skill_check.h"
#include "skills/generation/generation.h"
#include "skills/refinement/refinement_record.h"
#include "skills/skill_operations.h"

#include <string.h>

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
        skills_when_current(call, go);
    }
}

/* --- the table --- */

static void describe_install(const json_t *install, struct buf *out) {
    size_t i;
    const json_t *one;
    json_array_foreach(install, i, one) {
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
    if (json_object_size(counts)) {
        buf_addf(
            out,
            "It tells %d fixes, %d corrections, %d commands, %d files, %d dead ends.\n",
            (int)json_get_integer(counts, "fixes", 0),
            (int)json_get_integer(counts, "corrections", 0),
            (int)json_get_integer(counts, "commands", 0),
            (int)json_get_integer(counts, "files", 0),
            (int)json_get_integer(counts, "dead_ends", 0));
    }
    buf_addf(
        out,
        "%d tests (%d wanted, %d left out as too easy)%s%s; check: %s, %d findings.\n",
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
    } else if (strcmp(json_get_string(result, "outcome", ""), "saved") == 0) {
        describe_saved(result, out);
    } else {
        buf_addf(out, "Nothing to teach: %s.\n", json_get_string(result, "reason", ""));
    }
}

// clang-format off
#define GIVEN(what) \
    "{\"type\":\"array\",\"maxItems\":" what ",\"items\":{\"type\":[\"string\",\"object\"],\"minLength\":1,\"maxLength\":4096," \
    "\"properties\":{\"name\":{\"type\":\"string\",\"maxLength\":200},\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}"

const struct operation generate_operations[] = {
    {
        .name = "skill/generate",
        .tool = "skill_generate",
        .title = "Generate a skill",
        .summary = "A task, examples, documents, agent traces or an older skill in; a checked, tested, saved skill out.",
        .tool_help =
            "Make a skill (SKILL.md with tests) from agent traces, a task, examples, documents or an older skill, check "
            "it and save it. teacher builtin distils traces without a model: errors and the fixes that worked, commands, "
            "corrections, files. teacher host: you get a work_order, write the SKILL.md yourself and call again with "
            "{job, draft, tests}. teacher model, or a model's name: that model writes skill and tests. Traces with "
            "nothing to learn give outcome nothing_to_teach.",
        .params_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
            "\"task\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536,\"description\":\"What the skill is for.\"},"
            "\"examples\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536},"
            "\"description\":\"Texts that show what is wanted.\"},"
            "\"documents\":" GIVEN("32") ",\"description\":\"Files beneath the roots, links (https), or {name, text}: what the "
            "skill is made from; the builtin teacher keeps them as references.\"},"
            "\"traces\":" GIVEN("64") ",\"description\":\"Files of agent sessions (beneath the roots or in the agents' own "
            "session folders), or {name, text}.\"},"
            "\"skill\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"A skill to improve: its name or "
            "folder. Alone its text stays: a model as teacher writes the tests it lacks, refine edits it.\"},"
            "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64,\"description\":\"The skill's name; by default "
            "the teacher chooses one.\"},"
            "\"teacher\":{\"type\":[\"string\",\"object\"],\"minLength\":1,\"maxLength\":500,\"description\":\"builtin: no "
            "model; host: the calling agent writes the draft; model: the configured one; or a model: anthropic.…, openai.…, "
            "generic.NAME, an alias, or {api, base_url, model, …}. By default the configuration's teacher, the first of its "
            "models, host where the caller is a model, builtin.\"},"
            "\"students\":{\"type\":\"array\",\"maxItems\":16,\"items\":{\"type\":[\"string\",\"object\"],\"minLength\":1,"
            "\"maxLength\":500},\"description\":\"Measure the saved skill on these models, as skill/evaluate does.\"},"
            "\"output\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"The skill's folder; or an "
            "existing folder without SKILL.md: the skill is saved beneath it. By default skills/NAME in the workspace.\"},"
            "\"install\":{\"type\":\"array\",\"maxItems\":64,\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"minLength\":1,"
            "\"maxLength\":64},\"description\":\"Agents to install it for, in the project.\"},"
            "\"tests\":{\"type\":[\"integer\",\"array\"],\"minimum\":0,\"maximum\":200,\"maxItems\":200,\"items\":{\"type\":\"object\"},"
            "\"default\":24,\"description\":\"So many at most; with job: the host's tests.\"},"
            "\"refine\":{\"type\":[\"boolean\",\"integer\",\"object\"],\"minimum\":0,\"maximum\":20,\"additionalProperties\":false,"
            "\"properties\":{\"rounds\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":20},\"runs\":{\"type\":\"integer\","
            "\"minimum\":1,\"maximum\":10},\"teacher\":{\"type\":[\"string\",\"object\"],\"minLength\":1,\"maxLength\":500}},"
            "\"description\":\"Rounds of small edits on the students' failures (true: 4), before it is saved; or {rounds, runs: answers "
            "per test and look at the gate, teacher: who edits, when it is not the teacher}.\"},"
            "\"budget\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"tokens\":{\"type\":\"integer\","
            "\"minimum\":1},\"cost\":{\"type\":\"number\",\"minimum\":0},\"minutes\":{\"type\":\"number\",\"minimum\":0.01,"
            "\"maximum\":10000}},\"description\":\"Of teacher, students and judge together.\"},"
            "\"job\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\",\"description\":\"A job that waits for a draft.\"},"
            "\"draft\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The whole SKILL.md, for that job.\"}}}",
        .tool_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
            "\"task\":{\"type\":\"string\"},"
            "\"traces\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Session files.\"},"
            "\"documents\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"examples\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"skill\":{\"type\":\"string\",\"description\":\"One to improve; alone it only gets tests.\"},"
            "\"name\":{\"type\":\"string\"},"
            "\"teacher\":{\"type\":\"string\",\"description\":\"builtin, host, model or a model's name\"},"
            "\"students\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"refine\":{\"type\":\"integer\",\"description\":\"Rounds of edits on the students' failures.\"},"
            "\"output\":{\"type\":\"string\"},"
            "\"install\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Agents.\"},"
            "\"tests\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"array\",\"items\":{\"type\":\"object\"}}],\"default\":24,\"description\":\"How many; with job: yours\"},"
            "\"job\":{\"type\":\"string\"},\"draft\":{\"type\":\"string\",\"description\":\"SKILL.md, with job.\"}},"
            "\"examples\":[{\"traces\":[\"session.jsonl\"],\"teacher\":\"builtin\"}]}",
        .result_schema = "{\"type\":\"object\",\"properties\":{"
            "\"outcome\":{\"enum\":[\"saved\",\"nothing_to_teach\"]},\"reason\":{\"type\":\"string\"},"
            "\"skill\":{\"type\":\"object\",\"required\":[\"name\",\"path\"]},"
            "\"refinement\":{\"type\":\"object\",\"description\":\"What the rounds did; see refine.\"},"
            "\"check\":{\"type\":\"object\"},"
            "\"diff\":{\"type\":\"string\",\"description\":\"What changed in an improved skill's SKILL.md.\"},"
            "\"tests\":{\"type\":\"object\",\"required\":[\"count\",\"path\"],\"properties\":{\"count\":{\"type\":\"integer\"},"
            "\"path\":{\"type\":\"string\"},\"wanted\":{\"type\":\"integer\"},\"marked\":{\"type\":\"integer\",\"description\":"
            "\"left out: an answer that deserves nothing passed\"},\"kinds\":{\"type\":\"object\"},\"splits\":{\"type\":"
            "\"object\"},\"reason\":{\"type\":\"string\",\"description\":\"for fewer than wanted\"}}},"
            "\"teacher\":{\"type\":\"object\",\"description\":\"kind, model, drafts, requests, cached, tokens, cost\"},"
            "\"lessons\":{\"type\":\"object\",\"description\":\"How many of each kind the skill tells.\"},"
            "\"evaluation\":{\"type\":\"object\"},\"install\":{},"
            "\"provenance\":{\"type\":\"object\"},"
            "\"evidence\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"line\",\"event\"]}},"
            "\"job\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},\"work_order\":{\"type\":\"object\"}}}",
        .example = "{\"traces\":[\"session.jsonl\"],\"teacher\":\"builtin\",\"output\":\"skills/wgmma-build\",\"install\":"
            "[\"claude-code\"]}",
        .flags = OPERATION_LONG | OPERATION_OPEN_WORLD,
        .start = generate_start,
        .describe = generate_describe,
    },
};
// clang-format on
const size_t generate_operation_count = ARRAY_LEN(generate_operations);
