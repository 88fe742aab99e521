/* Checks the steps after the teacher before it is asked: an unusable student, editor or
 * agent is found before anything is paid for. */
#include "skills/generation/generate_request.h"

#include "base/err.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/install/agents.h"

#include <stdio.h>

#define DEFAULT_ROUNDS 4u

unsigned generate_refine_rounds(const struct generate_request *r) {
    const json_t *refine = r->refine, *rounds = json_object_get(refine, "rounds");
    return json_is_integer(refine)   ? (unsigned)json_integer_value(refine)
           : json_is_integer(rounds) ? (unsigned)json_integer_value(rounds)
           : json_is_object(refine) || json_is_true(refine) ? DEFAULT_ROUNDS
                                                            : 0;
}

/* A budget in money cannot be kept with a model of unknown price. */
static int check_price(const struct generate_request *r, struct call *call,
                       const struct model *model) {
    bool money = json_number_value(json_object_get(r->budget, "cost")) > 0;
    if (money && (model->price.input < 0 || model->price.output < 0)) {
        call_fail(call, CALL_REFUSED, "price_unknown",
                  "add the model's price to the configuration, or give a budget in "
                  "tokens",
                  "%s has no price, and the budget is in money", model->name);
        return -1;
    }
    return 0;
}

static int check_model(const struct generate_request *r, struct call *call,
                       const json_t *named, const char *base_url, const char *path) {
    const struct evaluation_room *room = evaluation_room_of(call_origin(call));
    struct model model;
    struct err err = {0};
    if (model_resolve(&model, named, evaluation_room_models(room), base_url, &err) < 0) {
        bool student = strncmp(path, "/students", 9) == 0;
        return evaluation_model_fail(call, path, student ? "students_url" : NULL, &err);
    }
    int rc = check_price(r, call, &model);
    model_finish(&model);
    return rc;
}

static int check_students(const struct generate_request *r, struct call *call) {
    json_each(r->students, i, one) {
        char path[32];
        snprintf(path, sizeof path, "/students/%zu", i);
        if (check_model(r, call, one, r->students_url, path) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Refining asks students, and a model that edits. */
static int check_refine(struct generate_request *r, struct call *call) {
    const struct evaluation_room *room = evaluation_room_of(call_origin(call));
    const json_t *editor = json_object_get(r->refine, "teacher");
    if (!generate_refine_rounds(r)) {
        return 0;
    }
    if (!json_array_size(r->students) && room) {
        r->students = evaluation_room_setting(room, "default_students");
    }
    if (!json_array_size(r->students)) {
        call_fail_param(call, "/students",
                        "refining fixes what students get wrong: name the models to ask "
                        "as `students`, or set default_students in the configuration");
        return -1;
    }
    if (editor) {
        return check_model(r, call, editor, NULL, "/refine/teacher");
    }
    if (r->teacher != TEACHER_MODEL) {
        call_fail_param(call, "/refine",
                        "refining needs a model that edits: name one as teacher, or as "
                        "refine's own: {\"teacher\": …}");
        return -1;
    }
    return 0;
}

static int check_agents(const struct generate_request *r, struct call *call) {
    struct agents agents;
    struct err err = {0};
    if (!json_array_size(r->install)) {
        return 0;
    }
    int rc = agents_load(&agents, &err);
    if (rc < 0) {
        call_fail_param(call, "/install", "%s", err.msg);
        return -1;
    }
    json_each(r->install, i, one) {
        const char *name = json_string_value(one);
        if (rc == 0 && !agents_find(&agents, name)) {
            rc = agents_unknown(&agents, name, &err);
            autofree char *path = xasprintf("/install/%zu", i);
            call_fail_param(call, path, "%s", err.msg);
        }
    }
    agents_finish(&agents);
    return rc < 0 ? -1 : 0;
}

int generate_measure_check(struct generate_request *r, struct call *call) {
    int rc = r->teacher == TEACHER_MODEL ? check_price(r, call, &r->model) : 0;
    rc = rc < 0 ? rc : check_refine(r, call);
    rc = rc < 0 ? rc : check_students(r, call);
    return rc < 0 ? rc : check_agents(r, call);
}
