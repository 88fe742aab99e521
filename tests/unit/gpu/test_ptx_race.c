/* Races: what happens before what, by every way in which PTX orders accesses.
 *
 * Every kernel stands twice where that is possible: with what orders its accesses, and
 * without. */
#include "tests/unit/gpu/machine_room.h"

#include "base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .shared .align 16 .b8 s[4096]; .reg .b32 %r<40>, %t, %b, %a, %l, %w;\n"           \
    ".reg .b16 %h<4>; .reg .b64 %rd<20>, %o, %g; .reg .pred %p<10>;\n"                   \
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %a, s; mov.u32 %l, %laneid;\n"    \
    "shr.u32 %w, %t, 5; ld.param.u64 %o, [out];\n"                                       \
    "shl.b32 %r0, %t, 2; add.u32 %r1, %a, %r0; cvt.u64.u32 %rd0, %r0;\n"                 \
    "add.u64 %g, %o, %rd0;\n"
#define END "ret; }\n"

struct seen {
    long races, global;
    char text[4096];
    char severity[16];
    json_t *first;
};

static struct seen run_on(const char *body, uint32_t blocks, uint32_t threads,
                          unsigned host_threads, bool cooperative) {
    struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE,
                                    .threads = host_threads};
    struct machine_room *r = room_new(body, &config);
    room_buffer(r, "out", 8192, 0);
    (void)cooperative;
    room_launch(r, blocks, threads);
    struct seen s = {0};
    json_t *shared = NULL, *global = NULL;
    s.races = room_found(r, "race", &shared);
    s.global = room_found(r, "global_race", &global);
    char *all = room_findings(r);
    snprintf(s.text, sizeof s.text, "%s", all);
    free(all);
    s.first = shared ? json_incref(shared) : json_incref(global);
    snprintf(s.severity, sizeof s.severity, "%s",
             s.first ? json_get_string(s.first, "severity", "") : "");
    json_decref(shared);
    json_decref(global);
    room_free(r);
    return s;
}

static struct seen run(const char *body, uint32_t blocks, uint32_t threads) {
    return run_on(body, blocks, threads, 1, false);
}

static void expect_quiet_at(const char *body, uint32_t blocks, uint32_t threads,
                            int line) {
    struct seen s = run(body, blocks, threads);
    cr_expect(s.races == 0 && s.global == 0, "line %d: %s", line, s.text);
    json_decref(s.first);
}
#define expect_quiet(body, blocks, threads)                                              \
    expect_quiet_at(body, blocks, threads, __LINE__)

static void expect_race_at(const char *body, uint32_t blocks, uint32_t threads,
                           const char *code, const char *severity, const char *word,
                           int line) {
    struct seen s = run(body, blocks, threads);
    bool shared = strcmp(code, "race") == 0;
    cr_expect((s.races > 0) == shared && (s.global > 0) == !shared, "line %d: %s", line,
              s.text);
    cr_expect_str_eq(s.severity, severity, "line %d: %s", line, s.text);
    cr_expect(strstr(s.text, word), "line %d: no '%s' in %s", line, word, s.text);
    cr_expect(s.first && json_array_size(json_object_get(s.first, "related")) == 1,
              "line %d: %s", line, s.text);
    json_decref(s.first);
}
#define expect_race(body, blocks, threads, code, severity, word)                         \
    expect_race_at(body, blocks, threads, code, severity, word, __LINE__)

/* Every thread writes its word of s and reads that of the thread 32 before it. */
#define WRITE "st.shared.u32 [%r1], %t;\n"
#define READ_FAR                                                                         \
    "xor.b32 %r2, %r0, 128; add.u32 %r3, %a, %r2; ld.shared.u32 %r4, [%r3];\n"           \
    "st.global.u32 [%g], %r4;\n"
#define READ_NEAR                                                                        \
    "xor.b32 %r2, %r0, 4; add.u32 %r3, %a, %r2; ld.shared.u32 %r4, [%r3];\n"             \
    "st.global.u32 [%g], %r4;\n"

