#pragma once
/* standin_kernels: PTX that the tests of the stand-in run. */
#include "tests/unit/gpu/standin_room.h"

#include <criterion/criterion.h>
#include <string.h>

/* y[i] = a * x[i] + y[i], for i < n */
#define AXPY                                                                             \
    ".visible .entry axpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)\n" \
    "{ .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .pred %p<2>;\n"           \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"                \
    "mad.lo.s32 %r3, %r0, %r1, %r2; ld.param.u32 %r4, [n];\n"                            \
    "setp.ge.u32 %p0, %r3, %r4; @%p0 ret;\n"                                             \
    "ld.param.u64 %d0, [y]; ld.param.u64 %d1, [x]; ld.param.f32 %f0, [a];\n"             \
    "cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;\n"                        \
    "mul.wide.u32 %d2, %r3, 4; add.s64 %d0, %d0, %d2; add.s64 %d1, %d1, %d2;\n"          \
    "ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d0];\n"                              \
    "fma.rn.f32 %f3, %f0, %f1, %f2; st.global.f32 [%d0], %f3; ret; }\n"
/* Stores a word where its parameter says. */
#define POKE                                                                             \
    ".visible .entry poke(.param .u64 at) { .reg .b64 %d<2>; .reg .b32 %r<2>;\n"         \
    "ld.param.u64 %d0, [at]; mov.u32 %r0, 7; st.global.u32 [%d0], %r0; ret; }\n"
#define NOTHING ".visible .entry nothing() { ret; }\n"
#define ENDLESS                                                                          \
    ".visible .entry endless(.param .u64 at) { .reg .b64 %d<2>; .reg .b32 %r<4>;\n"      \
    ".reg .pred %p<2>; ld.param.u64 %d0, [at];\n"                                        \
    "again: ld.volatile.global.u32 %r0, [%d0]; add.u32 %r1, %r1, %r0;\n"                 \
    "setp.ne.u32 %p0, %r0, 99; @%p0 bra again; ret; }\n"

static inline cuda_address device_words(struct standin_room *r, size_t words) {
    cuda_address at = 0;
    cr_assert_eq(r->api.memory_alloc(&at, words * 4), 0);
    return at;
}
