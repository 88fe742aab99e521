#include "skills/evaluation/evaluation_room.h"

#include "base/err.h"
#include "base/http.h"
#include "skills/models/answer_cache.h"
#include "skills/models/model_client.h"

struct evaluation_room {
    uv_loop_t *loop;
    json_t *settings;
    json_t *models; /* the aliases */
    struct http *http;
    struct answer_cache *cache;
    struct model_client *client;
    LIST_HEAD(, evaluation_guest) guests;
    bool closing, client_closed;
};

struct evaluation_room *evaluation_room_new(uv_loop_t *loop, const json_t *settings) {
    struct evaluation_room *room = xcalloc(1, sizeof *room);
    room->loop = loop;
    room->settings = json_incref((json_t *)(uintptr_t)settings);
    room->models = json_object();
    json_object_update(room->models, json_object_get(settings, "models"));
    return room;
}

struct model_client *evaluation_room_client(struct evaluation_room *room) {
    if (!room->client && !room->closing) {
        room->http = http_new(room->loop);
        room->cache = answer_cache_new(NULL);
        struct model_client_options options = {.cache = room->cache};
        room->client = model_client_new(room->loop, room->http, &options);
    }
    return room->client;
}

struct http *evaluation_room_http(struct evaluation_room *room) {
    return evaluation_room_client(room) ? room->http : NULL;
}

const json_t *evaluation_room_models(const struct evaluation_room *room) {
    return room ? room->models : NULL;
}

void evaluation_room_learn(struct evaluation_room *room, const char *name,
                           json_t *model) {
    json_object_set_new(room->models, name, model);
}

const json_t *evaluation_room_setting(const struct evaluation_room *room,
                                      const char *key) {
    return room ? json_object_get(room->settings, key) : NULL;
}

json_t *evaluation_room_status(const struct evaluation_room *room) {
    if (!room) {
        return json_object();
    }
    const char *problem = room->cache ? answer_cache_problem(room->cache) : NULL;
    return json_pack("{s:o,s:o*}", "endpoints",
                     room->client ? model_client_status(room->client) : json_array(),
                     "answers", problem ? json_clean_z(problem) : NULL);
}

int evaluation_model_fail(struct call *call, const char *path, const char *address, const struct err *err) {
    if (err->code == -ENOKEY) {
        call_fail(call, CALL_UNAVAILABLE, "no_key",
                  "set the variable in the environment that starts the daemon", "%s",
                  err->msg);
    } else if (err->code == -EACCES) {
        call_fail(call, CALL_REFUSED, "untrusted",
                  "name it in your own configuration file", "%s", err->msg);
    } else {
        autofree char *hint =
            address ? xasprintf("`%s` takes the address of an endpoint, whose models a bare name then means", address)
                    : NULL;
        call_fail_at(call, path, CALL_BAD_PARAMS, "bad_params", hint, "%s", err->msg);
    }
    return -1;
}

/* --- the end --- */

static void free_when_empty(struct evaluation_room *room) {
    if (room->closing && room->client_closed && LIST_EMPTY(&room->guests)) {
        answer_cache_free(room->cache);
        json_decref(room->settings);
        json_decref(room->models);
        free(room);
    }
}

static void on_http_closed(void *data) {
    struct evaluation_room *room = data;
    room->client_closed = true;
    free_when_empty(room);
}

static void on_client_closed(void *data) {
    struct evaluation_room *room = data;
    http_close(room->http, on_http_closed, room);
}

void evaluation_room_close(struct evaluation_room *room) {
    room->closing = true;
    for (struct evaluation_guest *g = LIST_FIRST(&room->guests), *next; g; g = next) {
        next = LIST_NEXT(g, link);
        g->stop(g);
    }
    if (room->client) {
        model_client_close(take(room->client), on_client_closed, room);
    } else {
        on_http_closed(room);
    }
}

void evaluation_room_enter(struct evaluation_room *room, struct evaluation_guest *guest) {
    LIST_INSERT_HEAD(&room->guests, guest, link);
}

void evaluation_room_leave(struct evaluation_room *room, struct evaluation_guest *guest) {
    LIST_REMOVE(guest, link);
    free_when_empty(room);
}

struct evaluation_guest *evaluation_room_guest(const struct evaluation_room *room,
                                               void (*stop)(struct evaluation_guest *)) {
    struct evaluation_guest *g = LIST_FIRST(&room->guests);
    while (g && g->stop != stop) {
        g = LIST_NEXT(g, link);
    }
    return g;
}

struct evaluation_room *evaluation_room_of(const struct call_origin *origin) {
    return call_lent(origin, EVALUATION_ROOM_LENT);
}
