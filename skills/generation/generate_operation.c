/* skill/generate: the flow. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/mem.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/evaluation/grade.h"
#include "skills/generation/generation.h"
#include "skills/skill_check.h"
#include "skills/skill_operations.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define STEPS 6

/* --- the end --- */

static void free_generating(struct generating *g) {
    generate_request_finish(&g->request);
    material_finish(&g->material);
    skill_draft_finish(&g->draft);
    suite_finish(&g->candidates);
    json_decref(g->aside);
    json_decref(g->check);
    json_decref(g->result);
    json_decref(g->tests);
    json_decref(g->refused);
    free(g);
}

static void fail(struct generating *g) {
    const json_t *first = json_array_get(g->refused, 0);
    if (first) {
        call_fail(g->call, CALL_REFUSED, "check_failed",
                  "nothing was saved; skill/check explains the rule",
                  "the skill would not pass its check: %s (%s, line %d)",
                  json_get_string(first, "message", ""),
                  json_get_string(first, "code", ""),
                  (int)json_get_integer(first, "line", 0));
    } else if (g->err.code == -EEXIST) {
        call_fail(g->call, CALL_REFUSED, "exists", "nothing was changed", "%s",
                  g->err.msg);
    } else if (g->err.code == -EINVAL || g->err.code == -EFBIG) {
        call_fail(g->call, CALL_BAD_PARAMS, "unusable", "nothing was saved", "%s",
                  g->err.msg);
    } else {
        call_fail(g->call, CALL_UNAVAILABLE, "not_saved", "nothing was saved", "%s",
                  g->err.msg);
    }
}

static json_t *nothing_result(const struct generating *g) {
    return json_pack("{s:s,s:s,s:O}", "outcome", "nothing_to_teach", "reason", g->nothing,
                     "provenance", g->material.provenance);
}

static void after_clean_up(struct generating *g) {
    struct call *call = g->call;
    if (g->cancelled && !g->result) {
        call_stopped(call);
    } else if (g->result) {
        call_reply(call, take(g->result));
    } else if (g->nothing) {
        call_reply(call, nothing_result(g));
    } else {
        fail(g);
    }
    free_generating(g);
    call_unref(call);
}

static void clean_up(struct generating *g) {
    skill_stage_discard(&g->stage);
}

void generate_end(struct generating *g) {
    if (g->stage.stage) {
        generate_on_thread(g, clean_up, after_clean_up);
    } else {
        after_clean_up(g);
    }
}

/* --- threads --- */

static void work(uv_work_t *req) {
    struct generating *g = container_of(req, struct generating, work);
    g->job(g);
}

static void after_work(uv_work_t *req, int status) {
    (void)status;
    struct generating *g = container_of(req, struct generating, work);
    g->next(g);
}

void generate_on_thread(struct generating *g, generate_step *job, generate_step *next) {
    g->job = job;
    g->next = next;
    uv_queue_work(call_origin(g->call)->loop, &g->work, work, after_work);
}

static bool is_over(struct generating *g) {
    return g->cancelled || g->err.code != 0 || g->nothing != NULL;
}

/* --- installing and evaluating: calls of their own --- */

static const struct operation *find_operation(const char *name) {
    for (size_t i = 0; i < skills_operation_count; i++) {
        if (strcmp(skills_operations[i].name, name) == 0) {
            return &skills_operations[i];
        }
    }
    return &evaluation_operations[0];
}

static void on_nested_end(struct call *call, void *data) {
    (void)call;
    struct generating *g = data;
    g->after_nested(g);
}

static void on_nested_progress(struct call *call, void *data) {
    struct generating *g = data;
    const struct call_progress *p = call_progress(call);
    if (p && p->message) {
        call_report(g->call, STEPS - 1, STEPS, "%s", p->message);
    }
}

static void start_nested(struct generating *g, const char *operation, json_t *params,
                         generate_step *after) {
    g->after_nested = after;
    g->nested = call_start(find_operation(operation), params, call_origin(g->call));
    g->view = (struct call_view){
        .progress = on_nested_progress, .end = on_nested_end, .data = g};
    call_attach(g->nested, &g->view);
}

