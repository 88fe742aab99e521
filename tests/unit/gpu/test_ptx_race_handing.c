/* Races: what knowledge goes through (barriers, fences of other threads, blocks that run
 * one after the other), matrix accesses, and what a launch may cost. As in
 * test_ptx_race.c every kernel stands with what orders its accesses and without. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n"                               \
    "{ .shared .align 16 .b8 s[4096]; .reg .b32 %r<40>, %t, %b, %a, %w, %f<8>;\n"        \
    ".reg .b16 %h; .reg .b64 %rd<9>, %o, %i, %g; .reg .pred %p<10>;\n"                   \
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %a, s; shr.u32 %w, %t, 5;\n"      \
    "ld.param.u64 %o, [out]; ld.param.u64 %i, [in]; shl.b32 %r0, %t, 2;\n"               \
    "add.u32 %r1, %a, %r0; cvt.u64.u32 %rd0, %r0; add.u64 %g, %o, %rd0;\n"
#define END "ret; }\n"
#define BYTES 8192

struct seen {
    long shared, global;
    char text[3000];
    char unchecked[200];
};

static struct seen run_with(const char *body, uint32_t blocks, uint32_t threads,
                            uint64_t bytes) {
    struct machine_config config = {.checks = MACHINE_CHECK_RACE, .threads = 1};
    struct machine_room *r = room_new(body, &config);
    struct seen s = {0};
    room_buffer(r, "out", bytes, 0);
    room_buffer(r, "in", BYTES, MACHINE_READ_ONLY);
    cr_expect_eq(room_launch(r, blocks, threads), MACHINE_DONE, "%s", r->refused);
    s.shared = room_found(r, "race", NULL);
    s.global = room_found(r, "global_race", NULL);
    char *all = room_findings(r);
    snprintf(s.text, sizeof s.text, "%s", all);
    free(all);
    const char *unchecked = machine_unchecked(r->machine);
    snprintf(s.unchecked, sizeof s.unchecked, "%s", unchecked ? unchecked : "");
    room_free(r);
    return s;
}

static void expect(const char *body, uint32_t blocks, uint32_t threads, bool shared,
                   bool global, const char *words, int line) {
    struct seen s = run_with(body, blocks, threads, BYTES);
    cr_expect((s.shared > 0) == shared && (s.global > 0) == global, "line %d: %s", line,
              s.text);
    cr_expect(strstr(s.text, words), "line %d: no '%s' in %s", line, words, s.text);
    cr_expect_str_eq(s.unchecked, "", "line %d", line);
}
#define quiet(body, blocks, threads)                                                     \
    expect(body, blocks, threads, false, false, "", __LINE__)
#define shared_race(body, blocks, threads, words)                                        \
    expect(body, blocks, threads, true, false, words, __LINE__)
#define global_race(body, blocks, threads, words)                                        \
    expect(body, blocks, threads, false, true, words, __LINE__)

/* ---- barriers hand on ---- */

/* Block 0 hands a word to the first warp of block 1; the second warp reads it. */
#define HEARD(heard, late)                                                               \
    HEAD "setp.ne.u32 %p1, %b, 0; @%p1 bra TAKE; setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"    \
         "st.global.u32 [%o], 5; st.release.gpu.global.u32 [%o+64], 1; ret;\n"           \
         "TAKE: setp.ne.u32 %p0, %w, 0; @%p0 bra LATE;\n"                                \
         "WAIT: ld.acquire.gpu.global.u32 %r2, [%o+64]; setp.eq.u32 %p2, %r2, 0;\n"      \
         "@%p2 bra WAIT; " heard " ret;\n"                                               \
         "LATE: " late " ld.global.u32 %r3, [%o]; st.global.u32 [%g+1024], %r3;\n" END

Test(ptx_race_handing, a_barrier_hands_on_what_is_known_of_other_blocks) {
    quiet(HEARD("bar.sync 0;", "bar.sync 0;"), 2, 64);
    quiet(HEARD("bar.sync 1, 64;", "bar.sync 1, 64;"), 2, 64);
    quiet(HEARD("bar.arrive 1, 64;", "bar.sync 1, 64;"), 2, 64);
    global_race(HEARD("", ""), 2, 64, "two blocks");
    global_race(HEARD("bar.sync 1, 32;", ""), 2, 64, "two blocks");
}

/* A thread writes, all execute the fence, and behind the barrier a thread of another warp
 * sets the flag. */
