/* alloca, stacksave, stackrestore and discard: memory that a kernel takes and gives up.
 * The kernels are PTX written here; what they must give follows from C beside them. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define OUT_FLAGS (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)
#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .reg .b32 %r<20>, %i; .reg .b64 %rd<20>, %at; .reg .pred %p<10>;\n"               \
    "mov.u32 %i, %tid.x; mul.wide.u32 %rd0, %i, 4;\n"                                    \
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"                         \
    "add.s64 %at, %rd1, %rd0;\n"

static struct machine_room *room_with(const char *body) {
    struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    return room_new(body, &c);
}

/* Thread i takes i % 5 + 1 words, three times, giving them back each time; the words of
 * a round are i, i + 1, …. */
static uint32_t taken_words(uint32_t i) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < i % 5 + 1; k++) {
        sum += i + k;
    }
    return 3 * sum;
}

Test(ptx_stack, lanes_take_different_amounts_and_give_them_back) {
    struct machine_room *r = room_with(
        HEAD "rem.u32 %r1, %i, 5; add.u32 %r1, %r1, 1; mul.wide.u32 %rd2, %r1, 4;\n"
             "mov.u32 %r9, 0; mov.u32 %r8, 0;\n"
             "ROUND: stacksave.u64 %rd3; alloca.u64 %rd4, %rd2, 8; mov.u32 %r2, 0;\n"
             "FILL: mul.wide.u32 %rd5, %r2, 4; add.s64 %rd5, %rd5, %rd4;\n"
             "add.u32 %r3, %i, %r2; st.local.u32 [%rd5], %r3;\n"
             "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra FILL;\n"
             "SUM: sub.u32 %r2, %r2, 1; mul.wide.u32 %rd5, %r2, 4;\n"
             "add.s64 %rd5, %rd5, %rd4; cvta.local.u64 %rd5, %rd5; ld.u32 %r3, [%rd5];\n"
             "add.u32 %r9, %r9, %r3; setp.gt.u32 %p1, %r2, 0; @%p1 bra SUM;\n"
             "stackrestore.u64 %rd3; stacksave.u64 %rd6; setp.ne.u64 %p2, %rd6, %rd3;\n"
             "@%p2 trap; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 3; @%p1 bra ROUND;\n"
             "st.global.u32 [%at], %r9; ret; }\n");
    uint32_t *out = room_buffer(r, "out", 48 * 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 48), MACHINE_DONE);
    for (uint32_t i = 0; i < 48; i++) {
        cr_expect_eq(out[i], taken_words(i), "thread %u: %u", i, out[i]);
    }
    char *found = room_findings(r);
    cr_expect_str_eq(found, "[]");
    free(found);
    room_free(r);
}

Test(ptx_stack, what_was_taken_is_fresh_and_then_gone) {
    struct machine_room *r =
        room_with(HEAD "mov.u64 %rd2, 32; stacksave.u64 %rd3; alloca.u64 %rd4, %rd2;\n"
                       "ld.local.u32 %r1, [%rd4+4];\n"
                       "stackrestore.u64 %rd3; ld.local.u32 %r2, [%rd4];\n"
                       "st.global.u32 [%at], %r2; ret; }\n");
    room_buffer(r, "out", 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 1), MACHINE_FAULT);
    cr_expect_eq(room_found(r, "uninitialized", NULL), 1);
    cr_expect_eq(room_found(r, "out_of_bounds", NULL), 1);
    room_free(r);
}

Test(ptx_stack, a_stack_has_an_end) {
    static const char *const bodies[] = {
        HEAD "mov.u64 %rd2, 0x100000; alloca.u64 %rd4, %rd2;\n"
             "st.global.u32 [%at], 1; ret; }\n",
        HEAD "mov.u64 %rd2, -1; alloca.u64 %rd4, %rd2, 4096;\n"
             "st.global.u32 [%at], 1; ret; }\n",
        HEAD "mov.u64 %rd2, 64;\n"
             "AGAIN: alloca.u64 %rd4, %rd2; bra AGAIN; }\n",
        HEAD "mov.u64 %rd2, 4096; stackrestore.u64 %rd2;\n"
             "st.global.u32 [%at], 1; ret; }\n"};
    for (size_t k = 0; k < sizeof bodies / sizeof *bodies; k++) {
        struct machine_room *r = room_with(bodies[k]);
        room_buffer(r, "out", 4, OUT_FLAGS);
        cr_expect_eq(room_launch(r, 1, 1), MACHINE_FAULT);
        cr_expect_eq(room_found(r, k < 3 ? "stack_overflow" : "launch_error", NULL), 1,
                     "body %zu", k);
        room_free(r);
    }
}

Test(ptx_stack, discard_loses_what_was_written) {
    struct machine_room *r =
        room_with(HEAD "st.global.u32 [%at], 7; st.global.u32 [%at+128], 8;\n"
                       "discard.global.L2 [%at], 128;\n"
                       "ld.global.u32 %r1, [%at]; ld.global.u32 %r2, [%at+128];\n"
                       "st.global.u32 [%at+132], %r2; ret; }\n");
    uint32_t *out = room_buffer(r, "out", 256, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 1), MACHINE_DONE);
    cr_expect_eq(room_found(r, "uninitialized", NULL), 1);
    cr_expect_neq(out[0], 7u);
    cr_expect_eq(out[33], 8u);
    uint64_t first;
    cr_expect_eq(machine_unwritten(r->machine, r->address[0], &first), 256u - 8);
    room_free(r);
    r = room_with(HEAD "discard.global.L2 [%at+64], 128; ret; }\n");
    room_buffer(r, "out", 256, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 1), MACHINE_FAULT);
    cr_expect_eq(room_found(r, "misaligned", NULL), 1);
    room_free(r);
}

/* lop3.and: the majority of three words, and whether it is not 0 while i is odd. */
Test(ptx_stack, lop3_tells_whether_its_result_is_nothing) {
    struct machine_room *r = room_with(
        HEAD "mul.lo.u32 %r1, %i, 0x9e3779b1; shl.b32 %r2, %r1, 7; and.b32 %r3, %i, 4;\n"
             "setp.eq.u32 %p3, %r3, 0; @%p3 mov.u32 %r2, 0; @%p3 mov.u32 %r1, 0;\n"
             "and.b32 %r4, %i, 1; setp.eq.u32 %p1, %r4, 0;\n"
             "lop3.and.b32 %r5|%p2, %r1, %r2, %i, 0xe8, !%p1;\n"
             "lop3.or.b32 _|%p1, %r1, %r2, 0, 0xe8, %p1;\n"
             "selp.u32 %r6, 1, 0, %p2; selp.u32 %r7, 2, 0, %p1; or.b32 %r6, %r6, %r7;\n"
             "shl.b32 %r5, %r5, 2; or.b32 %r5, %r5, %r6;\n"
             "st.global.u32 [%at], %r5; ret; }\n");
    uint32_t *out = room_buffer(r, "out", 20 * 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, 1, 20), MACHINE_DONE);
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t a = i & 4 ? i * 0x9e3779b1u : 0, b = i & 4 ? a << 7 : 0;
        uint32_t most = (a & b) | (a & i) | (b & i);
        uint32_t want = most << 2 | (most != 0 && i % 2 == 1) |
                        (((a & b) != 0 || i % 2 == 0) ? 2u : 0u);
        cr_expect_eq(out[i], want, "thread %u: %x instead of %x", i, out[i], want);
    }
    room_free(r);
}
