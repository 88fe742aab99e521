/* The machine: control flow, calls, warp operations, barriers, atomics. The kernels are
 * PTX written here; what they must give follows from C that says the same. */
#include "base/buf.h"
#include "gpu/ptx/state/block.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define OUT_FLAGS (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)

/* Every thread has its number in %i, the address of its word of `out` in %at. */
#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .reg .b32 %r<40>, %i; .reg .b64 %rd<20>, %at; .reg .pred %p<10>;\n"               \
    ".reg .f32 %f<8>;\n"                                                                 \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"                \
    "mad.lo.s32 %i, %r0, %r1, %r2; mul.wide.u32 %rd0, %i, 4;\n"                          \
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"                         \
    "add.s64 %at, %rd1, %rd0;\n"
#define TAIL(r) "st.global.u32 [%at], " r "; ret; }\n"

static void no_findings(struct machine_room *r) {
    char *found = room_findings(r);
    cr_expect_str_eq(found, "[]");
    free(found);
}

/* Runs body on so many threads; compares with expect(i); nothing may be found. */
static void check_kernel(const char *body, uint32_t blocks, uint32_t threads,
                         uint32_t (*expect)(uint32_t), const struct machine_config *c) {
    struct machine_room *r = room_new(body, c);
    uint32_t *out = room_buffer(r, "out", (uint64_t)blocks * threads * 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, blocks, threads), MACHINE_DONE);
    for (uint32_t i = 0; i < blocks * threads; i++) {
        cr_assert_eq(out[i], expect(i), "thread %u: %u instead of %u", i, out[i],
                     expect(i));
    }
    no_findings(r);
    room_free(r);
}

static void check_both_ways(const char *body, uint32_t blocks, uint32_t threads,
                            uint32_t (*expect)(uint32_t)) {
    struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = true;
    c.seed = 1;
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = false;
    c.threads = 3;
    c.checks = MACHINE_CHECK_MEMORY;
    check_kernel(body, blocks, threads, expect, &c);
}

/* ---- control flow ---- */

static uint32_t collatz(uint32_t i) {
    uint32_t n = i + 1, steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    return steps;
}

Test(ptx_machine, lanes_part_in_loops_and_meet_again) {
    check_both_ways(HEAD "add.u32 %r3, %i, 1; mov.u32 %r4, 0;\n"
                         "LOOP: setp.eq.u32 %p1, %r3, 1; @%p1 bra DONE;\n"
                         "add.u32 %r4, %r4, 1; and.b32 %r5, %r3, 1;\n"
                         "setp.eq.u32 %p2, %r5, 0; @%p2 bra EVEN;\n"
                         "mad.lo.u32 %r3, %r3, 3, 1; bra LOOP;\n"
                         "EVEN: shr.u32 %r3, %r3, 1; bra LOOP;\n"
                         "DONE: " TAIL("%r4"),
                    3, 100, collatz);
}

/* Longer than a warp's turn and all patience with it. */
enum { LONG_BLOCK = 8 * BLOCK_TURN };

static uint32_t long_sum(uint32_t i) {
    return LONG_BLOCK * i;
}

Test(ptx_machine, code_without_branches_may_be_of_any_length) {
    struct buf text = BUF_INIT(1u << 20);
    buf_adds(&text, HEAD "mov.u32 %r4, 0;\n");
    for (int k = 0; k < LONG_BLOCK; k++) {
        buf_adds(&text, "add.u32 %r4, %r4, %i;\n");
    }
    buf_adds(&text, TAIL("%r4"));
    check_both_ways(text.data, 2, 64, long_sum);
    buf_finish(&text);
}

static uint32_t nested(uint32_t i) {
    uint32_t s = 0;
    for (uint32_t a = 0; a < i % 5; a++) {
        for (uint32_t b = 0; b < a + i % 3; b++) {
            if ((a + b + i) % 2) {
                s += a * b + 1;
            } else {
                continue;
            }
            if (s > 7) {
                break;
            }
        }
    }
    return s;
}