/* A line that reads and writes is told of atomics, two lines are not. */
Test(ptx_race, an_update_needs_an_atomic_operation) {
#define UPDATE(line)                                                                     \
    "mov.u32 %r5, 0; .loc 1 7 5\nld.shared.u32 %r4, [s]; add.u32 %r4, %r4, %t;\n"        \
    ".loc 1 " line " 5\nst.shared.u32 [s], %r4;\n"
    static const char file[] = ".file 1 \"k.cu\"\n";
    for (int one = 0; one < 2; one++) {
        autofree char *body =
            xasprintf("%s%s%s%s", HEAD, one ? UPDATE("7") : UPDATE("8"), END, file);
        struct seen s = run(body, 1, 64);
        cr_expect_gt(s.races, 0, "%s", s.text);
        cr_expect_eq(strstr(s.text, "atomicAdd") != NULL, one == 1, "%d: %s", one,
                     s.text);
        json_decref(s.first);
    }
}

Test(ptx_race, barriers_order_a_block) {
    expect_quiet(HEAD WRITE "bar.sync 0;\n" READ_FAR END, 1, 64);
    expect_quiet(HEAD WRITE "barrier.sync 3, 64;\n" READ_FAR END, 1, 64);
    expect_quiet(HEAD WRITE
                 "setp.eq.u32 %p0, %t, 0; bar.red.or.pred %p1, 0, %p0;\n" READ_FAR END,
                 1, 64);
    /* In the order of the warps the second reads what the first wrote, and the first
     * what the second has yet to write. */
    expect_race(HEAD WRITE READ_FAR END, 1, 64, "race", "error", "no barrier");
    expect_race(HEAD WRITE "bar.warp.sync -1;\n" READ_FAR END, 1, 64, "race", "error",
                "no barrier");
}

Test(ptx_race, both_sides_are_told) {
    struct seen s = run(HEAD WRITE READ_FAR END, 1, 64);
    json_t *other = json_array_get(json_object_get(s.first, "related"), 0);
    cr_assert(other, "%s", s.text);
    unsigned thread = (unsigned)json_integer_value(
        json_array_get(json_object_get(s.first, "thread"), 0));
    unsigned before =
        (unsigned)json_integer_value(json_array_get(json_object_get(other, "thread"), 0));
    cr_expect_eq(thread ^ before, 32, "%s", s.text);
    autofree char *told =
        xasprintf("bytes, block 0,0,0 thread %u,0,0", before);
    cr_expect(strstr(json_get_string(other, "message", ""), told), "%s", s.text);
    cr_expect_str_eq(json_get_string(s.first, "buffer", ""), "s");
    json_decref(s.first);
}

/* All read what the first thread wrote: lanes of its own warp, and the other warp's. */
Test(ptx_race, where_warps_race_the_lanes_of_one_are_told_last) {
    struct seen s =
        run(HEAD WRITE "ld.shared.u32 %r4, [%a]; st.global.u32 [%g], %r4;\n" END, 1, 64);
    cr_expect(strstr(json_get_string(s.first, "message", ""), "__syncthreads()"), "%s",
              s.text);
    cr_expect_eq(
        json_integer_value(json_array_get(json_object_get(s.first, "thread"), 0)), 32);
    json_decref(s.first);
}

/* The first two warps produce, the others consume. */
#define PRODUCE                                                                          \
    "setp.ge.u32 %p0, %w, 2; @%p0 bra CONSUME;\n" WRITE "bar.arrive 1, 128; ret;\n"      \
    "CONSUME: "
#define CONSUME                                                                          \
    "sub.u32 %r2, %r1, 256; ld.shared.u32 %r4, [%r2]; st.global.u32 [%g], %r4;\n"

/* Whoever shows it demangles it: a template's is longer than a line. */
Test(ptx_race, a_variables_name_is_whole) {
    char name[401], body[4096];
    memset(name, 'q', sizeof name - 1);
    name[sizeof name - 1] = 0;
    memcpy(name, "_ZZ", 3);
    snprintf(
        body, sizeof body,
        ".visible .entry k(.param .u64 out)\n"
        "{ .shared .align 4 .b8 %s[1024]; .reg .b32 %%r<4>, %%t; .reg .b64 %%rd<4>;\n"
        "mov.u32 %%t, %%tid.x; mov.u64 %%rd0, %s; st.shared.u32 [%%rd0], %%t;\n"
        "ret; }\n",
        name, name);
    struct seen s = run_on(body, 1, 64, 1, false);
    cr_assert_gt(s.races, 0);
    cr_expect_str_eq(json_get_string(s.first, "buffer", ""), name);
    cr_expect(strstr(json_get_string(s.first, "message", ""), name));
    json_decref(s.first);
}

