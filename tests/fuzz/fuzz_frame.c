/* Whatever the bytes and however they are split, the same messages and faults come out.
 */
#include "base/buf.h"
#include "protocol/rpc/frame.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_message(enum frame_mode mode, char *body, size_t len, struct buf *attached,
                       void *data) {
    struct buf *out = data;
    if (body[len] != '\0') {
        abort();
    }
    buf_addf(out, "%d:%zu:", mode, len);
    buf_add(out, body, len);
    if (attached) {
        buf_addf(out, "+%zu:", attached->len);
        buf_add(out, attached->data, attached->len);
    }
    memset(body, 0, len);
    return true;
}

static void on_fault(enum frame_mode mode, enum frame_fault fault, const char *head,
                     size_t len, void *data) {
    struct buf *out = data;
    unsigned sum = 0;
    for (size_t i = 0; i < len; i++) { /* all of it must be readable */
        sum += (unsigned char)head[i];
    }
    buf_addf(out, "!%d:%d%s", mode, fault, sum == UINT32_MAX ? "!" : "");
}

static void feed(const char *bytes, size_t len, size_t step, size_t max_attached,
                 struct buf *out) {
    static const struct frame_events events = {on_message, on_fault};
    struct frame_decoder *d = frame_decoder_new(64, &events, out);
    frame_decoder_attach(d, max_attached);
    for (size_t at = 0; at < len; at += step) {
        frame_feed(d, bytes + at, len - at < step ? len - at : step);
    }
    frame_decoder_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    struct buf whole = BUF_INIT(1u << 24), split = BUF_INIT(1u << 24);
    const char *bytes = (const char *)data + 1;
    size_t max_attached = data[0] & 128 ? 64 : 0;
    feed(bytes, size - 1, size, max_attached, &whole);
    feed(bytes, size - 1, 1 + data[0] % 32, max_attached, &split);
    if (whole.len != split.len || memcmp(whole.data, split.data, whole.len) != 0) {
        abort();
    }
    buf_finish(&whole);
    buf_finish(&split);
    return 0;
}
