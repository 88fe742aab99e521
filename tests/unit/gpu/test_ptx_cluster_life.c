/* The machine: blocks of a cluster that exit while others reach into their shared memory,
 * and mbarriers that others use before they are there. CUDA C++ Programming Guide,
 * "Distributed Shared Memory": a block must exist while its memory is accessed. */
#include "tests/unit/gpu/async_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define RANKS                                                                            \
    "mov.u32 %r2, %cluster_ctarank; xor.b32 %r3, %r2, 1;\n"                              \
    "setp.eq.u32 %p1, %r2, 0; mov.u64 %rd4, tile; mov.u64 %rd5, bar;\n"                  \
    "mapa.shared::cluster.u64 %rd4, %rd4, %r3;\n"                                        \
    "mapa.shared::cluster.u64 %rd5, %rd5, %r3;\n"                                        \
    "mul.wide.u32 %rd6, %t, 4; add.s64 %rd7, %rd4, %rd6;\n"
/* Every thread's number in its block's tile; the neighbour's word is at %rd7. */
#define BEGIN CLUSTER("2") MINE "st.shared.u32 [%rd3], %i;\n" RANKS
#define INITS(count) "@%q mbarrier.init.shared::cta.b64 [bar], " count ";\n"

static uint32_t neighbour(uint32_t i) {
    return i / 48 % 2 ? i - 48 : i + 48;
}
static uint32_t of_first(uint32_t i) {
    return i / 48 % 2 ? 0 : i + 48;
}

#define READ "ld.shared::cluster.u32 %r4, [%rd7];\n"
#define READ_BY_FIRST "mov.u32 %r4, 0; @%p1 ld.shared::cluster.u32 %r4, [%rd7];\n"

/* All ways to make the owner of the memory wait. */
Test(ptx_cluster_life, a_block_that_waits_may_exit) {
    check_all_ways(BEGIN MEET READ MEET TAIL("%r4"), 4, 48, neighbour);
    check_all_ways(BEGIN MEET READ_BY_FIRST
                   "barrier.cluster.arrive; st.global.u32 [%at], %r4;\n"
                   "barrier.cluster.wait; ret; }\n",
                   4, 48, of_first);
    /* the reader arrives at the owner's mbarrier, and one thread of the owner waits */
    check_all_ways(BEGIN INITS("48") MEET READ
                   "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd5];\n"
                   "@!%q bra END;\n" WAIT("W") "END:\n" TAIL("%r4"),
                   4, 48, neighbour);
    /* one thread arrives for all, behind a barrier of its block */
    check_all_ways(BEGIN INITS("1") MEET READ
                   "bar.sync 0;\n"
                   "@%q mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd5];\n"
                   "@!%q bra END;\n" WAIT("W") "END:\n" TAIL("%r4"),
                   4, 48, neighbour);
    /* a flag in the owner's memory */
    check_all_ways(BEGIN "@%q st.shared.u32 [tile+2048], 0;\n" MEET READ
                         "bar.sync 0; fence.acq_rel.cluster; mov.u32 %r5, 1;\n"
                         "@%q st.relaxed.cluster.shared::cluster.u32 [%rd4+2048], %r5;\n"
                         "@!%q bra END;\n"
                         "L: ld.acquire.cluster.shared::cta.u32 %r6, [tile+2048];\n"
                         "setp.ne.u32 %p2, %r6, 1; @%p2 bra L; END:\n" TAIL("%r4"),
                   4, 48, neighbour);
    /* which has two addresses */
    check_all_ways(BEGIN "@%q st.shared.u32 [tile+2048], 0;\n" MEET READ
                         "bar.sync 0; fence.acq_rel.cluster; mov.u32 %r5, 1;\n"
                         "@%q st.relaxed.cluster.shared::cluster.u32 [%rd4+2048], %r5;\n"
                         "@!%q bra END; mov.u64 %rd8, tile;\n"
                         "mapa.shared::cluster.u64 %rd8, %rd8, %r2;\n"
                         "L: ld.acquire.cluster.shared::cluster.u32 %r6, [%rd8+2048];\n"
                         "setp.ne.u32 %p2, %r6, 1; @%p2 bra L; END:\n" TAIL("%r4"),
                   4, 48, neighbour);
    /* a count in the owner's memory, by every reader */
    check_all_ways(BEGIN "@%q st.shared.u32 [tile+2048], 0;\n" MEET READ
                         "red.release.cluster.shared::cluster.add.u32 [%rd4+2048], 1;\n"
                         "@!%q bra END;\n"
                         "L: ld.acquire.cluster.shared::cta.u32 %r6, [tile+2048];\n"
                         "setp.ne.u32 %p2, %r6, 48; @%p2 bra L; END:\n" TAIL("%r4"),
                   4, 48, neighbour);
}

struct told {
    const char *body, *code, *words, *other;
};

