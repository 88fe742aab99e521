/* The host threads of a launch: a short one has none of its own, a long one as many as it
 * may, and both do the same. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <pthread.h>

enum { BLOCKS = 8, THREADS = 64, MAY = 3 };

static unsigned made;

/* The linker puts this in the place of pthread_create (meson.build). */
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *data) {
    made++;
    return __real_pthread_create(thread, attributes, run, data);
}

/* Threads that a launch makes in which every thread adds 1 so many times. */
static unsigned threads_of(uint32_t rounds) {
    static const char kernel[] =
        ".visible .entry k(.param .u64 out, .param .u32 n)\n"
        "{ .reg .b32 %r<6>; .reg .b64 %a<3>; .reg .pred %p;\n"
        "ld.param.u64 %a0, [out]; cvta.to.global.u64 %a0, %a0; ld.param.u32 %r0, [n];\n"
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
        "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %a1, %r1, 4;\n"
        "add.s64 %a0, %a0, %a1; mov.u32 %r4, 0;\n"
        "L: add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, %r0; @%p bra L;\n"
        "st.global.u32 [%a0], %r4; ret; }\n";
    struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT, .threads = MAY};
    struct machine_room *r = room_new(kernel, &config);
    uint32_t *out = room_buffer(r, "out", BLOCKS * THREADS * sizeof *out,
                                MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    room_u32(r, rounds);
    made = 0;
    cr_expect_eq(room_launch(r, BLOCKS, THREADS), MACHINE_DONE);
    unsigned result = made;
    for (unsigned k = 0; k < BLOCKS * THREADS; k++) {
        cr_assert_eq(out[k], rounds);
    }
    uint64_t blocks;
    cr_expect_eq(machine_progress(r->machine, &blocks), BLOCKS);
    room_free(r);
    return result;
}

Test(ptx_threads, only_long_launches_have_them) {
    cr_expect_eq(threads_of(10), 0);
    cr_expect_eq(threads_of(20000), MAY - 1);
}

/* Block 0 waits by a plain load for what a later one stores, which on a device runs
 * beside it. */
Test(ptx_threads, a_later_block_runs_beside_one_that_waits_without_a_sign) {
    static const char kernel[] =
        ".visible .entry k(.param .u64 out)\n"
        "{ .reg .b32 %r<3>; .reg .b64 %a<2>; .reg .pred %p;\n"
        "ld.param.u64 %a0, [out]; cvta.to.global.u64 %a0, %a0; mov.u32 %r0, %ctaid.x;\n"
        "setp.ne.u32 %p, %r0, 0; @%p bra OTHER;\n"
        "L: ld.global.cg.u32 %r1, [%a0]; setp.eq.u32 %p, %r1, 0; @%p bra L;\n"
        "st.global.u32 [%a0+4], %r1; ret;\n"
        "OTHER: setp.ne.u32 %p, %r0, 7; @%p ret;\n"
        "st.global.u32 [%a0], %r0; ret; }\n";
    for (int threads = 1; threads <= 2; threads++) {
        struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT,
                                        .threads = threads,
                                        .instructions = 500000000};
        struct machine_room *r = room_new(kernel, &config);
        uint32_t *out = room_buffer(r, "out", 8, MACHINE_OUTPUT);
        cr_expect_eq(room_launch(r, BLOCKS, 1), MACHINE_DONE);
        cr_expect_eq(out[1], 7);
        room_free(r);
    }
}
