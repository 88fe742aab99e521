/* skill/generate: the flow, from reading to checking; and how it ends. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/find.h"
#include "base/text.h"
#include "base/work.h"
#include "skills/check/skill_check.h"
#include "skills/generation/draft_text.h"
#include "skills/traces/redaction.h"

/* --- the end --- */

static void free_generating(struct generating *g) {
    generate_forget_host(g);
    generate_request_finish(&g->request);
    material_finish(&g->material);
    skill_draft_finish(&g->draft);
    json_decref(g->told);
    json_decref(g->aside);
    json_decref(g->check);
    json_decref(g->base_check);
    json_decref(g->result);
    json_decref(g->tests);
    json_decref(g->refused);
    json_decref(g->refinement);
    json_decref(g->tests_report);
    generate_test_free(g);
    json_decref(g->given_tests);
    free(g->answer);
    free(g->first);
    free(g->kept_draft);
    free(g->question);
    json_decref(g->review);
    json_decref(g->unshown);
    free(g->remarks);
    free(g->said);
    free(g->reason);
    free(g->hint);
    if (g->room) {
        evaluation_room_leave(g->room, &g->guest);
    }
    free(g);
}

/* What to do, with the place of the draft that could not be saved. */
static char *hint_of(const struct generating *g, const char *hint) {
    return !g->kept_draft
               ? (hint ? xstrdup(hint) : NULL)
               : xasprintf("%s%sthe last draft is kept in %s", hint ? hint : "",
                           hint ? "; " : "", g->kept_draft);
}

static void fail_check(struct generating *g) {
    autofree char *hint = hint_of(g, "nothing was saved; skill/check explains the rule");
    autobuf text = BUF_INIT(4096);
    json_each(g->refused, i, finding) {
        if (i < 3) {
            generate_add_finding(&text, i, finding);
        }
    }
    call_fail(g->call, CALL_REFUSED, "check_failed", hint,
              "the skill would not pass its check%s: %s",
              g->round > 1 ? ", even after corrections" : "", text.data);
}

static const struct {
    int code; /* 0: any other */
    enum call_fault fault;
    const char *reason, *hint;
} failures[] = {
    {-EEXIST, CALL_REFUSED, "exists", "nothing was changed"},
    {-ENOTUNIQ, CALL_REFUSED, "exists", "nothing was changed"},
    {-EKEYREJECTED, CALL_REFUSED, "secret",
     "nothing was saved; remove the secret from the skill's material"},
    {-EINVAL, CALL_BAD_PARAMS, "unusable", "nothing was saved"},
    {-EFBIG, CALL_BAD_PARAMS, "unusable", "nothing was saved"},
    {0, CALL_UNAVAILABLE, "not_saved", "nothing was saved"},
};

static void fail(struct generating *g) {
    if (json_array_size(g->refused)) {
        fail_check(g);
    } else if (g->reason) {
        autofree char *hint = hint_of(g, g->hint);
        call_fail(g->call, g->fault, g->reason, hint, "%s", g->err.msg);
    } else {
        size_t i = 0;
        while (failures[i].code && failures[i].code != g->err.code) {
            i++;
        }
        autofree char *hint = hint_of(g, failures[i].hint);
        call_fail(g->call, failures[i].fault, failures[i].reason, hint, "%s", g->err.msg);
    }
}

int generate_fail(struct generating *g, enum call_fault fault, const char *reason,
                  const char *hint, const char *fmt, ...) {
    char text[sizeof g->err.msg];
    if (g->err.code) {
        return -1;
    }
    text_format(text, fmt);
    err_set(&g->err, -EIO, "%s", text);
    g->fault = fault;
    g->reason = xstrdup(reason);
    g->hint = hint ? xstrdup(hint) : NULL;
    return -1;
}

void generate_forgive(struct generating *g) {
    g->err = (struct err){0};
    free(take(g->reason));
    free(take(g->hint));
}

/* A file that is not a session was read as text, which is rarely intended. */
static char *reason_of(const struct generating *g) {
    json_each(json_object_get(g->material.provenance, "traces"), i, trace) {
        if (json_says(trace, "format", "text")) {
            autofree char *formats = trace_formats();
            return xasprintf(
                "%s is not a session in a known format (%s); read as text, %s",
                json_get_string(trace, "name", ""), formats, g->nothing);
        }
    }
    return xstrdup(g->nothing);
}

static json_t *nothing_result(const struct generating *g) {
    autofree char *reason = reason_of(g);
    return json_pack("{s:s,s:s,s:O}", "outcome", "nothing_to_teach", "reason", reason,
                     "provenance", g->material.provenance);
}

