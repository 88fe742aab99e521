/* Bare names in a call's params become the room's aliases. */
#include "skills/evaluation/named_models.h"

#include "base/err.h"
#include "base/strings.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/models/model_names.h"

struct learning {
    struct skills *skills;
    struct call *call; /* a reference */
    struct evaluation_room *room;
    struct evaluation_guest guest;
    json_t *names; /* {name: the pointer of its parameter} */
    skills_go *go;
};

/* --- the names --- */

/* The words that a parameter accepts besides models. */
static bool is_other_word(const struct evaluation_room *room, const char *name) {
    static const char *const words[] = {"builtin", "host", "model", NULL};
    return strings_have(words, name) || agent_student_is(name) ||
           json_object_get(evaluation_room_setting(room, "students"), name);
}

static void add_bare(const struct evaluation_room *room, const json_t *named,
                     const char *path, json_t *names) {
    const char *name = json_string_value(named);
    json_each(named, i, one) {
        autofree char *at = xasprintf("%s/%zu", path, i);
        add_bare(room, one, at, names);
    }
    if (name && model_name_is_bare(name, evaluation_room_models(room)) &&
        !is_other_word(room, name)) {
        json_object_set_new(names, name, json_string(path));
    }
}

static json_t *bare_names(const struct evaluation_room *room, const json_t *params,
                          const struct named_models *of) {
    json_t *names = json_object();
    for (; of->named; of++) {
        const json_t *named = json_object_get(params, of->named);
        if (!of->address || !json_object_get(params, of->address)) {
            autofree char *path = xasprintf("/%s", of->named);
            add_bare(room, named ? named : evaluation_room_setting(room, of->setting),
                     path, names);
        }
    }
    return names;
}

/* --- their lists --- */

static void learning_end(struct learning *l) {
    evaluation_room_leave(l->room, &l->guest);
    call_unref(l->call);
    json_decref(l->names);
    free(l);
}

/* -1 once the call has failed. */
static int learn_all(struct learning *l, const json_t *lists) {
    json_each_member(l->names, name, path) {
        struct err err = {0};
        json_t *model = model_names_choose(lists, name, &err);
        if (!model) {
            call_fail_param(l->call, json_string_value(path), "%s", err.msg);
            return -1;
        }
        evaluation_room_learn(l->room, name, model);
    }
    return 0;
}

static void on_listed(const json_t *lists, void *data) {
    struct learning *l = data;
    if (call_ended(l->call)) { /* cancelled meanwhile */
        call_stopped(l->call);
    } else if (learn_all(l, lists) == 0) {
        l->go(l->skills, l->call, call_params(l->call));
    }
    learning_end(l);
}

/* The room's connections are closed next, which ends the lists. */
static void on_room_closing(struct evaluation_guest *) {}

void named_models_learn(struct skills *s, struct call *call, const json_t *params,
                        const struct named_models *of, skills_go *go) {
    struct evaluation_room *room = evaluation_room_of(call_origin(call));
    struct http *http = room ? evaluation_room_http(room) : NULL;
    autojson *names = http ? bare_names(room, params, of) : NULL;
    if (!json_object_size(names)) {
        go(s, call, params);
        return;
    }
    struct learning *l = xcalloc(1, sizeof *l);
    *l = (struct learning){.skills = s,
                           .call = call_ref(call),
                           .room = room,
                           .guest = {.stop = on_room_closing},
                           .names = json_incref(names),
                           .go = go};
    evaluation_room_enter(room, &l->guest);
    /* If no endpoint can be asked, the code that resolves the name reports how to write
     * it. */
    if (model_names_list(http, on_listed, l, NULL) < 0) {
        go(s, call, params);
        learning_end(l);
    }
}
