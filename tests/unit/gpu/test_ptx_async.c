/* The machine: mbarriers, copies that arrive on their own, tensors, clusters. The kernels
 * are PTX written here; what they must give follows from the ISA's words, computed here.
 */
#include "gpu/ptx/tensor_blob.h"
#include "tests/unit/gpu/machine_room.h"

#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define OUT_FLAGS (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)
#define ALL_CHECKS (MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE)

/* Every thread has its number in the grid in %i, in its block in %t, the address of its
 * word of `out` in %at; `more` are further parameters and directives. */
#define HEAD_WITH(params, directives, shared)                                            \
    ".visible .entry k(.param .u64 out" params ") " directives                           \
    "{ .reg .b32 %r<60>, %i, %t; .reg .b64 %rd<30>, %at, %s<4>; .reg .b16 %h<4>;\n"      \
    ".reg .pred %p<10>, %q; .reg .b32 %parity;\n" shared                                 \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %t, %tid.x;\n"                 \
    "mad.lo.s32 %i, %r0, %r1, %t; mul.wide.u32 %rd0, %i, 4;\n"                           \
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"                         \
    "add.s64 %at, %rd1, %rd0; setp.eq.u32 %q, %t, 0; mov.u32 %parity, 0;\n"
#define BAR ".shared .align 8 .b64 bar;\n"
#define HEAD HEAD_WITH("", "", BAR ".shared .align 128 .b8 tile[4096];\n")
#define CLUSTER(n)                                                                       \
    HEAD_WITH("", ".reqnctapercluster " n ", 1, 1\n",                                    \
              BAR ".shared .align 128 .b8 tile[4096];\n")
#define TAIL(r) "st.global.u32 [%at], " r "; ret; }\n"
#define WAIT(label)                                                                      \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar], %parity;\n"            \
          "@!%p9 bra " label ";\n"
#define INIT(count)                                                                      \
    "@%q mbarrier.init.shared::cta.b64 [bar], " count ";\n"                              \
    "fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n"
#define MEET "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"

static void no_findings(struct machine_room *r) {
    char *found = room_findings(r);
    cr_expect_str_eq(found, "[]");
    free(found);
}

static void check_kernel(const char *body, uint32_t blocks, uint32_t threads,
                         uint32_t (*expect)(uint32_t), const struct machine_config *c) {
    struct machine_room *r = room_new(body, c);
    uint32_t *out = room_buffer(r, "out", (uint64_t)blocks * threads * 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, blocks, threads), MACHINE_DONE, "%s", r->refused);
    no_findings(r);
    for (uint32_t i = 0; i < blocks * threads; i++) {
        cr_assert_eq(out[i], expect(i), "thread %u: %u instead of %u", i, out[i],
                     expect(i));
    }
    room_free(r);
}

/* Warps together and lane after lane, other orders of the warps, more threads. */
static void check_all_ways(const char *body, uint32_t blocks, uint32_t threads,
                           uint32_t (*expect)(uint32_t)) {
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 1};
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = true;
    c.seed = 1;
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = false;
    c.seed = 2;
    c.threads = 3;
    c.checks = MACHINE_CHECK_MEMORY;
    check_kernel(body, blocks, threads, expect, &c);
}

/* The message of the first finding of a kind; all occurrences are counted. */
static void check_finding(const char *body, uint32_t blocks, uint32_t threads,
                          enum machine_end end, const char *code, const char *words) {
    struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    struct machine_room *r = room_new(body, &c);
    room_buffer(r, "out", (uint64_t)blocks * threads * 4, 0);
    cr_expect_eq(room_launch(r, blocks, threads), end, "%d for %s", r->end, words);
    char *all = room_findings(r);
    json_t *first = NULL;
    cr_expect(room_found(r, code, &first) > 0, "no %s in %s", code, all);
    const char *said = json_get_string(first, "message", "");
    cr_expect(strstr(said, words), "%s: not in %s", words, said);
    json_decref(first);
    free(all);
    room_free(r);
}

/* ---- mbarriers ---- */

static uint32_t plus_phases(uint32_t i) {
    return 5 * (i / 100 * 100 + (i % 100 + 5) % 100) + 0 + 1 + 2 + 3 + 4;
}

/* Five rounds: everybody adds his number to the next one's word. */
Test(ptx_async, phases_by_parity) {
    check_all_ways(
        HEAD INIT("100") "mul.wide.u32 %rd2, %t, 4; mov.u64 %rd3, tile;\n"
                         "add.s64 %rd3, %rd3, %rd2; mov.u32 %r5, 0; mov.u32 %r2, %t;\n"
                         "mov.u32 %r3, 0;\n"
                         "ROUND: add.u32 %r2, %r2, 1; rem.u32 %r2, %r2, 100;\n"
                         "mad.lo.u32 %r4, %r0, %r1, %t; add.u32 %r4, %r4, %r5;\n"
                         "st.shared.u32 [%rd3], %r4;\n"
                         "mbarrier.arrive.release.cta.shared::cta.b64 _, [bar];\n" WAIT(
                             "W")
        /* two phases a round: written, read */
        "xor.b32 %parity, %parity, 1;\n"
        "mul.wide.u32 %rd4, %r2, 4; mov.u64 %rd5, tile; add.s64 %rd4, %rd4, %rd5;\n"
        "ld.shared.u32 %r6, [%rd4]; add.u32 %r3, %r3, %r6;\n"
        "mbarrier.arrive.shared::cta.b64 %s0, [bar];\n"
        "V: mbarrier.test_wait.shared::cta.b64 %p8, [bar], %s0; @!%p8 bra V;\n"
        "xor.b32 %parity, %parity, 1;\n"
        "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 5; @%p1 bra ROUND;\n"
        /* out: the sum of five neighbours' numbers, made that of the fifth */
        "rem.u32 %r7, %t, 100; mov.u32 %r8, 0; mov.u32 %r9, 1;\n"
        "SUM: add.u32 %r10, %r7, %r9; rem.u32 %r10, %r10, 100; add.u32 %r8, %r8, %r10;\n"
        "add.u32 %r9, %r9, 1; setp.le.u32 %p1, %r9, 5; @%p1 bra SUM;\n"
        "sub.u32 %r3, %r3, %r8; add.u32 %r10, %r7, 5; rem.u32 %r10, %r10, 100;\n"
        "mad.lo.u32 %r3, %r10, 5, %r3;\n" TAIL("%r3"),
        2, 100, plus_phases);
}

