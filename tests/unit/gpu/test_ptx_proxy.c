/* The machine: what threads write and an engine reads. By the ISA ("Async proxy") a
 * fence.proxy.async is owed between the two, on the path that orders them. */
#include "tests/unit/gpu/async_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define STORE_ALL                                                                        \
    "@!%q bra END;\n"                                                                    \
    "mul.wide.u32 %rd5, %r1, 4; cvt.u32.u64 %r9, %rd5;\n"                                \
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], %r9;\n"                 \
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END: ret; }\n"
#define WRITE MINE "mul.lo.u32 %r2, %t, 5;\nst.shared.u32 [%rd3], %r2;\n"
#define FENCE "fence.proxy.async.shared::cta;\n"

static uint32_t fives(uint32_t i) {
    return 5 * i;
}

/* Every way to put one fence on the path from the write to the copy. */
Test(ptx_proxy, a_fence_on_the_path_is_enough) {
    check_all_ways(HEAD WRITE FENCE "bar.sync 0;\n" STORE_ALL, 1, 96, fives);
    check_all_ways(HEAD WRITE "bar.sync 0;\n@%q " FENCE STORE_ALL, 1, 96, fives);
    /* another thread's between two barriers */
    check_all_ways(HEAD WRITE "bar.sync 0; setp.eq.u32 %p2, %t, 40;\n@%p2 " FENCE
                              "bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
    /* the warp alone, its lanes met */
    check_all_ways(HEAD WRITE "bar.warp.sync -1;\n@%q " FENCE STORE_ALL, 1, 32, fives);
    /* every writer's own, after one that was no use to the others */
    check_all_ways(HEAD WRITE "@%q " FENCE FENCE "bar.sync 0;\n" STORE_ALL, 1, 96, fives);
    /* the first word's own, after that of all others */
    check_all_ways(HEAD WRITE "@!%q " FENCE "@%q " FENCE "bar.sync 0;\n" STORE_ALL, 1, 32,
                   fives);
    /* what lies behind the copied bytes is not read */
    check_all_ways(HEAD WRITE FENCE
                   "@%q st.shared.u32 [tile+384], 1; bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
    /* by an mbarrier */
    check_all_ways(
        HEAD INIT("96") WRITE
        "mbarrier.arrive.shared::cta.b64 _, [bar];\n" WAIT("W") "@%q " FENCE STORE_ALL,
        1, 96, fives);
    /* by a flag */
    check_all_ways(HEAD "@%q st.shared.u32 [tile+4000], 0; bar.sync 0;\n" WRITE
                        "mov.u32 %r3, 1; fence.acq_rel.cta;\n"
                        "atom.shared.add.u32 %r4, [tile+4000], %r3; @!%q bra END;\n"
                        "L: ld.acquire.cta.shared.u32 %r4, [tile+4000];\n"
                        "setp.ne.u32 %p1, %r4, 96; @%p1 bra L;\n" FENCE STORE_ALL,
                   1, 96, fives);
}

/* The finding for the copy or product of `reader`, whose other side is the store's. */
static void check_missing(const char *body, uint32_t threads, const char *words,
                          const char *write, bool race) {
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct machine_config c = {.checks =
                                       race ? MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE
                                            : MACHINE_CHECK_DEFAULT,
                                   .threads = 1,
                                   .seed = seed,
                                   .one_lane = seed == 3};
        struct machine_room *r = room_new(body, &c);
        room_buffer(r, "out", 4096, MACHINE_OUTPUT);
        cr_expect_eq(room_launch(r, 1, threads), MACHINE_DONE, "%s", r->refused);
        char *all = room_findings(r);
        json_t *first = NULL;
        cr_expect(room_found(r, "missing_fence", &first) > 0, "none in %s", all);
        const char *said = json_get_string(first, "message", "");
        cr_expect(strstr(said, words), "seed %lu: %s: not in %s", (unsigned long)seed,
                  words, said);
        const json_t *other = json_array_get(json_object_get(first, "related"), 0);
        if (write) {
            const char *told = json_get_string(other, "message", "none");
            cr_expect(strncmp(told, write, strlen(write)) == 0, "%s: not %s", told,
                      write);
        } else {
            cr_expect_null(other);
        }
        json_decref(first);
        free(all);
        room_free(r);
    }
}

#define BEFORE "which a thread has written, with no fence.proxy.async after that"
#define STRANGE "no fence.proxy.async after that by a thread that is ordered after"
#define THE_WRITE "the earlier write, block 0,0,0 thread "

/* Whatever the order in which the warps run. */
Test(ptx_proxy, a_fence_that_is_missing_or_of_somebody_else_is_told) {
    check_missing(HEAD WRITE "bar.sync 0;\n" STORE_ALL, 96,
                  "The copy reads offset 0 of tile, which a thread has written, with "
                  "no fence.proxy.async after that: put one",
                  THE_WRITE, false);
    check_missing(HEAD FENCE WRITE "bar.sync 0;\n" STORE_ALL, 96, BEFORE, THE_WRITE,
                  true);
    /* one thread's own fence is in front of the barrier */
    check_missing(HEAD WRITE "@%q " FENCE "bar.sync 0;\n" STORE_ALL, 96, STRANGE,
                  THE_WRITE, false);
    check_missing(HEAD WRITE "@%q " FENCE "bar.sync 0;\n" STORE_ALL, 32, STRANGE,
                  THE_WRITE, true);
    /* an atomic and stmatrix write too; cp.async has no store that could be named */
    check_missing(HEAD MINE
                  "st.shared.u32 [%rd3], 0;\n" FENCE
                  "atom.shared.add.u32 %r2, [%rd3], %t; bar.sync 0;\n" STORE_ALL,
                  96, BEFORE, THE_WRITE, false);
    check_missing(HEAD WRITE FENCE
                  "bar.warp.sync -1; and.b32 %r4, %t, 7; mul.wide.u32 %rd4, %r4, 16;\n"
                  "mov.u64 %rd5, tile; add.s64 %rd4, %rd4, %rd5;\n"
                  "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd4], {%t};\n"
                  "bar.sync 0;\n" STORE_ALL,
                  32, BEFORE, THE_WRITE, false);
    check_missing(HEAD MINE "st.global.u32 [%at], %t; bar.sync 0;\n"
                            "cp.async.ca.shared.global [%rd3], [%at], 4;\n"
                            "cp.async.wait_all; bar.sync 0;\n" STORE_ALL,
                  96, "which a cp.async has written", NULL, false);
}

/* After atomics, stmatrix and cp.async no less than after stores. */
Test(ptx_proxy, a_fence_is_enough_whatever_wrote) {
    check_all_ways(HEAD MINE "st.shared.u32 [%rd3], 0; mul.lo.u32 %r2, %t, 5;\n" FENCE
                             "atom.shared.add.u32 %r4, [%rd3], %r2;\n" FENCE
                             "bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
    check_all_ways(HEAD MINE "mul.lo.u32 %r2, %t, 5; st.global.u32 [%at], %r2;\n"
                             "bar.sync 0; cp.async.ca.shared.global [%rd3], [%at], 4;\n"
                             "cp.async.wait_all;\n" FENCE "bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
    check_all_ways(HEAD "mov.u64 %rd5, tile; and.b32 %r4, %t, 7;\n"
                        "mul.wide.u32 %rd4, %r4, 16; add.s64 %rd4, %rd4, %rd5;\n"
                        "mul.lo.u32 %r2, %t, 5;\n"
                        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd4], {%r2};\n" FENCE
                        "bar.sync 0;\n" STORE_ALL,
                   1, 32, fives);
}

/* Generic addresses are those of shared memory too, and of others. */
Test(ptx_proxy, generic_addresses_are_told_apart) {
#define GENERIC MINE "cvta.shared.u64 %rd3, %rd3; mul.lo.u32 %r2, %t, 5;\n"
    check_missing(HEAD GENERIC "st.u32 [%rd3], %r2; bar.sync 0;\n" STORE_ALL, 96, BEFORE,
                  THE_WRITE, false);
    check_all_ways(HEAD GENERIC "st.u32 [%rd3], %r2;\n" FENCE "bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
    check_all_ways(HEAD ".local .b32 mine; cvta.local.u64 %rd6, mine;\n" WRITE FENCE
                        "st.u32 [%rd6], 1; st.u32 [%at], 2; bar.sync 0;\n" STORE_ALL,
                   1, 96, fives);
}

/* Who wrote is kept for a million stores; that somebody did is never forgotten. */
#define MANY_STORES                                                                      \
    "mov.u32 %r3, 0;\n"                                                                  \
    "L: st.shared.u32 [tile+2048], %r3; bar.sync 0; add.u32 %r3, %r3, 1;\n"              \
    "setp.lt.u32 %p1, %r3, 1060000; @%p1 bra L;\n"

Test(ptx_proxy, stores_without_end_leave_the_fence_owed) {
    check_kernel(HEAD WRITE MANY_STORES FENCE "bar.sync 0;\n" STORE_ALL, 1, 4, fives,
                 NULL);
    check_finding(HEAD WRITE MANY_STORES STORE_ALL, 1, 4, MACHINE_DONE, "missing_fence",
                  BEFORE);
    check_finding(HEAD FENCE MANY_STORES WRITE STORE_ALL, 1, 4, MACHINE_DONE,
                  "missing_fence", BEFORE);
}

/* ---- wgmma ---- */

#define DESCRIPTORS                                                                      \
    "mov.u64 %rd6, tile; shr.u64 %rd6, %rd6, 4; and.b64 %rd6, %rd6, 16383;\n"            \
    "or.b64 %rd6, %rd6, 0x0000000800400000;\n"
#define PRODUCT                                                                          \
    ".reg .f32 %d<4>; mov.f32 %d0, 0f00000000; mov.f32 %d1, %d0;\n"                      \
    "mov.f32 %d2, %d0; mov.f32 %d3, %d0; wgmma.fence.sync.aligned;\n" DESCRIPTORS        \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, %rd6, "     \
    "%rd6, 1, 1, 1, 0, 0;\n"                                                             \
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"                \
    "cvt.rzi.u32.f32 %r5, %d0;\n" TAIL("%r5")
/* Sixteen columns of ones, 64 rows: 4096 bytes, a word by each of 128 threads at once. */
#define ONES                                                                             \
    MINE "mov.u32 %r2, 0x3c003c00; mov.u32 %r3, 0;\n"                                    \
         "F: st.shared.u32 [%rd3], %r2; add.s64 %rd3, %rd3, 512;\n"                      \
         "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra F;\n"

static uint32_t sixteen(uint32_t i) {
    (void)i;
    return 16;
}

Test(ptx_proxy, what_wgmma_reads_is_fenced) {
    check_all_ways(HEAD ONES FENCE "bar.sync 0;\n" PRODUCT, 1, 128, sixteen);
    check_all_ways(HEAD ONES "bar.sync 0;\n" FENCE "bar.sync 0;\n" PRODUCT, 1, 128,
                   sixteen);
    check_missing(HEAD ONES "bar.sync 0;\n" PRODUCT, 128,
                  "wgmma reads offset 0 of tile, which a thread has written, with no "
                  "fence.proxy.async after that: put one",
                  THE_WRITE, false);
    check_missing(HEAD ONES "@%q " FENCE "bar.sync 0;\n" PRODUCT, 128, STRANGE, THE_WRITE,
                  true);
}

/* CUTLASS's own kernels have no such fence behind cp.async. */
Test(ptx_proxy, wgmma_may_read_what_cp_async_brought) {
    check_all_ways(
        HEAD "mov.u32 %r2, 0x3c003c00; st.global.u32 [%at], %r2; bar.sync 0;\n" MINE
             "mov.u32 %r3, 0;\n"
             "F: cp.async.ca.shared.global [%rd3], [%at], 4; add.s64 %rd3, %rd3, 512;\n"
             "add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 8; @%p1 bra F;\n"
             "cp.async.wait_all; bar.sync 0;\n" PRODUCT,
        1, 128, sixteen);
}
