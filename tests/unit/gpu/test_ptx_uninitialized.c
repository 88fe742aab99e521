/* Values that nobody wrote: found where something depends on them, and only there. */
#include "tests/unit/gpu/machine_checks.h"

#include "gpu/ptx/emit/emit.h"

#include <string.h>

Test(ptx_uninitialized, uninitialised_reads) {
    /* Word 5 is read and nobody has written it. */
    expect_finding(run(HEAD
                       "setp.eq.u32 %p1, %r2, 5; @%p1 bra S; st.global.u32 [%at], %i;\n"
                       "S: bar.sync 0; ld.global.u32 %r3, [%at];\n" END,
                       MACHINE_UNINITIALIZED),
                   MACHINE_DONE, "uninitialized", 1, "out", 20, 5);
    /* Two of four bytes are written. */
    expect_finding(run(HEAD "cvt.u16.u32 %r9, %i; st.global.u16 [%at], %r9;\n"
                            "ld.global.u16 %r4, [%at]; ld.global.u32 %r3, [%at];\n" END,
                       MACHINE_UNINITIALIZED),
                   MACHINE_DONE, "uninitialized", 64, "out", 0, 0);
    expect_finding(run(HEAD
                       ".shared .align 4 .b8 s[64]; st.shared.u32 [s], %i; bar.sync 0;\n"
                       "ld.shared.u32 %r3, [s]; ld.shared.u32 %r3, [s+8];\n" END,
                       0),
                   MACHINE_DONE, "uninitialized", 64, "s", 8, 0);
    expect_finding(run(HEAD ".local .align 4 .b8 d[16]; st.local.u32 [d], %i;\n"
                            "ld.local.u32 %r3, [d]; ld.local.u32 %r3, [d+4];\n" END,
                       0),
                   MACHINE_DONE, "uninitialized", 64, "local memory", 4, 0);
    expect_finding(run(HEAD "ld.global.u32 %r3, [%at];\n" END, 0), MACHINE_DONE,
                   "uninitialized", 0, NULL, 0, 0);
}

/* Word 5 of s is written, and by thread 5 alone. What a load gives counts where something
 * depends on it: not where a selection takes the other value, nor where the other side of
 * a logical operation decides. */
#define WRITTEN                                                                          \
    HEAD ".shared .align 4 .b8 s[256]; mov.u32 %r3, s; shl.b32 %r4, %r2, 2;\n"           \
         "add.u32 %r3, %r3, %r4; setp.eq.u32 %p1, %r2, 5; setp.lt.u32 %p2, %r2, 8;\n"    \
         "@%p1 st.shared.u32 [%r3], %r2; mov.u32 %r7, 7; ld.shared.u32 %r5, [%r3];\n"