static uint32_t counts(uint32_t i) {
    static const uint32_t expected[] = {7, 5, 4, 3, 3, 1, 0, 0};
    return i < 8 ? expected[i] : 0;
}

/* pending_count tells what was pending before; dropped ones stay away. */
Test(ptx_async, counts_of_arrivals) {
    check_all_ways(
        HEAD
        "@!%q exit; mbarrier.init.shared.b64 [bar], 7;\n"
        "mbarrier.arrive.noComplete.release.cta.shared.b64 %s0, [bar], 2;\n"
        "mbarrier.arrive_drop.shared.b64 %s1, [bar];\n"
        "mbarrier.arrive_drop.noComplete.shared.b64 %s2, [bar], 1;\n"
        "mbarrier.arrive.shared.b64 %s3, [bar], 3;\n"
        "mbarrier.pending_count.b64 %r2, %s0; mbarrier.pending_count.b64 %r3, %s1;\n"
        "mbarrier.pending_count.b64 %r4, %s2; mbarrier.pending_count.b64 %r5, %s3;\n"
        "mbarrier.test_wait.shared.b64 %p1, [bar], %s0; selp.u32 %r6, 3, 9, %p1;\n"
        /* now five are expected */
        "mbarrier.arrive.shared.b64 %s0, [bar], 4;\n"
        "mbarrier.arrive.shared.b64 %s1, [bar];\n"
        "mbarrier.pending_count.b64 %r7, %s1;\n"
        "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1; selp.u32 %r8, 0, 9, %p1;\n"
        "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.u32 %r9, 9, 0, %p1;\n"
        "mbarrier.inval.shared.b64 [bar];\n"
        "st.global.v4.u32 [%rd1], {%r2, %r3, %r4, %r5};\n"
        "st.global.v4.u32 [%rd1+16], {%r6, %r7, %r8, %r9}; ret; }\n",
        1, 8, counts);
}

static uint32_t half(uint32_t i) {
    return i < 8 ? i : 0;
}

/* expect_tx and complete_tx by hand; a generic address. */
Test(ptx_async, bytes_of_a_phase) {
    check_all_ways(
        HEAD INIT("1") "mov.u64 %rd2, bar; cvta.shared.u64 %rd2, %rd2; mov.u32 %r2, %t;\n"
                       "@!%q bra OTHER;\n"
                       "mbarrier.arrive.expect_tx.b64 _, [%rd2], 96;\n"
                       "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 4;\n"
                       "mbarrier.test_wait.parity.b64 %p1, [%rd2], 0; selp.u32 %r3, 99, "
                       "0, %p1;\n"
                       "add.u32 %r2, %r2, %r3;\n"
                       "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 60;\n"
                       "mbarrier.complete_tx.shared::cluster.b64 [bar], 40;\n"
                       "OTHER:\n" WAIT("W") "setp.lt.u32 %p1, %t, 8;\n"
                                            "selp.u32 %r2, %r2, 0, %p1;\n" TAIL("%r2"),
        1, 40, half);
}

static uint32_t copied(uint32_t i) {
    return (i % 64) * 3;
}

/* Each lane's cp.async, for all to see. */
#define CP_ASYNC(count, words)                                                           \
    HEAD INIT(count) "mul.lo.u32 %r2, %t, 3; st.global.u32 [%at], %r2;\n"                \
                     "mul.wide.u32 %rd2, %t, 4; mov.u64 %rd3, tile;\n"                   \
                     "add.s64 %rd3, %rd3, %rd2;\n"                                       \
                     "cp.async.ca.shared.global [%rd3], [%at], 4;\n"                     \
                     "cp.async.mbarrier.arrive" words ".shared::cta.b64 [bar];\n"        \
                     "@!%q bra ON;\n"                                                    \
                     "ON:\n"
Test(ptx_async, cp_async_arrives_at_an_mbarrier) {
    check_all_ways(CP_ASYNC("64", ".noinc")
                       WAIT("W") "ld.shared.u32 %r3, [%rd3];\n" TAIL("%r3"),
                   2, 64, copied);
    check_all_ways(CP_ASYNC("64", "") "mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT(
                       "W") "ld.shared.u32 %r3, [%rd3];\n" TAIL("%r3"),
                   2, 64, copied);
    check_finding(CP_ASYNC("64", ".noinc") "ld.shared.u32 %r3, [%rd3];\n" TAIL("%r3"), 1,
                  64, MACHINE_DONE, "uninitialized",
                  "is being written by a cp.async that nobody has waited for");
}

