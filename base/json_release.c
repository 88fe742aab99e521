#include "base/json_release.h"

#include "base/work.h"

static void release(void *value) {
    json_decref(value);
}

#define RELEASE_INLINE 4096 /* values that are freed at once */

/* Counts down for each value in it; whether there are more than that. */
static bool has_more_than(const json_t *value, size_t *left) {
    if (!*left) {
        return true;
    }
    --*left;
    json_each(value, i, item) {
        if (has_more_than(item, left)) {
            return true;
        }
    }
    json_each_member(value, key, member) {
        if (has_more_than(member, left)) {
            return true;
        }
    }
    return false;
}

void json_release(uv_loop_t *loop, json_t *value) {
    size_t left = RELEASE_INLINE;
    if (loop && has_more_than(value, &left)) {
        work_start(loop, release, NULL, value);
    } else {
        json_decref(value);
    }
}
