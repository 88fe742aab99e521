/* Races: order between two strong accesses that a flag or counter is to give. By the PTX
 * memory model ("Causality order", "Release and Acquire Patterns") volatile and relaxed
 * accesses alone give none. Every kernel stands with what orders its accesses and
 * without. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .shared .align 16 .b8 s[4096]; .reg .b32 %r<40>, %t, %b, %a, %w;\n"               \
    ".reg .b64 %rd<9>, %o, %g, %f; .reg .pred %p<10>;\n"                                 \
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %a, s; shr.u32 %w, %t, 5;\n"      \
    "ld.param.u64 %o, [out]; shl.b32 %r0, %b, 2; cvt.u64.u32 %rd0, %r0;\n"               \
    "add.u64 %g, %o, %rd0; add.u64 %f, %o, 64;\n"
#define END "ret; }\n"

static void expect(const char *body, uint32_t blocks, uint32_t threads, long missing,
                   const char *words, int line) {
    struct machine_config config = {.checks = MACHINE_CHECK_RACE, .threads = 1};
    struct machine_room *r = room_new(body, &config);
    room_buffer(r, "out", 4096, 0);
    cr_expect_eq(room_launch(r, blocks, threads), MACHINE_DONE, "%d: %s", line,
                 r->refused);
    char *all = room_findings(r);
    long found = room_found(r, "missing_fence", NULL);
    cr_expect_eq(found > 0, missing > 0, "line %d: %s", line, all);
    cr_expect_eq(room_found(r, "race", NULL) + room_found(r, "global_race", NULL), 0,
                 "line %d: %s", line, all);
    cr_expect(strstr(all, words), "line %d: no '%s' in %s", line, words, all);
    free(all);
    room_free(r);
}
#define quiet(body, blocks, threads) expect(body, blocks, threads, 0, "", __LINE__)
#define missing(body, blocks, threads, words)                                            \
    expect(body, blocks, threads, 1, words, __LINE__)

/* Block 0 writes a word and a flag; block 1 waits for the flag and reads the word. */
#define FLAG(data, between, flag, waits, behind, read)                                   \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra WAIT;\n"    \
         data " [%o], 5; " between flag " [%f], 1; ret;\n"                               \
         "WAIT: " waits " %r2, [%f]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;\n" behind   \
         read " %r3, [%o]; st.global.u32 [%o+1024], %r3;\n" END
#define VOLATILE_ST "st.volatile.global.u32"
#define VOLATILE_LD "ld.volatile.global.u32"
#define RELAXED_ST "st.relaxed.gpu.global.u32"
#define RELAXED_LD "ld.relaxed.gpu.global.u32"

Test(ptx_race_signal, a_flag_needs_a_fence_in_front_of_it) {
    missing(FLAG(VOLATILE_ST, "", VOLATILE_ST, VOLATILE_LD, "", VOLATILE_LD), 2, 32,
            "__threadfence() is missing");
    missing(FLAG(RELAXED_ST, "", RELAXED_ST, RELAXED_LD, "membar.gl;\n", RELAXED_LD), 2,
            32, "__threadfence() is missing");
    missing(FLAG(VOLATILE_ST, "", VOLATILE_ST, "ld.acquire.gpu.global.u32", "",
                 VOLATILE_LD),
            2, 32, "__threadfence() is missing");
    missing(FLAG(VOLATILE_ST, "membar.cta;\n", VOLATILE_ST, VOLATILE_LD, "membar.gl;\n",
                 VOLATILE_LD),
            2, 32, "__threadfence() is missing");
    quiet(FLAG(VOLATILE_ST, "membar.gl;\n", VOLATILE_ST, VOLATILE_LD, "membar.gl;\n",
               VOLATILE_LD),
          2, 32);
    quiet(FLAG(RELAXED_ST, "fence.acq_rel.gpu;\n", RELAXED_ST, RELAXED_LD,
               "fence.acq_rel.gpu;\n", RELAXED_LD),
          2, 32);
    quiet(FLAG(RELAXED_ST, "", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32",
               "", RELAXED_LD),
          2, 32);
    /* The reader's fence is not checked. */
    quiet(FLAG(VOLATILE_ST, "membar.gl;\n", VOLATILE_ST, VOLATILE_LD, "", VOLATILE_LD), 2,
          32);
}