Test(ptx_async, wrong_uses_of_an_mbarrier_are_told) {
    static const struct {
        const char *body, *code, *words;
        enum machine_end end;
    } cases[] = {
        {HEAD "mbarrier.arrive.shared::cta.b64 _, [bar];\n" TAIL("%t"),
         "invalid_mbarrier", "used without mbarrier.init", MACHINE_FAULT},
        {HEAD INIT("1") "@%q mbarrier.inval.shared::cta.b64 [bar]; bar.sync 0;\n"
                        "mbarrier.arrive.shared::cta.b64 _, [bar];\n" TAIL("%t"),
         "invalid_mbarrier", "used after mbarrier.inval", MACHINE_FAULT},
        {HEAD INIT("1") "@%q st.shared.u32 [bar], %r1; bar.sync 0;\n"
                        "@%q mbarrier.arrive.shared::cta.b64 _, [bar];\n" TAIL("%t"),
         "invalid_mbarrier", "overwritten by a store", MACHINE_FAULT},
        {HEAD INIT("0") TAIL("%t"), "invalid_mbarrier", "a count of 1 to 1048575",
         MACHINE_FAULT},
        {HEAD INIT("4") "@%q mbarrier.arrive.shared::cta.b64 _, [bar], 5;\n" TAIL("%t"),
         "invalid_mbarrier", "more arrivals in a phase", MACHINE_FAULT},
        {HEAD INIT("1") "@%q mbarrier.expect_tx.shared::cta.b64 [bar], 4;\n"
                        "@%q mbarrier.arrive.shared::cta.b64 _, [bar];\n"
                        "@%q mbarrier.arrive.shared::cta.b64 _, [bar];\n" TAIL("%t"),
         "invalid_mbarrier", "one arrival too many", MACHINE_FAULT},
        {HEAD "@%q mbarrier.init.shared::cta.b64 [bar+4], 1;\n" TAIL("%t"), "misaligned",
         "is not a multiple of 8", MACHINE_FAULT},
        {HEAD "@%q mbarrier.init.shared::cta.b64 [bar+8192], 1;\n" TAIL("%t"),
         "out_of_bounds", "past the end", MACHINE_FAULT},
        {HEAD "ld.param.u64 %rd2, [out]; @%q mbarrier.init.b64 [%rd2], 1;\n" TAIL("%t"),
         "out_of_bounds", "past the end", MACHINE_FAULT},
        {HEAD INIT("33") "mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("W")
             TAIL("%t"),
         "deadlock", "phase 0 waits for 1 of 33 arrivals", MACHINE_DEADLOCK},
        {HEAD INIT("1") "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], "
                        "64;\n" WAIT("W") TAIL("%t"),
         "deadlock", "waits for 64 bytes of asynchronous copies", MACHINE_DEADLOCK},
        {HEAD INIT("2") "@%q mbarrier.complete_tx.shared::cta.b64 [bar], 16;\n" WAIT("W")
             TAIL("%t"),
         "deadlock", "2 of 2 arrivals; 16 bytes came that expect_tx did not announce",
         MACHINE_DEADLOCK},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_finding(cases[k].body, 1, 32, cases[k].end, cases[k].code, cases[k].words);
    }
}

/* ---- bulk copies ---- */

static uint32_t twice(uint32_t i) {
    return 2 * i + 1;
}

/* out[i] = 2 i + 1 is copied in, the next launch's word comes back from shared memory. */
#define FILL "mad.lo.u32 %r2, %i, 2, 1; st.global.u32 [%at], %r2; bar.sync 0;\n"
#define FETCH                                                                            \
    "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"                     \
    "mul.wide.u32 %rd5, %r0, 256; add.s64 %rd6, %rd1, %rd5;\n"                           \
    "@%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "     \
    "[%rd6], 256, [bar];\n"
#define MINE "mul.wide.u32 %rd2, %t, 4; mov.u64 %rd3, tile; add.s64 %rd3, %rd3, %rd2;\n"
Test(ptx_async, bulk_copy_in_and_out) {
    check_all_ways(
        HEAD INIT("1") FILL FETCH MINE WAIT(
            "W") "ld.shared.u32 %r3, [%rd3];\n"
                 "st.global.u32 [%at], 0;\n"
                 "st.shared.u32 [%rd3], %r3;\n"
                 "fence.proxy.async; bar.sync 0;\n"
                 "@!%q bra END;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%rd6], [tile], 256;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;\n"
                 "END: ret; }\n",
        3, 64, twice);
}

/* Two groups: waiting for all but one leaves the younger away. */
static uint32_t older(uint32_t i) {
    return i < 32 ? 7 : 5;
}
Test(ptx_async, groups_arrive_in_their_order) {
    check_kernel(
        HEAD "mov.u32 %r2, 7; st.global.u32 [%at], 5;\n" MINE
             "st.shared.u32 [%rd3], %r2; fence.proxy.async; bar.sync 0;\n"
             "@!%q bra END;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n"
             "cp.async.bulk.commit_group;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%rd1+128], [tile+128], 128;\n"
             "cp.async.bulk.commit_group;\n"
             "cp.async.bulk.wait_group.read 1;\n"
             "mov.u32 %r3, 5; mov.u64 %rd7, tile; mov.u32 %r4, 0;\n"
             "L: st.shared.u32 [%rd7+128], %r3; add.s64 %rd7, %rd7, 4;\n"
             "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 32; @%p1 bra L;\n"
             "cp.async.bulk.wait_group 0;\n"
             "END: ret; }\n",
        1, 64, older,
        &(struct machine_config){.checks = MACHINE_CHECK_DEFAULT, .threads = 1});
}