Test(ptx_uninitialized, values_that_nothing_depends_on) {
    static const struct {
        const char *body;
        long found;
    } cases[] = {
        {"selp.u32 %r6, %r5, %r7, %p1; st.global.u32 [%at], %r6;\n", 0},
        {"selp.u32 %r6, %r7, %r5, %p1; st.global.u32 [%at], %r6;\n", 63},
        {"selp.u32 %r6, %r5, %r7, %p2; st.global.u32 [%at], %r6;\n", 7},
        {"mad.lo.u32 %r8, %r5, 3, 1; mov.u32 %r9, %r8; selp.u32 %r6, %r9, %r7, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         0},
        {"selp.u32 %r6, %r5, %r7, %p1; st.global.u32 [%at], %r5;\n", 63},
        {"selp.u32 %r8, %r5, %r7, %p2; selp.u32 %r6, %r8, %r7, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         0},
        {"setp.gt.u32 %p3, %r5, 9; and.pred %p4, %p3, %p1; @%p4 st.global.u32 [%at], "
         "%r7;\n",
         0},
        {"setp.gt.u32 %p3, %r5, 9; and.pred %p4, %p2, %p3; @%p4 st.global.u32 [%at], "
         "%r7;\n",
         7},
        {"setp.gt.u32 %p3, %r5, 9; not.pred %p4, %p1; or.pred %p5, %p3, %p4; @%p5 bra "
         "S;\n"
         "st.global.u32 [%at], %r7; S:\n",
         0},
        {"setp.gt.u32 %p3, %r5, 9; selp.u32 %r8, 1, 2, %p3; selp.u32 %r6, %r8, 3, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         0},
        {"setp.gt.u32 %p3, %r5, 9; selp.u32 %r8, 1, 2, %p3; selp.u32 %r6, 3, %r8, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         63},
        {"@%p1 mov.u32 %r7, %r5; st.global.u32 [%at], %r7;\n", 0},
        {"bar.sync 0; selp.u32 %r6, %r5, %r7, %p1; st.global.u32 [%at], %r6;\n", 0},
        {"bar.sync 0; selp.u32 %r6, %r5, %r7, %p2; st.global.u32 [%at], %r6;\n", 7},
        {"add.u32 %r3, %r3, %r5; selp.u32 %r6, %r5, %r7, %p1; bar.sync 0;\n"
         "st.global.u32 [%at], %r3;\n",
         63},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *body = xasprintf("%s%s%s", WRITTEN, cases[i].body, END);
        struct machine_room *r = run(body, 0);
        cr_expect_eq(room_found(r, "uninitialized", NULL), cases[i].found,
                     "case %zu: %ld", i, room_found(r, "uninitialized", NULL));
        room_free(r);
    }
}

/* However many there were in a block: those that nobody reads any more take no room. The
 * value is found where it is stored, from its first load. */
static void many(const char *const step[3], unsigned count, const char *predicate,
                 long found) {
    autobuf body = BUF_INIT(1 << 18);
    buf_addf(&body, "%s.reg .u32 %%q<%u>; mov.u32 %%q0, %%r5; mov.u32 %%r6, 0;\n",
             WRITTEN, count + 1);
    for (unsigned k = 1; k <= count; k++) {
        buf_addf(&body, "%s%%q%u%s%%q%u%s;\n", step[0], k, step[1], k - 1, step[2]);
    }
    buf_addf(&body,
             "selp.u32 %%r6, %%q%u, %%r7, %s; st.global.u32 [%%at], %%r6;\n" END, count,
             predicate);
    struct machine_room *r = run(body.data, 0);
    cr_expect_eq(room_found(r, "uninitialized", NULL), found, "%s: %ld", step[0],
                 room_found(r, "uninitialized", NULL));
    room_free(r);
}

Test(ptx_uninitialized, many_values_in_a_block) {
    static const char *const sum[] = {"add.u32 ", ", ", ", 3"},
                            *const load[] = {"ld.shared.u32 ",
                                             ", [%r3]; mov.u32 %r6, ", ""},
                            *const shuffle[] = {"shfl.sync.bfly.b32 ", ", ",
                                                ", 0, 31, -1"};
    many(sum, 2000, "%p1", 0);
    many(sum, 2000, "%p2", 7);
    many(load, 300, "%p1", 0);
    many(shuffle, 300, "%p1", 0);
}

/* Shared memory (%r3 of WRITTEN, 256 bytes) and global memory that is no output carry
 * such values, and so do shuffles; the finding stands at the load that began it. `spare`
 * is memory that nobody has written. */
#define CARRIED                                                                          \
    ".visible .entry k(.param .u64 out, .param .u64 spare)\n" ENTRY                      \
    ".shared .align 4 .b8 s[512]; mov.u32 %r3, s; shl.b32 %r4, %r2, 2;\n"                \
    "add.u32 %r3, %r3, %r4; setp.lt.u32 %p1, %r2, 8; mov.u32 %r7, 7;\n"                  \
    "ld.param.u64 %rd2, [spare]; add.s64 %rd3, %rd2, %rd0;\n"                            \
    "@%p1 st.shared.u32 [%r3], %r2; ld.shared.u32 %r5, [%r3];\n"

/* Each of eight blocks finds so much. */
static void carried(const char *body, uint32_t emit_after, long found) {
    const struct machine_config config = {
        .checks = MACHINE_CHECK_DEFAULT, .emit_after = emit_after, .threads = 1};
    struct machine_room *r = room_new(body, &config);
    json_t *first = NULL;
    room_buffer(r, "out", 2048, 0);
    room_buffer(r, "spare", 2048, MACHINE_UNINITIALIZED);
    room_launch(r, 8, 64);
    cr_expect_eq(room_found(r, "uninitialized", &first), 8 * found, "%ld of %ld: %s",
                 room_found(r, "uninitialized", NULL), 8 * found, body);
    cr_expect(!first || !strcmp(json_get_string(first, "buffer", ""), "s"));
    json_decref(first);
    room_free(r);
}

Test(ptx_uninitialized, values_that_are_carried) {
    static const struct {
        const char *body;
        long found;
    } cases[] = {
        {"st.shared.u32 [%r3+256], %r5;\n", 0},
        {"st.shared.u32 [%r3+256], %r5; bar.sync 0; ld.shared.u32 %r6, [%r3+256];\n"
         "selp.u32 %r6, %r6, %r7, %p1; st.global.u32 [%at], %r6;\n",
         0},
        {"st.shared.u32 [%r3+256], %r5; bar.sync 0; ld.shared.u32 %r6, [%r3+256];\n"
         "st.global.u32 [%at], %r6;\n",
         56},
        {"st.shared.u16 [%r3+258], %r5; ld.shared.u16 %r6, [%r3+258];\n"
         "st.global.u32 [%at], %r6;\n",
         56},
        {"st.shared.u32 [%r3+256], %r5; st.shared.u32 [%r3+256], %r7;\n"
         "ld.shared.u32 %r6, [%r3+256]; st.global.u32 [%at], %r6;\n",
         0},
        {"add.u32 %r5, %r5, 1; st.global.u32 [%rd3], %r5; bar.sync 0;\n"
         "ld.global.u32 %r6, [%rd3]; setp.gt.u32 %p2, %r6, 9; @%p2 bra S; S:\n",
         56},
        {"st.global.u32 [%rd3], %r5;\n", 0},
        {"st.global.u32 [%rd3], %r5; red.global.add.u32 [%rd3], 1;\n", 56},
        {"shfl.sync.idx.b32 %r6, %r5, 7, 31, -1; setp.lt.u32 %p2, %r2, 32;\n"
         "@%p2 st.global.u32 [%at], %r6;\n",
         0},
        {"shfl.sync.up.b32 %r6|%p2, %r5, 1, 0, -1; selp.u32 %r6, %r6, %r7, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         0},
        {"shfl.sync.down.b32 %r6|%p2, %r5, 1, 31, -1; selp.u32 %r6, %r6, %r7, %p1;\n"
         "st.global.u32 [%at], %r6;\n",
         1},
        {"mov.u32 %r8, 0; L: shfl.sync.bfly.b32 %r6, %r5, %r8, 31, -1;\n"
         "add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 4; @%p2 bra L;\n"
         "selp.u32 %r6, %r6, %r7, %p1; st.global.u32 [%at], %r6;\n",
         0},
        {"vote.sync.any.pred %p2, %p1, -1; setp.gt.u32 %p3, %r5, 9;\n"
         "vote.sync.any.pred %p2, %p3, -1;\n",
         56},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *body = xasprintf("%s%s%s", CARRIED, cases[i].body, END);
        carried(body, EMIT_NEVER, cases[i].found);
        carried(body, 1,
                cases[i].found); /* code for the host, from the second entry on */
    }
}

/* Of eight bytes the lower four are written, as in a structure with padding. */
#define HALF                                                                             \
    HEAD ".shared .align 8 .b8 s[512]; mov.u32 %r3, s; shl.b32 %r4, %r2, 3;\n"           \
         "add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %r2; ld.shared.u64 %rd4, [%r3];\n"

Test(ptx_uninitialized, bytes_of_a_value) {
    static const struct {
        const char *body;
        bool found;
    } cases[] = {
        {"mov.b64 {%r5, %r6}, %rd4; st.global.u32 [%at], %r5;\n", false},
        {"mov.b64 {%r5, %r6}, %rd4; st.global.u32 [%at], %r6;\n", true},
        {"mov.b64 {%r5, %r6}, %rd4; mov.b64 %rd5, {%r6, %r5}; shr.u64 %rd5, %rd5, 32;\n"
         "setp.gt.u64 %p1, %rd5, 9; @%p1 bra S; S:\n",
         false},
        {"mov.b64 {%r5, %r6}, %rd4; mov.b64 %rd5, {%r6, %r5}; shr.u64 %rd5, %rd5, 24;\n"
         "setp.gt.u64 %p1, %rd5, 9; @%p1 bra S; S:\n",
         true},
        {"cvt.u32.u64 %r5, %rd4; setp.gt.u32 %p1, %r5, 9; @%p1 bra S; S:\n", false},
        {"shl.b64 %rd5, %rd4, 32; shr.u64 %rd5, %rd5, 32; setp.gt.u64 %p1, %rd5, 9;\n"
         "@%p1 bra S; S:\n",
         false},
        {"shl.b64 %rd5, %rd4, 32; shr.s64 %rd5, %rd5, 32; setp.gt.s64 %p1, %rd5, 9;\n"
         "@%p1 bra S; S:\n",
         false},
        {"mov.b64 {%r5, %r6}, %rd4; shl.b32 %r6, %r6, 24; shl.b32 %r6, %r6, 8;\n"
         "setp.gt.u32 %p1, %r6, 9; @%p1 bra S; S:\n",
         false},
        {"mov.b64 {%r5, %r6}, %rd4; shr.u32 %r6, %r6, 16; shr.u32 %r6, %r6, 16;\n"
         "setp.gt.u32 %p1, %r6, 9; @%p1 bra S; S:\n",
         false},
        {"mov.b64 {%r5, %r6}, %rd4; shr.u32 %r6, %r6, 16; and.b32 %r6, %r6, 0x100;\n"
         "setp.gt.u32 %p1, %r6, 9; @%p1 bra S; S:\n",
         true},
        {"and.b64 %rd5, %rd4, 0xff00; setp.eq.u64 %p1, %rd5, 0; @%p1 bra S; S:\n", false},
        {"and.b64 %rd5, %rd4, 0x10000ffff; setp.eq.u64 %p1, %rd5, 0; @%p1 bra S; S:\n",
         true},
        {"add.u64 %rd5, %rd4, 1; cvt.u32.u64 %r5, %rd5; setp.gt.u32 %p1, %r5, 9;\n"
         "@%p1 bra S; S:\n",
         true},
        {"st.shared.u64 [%r3], %rd4; ld.shared.u32 %r5, [%r3]; setp.gt.u32 %p1, %r5, 9;\n"
         "@%p1 bra S; S:\n",
         false},
        {"st.shared.u64 [%r3], %rd4; ld.shared.u32 %r5, [%r3+4];\n"
         "setp.gt.u32 %p1, %r5, 9; @%p1 bra S; S:\n",
         true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *body = xasprintf("%s%s%s", HALF, cases[i].body, END);
        struct machine_room *r = run(body, 0);
        cr_expect_eq(room_found(r, "uninitialized", NULL), cases[i].found ? 64 : 0,
                     "case %zu: %ld", i, room_found(r, "uninitialized", NULL));
        room_free(r);
    }
}
