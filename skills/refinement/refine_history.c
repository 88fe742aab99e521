#include "skills/refinement/refine_history.h"

#include "base/buf.h"
#include "base/hash.h"

#include <string.h>

#define MAX_ATTEMPT 4096 /* bytes of one attempt's edits in a prompt */

static void forget(struct refine_attempt *a) {
    json_decref(a->edits);
    free(a->reason);
}

void refine_history_add(struct refine_history *h, const json_t *edits, const char *result,
                        const char *reason) {
    if (h->count == REFINE_HISTORY) {
        forget(&h->list[0]);
        memmove(h->list, h->list + 1, (REFINE_HISTORY - 1) * sizeof *h->list);
        h->count--;
    }
    struct refine_attempt *a = &h->list[h->count++];
    *a = (struct refine_attempt){.edits = json_incref((json_t *)(uintptr_t)edits),
                                 .reason = xstrdup(reason)};
    if (result) {
        hash_bytes_hex(result, strlen(result), a->digest);
    }
}

const char *refine_history_knows(const struct refine_history *h, const char *result) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(result, strlen(result), hex);
    for (size_t i = 0; i < h->count; i++) {
        if (strcmp(h->list[i].digest, hex) == 0) {
            return h->list[i].reason;
        }
    }
    return NULL;
}

static void write_attempt(const struct refine_attempt *a, size_t number,
                          struct buf *out) {
    autobuf edits = BUF_INIT(MAX_ATTEMPT);
    buf_addf(out, "Attempt %zu: ", number);
    if (a->edits && json_write(&edits, a->edits) == 0) {
        buf_add(out, edits.data, edits.len);
    } else {
        buf_adds(out, a->edits ? "(edits too long to repeat)" : "(no edits)");
    }
    buf_addf(out, "\nNot taken: %s\n", a->reason);
}

void refine_history_write(const struct refine_history *h, size_t max, struct buf *out) {
    size_t first = h->count, used = 0;
    while (first > 0) {
        autobuf one = BUF_INIT(2 * MAX_ATTEMPT);
        write_attempt(&h->list[first - 1], first, &one);
        if (used + one.len > max) {
            break;
        }
        used += one.len;
        first--;
    }
    for (size_t i = first; i < h->count; i++) {
        write_attempt(&h->list[i], i + 1, out);
    }
}

void refine_history_finish(struct refine_history *h) {
    for (size_t i = 0; i < h->count; i++) {
        forget(&h->list[i]);
    }
    h->count = 0;
}