Test(ptx_race, named_barriers_order_those_who_come) {
    expect_quiet(HEAD PRODUCE "bar.sync 1, 128;\n" CONSUME END, 1, 128);
    expect_race(HEAD PRODUCE CONSUME "bar.sync 1, 128;\n" END, 1, 128, "race", "error",
                "no barrier");
    /* The producers go on writing after they have arrived. */
    expect_race(HEAD "setp.ge.u32 %p0, %w, 2; @%p0 bra CONSUME;\n"
                     "bar.arrive 1, 128;\n" WRITE
                     "ret;\nCONSUME: bar.sync 1, 128;\n" CONSUME END,
                1, 128, "race", "error", "no barrier");
    /* Two warps of four meet: the others know nothing of it. */
    expect_race(HEAD "setp.ge.u32 %p0, %w, 2;\n" WRITE "@!%p0 bar.sync 1, 64;\n"
                     "xor.b32 %r2, %r0, 256; add.u32 %r3, %a, %r2;\n"
                     "ld.shared.u32 %r4, [%r3]; st.global.u32 [%g], %r4;\n" END,
                1, 128, "race", "error", "no barrier");
}

Test(ptx_race, lanes_of_a_warp_need_syncwarp) {
    expect_quiet(HEAD WRITE "bar.warp.sync -1;\n" READ_NEAR END, 1, 32);
    expect_quiet(HEAD WRITE READ_NEAR "bar.warp.sync -1;\n" END, 0 + 1, 1); /* alone */
    expect_race(HEAD WRITE READ_NEAR END, 1, 32, "race", "error", "__syncwarp");
    /* A shuffle brings the lanes together and orders no memory. */
    expect_race(HEAD WRITE "shfl.sync.bfly.b32 %r9, %t, 1, 31, -1;\n" READ_NEAR END, 1,
                32, "race", "warning", "orders no memory");
    /* Halves of a warp. */
    expect_quiet(HEAD WRITE
                 "setp.lt.u32 %p0, %l, 16; mov.u32 %r5, 0xffff0000;\n"
                 "@%p0 mov.u32 %r5, 0xffff; bar.warp.sync %r5;\n" READ_NEAR END,
                 1, 32);
    expect_race(HEAD WRITE "setp.lt.u32 %p0, %l, 16; mov.u32 %r5, 0xffff0000;\n"
                           "@%p0 mov.u32 %r5, 0xffff; bar.warp.sync %r5;\n"
                           "xor.b32 %r2, %r0, 64; add.u32 %r3, %a, %r2;\n"
                           "ld.shared.u32 %r4, [%r3]; st.global.u32 [%g], %r4;\n" END,
                1, 32, "race", "error", "__syncwarp");
}

Test(ptx_race, volatile_accesses_do_not_race_with_each_other) {
    expect_quiet(HEAD "st.volatile.shared.u32 [%r1], %t; xor.b32 %r2, %r0, 4;\n"
                      "add.u32 %r3, %a, %r2; ld.volatile.shared.u32 %r4, [%r3];\n" END,
                 1, 32);
    expect_quiet(HEAD "atom.shared.add.u32 %r4, [%a], 1; red.shared.add.u32 [%a+4], 1;\n"
                      "atom.shared.add.u32 %r4, [%a+4], 1;\n" END,
                 1, 64);
    expect_race(HEAD "atom.shared.add.u32 %r4, [%a], 1; setp.ne.u32 %p0, %t, 0;\n"
                     "@%p0 ret; ld.shared.u32 %r5, [%a]; st.global.u32 [%g], %r5;\n" END,
                1, 64, "race", "error", "atomic");
}

