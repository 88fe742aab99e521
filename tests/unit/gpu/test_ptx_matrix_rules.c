/* Matrix instructions: what a table of products does not show. */
#include "tests/unit/gpu/machine_room.h"

#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .reg .b32 %r<20>, %t, %d<8>; .reg .b64 %rd<8>, %at; .reg .pred %p<4>;\n"          \
    "ld.param.u64 %rd0, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 4, %rd0;\n"
#define END "ret; }\n"

static struct machine_room *run(const char *body, unsigned threads) {
    struct machine_room *r = room_new(body, NULL);
    room_buffer(r, "out", 4 * (uint64_t)threads, 0);
    room_launch(r, 1, threads);
    return r;
}

static json_int_t counted(struct machine_room *r, const char *key) {
    json_t *counters = machine_counters(r->machine);
    json_int_t n = json_get_integer(counters, key, -1);
    json_decref(counters);
    return n;
}

/* Rows of 16 bytes, 128 bytes apart, fall into the same four banks; one piece further
 * each, into all of them. */
Test(ptx_matrix, rows_of_ldmatrix_are_phases_of_eight) {
    static const struct {
        const char *stride;
        json_int_t conflicts;
    } cases[] = {{"128", 28}, {"144", 0}, {"16", 0}, {"64", 12}};
    for (unsigned k = 0; k < 4; k++) {
        autobuf text = BUF_INIT(4096);
        buf_adds(&text, HEAD ".shared .align 16 .b8 s[4608]; mov.u32 %r1, s;\n");
        buf_addf(&text, "mad.lo.u32 %%r2, %%t, %s, %%r1;\n", cases[k].stride);
        buf_adds(&text, "mov.u32 %r3, 0; mad.lo.u32 %r4, %t, 144, %r1;\n"
                        "fill: st.shared.v4.b32 [%r4], {%t,%t,%t,%t};\n"
                        "add.u32 %r4, %r4, 16; add.u32 %r3, %r3, 1;\n"
                        "setp.lt.u32 %p1, %r3, 9; @%p1 bra fill; bar.warp.sync -1;\n"
                        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0,%d1,%d2,%d3}, "
                        "[%r2];\n"
                        "st.global.b32 [%at], %d0;\n" END);
        buf_addc(&text, '\0');
        struct machine_room *r = run(text.data, 32);
        json_int_t fill = counted(r, "shared_bank_conflicts");
        char *all = room_findings(r);
        cr_expect_eq(r->end, MACHINE_DONE, "%s", all);
        cr_expect_eq(fill, cases[k].conflicts, "%s bytes: %ld", cases[k].stride,
                     (long)fill);
        free(all);
        room_free(r);
    }
}

/* Half of the warp comes by another path: the instruction is done for all at once. */
Test(ptx_matrix, lanes_of_two_paths_meet) {
    struct machine_room *r =
        run(HEAD "mov.b32 %r1, 0x3c003c00; mov.b32 %d0, 0; mov.b32 %d1, 0;\n"
                 "setp.lt.u32 %p1, %t, 16; @%p1 bra low;\n"
                 "mov.b32 %r1, 0x40004000; bra.uni both;\n"
                 "low: mov.b32 %r1, 0x3c003c00;\n"
                 "both: mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0,%d1}, "
                 "{%r1,%r1}, {%r1}, {%d0,%d1};\n"
                 "st.global.b32 [%at], %d0;\n" END,
            32);
    const uint32_t *out = r->host[0];
    /* a: rows 0-3 and 8-11 ones, others twos; b: columns 0-3 ones, others twos. */
    static const uint32_t expected[2][2] = {{0x48004800, 0x4c004c00},
                                            {0x4c004c00, 0x50005000}};
    char *all = room_findings(r);
    cr_expect_str_eq(all, "[]", "%s", all);
    for (unsigned l = 0; l < 32; l++) {
        cr_expect_eq(out[l], expected[l / 16][l % 4 / 2], "lane %u: %08x", l, out[l]);
    }
    free(all);
    room_free(r);
}

/* Two instructions, each with half of the warp. */
Test(ptx_matrix, lanes_that_never_meet_are_told) {
    struct machine_room *r =
        run(HEAD "mov.b32 %r1, 0; mov.b32 %d0, 0; setp.lt.u32 %p1, %t, 16;\n"
                 "@%p1 bra low;\n"
                 "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r1; bra.uni both;\n"
                 "low: movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r1;\n"
                 "both: st.global.b32 [%at], %d0;\n" END,
            32);
    cr_expect_eq(r->end, MACHINE_DEADLOCK);
    cr_expect_eq(room_found(r, "invalid_mask", NULL), 2);
    room_free(r);
}

