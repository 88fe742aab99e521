#include "check_room.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/compile/toolkit.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *lend(void *host, const char *name) {
    return strcmp(name, GPU_LENT) == 0 ? host : NULL;
}

void check_room_open_as(struct check_room *room, const char *const *words) {
    memset(room, 0, sizeof *room);
    strcpy(room->dir, "/tmp/check-room-XXXXXX");
    cr_assert_not_null(mkdtemp(room->dir));
    room->roots[0] = room->dir;
    for (size_t i = 0; words[i]; i++) {
        cr_assert_lt(i + 1, ARRAY_LEN(room->argv));
        room->argv[i] = xstrdup(words[i]);
    }
    room->worker.argv = room->argv;
    struct pool_config pool = {.workers = &room->worker, .count = 1};
    struct gpu_config config = {.pool = &pool};
    uv_loop_init(&room->loop);
    room->gpu = gpu_new(&room->loop, &config);
    room->origin = (struct call_origin){.loop = &room->loop,
                                        .client = "",
                                        .roots = room->roots,
                                        .host = room->gpu,
                                        .lend = lend};
}

void check_room_open(struct check_room *room, const char *worker) {
    const char *words[] = {worker ? worker : getenv("UPSKILLD_WORKER"), NULL};
    check_room_open_as(room, words);
}

static void on_closed(void *data) {
    *(int *)data += 1;
}

void check_room_close(struct check_room *room) {
    gpu_close(room->gpu, on_closed, &room->closed);
    uv_run(&room->loop, UV_RUN_DEFAULT);
    cr_assert_eq(room->closed, 1);
    cr_assert_eq(uv_loop_close(&room->loop), 0);
    dir_remove(room->dir, NULL);
    for (size_t i = 0; i < ARRAY_LEN(room->argv); i++) {
        free(room->argv[i]);
    }
}

void check_room_write(struct check_room *room, const char *name, const char *text) {
    struct root root;
    cr_assert_eq(root_open(&root, room->dir, NULL), 0);
    cr_assert_eq(root_write(&root, name, text, strlen(text), 0644, NULL), 0);
    root_close(&root);
}

void check_answer_take(json_t *result, const struct check_refusal *failure, void *data) {
    struct check_answer *answer = data;
    answer->calls++;
    if (failure) {
        answer->result = json_pack("{s:i, s:s, s:s?, s:s}", "fault", (int)failure->fault,
                                   "reason", failure->reason, "hint", failure->hint,
                                   "message", failure->message);
    } else {
        answer->result = result ? result : json_null();
    }
}

void check_room_run(struct check_room *room, struct check_answer *answers, int count) {
    uint64_t end = clock_ms() + 60000;
    for (int i = 0; i < count; i++) {
        while (!answers[i].calls && clock_ms() < end) {
            uv_run(&room->loop, UV_RUN_ONCE);
        }
        cr_assert_eq(answers[i].calls, 1, "no answer within a minute");
    }
}

json_t *check_room_check(struct check_room *room, json_t *params) {
    struct check_answer answer = {0};
    kernel_check_start(room->gpu, params, &room->origin, check_answer_take, &answer);
    json_decref(params);
    cr_assert_eq(answer.calls, 0, "never from inside");
    check_room_run(room, &answer, 1);
    return answer.result;
}

bool check_room_has_compiler(void) {
    size_t count;
    struct toolkit *toolkits = toolkits_find(&count);
    toolkits_free(toolkits, count);
    if (!count) {
        fprintf(stderr, "no CUDA compiler here: not tested\n");
    }
    return count > 0;
}