Test(ptx_race, bytes_are_told_apart) {
    expect_quiet(HEAD "add.u32 %r2, %a, %t; cvt.u16.u32 %h0, %t;\n"
                      "st.shared.u8 [%r2], %h0; ld.shared.u8 %h1, [%r2];\n" END,
                 1, 128);
    expect_quiet(HEAD "cvt.u64.u32 %rd1, %t; mad.wide.u32 %rd1, %b, 64, %rd1;\n"
                      "add.u64 %rd2, %o, %rd1; cvt.u16.u32 %h0, %t;\n"
                      "st.global.u8 [%rd2], %h0;\n" END,
                 4, 64);
    /* A word over bytes that another warp wrote. */
    expect_race(HEAD
                "add.u32 %r2, %a, %t; cvt.u16.u32 %h0, %t; st.shared.u8 [%r2], %h0;\n"
                "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"
                "ld.shared.v2.u64 {%rd3, %rd4}, [%a+32]; st.global.u64 [%g], %rd3;\n" END,
                1, 64, "race", "error", "no barrier");
}

/* The first warp accesses words, the second a byte of each: what was noted in words holds
 * for their bytes. */
#define THEN_BYTES(first, between)                                                       \
    "setp.ge.u32 %p0, %w, 1; @%p0 bra BYTES;\n" first between "ret;\n"                   \
    "BYTES: " between "mov.u16 %h0, 7; sub.u32 %r2, %r1, 128;\n"                         \
    "st.shared.u8 [%r2+3], %h0;\n"

Test(ptx_race, words_are_remembered_when_bytes_follow) {
    expect_quiet(HEAD THEN_BYTES(WRITE, "bar.sync 0;\n") END, 1, 64);
    expect_race(HEAD THEN_BYTES(WRITE, "") END, 1, 64, "race", "error", "no barrier");
    expect_race(HEAD THEN_BYTES("ld.shared.u32 %r4, [%r1];\n", "") END, 1, 64, "race",
                "error", "no barrier");
    expect_race(HEAD "setp.ge.u32 %p0, %b, 1; @%p0 bra BYTES;\n"
                     "st.global.u32 [%g], %t; ret;\n"
                     "BYTES: mov.u16 %h0, 7; st.global.u8 [%g+3], %h0;\n" END,
                2, 32, "global_race", "error", "block");
}

Test(ptx_race, the_last_word_counts_like_the_first) {
    expect_race(HEAD "st.shared.u32 [%a+4092], %w;\n" END, 1, 64, "race", "error", "");
    expect_race(HEAD "st.global.u32 [%o+8188], %b;\n" END, 2, 32, "global_race", "error",
                "");
}

#define WRITE_GENERIC                                                                    \
    "cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2], %t;\n"

Test(ptx_race, generic_addresses_reach_shared_memory) {
    expect_quiet(HEAD WRITE_GENERIC "bar.sync 0;\n" READ_FAR END, 1, 64);
    /* Each thread has a local memory of its own at one address. */
    expect_quiet(HEAD ".local .b32 mine; cvta.local.u64 %rd1, mine;\n"
                      "st.u32 [%rd1], %t; bar.warp.sync -1; ld.u32 %r2, [%rd1];\n"
                      "st.u32 [%g], %r2;\n" END,
                 1, 64);
    expect_race(HEAD WRITE_GENERIC READ_FAR END, 1, 64, "race", "error", "no barrier");
}

/* Warp 0 writes, warp 1 hears of it and arrives where warp 2 waits. */
#define HANDED_ON(arrives, waits)                                                        \
    "setp.eq.u32 %p0, %w, 1; @%p0 bra MIDDLE; setp.eq.u32 %p1, %w, 2; @%p1 bra "         \
    "LAST;\n" WRITE arrives "ret;\nMIDDLE: " waits "bar.arrive 2, 64; ret;\n"            \
    "LAST: bar.sync 2, 64;\n" CONSUME

Test(ptx_race, an_arrival_hands_on_what_was_heard) {
    expect_quiet(HEAD HANDED_ON("bar.arrive 1, 64;\n", "bar.sync 1, 64;\n") END, 1, 96);
    expect_race(HEAD HANDED_ON("", "") END, 1, 96, "race", "error", "");
}