#define FENCED_BEFORE(fence, meets)                                                      \
    HEAD "setp.ne.u32 %p1, %b, 0; @%p1 bra TAKE; setp.eq.u32 %p3, %t, 0;\n"              \
         "@%p3 st.global.u32 [%o], 5; " fence meets "setp.eq.u32 %p3, %t, 32;\n"         \
         "@%p3 st.volatile.global.u32 [%o+64], 1; ret;\n"                                \
         "TAKE: setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                     \
         "WAIT: ld.acquire.gpu.global.u32 %r2, [%o+64]; setp.eq.u32 %p2, %r2, 0;\n"      \
         "@%p2 bra WAIT; ld.global.u32 %r3, [%o]; st.global.u32 [%o+1024], %r3;\n" END
#define ARRIVES "setp.eq.u32 %p4, %w, 0; @%p4 bar.arrive 1, 64; @!%p4 bar.sync 1, 64;\n"

Test(ptx_race_handing, a_fence_in_front_of_a_barrier_counts_behind_it) {
    quiet(FENCED_BEFORE("membar.gl;\n", "bar.sync 0;\n"), 2, 64);
    quiet(FENCED_BEFORE("membar.gl;\n", ARRIVES), 2, 64);
    global_race(FENCED_BEFORE("", "bar.sync 0;\n"), 2, 64, "two blocks");
    global_race(FENCED_BEFORE("membar.cta;\n", "bar.sync 0;\n"), 2, 64, "two blocks");
    global_race(FENCED_BEFORE("membar.cta;\n", ARRIVES), 2, 64, "two blocks");
}

/* The same of three warps: the first writes, the second sets the flag, the third waits.
 */
#define FENCED_WARPS(fence, meets)                                                       \
    HEAD "setp.eq.u32 %p3, %t, 0; @%p3 st.shared.u32 [%a+4], %t; bar.sync 0;\n"          \
         "setp.eq.u32 %p1, %w, 2; @%p1 bra TAKE; @%p3 st.shared.u32 [%a], 5;\n" fence    \
             meets                                                                       \
         "setp.eq.u32 %p3, %t, 32; @%p3 st.volatile.shared.u32 [%a+4], 1; ret;\n"        \
         "TAKE: setp.ne.u32 %p0, %t, 64; @%p0 ret;\n"                                    \
         "WAIT: ld.volatile.shared.u32 %r2, [%a+4]; setp.eq.u32 %p2, %r2, 0;\n"          \
         "@%p2 bra WAIT; ld.shared.u32 %r3, [%a]; st.global.u32 [%o], %r3;\n" END

Test(ptx_race_handing, a_blocks_own_fence_counts_behind_its_barrier) {
    quiet(FENCED_WARPS("membar.cta;\n", "bar.sync 1, 64;\n"), 1, 96);
    quiet(FENCED_WARPS("membar.cta;\n", ARRIVES), 1, 96);
    shared_race(FENCED_WARPS("", "bar.sync 1, 64;\n"), 1, 96, "no barrier");
    shared_race(FENCED_WARPS("", ARRIVES), 1, 96, "no barrier");
}

/* Block 1 sets the flag on behind a fence of its own block: its other warp knows nothing
 * of block 0 by that. */
Test(ptx_race_handing, a_blocks_own_fence_tells_of_no_other_block) {
    global_race(
        HEAD "setp.ne.u32 %p1, %b, 0; @%p1 bra SECOND; setp.ne.u32 %p0, %t, 0;\n"
             "@%p0 ret; st.global.u32 [%o], 5; membar.cta;\n"
             "st.volatile.global.u32 [%o+64], 1; ret;\n"
             "SECOND: setp.eq.u32 %p0, %t, 32; @%p0 bra LAST; setp.ne.u32 %p0, %t, 0;\n"
             "@%p0 ret; W: ld.volatile.global.u32 %r2, [%o+64];\n"
             "setp.ne.u32 %p2, %r2, 1; @%p2 bra W; membar.cta;\n"
             "st.volatile.global.u32 [%o+64], 2; ret;\n"
             "LAST: ld.volatile.global.u32 %r2, [%o+64]; setp.ne.u32 %p2, %r2, 2;\n"
             "@%p2 bra LAST; ld.global.u32 %r3, [%o];\n"
             "st.global.u32 [%o+1024], %r3;\n" END,
        2, 64, "two blocks");
}