static uint32_t added(uint32_t i) {
    return i % 64 * 3 + 100;
}

/* Three blocks add to the same words; the first launch's order does not matter. */
Test(ptx_async, bulk_reduction_to_global_memory) {
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 3};
    struct machine_room *r = room_new(
        HEAD MINE "st.shared.u32 [%rd3], %t; fence.proxy.async.shared::cta; bar.sync 0;\n"
                  "@!%q bra END;\n"
                  "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], "
                  "[tile], 256;\n"
                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
                  "END: ret; }\n",
        &c);
    uint32_t *out = room_buffer(r, "out", 256, MACHINE_OUTPUT);
    for (unsigned k = 0; k < 64; k++) {
        out[k] = 100;
    }
    cr_expect_eq(room_launch(r, 3, 64), MACHINE_DONE);
    for (unsigned k = 0; k < 64; k++) {
        cr_assert_eq(out[k], added(k));
    }
    no_findings(r);
    room_free(r);
}

/* One operation and type of a reduction on 16 bytes of shared memory of the own block. */
struct reduction {
    const char *words;
    uint64_t old[2], value[2], now[2];
};
Test(ptx_async, reductions_by_type) {
    static const struct reduction cases[] = {
        {"min.s32",
         {0xfffffffb00000005, 7},
         {0x00000003fffffffe, 9},
         {0xfffffffbfffffffe, 7}},
        {"max.u32",
         {0xfffffffb00000005, 7},
         {0x00000003fffffffe, 9},
         {0xfffffffbfffffffe, 9}},
        {"inc.u32",
         {0x0000000900000005, 0},
         {0x0000000900000009, 0},
         {0x0000000000000006, 0}},
        {"dec.u32",
         {0x0000000000000005, 0},
         {0x0000000900000009, 0},
         {0x0000000900000004, 0}},
        {"xor.b32",
         {0xff00ff00ff00ff00, 1},
         {0x0ff00ff00ff00ff0, 3},
         {0xf0f0f0f0f0f0f0f0, 2}},
        {"add.u64", {0xffffffffffffffff, 1}, {2, 3}, {1, 4}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct reduction *x = &cases[k];
        autobuf body = BUF_INIT(8192);
        buf_adds(
            &body,
            HEAD INIT("1") "@!%q bra END; ld.global.v2.u64 {%rd2, %rd3}, [%rd1];\n"
                           "st.shared.v2.u64 [tile], {%rd2, %rd3};\n"
                           "ld.global.v2.u64 {%rd2, %rd3}, [%rd1+16];\n"
                           "st.shared.v2.u64 [tile+16], {%rd2, %rd3};\n"
                           "fence.proxy.async;\n"
                           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
                           "cp.reduce.async.bulk.shared::cluster.shared::cta"
                           ".mbarrier::complete_tx::bytes.");
        buf_adds(&body, x->words);
        buf_adds(&body, " [tile], [tile+16], 16, [bar];\n" WAIT(
                            "W") "ld.shared.v2.u64 {%rd2, %rd3}, [tile];\n"
                                 "st.global.v2.u64 [%rd1], {%rd2, %rd3}; END: ret; }\n");
        struct machine_room *r = room_new(body.data, NULL);
        uint64_t *out = room_buffer(r, "out", 32, MACHINE_OUTPUT);
        memcpy(out, x->old, 16);
        memcpy(out + 2, x->value, 16);
        cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE);
        cr_expect(memcmp(out, x->now, 16) == 0, "%s: %llx %llx", x->words,
                  (unsigned long long)out[0], (unsigned long long)out[1]);
        no_findings(r);
        room_free(r);
    }
}

Test(ptx_async, wrong_bulk_copies_are_told) {
    static const struct {
        const char *body, *code, *words;
        enum machine_end end;
    } cases[] = {
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile+8], [%rd1], 16, [bar];\n" TAIL("%t"),
         "misaligned", "is not a multiple of 16", MACHINE_FAULT},
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile], [%rd1+64], 128, [bar];\n" TAIL("%t"),
         "out_of_bounds", "past the end of out", MACHINE_FAULT},
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile+4080], [%rd1], 32, [bar];\n" TAIL("%t"),
         "out_of_bounds", "past the end", MACHINE_FAULT},
        {HEAD "@%q cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n"
              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n",
         "uninitialized", "offset 0 of tile was never written", MACHINE_DONE},
        {HEAD "mapa.shared::cluster.u32 %r2, %t, 1; ret; }\n", "out_of_bounds",
         "mapa of block 1 in a cluster of 1 blocks", MACHINE_FAULT},
        {HEAD "barrier.cluster.wait; ret; }\n", "barrier_divergence",
         "without barrier.cluster.arrive", MACHINE_DONE},
        {HEAD "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;"
              "ret; }\n",
         "barrier_divergence", "a second time", MACHINE_DONE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_finding(cases[k].body, 1, 32, cases[k].end, cases[k].code, cases[k].words);
    }
}