Test(ptx_race, two_blocks_write_one_place) {
    expect_race(HEAD "st.global.u32 [%g], %b;\n" END, 2, 32, "global_race", "error",
                "two blocks");
    expect_race(HEAD "st.global.u32 [%g], %t;\n" END, 2, 32, "global_race", "info",
                "same value");
    expect_quiet(HEAD "red.global.add.u32 [%g], 1;\n" END, 8, 32);
    expect_race(HEAD "atom.cta.global.add.u32 %r2, [%g], 1;\n" END, 2, 32, "global_race",
                "error", "scope");
    expect_race(HEAD "ld.global.u32 %r2, [%o]; setp.ne.u32 %p0, %b, 1; @%p0 ret;\n"
                     "st.global.u32 [%o], 7;\n" END,
                2, 1, "global_race", "error", "write after read");
}

/* A level of a search, or `changed = 1`: who reads beside such a store sees the old or
 * the new, and published kernels rely on that. One store by one thread is no such. */
Test(ptx_race, a_store_of_one_value_alone_is_a_warning) {
#define READ_OTHER                                                                       \
    "xor.b32 %r2, %r0, 128; cvt.u64.u32 %rd1, %r2; add.u64 %rd2, %o, %rd1;\n"            \
    "ld.global.u32 %r4, [%rd2]; st.global.u32 [%g+4096], %r4;\n"
    expect_race(HEAD "mov.u32 %r5, 7; st.global.u32 [%g], %r5;\n" READ_OTHER END, 1, 64,
                "global_race", "warning", "no barrier");
    expect_race(HEAD "st.global.u32 [%g], %t;\n" READ_OTHER END, 1, 64, "global_race",
                "error", "no barrier");
    expect_race(HEAD "setp.ne.u32 %p0, %t, 0; @!%p0 st.global.u32 [%g], 7;\n"
                     "ld.global.u32 %r4, [%o]; st.global.u32 [%g+4096], %r4;\n" END,
                1, 64, "global_race", "error", "read after write");
    /* Shared memory that is set to zero is to be waited for all the same. */
    expect_race(HEAD "st.shared.u32 [%r1], 0;\n" READ_FAR END, 1, 64, "race", "error",
                "no barrier");
}

Test(ptx_race, one_instruction_of_a_warp_writes_two_values) {
    expect_race(HEAD "st.shared.u32 [%a], %t;\n" END, 1, 32, "race", "warning",
                "store different values to offset 0 of s with one instruction");
    expect_quiet(HEAD "st.shared.u32 [%a], %b;\n" END, 1, 32);
}

/* The last block sums what the others left: word b of out, the count is at 4096. */
#define LAST(fence)                                                                      \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                           \
         "mul.wide.u32 %rd1, %b, 4; add.u64 %rd2, %o, %rd1; st.global.u32 [%rd2], "      \
         "%b;\n" fence                                                                   \
         "atom.global.add.u32 %r2, [%o+4096], 1; setp.ne.u32 %p1, %r2, 3;\n"             \
         "@%p1 ret; ld.global.u32 %r3, [%o]; ld.global.u32 %r4, [%o+4];\n"               \
         "add.u32 %r3, %r3, %r4; st.global.u32 [%o+2048], %r3;\n" END

Test(ptx_race, the_last_block_knows_by_fence_and_counter) {
    expect_quiet(LAST("membar.gl;\n"), 4, 32);
    expect_quiet(LAST("fence.acq_rel.gpu;\n"), 4, 32);
    expect_race(LAST(""), 4, 32, "global_race", "error", "two blocks");
    expect_race(LAST("membar.cta;\n"), 4, 32, "global_race", "error", "two blocks");
}

/* All add to one word, in the last block too: its own addition is the last and hides no
 * others. The ticket is read, so who drew the last one has seen all before, and may set
 * the counter back. */
#define ADD_UP(add, fence)                                                               \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n" add fence                                 \
         "atom.global.add.u32 %r2, [%o+4096], 1; setp.ne.u32 %p1, %r2, 3; @%p1 ret;\n"   \
         "ld.global.u32 %r3, [%o]; st.global.u32 [%o+2048], %r3;\n"                      \
         "st.global.u32 [%o+4096], 0;\n" END