/* What a block has heard is no knowledge of the one that runs in its place after it. */
Test(ptx_race_handing, a_block_begins_with_no_knowledge) {
    global_race(
        HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.eq.u32 %p1, %b, 0;\n"
             "@%p1 bra FIRST; setp.eq.u32 %p1, %b, 2; @%p1 bra READ;\n"
             "W: ld.acquire.gpu.global.u32 %r2, [%o+64]; setp.eq.u32 %p2, %r2, 0;\n"
             "@%p2 bra W; ret;\n"
             "FIRST: st.global.u32 [%o], 5; st.release.gpu.global.u32 [%o+64], 1; ret;\n"
             "READ: ld.global.u32 %r3, [%o]; st.global.u32 [%o+1024], %r3;\n" END,
        3, 32, "two blocks");
}

/* Nor is what it left at a flag in shared memory, which is new for each block. */
Test(ptx_race_handing, a_flag_in_shared_memory_is_of_one_block) {
#define SHARED_FLAG(second)                                                              \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra TAKE;\n"    \
         "st.global.u32 [%o], 5; st.release.gpu.shared.u32 [%a], 1; ret;\n"              \
         "TAKE: ld.acquire.gpu.shared.u32 %r2, [%a]; " second                            \
         " %r3, [%o]; st.global.u32 [%o+1024], %r3;\n" END
    global_race(SHARED_FLAG("ld.global.u32"), 2, 32, "two blocks");
}

/* Two blocks hundreds apart are no less two blocks: the last knows of one of them. */
#define FAR_BLOCKS(other)                                                                \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.eq.u32 %p1, %b, 0;\n"                   \
         "@%p1 st.global.u32 [%o], 5; setp.eq.u32 %p1, %b, " other ";\n"                 \
         "@%p1 st.release.gpu.global.u32 [%o+64], 1; setp.ne.u32 %p1, %b, 299; @%p1 "    \
         "ret;\n"                                                                        \
         "W: ld.acquire.gpu.global.u32 %r2, [%o+64]; setp.eq.u32 %p2, %r2, 0; @%p2 bra " \
         "W;\n"                                                                          \
         "ld.global.u32 %r3, [%o]; st.global.u32 [%o+1024], %r3;\n" END

Test(ptx_race_handing, many_blocks_are_told_apart) {
    quiet(FAR_BLOCKS("0"), 300, 32);
    global_race(FAR_BLOCKS("16"), 300, 32, "two blocks");
    global_race(FAR_BLOCKS("256"), 300, 32, "two blocks");
    global_race(FAR_BLOCKS("272"), 300, 32, "two blocks");
}

/* A copy is waited for by name: barriers alone, however many, do not do. */
Test(ptx_race_handing, no_barrier_waits_for_a_copy) {
    shared_race(HEAD "cp.async.ca.shared.global [%r1], [%g], 4; cp.async.commit_group;\n"
                     "bar.sync 0; bar.sync 0; xor.b32 %r2, %r0, 128;\n"
                     "add.u32 %r3, %a, %r2; ld.shared.u32 %r4, [%r3];\n"
                     "cp.async.wait_group 0;\n" END,
                1, 64, "waited for the copy");
}

/* All lanes have read one word: two of them that meet know nothing of the others. */
Test(ptx_race_handing, lanes_that_meet_know_of_each_other_alone) {
#define READ_AND_MEET(lanes, mask)                                                       \
    HEAD "st.shared.u32 [%r1], %t; bar.warp.sync -1; ld.shared.u32 %r4, [%a];\n"         \
         "setp.lt.u32 %p0, %t, " lanes "; @%p0 bar.warp.sync " mask ";\n"                \
         "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [%a], 9;\n" END
    quiet(READ_AND_MEET("32", "-1"), 1, 32);
    shared_race(READ_AND_MEET("2", "3"), 1, 32, "__syncwarp");
    shared_race(READ_AND_MEET("31", "0x7fffffff"), 1, 32, "__syncwarp");
}

/* ---- accesses ---- */

Test(ptx_race_handing, the_first_instruction_is_watched) {
    shared_race(".visible .entry k(.param .u64 out, .param .u64 in)\n"
                "{ .shared .align 4 .b8 s[4]; st.shared.u32 [s], 5; ret; }\n",
                1, 64, "same value");
}