/* ---- clusters ---- */

static uint32_t places(uint32_t i) {
    uint32_t block = i / 32, rank = block % 4;
    /* rank, blocks, cluster, clusters, is explicit; the right neighbour's number */
    return rank | 4 << 4 | (block / 4) << 8 | 2 << 12 | 1 << 16 |
           ((block / 4 * 4 + (rank + 1) % 4) << 20);
}

Test(ptx_async, a_cluster_knows_its_blocks) {
    check_all_ways(
        CLUSTER(
            "4") "mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank;\n"
                 "shl.b32 %r3, %r3, 4; or.b32 %r2, %r2, %r3;\n"
                 "mov.u32 %r3, %clusterid.x; shl.b32 %r3, %r3, 8; or.b32 %r2, %r2, %r3;\n"
                 "mov.u32 %r3, %nclusterid.x; shl.b32 %r3, %r3, 12; or.b32 %r2, %r2, "
                 "%r3;\n"
                 "mov.pred %p1, %is_explicit_cluster; selp.u32 %r3, 65536, 0, %p1;\n"
                 "or.b32 %r2, %r2, %r3;\n"
                 "@%q st.shared.u32 [tile], %r0;\n" MEET
                 "mov.u32 %r4, %cluster_ctaid.x; add.u32 %r4, %r4, 1; and.b32 %r4, %r4, "
                 "3;\n"
                 "mov.u64 %rd2, tile; cvta.shared.u64 %rd2, %rd2; mapa.u64 %rd3, %rd2, "
                 "%r4;\n"
                 "ld.u32 %r5, [%rd3]; shl.b32 %r5, %r5, 20; or.b32 %r2, %r2, %r5;\n"
                 /* and what says whose it is: nothing is added when all is right */
                 "getctarank.u64 %r6, %rd3; setp.ne.u32 %p1, %r6, %r4;\n"
                 "isspacep.shared::cta %p2, %rd3; isspacep.shared::cluster %p3, %rd3;\n"
                 "or.pred %p1, %p1, %p2; not.pred %p3, %p3; or.pred %p1, %p1, %p3;\n"
                 "selp.u32 %r7, 0x80000000, 0, %p1; or.b32 %r2, %r2, %r7;\n" MEET TAIL(
                     "%r2"),
        8, 32, places);
}

static uint32_t from_all(uint32_t i) {
    uint32_t block = i / 64, first = block / 2 * 2, t = i % 64;
    return t < 32 ? 64 + 2 * (first * 1000 + t) + 1000 : 0;
}

/* Atomics and red.async into both blocks of the cluster: 64 arrivals, then what came. */
Test(ptx_async, red_async_and_atomics_on_other_blocks) {
    check_all_ways(
        CLUSTER("2") MINE
        "st.shared.u32 [%rd3], 0; bar.sync 0;\n"
        "@%q mbarrier.init.shared::cta.b64 [bar], 1;\n"
        "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n" MEET
        "setp.ge.u32 %p1, %t, 32; @%p1 bra LATE;\n"
        "mov.u32 %r2, %cluster_ctarank;\n"
        "mad.lo.u32 %r3, %r0, 1000, %t; cvt.u32.u64 %r4, %rd3;\n"
        "mov.u64 %rd4, bar; cvt.u32.u64 %r5, %rd4; mov.u32 %r6, 0;\n"
        "EACH: mapa.shared::cluster.u32 %r7, %r4, %r6;\n"
        "mapa.shared::cluster.u32 %r8, %r5, %r6;\n"
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
        ".add.u32 [%r7], %r3, [%r8];\n"
        "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 2; @%p2 bra EACH;\n"
        "LATE:\n" WAIT(
            "W") "bar.sync 0;\n" MEET
                 /* and 32 more by each thread of both blocks */
                 "mov.u32 %r6, 0;\n"
                 "AGAIN: cvt.u32.u64 %r4, %rd3; mapa.shared::cluster.u32 %r7, %r4, %r6;\n"
                 "mov.u32 %r9, 32; @!%p1 atom.shared::cluster.add.u32 %r10, [%r7], %r9;\n"
                 "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 2; @%p2 bra AGAIN;\n" MEET
                 "ld.shared.u32 %r2, [%rd3];\n" TAIL("%r2"),
        4, 64, from_all);
}

static uint32_t quads(uint32_t i) {
    uint32_t block = i / 32, other = block ^ 1;
    return other * 100 + i % 4 + i / 4 % 8 * 4;
}

