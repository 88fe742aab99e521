#pragma once
/* evaluation_room: shared state of the daemon's evaluations, and their operation.
 *
 * The HTTP client, the answer cache and the model client are created at the first
 * evaluation (starting a daemon loads no libcurl and opens no database).
 * Single-threaded. */
#include "protocol/operation.h"

#include <sys/queue.h>

struct evaluation_room;
struct http;
struct model_client;

/* settings: the configuration's, by key; kept. */
struct evaluation_room *evaluation_room_new(uv_loop_t *loop, const json_t *settings);
/* Stops running evaluations, closes the connections, then frees. */
void evaluation_room_close(struct evaluation_room *room);

/* Created at the first call; owned by the room. NULL once the room is closing. */
struct model_client *evaluation_room_client(struct evaluation_room *room);
/* Created together with it; likewise owned and NULL. */
struct http *evaluation_room_http(struct evaluation_room *room);
/* The aliases of models: the configuration's `models`, and those that
 * evaluation_room_learn added (model is stolen). Borrowed; NULL for a NULL room. */
const json_t *evaluation_room_models(const struct evaluation_room *room);
void evaluation_room_learn(struct evaluation_room *room, const char *name, json_t *model);
/* The configuration's `models`, `students` ({name: agent_student.h's object}),
 * `default_students`, `judge`, `teacher` ("host", "builtin" or a model's name) or `links`
 * ("public", "none", "any"): borrowed, NULL if not configured or if room is NULL. */
const json_t *evaluation_room_setting(const struct evaluation_room *room,
                                      const char *key);
/* Part of daemon/status: {"endpoints", "answers"?: a problem}. NULL is fine. New
 * reference. */
json_t *evaluation_room_status(const struct evaluation_room *room);

/* A user of the room, whose stop() is called when the room closes; it must then leave. */
struct evaluation_guest {
    void (*stop)(struct evaluation_guest *guest);
    LIST_ENTRY(evaluation_guest) link;
};
/* The owner embeds guest. A closing room is freed when the last guest has left. */
void evaluation_room_enter(struct evaluation_room *room, struct evaluation_guest *guest);
void evaluation_room_leave(struct evaluation_room *room, struct evaluation_guest *guest);
/* The guest with this stop(), for kinds that have only one; or NULL. */
struct evaluation_guest *evaluation_room_guest(const struct evaluation_room *room,
                                               void (*stop)(struct evaluation_guest *));

/* Fail the call because of a model that cannot be asked: err of model_read and its kin
 * (-ENOKEY, -EACCES, or params that are wrong at `path`). address: the parameter that takes
 * the endpoint of a bare name, or NULL. Returns -1. */
int evaluation_model_fail(struct call *call, const char *path, const char *address, const struct err *err);

/* The room of a call's origin; NULL for a NULL origin, if the host provides none, or
 * while the daemon is ending. */
#define EVALUATION_ROOM_LENT "evaluation_room" /* call_lent() name */
struct evaluation_room *evaluation_room_of(const struct call_origin *origin);

extern const struct operation evaluation_operations[];
extern const size_t evaluation_operation_count;
