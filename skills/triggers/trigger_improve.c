#include "skills/triggers/trigger_improve.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/work.h"
#include "skills/check/skill_check.h"
#include "skills/refinement/refine_students.h"
#include "skills/traces/redaction.h"
#include "skills/trigger_improve_texts.h"
#include "skills/triggers/trigger_list.h"
#include "skills/triggers/trigger_queries.h"

#define PROBLEM_BYTES 4096u

struct trigger_improve {
    struct trigger_improve_options o;
    struct refinement *refinement;
    struct refine_students students;
    struct redaction *redaction;
    struct model_call *asking;
    struct skill_check *checking;
    enum refine_lack lack; /* why a question could not be asked */
    struct err err;
    int first, last; /* lines of the description that is checked; last exclusive */
};

/* --- what the students see --- */

/* On a thread. */
static void make_arm(void *host, const char *text, struct arm *ret) {
    const struct trigger_improve *x = host;
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    trigger_arm(ret, x->o.name, t.description ? t.description : "", x->o.neighbours);
    skill_text_finish(&t);
}

static void look(void *host, struct refinement *r, const struct refine_look *q) {
    struct trigger_improve *x = host;
    refine_students_look(&x->students, r, q);
}

/* --- the teacher --- */

/* The bytes of a text's lines [line, end), counted from 1. */
static char *lines_of(const struct skill_text *t, int line, int end) {
    size_t from = t->lines.starts[line - 1];
    size_t to = (size_t)end - 1 < t->lines.count ? t->lines.starts[end - 1] : t->len;
    return xstrndup(t->text + from, to - from);
}

static char *description_lines(const char *text) {
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    const struct skill_field *f = skill_text_field(&t, "description");
    char *lines = f ? lines_of(&t, f->line, f->end_line) : NULL;
    skill_text_finish(&t);
    return lines;
}

/* A description as patch.h's edit of the text; the frontmatter is written as YAML needs.
 */
static json_t *edits_of(const char *text, const json_t *answer) {
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    autojson *change =
        json_pack("{s:O}", "description", json_object_get(answer, "description"));
    autofree char *whole = skill_text_write(&t, change, NULL);
    autofree char *was = description_lines(text), *is = description_lines(whole);
    skill_text_finish(&t);
    return was && is
               ? json_pack("{s:O,s:[{s:o,s:o}]}", "why", json_object_get(answer, "why"),
                           "edits", "find", json_text(was, strlen(was)), "replace",
                           json_text(is, strlen(is)))
               : NULL;
}

static bool is_late(const struct trigger_improve *x) {
    return x->o.deadline_ms && clock_ms() >= x->o.deadline_ms;
}

static void on_taught(struct model_call *, const struct model_answer *a, void *data) {
    struct trigger_improve *x = data;
    bool answered = a->outcome == MODEL_ANSWERED;
    autojson *edits = answered ? edits_of(refinement_text(x->refinement), a->json) : NULL;
    enum refine_lack lack = answered || a->outcome == MODEL_REFUSED ||
                                    a->outcome == MODEL_TRUNCATED ||
                                    a->outcome == MODEL_INVALID
                                ? REFINE_FINE
                            : a->outcome == MODEL_BUDGET || is_late(x) ? REFINE_SPENT
                            : a->outcome == MODEL_CANCELLED            ? REFINE_CANCELLED
                                                                       : REFINE_NO_ANSWER;
    x->asking = NULL;
    refinement_taught(x->refinement, lack, edits,
                      answered ? "the description's place in SKILL.md cannot be read"
                               : a->message);
}

static void do_nothing(void *) {}

static void could_not_ask(void *data) {
    struct trigger_improve *x = data;
    refinement_taught(x->refinement, x->lack, NULL, x->err.msg);
}

