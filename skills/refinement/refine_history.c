#include "skills/refinement/refine_history.h"

#include "base/buf.h"
#include "base/hash.h"

#include <string.h>

#define MAX_ATTEMPT 4096 /* bytes of one attempt's edits in a prompt */

void refine_history_add(struct refine_history *h, const json_t *edits, const char *result,
                        const char *reason) {
    char hex[HASH_HEX_SIZE];
    if (result) {
        hash_bytes_hex(result, strlen(result), hex);
    }
    h->list = h->list ? h->list : json_array();
    json_array_append_new(h->list, json_pack("{s:O*,s:o,s:s*}", "edits", edits, "reason",
                                             json_text(reason, strlen(reason)), "digest",
                                             result ? hex : NULL));
    if (json_array_size(h->list) > REFINE_HISTORY) {
        json_array_remove(h->list, 0);
    }
}

const char *refine_history_knows(const struct refine_history *h, const char *result) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(result, strlen(result), hex);
    json_each(h->list, i, attempt) {
        if (strcmp(json_get_string(attempt, "digest", ""), hex) == 0) {
            return json_get_string(attempt, "reason", "");
        }
    }
    return NULL;
}

static void write_attempt(const json_t *a, size_t number, struct buf *out) {
    const json_t *given = json_object_get(a, "edits");
    autobuf edits = BUF_INIT(MAX_ATTEMPT);
    buf_addf(out, "Attempt %zu: ", number);
    if (given && json_write(&edits, given) == 0) {
        buf_add(out, edits.data, edits.len);
    } else {
        buf_adds(out, given ? "(edits too long to repeat)" : "(no edits)");
    }
    buf_addf(out, "\nNot taken: %s\n", json_get_string(a, "reason", ""));
}

void refine_history_write(const struct refine_history *h, size_t max, struct buf *out) {
    size_t count = json_array_size(h->list), first = count, used = 0;
    while (first > 0) {
        autobuf one = BUF_INIT(2 * MAX_ATTEMPT);
        write_attempt(json_array_get(h->list, first - 1), first, &one);
        if (used + one.len > max) {
            break;
        }
        used += one.len;
        first--;
    }
    for (size_t i = first; i < count; i++) {
        write_attempt(json_array_get(h->list, i), i + 1, out);
    }
}

void refine_history_finish(struct refine_history *h) {
    json_decref(take(h->list));
}
