/* Chooses the writer of the skill. */
#include "skills/generation/generate_request.h"

#include "base/err.h"
#include "skills/evaluation/evaluation_room.h"

#define MAX_KEYS 300u /* the configuration holds at most 256 models */

static const char *const provider_keys[] = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY",
                                            "GENERIC_API_KEY", "HF_TOKEN"};

const char *teacher_kind(enum teacher teacher) {
    return teacher == TEACHER_MODEL  ? "model"
           : teacher == TEACHER_HOST ? "host"
                                     : "builtin";
}

const char **generate_teacher_keys(const struct evaluation_room *room) {
    const char **list = xcalloc(MAX_KEYS + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(provider_keys); i++) {
        const char *value = getenv(provider_keys[i]);
        if (value) {
            list[count++] = value;
        }
    }
    const char *name;
    json_t *model;
    json_object_foreach((json_t *)(uintptr_t)(evaluation_room_models(room)), name,
                        model) {
        const char *variable = json_get_string(model, "key_env", NULL);
        const char *value = variable ? getenv(variable) : NULL;
        if (value && count < MAX_KEYS) {
            list[count++] = value;
        }
    }
    return list;
}

void generate_teacher_finish(struct generate_request *r) {
    if (r->teacher == TEACHER_MODEL) {
        model_finish(&r->model);
    }
    free(r->hidden);
}

/* The first model of the configuration, or NULL. */
static const char *first_model(const struct evaluation_room *room) {
    json_t *models = (json_t *)(uintptr_t)evaluation_room_setting(room, "models");
    void *first = json_object_iter(models);
    return first ? json_object_iter_key(first) : NULL;
}

const char *generate_key_there(void) {
    return getenv("ANTHROPIC_API_KEY") ? "ANTHROPIC_API_KEY"
           : getenv("OPENAI_API_KEY")  ? "OPENAI_API_KEY"
                                       : NULL;
}

static int fail_no_model(struct call *call) {
    const char *key = generate_key_there();
    call_fail(
        call, CALL_UNAVAILABLE, "no_teacher",
        "name it: `teacher` with a model's name, or set teacher in the configuration; "
        "builtin needs none",
        key ? "no model is configured as teacher; %s is set, but does not say for which "
              "model"
            : "no model is configured as teacher%s",
        key ? key : "");
    return -1;
}

/* Nobody was named. */
static const json_t *default_teacher(const struct evaluation_room *room,
                                     const struct call_origin *origin, json_t **made) {
    const json_t *teacher = evaluation_room_setting(room, "teacher");
    const char *first = room && !teacher ? first_model(room) : NULL;
    *made = teacher ? NULL
                    : json_string(first            ? first
                                  : origin->writes ? "host"
                                                   : "builtin");
    return teacher ? teacher : *made;
}

int generate_teacher_read(struct generate_request *ret, struct call *call,
                          const json_t *params) {
    const struct evaluation_room *room = evaluation_room_of(call_origin(call));
    const json_t *teacher = json_object_get(params, "teacher");
    autojson *made = NULL;
    const char *name = json_string_value(teacher);
    if (name && strcmp(name, "model") == 0) {
        teacher = evaluation_room_setting(room, "teacher");
        const char *first = room && !teacher ? first_model(room) : NULL;
        teacher = teacher ? teacher : (made = first ? json_string(first) : NULL);
        if (!teacher) {
            return fail_no_model(call);
        }
    } else if (!teacher) {
        teacher = default_teacher(room, call_origin(call), &made);
    }
    name = json_string_value(teacher);
    if (name && (strcmp(name, "builtin") == 0 || strcmp(name, "host") == 0)) {
        ret->teacher = *name == 'h' ? TEACHER_HOST : TEACHER_BUILTIN;
        return 0;
    }
    struct err err = {0};
    if (model_resolve(&ret->model, teacher, evaluation_room_models(room),
                      json_get_string(params, "base_url", NULL), &err) < 0) {
        return evaluation_model_fail(call, "/teacher", "base_url", &err);
    }
    ret->teacher = TEACHER_MODEL;
    return 0;
}