Test(ptx_race, an_own_atomic_hides_no_others) {
    static const char *const adds[] = {ADD_UP("red.global.add.u32 [%o], %b;\n", ""),
                                       ADD_UP("atom.global.add.u32 %r5, [%o], %b;\n", ""),
                                       ADD_UP("st.volatile.global.u32 [%o], %b;\n", "")};
    for (unsigned k = 0; k < ARRAY_LEN(adds); k++) {
        expect_race(adds[k], 4, 32, "global_race", "error", "read after write");
    }
    expect_quiet(ADD_UP("red.global.add.u32 [%o], %b;\n", "membar.gl;\n"), 4, 32);
    expect_quiet(ADD_UP("atom.global.add.u32 %r5, [%o], %b;\n", "membar.gl;\n"), 4, 32);
    expect_quiet(ADD_UP("st.volatile.global.u32 [%o], %b;\n", "membar.gl;\n"), 4, 32);
    /* What the sum was is known to who has read it. */
    expect_quiet(HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"
                      "atom.global.add.u32 %r2, [%o], 1; setp.ne.u32 %p1, %r2, 3;\n"
                      "@%p1 ret; st.global.u32 [%o], 0;\n" END,
                 4, 32);
    /* So it is to who has waited for it. */
    expect_quiet(HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; red.global.add.u32 [%o], 1;\n"
                      "setp.ne.u32 %p1, %b, 3; @%p1 ret;\n"
                      "WAIT: ld.volatile.global.u32 %r2, [%o]; setp.ne.u32 %p2, %r2, 4;\n"
                      "@%p2 bra WAIT; st.global.u32 [%o], 0;\n" END,
                 4, 32);
}

/* Blocks take turns by a lock: each waits until it is its turn, all but the last count on
 * behind a fence, the last sets the lock back: it has seen what the one before it wrote.
 */
#define TURNS(wait)                                                                      \
    HEAD                                                                                 \
        "setp.ne.u32 %p0, %t, 0; @%p0 ret;\n"                                            \
        "TURN: " wait " %r2, [%o]; setp.ne.u32 %p1, %r2, %b; @%p1 bra TURN;\n"           \
        "ld.global.u32 %r3, [%o+64]; add.u32 %r3, %r3, 1; st.global.u32 [%o+64], %r3;\n" \
        "setp.eq.u32 %p2, %b, 3; @%p2 bra LAST; fence.acq_rel.gpu;\n"                    \
        "red.relaxed.gpu.global.add.s32 [%o], 1; ret;\n"                                 \
        "LAST: st.global.u32 [%o], 0;\n" END

Test(ptx_race, who_has_seen_a_lock_may_set_it_back) {
    expect_quiet(TURNS("ld.acquire.gpu.global.u32"), 4, 32);
    expect_quiet(TURNS("ld.volatile.global.u32"), 4, 32);
    expect_race(HEAD
                "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.eq.u32 %p1, %b, 1;\n"
                "@%p1 st.global.u32 [%o], 7; @!%p1 red.global.add.u32 [%o], 1;\n" END,
                2, 32, "global_race", "error", "write after write");
}

/* The same of the warps of a block. */
#define ADD_UP_WARPS(fence)                                                              \
    HEAD "setp.ne.u32 %p0, %t, 0; @!%p0 st.shared.v2.u32 [%a], {%b, %b}; bar.sync 0;\n"  \
         "setp.ne.u32 %p0, %l, 0; @%p0 ret; red.shared.add.u32 [%a], %w;\n" fence        \
         "atom.shared.add.u32 %r2, [%a+4], 1; setp.ne.u32 %p1, %r2, 3; @%p1 ret;\n"      \
         "ld.shared.u32 %r3, [%a]; st.global.u32 [%o], %r3;\n" END

Test(ptx_race, an_own_atomic_hides_no_other_warps) {
    expect_quiet(ADD_UP_WARPS("membar.cta;\n"), 1, 128);
    expect_race(ADD_UP_WARPS(""), 1, 128, "race", "error", "no barrier");
}

