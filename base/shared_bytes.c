#include "base/shared_bytes.h"

#include "base/buf.h"
#include "base/mem.h"

struct shared_bytes *shared_bytes_new(struct buf *bytes) {
    struct shared_bytes *shared = xcalloc(1, sizeof *shared);
    shared->holders = 1;
    shared->len = bytes->len;
    shared->data = buf_detach(bytes);
    return shared;
}

struct shared_bytes *shared_bytes_ref(struct shared_bytes *shared) {
    shared->holders++;
    return shared;
}

void shared_bytes_unref(struct shared_bytes *shared) {
    if (shared && --shared->holders == 0) {
        free(shared->data);
        free(shared);
    }
}
