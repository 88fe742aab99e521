/* The tested skill: to its place, installed, measured. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/work.h"
#include "skills/catalog/catalog.h"
#include "skills/generation/teacher_tests.h"
#include "skills/install/install_diff.h"
#include "skills/skill_operations.h"
#include "skills/traces/redaction.h"

/* --- installing and evaluating: separate calls --- */

static const struct operation *find_operation(const char *name) {
    for (size_t i = 0; i < skills_operation_count; i++) {
        if (strcmp(skills_operations[i].name, name) == 0) {
            return &skills_operations[i];
        }
    }
    return &evaluation_operations[0];
}

static void on_nested_end(struct call *, void *data) {
    struct generating *g = data;
    g->after_nested(g);
}

static void on_nested_progress(struct call *call, void *data) {
    struct generating *g = data;
    const struct call_progress *p = call_progress(call);
    if (p && p->message) {
        generate_report(g, GENERATE_MEASURING, "%s", p->message);
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

/* What teacher and refinement left of the budget; false: nothing. */
static bool budget_left(const struct generating *g, json_t *ret) {
    const struct model_budget *b = &g->budget;
    uint64_t now = clock_ms();
    if ((b->max_tokens && b->tokens >= b->max_tokens) ||
        (b->max_cost > 0 && b->cost >= b->max_cost) ||
        (g->deadline_ms && now + 600 > g->deadline_ms)) {
        return false;
    }
    json_object_update_new(
        ret,
        json_pack(
            "{s:o*,s:o*,s:o*}", "tokens",
            b->max_tokens ? json_integer((json_int_t)(b->max_tokens - b->tokens)) : NULL,
            "cost", b->max_cost > 0 ? json_real(b->max_cost - b->cost) : NULL, "minutes",
            g->deadline_ms ? json_real((double)(g->deadline_ms - now) / 60000) : NULL));
    return true;
}

static void evaluate(struct generating *g) {
    if (!json_array_size(g->request.students) || g->cancelled) {
        generate_end(g);
        return;
    }
    autojson *budget = json_object();
    if (!budget_left(g, budget)) {
        json_object_set_new(g->result, "evaluation",
                            json_pack("{s:s,s:s}", "error", "the budget is used up",
                                      "hint", "skill/evaluate measures the saved skill"));
        generate_end(g);
        return;
    }
    const json_t *skill = json_object_get(g->result, "skill");
    start_nested(g, "skill/evaluate",
                 json_pack("{s:O,s:O,s:b,s:O*,s:s*}", "path",
                           json_object_get(skill, "path"), "students",
                           g->request.students, "record", 1, "budget",
                           json_object_size(budget) ? budget : NULL, "base_url",
                           g->request.students_url),
                 after_evaluating);
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
    generate_report(g, GENERATE_MEASURING, "installing");
    start_nested(g, "skill/install",
                 json_pack("{s:O,s:O}", "path", json_object_get(skill, "path"), "agents",
                           g->request.install),
                 after_installing);
}

/* --- skill_meta.json --- */

static const char *teacher_of(const struct generating *g) {
    return g->request.teacher == TEACHER_MODEL ? g->request.model.name
                                               : teacher_kind(g->request.teacher);
}

static void set_metadata(json_t *meta, const struct generating *g, const char *now) {
    json_t *metadata = json_object_get(meta, "metadata");
    if (!json_is_object(metadata)) {
        metadata = json_pack("{s:s,s:n,s:n,s:n,s:n,s:n,s:n}", "version", "1.0",
                             "generated_by", "generated_at", "source_task",
                             "test_pass_rate", "license", "compatibility");
        json_object_set_new(meta, "metadata", metadata);
    }
    const char *task = generate_kept_task(g);
    autofree char *by = xasprintf("upskilld %s", teacher_of(g));
    json_object_update_new(metadata,
                           json_pack("{s:o,s:s,s:o}", "generated_by", json_clean_z(by),
                                     "generated_at", now, "source_task",
                                     task ? json_clean_z(task) : json_null()));
}

/* New reference, or NULL. */
static json_t *model_of(const struct generating *g) {
    return g->request.teacher == TEACHER_MODEL ? model_to_json(&g->request.model) : NULL;
}

static void set_provenance(json_t *meta, const struct generating *g, const char *now) {
    json_t *provenance = json_deep_copy(g->material.provenance);
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(g->draft.text, strlen(g->draft.text), hex);
    autofree char *digest = xasprintf("sha256:%s", hex);
    char tests[72];
    skill_tests_digest(g->tests, tests);
    json_object_update_new(provenance,
                           json_pack("{s:s,s:o*,s:s,s:s,s:s,s:O,s:O*}", "teacher",
                                     teacher_kind(g->request.teacher), "model",
                                     model_of(g), "generated", now, "skill_md", digest,
                                     "tests", tests, "evidence", g->draft.evidence,
                                     "refinement", g->refinement));
    json_object_set_new(meta, "provenance", provenance);
}

/* A text that is kept stays its author's, whom no later skill of that name replaces:
 * nothing says that it was generated. */
static void add_to_provenance(json_t *meta, const struct generating *g, const char *now) {
    const json_t *old = json_object_get(meta, "provenance");
    json_t *provenance =
        json_is_object(old) ? json_copy((json_t *)(uintptr_t)old) : json_object();
    json_object_update_new(provenance, json_pack("{s:{s:o,s:s},s:O*}", "tests_added",
                                                 "by", json_clean_z(teacher_of(g)), "at",
                                                 now, "refinement", g->refinement));
    json_object_set_new(meta, "provenance", provenance);
}

static json_t *make_meta(struct generating *g) {
    char now[25];
    clock_iso8601(now);
    json_t *meta =
        g->material.has_base ? skill_meta_read(&g->material.base) : json_object();
    json_object_del(meta, "problems");
    json_object_set(meta, "tests", g->tests);
    if (g->keeps) {
        add_to_provenance(meta, g, now);
    } else {
        set_metadata(meta, g, now);
        set_provenance(meta, g, now);
    }
    return meta;
}

/* --- saving --- */

static json_t *tests_result(const struct generating *g, const char *folder) {
    autofree char *path = xasprintf("%s/skill_meta.json", folder);
    json_t *tests = json_copy(g->tests_report);
    json_object_update_new(tests, json_pack("{s:I,s:o,s:o,s:o}", "count",
                                            (json_int_t)json_array_size(g->tests), "path",
                                            json_clean_z(path), "kinds",
                                            teacher_tests_kinds(g->tests), "splits",
                                            teacher_tests_splits(g->tests)));
    return tests;
}

/* The writer, and its requests and cost. */
static json_t *teacher_result(const struct generating *g) {
    json_t *teacher =
        json_pack("{s:s,s:i}", "kind", teacher_kind(g->request.teacher), "drafts",
                  g->request.teacher == TEACHER_BUILTIN ? 1 : (int)g->round);
    bool priced = g->request.model.price.input >= 0;
    if (g->reviewed) {
        json_object_set_new(teacher, "reviewed",
                            json_boolean(json_array_size(g->review) > 0 && !g->unreviewed));
    }
    if (g->request.teacher == TEACHER_MODEL) {
        json_object_update_new(
            teacher, json_pack("{s:o,s:i,s:i,s:I,s:o}", "model", model_of(g), "requests",
                               (int)g->requests, "cached", (int)g->cached, "tokens",
                               (json_int_t)g->budget.tokens, "cost",
                               priced ? json_real(g->budget.cost) : json_null()));
    }
    return teacher;
}

static void make_result(struct generating *g) {
    autofree char *folder = xasprintf("%s/%s", g->stage.parent, g->stage.name);
    g->result =
        json_pack("{s:s,s:{s:s,s:o},s:O,s:o,s:O,s:O,s:O,s:o,s:O*}", "outcome", "saved",
                  "skill", "name", g->stage.name, "path", json_clean_z(folder), "check",
                  g->check, "tests", tests_result(g, folder), "lessons", g->draft.counts,
                  "provenance", g->material.provenance, "evidence", g->draft.evidence,
                  "teacher", teacher_result(g), "refinement", g->refinement);
    autofree char *diff =
        g->material.has_base
            ? install_text_diff("SKILL.md", g->material.base.text.text, g->draft.text)
            : NULL;
    if (diff) {
        autobuf clean = BUF_INIT(2 * SKILL_MAX_TEXT);
        redaction_apply(g->material.redaction, &clean, diff, strlen(diff));
        json_object_set_new(g->result, "diff", json_clean(clean.data, clean.len));
    }
    if (json_object_get(g->check, "path")) {
        json_object_set_new(g->check, "path", json_clean_z(folder));
    }
}

static void save(struct generating *g) {
    autojson *meta = make_meta(g);
    autofree char *text = json_shown(meta, JSON_INDENT(2));
    int rc = skill_stage_write_file(&g->stage, "skill_meta.json", text, &g->err);
    rc = rc < 0 ? rc : generate_may_replace(g);
    if (rc == 0 && !work_is_stopped() && skill_stage_commit(&g->stage, &g->err) == 0) {
        make_result(g);
    }
}

/* The index knows the saved skill by now, and what its name meant before. */
static void tell_hidden(struct catalog *c, int status, void *data) {
    struct generating *g = data;
    const char *path = json_get_string(json_object_get(g->result, "skill"), "path", "");
    autojson *about = status == 0 ? catalog_source(c, path) : NULL;
    json_t *hides = json_object_get(about, "hides");
    if (hides) {
        json_object_set(g->result, "hides", hides);
    }
    install(g);
}

static void after_saving(struct generating *g) {
    struct skills *skills = skills_of(call_origin(g->call));
    if (generate_lost_place(g)) {
        generate_forgive(g);
        generate_stage_again(g, generate_save);
    } else if (!g->result) {
        generate_end(g);
    } else if (skills) {
        catalog_when_current(skills_catalog(skills), tell_hidden, g);
    } else {
        install(g);
    }
}

void generate_save(struct generating *g) {
    if (generate_is_over(g)) {
        generate_end(g);
        return;
    }
    generate_report(g, GENERATE_SAVING, "saving with %zu tests",
                    json_array_size(g->tests));
    generate_on_thread(g, save, after_saving);
}