Test(ptx_machine, nested_loops_with_break_and_continue) {
    check_both_ways(
        HEAD "rem.u32 %r10, %i, 5; rem.u32 %r11, %i, 3; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
             "A: setp.ge.u32 %p1, %r4, %r10; @%p1 bra END;\n"
             "mov.u32 %r5, 0; add.u32 %r12, %r4, %r11;\n"
             "B: setp.ge.u32 %p2, %r5, %r12; @%p2 bra NEXT;\n"
             "add.u32 %r6, %r4, %r5; add.u32 %r6, %r6, %i; and.b32 %r6, %r6, 1;\n"
             "setp.eq.u32 %p3, %r6, 0; @%p3 bra CONT;\n"
             "mad.lo.u32 %r7, %r4, %r5, 1; add.u32 %r3, %r3, %r7;\n"
             "setp.gt.u32 %p4, %r3, 7; @%p4 bra NEXT;\n"
             "CONT: add.u32 %r5, %r5, 1; bra B;\n"
             "NEXT: add.u32 %r4, %r4, 1; bra A;\n"
             "END: " TAIL("%r3"),
        2, 96, nested);
}

static uint32_t by_table(uint32_t i) {
    static const uint32_t v[] = {11, 22, 33};
    return i % 4 == 3 ? 99 : v[i % 4];
}

Test(ptx_machine, a_branch_table_sends_lanes_apart) {
    check_both_ways(HEAD "and.b32 %r3, %i, 3; mov.u32 %r4, 99;\n"
                         "setp.eq.u32 %p1, %r3, 3; @%p1 bra OUT;\n"
                         "ts: .branchtargets L0, L1, L2;\n"
                         "brx.idx %r3, ts;\n"
                         "L0: mov.u32 %r4, 11; bra OUT;\n"
                         "L1: mov.u32 %r4, 22; bra OUT;\n"
                         "L2: mov.u32 %r4, 33;\n"
                         "OUT: " TAIL("%r4"),
                    2, 64, by_table);
}

/* Even blocks write %r4 on the way to its use, odd ones don't, and run where an even one
 * has run: they must see poison, a byte four times, and not what that one has left. */
static const char *const halfway[] = {
    "@%p1 mov.u32 %r4, %r0;\n" TAIL("%r4"),
    "@!%p1 bra END; mov.u32 %r4, %r0;\nEND: " TAIL("%r4"),
    "mov.u32 %r5, 2; @!%p1 bra READ;\n"
    "AGAIN: mov.u32 %r4, %r0;\n"
    "READ: mov.u32 %r6, %r4; sub.u32 %r5, %r5, 1; setp.eq.u32 %p2, %r5, 0;\n"
    "@!%p2 bra READ;\n" TAIL("%r6"),
    "@%p1 ld.global.u32 %r4, [%at];\n" TAIL("%r4"),
    "@%p1 shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;\n" TAIL("%r4"),
};

Test(ptx_machine, what_a_path_reads_unwritten_is_poison) {
    for (size_t k = 0; k < sizeof halfway / sizeof *halfway; k++) {
        char body[2048];
        snprintf(body, sizeof body, "%s%s%s", HEAD,
                 "and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 0;\n", halfway[k]);
        struct machine_config c = {.checks = MACHINE_CHECK_MEMORY, .threads = 1};
        struct machine_room *r = room_new(body, &c);
        uint32_t *out = room_buffer(r, "out", 8 * 32 * 4, MACHINE_OUTPUT);
        memset(out, 0x11, 8 * 32 * 4);
        cr_expect_eq(room_launch(r, 8, 32), MACHINE_DONE);
        uint32_t poison = out[32];
        cr_expect_eq(poison, (poison & 0xff) * 0x01010101u, "%zu: %08x", k, poison);
        cr_expect_neq(poison, 0x11111111u, "%zu", k);
        for (uint32_t b = 1; b < 8; b += 2) {
            cr_expect_eq(out[b * 32 + 7], poison, "%zu, block %u: %08x", k, b,
                         out[b * 32 + 7]);
        }
        room_free(r);
    }
}

