/* Atomics of a warp whose lanes lie in a row, lie anywhere, or are few: the same sums,
 * old values and findings. What they must give is written down per lane. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define LANES 32
#define ONE 0x3f800000u
#define TWO 0x40000000u
#define THREE 0x40400000u
#define SUBNORMAL 1u
#define MINUS_ZERO 0x80000000u
#define A_NAN 0x7fc00001u
#define NEW_NAN 0x7fffffffu

/* Every fourth lane has one of these sums. On global memory subnormals are flushed. */
static const struct {
    uint32_t old, value, global, shared;
} sums[] = {{ONE, TWO, THREE, THREE},
            {SUBNORMAL, 0, 0, SUBNORMAL},
            {A_NAN, ONE, NEW_NAN, NEW_NAN},
            {MINUS_ZERO, MINUS_ZERO, MINUS_ZERO, MINUS_ZERO}};

/* %at: the lane's word of memory, %a2 of the old values; %r3: what it adds, if %p1. */
#define HEAD                                                                             \
    ".visible .entry k(.param .u64 to, .param .u64 from, .param .u64 old)\n"             \
    "{ .reg .b32 %r<20>; .reg .b64 %rd<20>, %at, %a2; .reg .pred %p<4>;\n"               \
    ".shared .align 4 .b8 s[128];\n"                                                     \
    "mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, STEP; and.b32 %r2, %r2, 31;\n"            \
    "mul.wide.u32 %rd1, %r2, 4; ld.param.u64 %rd2, [to]; add.s64 %at, %rd2, %rd1;\n"     \
    "ld.param.u64 %rd3, [from]; add.s64 %rd3, %rd3, %rd1; ld.global.b32 %r3, [%rd3];\n"  \
    "ld.param.u64 %rd4, [old]; add.s64 %a2, %rd4, %rd1;\n"                               \
    "setp.lt.u32 %p1, %r1, COUNT;\n"
#define TAIL "@%p1 st.global.b32 [%a2], %r4; ret; }"
#define GLOBAL HEAD "@%p1 atom.global.add.f32 %r4, [%at], %r3;\n" TAIL
#define GENERIC HEAD "@%p1 atom.add.f32 %r4, [%at], %r3;\n" TAIL
#define SHARED                                                                           \
    HEAD "mov.u32 %r5, s; cvt.u32.u64 %r6, %rd1; add.u32 %r5, %r5, %r6;\n"               \
         "ld.global.b32 %r7, [%at]; st.shared.b32 [%r5], %r7; bar.sync 0;\n"             \
         "@%p1 atom.shared.add.f32 %r4, [%r5], %r3;\n@%p1 st.global.b32 [%a2], %r4;\n"   \
         "ld.shared.b32 %r7, [%r5]; st.global.b32 [%at], %r7; ret; }"

static char *replaced(const char *text, const char *word, unsigned number) {
    const char *at = strstr(text, word);
    char *ret;
    cr_assert(at);
    cr_assert(asprintf(&ret, "%.*s%u%s", (int)(at - text), text, number,
                       at + strlen(word)) > 0);
    return ret;
}

/* step: of the lanes' words; 1 is a row. count: lanes that take part. */
static struct machine_room *launch(const char *body, unsigned step, unsigned count,
                                   uint32_t words, uint32_t **ret_old) {
    char *stepped = replaced(body, "STEP", step);
    char *text = replaced(stepped, "COUNT", count);
    struct machine_room *r = room_new(text, NULL);
    uint32_t *to = room_buffer(r, "to", words * 4, 0);
    uint32_t *from = room_buffer(r, "from", LANES * 4, 0);
    *ret_old = room_buffer(r, "old", LANES * 4, 0);
    for (unsigned l = 0; l < LANES; l++) {
        from[l] = sums[l % 4].value;
        (*ret_old)[l] = 77;
    }
    for (unsigned l = 0; l < words; l++) {
        to[l] = sums[l % 4].old;
    }
    (void)room_launch(r, 1, LANES);
    free(stepped);
    free(text);
    return r;
}

static void expect_sums(const char *body, bool shared, unsigned step, unsigned count) {
    uint32_t *old;
    struct machine_room *r = launch(body, step, count, LANES, &old);
    const uint32_t *to = r->host[0];
    for (unsigned lane = 0; lane < LANES; lane++) {
        unsigned l = lane * step % LANES, kind = l % 4;
        uint32_t sum = shared ? sums[kind].shared : sums[kind].global;
        cr_expect_eq(to[l], lane < count ? sum : sums[kind].old, "step %u, word %u: %#x",
                     step, l, to[l]);
        cr_expect_eq(old[l], lane < count ? sums[kind].old : 77);
    }
    cr_expect_eq(r->end, MACHINE_DONE);
    room_free(r);
}

