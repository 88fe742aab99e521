#pragma once
/* evaluation_room: what the daemon's evaluations share, and their operation.
 *
 * The HTTP client, the answer cache and the model client are made at the first evaluation
 * (starting a daemon loads no libcurl and opens no database). Single-threaded. */
#include "protocol/operation.h"

#include <uv.h>

struct evaluation_room;
struct err;
struct model_client;
struct call_origin;

struct evaluation_room_config {
    const json_t *models;   /* the configuration's `models`, or NULL; kept */
    const json_t *students; /* its `students`: {name: agent_student.h's object}; kept */
    const json_t *defaults; /* its `default_students`: names, or NULL; kept */
    const char *judge;      /* its `judge`: a name, or NULL; copied */
    const char *teacher; /* its `teacher`: a name, "host", "builtin", or NULL; copied */
    const char *links;   /* its `links`: "public", "none" or "any"; static */
};
struct evaluation_room *evaluation_room_new(uv_loop_t *loop,
                                            const struct evaluation_room_config *config);
/* Stops what runs, closes the connections, then frees. */
void evaluation_room_close(struct evaluation_room *room);

/* Made when it is first asked for; the room's. NULL once the room is closing. */
struct model_client *evaluation_room_client(struct evaluation_room *room);
/* What the configuration says, borrowed; NULL where it says nothing (links: "public"). */
const json_t *evaluation_room_models(const struct evaluation_room *room);
const json_t *evaluation_room_students(const struct evaluation_room *room);
const json_t *evaluation_room_defaults(const struct evaluation_room *room);
const json_t *evaluation_room_judge(const struct evaluation_room *room);
const json_t *evaluation_room_teacher(const struct evaluation_room *room);
const char *evaluation_room_links(const struct evaluation_room *room);
/* Part of daemon/status: {"endpoints", "answers"?: a problem}. NULL is fine. New
 * reference. */
json_t *evaluation_room_status(const struct evaluation_room *room);

/* Whoever works in the room: told to stop when it closes, and must leave it then. */
struct evaluation_guest {
    void (*stop)(struct evaluation_guest *guest);
    struct evaluation_guest *next, **link;
};
/* guest is embedded by its owner. A room that closes is freed when the last has left. */
void evaluation_room_enter(struct evaluation_room *room, struct evaluation_guest *guest);
void evaluation_room_leave(struct evaluation_room *room, struct evaluation_guest *guest);

/* Fail the call because of a model that cannot be asked: err of model_read and its kin
 * (-ENOKEY, -EACCES, or params that are wrong at `path`). Returns -1. */
int evaluation_model_fail(struct call *call, const char *path, const struct err *err);

/* The daemon says once how a call's host leads to its room; without that, and for a NULL
 * origin, evaluation_room_of gives NULL. It gives NULL too when the daemon is ending. */
#define EVALUATION_ROOM_LENT "evaluation_room" /* by the host of an origin */
struct evaluation_room *evaluation_room_of(const struct call_origin *origin);

extern const struct operation evaluation_operations[];
extern const size_t evaluation_operation_count;