static uint32_t guarded(uint32_t i) {
    return i % 3 == 0 ? 5 : i % 2 ? i : i + 100;
}

Test(ptx_machine, guards_exit_and_selection) {
    check_both_ways(HEAD "rem.u32 %r3, %i, 3; setp.eq.u32 %p1, %r3, 0;\n"
                         "mov.u32 %r5, 5; @%p1 st.global.u32 [%at], %r5; @%p1 exit;\n"
                         "and.b32 %r6, %i, 1; setp.ne.u32 %p2, %r6, 0;\n"
                         "mov.u32 %r7, %i; @!%p2 add.u32 %r7, %r7, 100;\n" TAIL("%r7"),
                    2, 70, guarded);
}

/* ---- calls ---- */

#define FIB                                                                              \
    ".func (.param .b32 r) fib(.param .b32 n)\n"                                         \
    "{ .reg .b32 %r<8>; .reg .pred %p;\n"                                                \
    "ld.param.u32 %r1, [n]; setp.lt.s32 %p, %r1, 2; @%p bra END;\n"                      \
    "add.s32 %r2, %r1, -1;\n"                                                            \
    "{ .param .b32 param0; st.param.b32 [param0+0], %r2; .param .b32 retval0;\n"         \
    "call.uni (retval0), fib, (param0); ld.param.b32 %r3, [retval0+0]; }\n"              \
    "add.s32 %r4, %r1, -2;\n"                                                            \
    "{ .param .b32 param0; st.param.b32 [param0+0], %r4; .param .b32 retval0;\n"         \
    "call.uni (retval0), fib, (param0); ld.param.b32 %r5, [retval0+0]; }\n"              \
    "add.s32 %r1, %r3, %r5;\n"                                                           \
    "END: st.param.b32 [r+0], %r1; ret; }\n"

static uint32_t fib(uint32_t n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static uint32_t fib_of_lane(uint32_t i) {
    return i % 2 ? fib(i % 11) : 1000 + i;
}

Test(ptx_machine, recursion_by_some_of_the_lanes) {
    check_both_ways(
        FIB HEAD "add.u32 %r4, %i, 1000; and.b32 %r3, %i, 1; setp.eq.u32 %p1, %r3, 0;\n"
                 "@%p1 bra OUT;\n"
                 "rem.u32 %r5, %i, 11;\n"
                 "{ .param .b32 param0; st.param.b32 [param0+0], %r5;\n"
                 ".param .b32 retval0; call.uni (retval0), fib, (param0);\n"
                 "ld.param.b32 %r4, [retval0+0]; }\n"
                 "OUT: " TAIL("%r4"),
        2, 64, fib_of_lane);
}

static uint32_t by_pointer(uint32_t i) {
    return i % 3 == 0 ? i + 7 : i * 7;
}

#define TWO_FUNCTIONS                                                                    \
    ".func (.param .b32 r) plus(.param .b32 a, .param .b32 b)\n"                         \
    "{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];\n"                 \
    "add.u32 %r3, %r1, %r2; st.param.b32 [r+0], %r3; ret; }\n"                           \
    ".func (.param .b32 r) times(.param .b32 a, .param .b32 b)\n"                        \
    "{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.param.b32 %r2, [b];\n"                 \
    "mul.lo.u32 %r3, %r1, %r2; st.param.b32 [r+0], %r3; ret; }\n"                        \
    ".global .align 8 .u64 table[2] = {plus, times};\n"
#define CALL_POINTER                                                                     \
    "{ .param .b32 param0; st.param.b32 [param0+0], %i;\n"                               \
    ".param .b32 param1; st.param.b32 [param1+0], 7; .param .b32 retval0;\n"             \
    "proto : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"         \
    "call (retval0), %rd5, (param0, param1), proto;\n"                                   \
    "ld.param.b32 %r5, [retval0+0]; }\n"

Test(ptx_machine, indirect_calls_of_two_functions_at_once) {
    check_both_ways(
        TWO_FUNCTIONS HEAD
        "rem.u32 %r3, %i, 3; setp.ne.u32 %p1, %r3, 0; selp.u64 %rd3, 8, 0, %p1;\n"
        "mov.u64 %rd4, table; add.u64 %rd4, %rd4, %rd3;\n"
        "ld.global.u64 %rd5, [%rd4];\n" CALL_POINTER TAIL("%r5"),
        2, 64, by_pointer);
}

Test(ptx_machine, a_wild_call_ends_the_launch) {
    struct machine_room *r = room_new(
        TWO_FUNCTIONS HEAD "cvt.u64.u32 %rd5, %i;\n" CALL_POINTER TAIL("%r5"), NULL);
    room_buffer(r, "out", 256, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 64), MACHINE_FAULT);
    cr_expect_gt(room_found(r, "launch_error", NULL), 0);
    room_free(r);
}