static void teach(void *host, struct refinement *, const char *system,
                  const char *prompt) {
    struct trigger_improve *x = host;
    autojson *schema = json_loads(improve_schema, 0, NULL);
    const struct model_message message = {.role = "user", .text = prompt};
    struct model_request request = {
        .model = x->o.teacher,
        .system = system,
        .messages = &message,
        .message_count = 1,
        .max_tokens = x->o.teacher->max_tokens,
        .schema = schema,
        .schema_name = "description",
        .deadline_ms = x->o.deadline_ms && !is_late(x)
                           ? (unsigned)(x->o.deadline_ms - clock_ms())
                           : 0,
        .budget = x->o.students.budget,
    };
    x->lack = is_late(x) ? REFINE_SPENT : REFINE_NO_ANSWER;
    if (x->lack == REFINE_SPENT ||
        model_call_start(x->o.students.models, &request, NULL, on_taught, x, &x->asking,
                         &x->err) < 0) {
        work_start(x->o.students.loop, do_nothing, could_not_ask, x);
    }
}

/* --- the check --- */

/* Errors about the description's own lines: the rest is as it was. */
static char *errors_of(const struct trigger_improve *x, const json_t *check) {
    autobuf words = BUF_INIT(PROBLEM_BYTES);
    json_each(json_object_get(check, "findings"), i, finding) {
        json_int_t line = json_get_integer(finding, "line", 0);
        bool error = json_says(finding, "severity", "error");
        if (error && line >= x->first && line < x->last) {
            buf_addf(&words, "%s%s (%s)", words.len ? "; " : "",
                     json_get_string(finding, "message", ""),
                     json_get_string(finding, "code", ""));
        }
    }
    return words.len ? buf_detach(&words) : NULL;
}

static void on_checked(struct skill_check *, json_t *result, void *data) {
    struct trigger_improve *x = data;
    autojson *owned = result;
    autofree char *problem = errors_of(x, owned);
    x->checking = NULL;
    refinement_checked(x->refinement, owned ? REFINE_FINE : REFINE_CANCELLED, problem);
}

static void check(void *host, struct refinement *, const char *text) {
    struct trigger_improve *x = host;
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    const struct skill_field *f = skill_text_field(&t, "description");
    x->first = f ? f->line : 0;
    x->last = f ? f->end_line : 0;
    skill_text_finish(&t);
    x->checking =
        skill_check_start(x->o.students.origin, x->o.folder, NULL, text, strlen(text),
                          SKILL_CHECK_STRICT, NULL, on_checked, x);
}

/* --- its course --- */

static void stop(void *host) {
    struct trigger_improve *x = host;
    refine_students_stop(&x->students, x->asking, x->checking);
}

static void changed(void *host, struct refinement *) {
    struct trigger_improve *x = host;
    if (x->refinement) { /* the hook may also run while the refinement starts */
        x->o.changed(x, x->o.data);
    }
}

static const struct refinement_hooks hooks = {look, teach, check, stop, changed};

static void on_done(struct refinement *, enum refinement_stop, void *data) {
    struct trigger_improve *x = data;
    x->o.done(x, x->o.data);
}

struct trigger_improve *
trigger_improve_start(const struct trigger_improve_options *options) {
    struct trigger_improve *x = xcalloc(1, sizeof *x);
    x->o = *options;
    x->redaction = redaction_new(NULL);
    x->students = (struct refine_students){
        .options = options->students,
        .suite = options->queries,
        .name = options->name,
        .deadline_ms = options->deadline_ms,
        .make_arm = make_arm,
        .host = x,
    };
    x->students.options.rule = trigger_rule;
    const struct refinement_options how = {
        .text = options->text,
        .rounds = options->rounds,
        .runs = options->runs,
        .system = improve_system,
        .answer_form = improve_form,
        .redaction = x->redaction,
        .hooks = &hooks,
        .host = x,
        .done = on_done,
        .data = x,
    };
    x->refinement = refinement_start(&how);
    return x;
}

void trigger_improve_cancel(struct trigger_improve *x) {
    refinement_cancel(x->refinement);
}

void trigger_improve_free(struct trigger_improve *x) {
    refine_students_finish(&x->students);
    refinement_free(x->refinement);
    redaction_free(x->redaction);
    free(x);
}

const char *trigger_improve_text(const struct trigger_improve *x) {
    return refinement_text(x->refinement);
}

json_t *trigger_improve_result(const struct trigger_improve *x) {
    return refinement_result(x->refinement);
}

const char *trigger_improve_doing(const struct trigger_improve *x) {
    return refinement_doing(x->refinement);
}
