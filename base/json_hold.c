#include "base/json_hold.h"

#include <stdbool.h>

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

#define RELEASE_INLINE 4096 /* values that are freed at once */

/* Counts down for each value in it; whether there are more than that. */
static bool has_more_than(const json_t *value, size_t *left) {
    if (!*left) {
        return true;
    }
    --*left;
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_array(value)) {
        json_array_foreach(value, i, member) {
            if (has_more_than(member, left)) {
                return true;
            }
        }
    } else if (json_is_object(value)) {
        json_object_foreach((json_t *)(uintptr_t)value, key, member) {
            if (has_more_than(member, left)) {
                return true;
            }
        }
    }
    return false;
}

void json_release(uv_loop_t *loop, json_t *value) {
    size_t left = RELEASE_INLINE;
    if (loop && has_more_than(value, &left)) {
        json_hold_unref(json_hold_new(loop, value));
    } else {
        json_decref(value);
    }
}