/* st.async of four words by eight threads, a bulk copy between blocks by another. */
Test(ptx_async, copies_between_blocks) {
    check_all_ways(
        CLUSTER("2") "@%q mbarrier.init.shared::cta.b64 [bar], 1;\n"
                     "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n" MEET
                     "mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;\n"
                     "mov.u64 %rd4, bar; mapa.shared::cluster.u64 %rd5, %rd4, %r2;\n"
                     "mov.u64 %rd6, tile; mul.wide.u32 %rd7, %t, 16; add.s64 %rd6, %rd6, "
                     "%rd7;\n"
                     "mapa.shared::cluster.u64 %rd7, %rd6, %r2;\n"
                     "mul.lo.u32 %r3, %r0, 100; mad.lo.u32 %r4, %t, 4, %r3;\n"
                     "add.u32 %r5, %r4, 1; add.u32 %r6, %r4, 2; add.u32 %r7, %r4, 3;\n"
                     "setp.lt.u32 %p1, %t, 8;\n"
                     "@%p1 st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 "
                     "[%rd7], "
                     "{%r4, %r5, %r6, %r7}, [%rd5];\n" MINE WAIT("W") MEET
        "ld.shared.u32 %r2, [%rd3];\n" TAIL("%r2"),
        4, 32, quads);
    check_all_ways(
        CLUSTER(
            "2") "@%q mbarrier.init.shared::cta.b64 [bar], 1;\n"
                 "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n" MINE
                 "mul.lo.u32 %r3, %r0, 100; add.u32 %r3, %r3, %t;\n"
                 "st.shared.u32 [%rd3+1024], %r3; fence.proxy.async;\n" MEET
                 "mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;\n"
                 "mov.u64 %rd4, bar; mapa.shared::cluster.u64 %rd5, %rd4, %r2;\n"
                 "mov.u64 %rd6, tile; mapa.shared::cluster.u64 %rd7, %rd6, %r2;\n"
                 "@%q "
                 "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                 "[%rd7], [tile+1024], 128, [%rd5];\n" WAIT(
                     "W") "ld.shared.u32 %r2, [%rd3];\n" MEET TAIL("%r2"),
        4, 32, quads);
}

static uint32_t everybody(uint32_t i) {
    return i % 32 * 7;
}

/* Block 0 sends to blocks 0, 1 and 3; block 2 gets its words from block 3's copy. */
Test(ptx_async, multicast) {
    check_all_ways(
        CLUSTER(
            "4") "mul.lo.u32 %r2, %t, 7; st.global.u32 [%at], %r2;\n"
                 "@%q mbarrier.init.shared::cta.b64 [bar], 1;\n"
                 "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n" MEET
                 "mov.u32 %r3, %cluster_ctarank; mov.b16 %h0, 11;\n"
                 "setp.eq.u32 %p1, %r3, 3; @%p1 mov.b16 %h0, 4;\n"
                 "setp.eq.u32 %p2, %r3, 0; or.pred %p1, %p1, %p2; and.pred %p1, %p1, "
                 "%q;\n"
                 "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [tile], [%at], 128, [bar], %h0;\n" MINE WAIT(
                     "W") "ld.shared.u32 %r2, [%rd3];\n" MEET TAIL("%r2"),
        8, 32, everybody);
}

/* A block that leaves has arrived; one that never comes is told. */
static uint32_t left(uint32_t i) {
    return i;
}
Test(ptx_async, the_barrier_of_a_cluster) {
    check_all_ways(
        CLUSTER("2") "mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r2, 1;\n"
                     "st.global.u32 [%at], %i; @%p1 exit;\n" MEET MEET "ret; }\n",
        4, 48, left);
    check_finding(CLUSTER("2") "mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r2, 1;\n"
                               "barrier.cluster.arrive; @!%p1 barrier.cluster.wait;\n"
                               "@%p1 bar.sync 1, 64; ret; }\n",
                  2, 32, MACHINE_DEADLOCK, "deadlock", "Deadlock at barrier 1");
    check_finding(CLUSTER("2") "mov.u32 %r2, %cluster_ctarank; setp.eq.u32 %p1, %r2, 1;\n"
                               "@%p1 bar.sync 1, 64; " MEET " ret; }\n",
                  2, 32, MACHINE_DEADLOCK, "deadlock",
                  "barrier.cluster.wait: 32 threads");
}

Test(ptx_async, launches_of_clusters) {
    struct machine_room *r = room_new(CLUSTER("4") "ret; }\n", NULL);
    room_buffer(r, "out", 4, 0);
    cr_expect_eq(room_launch(r, 6, 32), MACHINE_REFUSED);
    cr_expect(strstr(r->refused, "multiple of the cluster's 4"), "%s", r->refused);
    room_free(r);
    r = room_new(CLUSTER("32") "ret; }\n", NULL);
    room_buffer(r, "out", 4, 0);
    cr_expect_eq(room_launch(r, 32, 32), MACHINE_REFUSED);
    cr_expect(strstr(r->refused, "blocks of a cluster: 32"), "%s", r->refused);
    room_free(r);
}

/* ---- tensors ---- */

/* A tensor of 4-byte elements, each the number of its place; rank 1 to 5. */
struct tensor_case {
    unsigned rank, swizzle;
    bool nan;
    uint32_t extent[5], box[5], step[5];
    int32_t at[5];
};

static struct tensor_blob blob_of(const struct tensor_case *x, uint64_t address,
                                  unsigned type) {
    struct tensor_blob b = {.address = address,
                            .type = (uint8_t)type,
                            .rank = (uint8_t)x->rank,
                            .swizzle = (uint8_t)x->swizzle,
                            .fill_nan = x->nan};
    uint64_t stride = 4;
    for (unsigned d = 0; d < x->rank; d++) {
        b.last[d] = x->extent[d] - 1;
        b.box[d] = (uint16_t)x->box[d];
        b.element_strides[d] = (uint8_t)(x->step[d] ? x->step[d] : 1);
        stride *= x->extent[d];
        if (d + 1 < x->rank) {
            b.strides[d] = stride;
        }
    }
    tensor_blob_seal(&b);
    return b;
}