/* Block 2 knows neither of the addition of block 0, which is no race, nor of the plain
 * load that block 1 put behind it. */
Test(ptx_race, an_atomic_in_front_hides_no_plain_load) {
    expect_race(HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.eq.u32 %p1, %b, 1;\n"
                     "@%p1 bra LOOK; red.global.add.u32 [%o], 1;\n"
                     "membar.gl; red.global.add.u32 [%o+64], 1; ret;\n"
                     "LOOK: ld.acquire.gpu.global.u32 %r2, [%o+64];\n"
                     "setp.eq.u32 %p2, %r2, 0; @%p2 bra LOOK;\n"
                     "ld.global.u32 %r3, [%o]; st.global.u32 [%o+128], %r3;\n" END,
                3, 32, "global_race", "error", "write after read");
}

/* Block 0 hands a word to block 1 by a flag. */
#define HAND(store, load)                                                                \
    HEAD "setp.ne.u32 %p0, %t, 0; @%p0 ret; setp.ne.u32 %p1, %b, 0; @%p1 bra TAKE;\n"    \
         "st.global.u32 [%o], 5;\n" store " [%o+64], 1; ret;\n"                          \
         "TAKE: " load " %r2, [%o+64]; setp.eq.u32 %p2, %r2, 0; @%p2 bra TAKE;\n"        \
         "ld.global.u32 %r3, [%o]; st.global.u32 [%o+128], %r3;\n" END

Test(ptx_race, flags_hand_over_what_was_released) {
    expect_quiet(HAND("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"), 2, 1);
    expect_quiet(HAND("membar.gl; st.volatile.global.u32", "ld.volatile.global.u32"), 2,
                 1);
    expect_race(HAND("st.relaxed.gpu.global.u32", "ld.acquire.gpu.global.u32"), 2, 1,
                "global_race", "error", "two blocks");
    expect_race(HAND("membar.gl; st.global.u32", "ld.volatile.global.u32"), 2, 1,
                "global_race", "warning", "two blocks");
    expect_race(HAND("membar.gl; st.global.u64", "ld.volatile.global.u32"), 2, 1,
                "global_race", "warning", "two blocks");
}

/* Lanes take a lock one after the other and count without atomics. */
#define LOCKED(release)                                                                  \
    HEAD "mov.u32 %r9, 0;\n"                                                             \
         "TRY: atom.global.cas.b32 %r2, [%o], 0, 1; setp.ne.u32 %p0, %r2, 0;\n"          \
         "@%p0 bra NEXT; membar.gl; ld.global.u32 %r3, [%o+64]; add.u32 %r3, %r3, 1;\n"  \
         "st.global.u32 [%o+64], %r3;\n" release "mov.u32 %r9, 1;\n"                     \
         "NEXT: setp.eq.u32 %p1, %r9, 0; @%p1 bra TRY;\n" END

Test(ptx_race, a_lock_orders_lanes_warps_and_blocks) {
    expect_quiet(LOCKED("membar.gl; atom.global.exch.b32 %r4, [%o], 0;\n"), 2, 64);
    expect_quiet(LOCKED("st.release.gpu.global.u32 [%o], 0;\n"), 2, 64);
    expect_race(LOCKED("atom.global.exch.b32 %r4, [%o], 0;\n"), 2, 1, "global_race",
                "error", "no __threadfence() before the lock is given back");
    expect_race(LOCKED("atom.global.exch.b32 %r4, [%o], 0;\n"), 1, 32, "global_race",
                "error", "no __threadfence() before the lock is given back");
}

/* A compare-and-swap loop begins with a guess. */
Test(ptx_race, a_guess_in_front_of_a_compare_and_swap_is_none) {
    expect_quiet(HEAD
                 "ld.global.u32 %r2, [%o];\n"
                 "TRY: add.u32 %r3, %r2, 1; atom.global.cas.b32 %r4, [%o], %r2, %r3;\n"
                 "setp.eq.u32 %p0, %r4, %r2; mov.u32 %r2, %r4; @!%p0 bra TRY;\n" END,
                 2, 64);
}

#define COPY "cp.async.ca.shared.global [%r1], [%g], 4; cp.async.commit_group;\n"