/* The nested call's result, or why there is none. */
static json_t *nested_result(struct generating *g) {
    const struct call_failure *f = call_failure(g->nested);
    const json_t *result = call_result(g->nested);
    json_t *answer = result
                         ? json_deep_copy(result)
                         : json_pack("{s:o,s:o}", "error",
                                     json_clean_z(f ? f->message : "it was stopped"),
                                     "hint", json_clean_z(f && f->hint ? f->hint : ""));
    call_unref(take(g->nested));
    return answer;
}

static void after_evaluating(struct generating *g) {
    json_object_set_new(g->result, "evaluation", nested_result(g));
    generate_end(g);
}

static void evaluate(struct generating *g) {
    if (!json_array_size(g->request.students) || g->cancelled) {
        generate_end(g);
        return;
    }
    const json_t *skill = json_object_get(g->result, "skill");
    json_t *params = json_pack("{s:O,s:O,s:b}", "path", json_object_get(skill, "path"),
                               "students", g->request.students, "record", 1);
    if (g->request.budget) {
        json_object_set(params, "budget", (json_t *)(uintptr_t)g->request.budget);
    }
    start_nested(g, "skill/evaluate", params, after_evaluating);
}

static void after_installing(struct generating *g) {
    json_t *result = nested_result(g);
    const json_t *list = json_object_get(result, "results");
    json_object_set(g->result, "install", list ? (json_t *)(uintptr_t)list : result);
    json_decref(result);
    evaluate(g);
}

static void install(struct generating *g) {
    if (!json_array_size(g->request.install) || g->cancelled) {
        evaluate(g);
        return;
    }
    const json_t *skill = json_object_get(g->result, "skill");
    call_report(g->call, STEPS - 1, STEPS, "installing");
    start_nested(g, "skill/install",
                 json_pack("{s:O,s:O}", "path", json_object_get(skill, "path"), "agents",
                           g->request.install),
                 after_installing);
}

/* --- saving --- */

static json_t *tests_result(const struct generating *g, const char *folder) {
    autofree char *path = xasprintf("%s/skill_meta.json", folder);
    json_t *tests =
        json_pack("{s:I,s:o,s:I,s:I}", "count", (json_int_t)json_array_size(g->tests),
                  "path", json_clean_z(path), "wanted", (json_int_t)g->wanted, "marked",
                  (json_int_t)g->marked);
    return tests;
}

static void make_result(struct generating *g) {
    autofree char *folder = xasprintf("%s/%s", g->stage.parent, g->stage.name);
    g->result =
        json_pack("{s:s,s:{s:s,s:o},s:O,s:o,s:O,s:O,s:O}", "outcome", "saved", "skill",
                  "name", g->stage.name, "path", json_clean_z(folder), "check", g->check,
                  "tests", tests_result(g, folder), "lessons", g->draft.counts,
                  "provenance", g->material.provenance, "evidence", g->draft.evidence);
    if (json_object_get(g->check, "path")) {
        json_object_set_new(g->check, "path", json_clean_z(folder));
    }
}

