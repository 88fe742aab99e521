/* The refinement of a skill before it is saved. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/line_diff.h"
#include "skills/check/skill_check.h"
#include "skills/generation/generate_flow.h"
#include "skills/refinement/patch.h"
#include "skills/refinement/refine_prompt.h"
#include "skills/refinement/refine_students.h"
#include "skills/traces/redaction.h"

#define MAX_PROBLEMS 8u /* findings that a teacher is told at once */
#define LINE_PAIRS (4u << 20) /* that are compared */

struct refining {
    struct generating *g;
    generate_step *next;
    struct refinement *refinement;
    struct refine_students students;
    struct suite suite;
    struct skill skill;
    struct student list[EVALUATION_MAX_STUDENTS];
    struct model models[EVALUATION_MAX_STUDENTS];
    size_t model_count;
    struct model judge, teacher;
    bool has_judge, has_teacher;
    struct model_call *asking;
    struct skill_check *checking;
    enum refine_lack lack;  /* of a question that could not even be asked */
    struct err err, secret; /* secret: that the text holds which is checked */
};

static void free_refining(struct refining *x) {
    refine_students_finish(&x->students);
    if (x->refinement) {
        refinement_free(x->refinement);
    }
    for (size_t i = 0; i < x->model_count; i++) {
        model_finish(&x->models[i]);
    }
    if (x->has_judge) {
        model_finish(&x->judge);
    }
    if (x->has_teacher) {
        model_finish(&x->teacher);
    }
    if (x->skill.folder) {
        skill_finish(&x->skill);
    }
    suite_finish(&x->suite);
    free(x);
}

/* --- the end --- */

/* Edits moved the lines that events speak for. */
static void move_evidence(struct generating *g, const char *after) {
    struct line_diff d;
    line_diff_init(&d, g->draft.text, after, false, LINE_PAIRS);
    json_t *moved = json_array();
    json_each(g->draft.evidence, i, one) {
        json_int_t line = json_get_integer(one, "line", 0);
        size_t to = line > 0 && (size_t)line <= d.lines[0].count ? d.map[line - 1] : 0;
        if (to) {
            json_t *copy = json_copy((json_t *)(uintptr_t)one);
            json_object_set_new(copy, "line", json_integer((json_int_t)to));
            json_array_append_new(moved, copy);
        }
    }
    line_diff_finish(&d);
    json_decref(g->draft.evidence);
    g->draft.evidence = moved;
}

static void leave(struct generating *g, struct refining *x, json_t *result, char *text) {
    generate_step *next = x->next;
    g->refining = NULL;
    free_refining(x);
    if (generate_is_over(g)) {
        json_decref(result);
        free(text);
        generate_end(g);
        return;
    }
    g->refinement = result;
    if (!text) {
        next(g);
        return;
    }
    move_evidence(g, text);
    free(g->draft.text);
    g->draft.text = text;
    generate_stage_again(g, next);
}

static void on_done(struct refinement *r, enum refinement_stop, void *data) {
    struct refining *x = data;
    json_t *result = refinement_result(r);
    bool changed = strcmp(refinement_text(r), x->g->draft.text) != 0;
    leave(x->g, x, result, changed ? xstrdup(refinement_text(r)) : NULL);
}

/* It cannot even begin: the skill is saved as it is, and the result says why. */
static void give_up(struct refining *x, const char *why) {
    leave(x->g, x,
          json_pack("{s:[],s:i,s:s,s:o}", "rounds", "kept", 0, "stopped", "unavailable",
                    "problem", json_clean_z(why)),
          NULL);
}

/* --- what the engine asks for --- */

static void look(void *host, struct refinement *r, const struct refine_look *q) {
    struct refining *x = host;
    refine_students_look(&x->students, r, q);
}

static bool is_late(const struct generating *g) {
    return g->deadline_ms && clock_ms() >= g->deadline_ms;
}