/* What element `number` of the box holds: counted out again by the words of the ISA. */
static uint32_t box_element(const struct tensor_case *x, uint32_t number,
                            uint32_t outside) {
    uint64_t place = 0, stride = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        uint32_t step = d && x->step[d] ? x->step[d] : 1;
        uint32_t count = (x->box[d] + step - 1) / step;
        int64_t at = x->at[d] + (int64_t)(number % count) * step;
        number /= count;
        if (at < 0 || at >= x->extent[d]) {
            return outside;
        }
        place += (uint64_t)at * stride;
        stride *= x->extent[d];
    }
    return (uint32_t)place;
}

static uint32_t box_count(const struct tensor_case *x) {
    uint32_t n = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        uint32_t step = d && x->step[d] ? x->step[d] : 1;
        n *= (x->box[d] + step - 1) / step;
    }
    return n;
}

/* The byte in shared memory: address bits 4 to 6 XOR bits 7 to 9, as many as are
 * swizzled. */
static uint32_t swizzled(uint32_t byte, unsigned swizzle) {
    return byte ^ ((byte >> 7 & ((1u << swizzle) - 1)) << 4);
}

#define MAP_PARAM ", .param .align 64 .b8 map[128], .param .u32 bytes"
static void tensor_body(struct buf *to, const struct tensor_case *x, bool store) {
    buf_adds(to, HEAD_WITH(MAP_PARAM, "", BAR ".shared .align 1024 .b8 tile[8192];\n")
                     INIT("1") "ld.param.u32 %r2, [bytes]; shr.u32 %r3, %r2, 2;\n"
                               "mov.b64 %rd3, map; cvta.param.u64 %rd2, %rd3;\n");
    if (store) {
        buf_adds(to,
                 "L: setp.ge.u32 %p1, %t, %r3; @%p1 bra FULL; mul.wide.u32 %rd5, %t, 4;\n"
                 "mov.u64 %rd6, tile; add.s64 %rd6, %rd6, %rd5;\n"
                 "add.u32 %r5, %t, 1000000; st.shared.u32 [%rd6], %r5;\n"
                 "add.u32 %t, %t, %r1; bra L;\n"
                 "FULL: fence.proxy.async.shared::cta; bar.sync 0; @!%q bra END;\n");
    } else {
        buf_adds(to,
                 "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r2;\n@%q ");
    }
    buf_addf(to, "cp.async.bulk.tensor.%ud.%s", x->rank,
             store ? "global.shared::cta.tile.bulk_group [%rd2, {"
                   : "shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
                     "[%rd2, {");
    for (unsigned d = 0; d < x->rank; d++) {
        buf_addf(to, "%s%d", d ? ", " : "", x->at[d]);
    }
    if (store) {
        buf_adds(to, "}], [tile];\n"
                     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
                     "END: ret; }\n");
        return;
    }
    buf_adds(
        to,
        "}], [bar];\n" WAIT(
            "W") "L: setp.ge.u32 %p1, %t, %r3; @%p1 bra END; mul.wide.u32 %rd5, %t, 4;\n"
                 "mov.u64 %rd6, tile; add.s64 %rd6, %rd6, %rd5;\n"
                 "ld.shared.u32 %r4, [%rd6]; add.s64 %rd6, %rd1, %rd5;\n"
                 "st.global.u32 [%rd6], %r4; add.u32 %t, %t, %r1; bra L;\n"
                 "END: ret; }\n");
}

static struct machine_room *tensor_room(const struct tensor_case *x, bool store,
                                        uint32_t **ret_out, uint32_t **ret_tensor,
                                        uint32_t *ret_count) {
    autobuf body = BUF_INIT(16384);
    tensor_body(&body, x, store);
    struct machine_room *r =
        room_new(body.data, &(struct machine_config){.checks = ALL_CHECKS, .threads = 1});
    uint32_t elements = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        elements *= x->extent[d];
    }
    *ret_out = room_buffer(r, "out", 8192, MACHINE_OUTPUT);
    size_t before = r->param_bytes;
    *ret_tensor = room_buffer(r, "x", (uint64_t)elements * 4, store ? MACHINE_OUTPUT : 0);
    r->param_bytes = before; /* known through the map alone */
    for (uint32_t k = 0; k < elements; k++) {
        (*ret_tensor)[k] = k;
    }
    struct tensor_blob map =
        blob_of(x, r->address[1], x->nan ? TENSOR_BLOB_F32 : TENSOR_BLOB_U32);
    r->param_bytes = 64;
    memcpy(r->params + 64, &map, sizeof map);
    r->param_bytes += sizeof map;
    *ret_count = box_count(x);
    room_u32(r, *ret_count * 4);
    return r;
}