Test(ptx_machine, endless_recursion_is_a_finding) {
    struct machine_room *r = room_new(
        ".func deep(.param .b32 n) { .reg .b32 %r<4>; ld.param.b32 %r1, [n];\n"
        "{ .param .b32 param0; st.param.b32 [param0+0], %r1; call.uni deep, (param0); }\n"
        "ret; }\n" HEAD "{ .param .b32 param0; st.param.b32 [param0+0], %i;\n"
        "call.uni deep, (param0); }\n" TAIL("%i"),
        NULL);
    room_buffer(r, "out", 256, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 64), MACHINE_FAULT);
    cr_expect_gt(room_found(r, "stack_overflow", NULL), 0);
    room_free(r);
}

static uint32_t local_sum(uint32_t i) {
    return 3 * i + (i % 4) * 10;
}

Test(ptx_machine, local_memory_by_lane_and_through_generic_addresses) {
    check_both_ways(
        HEAD
        ".local .align 8 .b8 depot[32]; mov.u64 %rd3, depot; cvta.local.u64 %rd4, %rd3;\n"
        "mov.u32 %r3, 0; st.local.u32 [%rd3], %r3; mov.u32 %r3, 10;\n"
        "st.u32 [%rd4+4], %r3; mov.u32 %r3, 20; st.local.u32 [depot+8], %r3;\n"
        "mov.u32 %r3, 30; st.local.u32 [%rd3+12], %r3;\n"
        "mul.lo.u32 %r4, %i, 3; cvt.u64.u32 %rd5, %r4; st.local.u64 [%rd3+16], %rd5;\n"
        "and.b32 %r5, %i, 3; mul.wide.u32 %rd6, %r5, 4; add.u64 %rd7, %rd4, %rd6;\n"
        "ld.u32 %r6, [%rd7]; ld.local.u64 %rd8, [%rd3+16]; cvt.u32.u64 %r7, %rd8;\n"
        "add.u32 %r8, %r6, %r7;\n" TAIL("%r8"),
        2, 64, local_sum);
}

/* ---- warp operations ---- */

static uint32_t sum_down(uint32_t i) {
    uint32_t first = i / 32 * 32, sum = 0;
    for (uint32_t k = first; k < first + 32; k++) {
        sum += k;
    }
    return sum;
}

Test(ptx_machine, a_butterfly_sums_the_warp) {
    check_both_ways(HEAD "mov.u32 %r4, %i; mov.u32 %r5, 16;\n"
                         "L: shfl.sync.bfly.b32 %r6|%p1, %r4, %r5, 31, -1;\n"
                         "add.u32 %r4, %r4, %r6; shr.u32 %r5, %r5, 1;\n"
                         "setp.ne.u32 %p2, %r5, 0; @%p2 bra L;\n" TAIL("%r4"),
                    2, 96, sum_down);
}

