/* A model as teacher: asked for a draft, and again with what is wrong with it. */
#include "skills/generation/generate_flow.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "skills/generation/draft_files.h"
#include "skills/generation/draft_text.h"
#include "skills/traces/redaction.h"

#define DRAFT_TOKENS 16000u /* of an answer, where the model's entry says nothing */
#define MAX_ANSWER (256u << 10)
#define REPORT_MS 500u

/* --- asking --- */

static void on_text(struct model_call *, const char *, size_t len, void *data) {
    struct generating *g = data;
    g->heard = len ? g->heard + len : 0;
    uint64_t now = clock_ms();
    if (now - g->heard_ms >= REPORT_MS) {
        g->heard_ms = now;
        generate_report(g, g->heard_stage, "%s: %zu bytes", g->heard_what, g->heard);
    }
}

static void on_done(struct model_call *, const struct model_answer *answer, void *data) {
    struct generating *g = data;
    g->asking = NULL;
    g->requests += answer->requests;
    g->cached += answer->cached;
    if (g->cancelled || answer->outcome == MODEL_CANCELLED) {
        g->cancelled = true;
        generate_end(g);
        return;
    }
    g->answered(g, answer);
}

static unsigned time_left(const struct generating *g) {
    uint64_t now = clock_ms();
    if (!g->deadline_ms) {
        return 0;
    }
    uint64_t left = g->deadline_ms > now ? g->deadline_ms - now : 1;
    return left < 600000 ? (unsigned)left : 600000;
}

int generate_ask_teacher(struct generating *g, const struct teacher_question *q,
                         teacher_answered *answered) {
    struct model_client *client = g->room ? evaluation_room_client(g->room) : NULL;
    const struct model_request request = {
        .model = &g->request.model,
        .system = q->system,
        .messages = q->messages,
        .message_count = q->count,
        .max_tokens =
            g->request.model.max_tokens ? g->request.model.max_tokens : DRAFT_TOKENS,
        .schema = q->schema,
        .schema_name = q->schema_name,
        .run = q->run,
        .deadline_ms = time_left(g),
        .budget = &g->budget,
    };
    struct err err = {0};
    if (!client || (g->deadline_ms && clock_ms() >= g->deadline_ms)) {
        return generate_fail(g, CALL_REFUSED, client ? "budget_spent" : "closing",
                             "allow more minutes", "%s",
                             client ? "the time is used up" : "the daemon is ending");
    }
    g->answered = answered;
    g->heard_stage = q->stage;
    g->heard_what = q->what;
    g->heard = 0;
    g->heard_ms = clock_ms();
    if (model_call_start(client, &request, on_text, on_done, g, &g->asking, &err) < 0) {
        return generate_fail(g, CALL_UNAVAILABLE, "teacher", NULL, "%s", err.msg);
    }
    return 0;
}

/* --- the draft --- */

struct teacher_material generate_teacher_material(const struct generating *g) {
    const struct material *m = &g->material;
    return (struct teacher_material){
        .task = m->task,
        .name = m->name,
        .examples = m->examples,
        .documents = m->documents,
        .told = g->told,
        .base = m->base_text,
        .base_files = m->base_files,
    };
}

/* An address that nobody gave is made up, or was talked into the teacher. */
static char *find_foreign_address(const struct generating *g) {
    autofree char *host = draft_foreign_host(g->draft.text, g->question);
    json_each_member(g->draft.files, path, text) {
        host = host ? host : draft_foreign_host(json_string_value(text), g->question);
    }
    return host ? xasprintf("it names the address %.100s, which the material does not "
                            "contain; leave it out",
                            host)
                : NULL;
}

static void read_draft(struct generating *g, const char *text) {
    const struct generate_request *r = &g->request;
    const char *name = r->folder_name ? r->folder_name : r->name;
    const struct skill_text *base = g->material.has_base ? &g->material.base.text : NULL;
    struct err err = {0};
    if (generate_says_nothing(g, text)) {
        generate_end(g);
        return;
    }
    if (draft_text_read(&g->draft, text, strlen(text), name, base, &err) < 0) {
        generate_ask_model(g, err.msg);
        return;
    }
    autofree char *problem = find_foreign_address(g);
    if (problem) {
        generate_mend(g, problem);
    } else {
        generate_use_draft(g);
    }
}

