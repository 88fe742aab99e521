#pragma once
/* check_room: kernel/check with the real worker or one that is played, for tests. */
#include "gpu/check/kernel_check.h"
#include "gpu/pool/pool.h"

struct check_room {
    uv_loop_t loop;
    struct gpu *gpu;
    struct call_origin origin;
    char dir[64]; /* the workspace: an empty folder */
    const char *roots[2];
    struct pool_worker_config worker;
    char *argv[8];
    int closed;
};

/* worker: a program, or NULL for the one that was built. */
void check_room_open(struct check_room *room, const char *worker);
/* The worker is a program with arguments: NULL-terminated, seven at most. */
void check_room_open_as(struct check_room *room, const char *const *words);
void check_room_close(struct check_room *room);
/* Runs until it is done. params are stolen. The result, or {"fault", "reason", "hint",
 * "message"}, or null when cancelled: a new reference. */
json_t *check_room_check(struct check_room *room, json_t *params);
/* A file in the workspace. */
void check_room_write(struct check_room *room, const char *name, const char *text);

/* The slot that a check's answer falls into, for tests that start several. */
struct check_answer {
    int calls;
    json_t *result;
};
kernel_check_done check_answer_take;
void check_room_run(struct check_room *room, struct check_answer *answers, int count);

/* False, and a word on stderr, when this machine has no CUDA compiler. */
bool check_room_has_compiler(void);