static uint32_t shuffle_forms(uint32_t i) {
    uint32_t l = i % 32, base = i - l;
    uint32_t up = base + (l >= 3 ? l - 3 : l), down = base + (l + 5 <= 31 ? l + 5 : l);
    uint32_t segment = base + (l & 24) + 2; /* width 8, index 2 */
    return up * 10000 + down * 100 + segment + (l >= 3) * 7;
}

Test(ptx_machine, shuffles_up_down_and_in_segments) {
    check_both_ways(HEAD "shfl.sync.up.b32 %r3|%p1, %i, 3, 0, -1;\n"
                         "shfl.sync.down.b32 %r4, %i, 5, 31, -1;\n"
                         "shfl.sync.idx.b32 %r5, %i, 2, 6175, -1;\n" /* 0x181f: 8 lanes */
                         "mul.lo.u32 %r3, %r3, 10000; mad.lo.u32 %r3, %r4, 100, %r3;\n"
                         "add.u32 %r3, %r3, %r5; selp.u32 %r6, 7, 0, %p1;\n"
                         "add.u32 %r3, %r3, %r6;\n" TAIL("%r3"),
                    1, 64, shuffle_forms);
}

static uint32_t votes(uint32_t i) {
    uint32_t l = i % 32, ballot = 0, same = 0;
    for (uint32_t k = 0; k < 32; k++) {
        ballot |= (uint32_t)(k % 3 == 0) << k;
        same |= (uint32_t)(k % 5 == l % 5) << k;
    }
    return (ballot ^ same) + 31 * 32 / 2 + 0 + 1;
}

Test(ptx_machine, votes_matches_and_reductions) {
    check_both_ways(
        HEAD "mov.u32 %r3, %laneid; rem.u32 %r4, %r3, 3; setp.eq.u32 %p1, %r4, 0;\n"
             "vote.sync.ballot.b32 %r5, %p1, -1; vote.sync.all.pred %p2, %p1, -1;\n"
             "vote.sync.any.pred %p3, %p1, -1; rem.u32 %r6, %r3, 5;\n"
             "match.any.sync.b32 %r7, %r6, -1; redux.sync.add.u32 %r8, %r3, -1;\n"
             "xor.b32 %r9, %r5, %r7; add.u32 %r9, %r9, %r8;\n"
             "selp.u32 %r10, 1000, 0, %p2; add.u32 %r9, %r9, %r10;\n"
             "selp.u32 %r10, 1, 0, %p3; add.u32 %r9, %r9, %r10;\n" TAIL("%r9"),
        1, 64, votes);
}

/* Half of the warp takes one path, half the other; both shuffles are one operation. */
static uint32_t crossed(uint32_t i) {
    return i ^ 16;
}

Test(ptx_machine, a_shuffle_meets_over_two_paths) {
    check_both_ways(HEAD "setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;\n"
                         "shfl.sync.bfly.b32 %r4, %i, 16, 31, -1; bra OUT;\n"
                         "LOW: shfl.sync.bfly.b32 %r4, %i, 16, 31, -1;\n"
                         "OUT: " TAIL("%r4"),
                    1, 32, crossed);
}

/* Groups of lanes with masks of their own, as after match.any. */
static uint32_t group_count(uint32_t i) {
    uint32_t l = i % 32;
    return l % 3 == 2 ? 10 : 11;
}

Test(ptx_machine, masks_may_differ_between_lanes) {
    check_both_ways(HEAD "mov.u32 %r3, %laneid; rem.u32 %r4, %r3, 3;\n"
                         "match.any.sync.b32 %r5, %r4, -1; mov.u32 %r6, 1;\n"
                         "redux.sync.add.u32 %r7, %r6, %r5;\n" TAIL("%r7"),
                    1, 64, group_count);
}

/* ---- barriers and shared memory ---- */

static uint32_t reversed(uint32_t i) {
    return i / 128 * 128 + 127 - i % 128;
}

