#include "base/json_hold.h"

struct json_hold {
    uv_work_t work;
    uv_loop_t *loop;
    json_t *value;
    size_t holders;
};

struct json_hold *json_hold_new(uv_loop_t *loop, json_t *value) {
    struct json_hold *hold = xcalloc(1, sizeof *hold);
    hold->loop = loop;
    hold->value = value;
    hold->holders = 1;
    return hold;
}

struct json_hold *json_hold_ref(struct json_hold *hold) {
    hold->holders++;
    return hold;
}

const json_t *json_hold_value(const struct json_hold *hold) {
    return hold ? hold->value : NULL;
}

static void on_thread(uv_work_t *work) {
    json_decref(take(container_of(work, struct json_hold, work)->value));
}

static void on_freed(uv_work_t *work, int status) {
    (void)status; /* nobody cancels it */
    free(container_of(work, struct json_hold, work));
}

void json_hold_unref(struct json_hold *hold) {
    if (hold && --hold->holders == 0) {
        uv_queue_work(hold->loop, &hold->work, on_thread, on_freed);
    }
}