/* Of two values of which one is always the same. */
Test(ptx_race_handing, a_vector_is_not_one_value) {
    global_race(HEAD
                "mov.u32 %r5, 7; add.u64 %g, %g, %rd0;\n"
                "st.global.v2.u32 [%g], {%r5, %t}; xor.b32 %r2, %r0, 128;\n"
                "shl.b32 %r2, %r2, 1; cvt.u64.u32 %rd1, %r2; add.u64 %rd2, %o, %rd1;\n"
                "ld.global.u32 %r4, [%rd2]; st.global.u32 [%g+2048], %r4;\n" END,
                1, 64, "\"error\"");
}

/* The ticket lies beside the sum: who draws it has not seen the other word. */
Test(ptx_race_handing, an_atomic_sees_no_more_than_its_own_word) {
#define TICKET_BESIDE(fence)                                                             \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; red.global.add.u32 [%o+4], %b;\n" fence      \
         "atom.global.add.u32 %r2, [%o], 1; setp.ne.u32 %p1, %r2, 3; @%p1 ret;\n"        \
         "ld.global.u32 %r3, [%o+4]; st.global.u32 [%o+1024], %r3;\n" END
    quiet(TICKET_BESIDE("membar.gl;\n"), 4, 32);
    global_race(TICKET_BESIDE(""), 4, 32, "two blocks");
}

/* What is another finding already: not whole inside, not aligned, not to be written. */
Test(ptx_race_handing, a_bad_access_is_no_race) {
    static const char *const bodies[] = {
        HEAD "st.shared.u32 [%a+4094], %t;\n" END,
        HEAD "shl.b32 %r2, %t, 17; add.u32 %r3, %a, %r2;\n"
             "st.shared.u32 [%r3], %t;\n" END,
        HEAD "shl.b64 %rd1, %rd0, 28; add.u64 %rd2, %o, "
             "%rd1; mul.wide.u32 %rd3, %b, 4; add.u64 %rd2, %rd2, %rd3;\nst.global.u32 "
             "[%rd2], %t;\n" END,
        HEAD "st.shared.u32 [%a+4096], %t;\n" END,
        HEAD "st.shared.u32 [%a+2], %t;\n" END,
        HEAD "st.global.u32 [%o+8190], %t;\n" END,
        HEAD "st.global.u32 [%o+8192], %t;\n" END,
        HEAD "st.global.u32 [%o+2], %t;\n" END,
        HEAD "st.global.v2.u32 [%o+8188], {%t, %t};\n" END,
        HEAD "st.global.u32 [%i], %t;\n" END,
        HEAD "atom.global.exch.b32 %r2, [%i], 1;\n"
             "st.global.u32 [%i+4], %t;\n" END};
    for (unsigned k = 0; k < ARRAY_LEN(bodies); k++) {
        struct machine_config config = {
            .checks = MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE, .threads = 1};
        struct machine_room *r = room_new(bodies[k], &config);
        room_buffer(r, "out", BYTES, 0);
        room_buffer(r, "in", BYTES, MACHINE_READ_ONLY);
        room_launch(r, 2, 64);
        char *all = room_findings(r);
        cr_expect_str_neq(all, "[]", "%u", k);
        cr_expect(!room_found(r, "race", NULL) && !room_found(r, "global_race", NULL),
                  "%u: %s", k, all);
        free(all);
        room_free(r);
    }
}

/* In the first turn what is read is the constant buffer, in the second what others write
 * beside it. */
#define TWO_BUFFERS(between)                                                             \
    HEAD "xor.b32 %r2, %r0, 128; cvt.u64.u32 %rd1, %r2; add.u64 %rd2, %o, %rd1;\n"       \
         "st.global.u32 [%g], %t; " between "mov.u64 %rd3, %i; mov.u32 %r5, 0;\n"        \
         "TURN: ld.global.u32 %r4, [%rd3]; mov.u64 %rd3, %rd2; add.u32 %r5, %r5, 1;\n"   \
         "setp.lt.u32 %p0, %r5, 2; @%p0 bra TURN; st.global.u32 [%g+1024], %r4;\n" END

Test(ptx_race_handing, a_load_of_two_buffers_is_watched_in_both) {
    quiet(TWO_BUFFERS("bar.sync 0;\n"), 1, 64);
    global_race(TWO_BUFFERS(""), 1, 64, "of out");
}