Test(ptx_race, copies_are_known_to_who_waits) {
    expect_quiet(HEAD COPY "cp.async.wait_group 0; ld.shared.u32 %r4, [%r1];\n" END, 1,
                 64);
    expect_quiet(HEAD COPY "cp.async.wait_group 0; bar.sync 0;\n"
                           "xor.b32 %r2, %r0, 128; add.u32 %r3, %a, %r2;\n"
                           "ld.shared.u32 %r4, [%r3];\n" END,
                 1, 64);
    expect_race(HEAD COPY "ld.shared.u32 %r4, [%r1]; cp.async.wait_group 0;\n" END, 1, 64,
                "race", "error", "neither waited for the copy nor met one that has");
    /* Each warp waits for its own copies and reads another's. */
    expect_race(HEAD COPY "cp.async.wait_group 0;\n"
                          "xor.b32 %r2, %r0, 128; add.u32 %r3, %a, %r2;\n"
                          "ld.shared.u32 %r4, [%r3];\n" END,
                1, 64, "race", "error", "neither waited for the copy nor met one that has");
}

#define MBAR                                                                             \
    "setp.eq.u32 %p8, %t, 0; @%p8 mbarrier.init.shared.b64 [%a+2048], 64; bar.sync 0;\n" \
    "setp.ge.u32 %p0, %w, 2;\n"
#define ARRIVE "mbarrier.arrive.shared.b64 %rd5, [%a+2048];\n"
#define AWAIT "W: mbarrier.test_wait.parity.shared.b64 %p1, [%a+2048], 0; @!%p1 bra W;\n"

Test(ptx_race, an_mbarrier_hands_over_what_its_arrivals_know) {
    expect_quiet(HEAD MBAR "@%p0 bra C;\n" WRITE ARRIVE "ret;\nC: " AWAIT CONSUME END, 1,
                 128);
    expect_race(HEAD MBAR "@%p0 bra C;\n" ARRIVE WRITE "ret;\nC: " AWAIT CONSUME END, 1,
                128, "race", "error", "no barrier");
}

Test(ptx_race, findings_do_not_depend_on_threads) {
    const char *body = HEAD WRITE "st.global.u32 [%g], %b;\n" READ_FAR END;
    struct seen one = run_on(body, 16, 128, 1, false);
    struct seen four = run_on(body, 16, 128, 4, false);
    cr_expect(one.races > 0 && one.global > 0, "%s", one.text);
    cr_expect_str_eq(one.text, four.text);
    json_decref(one.first);
    json_decref(four.first);
}

Test(ptx_race, launches_follow_each_other) {
    struct machine_config config = {.checks = MACHINE_CHECK_RACE, .threads = 2};
    struct machine_room *r = room_new(HEAD "st.global.u32 [%g], 1;\n"
                                           "st.shared.u32 [%r1], %t;\n" END,
                                      &config);
    room_buffer(r, "out", 8192, 0);
    for (unsigned k = 0; k < 3; k++) {
        room_launch(r, 1, 64);
    }
    char *all = room_findings(r);
    cr_expect_eq(room_found(r, "global_race", NULL), 0, "%s", all);
    free(all);
    room_free(r);
}

/* Every shuffle begins a new time, so every load is an event of its own. */
Test(ptx_race, what_is_too_much_is_told) {
    struct machine_config config = {.checks = MACHINE_CHECK_RACE, .threads = 1};
    struct machine_room *r =
        room_new(HEAD WRITE "mov.u32 %r5, 0;\n"
                            "AGAIN: shfl.sync.bfly.b32 %r9, %t, 1, 31, -1;\n"
                            "ld.shared.u32 %r4, [%r1]; add.u32 %r5, %r5, 1;\n"
                            "setp.lt.u32 %p0, %r5, 270000; @%p0 bra AGAIN;\n" END,
                 &config);
    room_buffer(r, "out", 8192, 0);
    cr_expect_null(machine_unchecked(r->machine));
    room_launch(r, 1, 32);
    cr_expect_eq(r->end, MACHINE_DONE);
    cr_expect(machine_unchecked(r->machine));
    room_free(r);
}