/* Data that is written after the flag is nobody's promise. */
#define LATE(first, then)                                                                \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra WAIT;\n"    \
         "st.volatile.global.u32 " first "; st.volatile.global.u32 " then "; ret;\n"     \
         "WAIT: ld.volatile.global.u32 %r2, [%f]; setp.eq.u32 %p2, %r2, 0;\n"            \
         "@%p2 bra WAIT; ld.volatile.global.u32 %r3, [%o];\n"                            \
         "st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_signal, only_what_was_written_before_the_flag_counts) {
    missing(LATE("[%o], 5", "[%f], 1"), 2, 32, "flag or counter");
    quiet(LATE("[%f], 1", "[%o], 5"), 2, 32);
}

/* The last block adds up what all have left. */
#define LAST(barrier, fence, writer)                                                     \
    HEAD "setp.ne.u32 %p0, %t, " writer "; @!%p0 st.volatile.global.u32 [%g], %b;\n"     \
         barrier " setp.ne.u32 %p0, %t, 0; @%p0 ret; " fence                             \
         "atom.global.inc.u32 %r2, [%f], 3; setp.ne.u32 %p2, %r2, 3; @%p2 ret;\n"        \
         "ld.volatile.global.u32 %r3, [%o+8]; st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_signal, the_last_block_needs_a_fence_in_front_of_the_counter) {
    missing(LAST("", "", "0"), 4, 64, "__threadfence() is missing");
    missing(LAST("bar.sync 0;", "", "40"), 4, 64, "__threadfence() is missing");
    quiet(LAST("", "membar.gl; ", "0"), 4, 64);
    quiet(LAST("bar.sync 0;", "membar.gl; ", "40"), 4, 64);
    quiet(LAST("bar.sync 0;", "fence.acq_rel.gpu; ", "40"), 4, 64);
}

/* The same, with a read by another warp of the last block. */
#define LAST_WARP(fence)                                                                 \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 bra MEET; st.volatile.global.u32 [%g], %b;\n"     \
         fence "atom.global.add.u32 %r2, [%f], 1; setp.eq.u32 %p2, %r2, 3;\n"            \
         "selp.u32 %r4, 1, 0, %p2; st.shared.u32 [%a], %r4;\n"                           \
         "MEET: bar.sync 0; ld.shared.u32 %r4, [%a]; setp.eq.u32 %p3, %r4, 0;\n"         \
         "@%p3 ret; setp.ne.u32 %p0, %t, 40; @%p0 ret;\n"                                \
         "ld.volatile.global.u32 %r3, [%o+8]; st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_signal, a_barrier_hands_on_that_a_signal_was_seen) {
    missing(LAST_WARP(""), 4, 64, "__threadfence() is missing");
    quiet(LAST_WARP("membar.gl; "), 4, 64);
}

/* A lock around a counter. */
#define LOCK(behind, before)                                                             \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                           \
         "WAIT: atom.global.cas.b32 %r2, [%f], 0, 1; setp.ne.u32 %p2, %r2, 0;\n"         \
         "@%p2 bra WAIT; " behind "ld.volatile.global.u32 %r3, [%o];\n"                  \
         "add.u32 %r3, %r3, 1; st.volatile.global.u32 [%o], %r3; " before                \
         "atom.global.exch.b32 %r4, [%f], 0;\n" END

Test(ptx_race_signal, a_lock_needs_a_fence_in_front_of_its_release) {
    missing(LOCK("", ""), 4, 32, "__threadfence() is missing");
    missing(LOCK("membar.gl; ", ""), 4, 32, "__threadfence() is missing");
    quiet(LOCK("membar.gl; ", "membar.gl; "), 4, 32);
}

/* `while (!done) if (atomicCAS(…) == 0) {…}`, by some lanes of every warp. */
#define TRY_LOCK(before, unlock)                                                         \
    HEAD "setp.gt.u32 %p0, %t, 1; @%p0 ret;\n"                                           \
         "TRY: atom.global.cas.b32 %r2, [%f], 0, 1; setp.eq.u32 %p2, %r2, 0;\n"          \
         "setp.ne.u32 %p3, %r2, 0; @%p3 bra NEXT;\n"                                     \
         "ld.volatile.global.u32 %r3, [%o]; add.u32 %r3, %r3, 1;\n"                      \
         "st.volatile.global.u32 [%o], %r3; " before unlock                              \
         "NEXT: not.pred %p2, %p2; @%p2 bra TRY;\n" END