#define GROUP_HEAD                                                                       \
    HEAD ".shared .align 1024 .b8 s[4096]; mov.u32 %r1, s; mad.lo.u32 %r1, %t, 32, "     \
         "%r1;\nmov.b32 %r2, 0; st.shared.v4.b32 [%r1], {%r2,%r2,%r2,%r2};\n"            \
         "st.shared.v4.b32 [%r1+16], {%r2,%r2,%r2,%r2};\n"                               \
         "mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;\n"             \
         "mov.b32 %d4, 0; mov.b32 %d5, 0; mov.b32 %d6, 0; mov.b32 %d7, 0;\n"             \
         "fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p0, 0, 0;\n"
#define FIRST                                                                            \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, "              \
    "0x0000000800400000, 0x0000000800400080, %p0, 1, 1, 0, 0;\n"
#define SECOND                                                                           \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d4,%d5,%d6,%d7}, "              \
    "0x0000000800400000, 0x0000000800400080, %p0, 1, 1, 0, 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define USE(d) "st.global.b32 [%at], " d ";\n"

/* A warpgroup that does this, its shared memory and accumulators set to zero. */
static struct machine_room *run_group(const char *body) {
    autobuf text = BUF_INIT(1 << 16);
    buf_addf(&text, "%s%s%s", GROUP_HEAD, body, END);
    return run(text.data, 128);
}

/* Which reads of accumulators are early, along moves and round loops. */
Test(ptx_matrix, accumulators_in_flight) {
    static const struct {
        const char *body;
        long early;
    } cases[] = {
        {FENCE FIRST COMMIT WAIT(0) USE("%d0"), 0},
        {FENCE FIRST COMMIT USE("%d0") WAIT(0), 128},
        {FENCE FIRST COMMIT "mov.b32 %r5, %d1;\n" WAIT(0) USE("%r5"), 0},
        {FENCE FIRST COMMIT "mov.b32 %r5, %d1;\n" USE("%r5") WAIT(0), 128},
        {FENCE FIRST COMMIT SECOND COMMIT WAIT(1) USE("%d0") WAIT(0), 0},
        {FENCE FIRST COMMIT USE("%d4") WAIT(0), 0},
        {FENCE FIRST FIRST COMMIT WAIT(0) USE("%d0"), 0},
        {FENCE "mov.u32 %r6, 0;\nround:\n" FIRST COMMIT WAIT(
             0) "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra "
                "round;\n" USE("%d0"),
         0},
        {FENCE "mov.u32 %r6, 0;\nround:\n" USE("%d0") FIRST COMMIT
         "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra round;\n" WAIT(0),
         256},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct machine_room *r = run_group(cases[k].body);
        json_t *first = NULL;
        long found = room_found(r, "uninitialized", &first);
        char *all = room_findings(r);
        cr_expect_eq(r->end, MACHINE_DONE, "case %zu: %s", k, all);
        cr_expect_eq(found > 0, cases[k].early > 0, "case %zu: %ld, %s", k, found, all);
        cr_expect_eq(room_found(r, "race", NULL), 0, "case %zu: %s", k, all);
        json_decref(first);
        free(all);
        room_free(r);
    }
}

