#include "gpu/run/foresight.h"

#include "base/err.h"
#include "gpu/spec/expect_operator.h"

#include <errno.h>
#include <unistd.h>

uint64_t memory_here(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 4 * 3 : UINT64_MAX;
}

/* First contents are kept beside the buffers, outputs are copied to be compared, and a
 * byte for each word of them says who wrote it. */
static double trial_bytes(const struct spec_case *c, bool on_device) {
    double bytes = 0;
    for (size_t i = 0; i < c->spec->buffer_count; i++) {
        double own = (double)c->buffers[i].bytes;
        bytes += on_device ? own : 2 * own;
        bytes += c->spec->buffers[i].output ? own + (on_device ? 0 : own / 4) : 0;
    }
    return bytes;
}

/* In double precision, but of a reference kernel: that is a trial of its own. */
static double expected_bytes(const struct spec_case *c, bool on_device) {
    double bytes = 0;
    if (c->spec->expect == EXPECT_KERNEL) {
        return trial_bytes(c, on_device);
    }
    for (size_t i = 0; i < c->spec->buffer_count; i++) {
        bool expected = c->spec->expect != EXPECT_NONE && c->spec->buffers[i].output;
        bytes += expected ? sizeof(double) * (double)c->buffers[i].count : 0;
    }
    return bytes;
}

int foresee(const struct spec_case *c, uint64_t memory, bool on_device, struct err *err) {
    double bytes = trial_bytes(c, on_device), expected = 0;
    int r = 0;
    if (c->spec->expect == EXPECT_OPERATOR) {
        r = expect_operator_foresee(c, c->spec->expect_operator, &expected, err);
    } else {
        expected = expected_bytes(c, on_device);
    }
    bytes += expected;
    return r == 0 && bytes > (double)memory
               ? err_set(err, -ENOMEM,
                         "buffers, their copies and what is expected of them take %.3g "
                         "GB of memory, %.3g GB are here: sizes with %.2g of the "
                         "elements would fit",
                         bytes / 1e9, (double)memory / 1e9, (double)memory / bytes)
               : r;
}
