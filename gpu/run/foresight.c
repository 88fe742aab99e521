#include "gpu/run/foresight.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/parts.h"
#include "gpu/run/trial.h"
#include "gpu/spec/expect_operator.h"

#include <math.h>
#include <unistd.h>

/* --- how much memory there is --- */

/* A limit as a group's file has it; UINT64_MAX: none ("max"), or no such file. */
static uint64_t limit_read(const char *path) {
    autobuf text = BUF_INIT(64);
    unsigned long long limit;
    return file_read(path, &text, NULL) == 0 && text.len &&
                   sscanf(text.data, "%llu", &limit) == 1
               ? limit
               : UINT64_MAX;
}

/* Of a group and all groups that contain it. */
static uint64_t limit_above(const char *root, const char *group, const char *file) {
    autofree char *at = xstrdup(group);
    uint64_t least = UINT64_MAX;
    for (char *end = at + strlen(at); end;) {
        autofree char *path = xasprintf("%s%s/%s", root, at, file);
        uint64_t limit = limit_read(path);
        least = limit < least ? limit : least;
        end = strrchr(at, '/');
        if (end) {
            *end = '\0';
        }
    }
    return least;
}

/* A line: "0::/group" or "4:cpu,memory:/group". */
static uint64_t limit_of_line(const char *line, const char *root) {
    const char *kinds = strchr(line, ':');
    const char *group = kinds ? strchr(kinds + 1, ':') : NULL;
    if (!group) {
        return UINT64_MAX;
    }
    autofree char *named = xasprintf(",%.*s,", (int)(group - kinds - 1), kinds + 1);
    autofree char *older = xasprintf("%s/memory", root);
    return strstr(named, ",memory,")
               ? limit_above(older, group + 1, "memory.limit_in_bytes")
           : group == kinds + 1 ? limit_above(root, group + 1, "memory.max")
                                : UINT64_MAX;
}

uint64_t memory_limit(const char *groups, const char *root) {
    autobuf text = BUF_INIT(64u << 10);
    uint64_t least = UINT64_MAX;
    char *rest, *line = file_read(groups, &text, NULL) == 0 && text.len
                            ? strtok_r(text.data, "\n", &rest)
                            : NULL;
    for (; line; line = strtok_r(NULL, "\n", &rest)) {
        uint64_t limit = limit_of_line(line, root);
        least = limit < least ? limit : least;
    }
    return least;
}

/* The machine's, or what the groups of processes that this one is in may have. Files
 * cannot be read any more later: it is looked up once. */
uint64_t memory_here(void) {
    static uint64_t known;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    if (!known) {
        uint64_t all =
            pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
        uint64_t limit = memory_limit("/proc/self/cgroup", "/sys/fs/cgroup");
        known = (limit < all ? limit : all) / 4 * 3;
    }
    return known;
}

/* --- how much a case takes --- */

/* First contents are kept beside the buffers, but of inputs that are here, and of outputs
 * that have none that anyone reads. A device's outputs are copied to be compared; of
 * those that are here a byte for each word says who wrote it. */
static double trial_bytes(const struct spec_case *c, bool on_device) {
    double bytes = 0;
    list_each(i, b, c->spec->buffers, c->spec->buffer_count) {
        double own = (double)c->buffers[i].bytes;
        bool copied =
            on_device || b->is_global || (b->output && trial_reads_before(c->spec, i));
        bytes += (on_device ? 0 : own) + (copied ? own : 0);
        bytes += b->output ? (on_device ? own : own / 4) : 0;
    }
    return bytes;
}

/* In double precision, except for a reference kernel: that is a separate trial. */
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

/* Which elements are judged, and files that hold all that is expected, want the whole. */
static bool may_go_by_rows(const struct spec_case *c) {
    bool may = !(c->spec->save.dir && (c->spec->save.what & SAVE_EXPECTED));
    for (size_t i = 0; i < c->spec->buffer_count; i++) {
        may = may && !c->spec->buffers[i].judge &&
              c->spec->buffers[i].tolerance.mode != COMPARE_MULTISET;
    }
    return may;
}

/* --- how long launches take --- */

/* Of an empty kernel, on the fastest machines a warp takes three times as long. */
#define WARP_NS 10.0

static double blocks_of(const struct case_launch *l) {
    return (double)l->grid[0] * l->grid[1] * l->grid[2];
}

static double warps_of(const struct case_launch *l) {
    return ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
}

/* On the emulator, which begins every warp of every block. */
static int foresee_launches(const struct spec_case *c, struct err *err) {
    list_each(i, l, c->launches, c->spec->launch_count) {
        double ns = blocks_of(l) * warps_of(l) * WARP_NS / parts_cores();
        double have = c->spec->timeout_s * 1e9;
        if (ns > have) {
            return err_set(err, -E2BIG,
                           "launch %zu: to begin %.3g blocks of %.0f warps takes %.3g s "
                           "or more here, the run has %u s: %.2g blocks would fit",
                           i, blocks_of(l), warps_of(l), ns / 1e9, c->spec->timeout_s,
                           blocks_of(l) * have / ns);
        }
    }
    return 0;
}

int foresee(const struct spec_case *c, uint64_t memory, bool on_device, bool *ret_by_rows,
            struct err *err) {
    double bytes = trial_bytes(c, on_device), expected, by_rows;
    int r = on_device ? 0 : foresee_launches(c, err);
    if (r < 0) {
        return r;
    }
    if (c->spec->expect == EXPECT_OPERATOR) {
        r = expect_operator_foresee(c, c->spec->expect_operator, &expected, &by_rows,
                                    err);
    } else {
        expected = by_rows = expected_bytes(c, on_device);
    }
    *ret_by_rows = bytes + expected > (double)memory && may_go_by_rows(c);
    bytes += *ret_by_rows ? by_rows : expected;
    return r == 0 && bytes > (double)memory
               ? err_set(err, -ENOMEM,
                         "buffers, their copies and the expected results take %.3g GB of "
                         "memory, and %.3g GB are available: sizes with %.2g of the "
                         "elements would fit",
                         bytes / 1e9, (double)memory / 1e9, (double)memory / bytes)
               : r;
}
