#include "base/rope.h"

#include "base/mem.h"

#include <errno.h>

void rope_finish(struct rope *rope) {
    buf_finish(&rope->own);
    free(take(rope->texts));
    rope->count = rope->borrowed = 0;
    if (rope->release) {
        void (*release)(void *) = take(rope->release);
        release(rope->owner);
    }
}

size_t rope_len(const struct rope *rope) {
    return rope->own.len + rope->borrowed;
}

int rope_add_text(struct rope *rope, const char *text, size_t len) {
    struct buf *own = &rope->own;
    if (own->full || len > own->max - own->len) {
        own->full = true;
        return -EMSGSIZE;
    }
    own->max -= len; /* own and borrowed bytes share the limit */
    rope->texts = xreallocarray(rope->texts, rope->count + 1, sizeof *rope->texts);
    rope->texts[rope->count++] = (struct rope_text){own->len, text, len};
    rope->borrowed += len;
    return 0;
}

static size_t add_piece(struct rope_piece *ret, size_t count, const char *bytes,
                        size_t len) {
    if (len) {
        ret[count++] = (struct rope_piece){bytes, len};
    }
    return count;
}

size_t rope_cut(const struct rope *rope, struct rope_piece *ret) {
    size_t count = 0, from = 0;
    for (size_t i = 0; i < rope->count; i++) {
        const struct rope_text *t = &rope->texts[i];
        count = add_piece(ret, count, rope->own.data + from, t->at - from);
        count = add_piece(ret, count, t->text, t->len);
        from = t->at;
    }
    return add_piece(ret, count, rope->own.data + from, rope->own.len - from);
}