/* Whatever the order of warps and blocks. */
static void check_told(const struct told *x) {
    for (uint64_t seed = 0; seed < 3; seed++) {
        struct machine_config c = {.checks = seed == 2 ? ALL_CHECKS
                                                       : (unsigned)MACHINE_CHECK_DEFAULT,
                                   .threads = 1,
                                   .seed = seed};
        struct machine_room *r = room_new(x->body, &c);
        room_buffer(r, "out", 4 * 48 * 4, MACHINE_OUTPUT);
        room_launch(r, 4, 48);
        char *all = room_findings(r);
        json_t *first = NULL;
        cr_assert(room_found(r, x->code, &first) > 0, "no %s (%s): %s", x->code, x->words,
                  all);
        const char *said = json_get_string(first, "message", "");
        cr_expect(strstr(said, x->words), "%s: not in %s", x->words, said);
        const json_t *other = json_array_get(json_object_get(first, "related"), 0);
        const char *told = json_get_string(other, "message", "nothing");
        size_t len = strlen(x->other);
        cr_expect(strncmp(told, x->other, len) == 0 &&
                      strncmp(told + len, ", block ", 8) == 0,
                  "%s: not %s", told, x->other);
        json_decref(first);
        free(all);
        room_free(r);
    }
}

#define LEAVES "here a block leaves that others still read or write"
#define EXITS(rank) "Block " rank " of the cluster may exit before this access"

Test(ptx_cluster_life, blocks_that_exit_too_early_are_told) {
    static const struct told cases[] = {
        /* Block 0 runs first, so only the happy order is seen. */
        {BEGIN MEET READ_BY_FIRST TAIL("%r4"), "early_exit", EXITS("1"), LEAVES},
        {BEGIN MEET "@%p1 st.shared::cluster.u32 [%rd7], %r3;\n" TAIL("%r3"),
         "early_exit", EXITS("1"), LEAVES},
        {BEGIN MEET "@%p1 red.shared::cluster.add.u32 [%rd7], %r3;\n" TAIL("%r3"),
         "early_exit", EXITS("1"), LEAVES},
        {BEGIN MEET "add.s64 %rd7, %rd7, 0; cvta.shared.u64 %rd7, %rd7;\n"
                    "@%p1 st.u32 [%rd7], %r3;\n" TAIL("%r3"),
         "early_exit", EXITS("1"), LEAVES},
        /* arrived before it reads */
        {BEGIN MEET "barrier.cluster.arrive;\n" READ_BY_FIRST
                    "barrier.cluster.wait;\n" TAIL("%r4"),
         "early_exit", EXITS("1"), LEAVES},
        /* a barrier of each block is none of the cluster */
        {BEGIN MEET READ_BY_FIRST "bar.sync 0;\n" TAIL("%r4"), "early_exit", EXITS("1"),
         LEAVES},
        /* nobody waits for the arrivals themselves: a ring without its tail */
        {BEGIN INITS("48") MEET READ_BY_FIRST
         "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd5];\n" TAIL(
             "%r4"),
         "early_exit", EXITS("1"), LEAVES},
        /* the source of a copy to the other block */
        {BEGIN INITS("1") "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
                          "fence.proxy.async;\n" MEET
                          "and.pred %p2, %p1, %q; cvt.u32.u64 %r5, %rd4;\n"
                          "@%p2 "
                          "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_"
                          "tx::bytes "
                          "[%rd4+512], [tile], 64, [%rd5];\n"
                          "@%p1 bra END;\n" WAIT("W") "END:\n" TAIL("%r2"),
         "early_exit", "Block 0 of the cluster may exit before this copy has read",
         LEAVES},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_told(&cases[k]);
    }
    /* and one that has: block 1 runs long */
    static const struct told late = {
        BEGIN MEET "@%p1 exit; mov.u32 %r5, 0;\n"
                   "L: st.volatile.global.u32 [%at], %r5; add.u32 %r5, %r5, 1;\n"
                   "setp.lt.u32 %p2, %r5, 3000; @%p2 bra L;\n" READ TAIL("%r4"),
        "out_of_bounds", "block 0 of the cluster has exited", LEAVES};
    check_told(&late);
}

/* A copy that nobody waits for is told once. */
Test(ptx_cluster_life, a_copy_into_an_exited_block_has_its_own_finding) {
    struct machine_room *r = room_new(
        BEGIN INITS(
            "1") "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n"
                 "st.global.u32 [%at], %r2;\n" MEET "mov.b16 %h0, 2;\n"
                 "and.pred %p2, %p1, %q;\n"
                 "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [tile+512], [%rd1], 64, [bar], %h0; ret; }\n",
        NULL);
    room_buffer(r, "out", 4 * 48 * 4, MACHINE_OUTPUT);
    room_launch(r, 4, 48);
    cr_expect_eq(room_found(r, "unwaited_copy", NULL), 2);
    cr_expect_eq(room_found(r, "early_exit", NULL), 0);
    room_free(r);
}

