/* Which instructions the reader takes, against ptxas: tests/kernels/ptx/legality.txt. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/ptx/read/module.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The names that legality.py declares around each line. */
#define HEAD                                                                             \
    ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {\n"                     \
    ".reg .pred p, q, p2; .reg .b16 h<4>; .reg .b32 r<8>; .reg .u32 u<4>; "              \
    ".reg .s32 s<4>; .reg .b64 rd<8>; .reg .f32 f<8>; .reg .f64 fd<4>; "                 \
    ".reg .b128 x<3>; .reg .f16 hh<4>; .shared .align 16 .b8 sm[256];\n"

static struct ptx_module *read_line(const char *line, size_t len, struct err *err) {
    struct ptx_module *m = NULL;
    autofree char *text = xasprintf(HEAD "%.*s\n}\n", (int)len, line);
    ptx_module_read(&m, text, strlen(text), err);
    return m;
}

/* Where the reader and ptxas differ, and why that is right. */
static const char *const differ[] = {
    /* 16 bits make no address that a machine of ours could hold */
    "ld.shared.u32 r0, [h0];",
    "mov.b16 h0, sm;",
    /* harmless to run: elements are looked at one by one; addresses are extended */
    "ld.shared.v2.u8 {h0,r0}, [sm];",
    "ld.global.u32 r0, [r1];",
    "ld.shared.u32 r0, [16];",
    "ld.shared.u32 r0, [r1-4];",
    "mov.u64 rd0, sm-4;",
    "add.s16x2 r0, u1, s2;",
    /* not a matter of operands: bind's, or the target's */
    "mov.f16 hh0, hh1;",
    "cvt.f32.f64 f0, fd1;",
    "st.bulk.shared::cta [r0], 64, 0;",
};

static bool is_known(const char *line, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(differ); i++) {
        if (strlen(differ[i]) == len && memcmp(differ[i], line, len) == 0) {
            return true;
        }
    }
    return false;
}

Test(ptx_legality, ptxas_agrees) {
    autobuf text = BUF_INIT(1 << 20);
    unsigned lines = 0, taken = 0, wrong = 0, known = 0;
    cr_assert_eq(file_read(TEST_PTX "/legality.txt", &text, NULL), 0);
    for (char *at = text.data; *at;) {
        size_t len = strcspn(at, "\n");
        struct err err = {0};
        struct ptx_module *m = read_line(at + 2, len - 2, &err);
        bool same = (m != NULL) == (*at == '+');
        known += !same && is_known(at + 2, len - 2);
        if (!same && !is_known(at + 2, len - 2)) {
            fprintf(stderr, "ptxas %c: %.*s (%s)\n", *at, (int)len - 2, at + 2,
                    m ? "taken" : err.msg);
            wrong++;
        }
        lines++;
        taken += m != NULL;
        ptx_module_free(m);
        at += len + (at[len] == '\n');
    }
    cr_assert(lines > 380);
    cr_assert(taken > 300);
    cr_assert_eq(known, ARRAY_LEN(differ));
    cr_assert_eq(wrong, 0u);
}

static const struct ptx_operand *operand_of(const struct ptx_module *m, unsigned number) {
    const struct ptx_function *f = &m->functions[0];
    return &f->operands[f->code[0].operands + number];
}