static void on_taught(struct model_call *, const struct model_answer *a, void *data) {
    struct refining *x = data;
    x->asking = NULL;
    switch (a->outcome) {
    case MODEL_ANSWERED:
        refinement_taught(x->refinement, REFINE_FINE, a->json, NULL);
        break;
    case MODEL_REFUSED:
    case MODEL_TRUNCATED:
    case MODEL_INVALID:
        refinement_taught(x->refinement, REFINE_FINE, NULL, a->message);
        break;
    case MODEL_BUDGET:
        refinement_taught(x->refinement, REFINE_SPENT, NULL, a->message);
        break;
    case MODEL_CANCELLED:
        refinement_taught(x->refinement, REFINE_CANCELLED, NULL, a->message);
        break;
    default:
        refinement_taught(x->refinement, is_late(x->g) ? REFINE_SPENT : REFINE_NO_ANSWER,
                          NULL, a->message);
    }
}

static void do_nothing(struct generating *) {}

static void could_not_ask(struct generating *g) {
    struct refining *x = g->refining;
    refinement_taught(x->refinement, x->lack, NULL, x->err.msg);
}

static void teach(void *host, struct refinement *, const char *system,
                  const char *prompt) {
    struct refining *x = host;
    struct generating *g = x->g;
    autojson *schema = patch_schema();
    const struct model_message message = {.role = "user", .text = prompt};
    struct model_request request = {
        .model = &x->teacher,
        .system = system,
        .messages = &message,
        .message_count = 1,
        .max_tokens = x->teacher.max_tokens,
        .schema = schema,
        .schema_name = "edits",
        .deadline_ms =
            g->deadline_ms && !is_late(g) ? (unsigned)(g->deadline_ms - clock_ms()) : 0,
        .budget = &g->budget,
    };
    x->lack = is_late(g) ? REFINE_SPENT : REFINE_NO_ANSWER;
    if (x->lack == REFINE_SPENT ||
        model_call_start(evaluation_room_client(g->room), &request, NULL, on_taught, x,
                         &x->asking, &x->err) < 0) {
        generate_on_thread(g, do_nothing, could_not_ask);
    }
}

/* The errors in words, or NULL; those that `before` has, too, are no edit's fault. */
static char *errors_of(const json_t *check, const json_t *before) {
    autobuf words = BUF_INIT(8192);
    size_t count = 0;
    json_each(json_object_get(check, "findings"), i, finding) {
        if (json_says(finding, "severity", "error") &&
            !generate_has_finding(before, finding) && count++ < MAX_PROBLEMS) {
            buf_addf(&words, "%sline %d: %s (%s)", count > 1 ? "; " : "",
                     (int)json_get_integer(finding, "line", 0),
                     json_get_string(finding, "message", ""),
                     json_get_string(finding, "code", ""));
        }
    }
    return count ? buf_detach(&words) : NULL;
}

static void on_checked(struct skill_check *, json_t *result, void *data) {
    struct refining *x = data;
    autojson *owned = result;
    autofree char *problem =
        x->secret.code ? xstrdup(x->secret.msg) : errors_of(owned, x->g->check);
    x->checking = NULL;
    refinement_checked(x->refinement, owned ? REFINE_FINE : REFINE_CANCELLED, problem);
}

static void check(void *host, struct refinement *, const char *text) {
    struct refining *x = host;
    const struct material *m = &x->g->material;
    x->secret = (struct err){0};
    (void)skill_refuse_secret(m->redaction, m->has_base ? &m->base : NULL, "SKILL.md",
                              text, strlen(text), &x->secret);
    x->checking =
        skill_check_start(call_origin(x->g->call), x->g->stage.folder, NULL, text,
                          strlen(text), SKILL_CHECK_STRICT, NULL, on_checked, x);
}

static void stop(void *host) {
    struct refining *x = host;
    refine_students_stop(&x->students, x->asking, x->checking);
}

static void changed(void *host, struct refinement *r) {
    struct refining *x = host;
    json_t *so_far = refinement_result(r);
    json_object_set_new(so_far, "doing", json_string(refinement_doing(r)));
    call_set_partial(x->g->call, json_pack("{s:o}", "refinement", so_far));
    generate_report(x->g, GENERATE_REFINING, "refining: %s", refinement_doing(r));
}

static const struct refinement_hooks hooks = {look, teach, check, stop, changed};

