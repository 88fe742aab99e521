/* skill/find and skill/list. The catalog is asked by words, and, where the user has an
 * endpoint for embeddings, by how near the task and what the words found are in its
 * model's eyes. */
#include "skills/finding/find_operation.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "skills/catalog/catalog.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/models/model_client.h"
#include "skills/skill_find.operation.h"
#include "skills/skill_list.operation.h"
#include "skills/skill_operations.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ENDPOINT_MS 10000u /* for all that it is asked; then words alone must do */
#define TASK_MAX 8000u     /* bytes of a task that are compared */

struct finding;

struct compared { /* the task, or a skill */
    struct finding *finding;
    struct model_call *asking; /* NULL: not, or no more */
    json_t *vector;
};

struct finding {
    struct skills *skills;
    struct call *call; /* a reference */
    struct evaluation_room *room;
    struct evaluation_guest guest;
    struct model model;
    json_t *scopes, *candidates; /* of catalog_candidates */
    struct compared *compared;   /* the task, then each of them */
    size_t count, pending;
    bool cancelled;
    char problem[512]; /* why embeddings have no say */
};

/* --- answering --- */

/* What belongs to one agent is the user's too. */
static json_t *scopes_of(const json_t *params) {
    json_t *given = json_object_get(params, "scopes");
    if (!given) {
        return NULL;
    }
    json_t *scopes = json_copy(given);
    for (size_t i = 0; i < json_array_size(given); i++) {
        if (strcmp(json_string_value(json_array_get(given, i)), "user") == 0) {
            json_array_append_new(scopes, json_string("agent"));
        }
    }
    return scopes;
}

static void reply_or_fail(struct call *call, json_t *result, const struct err *err) {
    if (result) {
        call_reply(call, result);
    } else {
        call_fail(call, CALL_UNAVAILABLE, "no_index", "the daemon's status says more",
                  "%s", err->msg);
    }
}

/* near: of catalog_find_near, or NULL. */
static void answer(struct finding *f, const json_t *near) {
    struct err err = {0};
    const json_t *params = call_params(f->call);
    json_t *result =
        catalog_find_near(skills_catalog(f->skills), json_get_string(params, "task", ""),
                          (unsigned)json_get_integer(params, "limit", 5), f->scopes,
                          json_get_string(params, "model", NULL), near, &err);
    if (result && f->problem[0]) {
        json_object_set_new(result, "problem", json_clean_z(f->problem));
    }
    reply_or_fail(f->call, result, &err);
}

static void finding_end(struct finding *f) {
    if (f->room) {
        evaluation_room_leave(f->room, &f->guest);
    }
    for (size_t i = 0; i < f->count; i++) {
        json_decref(f->compared[i].vector);
    }
    model_finish(&f->model);
    free(f->compared);
    json_decref(f->candidates);
    json_decref(f->scopes);
    call_unref(f->call);
    free(f);
}

/* --- embeddings --- */

/* NAN unless both are vectors of one length. */
static double cosine(const json_t *a, const json_t *b) {
    double product = 0, aa = 0, bb = 0;
    if (json_array_size(a) != json_array_size(b)) {
        return NAN;
    }
    json_each(a, i, number) {
        double x = json_number_value(number), y = json_number_value(json_array_get(b, i));
        product += x * y;
        aa += x * x;
        bb += y * y;
    }
    return product / sqrt(aa * bb);
}

static json_t *nearness(const struct finding *f) {
    json_t *near = json_object();
    for (size_t i = 1; i < f->count; i++) {
        double c = cosine(f->compared[0].vector, f->compared[i].vector);
        const char *digest =
            json_get_string(json_array_get(f->candidates, i - 1), "digest", "");
        if (isfinite(c)) {
            json_object_set_new(near, digest, json_real(c));
        }
    }
    return near;
}

static void all_answered(struct finding *f) {
    if (f->cancelled) {
        call_stopped(f->call);
    } else {
        autojson *near = f->problem[0] ? NULL : nearness(f);
        answer(f, near);
    }
    finding_end(f);
}

static void stop_asking(struct finding *f) {
    for (size_t i = 0; i < f->count; i++) {
        if (f->compared[i].asking) {
            model_call_cancel(f->compared[i].asking);
        }
    }
}

static void give_up(struct finding *f, const char *why) {
    if (!f->problem[0]) {
        snprintf(f->problem, sizeof f->problem, "embeddings had no say: %.480s", why);
        stop_asking(f);
    }
}