Test(ptx_atomics, lanes_in_a_row_anywhere_and_some_of_them) {
    static const unsigned steps[] = {1, 5, 31}, counts[] = {32, 31, 1};
    for (unsigned s = 0; s < 3; s++) {
        for (unsigned c = 0; c < 3; c++) {
            expect_sums(GLOBAL, false, steps[s], counts[c]);
            expect_sums(GENERIC, false, steps[s], counts[c]);
            expect_sums(SHARED, true, steps[s], counts[c]);
        }
    }
}

/* Only the last lane leaves the buffer; the others add. */
Test(ptx_atomics, a_row_over_the_end_is_told_at_its_lane) {
    uint32_t *old;
    struct machine_room *r = launch(GLOBAL, 1, LANES, LANES - 1, &old);
    autojson *first = NULL;
    cr_expect_eq(room_found(r, "out_of_bounds", &first), 1);
    cr_expect_eq(json_integer_value(json_object_get(first, "offset")), 4 * (LANES - 1));
    cr_expect_eq(((uint32_t *)r->host[0])[LANES - 4], THREE);
    cr_expect_eq(old[0], ONE);
    room_free(r);
}

/* A buffer that nobody wrote: each lane is told once, and its word is written then. */
Test(ptx_atomics, a_row_of_unwritten_words_is_told) {
    struct machine_room *r = room_new(
        ".visible .entry k(.param .u64 to) { .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; ld.param.u64 %rd2, [to];\n"
        "add.s64 %rd2, %rd2, %rd1; red.global.add.u32 [%rd2], 1;\n"
        "red.global.add.u32 [%rd2], 1; ret; }",
        NULL);
    room_buffer(r, "to", LANES * 4, MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    (void)room_launch(r, 1, LANES);
    cr_expect_eq(room_found(r, "uninitialized", NULL), LANES);
    room_free(r);
}

/* A hash table's insertion: the lanes' places lie 8 KiB apart, two lanes at each, and every
 * other place is taken. */
#define SWAP                                                                             \
    ".visible .entry k(.param .u64 to, .param .u64 old)\n"                               \
    "{ .reg .b32 %r<9>; .reg .b64 %at, %a2, %rd<9>; .reg .b64 %v<4>; .reg .b32 %w<4>;\n" \
    "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 1; mul.wide.u32 %rd1, %r2, 8192;\n"          \
    "ld.param.u64 %rd2, [to]; add.s64 %at, %rd2, %rd1; mul.wide.u32 %rd3, %r1, 8;\n"     \
    "ld.param.u64 %rd4, [old]; add.s64 %a2, %rd4, %rd3; cvt.u64.u32 %v1, %r1;\n"         \
    "mov.b64 %v2, -1; cvt.u32.u64 %w1, %v1; mov.b32 %w2, -1;\n"
#define SWAP_32                                                                          \
    SWAP "atom.global.cas.b32 %w3, [%at], %w2, %w1; st.global.b32 [%a2], %w3; ret; }"
#define SWAP_64                                                                          \
    SWAP "atom.global.cas.b64 %v3, [%at], %v2, %v1; st.global.b64 [%a2], %v3; ret; }"

static void expect_swaps(const char *text, size_t bytes) {
    struct machine_room *r = room_new(text, NULL);
    uint8_t *to = room_buffer(r, "to", 16 * 8192, 0);
    uint64_t *old = room_buffer(r, "old", LANES * 8, 0);
    for (unsigned place = 0; place < 16; place++) {
        memset(to + 8192 * place, place % 2 ? 0x11 : 0xff, 16);
    }
    (void)room_launch(r, 1, LANES);
    cr_expect_eq(r->end, MACHINE_DONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        bool taken = lane / 2 % 2, second = lane % 2;
        uint64_t here = 0, met = 0, all = bytes == 4 ? UINT32_MAX : UINT64_MAX;
        uint64_t before = taken ? UINT64_C(0x1111111111111111) & all : all;
        memcpy(&here, to + 8192 * (lane / 2), bytes);
        memcpy(&met, &old[lane], bytes);
        cr_expect_eq(met, second && !taken ? lane - 1 : before, "lane %u met %#lx", lane,
                     met);
        cr_expect_eq(here, taken ? before : lane / 2 * 2, "place %u: %#lx", lane / 2,
                     here);
        cr_expect_eq(to[8192 * (lane / 2) + bytes], taken ? 0x11 : 0xff);
    }
    room_free(r);
}

Test(ptx_atomics, the_first_of_two_lanes_swaps) {
    expect_swaps(SWAP_32, 4);
    expect_swaps(SWAP_64, 8);
}