static void save(struct generating *g) {
    autojson *meta = generate_meta(g);
    autofree char *text = json_dumps(meta, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    int rc = skill_stage_write_file(&g->stage, "skill_meta.json", text, &g->err);
    rc = rc < 0 ? rc
                : skill_stage_may_replace(&g->stage,
                                          g->material.has_base ? &g->material.base : NULL,
                                          &g->err);
    if (rc == 0 && !g->cancelled && skill_stage_commit(&g->stage, &g->err) == 0) {
        make_result(g);
    }
}

static void after_saving(struct generating *g) {
    if (g->result) {
        install(g);
    } else {
        generate_end(g);
    }
}

/* --- testing --- */

static void on_quality(struct quality *q, json_t *marks, void *data) {
    (void)q;
    struct generating *g = data;
    g->quality = NULL;
    if (is_over(g)) {
        json_decref(marks);
        generate_end(g);
        return;
    }
    generate_choose_tests(g, marks);
    call_report(g->call, 4, STEPS, "saving with %zu tests", json_array_size(g->tests));
    generate_on_thread(g, save, after_saving);
}

static void start_quality(struct generating *g) {
    if (is_over(g)) {
        generate_end(g);
        return;
    }
    struct grade_room room = {.loop = call_origin(g->call)->loop,
                              .origin = call_origin(g->call)};
    if (g->candidates.count == 0) {
        on_quality(NULL, json_array(), g);
        return;
    }
    g->quality = quality_start(&room, &g->candidates, g->draft.text,
                               strlen(g->draft.text), on_quality, g);
}

/* --- checking --- */

static void write_builtin(struct generating *g) {
    struct material *m = &g->material;
    const struct builtin_request q = {
        .lessons = &m->lessons,
        .name = g->request.folder_name ? g->request.folder_name : g->request.name,
        .task = m->task,
        .examples = m->examples,
        .documents = m->documents,
        .base = m->has_base ? &m->base.text : NULL,
        .aside = g->aside,
    };
    skill_draft_finish(&g->draft);
    builtin_write(&g->draft, &q);
}

static void stage_draft(struct generating *g) {
    const struct skill *base = g->material.has_base ? &g->material.base : NULL;
    skill_stage_discard(&g->stage);
    int rc = skill_stage_open(&g->stage, g->request.parent, g->draft.name, base, &g->err);
    rc = rc < 0 ? rc : skill_stage_may_replace(&g->stage, base, &g->err);
    if (rc == 0) {
        (void)skill_stage_write(&g->stage, &g->draft, &g->err);
    }
}

static void write_and_stage(struct generating *g) {
    write_builtin(g);
    stage_draft(g);
}

static json_t *errors_of(const json_t *check) {
    json_t *errors = json_array(), *finding;
    size_t i;
    json_array_foreach(json_object_get(check, "findings"), i, finding) {
        if (strcmp(json_get_string(finding, "severity", ""), "error") == 0) {
            json_array_append(errors, finding);
        }
    }
    return errors;
}

/* CUDA files that do not compile alone leave the body. */
static void put_kernels_aside(struct generating *g) {
    g->aside = g->aside ? g->aside : json_object();
    for (size_t i = 0; i < g->material.lessons.file_count; i++) {
        const char *path = g->material.lessons.files[i].path;
        const char *dot = strrchr(path, '.');
        if (dot && (strncmp(dot, ".c", 2) == 0 || strncmp(dot, ".h", 2) == 0)) {
            json_object_set_new(g->aside, path, json_true());
        }
    }
}

static void after_staging(struct generating *g);

/* The findings in words, for the agent that mends its draft. */
static void ask_again(struct generating *g, const json_t *errors) {
    autobuf text = BUF_INIT(4096);
    size_t i;
    const json_t *finding;
    json_array_foreach(errors, i, finding) {
        if (i < 12) {
            buf_addf(&text, "%sline %d: %s (%s)", i ? "; " : "",
                     (int)json_get_integer(finding, "line", 0),
                     json_get_string(finding, "message", ""),
                     json_get_string(finding, "code", ""));
        }
    }
    skill_draft_finish(&g->draft);
    generate_ask_host(g, text.data);
}

static void judge_check(struct generating *g) {
    autojson *errors = errors_of(g->check);
    if (!json_array_size(errors)) {
        call_report(g->call, 3, STEPS, "making tests");
        generate_on_thread(g, generate_make_tests, start_quality);
    } else if (g->request.teacher == TEACHER_HOST && g->round < GENERATE_ROUNDS) {
        ask_again(g, errors);
    } else if (g->request.teacher == TEACHER_BUILTIN && !g->aside) {
        put_kernels_aside(g);
        generate_on_thread(g, write_and_stage, after_staging);
    } else {
        g->refused = take(errors);
        generate_end(g);
    }
}

static void on_checked(struct skill_check *check, json_t *result, void *data) {
    (void)check;
    struct generating *g = data;
    g->checking = NULL;
    json_decref(g->check);
    g->check = result;
    if (g->cancelled || !result) {
        g->cancelled = true;
        generate_end(g);
        return;
    }
    judge_check(g);
}

static void after_staging(struct generating *g) {
    if (is_over(g)) {
        generate_end(g);
        return;
    }
    call_report(g->call, 2, STEPS, "checking");
    g->checking = skill_check_start(call_origin(g->call), g->stage.folder, NULL, NULL, 0,
                                    SKILL_CHECK_STRICT, NULL, on_checked, g);
}

void generate_use_draft(struct generating *g) {
    generate_on_thread(g, stage_draft, after_staging);
}

/* --- reading --- */

static bool has_more(const struct generating *g) {
    return g->request.document_count || json_array_size(g->request.examples);
}

static void read_all(struct generating *g) {
    if (material_read(&g->material, &g->request, &g->cancelled, &g->err) < 0 ||
        g->cancelled || g->request.teacher == TEACHER_HOST) {
        return;
    }
    if (!has_more(g) && g->material.lessons.nothing) {
        g->nothing =
            g->request.trace_count
                ? "the traces hold no failure that was fixed, no correction, no recipe "
                  "and "
                  "no file"
                : "the builtin teacher distils traces and folds documents in; for a task "
                  "alone say teacher host";
        return;
    }
    write_and_stage(g);
}

static void after_reading(struct generating *g) {
    if (is_over(g)) {
        generate_end(g);
    } else if (g->request.teacher == TEACHER_HOST) {
        generate_ask_host(g, NULL);
    } else {
        after_staging(g);
    }
}

/* --- the start --- */

static void on_cancel(struct call *call, void *data) {
    struct generating *g = data;
    bool waits = call_state(call) == CALL_INPUT_REQUIRED;
    g->cancelled = true;
    if (waits) {
        generate_forget_host(g);
        generate_end(g);
    } else if (g->checking) {
        skill_check_cancel(g->checking);
    } else if (g->quality) {
        quality_cancel(g->quality);
    } else if (g->nested) {
        call_cancel(g->nested);
    }
}

static void go(struct skills *s, struct call *call, const json_t *params) {
    struct generating *g = xcalloc(1, sizeof *g);
    if (generate_request_read(&g->request, s, call, params) < 0) {
        free_generating(g);
        return;
    }
    g->call = call_ref(call);
    call_on_cancel(call, on_cancel, g);
    call_report(call, 0, STEPS, "reading");
    generate_on_thread(g, read_all, after_reading);
}

static void generate_start(struct call *call, const json_t *params) {
    bool job = json_object_get(params, "job"), draft = json_object_get(params, "draft");
    if (job != draft) {
        call_fail_param(call, job ? "/draft" : "/job", "job and draft belong together");
    } else if (job) {
        generate_give_draft(call, params);
    } else {
        skills_when_current(call, go);
    }
}

/* --- the table --- */

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
    buf_addf(out,
             "%d tests (%d wanted, %d left out as too easy); check: %s, %d findings.\n",
             (int)json_get_integer(tests, "count", 0),
             (int)json_get_integer(tests, "wanted", 0),
             (int)json_get_integer(tests, "marked", 0),
             json_get_bool(check, "ok", 0) ? "passed" : "failed",
             (int)json_array_size(json_object_get(check, "findings")));
    const json_t *evaluation = json_object_get(result, "evaluation");
    if (evaluation) {
        buf_addf(out, "Evaluation: %s\n",
                 json_get_string(evaluation, "sentence",
                                 json_get_string(evaluation, "error", "")));
    }
}