Test(ptx_machine, shared_memory_behind_a_barrier) {
    check_both_ways(HEAD
                    ".shared .align 4 .b8 s[512]; mov.u32 %r3, s;\n"
                    "shl.b32 %r4, %r2, 2; add.u32 %r5, %r3, %r4;\n"
                    "st.shared.u32 [%r5], %i; bar.sync 0;\n"
                    "sub.u32 %r6, 127, %r2; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r3;\n"
                    "ld.shared.u32 %r7, [%r6];\n" TAIL("%r7"),
                    3, 128, reversed);
}

static uint32_t produced(uint32_t i) {
    return i < 64 ? 77 : i;
}

Test(ptx_machine, named_barriers_with_arrive_and_count) {
    check_both_ways(HEAD ".shared .align 4 .b8 s[4]; setp.lt.u32 %p1, %r2, 64;\n"
                         "mov.u32 %r4, %i; @%p1 bra TAKE;\n"
                         "mov.u32 %r3, 77; st.shared.u32 [s], %r3; bar.arrive 3, 128;\n"
                         "bra OUT;\n"
                         "TAKE: bar.sync 3, 128; ld.shared.u32 %r4, [s];\n"
                         "OUT: " TAIL("%r4"),
                    1, 128, produced);
}

static uint32_t reduced(uint32_t i) {
    (void)i;
    return 43 + 2;
}

Test(ptx_machine, barriers_reduce) {
    check_both_ways(HEAD "rem.u32 %r3, %r2, 3; setp.eq.u32 %p1, %r3, 0;\n"
                         "bar.red.popc.u32 %r4, 0, %p1; bar.red.and.pred %p2, 0, %p1;\n"
                         "bar.red.or.pred %p3, 0, %p1; selp.u32 %r5, 1, 0, %p2;\n"
                         "selp.u32 %r6, 2, 0, %p3; add.u32 %r4, %r4, %r5;\n"
                         "add.u32 %r4, %r4, %r6;\n" TAIL("%r4"),
                    2, 128, reduced);
}

/* ---- atomics ---- */

static uint32_t ticket_sum(uint32_t i) {
    (void)i;
    return 127 * 128 / 2;
}

Test(ptx_machine, atomics_of_shared_memory_give_every_ticket_once) {
    check_both_ways(HEAD ".shared .align 4 .b8 s[8]; mov.u32 %r3, 0;\n"
                         "st.shared.u32 [s], %r3; st.shared.u32 [s+4], %r3; bar.sync 0;\n"
                         "atom.shared.add.u32 %r4, [s], 1;\n"
                         "red.shared.add.u32 [s+4], %r4; bar.sync 0;\n"
                         "ld.shared.u32 %r5, [s+4];\n" TAIL("%r5"),
                    2, 128, ticket_sum);
}

Test(ptx_machine, global_atomics_over_threads_of_the_host) {
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = threads};
        struct machine_room *r = room_new(
            ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<4>;\n"
            "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
            "red.global.add.u32 [%rd1], %r1; red.global.max.s32 [%rd1+4], %r1;\n"
            "red.global.min.s32 [%rd1+8], %r2; red.global.or.b32 [%rd1+12], %r1;\n"
            "red.global.add.f32 [%rd1+16], 0f3F000000; red.global.inc.u32 [%rd1+20], 6;\n"
            "atom.global.cas.b32 %r3, [%rd1+24], 0, %r2;\n"
            "cvt.u64.u32 %rd2, %r1; red.global.add.u64 [%rd1+32], %rd2; ret; }\n",
            &c);
        uint32_t *out = room_buffer(r, "out", 64, 0);
        out[2] = 1000;
        cr_assert_eq(room_launch(r, 50, 128), MACHINE_DONE);
        float f;
        memcpy(&f, &out[4], 4);
        cr_expect_eq(out[0], 50 * 8128);
        cr_expect_eq(out[1], 127);
        cr_expect_eq(out[2], 0);
        cr_expect_eq(out[3], 127);
        cr_expect_eq(f, 3200.0f);
        cr_expect_eq(out[5], 50 * 128 % 7);
        cr_expect_eq(out[6], 1); /* block 0 leaves the 0; block 1 is next */
        cr_expect_eq(out[8], 50 * 8128);
        no_findings(r);
        room_free(r);
    }
}

