/* The machine: mbarriers. The kernels are PTX written here; what they must
 * give follows from the ISA's words, computed here. */
#include "tests/unit/gpu/async_room.h"

#include <criterion/criterion.h>

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
         "out_of_bounds", "is not an address of shared memory", MACHINE_FAULT},
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

/* PTX leaves open what such an arrival does; its own bytes are none that were
 * overwritten. */
Test(ptx_async, one_arrival_too_many_is_one_mistake) {
    struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    struct machine_room *r = room_new(
        HEAD INIT("1") "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;\n"
                       "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;\n"
                       "@%q mbarrier.complete_tx.shared::cta.b64 [bar], 4;\n" TAIL("%t"),
        &c);
    room_buffer(r, "out", 32 * 4, 0);
    room_launch(r, 1, 32);
    char *all = room_findings(r);
    cr_expect_eq(room_found(r, "invalid_mbarrier", NULL), 1, "%s", all);
    free(all);
    room_free(r);
}