static void generate_describe(const json_t *result, struct buf *out) {
    const char *state = json_get_string(result, "state", NULL);
    if (state) {
        buf_addf(out, "%s\n",
                 json_get_string(json_object_get(result, "work_order"), "instructions",
                                 state));
        buf_addf(out, "Reply again with job %s and the draft.\n",
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
            "{job, draft}. Traces with nothing to learn give outcome nothing_to_teach.",
        .params_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
            "\"task\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536,\"description\":\"What the skill is for.\"},"
            "\"examples\":{\"type\":\"array\",\"maxItems\":64,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":65536},"
            "\"description\":\"Texts that show what is wanted.\"},"
            "\"documents\":" GIVEN("32") ",\"description\":\"Files beneath the roots, or {name, text}: kept as references.\"},"
            "\"traces\":" GIVEN("64") ",\"description\":\"Files of agent sessions (beneath the roots or in the agents' own "
            "session folders), or {name, text}.\"},"
            "\"skill\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"A skill to improve: its name or "
            "folder.\"},"
            "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64},"
            "\"teacher\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500,\"default\":\"builtin\",\"description\":\"builtin: no "
            "model; host: the calling agent writes the draft.\"},"
            "\"students\":{\"type\":\"array\",\"maxItems\":16,\"items\":{\"type\":[\"string\",\"object\"],\"minLength\":1,"
            "\"maxLength\":500},\"description\":\"Measure the saved skill on these models, as skill/evaluate does.\"},"
            "\"output\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":4096,\"description\":\"The skill's folder; or an "
            "existing folder without SKILL.md: the skill is saved beneath it. By default skills/NAME in the workspace.\"},"
            "\"install\":{\"type\":\"array\",\"maxItems\":64,\"uniqueItems\":true,\"items\":{\"type\":\"string\",\"minLength\":1,"
            "\"maxLength\":64},\"description\":\"Agents to install it for, in the project.\"},"
            "\"tests\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":200,\"default\":24,\"description\":\"So many at most.\"},"
            "\"refine\":{\"type\":[\"boolean\",\"integer\",\"object\"],\"description\":\"Not available in this version.\"},"
            "\"budget\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"tokens\":{\"type\":\"integer\","
            "\"minimum\":1},\"cost\":{\"type\":\"number\",\"minimum\":0},\"minutes\":{\"type\":\"number\",\"minimum\":0.01,"
            "\"maximum\":10000}},\"description\":\"Of the students.\"},"
            "\"job\":{\"type\":\"string\",\"pattern\":\"^[0-9a-f]{32}$\",\"description\":\"A job that waits for a draft.\"},"
            "\"draft\":{\"type\":\"string\",\"minLength\":1,\"description\":\"The whole SKILL.md, for that job.\"}}}",
        .tool_schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
            "\"task\":{\"type\":\"string\"},"
            "\"traces\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Session files.\"},"
            "\"documents\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"examples\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"skill\":{\"type\":\"string\",\"description\":\"One to improve.\"},"
            "\"name\":{\"type\":\"string\"},"
            "\"teacher\":{\"enum\":[\"builtin\",\"host\"],\"default\":\"builtin\"},"
            "\"students\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"output\":{\"type\":\"string\"},"
            "\"install\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Agents.\"},"
            "\"tests\":{\"type\":\"integer\",\"default\":24},"
            "\"job\":{\"type\":\"string\"},\"draft\":{\"type\":\"string\",\"description\":\"SKILL.md, with job.\"}},"
            "\"examples\":[{\"traces\":[\"session.jsonl\"],\"teacher\":\"builtin\"}]}",
        .result_schema = "{\"type\":\"object\",\"properties\":{"
            "\"outcome\":{\"enum\":[\"saved\",\"nothing_to_teach\"]},\"reason\":{\"type\":\"string\"},"
            "\"skill\":{\"type\":\"object\",\"required\":[\"name\",\"path\"]},"
            "\"check\":{\"type\":\"object\"},"
            "\"tests\":{\"type\":\"object\",\"required\":[\"count\",\"path\"],\"properties\":{\"count\":{\"type\":\"integer\"},"
            "\"path\":{\"type\":\"string\"},\"wanted\":{\"type\":\"integer\"},\"marked\":{\"type\":\"integer\",\"description\":"
            "\"left out: an answer that deserves nothing passed\"}}},"
            "\"lessons\":{\"type\":\"object\",\"description\":\"How many of each kind the skill tells.\"},"
            "\"evaluation\":{\"type\":\"object\"},\"install\":{},"
            "\"provenance\":{\"type\":\"object\"},"
            "\"evidence\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"line\",\"event\"]}},"
            "\"job\":{\"type\":\"string\"},\"state\":{\"type\":\"string\"},\"work_order\":{\"type\":\"object\"}}}",
        .example = "{\"traces\":[\"session.jsonl\"],\"teacher\":\"builtin\",\"output\":\"skills/wgmma-build\",\"install\":"
            "[\"claude-code\"]}",
        .flags = OPERATION_LONG,
        .start = generate_start,
        .describe = generate_describe,
    },
};
// clang-format on
const size_t generate_operation_count = ARRAY_LEN(generate_operations);
