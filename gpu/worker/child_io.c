#include "gpu/worker/child_io.h"

#include "base/buf.h"

#include <errno.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };

bool child_take(int socket, struct buf *out) {
    for (;;) {
        char *at = buf_reserve(out, PIECE);
        ssize_t n = at ? read(socket, at, PIECE) : -1;
        if (n < 0 && at && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        buf_commit(out, (size_t)n);
    }
}