Test(ptx_race_signal, a_lock_may_be_tried_in_a_loop_around_the_work) {
#define EXCHANGE "atom.global.exch.b32 %r4, [%f], 0;\n"
#define SWAP "atom.global.cas.b32 %r4, [%f], 1, 0;\n"
    missing(TRY_LOCK("", EXCHANGE), 4, 32, "__threadfence() is missing");
    missing(TRY_LOCK("", SWAP), 4, 32, "__threadfence() is missing");
    missing(TRY_LOCK("", VOLATILE_ST " [%f], 0;\n"), 4, 32, "__threadfence() is missing");
    quiet(TRY_LOCK("membar.gl; ", EXCHANGE), 4, 32);
    quiet(TRY_LOCK("membar.gl; ", SWAP), 4, 32);
    quiet(TRY_LOCK("membar.gl; ", VOLATILE_ST " [%f], 0;\n"), 4, 32);
    quiet(TRY_LOCK("", "st.release.gpu.global.u32 [%f], 0;\n"), 4, 32);
}

/* `__noinline__` halves of a lock; the caller repeats the attempt. */
#define FUNCTIONS                                                                        \
    ".func (.param .b32 got) try_lock(.param .b64 l) { .reg .b32 %r<3>; .reg .b64 %l;\n"  \
    ".reg .pred %p; ld.param.u64 %l, [l]; atom.cas.b32 %r1, [%l], 0, 1;\n"               \
    "setp.eq.s32 %p, %r1, 0; selp.u32 %r2, 1, 0, %p; st.param.b32 [got], %r2; ret; }\n"  \
    ".func unlock(.param .b64 l) { .reg .b32 %r; .reg .b64 %l;\n"                        \
    "ld.param.u64 %l, [l]; atom.exch.b32 %r, [%l], 0; ret; }\n"
#define UNLOCK "{ .param .b64 l; st.param.b64 [l], %rd1; call.uni unlock, (l); }\n"
#define ONCE_MORE(before)                                                                        \
    "AGAIN: { .param .b64 l; .param .b32 got; st.param.b64 [l], %rd1;\n"                 \
    "call.uni (got), try_lock, (l); ld.param.b32 %r2, [got]; }\n"                        \
    "setp.eq.u32 %p2, %r2, 0; @%p2 bra AGAIN;\n"                                         \
    "ld.volatile.global.u32 %r3, [%o]; add.u32 %r3, %r3, 1;\n"                           \
    "st.volatile.global.u32 [%o], %r3; " before UNLOCK
#define CALLED_LOCK(before, more)                                                            \
    FUNCTIONS HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; cvta.global.u64 %rd1, %f;\n"       \
        "TRY: { .param .b64 l; .param .b32 got; st.param.b64 [l], %rd1;\n"               \
        "call.uni (got), try_lock, (l); ld.param.b32 %r2, [got]; }\n"                    \
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra TRY;\n"                                       \
        "ld.volatile.global.u32 %r3, [%o]; add.u32 %r3, %r3, 1;\n"                       \
        "st.volatile.global.u32 [%o], %r3; " before                                      \
        UNLOCK more END

Test(ptx_race_signal, a_lock_of_functions_that_are_called_needs_a_fence) {
    missing(CALLED_LOCK("", ""), 4, 32, "__threadfence() is missing");
    quiet(CALLED_LOCK("membar.gl; ", ""), 4, 32);
    /* twice: the release is the same instruction */
    missing(CALLED_LOCK("", ONCE_MORE("")), 4, 32, "__threadfence() is missing");
    quiet(CALLED_LOCK("membar.gl; ", ONCE_MORE("membar.gl; ")), 4, 32);
}

/* Inside a block, through shared memory. */
#define SHARED(fence)                                                                    \
    HEAD "st.volatile.shared.u32 [%a+64], 0; bar.sync 0;\n"                              \
         "setp.eq.u32 %p1, %t, 0; @%p1 bra WAIT; setp.ne.u32 %p0, %t, 64; @%p0 ret;\n"   \
         "st.volatile.shared.u32 [%a], 42; " fence                                       \
         "st.volatile.shared.u32 [%a+64], 1; ret;\n"                                     \
         "WAIT: ld.volatile.shared.u32 %r2, [%a+64]; setp.eq.u32 %p2, %r2, 0;\n"         \
         "@%p2 bra WAIT; ld.volatile.shared.u32 %r3, [%a];\n"                            \
         "st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_signal, a_flag_in_shared_memory_needs_a_fence_of_the_block) {
    missing(SHARED(""), 1, 96, "__threadfence_block() is missing");
    quiet(SHARED("membar.cta; "), 1, 96);
    quiet(SHARED("membar.gl; "), 1, 96);
}