Test(ptx_race_handing, the_same_value_excuses_no_read) {
    shared_race(HEAD "st.shared.u32 [%r1], 0; bar.sync 0; setp.eq.u32 %p0, %t, 32;\n"
                     "@%p0 st.shared.u32 [%a], 0; setp.eq.u32 %p0, %t, 0;\n"
                     "@%p0 ld.shared.u32 %r4, [%a];\n" END,
                1, 64, "\"error\"");
    shared_race(HEAD "st.shared.u32 [%r1], 0; bar.sync 0; setp.eq.u32 %p0, %t, 0;\n"
                     "@%p0 ld.shared.u32 %r4, [%a]; setp.eq.u32 %p0, %t, 32;\n"
                     "@%p0 st.shared.u32 [%a], 0;\n" END,
                1, 64, "\"error\"");
}

/* The first warp writes words, the second reads or writes them as (parts of) a matrix. */
#define THEN_MATRIX(between, matrix)                                                     \
    HEAD "setp.ne.u32 %p0, %w, 0; @!%p0 st.shared.u32 [%r1], %t; " between               \
         "@!%p0 bra LAST;\n"                                                             \
         "and.b32 %r2, %t, 7; shl.b32 %r2, %r2, 4; add.u32 %r3, %a, %r2;\n" matrix       \
         "LAST: " END
#define FRAGMENT "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"

Test(ptx_race_handing, matrix_instructions_are_accesses_too) {
    static const char *const barrier[] = {
        THEN_MATRIX("bar.sync 0;\n",
                    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];\n"),
        THEN_MATRIX("bar.sync 0;\n",
                    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%t};\n"),
        THEN_MATRIX("bar.sync 0;\n",
                    "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " FRAGMENT
                    ", [%a], 16;\n"),
        THEN_MATRIX("bar.sync 0;\n",
                    "wmma.load.a.sync.aligned.row.m16n16k16.f16 " FRAGMENT
                    ", [%a], 16;\n")};
    quiet(barrier[0], 1, 64);
    quiet(barrier[1], 1, 64);
    quiet(barrier[2], 1, 64);
    shared_race(
        THEN_MATRIX("", "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];\n"), 1,
        64, "no barrier");
    shared_race(
        THEN_MATRIX("", "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%t};\n"), 1, 64,
        "no barrier");
    shared_race(THEN_MATRIX("",
                            "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " FRAGMENT
                            ", [%a], 16;\n"),
                1, 64, "no barrier");
}

/* ---- what it may cost ---- */

/* As many events as are too many without the barriers (what_is_too_much_is_told). */
Test(ptx_race_handing, barriers_make_room_for_events) {
#define MANY(barrier)                                                                    \
    HEAD "mov.u32 %r5, 0;\n"                                                             \
         "AGAIN: " barrier " ld.shared.u32 %r4, [%r1]; add.u32 %r5, %r5, 1;\n"           \
         "setp.lt.u32 %p0, %r5, 270000; @%p0 bra AGAIN;\n" END
    quiet(MANY("bar.sync 0;"), 1, 1);
    quiet(MANY("bar.sync 0, 32;"), 1, 1);
}

Test(ptx_race_handing, cells_of_too_much_memory_are_told) {
    struct seen s = run_with(
        HEAD "cvt.u16.u32 %h, %t; cvt.u64.u32 %rd1, %t; add.u64 %rd1, %o, %rd1;\n"
             "st.global.u8 [%rd1], %h;\n" END,
        1, 32, UINT64_C(300) << 20);
    cr_expect(strstr(s.unchecked, "too much memory"), "%s", s.unchecked);
    cr_expect_str_eq(s.text, "[]");
}

/* Every thread releases at a word of its own. What is behind that launch is complete. */
Test(ptx_race_handing, too_many_places_to_synchronise_are_told) {
    struct machine_config config = {.checks = MACHINE_CHECK_RACE, .threads = 1};
    struct machine_room *r =
        room_new(HEAD "mad.lo.u32 %r2, %b, 1024, %t; mul.wide.u32 %rd1, %r2, 4;\n"
                      "add.u64 %rd1, %o, %rd1; st.release.gpu.global.u32 [%rd1], 1;\n"
                      "st.global.u32 [%i], %b;\n" END,
                 &config);
    room_buffer(r, "out", 1025 * 4096, 0);
    room_buffer(r, "in", 256, 0);
    cr_expect_eq(room_launch(r, 1025, 1024), MACHINE_DONE, "%s", r->refused);
    const char *unchecked = machine_unchecked(r->machine);
    cr_expect(unchecked && strstr(unchecked, "too many places"), "%s", unchecked);
    long before = room_found(r, "global_race", NULL);
    room_launch(r, 2, 32);
    cr_expect_gt(room_found(r, "global_race", NULL), before);
    room_free(r);
}