/* The halves of 1 + 2^-11 tie to even; 65504 + 32 is past the largest. */
Test(ptx_machine, atomics_of_halves_round_once) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b16 %h<4>;\n"
        ".reg .b32 %r<4>; ld.param.u64 %rd1, [out]; mov.b16 %h1, 0x1000;\n"
        "atom.global.add.noftz.f16 %h2, [%rd1], %h1;\n"
        "mov.b32 %r1, 0x50003c00; red.global.add.noftz.f16x2 [%rd1+4], %r1;\n"
        "mov.b16 %h1, 0x3b80; atom.global.add.noftz.bf16 %h3, [%rd1+8], %h1;\n"
        "st.global.b16 [%rd1+12], %h2; ret; }\n",
        NULL);
    uint16_t *out = room_buffer(r, "out", 64, 0);
    out[0] = 0x3c00; /* 1; 0x1000 is 2^-11 */
    out[2] = 0x0001; /* 2^-24 + 1 */
    out[3] = 0x7bff; /* 65504 + 32 */
    out[4] = 0x3f80; /* 1 + 2^-8 in bf16 */
    cr_assert_eq(room_launch(r, 1, 1), MACHINE_DONE);
    cr_expect_eq(out[0], 0x3c00);
    cr_expect_eq(out[2], 0x3c00);
    cr_expect_eq(out[3], 0x7c00);
    cr_expect_eq(out[4], 0x3f80);
    cr_expect_eq(out[6], 0x3c00);
    no_findings(r);
    room_free(r);
}

/* Every lane of a warp takes the same lock: needs that lanes progress on their own. */
Test(ptx_machine, a_lock_within_a_warp_is_passed_on) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"
        ".reg .pred %p; ld.param.u64 %rd1, [out];\n"
        "SPIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p, %r1, 0;\n"
        "@%p bra SPIN;\n"
        "ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1;\n"
        "st.volatile.global.u32 [%rd1+4], %r2; membar.gl;\n"
        "atom.global.exch.b32 %r3, [%rd1], 0; ret; }\n",
        NULL);
    uint32_t *out = room_buffer(r, "out", 8, 0);
    cr_assert_eq(room_launch(r, 3, 96), MACHINE_DONE);
    cr_expect_eq(out[1], 3 * 96);
    no_findings(r);
    room_free(r);
}

/* A block that waits for a later one: more of them become resident. */
Test(ptx_machine, blocks_that_wait_for_later_blocks_progress) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"
        ".reg .pred %p; ld.param.u64 %rd1, [out];\n"
        "atom.global.add.u32 %r1, [%rd1], 1;\n"
        "WAIT: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p, %r2, 1280;\n"
        "@%p bra WAIT; ret; }\n",
        NULL);
    uint32_t *out = room_buffer(r, "out", 8, 0);
    cr_assert_eq(room_launch(r, 40, 32), MACHINE_DONE);
    cr_expect_eq(out[0], 1280);
    room_free(r);
}

/* ECL-BH, a Barnes-Hut simulation, keeps in shared memory what it polled. */
Test(ptx_machine, blocks_that_store_while_they_wait_progress) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"
        ".reg .pred %p; .shared .b32 seen; ld.param.u64 %rd1, [out];\n"
        "atom.global.add.u32 %r1, [%rd1], 1;\n"
        "WAIT: ld.volatile.global.u32 %r2, [%rd1]; st.shared.u32 [seen], %r2;\n"
        "setp.lt.u32 %p, %r2, 1280; @%p bra WAIT; ret; }\n",
        NULL);
    uint32_t *out = room_buffer(r, "out", 8, 0);
    cr_assert_eq(room_launch(r, 40, 32), MACHINE_DONE);
    cr_expect_eq(out[0], 1280);
    no_findings(r);
    room_free(r);
}