static const struct tensor_case tensor_cases[] = {
    {.rank = 1, .extent = {100}, .box = {64}, .at = {20}},
    {.rank = 1, .extent = {100}, .box = {64}, .at = {70}},
    {.rank = 1, .extent = {100}, .box = {64}, .at = {-5}, .nan = true},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {13, 7}},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {30, 26}, .nan = true},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {-20, 2}},
    {.rank = 2, .extent = {64, 64}, .box = {8, 32}, .at = {3, 9}, .swizzle = 1},
    {.rank = 2, .extent = {64, 64}, .box = {16, 32}, .at = {8, 0}, .swizzle = 2},
    {.rank = 2, .extent = {64, 64}, .box = {32, 24}, .at = {32, 50}, .swizzle = 3},
    {.rank = 3, .extent = {20, 6, 9}, .box = {8, 3, 4}, .at = {4, 2, 7}},
    {.rank = 3,
     .extent = {20, 16, 9},
     .box = {8, 9, 4},
     .step = {1, 4, 2},
     .at = {4, 5, -1}},
    {.rank = 4, .extent = {8, 5, 4, 3}, .box = {4, 2, 3, 2}, .at = {2, 1, 2, -1}},
    {.rank = 5,
     .extent = {8, 3, 4, 3, 2},
     .box = {4, 2, 2, 2, 2},
     .at = {0, 2, -1, 1, 0}},
};
#define TENSOR_CASES (sizeof tensor_cases / sizeof *tensor_cases)

Test(ptx_async, tensors_come_in) {
    for (size_t k = 0; k < TENSOR_CASES; k++) {
        const struct tensor_case *x = &tensor_cases[k];
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(x, false, &out, &tensor, &count);
        cr_expect_eq(room_launch(r, 1, 64), MACHINE_DONE, "%s", r->refused);
        no_findings(r);
        for (uint32_t e = 0; e < count; e++) {
            uint32_t want = box_element(x, e, x->nan ? 0x7fffffff : 0);
            uint32_t got = out[swizzled(4 * e, x->swizzle) / 4];
            cr_assert_eq(got, want, "case %zu, element %u: %u instead of %u", k, e, got,
                         want);
        }
        room_free(r);
    }
}

Test(ptx_async, tensors_go_out) {
    for (size_t k = 0; k < TENSOR_CASES; k++) {
        const struct tensor_case *x = &tensor_cases[k];
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(x, true, &out, &tensor, &count);
        cr_expect_eq(room_launch(r, 1, 64), MACHINE_DONE, "%s", r->refused);
        no_findings(r);
        uint32_t changed = 0, inside = 0;
        for (uint32_t e = 0; e < count; e++) {
            uint32_t place = box_element(x, e, UINT32_MAX);
            if (place != UINT32_MAX) {
                inside++;
                cr_assert_eq(tensor[place], 1000000 + swizzled(4 * e, x->swizzle) / 4,
                             "case %zu, element %u", k, e);
            }
        }
        uint64_t elements = 1;
        for (unsigned d = 0; d < x->rank; d++) {
            elements *= x->extent[d];
        }
        for (uint64_t e = 0; e < elements; e++) {
            changed += tensor[e] != e;
        }
        cr_expect_eq(changed, inside, "case %zu: nothing else is written", k);
        room_free(r);
    }
}

Test(ptx_async, wrong_tensor_maps_are_told) {
    struct tensor_case x = tensor_cases[3];
    for (unsigned k = 0; k < 4; k++) {
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(&x, false, &out, &tensor, &count);
        struct tensor_blob map;
        memcpy(&map, r->params + 64, sizeof map);
        const char *code = "invalid_tensor_map", *words = "No tensor map";
        if (k == 0) {
            memset(&map, 0, sizeof map);
        } else if (k == 1) {
            map.box[0]++; /* as a kernel may do */
        } else if (k == 2) {
            map.rank = 1;
            tensor_blob_seal(&map);
            words = "another number of dimensions than the tensor map has: 1";
        } else {
            map.last[1] += 100;
            map.strides[0] = 1 << 20;
            tensor_blob_seal(&map);
            code = "out_of_bounds";
            words = "past the end of x";
        }
        memcpy(r->params + 64, &map, sizeof map);
        cr_expect_neq(room_launch(r, 1, 64), MACHINE_DONE);
        json_t *first = NULL;
        cr_expect(room_found(r, code, &first) > 0, "case %u", k);
        const char *said = json_get_string(first, "message", "");
        cr_expect(strstr(said, words), "case %u: %s", k, said);
        json_decref(first);
        room_free(r);
    }
}

/* ---- what is refused, by name ---- */

Test(ptx_async, what_does_not_run_is_named) {
    static const char *const lines[] = {
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::"
        "bytes "
        "[tile], [%rd2, {0, 0, 0}], [bar], {%h0};",
        "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [tile], %rd2;",
        "multimem.red.relaxed.gpu.global.add.u32 [%rd2], %r2;",
    };
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        autobuf text = BUF_INIT(4096);
        buf_adds(&text, ".version 9.0\n.target sm_90a\n.address_size 64\n"
                        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<9>;\n"
                        ".reg .b32 %r<9>; .reg .b16 %h<2>;\n"
                        ".shared .align 128 .b8 tile[1024];\n" BAR);
        buf_adds(&text, lines[k]);
        buf_adds(&text, "\nret; }\n");
        struct ptx_module *module = NULL;
        struct machine *m = NULL;
        struct err err = {0};
        json_t *list = NULL;
        struct machine_config c = {.threads = 1};
        cr_assert_eq(ptx_module_read(&module, text.data, text.len, &err), 0, "%s",
                     err.msg);
        cr_expect_eq(machine_new(&m, module, NULL, &c, &list, &err), -ENOTSUP, "%s",
                     lines[k]);
        const char *name = json_get_string(json_array_get(list, 0), "opcode", "");
        cr_expect(strncmp(lines[k], name, strlen(name)) == 0 && *name, "%s", name);
        json_decref(list);
        ptx_module_free(module);
    }
}