static void on_vector(struct model_call *call, const struct model_answer *a, void *data) {
    struct compared *c = data;
    struct finding *f = c->finding;
    (void)call;
    c->asking = NULL;
    autofree char *text = xstrdup(a->text);
    c->vector =
        a->outcome == MODEL_ANSWERED ? json_parse(text, strlen(text), NULL) : NULL;
    if (!json_array_size(c->vector) && !f->cancelled) {
        give_up(f, a->message[0] ? a->message : "the endpoint gave no vector");
    }
    if (--f->pending == 0) {
        all_answered(f);
    }
}

static int compare(struct finding *f, struct compared *c, const char *text,
                   struct err *err) {
    const struct model_message message = {.role = "user", .text = text};
    const struct model_request request = {.model = &f->model,
                                          .messages = &message,
                                          .message_count = 1,
                                          .deadline_ms = ENDPOINT_MS};
    c->finding = f;
    return model_call_start(evaluation_room_client(f->room), &request, NULL, on_vector, c,
                            &c->asking, err);
}

static int compare_all(struct finding *f, struct err *err) {
    const char *task = json_get_string(call_params(f->call), "task", "");
    autofree char *start = xstrndup(task, text_cut(task, strlen(task), TASK_MAX));
    f->compared = xcalloc(json_array_size(f->candidates) + 1, sizeof *f->compared);
    int rc = compare(f, &f->compared[f->count], start, err);
    f->count += rc == 0;
    json_each(f->candidates, i, one) {
        rc = rc < 0 ? rc
                    : compare(f, &f->compared[f->count], json_get_string(one, "text", ""),
                              err);
        f->count += rc == 0;
    }
    f->pending = f->count;
    return rc;
}

static void on_cancel(struct call *call, void *data) {
    struct finding *f = data;
    (void)call;
    f->cancelled = true;
    stop_asking(f);
}

/* The room's connections are closed next, which ends the questions. */
static void on_room_closing(struct evaluation_guest *guest) {
    (void)guest;
}

static int find_model(struct finding *f, const json_t *named, struct err *err) {
    int rc = model_resolve(&f->model, named, evaluation_room_models(f->room), NULL, err);
    if (rc == 0 && f->model.api != MODEL_CHAT) {
        rc = err_set(err, -EINVAL,
                     "%s has no embeddings: name one of api openai or generic",
                     f->model.name);
    }
    f->model.api = MODEL_EMBEDDINGS;
    return rc;
}

static void find_by_both(struct finding *f, const json_t *named) {
    struct err err = {0};
    const json_t *params = call_params(f->call);
    f->guest.stop = on_room_closing;
    evaluation_room_enter(f->room, &f->guest);
    f->candidates = catalog_candidates(
        skills_catalog(f->skills), json_get_string(params, "task", ""), f->scopes, &err);
    int rc = f->candidates ? find_model(f, named, &err) : -EAGAIN;
    rc = rc < 0 ? rc : compare_all(f, &err);
    if (rc < 0) {
        give_up(f, err.msg);
    }
    if (f->pending) {
        call_on_cancel(f->call, on_cancel, f);
    } else {
        all_answered(f);
    }
}

static void find_go(struct skills *s, struct call *call, const json_t *params) {
    struct evaluation_room *room = evaluation_room_of(call_origin(call));
    const json_t *named = evaluation_room_setting(room, "embeddings");
    struct finding *f = xcalloc(1, sizeof *f);
    *f = (struct finding){
        .skills = s, .call = call_ref(call), .scopes = scopes_of(params)};
    if (named) {
        f->room = room;
        find_by_both(f, named);
    } else {
        answer(f, NULL);
        finding_end(f);
    }
}

static void find_start(struct call *call, const json_t *params) {
    (void)params;
    skills_when_current(call, find_go);
}

/* --- skill/list --- */

static void list_go(struct skills *s, struct call *call, const json_t *params) {
    struct err err = {0};
    autojson *scopes = scopes_of(params);
    json_t *list = catalog_list(skills_catalog(s), scopes, &err);
    reply_or_fail(call, list ? json_pack("{s:o}", "skills", list) : NULL, &err);
}

static void list_start(struct call *call, const json_t *params) {
    (void)params;
    skills_when_current(call, list_go);
}

const struct operation find_operations[] = {
    {SKILL_FIND_OPERATION, .start = find_start, .describe = skill_find_describe},
    {SKILL_LIST_OPERATION, .start = list_start, .describe = skill_list_describe},
};
const size_t find_operation_count = ARRAY_LEN(find_operations);