void generate_refine_stop(struct generating *g) {
    struct refining *x = g->refining;
    if (x->refinement) {
        refinement_cancel(x->refinement);
    }
}

/* --- the beginning --- */

static unsigned number_of(const json_t *refine, const char *key, unsigned fallback) {
    const json_t *value = json_is_object(refine) ? json_object_get(refine, key) : NULL;
    return json_is_integer(value) ? (unsigned)json_integer_value(value) : fallback;
}

static int find_students(struct refining *x, const json_t *aliases) {
    json_each(x->g->request.students, i, one) {
        if (i == EVALUATION_MAX_STUDENTS) {
            break;
        }
        int rc = model_resolve(&x->models[i], one, aliases, x->g->request.students_url,
                               &x->err);
        if (rc < 0) {
            return rc;
        }
        x->list[x->model_count++] =
            (struct student){.name = x->models[i].name, .model = &x->models[i]};
    }
    return 0;
}

static int find_teacher(struct refining *x, const json_t *aliases) {
    const struct generate_request *q = &x->g->request;
    const json_t *named =
        json_is_object(q->refine) ? json_object_get(q->refine, "teacher") : NULL;
    int rc = 0;
    if (named) {
        rc = model_resolve(&x->teacher, named, aliases, NULL, &x->err);
    } else if (q->teacher == TEACHER_MODEL) {
        model_copy(&x->teacher, &q->model);
    } else {
        rc = err_set(&x->err, -EINVAL,
                     "refining needs a model as teacher: name one as teacher, or as "
                     "refine's own {\"teacher\": …}");
    }
    x->has_teacher = rc == 0;
    return rc;
}

static int find_judge(struct refining *x, const json_t *aliases) {
    const json_t *judge = evaluation_room_setting(x->g->room, "judge");
    int rc = judge ? model_resolve(&x->judge, judge, aliases, NULL, &x->err) : 0;
    x->has_judge = judge && rc == 0;
    return rc;
}

static int prepare(struct refining *x) {
    const json_t *aliases = evaluation_room_models(x->g->room);
    int rc = suite_from_json(&x->suite, x->g->tests, &x->err);
    rc = rc < 0 ? rc : find_students(x, aliases);
    rc = rc < 0 ? rc : find_teacher(x, aliases);
    return rc < 0 ? rc : find_judge(x, aliases);
}

static void open_skill(struct generating *g) {
    struct refining *x = g->refining;
    if (skill_open(&x->skill, g->stage.folder, false, &x->err) == 0) {
        skill_hide_tests(&x->skill);
    }
}

static void begin(struct generating *g) {
    struct refining *x = g->refining;
    if (g->cancelled || !x->skill.folder) {
        give_up(x, x->err.msg);
        return;
    }
    x->students = (struct refine_students){
        .options = {.loop = call_origin(g->call)->loop,
                    .origin = call_origin(g->call),
                    .models = evaluation_room_client(g->room),
                    .students = x->list,
                    .student_count = x->model_count,
                    .judge = x->has_judge ? &x->judge : NULL,
                    .model_aliases = evaluation_room_models(g->room),
                    .budget = &g->budget},
        .suite = &x->suite,
        .skill = &x->skill,
        .name = g->draft.name,
        .deadline_ms = g->deadline_ms,
    };
    const struct refinement_options options = {
        .text = g->draft.text,
        .rounds = generate_refine_rounds(&g->request),
        .runs = number_of(g->request.refine, "runs", 0),
        .redaction = g->material.redaction,
        .hooks = &hooks,
        .host = x,
        .done = on_done,
        .data = x,
    };
    x->refinement = refinement_start(&options);
}

void generate_refine(struct generating *g, generate_step *next) {
    if (!generate_refine_rounds(&g->request) || !json_array_size(g->request.students) ||
        !g->room) {
        next(g);
        return;
    }
    struct refining *x = xcalloc(1, sizeof *x);
    x->g = g;
    x->next = next;
    g->refining = x;
    if (prepare(x) < 0) {
        give_up(x, x->err.msg);
        return;
    }
    generate_report(g, GENERATE_REFINING, "refining");
    generate_on_thread(g, open_skill, begin);
}
