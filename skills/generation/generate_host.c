/* The calling agent as teacher: it gets a work order, and gives a draft back. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "skills/generation/draft_text.h"
#include "skills/generation/generation.h"

#define DOCUMENT_TOKENS 8000u
#define MAX_ORDER (512u << 10)

#define MAX_HOSTED 16u /* jobs at once: each keeps what happened in its sessions */

/* Those whose teacher is a calling agent, the latest to get an order first; the loop's. */
static struct generating *hosted;

/* --- the order --- */

/* What the agent is told in parts: what happened, or what its draft cites. */
static const json_t *parts_of(const struct generating *g) {
    return g->review ? g->review : g->told;
}

static void add_part(struct buf *text, const struct generating *g, struct teacher_material *m) {
    size_t parts = json_array_size(parts_of(g));
    if (parts > 1) {
        buf_addf(text, "This is part %zu of %zu of %s. ", m->part + 1, parts,
                 g->review ? "what your draft cites" : "what happened");
        buf_adds(text, m->part + 1 < parts
                           ? "Note what is worth telling and what proves or refutes it; then call again "
                             "with the job alone for the next part. Write after the last one.\n"
                           : "It is the last one: now write.\n");
    }
    buf_adds(text, teacher_host_data);
    if (g->review) {
        teacher_ask_review(text, g->review, m->part, g->remarks);
    } else if (m->part) {
        teacher_tell_part(text, m);
    } else {
        teacher_tell_material(text, m);
    }
}

static void add_order(struct buf *text, const struct generating *g, struct teacher_material *m) {
    bool begins = !m->part && !g->review;
    buf_adds(text, begins ? teacher_host_order : "");
    if (g->request.tests && begins) {
        buf_addf(text, "You may give up to %u tests with it.\n", g->request.tests);
    }
    add_part(text, g, m);
}

/* problem: with the last draft, or NULL: the next part of the material. */
static json_t *make_order(struct generating *g, const char *job, const char *problem) {
    struct teacher_material material = generate_teacher_material(g);
    autobuf text = BUF_INIT(MAX_ORDER);
    material.document_tokens = DOCUMENT_TOKENS;
    material.part = g->part;
    g->more_parts = material.part + 1 < json_array_size(parts_of(g));
    if (problem) {
        buf_addf(&text,
                 "The draft cannot be saved yet: %s\nFix that and give the whole document "
                 "again.\n",
                 problem);
        buf_adds(&text, g->more_parts ? "What happened goes on: call with the job alone for the next part.\n" : "");
    } else {
        add_order(&text, g, &material);
    }
    json_t *order = json_pack("{s:o,s:s,s:s,s:{s:s,s:s,s:{s:s,s:s,s:s}}}", "instructions",
                              json_clean(text.data, text.len), "format", teacher_format, "tests",
                              teacher_tests_format, "reply_with", "method", "skill/generate",
                              "tool", "skill_generate", "params", "job", job, "draft",
                              "the whole SKILL.md", "tests", "a list of tests; may be left out");
    if (g->more_parts) {
        json_object_set_new(order, "next_part", json_integer((json_int_t)material.part + 2));
    }
    return order;
}

static json_t *make_tests_order(const char *job, const char *problem, size_t count) {
    autobuf text = BUF_INIT(MAX_ORDER);
    buf_addf(
        &text,
        "The skill is good. These tests were not accepted: %s\nUp to %zu others may take "
        "their place; an empty list keeps only the accepted ones.\n",
        problem, count);
    return json_pack("{s:o,s:s,s:{s:s,s:s,s:{s:s,s:s}}}", "instructions",
                     json_clean(text.data, text.len), "format", teacher_tests_format,
                     "reply_with", "method", "skill/generate", "tool", "skill_generate",
                     "params", "job", job, "tests", "a list of tests");
}

/* --- waiting --- */

void generate_forget_host(struct generating *g) {
    for (struct generating **at = &hosted; *at; at = &(*at)->next_hosted) {
        if (*at == g) {
            *at = g->next_hosted;
            return;
        }
    }
}

static void remember(struct generating *g) {
    g->next_hosted = hosted;
    hosted = g;
}

static bool waits(const struct generating *g) {
    return call_state(g->call) == CALL_INPUT_REQUIRED;
}

int generate_enter_host(struct generating *g) {
    const struct generating *longest = NULL;
    size_t count = 0;
    for (const struct generating *one = hosted; one; one = one->next_hosted) {
        longest = waits(one) ? one : longest;
        count++;
    }
    if (count < MAX_HOSTED) {
        remember(g);
        return 0;
    }
    autofree char *hint =
        longest ? xasprintf("give job %s its draft or end it with job/cancel: it has waited longest",
                            call_keep(longest->call))
                : xstrdup("start it again when one of them has its order");
    return generate_fail(g, CALL_REFUSED, "too_many_jobs", hint,
                         "%u jobs wait for drafts of their callers, and no more may", MAX_HOSTED);
}

static void take_tests(struct generating *g, const json_t *input) {
    json_t *tests = json_object_get(input, "tests");
    json_decref(g->given_tests);
    g->given_tests = json_is_array(tests) ? json_incref(tests) : NULL;
}