Test(ptx_matrix, what_a_warpgroup_forgets_is_told) {
    static const struct {
        const char *body, *code, *words;
    } cases[] = {
        {FIRST COMMIT WAIT(0), "uninitialized", "No wgmma.fence"},
        {FENCE FIRST WAIT(0), "uninitialized", "No wgmma.commit_group"},
        {FENCE FIRST COMMIT "bar.sync 0; mov.u32 %r2, 7; st.shared.b32 [%r1], %r2;\n"
                            "bar.sync 0;\n" WAIT(0),
         "race", "before wgmma.wait_group"},
        {FENCE FIRST COMMIT "bar.sync 0; mov.u32 %r2, 7; st.shared.b32 [%r1], %r2;\n",
         "race", "before wgmma.wait_group"},
        {FENCE "setp.lt.u32 %p1, %t, 64; @%p1 bra first;\n" SECOND COMMIT WAIT(
             0) "bra.uni both;\nfirst:\n" FIRST COMMIT WAIT(0) "both:\n",
         "invalid_mask", "different wgmma instructions"},
        {"setp.ge.u32 %p1, %t, 96; @%p1 bra out;\n" FENCE FIRST COMMIT WAIT(0) "out:\n",
         "deadlock", "missing: warp 3 (exited)"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct machine_room *r = run_group(cases[k].body);
        json_t *first = NULL;
        room_found(r, cases[k].code, &first);
        char *all = room_findings(r);
        cr_expect(strstr(json_get_string(first, "message", ""), cases[k].words) != NULL,
                  "case %zu: %s", k, all);
        json_decref(first);
        free(all);
        room_free(r);
    }
}

/* Places that are one place, and those out of order where order is asked for. */
Test(ptx_matrix, metadata_that_mean_nothing_are_told) {
    static const struct {
        const char *kind;
        uint32_t metadata;
        long told;
    } cases[] = {
        {"", 0x44444444, 0},
        {"", 0x4444a444, 1},
        {"", 0x11111111, 0},
        {"::ordered_metadata", 0x11111111, 1},
        {"::ordered_metadata", 0xeeeeeeee, 0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        autobuf text = BUF_INIT(1 << 14);
        buf_addf(&text,
                 ".visible .entry k(.param .u64 out) { .reg .b32 %%r<4>, %%e;\n"
                 ".reg .f32 %%f<4>; .reg .b64 %%rd; mov.b32 %%r0, 0x3c003c00;\n"
                 "mov.f32 %%f0, 0f00000000; mov.u32 %%e, 0x%x;\n"
                 "mma.sp%s.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
                 "{%%f0,%%f1,%%f2,%%f3}, {%%r0,%%r0,%%r0,%%r0}, {%%r0,%%r0,%%r0,%%r0}, "
                 "{%%f0,%%f0,%%f0,%%f0}, %%e, 0;\n"
                 "ld.param.u64 %%rd, [out]; st.global.f32 [%%rd], %%f3; ret; }\n",
                 cases[k].metadata, cases[k].kind);
        buf_addc(&text, '\0');
        struct machine_room *r = room_new(text.data, NULL);
        float *out = room_buffer(r, "out", 4, MACHINE_OUTPUT);
        cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE);
        cr_expect_eq(room_found(r, "invalid_metadata", NULL), cases[k].told, "case %zu",
                     k);
        cr_expect_eq(room_found(r, "unconfirmed_sums", NULL), 1, "case %zu", k);
        if (cases[k].told == 0) {
            cr_expect_float_eq(*out, 16, 0); /* of 32 ones half are there */
        }
        room_free(r);
    }
}

/* Not of sm_90a, or not there: named, nothing runs. */
Test(ptx_matrix, what_does_not_exist_is_refused_by_name) {
    static const char *const lines[] = {
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, "
        "{%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3};\n",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%d0,%d1}, "
        "{%d0,%d1,%d2,%d3}, {%d0,%d1}, {%d0,%d1};\n",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%d0,%d1,%d2,%d3}, {%d0,%d1}, {%d0,%d1}, {%d0,%d1,%d2,%d3}, %d0, 4;\n",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, "
        "{%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3}, %d0, 2;\n",
        "mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d0,%d1,%d2,%d3}, "
        "{%d0,%d1}, {%d0,%d1}, {%d0,%d1,%d2,%d3}, %d0, 2;\n",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%d0,%d1,%d2,%d3}, {%d0,%d1}, "
        "{%d0}, {%d0,%d1,%d2,%d3};\n",
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.bf16.bf16 {%d0,%d1,%d2,%d3}, 0, 0, "
        "%p0, 1, 1, 0, 0;\n",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%d0,%d1,%d2,%d3,%d0,%d1,%d2,"
        "%d3,%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3}, 0, 0, %p0;\n",
    };
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        autobuf text = BUF_INIT(1 << 16);
        buf_addf(&text, ".version 9.0\n.target sm_90a\n.address_size 64\n%s%s%s", HEAD,
                 lines[k], END);
        struct ptx_module *module = NULL;
        struct machine *m = NULL;
        struct err err = {0};
        json_t *unsupported = NULL;
        cr_assert_eq(ptx_module_read(&module, text.data, text.len, &err), 0, "%s",
                     err.msg);
        struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
        cr_expect_eq(machine_new(&m, module, NULL, &config, &unsupported, &err), -ENOTSUP,
                     "%s", lines[k]);
        const char *named =
            json_get_string(json_array_get(unsupported, 0), "opcode", "nothing");
        cr_expect_eq(strncmp(named, lines[k], strlen(named)), 0, "%s", named);
        json_decref(unsupported);
        machine_free(m);
        ptx_module_free(module);
    }
}
