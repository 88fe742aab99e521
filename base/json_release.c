#include "base/json_release.h"

#include "base/work.h"

#include <stdbool.h>

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
        work_start(loop, release, NULL, value);
    } else {
        json_decref(value);
    }
}