static void after_clean_up(void *data) {
    struct generating *g = data;
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

static void clean_up(void *data) {
    struct generating *g = data;
    if (generate_has_lost_draft(g)) {
        generate_keep_draft(g);
    }
    skill_stage_discard(&g->stage);
}

void generate_end(struct generating *g) {
    if (generate_reads_first(g)) {
        generate_forgive(g);
        json_decref(take(g->refused));
        g->unreviewed = true;
        generate_use_draft(g);
        return;
    }
    if (g->stage.stage || generate_has_lost_draft(g)) {
        work_start(call_origin(g->call)->loop, clean_up, after_clean_up, g);
    } else {
        after_clean_up(g);
    }
}

void generate_report(struct generating *g, enum generate_stage stage, const char *fmt,
                     ...) {
    char text[512];
    text_format(text, fmt);
    call_report(g->call, stage, GENERATE_STAGES, "%s", text);
}

/* --- threads --- */

static void work(void *data) {
    struct generating *g = data;
    g->job(g);
}

static void after_work(void *data) {
    struct generating *g = data;
    g->work = NULL;
    g->next(g);
}

void generate_on_thread(struct generating *g, generate_step *job, generate_step *next) {
    g->job = job;
    g->next = next;
    g->work = work_start(call_origin(g->call)->loop, work, after_work, g);
}

bool generate_is_over(const struct generating *g) {
    return g->cancelled || g->err.code != 0 || g->nothing != NULL;
}

/* --- checking --- */

/* Its pieces are without secrets; side by side they may say more than each alone. */
static void redact_draft(struct generating *g) {
    char *clean = generate_redacted(g, g->draft.text);
    free(g->draft.text);
    g->draft.text = clean;
    json_each_member(g->draft.files, path, text) {
        autofree char *file = generate_redacted(g, json_string_value(text));
        json_string_set(text, file);
    }
}

static bool is_named_after_folder(const struct skill *s) {
    return s->text.name && strcmp(s->text.name, path_basename(s->folder)) == 0;
}

static void write_builtin(struct generating *g) {
    struct material *m = &g->material;
    const struct builtin_request q = {
        .lessons = &m->lessons,
        .name = generate_asked_name(g),
        .task = m->task,
        .examples = m->examples,
        .documents = m->documents,
        .base = m->has_base ? &m->base.text : NULL,
        .aside = g->aside,
    };
    skill_draft_finish(&g->draft);
    builtin_write(&g->draft, &q);
    if (m->has_base && q.name && is_named_after_folder(&m->base) &&
        strcmp(q.name, m->base.text.name) != 0) {
        draft_rename(&g->draft, q.name); /* a copy elsewhere */
    }
    redact_draft(g);
}

static bool has_more(const struct generating *g) {
    return g->request.document_count || json_array_size(g->request.examples);
}

/* Without a model, beside lessons: a document alone would be a skill of one link. */
static bool builtin_has_more(const struct generating *g) {
    return json_array_size(g->request.examples) ||
           (g->request.document_count && g->material.has_base);
}

#define NEEDS_MODEL                                                                     \
    "the builtin teacher distills traces and adds documents to what they teach; for a "  \
    "task or a document alone, set `teacher` to host or to a model"

static const char *why_nothing(const struct generating *g) {
    const char *key = generate_key_there();
    return g->request.trace_count
               ? "the builtin teacher found nothing in the traces that it can prove: an "
                 "error that one change ended and a later run shows gone, or a correction "
                 "that the agent then followed; a model may find more: set `teacher` to "
                 "host or to a model"
           : !key        ? NEEDS_MODEL
           : *key == 'A' ? NEEDS_MODEL ": ANTHROPIC_API_KEY is set, so haiku would do"
                         : NEEDS_MODEL ": OPENAI_API_KEY is set, but not for which model";
}

/* If all lessons were removed as unsafe, nothing is left. */
static bool tells_nothing(const struct generating *g) {
    const json_t *counts = g->draft.counts;
    return json_get_integer(counts, "fixes", 0) == 0 &&
           json_get_integer(counts, "corrections", 0) == 0;
}

static void write_and_stage(struct generating *g) {
    write_builtin(g);
    if (!builtin_has_more(g) && !g->material.has_base && tells_nothing(g)) {
        g->nothing = "a skill may not teach what the traces show: it is unsafe";
        return;
    }
    generate_stage_draft(g);
}

bool generate_has_finding(const json_t *check, const json_t *finding) {
    return json_any(
        json_object_get(check, "findings"), one,
        json_equal(json_object_get(one, "code"), json_object_get(finding, "code")) &&
            json_equal(json_object_get(one, "message"),
                       json_object_get(finding, "message")));
}

/* Those that the improved skill had before are not the draft's. */
static json_t *errors_of(const json_t *check, const json_t *before) {
    json_t *errors = json_array();
    json_each(json_object_get(check, "findings"), i, finding) {
        if (json_says(finding, "severity", "error") &&
            !generate_has_finding(before, finding)) {
            json_array_append(errors, finding);
        }
    }
    return errors;
}

/* CUDA files that do not compile alone leave the body. */
static void put_kernels_aside(struct generating *g) {
    g->aside = g->aside ? g->aside : json_object();
    for (size_t i = 0; i < g->material.lessons.files.count; i++) {
        const char *path = g->material.lessons.files.list[i].key;
        const char *dot = strrchr(path, '.');
        if (dot && (strncmp(dot, ".c", 2) == 0 || strncmp(dot, ".h", 2) == 0)) {
            json_object_set_new(g->aside, path, json_true());
        }
    }
}

static void after_staging(struct generating *g);

void generate_mend(struct generating *g, const char *problem) {
    skill_draft_finish(&g->draft);
    if (g->request.teacher == TEACHER_MODEL) {
        generate_ask_model(g, problem);
    } else {
        generate_ask_host(g, problem);
    }
}

/* The findings in words, for the writer of the draft. */
static void mend_findings(struct generating *g, const json_t *errors) {
    autobuf text = BUF_INIT(8192);
    json_each(errors, i, finding) {
        if (i < 12) {
            generate_add_finding(&text, i, finding);
        }
    }
    generate_mend(g, text.data);
}

static bool may_mend(const struct generating *g) {
    return (g->request.teacher == TEACHER_HOST && g->round < GENERATE_ROUNDS) ||
           (g->request.teacher == TEACHER_MODEL &&
            (g->round <= GENERATE_ROUNDS || generate_may_draw_again(g)));
}

/* The teacher proves its draft, if it cites anything. */
static void after_review(struct generating *g) {
    if (generate_is_over(g)) {
        generate_end(g);
    } else if (!json_array_size(g->review)) {
        generate_test(g);
    } else if (g->request.teacher == TEACHER_HOST) {
        generate_ask_host_review(g);
    } else {
        generate_ask_model_review(g);
    }
}

static bool must_be_proven(const struct generating *g) {
    return g->request.trace_count && g->request.teacher != TEACHER_BUILTIN && !g->keeps && !g->reviewed;
}

static void judge_check(struct generating *g) {
    autojson *errors = errors_of(g->check, g->base_check);
    if (!json_array_size(errors) && must_be_proven(g)) {
        g->reviewed = true;
        g->remarks = generate_remarks(g);
        generate_on_thread(g, generate_find_review, after_review);
    } else if (!json_array_size(errors) || g->keeps) {
        generate_step *next = g->after_checking ? g->after_checking : generate_test;
        free(take(g->first));
        g->after_checking = NULL;
        next(g);
    } else if (g->after_checking) {
        g->refused = take(errors);
        generate_end(g);
    } else if (may_mend(g)) {
        mend_findings(g, errors);
    } else if (g->request.teacher == TEACHER_BUILTIN && !g->aside) {
        put_kernels_aside(g);
        generate_on_thread(g, write_and_stage, after_staging);
    } else {
        g->refused = take(errors);
        generate_end(g);
    }
}

static void on_checked(struct skill_check *, json_t *result, void *data) {
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
    if (g->err.code == -EKEYREJECTED && may_mend(g) && !g->after_checking && !g->keeps) {
        struct err err = g->err;
        generate_forgive(g);
        generate_mend(g, err.msg);
        return;
    }
    if (generate_is_over(g)) {
        generate_end(g);
        return;
    }
    generate_report(g, GENERATE_CHECKING, "checking");
    g->checking = skill_check_start(call_origin(g->call), g->stage.folder, NULL, NULL, 0,
                                    SKILL_CHECK_STRICT, NULL, on_checked, g);
}

void generate_use_draft(struct generating *g) {
    generate_on_thread(g, generate_stage_cited, after_staging);
}

void generate_stage_again(struct generating *g, generate_step *next) {
    g->after_checking = next;
    generate_use_draft(g);
}

/* --- reading --- */

/* Something that a writer could start from. */
static bool has_word(const struct generating *g) {
    return has_more(g) || g->request.task || g->material.has_base ||
           g->material.lessons.history.count || g->material.lessons.files.count;
}

/* A skill alone: its tests are what can be added, and what a refinement finds. */
static bool is_skill_alone(const struct generating *g) {
    const struct generate_request *r = &g->request;
    const struct material *m = &g->material;
    return m->has_base && r->teacher != TEACHER_HOST && !has_more(g) && !r->task &&
           !r->trace_count && r->folder_name &&
           (!r->name || strcmp(r->name, r->folder_name) == 0) &&
           strcmp(r->folder_name, path_basename(m->base.folder)) == 0;
}

static void keep_text(struct generating *g) {
    g->keeps = true;
    if (g->request.teacher == TEACHER_BUILTIN && !generate_refine_rounds(&g->request)) {
        g->nothing =
            "nothing says how to improve the skill: give `traces`, `documents` or a "
            "`task`; a model as `teacher`, which writes the missing tests; or `students` "
            "and `refine`";
        return;
    }
    skill_draft_finish(&g->draft);
    g->draft = (struct skill_draft){.name = xstrdup(g->request.folder_name),
                                    .text = xstrdup(g->material.base.text.text),
                                    .files = json_object(),
                                    .evidence = json_array(),
                                    .counts = json_object()};
    generate_stage_draft(g);
}

static void read_all(struct generating *g) {
    if (material_read(&g->material, &g->request, &g->err) < 0 || work_is_stopped()) {
        return;
    }
    if (is_skill_alone(g)) {
        keep_text(g);
        return;
    }
    if (g->request.teacher != TEACHER_BUILTIN) {
        g->nothing = has_word(g) ? NULL : "the traces contain nothing to learn from";
        (void)generate_may_ask(g);
        return;
    }
    if (!builtin_has_more(g) && g->material.lessons.nothing) {
        g->nothing = why_nothing(g);
        return;
    }
    write_and_stage(g);
}

static void tell(struct generating *g) {
    bool host = g->request.teacher == TEACHER_HOST;
    g->told = g->request.trace_count
                  ? teacher_told(&g->material.lessons, host ? GENERATE_PART_TOKENS : 0)
                  : NULL;
}

static void ask_teacher(struct generating *g) {
    if (generate_is_over(g)) {
        generate_end(g);
    } else if (g->request.teacher == TEACHER_HOST) {
        generate_ask_host(g, NULL);
    } else {
        generate_ask_model(g, NULL);
    }
}

static void begin_writing(struct generating *g) {
    if (g->keeps || g->request.teacher == TEACHER_BUILTIN) {
        after_staging(g);
    } else {
        generate_on_thread(g, tell, ask_teacher);
    }
}

static void on_base_checked(struct skill_check *, json_t *result, void *data) {
    struct generating *g = data;
    g->checking = NULL;
    g->base_check = result;
    if (g->cancelled || !result) {
        g->cancelled = true;
        generate_end(g);
        return;
    }
    begin_writing(g);
}

static void after_reading(struct generating *g) {
    if (generate_is_over(g)) {
        generate_end(g);
    } else if (g->material.has_base && !g->keeps) {
        g->checking =
            skill_check_start(call_origin(g->call), g->material.base.folder, NULL, NULL,
                              0, SKILL_CHECK_STRICT, NULL, on_base_checked, g);
    } else {
        begin_writing(g);
    }
}

void generate_read(struct generating *g) {
    generate_report(g, GENERATE_READING, "reading");
    generate_on_thread(g, read_all, after_reading);
}

/* --- stopping --- */

/* Stops whatever runs; its callback then ends the call. */
static void stop(struct generating *g) {
    bool waits = call_state(g->call) == CALL_INPUT_REQUIRED;
    if (g->cancelled) {
        return;
    }
    g->cancelled = true;
    work_cancel(g->work);
    if (waits) {
        generate_forget_host(g);
        generate_end(g);
    } else if (g->checking) {
        skill_check_cancel(g->checking);
    } else if (g->fetching) {
        generate_fetch_stop(g);
    } else if (g->asking) {
        model_call_cancel(g->asking);
    } else if (g->testing) {
        generate_test_stop(g);
    } else if (g->refining) {
        generate_refine_stop(g);
    } else if (g->nested) {
        call_cancel(g->nested);
    }
}

static void on_cancel(struct call *, void *data) {
    stop(data);
}

static void on_room_closing(struct evaluation_guest *guest) {
    stop(container_of(guest, struct generating, guest));
}

static void read_budget(struct generating *g) {
    const json_t *budget = g->request.budget;
    double minutes = json_number_value(json_object_get(budget, "minutes"));
    g->budget.max_tokens = (uint64_t)json_get_integer(budget, "tokens", 0);
    g->budget.max_cost = json_number_value(json_object_get(budget, "cost"));
    g->deadline_ms = minutes > 0 ? clock_ms() + (uint64_t)(minutes * 60000) : 0;
}

void generate_begin(struct generating *g) {
    g->room = evaluation_room_of(call_origin(g->call));
    if (g->room) {
        g->guest.stop = on_room_closing;
        evaluation_room_enter(g->room, &g->guest);
    }
    read_budget(g);
    call_on_cancel(g->call, on_cancel, g);
    if (g->request.teacher == TEACHER_HOST && generate_enter_host(g) < 0) {
        generate_end(g);
    } else if (g->request.link_count) {
        generate_fetch(g);
    } else {
        generate_read(g);
    }
}