/* Polling for long is no deadlock while another warp computes. */
Test(ptx_machine, a_warp_may_compute_for_long_while_others_poll) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"
        ".reg .pred %p; ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
        "mov.u32 %r2, 0; setp.ge.u32 %p, %r1, 32; @%p bra WAIT;\n"
        "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 500000; @%p bra L;\n"
        "st.volatile.global.u32 [%rd1], %r2; bra OUT;\n"
        "WAIT: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p, %r3, 0;\n"
        "@%p bra WAIT; st.global.u32 [%rd1+4], %r3; OUT: ret; }\n",
        NULL);
    uint32_t *out = room_buffer(r, "out", 8, 0);
    cr_assert_eq(room_launch(r, 1, 64), MACHINE_DONE);
    cr_expect_eq(out[1], 500000);
    no_findings(r);
    room_free(r);
}

/* Nobody writes what it polls, but the clock ends the wait. */
Test(ptx_machine, a_wait_may_end_by_the_clock) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<6>; .reg .b32 %r<4>;\n"
        ".reg .pred %p; ld.param.u64 %rd1, [out]; mov.u64 %rd2, %clock64;\n"
        "WAIT: ld.volatile.global.u32 %r1, [%rd1]; setp.ne.u32 %p, %r1, 0; @%p bra OUT;\n"
        "mov.u64 %rd3, %clock64; sub.u64 %rd4, %rd3, %rd2;\n"
        "setp.lt.u64 %p, %rd4, 1000000; @%p bra WAIT;\n"
        "mov.u32 %r2, 7; st.global.u32 [%rd1+4], %r2; OUT: ret; }\n",
        NULL);
    uint32_t *out = room_buffer(r, "out", 8, 0);
    cr_assert_eq(room_launch(r, 1, 32), MACHINE_DONE);
    cr_expect_eq(out[1], 7);
    no_findings(r);
    room_free(r);
}

/* The last operand behind .L2::cache_hint is the policy: what stands in front of it is
 * the size, or the predicate, that it is without a hint. */
Test(ptx_machine, a_copy_with_a_cache_policy) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 in, .param .u64 out) { .shared .align 16 .b8 "
        "s[48];\n"
        ".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;\n"
        "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, s;\n"
        "createpolicy.fractional.L2::evict_first.b64 %rd3, 1.0; setp.eq.u32 %p, %r1, "
        "%r1;\n"
        "mov.u32 %r2, 8;\n"
        "cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd3;\n"
        "cp.async.cg.shared::cta.global.L2::cache_hint [%r1+16], [%rd1], 16, %r2, %rd3;\n"
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r1+32], [%rd1], 16, %p, "
        "%rd3;\n"
        "cp.async.wait_all;\n"
        "ld.shared.u32 %r3, [%r1+12]; st.global.u32 [%rd2], %r3;\n"
        "ld.shared.u32 %r3, [%r1+20]; st.global.u32 [%rd2+4], %r3;\n"
        "ld.shared.u32 %r3, [%r1+28]; st.global.u32 [%rd2+8], %r3;\n"
        "ld.shared.u32 %r3, [%r1+32]; st.global.u32 [%rd2+12], %r3; ret; }\n",
        NULL);
    uint32_t *in = room_buffer(r, "in", 16, 0), *out = room_buffer(r, "out", 16, 0);
    for (uint32_t k = 0; k < 4; k++) {
        in[k] = k + 1;
    }
    cr_assert_eq(room_launch(r, 1, 1), MACHINE_DONE);
    cr_expect_eq(out[0], 4);
    cr_expect_eq(out[1], 2);
    cr_expect_eq(out[2], 0);
    cr_expect_eq(out[3], 0);
    no_findings(r);
    room_free(r);
}