/* IEEE 754: 1.5 is 0x3fc00000 and 0x3ff8000000000000. */
Test(ptx_legality, constants_have_the_width_of_their_type) {
    static const struct {
        const char *line;
        uint64_t bits;
        bool is_float, is_double;
    } cases[] = {
        {"mov.f32 f0, 1.5;", 0x3fc00000, true, false},
        {"mov.f32 f0, 0d3FF8000000000000;", 0x3fc00000, true, false},
        {"mov.f32 f0, 0f3FC00000;", 0x3fc00000, true, false},
        {"mov.f32 f0, -1.5e0;", 0xbfc00000, true, false},
        {"mov.f64 fd0, 0f3FC00000;", 0x3ff8000000000000, true, true},
        {"mov.f64 fd0, 1.5;", 0x3ff8000000000000, true, true},
        {"mov.b64 rd0, 1.5;", 0x3ff8000000000000, true, true},
        {"mov.b32 r0, 0f3FC00000;", 0x3fc00000, true, false},
        {"mov.u32 r0, 0x1F;", 31, false, false},
        {"mov.u32 r0, 0X1fU;", 31, false, false},
        {"mov.u32 r0, 017;", 15, false, false},
        {"mov.u32 r0, 0b101;", 5, false, false},
        {"mov.u32 r0, -1;", UINT64_MAX, false, false},
        {"mov.u64 rd0, 0xFFFFFFFFFFFFFFFF;", UINT64_MAX, false, false},
        {"mov.u64 rd0, 18446744073709551615;", UINT64_MAX, false, false},
        {"mov.u32 r0, (2 + 3) * 4 - 6 / 4 % 3;", 19, false, false},
        {"mov.u32 r0, 1 << 4 | 3 ^ 1 & 5;", 16 | (3 ^ 1), false, false},
        {"mov.u32 r0, 7 > 3 && 2 != 2 || !0;", 1, false, false},
        {"mov.u32 r0, 5 > 6 ? 1 : 2 ? 3 : 4;", 3, false, false},
        {"mov.s64 rd0, -7 / 2;", (uint64_t)-3, false, false},
        {"mov.s64 rd0, -8 >> 1;", (uint64_t)-4, false, false},
        {"mov.u64 rd0, (.u64)-8 >> 1;", 0x7ffffffffffffffc, false, false},
        {"mov.u64 rd0, -8 < 1U;", 0, false, false},
        {"mov.u32 r0, ~WARP_SZ;", (uint64_t)~32, false, false},
        {"mov.pred p, 2;", 1, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct err err = {0};
        struct ptx_module *m = read_line(cases[i].line, strlen(cases[i].line), &err);
        cr_assert(m != NULL, "%s: %s", cases[i].line, err.msg);
        const struct ptx_operand *o = operand_of(m, 1);
        cr_assert_eq(o->kind, PTX_OPERAND_IMMEDIATE, "%s", cases[i].line);
        cr_assert_eq(o->bits, cases[i].bits, "%s: %#lx", cases[i].line, o->bits);
        cr_assert_eq(o->is_float, cases[i].is_float, "%s", cases[i].line);
        cr_assert_eq(o->is_double, cases[i].is_double, "%s", cases[i].line);
        ptx_module_free(m);
    }
}

#define CALLEE                                                                           \
    ".func (.param .b32 o) f (.param .b64 a, .param .align 4 .b8 b[12]);\n"              \
    ".func none ();\n.entry e ();\n"
#define CALLER ".entry k (.param .b64 a) {\n.reg .b64 %d; .reg .b32 %r; .reg .pred %p;\n"

/* Sizes and counts of what calls pass. */
Test(ptx_legality, calls_agree_with_the_callee) {
    static const struct {
        const char *body;
        int code;
    } cases[] = {
        {".param .b64 x; .param .align 4 .b8 y[12]; .param .b32 z; call (z), f, (x, y);",
         0},
        {".param .align 4 .b8 y[12]; .param .b32 z; call (z), f, (%d, y);", 0},
        {"call none;", 0},
        {"call none, ();", 0},
        {".param .b64 x; .param .b32 z; call (z), f, (x);", -EINVAL},
        {".param .b64 x; .param .align 4 .b8 y[8]; .param .b32 z; call (z), f, (x, y);",
         -EINVAL},
        {".param .b64 x; .param .align 4 .b8 y[12]; call f, (x, y);", -EINVAL},
        {".param .align 4 .b8 y[12]; .param .b32 z; call (z), f, (%r, y);", -EINVAL},
        {".param .align 4 .b8 y[12]; .param .b32 z; call (z), f, (%p, y);", -EINVAL},
        {".param .align 4 .b8 y[12]; .param .b32 z; call (z), f, (a, y);", -EINVAL},
        {"call e;", -EINVAL},
        {"call %d, ();", -EINVAL},
        {"call nothing;", -EINVAL},
        {"P: .callprototype _ (); call %d, (), P;", 0},
        {"P: .callprototype _ (.param .b32 _); call %d, (%r), P;", 0},
        {"P: .callprototype _ (.param .b32 _); call %d, (), P;", -EINVAL},
        {"P: .callprototype _ (); call %r, (), P;", -EINVAL},
        {"T: .calltargets none; call %d, (), T;", 0},
        {"T: .calltargets none; brx.idx %r, T;", -EINVAL},
        {"L: T: .branchtargets L; call %d, (), T;", -EINVAL},
        {"L: T: .branchtargets L; brx.idx %r, T;", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct ptx_module *m = NULL;
        struct err err = {0};
        autofree char *text = xasprintf(
            "%s%s\n}\n", ".version 9.0\n.target sm_90a\n.address_size 64\n" CALLEE CALLER,
            cases[i].body);
        int code = ptx_module_read(&m, text, strlen(text), &err);
        cr_assert_eq(code, cases[i].code, "%s: %d %s", cases[i].body, code, err.msg);
        ptx_module_free(m);
    }
}