/* ---- mbarrier.init ---- */

#define ARRIVE_THERE                                                                     \
    "@%q mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd5];\n"
#define RELAXED "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"

static uint32_t own_number(uint32_t i) {
    return i % 48;
}

/* The second is CUTLASS's: an initialised barrier alone is handed on. */
Test(ptx_cluster_life, mbarriers_that_are_there_may_be_used) {
    check_all_ways(CLUSTER("2") RANKS INITS("1") MEET ARRIVE_THERE WAIT("W")
                       MEET TAIL("%t"),
                   2, 48, own_number);
    check_all_ways(
        CLUSTER("2") RANKS INITS(
            "1") "fence.mbarrier_init.release.cluster;\n" RELAXED ARRIVE_THERE WAIT("W")
            MEET TAIL("%t"),
        2, 48, own_number);
}

/* What 4096 mbarriers hand on is kept: with more of them all counts as known. */
#define EACH_OF_MANY(label, what)                                                        \
    "mov.u32 %r7, 0; " label ": " what " add.s64 %rd8, %rd8, 8; add.u32 %r7, %r7, 1;\n"  \
    "setp.lt.u32 %p2, %r7, 4100; @%p2 bra " label ";\n"
#define INIT_MANY EACH_OF_MANY("I", "mbarrier.init.shared::cta.b64 [%rd8], 1;")
#define ARRIVE_AT_MANY                                                                   \
    EACH_OF_MANY("A", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%rd8];")
static uint32_t of_second(uint32_t i) {
    return i / 48 % 2 ? i - 48 : 0;
}
Test(ptx_cluster_life, too_many_mbarriers_raise_no_alarm) {
    check_all_ways(
        HEAD_WITH("", ".reqnctapercluster 2, 1, 1\n",
                  BAR ".shared .align 128 .b8 tile[4096];\n"
                      ".shared .align 8 .b64 many[4100];\n") MINE
        "st.shared.u32 [%rd3], %i;\n" RANKS
        "@!%q bra ON; mov.u64 %rd8, many;\n" INIT_MANY "ON:\n" MEET
        "mov.u32 %r4, 0; @!%p1 ld.shared::cluster.u32 %r4, [%rd7]; bar.sync 0;\n"
        "@!%q bra END; @%p1 bra WAIT; mov.u64 %rd8, many;\n"
        "mapa.shared::cluster.u64 %rd8, %rd8, %r3;\n" ARRIVE_AT_MANY "bra END;\n"
        "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p9, [many+32792], 0;\n"
        "@!%p9 bra WAIT; END:\n" TAIL("%r4"),
        2, 48, of_second);
}

#define BY_OTHER "mbarrier.init by the other block"
Test(ptx_cluster_life, mbarriers_that_may_not_be_there_yet_are_told) {
    static const struct told cases[] = {
        {CLUSTER("2")
             RANKS INITS("1") "bar.sync 0; @%p1 bra ON;\n" ARRIVE_THERE
                              "ON: @!%p1 bra END;\n" WAIT("W") "END:\n" MEET TAIL("%t"),
         "invalid_mbarrier", "nothing orders mbarrier.init before this", BY_OTHER},
        {CLUSTER("2") RANKS INITS("1") RELAXED ARRIVE_THERE WAIT("W") MEET TAIL("%t"),
         "missing_fence", "fence.mbarrier_init.release.cluster is missing", BY_OTHER},
    };
    check_told(&cases[0]);
    check_told(&cases[1]);
}

/* One thread's in warp 0, another thread's use. */
static void check_own(const char *between, uint32_t user, long found, const char *words) {
    char body[2048];
    snprintf(body, sizeof body,
             "%s%s setp.eq.u32 %%p3, %%t, %u; %s\n"
             "@%%p3 mbarrier.arrive.shared::cta.b64 _, [bar];\n%s",
             HEAD, INITS("1"), user, between, TAIL("%t"));
    struct machine_room *r = room_new(body, NULL);
    room_buffer(r, "out", 48 * 4, MACHINE_OUTPUT);
    room_launch(r, 1, 48);
    json_t *first = NULL;
    cr_assert_eq(room_found(r, "invalid_mbarrier", &first), found, "%s", words);
    cr_expect(!found || strstr(json_get_string(first, "message", ""), words), "%s",
              words);
    json_decref(first);
    room_free(r);
}
Test(ptx_cluster_life, nor_may_those_of_the_own_block) {
    check_own("", 40, 1, "by another warp, before this (__syncthreads()");
    check_own("bar.warp.sync -1;", 40, 1, "by another warp, before this");
    check_own("bar.sync 0;", 40, 0, "");
    check_own("", 7, 1, "by another lane, before this (__syncwarp()");
    check_own("bar.warp.sync -1;", 7, 0, "");
    check_own("", 0, 0, "");
}
