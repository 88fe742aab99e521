#include "fake_backend.h"

#include "base/err.h"
#include "base/mem.h"
#include "protocol/finding.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct area {
    uint64_t bytes;
    unsigned flags;
    char *host, *written;
};
struct backend {
    struct area areas[8];
    size_t count;
    uint64_t budget, spent;
    unsigned checks;
    const char *printed;
    json_t *findings;
};

static int fake_open(struct backend **ret, const struct backend_options *o,
                     json_t **ret_unsupported, struct err *err) {
    if (!strcmp(o->ptx, "unsupported")) {
        *ret_unsupported =
            json_pack("[{s:s, s:s, s:i}]", "opcode", "wgmma", "file", "k.cu", "line", 3);
        return err_set(err, -ENOTSUP, "one instruction cannot run");
    }
    struct backend *b = xcalloc(1, sizeof *b);
    b->budget = o->instructions;
    b->checks = o->checks;
    b->findings = json_array();
    *ret = b;
    return 0;
}

static void fake_close(struct backend *b) {
    for (size_t i = 0; i < b->count; i++) {
        free(b->areas[i].host);
        free(b->areas[i].written);
    }
    json_decref(b->findings);
    free(b);
}

static const char *fake_device(const struct backend *b) {
    (void)b;
    return "fake";
}

static int fake_alloc(struct backend *b, const char *name, uint64_t bytes, unsigned flags,
                      uint64_t *ret, struct err *err) {
    (void)name, (void)err;
    b->areas[b->count] = (struct area){.bytes = bytes,
                                       .flags = flags,
                                       .host = xcalloc(bytes + 1, 1),
                                       .written = xcalloc(bytes + 1, 1)};
    *ret = (b->count++ + 1) << 32;
    return 0;
}

static int fake_global(struct backend *b, const char *name, uint64_t *ret,
                       uint64_t *ret_bytes, struct err *err) {
    (void)b, (void)ret, (void)ret_bytes;
    return err_set(err, -ENOENT, "no variable %s", name);
}

static struct area *area_at(struct backend *b, uint64_t address) {
    return &b->areas[(address >> 32) - 1];
}

static int fake_write(struct backend *b, uint64_t address, const void *bytes,
                      uint64_t len, struct err *err) {
    (void)err;
    memcpy(area_at(b, address)->host, bytes, len);
    return 0;
}

static int fake_read(struct backend *b, uint64_t address, void *bytes, uint64_t len,
                     struct err *err) {
    (void)err;
    memcpy(bytes, area_at(b, address)->host, len);
    return 0;
}

static uint64_t fake_unwritten(struct backend *b, uint64_t address, uint64_t *ret_first) {
    const struct area *a = area_at(b, address);
    uint64_t count = 0;
    for (uint64_t i = a->bytes; i-- > 0;) {
        count += !a->written[i];
        *ret_first = a->written[i] ? *ret_first : i;
    }
    return count;
}

static bool fake_written(struct backend *b, uint64_t address, uint64_t bytes) {
    const struct area *a = area_at(b, address);
    return !memchr(a->written + (uint32_t)address, 0, bytes);
}

static int fake_params(struct backend *b, const char *entry, struct kernel_param *ret,
                       size_t max, size_t *ret_block) {
    (void)b, (void)entry, (void)max;
    ret[0] = (struct kernel_param){0, 8};
    ret[1] = (struct kernel_param){8, 8};
    ret[2] = (struct kernel_param){16, 4};
    *ret_block = 20;
    return 3;
}

static void say(struct backend *b, const char *code, enum finding_severity severity,
                const char *message) {
    struct finding_span at = {.line = 7};
    json_array_append_new(b->findings,
                          finding_new("run", code, severity, message, "k.cu", &at));
}

static void add(struct backend *b, const char *code, enum finding_severity severity) {
    say(b, code, severity, "so it is");
}

static void add_races(struct backend *b) {
    add(b, "race", FINDING_ERROR);
    add(b, "global_race", FINDING_WARNING);
    add(b, "global_race", FINDING_INFO);
    add(b, "missing_fence", FINDING_ERROR);
    add(b, "out_of_bounds", FINDING_ERROR);
}

enum { SLOW_MS = 250 };