static void on_draft(struct generating *g, const struct model_answer *a) {
    free(g->answer);
    struct buf answer = BUF_INIT(2 * MAX_ANSWER);
    redaction_apply(g->material.redaction, &answer, a->text,
                    text_cut(a->text, strlen(a->text), MAX_ANSWER));
    g->answer = buf_detach(&answer);
    if (a->outcome == MODEL_TRUNCATED) {
        generate_ask_model(g, "the answer was cut off at its limit; write a shorter "
                              "document, with detail under references/ left out");
    } else if (a->outcome != MODEL_ANSWERED) {
        bool refused = a->outcome == MODEL_BUDGET || a->outcome == MODEL_REFUSED;
        generate_fail(g, refused ? CALL_REFUSED : CALL_UNAVAILABLE, a->reason, a->hint,
                      "the teacher %s: %s", g->request.model.name, a->message);
        generate_end(g);
    } else {
        read_draft(g, a->text);
    }
}

/* Without an answer, for want of money or time, the draft is used as it is, and that is told. */
static void on_review(struct generating *g, const struct model_answer *a) {
    if (a->outcome == MODEL_ANSWERED || a->outcome == MODEL_TRUNCATED) {
        skill_draft_finish(&g->draft);
        on_draft(g, a);
    } else {
        g->unreviewed = true;
        generate_use_draft(g);
    }
}

void generate_ask_model_review(struct generating *g) {
    autobuf review = BUF_INIT(TEACHER_MAX_PROMPT);
    teacher_ask_review(&review, g->review, 0, g->remarks);
    const struct teacher_question q = {
        .system = teacher_system,
        .messages = {{"user", g->question}, {"assistant", g->answer}, {"user", review.data}},
        .count = 3,
        .stage = GENERATE_ASKING,
        .what = "the teacher proves its draft",
    };
    generate_report(g, GENERATE_ASKING, "%s proves its draft by what it cites", g->request.model.name);
    if (generate_ask_teacher(g, &q, on_review) < 0) {
        generate_forgive(g);
        g->unreviewed = true;
        generate_use_draft(g);
    }
}

bool generate_may_draw_again(const struct generating *g) {
    return g->requests == 0 && g->draws < GENERATE_DRAWS;
}

void generate_ask_model(struct generating *g, const char *problem) {
    struct teacher_material material = generate_teacher_material(g);
    struct buf question = BUF_INIT(2 * TEACHER_MAX_PROMPT);
    autobuf repair = BUF_INIT(64u << 10);
    if (g->round > GENERATE_ROUNDS && generate_may_draw_again(g)) {
        g->draws++;
        g->round = 0;
        problem = NULL;
    }
    if (g->round > GENERATE_ROUNDS) {
        generate_fail(g, CALL_REFUSED, "draft",
                      "another teacher may do better; asked again, this one may too",
                      "after %u drafts: %.600s", g->round, problem);
        generate_end(g);
        return;
    }
    teacher_ask_draft(&question, &material);
    free(g->question);
    g->question = buf_detach(&question);
    struct teacher_question q = {
        .system = teacher_system,
        .messages = {{"user", g->question}},
        .count = 1,
        /* the same words again are another draw */
        .run = g->round + g->draws * (GENERATE_ROUNDS + 1),
        .stage = GENERATE_ASKING,
        .what = problem ? "the teacher fixes its draft" : "the teacher writes",
    };
    if (problem) {
        teacher_ask_repair(&repair, problem);
        q.messages[1] = (struct model_message){
            "assistant", g->answer && *g->answer ? g->answer : "(nothing)"};
        q.messages[2] = (struct model_message){"user", repair.data};
        q.count = 3;
    }
    if (problem) {
        generate_report(g, GENERATE_ASKING, "draft %u goes back to %s: %.200s", g->round,
                        g->request.model.name, problem);
    } else {
        generate_report(g, GENERATE_ASKING, "asking %s", g->request.model.name);
    }
    g->round++;
    if (generate_ask_teacher(g, &q, on_draft) < 0) {
        generate_end(g);
    }
}