static void wait(struct generating *g, json_t *order, call_resumed *resumed) {
    generate_forget_host(g);
    remember(g);
    call_require_input(g->call, order, resumed, g);
}

static void on_draft(struct call *call, const json_t *input, void *data) {
    (void)call;
    struct generating *g = data;
    const json_t *draft = json_object_get(input, "draft");
    const struct generate_request *r = &g->request;
    const char *name = r->folder_name ? r->folder_name : r->name;
    struct err err = {0};
    if (json_object_get(input, "tests")) {
        take_tests(g, input);
    }
    if (!draft && g->more_parts) {
        g->part++;
        wait(g, make_order(g, call_keep(g->call), NULL), on_draft);
        return;
    }
    const char *text = json_is_string(draft) ? json_string_value(draft) : "";
    free(g->answer);
    g->answer = xstrdup(text);
    if (generate_says_nothing(g, text)) {
        generate_end(g);
        return;
    }
    if (draft_text_read(&g->draft, text, strlen(text), name,
                        g->material.has_base ? &g->material.base.text : NULL, &err) < 0) {
        generate_ask_host(g, err.msg);
        return;
    }
    generate_use_draft(g);
}

static void on_tests(struct call *call, const json_t *input, void *data) {
    (void)call;
    struct generating *g = data;
    take_tests(g, input);
    generate_test_given(g);
}

void generate_ask_host(struct generating *g, const char *problem) {
    if (g->round++ >= GENERATE_ROUNDS) {
        err_set(&g->err, -EINVAL, "after %u drafts: %.400s", GENERATE_ROUNDS,
                problem ? problem : "no draft");
        generate_end(g);
        return;
    }
    wait(g, make_order(g, call_keep(g->call), problem), on_draft);
}

void generate_ask_host_review(struct generating *g) {
    g->part = 0;
    skill_draft_finish(&g->draft);
    wait(g, make_order(g, call_keep(g->call), NULL), on_draft);
}

void generate_ask_host_tests(struct generating *g, const char *problem, size_t count) {
    g->round++;
    g->more_parts = false; /* the draft is taken */
    wait(g, make_tests_order(call_keep(g->call), problem, count), on_tests);
}

/* --- {job, draft, tests} --- */

struct giving {
    struct call *call, *job; /* references */
    struct call_view view;
    bool over;
};

static void answer_giving(struct giving *v) {
    struct call *job = v->job, *call = v->call;
    if (v->over) {
        return;
    }
    v->over = true;
    call_on_cancel(call, NULL, NULL);
    const struct call_failure *f = call_failure(job);
    if (call_state(job) == CALL_SUCCEEDED) {
        call_reply(call, json_deep_copy(call_result(job)));
    } else if (call_state(job) == CALL_INPUT_REQUIRED) {
        call_reply(call, json_pack("{s:s,s:s,s:O}", "job", call_keep(job), "state",
                                   "input_required", "work_order", call_work_order(job)));
    } else if (f) {
        call_fail(call, f->fault, f->reason, f->hint, "%s", f->message);
    } else {
        call_stopped(call);
    }
}

static void giving_free(struct giving *v) {
    call_unref(v->job);
    call_unref(v->call);
    free(v);
}

static void giving_end(struct call *job, void *data) {
    (void)job;
    answer_giving(data);
    giving_free(data);
}

static void giving_progress(struct call *job, void *data) {
    struct giving *v = data;
    if (call_state(job) == CALL_INPUT_REQUIRED) {
        call_detach(job, &v->view);
        answer_giving(v);
        giving_free(v);
    }
}

static void giving_cancelled(struct call *call, void *data) {
    struct giving *v = data;
    call_detach(v->job, &v->view);
    v->over = true;
    call_stopped(call);
    giving_free(v);
}

void generate_give_draft(struct call *call, const json_t *params) {
    const char *id = json_get_string(params, "job", "");
    struct generating *g = hosted;
    while (g && !(waits(g) && strcmp(call_keep(g->call), id) == 0)) {
        g = g->next_hosted;
    }
    if (!g) {
        call_fail(
            call, CALL_NOT_FOUND, "unknown_job",
            "job/status shows its state; only the daemon that started it takes the draft",
            "no job that waits for a draft has the id %.64s", id);
        return;
    }
    if (!json_object_get(params, "draft") && !json_object_get(params, "tests") && !g->more_parts) {
        call_fail_param(call, "/draft", "job and draft belong together");
        return;
    }
    struct giving *v = xcalloc(1, sizeof *v);
    v->call = call_ref(call);
    v->job = call_ref(g->call);
    v->view = (struct call_view){.end = giving_end, .data = v};
    call_attach(v->job, &v->view);
    call_on_cancel(call, giving_cancelled, v);
    v->view.progress = giving_progress;
    autojson *input = json_object();
    json_object_set(input, "draft", json_object_get(params, "draft"));
    json_object_set(input, "tests", json_object_get(params, "tests"));
    struct call *job = call_ref(v->job);
    call_input(job, input);
    call_unref(job);
}