/* Correct without any order: nobody waits. Blocks draw work, skip what a bound excludes
 * and lower the bound; an old bound only costs time. */
#define BOUND                                                                            \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                           \
         "NEXT: atom.global.add.u32 %r2, [%f], 1; setp.ge.u32 %p2, %r2, 9; @%p2 ret;\n"  \
         "ld.volatile.global.u32 %r3, [%o]; setp.lt.u32 %p3, %r2, %r3; @%p3 bra NEXT;\n" \
         "st.volatile.global.u32 [%o], %r2; bra NEXT;\n}\n"

/* Labels of a graph: each read may be old. */
#define LABELS                                                                           \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                           \
         "ld.volatile.global.u32 %r2, [%o+16]; setp.ne.u32 %p2, %r2, 0;\n"               \
         "@%p2 bra SOME; st.volatile.global.u32 [%o], 7;\n"                              \
         "st.volatile.global.u32 [%o+16], 7; ret;\n"                                     \
         "SOME: ld.volatile.global.u32 %r3, [%o]; st.volatile.global.u32 [%o+32], %r3;"  \
         "\n" END

/* The first who finds a node makes its label, nobody waits for it: no lock. */
#define CLAIM                                                                            \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.eq.u32 %p1, %b, 0;\n"                   \
         "@%p1 st.volatile.global.u32 [%o], 7; atom.global.cas.b32 %r2, [%f], 0, 1;\n"   \
         "setp.ne.u32 %p3, %r2, 0; @!%p3 ret; ld.volatile.global.u32 %r3, [%o];\n"       \
         "st.volatile.global.u32 [%g+1024], %r3;\n" END

/* Two flags, each waited for; and a word that was itself waited for is read again. */
#define TWO_FLAGS                                                                        \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra ONE;\n"     \
         "st.volatile.global.u32 [%o], 5; st.volatile.global.u32 [%f], 1; ret;\n"        \
         "ONE: ld.volatile.global.u32 %r2, [%f]; setp.eq.u32 %p2, %r2, 0;\n"             \
         "@%p2 bra ONE;\n"                                                               \
         "TWO: ld.volatile.global.u32 %r3, [%o]; setp.eq.u32 %p2, %r3, 0;\n"             \
         "@%p2 bra TWO; ld.volatile.global.u32 %r3, [%o];\n"                             \
         "st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_signal, reads_that_need_no_order_are_left_alone) {
    quiet(BOUND, 3, 32);
    quiet(LABELS, 3, 32);
    quiet(CLAIM, 3, 32);
    quiet(TWO_FLAGS, 2, 32);
}

/* A warp's reduction through volatile shared memory. "Independent Thread Scheduling"
 * (CUDA programming guide): since Volta its lanes need not run in lock step. */
#define LANES(write, between, read)                                                      \
    HEAD "shl.b32 %r4, %t, 2; add.u32 %r4, %a, %r4;\n"                                   \
         "st." write ".shared.u32 [%r4], %t; " between                                   \
         "ld." read ".shared.u32 %r5, [%r4+4];\n" END

Test(ptx_race_signal, lanes_that_count_on_lock_step_need_a_syncwarp) {
    missing(LANES("volatile", "", "volatile"), 1, 32, "__syncwarp() is missing");
    missing(LANES("volatile", "", "volatile"), 1, 32, "\"warning\"");
    quiet(LANES("volatile", "bar.warp.sync -1; ", "volatile"), 1, 32);
    quiet(LANES("volatile", "bar.sync 0; ", "volatile"), 1, 32);
    quiet(LANES("volatile", "vote.sync.ballot.b32 %r6, 1, -1; ", "volatile"), 1, 32);
    quiet(LANES("relaxed.cta", "", "relaxed.cta"), 1, 32);
    /* one flag for all lanes */
    quiet(HEAD "ld.volatile.shared.u32 %r5, [%a]; st.volatile.shared.u32 [%a], 1;\n"
               "ld.volatile.shared.u32 %r6, [%a];\n" END,
          1, 32);
}
