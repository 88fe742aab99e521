/* Any text: what is found lies within it and in its order, what is learnt is hidden, and
 * the output has its length. */
#include "base/buf.h"
#include "base/mem.h"
#include "skills/traces/redaction.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct order {
    size_t len, behind, count;
};

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static bool on_secret(size_t start, size_t end, void *data) {
    struct order *o = data;
    check(start >= o->behind && start < end && end <= o->len);
    o->behind = end;
    o->count++;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    /* Its own allocation, without a NUL behind it. */
    autofree char *text = malloc(size + (size == 0));
    memcpy(text, data, size);
    struct redaction *r = redaction_new(NULL);
    struct order order = {.len = size};
    autobuf out = BUF_INIT(64 << 20);
    redaction_find(r, text, size, on_secret, &order);
    check(redaction_apply(r, &out, text, size) >= order.count);
    check(!out.full && (order.count > 0 || out.len <= size + 16 * size));
    redaction_learn(r, text, size);
    buf_reset(&out);
    redaction_apply(r, &out, text, size);
    check(!out.full);
    redaction_free(r);
    return 0;
}
