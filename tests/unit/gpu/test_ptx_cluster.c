/* The machine: clusters. The kernels are PTX written here; what they must
 * give follows from the ISA's words, computed here. */
#include "tests/unit/gpu/async_room.h"

#include <criterion/criterion.h>
#include <string.h>

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

#define EXCHANGE(fence, arrive)                                                          \
    CLUSTER("2")                                                                         \
    MINE "st.shared.u32 [%rd3], %i;\n" fence "barrier.cluster.arrive" arrive             \
         "; barrier.cluster.wait;\n"                                                     \
         "mov.u32 %r2, %cluster_ctarank; xor.b32 %r2, %r2, 1;\n"                         \
         "mapa.shared::cluster.u64 %rd4, %rd3, %r2;\n"                                   \
         "ld.shared::cluster.u32 %r3, [%rd4];\n" MEET TAIL("%r3")

static uint32_t swapped(uint32_t i) {
    return i / 32 % 2 ? i - 32 : i + 32;
}

/* By the ISA it guarantees no order of memory: that is the fence's. */
Test(ptx_async, a_relaxed_arrival_hands_on_what_was_fenced) {
    check_all_ways(EXCHANGE("", ""), 4, 32, swapped);
    check_all_ways(EXCHANGE("fence.acq_rel.cluster;", ".relaxed"), 4, 32, swapped);
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 1};
    struct machine_room *r = room_new(EXCHANGE("", ".relaxed"), &c);
    room_buffer(r, "out", 512, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 4, 32), MACHINE_DONE);
    json_t *first = NULL;
    cr_expect_eq(room_found(r, "race", &first), 128);
    const char *said = json_get_string(first, "message", "");
    cr_expect(strstr(said, "a barrier of the cluster"), "%s", said);
    json_decref(first);
    room_free(r);
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