static enum backend_end fake_launch(struct backend *b, const struct backend_launch *l,
                                    struct err *err) {
    uint64_t address[2];
    int n;
    memcpy(address, l->params, sizeof address);
    memcpy(&n, (const char *)l->params + 16, sizeof n);
    struct area *y = area_at(b, address[0]), *x = area_at(b, address[1]);
    float *to = (float *)(void *)y->host, *from = (float *)(void *)x->host;
    b->spent = (uint64_t)n;
    if (b->spent > b->budget || !strcmp(l->entry, "endless")) {
        return BACKEND_BUDGET;
    }
    if (!strcmp(l->entry, "slow")) {
        usleep(SLOW_MS * 1000);
    }
    if (!strcmp(l->entry, "refused")) {
        err_set(err, -EINVAL, "2000 threads in a block");
        return BACKEND_REFUSED;
    }
    bool picky = !strcmp(l->entry, "picky") || !strcmp(l->entry, "picky_too");
    if (!strcmp(l->entry, "fault") || (picky && n % 32)) {
        add(b, "out_of_bounds", FINDING_ERROR);
        return BACKEND_FAULT;
    }
    int last = !strcmp(l->entry, "short") ? n - 1 : n;
    for (int i = 0; i < last; i++) {
        bool wrong = !strcmp(l->entry, "wrong") ||
                     (!strcmp(l->entry, "round") && n % 32) ||
                     (!strcmp(l->entry, "fours") && n % 4);
        to[i] = wrong && i == 2 ? from[i] : 2 * from[i];
        memset(y->written + 4 * i, 1, 4);
    }
    if (!strcmp(l->entry, "stuck")) {
        say(b, "deadlock", FINDING_ERROR, "waits for who waits in turn");
        say(b, "deadlock", FINDING_ERROR, "waits for 5 bytes");
        say(b, "deadlock", FINDING_ERROR, "waits for 5 bytes");
        say(b, "misaligned", FINDING_ERROR, "at 5");
        say(b, "misaligned", FINDING_ERROR, "at 6");
        return BACKEND_DEADLOCK;
    }
    if (!strcmp(l->entry, "printing")) {
        b->printed =
            "r0/src/k.cu:3 r1/a-b.cuh; r0/x or0/y.z r2/ r/0 r12/q_+.h r0/a/r0/b.c";
    }
    if (!strcmp(l->entry, "noted")) {
        add(b, "out_of_bounds", FINDING_ERROR);
    }
    for (int i = 0; !strcmp(l->entry, "many") && n % 32 && i < 12; i++) {
        struct finding_span at = {.line = 20 + i};
        json_array_append_new(b->findings, finding_new("run", "misaligned", FINDING_ERROR,
                                                       "not whole", "k.cu", &at));
    }
    if (!strcmp(l->entry, "small_racy") && n < 64 && (b->checks & SPEC_CHECK_RACE)) {
        add(b, "missing_fence", FINDING_ERROR);
    }
    if (!strcmp(l->entry, "racy") && (b->checks & SPEC_CHECK_RACE)) {
        add_races(b);
        return BACKEND_FAULT;
    }
    return BACKEND_DONE;
}

static void fake_stop(struct backend *b) {
    (void)b;
}
static json_t *fake_findings(const struct backend *b, uint64_t *ret_omitted) {
    *ret_omitted = 0;
    return json_incref(b->findings);
}
static json_t *fake_counters(const struct backend *b) {
    return json_pack("{s:I}", "lane_instructions", (json_int_t)b->spent);
}
static const char *fake_printed(const struct backend *b) {
    return b->printed ? b->printed : "hello\n";
}
static uint64_t fake_spent(const struct backend *b) {
    return b->spent;
}

const struct backend_class fake_backend = {
    .kind = "fake",
    .checks =
        SPEC_CHECK_MEMORY | SPEC_CHECK_INITIALIZED | SPEC_CHECK_RACE | SPEC_CHECK_BARRIER,
    .open = fake_open,
    .close = fake_close,
    .device = fake_device,
    .alloc = fake_alloc,
    .global = fake_global,
    .write = fake_write,
    .read = fake_read,
    .unwritten = fake_unwritten,
    .written = fake_written,
    .params = fake_params,
    .launch = fake_launch,
    .stop = fake_stop,
    .findings = fake_findings,
    .counters = fake_counters,
    .printed = fake_printed,
    .spent = fake_spent,
};
