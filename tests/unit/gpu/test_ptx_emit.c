/* emit: random kernels do the same as code for the host and in the interpreter: memory,
 * findings in their order, counters. Half of them with the race check, which has short
 * ways beside the code and none beside the interpreter.
 *
 * Blocks become code when they are entered for the second time. EMIT_PROGRAMS in the
 * environment: how many kernels, EMIT_SEED: the first one's number. */
#include "base/buf.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/emit/emit.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

#define PROGRAMS 400
#define WORDS 1024 /* of a buffer */
#define FLOATS 10
#define INTS 10
#define LONGS 6
#define PREDICATES 4
#define HALVES 6  /* %h, of 16 bits */
#define DOUBLES 6 /* %e */

/* ---- a random kernel ---- */

static uint64_t state;
static uint32_t pick(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}
#define ONE_OF(list) (list)[pick(ARRAY_LEN(list))]

static const char *const numbers[] = {
    "0f00000000", "0f80000000", "0f3F800000", "0fBF000000", "0f7F800000",
    "0fFF800000", "0f7FC00000", "0fFFC01234", "0f7F812345", "0f00000001",
    "0f807FFFFF", "0f7F7FFFFF", "0f40490FDB", "0f33D6BF95"};
static const char *const doubles[] = {
    "0d0000000000000000", "0d8000000000000000", "0d3FF0000000000000",
    "0d7FF0000000000000", "0dFFF8000000000001", "0d7FF4000000000000",
    "0d0000000000000001", "0d7FEFFFFFFFFFFFFF", "0d400921FB54442D18"};
static const char *const whole[] = {"0",           "1",          "-1",    "2",    "31",
                                    "32",          "33",         "63",    "64",   "255",
                                    "-2147483648", "2147483647", "65535", "12345"};

static void put(struct buf *b, const char *format, ...) {
    char line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_adds(b, line);
}

/* Registers that are the same for all lanes, of 4 and of 8 bytes: %u2 is set by some of
 * the lanes only. */
static const char *const shared_words[] = {"%v0", "%v1"};
static const char *const shared_longs[] = {"%u0", "%u1", "%u2"};

/* A register, or now and then an immediate. */
static const char *operand(char kind) {
    static char texts[8][16];
    static unsigned next;
    char *t = texts[next++ % 8];
    switch (kind) {
    case 'f':
        return pick(4) ? (sprintf(t, "%%f%u", pick(FLOATS)), t) : ONE_OF(numbers);
    case 'r':
        return pick(4)   ? (sprintf(t, "%%r%u", pick(INTS)), t)
               : pick(3) ? ONE_OF(whole)
                         : ONE_OF(shared_words);
    case 'd':
        return pick(4)   ? (sprintf(t, "%%d%u", pick(LONGS)), t)
               : pick(2) ? ONE_OF(whole)
                         : ONE_OF(shared_longs);
    case 'h':
        sprintf(t, "%%h%u", pick(HALVES));
        return t;
    case 'e':
        return pick(4) ? (sprintf(t, "%%e%u", pick(DOUBLES)), t) : ONE_OF(doubles);
    default:
        sprintf(t, "%%p%u", pick(PREDICATES));
        return t;
    }
}
static const char *result(char kind) {
    static char texts[2][16];
    static unsigned next;
    char *t = texts[next++ % 2];
    unsigned n = kind == 'f'   ? FLOATS
                 : kind == 'r' ? INTS
                 : kind == 'd' ? LONGS
                 : kind == 'h' ? HALVES
                 : kind == 'e' ? DOUBLES
                               : PREDICATES;
    sprintf(t, "%%%c%u", kind, pick(n));
    return t;
}

/* Spelling, result, sources. What has no code of its own is among them, too. */
static const struct {
    const char *spelling, *operands;
} instructions[] = {
    {"add.f32", "fff"},          {"sub.f32", "fff"},         {"mul.f32", "fff"},
    {"add.rn.f32", "fff"},       {"mul.rn.f32", "fff"},      {"fma.rn.f32", "ffff"},
    {"fma.rn.f32", "ffff"},      {"mad.rn.f32", "ffff"},     {"div.rn.f32", "fff"},
    {"sqrt.rn.f32", "ff"},       {"min.f32", "fff"},         {"max.f32", "fff"},
    {"neg.f32", "ff"},           {"abs.f32", "ff"},          {"mov.f32", "ff"},
    {"add.rz.f32", "fff"},       {"fma.rn.ftz.f32", "ffff"}, {"min.NaN.f32", "fff"},
    {"add.s32", "rrr"},          {"sub.s32", "rrr"},         {"add.u32", "rrr"},
    {"mul.lo.s32", "rrr"},       {"mad.lo.s32", "rrrr"},     {"mul.hi.u32", "rrr"},
    {"min.s32", "rrr"},          {"max.u32", "rrr"},         {"max.s32", "rrr"},
    {"min.u32", "rrr"},          {"and.b32", "rrr"},         {"or.b32", "rrr"},
    {"xor.b32", "rrr"},          {"not.b32", "rr"},          {"shl.b32", "rrr"},
    {"shr.u32", "rrr"},          {"shr.s32", "rrr"},         {"shr.b32", "rrr"},
    {"mov.b32", "rr"},           {"mov.u32", "rr"},          {"div.s32", "rrr"},
    {"rem.u32", "rrr"},          {"popc.b32", "rr"},         {"add.s64", "ddd"},
    {"sub.s64", "ddd"},          {"mul.lo.s64", "ddd"},      {"mad.lo.u64", "dddd"},
    {"and.b64", "ddd"},          {"xor.b64", "ddd"},         {"not.b64", "dd"},
    {"shl.b64", "ddr"},          {"shr.u64", "ddr"},         {"shr.s64", "ddr"},
    {"min.s64", "ddd"},          {"max.u64", "ddd"},         {"mov.b64", "dd"},
    {"mul.wide.s32", "drr"},     {"mul.wide.u32", "drr"},    {"mad.wide.s32", "drrd"},
    {"mad.wide.u32", "drrd"},    {"cvt.s64.s32", "dr"},      {"cvt.u64.u32", "dr"},
    {"cvt.u32.u64", "rd"},       {"cvt.s64.u32", "dr"},      {"cvt.rn.f32.s32", "fr"},
    {"cvt.rn.f32.u32", "fr"},    {"cvt.rzi.s32.f32", "rf"},  {"cvt.u64.s32", "dr"},
    {"setp.lt.s32", "prr"},      {"setp.ge.u32", "prr"},     {"setp.eq.s32", "prr"},
    {"setp.ne.b32", "prr"},      {"setp.gt.s64", "pdd"},     {"setp.ls.u64", "pdd"},
    {"setp.lt.f32", "pff"},      {"setp.neu.f32", "pff"},    {"setp.geu.f32", "pff"},
    {"setp.nan.f32", "pff"},     {"setp.le.f32", "pff"},     {"setp.ne.f32", "pff"},
    {"setp.lt.and.s32", "prrp"}, {"selp.f32", "fffp"},       {"selp.b32", "rrrp"},
    {"selp.b64", "dddp"},        {"and.pred", "ppp"},        {"xor.pred", "ppp"},
    {"not.pred", "pp"},          {"or.pred", "ppp"},         {"mov.pred", "pp"},
    {"mov.b32", "rf"},           {"mov.b32", "fr"},          {"cvt.f32.f16", "fh"},
    {"cvt.rn.f16.f32", "hf"},    {"cvt.f32.bf16", "fh"},     {"cvt.rn.bf16.f32", "hf"},
    {"mov.b16", "hh"},           {"add.f16", "hhh"},         {"sub.f16", "hhh"},
    {"mul.f16", "hhh"},          {"add.rn.f16x2", "rrr"},    {"mul.f16x2", "rrr"},
    {"fma.rn.f16x2", "rrrr"},    {"cvt.u32.u16", "rh"},      {"cvt.u16.u32", "hr"},
    {"add.f64", "eee"},          {"sub.rn.f64", "eee"},      {"mul.f64", "eee"},
    {"fma.rn.f64", "eeee"},      {"fma.rn.f64", "eeee"},     {"div.rn.f64", "eee"},
    {"sqrt.rn.f64", "ee"},       {"mov.f64", "ee"},          {"setp.lt.f64", "pee"},
    {"setp.neu.f64", "pee"},     {"selp.f64", "eeep"},       {"cvt.f64.f32", "ef"},
    {"cvt.rn.f32.f64", "fe"},    {"mov.b64", "ed"},
    {"add.ftz.f32", "fff"},
    {"sub.ftz.f32", "fff"},
    {"mul.ftz.f32", "fff"},
    {"mul.rn.ftz.f32", "fff"},
    {"fma.rn.ftz.f32", "ffff"},
    {"add.sat.f32", "fff"},
    {"fma.rn.sat.f32", "ffff"},
    {"mul.ftz.sat.f32", "fff"},
    {"add.rm.f32", "fff"},
    {"mul.rp.f32", "fff"},
    {"fma.rm.f32", "ffff"},
    {"fma.rz.f32", "ffff"},
    {"fma.rp.ftz.f32", "ffff"},
    {"div.rz.f32", "fff"},
    {"add.rm.f64", "eee"},
    {"fma.rz.f64", "eeee"},
    {"sqrt.approx.f32", "ff"},
    {"sqrt.approx.ftz.f32", "ff"},
    {"rcp.approx.f32", "ff"},
    {"rcp.approx.ftz.f32", "ff"},
    {"rcp.rn.f32", "ff"},
    {"rcp.rn.f64", "ee"},
    {"rsqrt.approx.f32", "ff"},
    {"rsqrt.approx.ftz.f32", "ff"},
    {"div.full.f32", "fff"},
    {"div.full.ftz.f32", "fff"},
    {"div.approx.f32", "fff"},
    {"div.approx.ftz.f32", "fff"},
    {"div.rn.ftz.f32", "fff"},
    {"sqrt.rn.ftz.f32", "ff"},
    {"ex2.approx.ftz.f32", "ff"},
    {"lg2.approx.f32", "ff"},
    {"min.ftz.f32", "fff"},
    {"max.ftz.f32", "fff"},
    {"neg.ftz.f32", "ff"},
    {"abs.ftz.f32", "ff"},
    {"setp.lt.ftz.f32", "pff"},
    {"setp.gtu.ftz.f32", "pff"},
    {"setp.ge.or.f32", "pffp"},
    {"setp.ne.xor.s32", "prrp"},
    {"setp.lt.u16", "phh"},
    {"setp.ge.s16", "phh"},
    {"setp.eq.and.s16", "phhp"},
    {"min.f64", "eee"},
    {"max.f64", "eee"},
    {"neg.f64", "ee"},
    {"abs.f64", "ee"},
    {"neg.s32", "rr"},
    {"neg.s64", "dd"},
    {"abs.s32", "rr"},
    {"abs.s64", "dd"},
    {"clz.b32", "rr"},
    {"add.u16", "hhh"},
    {"sub.s16", "hhh"},
    {"mul.lo.u16", "hhh"},
    {"and.b16", "hhh"},
    {"xor.b16", "hhh"},
    {"not.b16", "hh"},
    {"selp.b16", "hhhp"},
    {"mul.hi.s32", "rrr"},
    {"mul.hi.u32", "rrr"},
    {"shf.l.wrap.b32", "rrrr"},
    {"shf.r.wrap.b32", "rrrr"},
    {"shf.l.clamp.b32", "rrrr"},
    {"shf.r.clamp.b32", "rrrr"},
    {"bfe.u32", "rrrr"},
    {"cvt.rni.s32.f32", "rf"},
    {"cvt.rmi.s32.f32", "rf"},
    {"cvt.rpi.u32.f32", "rf"},
    {"cvt.rzi.u32.f32", "rf"},
    {"cvt.rni.ftz.u32.f32", "rf"},
    {"cvt.rzi.ftz.s32.f32", "rf"},
    {"cvt.rmi.f32.f32", "ff"},
    {"cvt.rni.f32.f32", "ff"},
    {"cvt.rzi.ftz.f32.f32", "ff"},
    {"cvt.sat.f32.f32", "ff"},
    {"cvt.ftz.f32.f32", "ff"},
    {"cvt.ftz.sat.f32.f32", "ff"},
    {"cvt.rpi.f64.f64", "ee"},
    {"cvt.ftz.f64.f32", "ef"},
    {"cvt.rn.ftz.f32.f64", "fe"},
    {"cvt.rn.sat.f32.f64", "fe"},
    {"cvt.rn.f64.s32", "er"},
    {"cvt.rn.f64.u32", "er"},
    {"cvt.rn.f64.s64", "ed"},
    {"cvt.rm.f64.u64", "ed"},
    {"cvt.rz.f32.s32", "fr"},
    {"cvt.rm.f32.u32", "fr"},
    {"cvt.s32.s16", "rh"},
    {"cvt.s16.s32", "hr"},
    {"cvt.u16.u64", "hd"},
    {"cvt.s64.s16", "dh"},
};

static void put_arithmetic(struct buf *b) {
    unsigned k = pick(ARRAY_LEN(instructions));
    const char *o = instructions[k].operands;
    if (pick(12) == 0) {
        put(b, "@%s%s ", pick(2) ? "!" : "", operand('p'));
    }
    put(b, "%s %s", instructions[k].spelling, result(o[0]));
    for (const char *s = o + 1; *s; s++) {
        bool bits = strncmp(instructions[k].spelling, "mov.b", 5) == 0 &&
                    strcmp(o, "rr") != 0 && strcmp(o, "dd") != 0;
        put(b, ", %s", bits ? result(*s) : operand(*s));
    }
    put(b, ";\n");
}

/* A register of two words, and back; a comparison with two results. */
static void put_pair(struct buf *b) {
    switch (pick(4)) {
    case 0:
        put(b, "mov.b64 {%s, %s}, %s;\n", result('r'), result('r'), operand('d'));
        break;
    case 1:
        put(b, "mov.b64 {%%f1, _}, %s;\n", result('e'));
        break;
    case 2:
        put(b, "mov.b64 %s, {%s, %s};\n", result('d'), operand('r'), result('r'));
        break;
    default:
        put(b, "setp.le.%s.s32 %%p%u|%%p%u, %s, %s, !%%p%u;\n", pick(2) ? "and" : "or",
            pick(2), 2 + pick(2), operand('r'), operand('r'), pick(PREDICATES));
    }
}

static void put_lop3(struct buf *b) {
    put(b, "lop3.b32 %s, %s, %s, %s, %u;\n", result('r'), operand('r'), operand('r'),
        operand('r'), pick(256));
}

/* Where the lanes of %a0 … %a3 (global) and %s0, %s1 (shared) lie. */
static void put_addresses(struct buf *b) {
    static const char *const lanes[] = {
        "mov.u32 %%t, %%tid.x;\n",
        "mov.u32 %%t, 0;\n",
        "mov.u32 %%t, %%tid.x; shr.u32 %%t, %%t, 4;\n",
        "mov.u32 %%t, %%tid.x; and.b32 %%t, %%t, 15;\n",
        "mov.u32 %%t, %%tid.x; xor.b32 %%t, %%t, 5;\n",
        "mov.u32 %%t, %%tid.x; mul.lo.u32 %%t, %%t, 3;\n",
        "mov.u32 %%t, %%tid.x; mul.lo.u32 %%t, %%t, 7; and.b32 %%t, %%t, 127;\n",
        "mov.u32 %%t, %%tid.x; sub.u32 %%t, 255, %%t;\n",
        "mov.u32 %%n2, %%laneid; mad.lo.u32 %%t, %%r9, 3, %%n2; and.b32 %%t, %%t, 255;\n",
        "mov.u32 %%n2, %%laneid; mad.lo.u32 %%t, %%i, 5, %%n2;\n",
        "mov.u32 %%t, %%tid.x; add.u32 %%t, %%t, %%i;\n",
    };
    for (unsigned k = 0; k < 6; k++) {
        put(b, "%s", "");
        put(b, ONE_OF(lanes));
        if (k < 4) {
            put(b, "mul.wide.u32 %%w, %%t, 4; add.s64 %%a%u, %%b%u, %%w;\n", k, k);
        } else {
            put(b, "mul.wide.u32 %%w, %%t, 4; add.s64 %%s%u, %%sb, %%w;\n", k - 4);
            put(b, "cvt.u32.u64 %%x%u, %%s%u;\n", k - 4, k - 4);
        }
    }
}

/* A vector of words; mostly aligned. */
static void put_vector_load(struct buf *b) {
    unsigned count = pick(2) ? 2 : 4,
             at = 8 * count / 2 * pick(8) + (pick(20) == 0 ? 4 : 0);
    char texts[4][8];
    for (unsigned k = 0; k < 4; k++) {
        sprintf(texts[k], "%%f%u", (unsigned)(pick(FLOATS) / 4 * 4 + k) % FLOATS);
    }
    bool shared = pick(2);
    put(b, "shl.b64 %%w, %%lane4, %u; add.s64 %%w, %%w, %%%s;\n", 2 + count / 2 + pick(2),
        shared ? "sb" : "b1");
    if (pick(3) == 0) {
        put(b, "add.s64 %%w, %%%s, %u;\n", shared ? "sb" : "b1", 64 * pick(4));
    }
    put(b, "ld.%s.v%u.f32 {%s, %s", shared ? "shared" : "global", count, texts[0],
        texts[1]);
    if (count == 4) {
        put(b, ", %s, %s", texts[2], texts[3]);
    }
    put(b, "}, [%%w+%u];\n", at);
}

/* Elements of 2 or of 8 bytes, as lanes of several kinds lie. */
static void put_other_access(struct buf *b) {
    static const char *const lanes[] = {"%%tid.x", "%%laneid", "0", "%%n", "%%r8"};
    static const char *const types[2][3] = {{"u16", "b16", "u16"}, {"f64", "u64", "f64"}};
    bool wide = pick(2), shared = pick(3) == 0, store = pick(3) == 0;
    unsigned how = pick(8), bytes = wide ? 8 : 2;
    put(b, "mov.u32 %%t, ");
    put(b, ONE_OF(lanes));
    put(b, "; and.b32 %%t, %%t, 127;\n");
    put(b, how == 0   ? "shr.u32 %%t, %%t, 4;\n"
           : how == 1 ? "xor.b32 %%t, %%t, 5;\n"
           : how == 2 ? "shl.b32 %%t, %%t, 1;\n"
                      : "");
    put(b, "mul.wide.u32 %%w, %%t, %u; add.s64 %%w, %%w, %%%s;\n", bytes,
        shared  ? "sb"
        : store ? ONE_OF(((const char *const[]){"b1", "b2"}))
                : ONE_OF(((const char *const[]){"b0", "b1", "b2", "b3"})));
    unsigned at = bytes * ONE_OF(((const unsigned[]){0, 0, 1, 2, 3, 16, 64}));
    const char *type = types[wide][pick(3)];
    char kind = !wide ? 'h' : type[0] == 'f' ? 'e' : 'd';
    bool two = !store && pick(4) == 0;
    if (store) {
        put(b, "st.%s.%s [%%w+%u], %s;\n", shared ? "shared" : "global", type, at,
            result(kind));
    } else if (two) {
        put(b, "ld.%s.v2.%s {%%%c0, %%%c1}, [%%w+%u];\n", shared ? "shared" : "global",
            type, kind, kind, at / (2 * bytes) * (2 * bytes));
    } else {
        put(b, "ld.%s.%s %%%c1, [%%w+%u];\n", shared ? "shared" : "global", type, kind,
            at);
    }
    if (!store) { /* used where it is still in vectors */
        put(b, wide ? "fma.rn.f64 %%e2, %%e1, %%e3, %%e2; xor.b64 %%d2, %%d1, %%d2;\n"
                    : "cvt.f32.f16 %%f1, %%h1; add.f16 %%h2, %%h1, %%h3;\n");
    }
}

/* A base that is loaded, and used before and after. */
static void put_pointer(struct buf *b) {
    put(b, "add.s64 %%w, %%b1, %u; st.shared.u64 [%%sb+3072], %%w;\n", 512 * pick(4));
    put(b, "mov.u64 %%w, %%b1; ld.global.f32 %%f0, [%%w];\n");
    put(b, "ld.shared.u64 %%w, [%%sb+3072]; ld.global.f32 %%f1, [%%w+4];\n");
}

static void put_access(struct buf *b) {
    static const unsigned offsets[] = {0, 0, 0, 4, 8, 64, 128, 512, 1024, 2, 4000};
    unsigned at = pick(8) ? offsets[pick(9)] : ONE_OF(offsets);
    bool shared = pick(2), store = pick(3) == 0;
    if (pick(10) ==
        0) { /* halves of wider registers, which the handler finds in a table */
        put(b, "st.global.v2.u32 [%%b1+%u], {%s, %s};\n", 8 * pick(64), result('d'),
            result('d'));
        return;
    }
    char kind = pick(3) ? 'f' : 'r';
    unsigned base = shared ? pick(2) : store ? 1 + pick(2) + (pick(30) == 0) : pick(4);
    const char *space = shared ? "shared" : "global";
    const char *type = kind == 'f' ? "f32" : "u32";
    char name = shared ? (pick(2) ? 's' : 'x') : 'a';
    if (!shared && pick(4) == 0) { /* from the same place on in all lanes */
        put(b, "add.s64 %%a%u, %%a%u, %s;\n", base, base, ONE_OF(shared_longs));
    }
    if (store) {
        put(b, "st.%s.%s [%%%c%u+%u], %s;\n", space, type, name, base, at,
            result(kind));
    } else {
        put(b, "ld.%s.%s %s, [%%%c%u+%u];\n", space, type, result(kind),
            name, base, at);
    }
}

static void put_body(struct buf *b) {
    unsigned count = 4 + pick(40);
    put_addresses(b);
    for (unsigned k = 0; k < count; k++) {
        switch (pick(8)) {
        case 0:
            put_access(b);
            break;
        case 1:
            if (pick(2)) {
                put_access(b);
            } else if (pick(8)) {
                put_other_access(b);
            } else {
                put_pointer(b);
            }
            break;
        case 2:
            if (pick(2)) {
                put_lop3(b);
            } else if (pick(2)) {
                put_pair(b);
            } else {
                put_vector_load(b);
            }
            break;
        default:
            put_arithmetic(b);
        }
        if (pick(15) == 0) { /* some lanes, or all, go another way */
            put(b, "@%s bra S%u;\n", operand('p'), k);
            for (unsigned more = pick(12); more > 0; more--) {
                put_arithmetic(b);
            }
            put_access(b);
            put_arithmetic(b);
            put(b, "S%u:\n", k);
        }
        if (pick(40) == 0) {
            put(b, "bar.sync 0;\n");
        }
        if (pick(30) == 0) {
            put(b, "shfl.sync.bfly.b32 %%r1, %%r2, %u, 31, -1;\n", 1u << pick(5));
        }
    }
}

/* Four buffers, of which the first is not written and the last not initialised. */
static void put_kernel(struct buf *b) {
    put(b,
        ".visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 "
        "p3, .param .u32 n)\n{\n.reg .f32 %%f<10>; .reg .b32 %%r<10>; .reg .b64 "
        "%%d<6>; .reg .pred %%p<4>, %%q;\n.reg .b16 %%h<6>; .reg .f64 %%e<6>; .reg .b32 "
        "%%t, %%i, %%n, %%n2; .reg .b64 "
        "%%lane4, %%w, "
        "%%sb, %%a<4>, %%b<4>, %%s<2>, %%u<3>; .reg .b32 %%x<2>, %%v<2>;\n.shared .align 4 .b8 s[4096];\n");
    for (unsigned k = 0; k < 4; k++) {
        put(b, "ld.param.u64 %%b%u, [p%u]; cvta.to.global.u64 %%b%u, %%b%u;\n", k, k, k,
            k);
    }
    put(b, "mov.u64 %%sb, s; ld.param.u32 %%n, [n]; mov.u32 %%i, 0; mov.u32 %%n2, "
           "%%laneid; shr.u32 %%n2, %%n2, 2; "
           "cvt.u64.u32 %%lane4, %%n2; mov.u32 "
           "%%t, %%tid.x;\n");
    for (unsigned k = 0; k < INTS; k++) {
        put(b, "mad.lo.u32 %%r%u, %%t, %u, %u;\n", k, pick(100), pick(1000));
        put(b, "cvt.rn.f32.s32 %%f%u, %%r%u;\n", k % FLOATS, k);
        put(b, "cvt.s64.s32 %%d%u, %%r%u;\n", k % LONGS, k);
        put(b, "cvt.u16.u32 %%h%u, %%r%u;\n", k % HALVES, k);
        put(b, "cvt.rn.f64.s32 %%e%u, %%r%u;\n", k % DOUBLES, k);
    }
    for (unsigned k = 0; k < PREDICATES; k++) {
        put(b, "setp.lt.u32 %%p%u, %%t, %u;\n", k, pick(96));
    }
    put(b, "ld.param.u32 %%v0, [n]; mul.lo.u32 %%v1, %%v0, 12; mul.wide.u32 %%u0, %%v0, "
           "4; shl.b64 %%u1, %%u0, 1;\n@%%p0 bra U; add.s64 %%u2, %%u0, 4; U:\n");
    put(b, "mul.wide.u32 %%w, %%t, 4; add.s64 %%s0, %%sb, %%w;\n"
           "st.shared.u32 [%%s0], %%r0; st.shared.u32 [%%s0+256], %%r1;\n"
           "st.shared.u32 [%%s0+512], %%r2; bar.sync 0;\n");
    put(b, "L:\n");
    put_body(b);
    put(b, "add.u32 %%i, %%i, 1; setp.lt.u32 %%q, %%i, %%n; @%%q bra L;\n");
    put(b, "mov.u32 %%i, %%ctaid.x; mov.u32 %%t, %%tid.x; mad.lo.u32 %%t, %%i, 64, %%t; "
           "mul.wide.u32 %%w, %%t, 4;\n"
           "add.s64 %%a2, %%b2, %%w;\n");
    for (unsigned k = 0; k < FLOATS; k++) {
        put(b,
            "xor.b32 %%r0, %%r%u, %%r0; mov.b32 %%t, %%f%u; xor.b32 %%r0, %%r0, %%t;\n",
            k, k);
        put(b, "cvt.u32.u64 %%t, %%d%u; mad.lo.u32 %%r0, %%r0, 31, %%t;\n", k % LONGS);
        put(b, "cvt.u32.u16 %%t, %%h%u; mad.lo.u32 %%r0, %%r0, 31, %%t;\n", k % HALVES);
        put(b,
            "mov.b64 %%w, %%e%u; mul.lo.u64 %%w, %%w, 65537; shr.u64 %%w, %%w, 24; "
            "cvt.u32.u64 %%t, %%w; mad.lo.u32 %%r0, %%r0, 31, %%t;\n",
            k % DOUBLES);
    }
    put(b, "st.global.u32 [%%a2], %%r0; ret;\n}\n");
}

/* ---- both ways ---- */

struct outcome {
    enum machine_end end;
    uint64_t spent, native;
    char *findings, *counters;
    uint8_t memory[3][WORDS * 4];
};

static struct outcome run(const char *text, uint32_t after, unsigned checks) {
    struct machine_config config = {.checks = checks,
                                    .threads = 1,
                                    .emit_after = after,
                                    .instructions = 10000000,
                                    .memory = 1 << 20};
    struct machine_room *r = room_new(text, &config);
    struct outcome o = {.native = 0};
    static const unsigned flags[] = {
        0, MACHINE_OUTPUT, MACHINE_UNINITIALIZED | MACHINE_OUTPUT, MACHINE_READ_ONLY};
    for (unsigned k = 0; k < 4; k++) {
        char name[8];
        sprintf(name, "b%u", k);
        uint32_t *host = room_buffer(r, name, WORDS * 4, flags[k]);
        for (uint32_t w = 0; w < WORDS && k != 2; w++) {
            host[w] = k == 1 ? w * 2654435761u : 0x3f000000 + w * 4099;
        }
    }
    room_u32(r, 5);
    o.end = room_launch(r, 3, 64);
    for (unsigned k = 0; k < 3; k++) {
        memcpy(o.memory[k], r->host[k], sizeof o.memory[k]);
    }
    json_t *counters = machine_counters(r->machine);
    o.findings = room_findings(r);
    o.counters = json_dumps(counters, JSON_SORT_KEYS);
    o.spent = machine_spent(r->machine);
    o.native = machine_native_runs(r->machine);
    json_decref(counters);
    room_free(r);
    return o;
}

static void outcome_finish(struct outcome *o) {
    free(o->findings);
    free(o->counters);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Few of the race check's short way without code. */
static const char *extension_of(uint64_t k) {
    return k % 16 == 5 ? "avx2" : k % 16 == 13 ? "baseline" : NULL;
}

Test(ptx_emit, random_kernels_are_the_same_as_code, .timeout = 0) {
    uint64_t programs = setting("EMIT_PROGRAMS", PROGRAMS),
             first = setting("EMIT_SEED", 1);
    uint64_t native = 0, entries = 0;
    if (strcmp(bind_extension(), "avx512") != 0) {
        cr_skip_test("no AVX-512 here");
    }
    for (uint64_t k = first; k < first + programs; k++) {
        autobuf text = BUF_INIT(1 << 20);
        state = k * UINT64_C(0x9e3779b97f4a7c15) + 1;
        pick(2);
        put_kernel(&text);
        unsigned checks = k % 8    ? MACHINE_CHECK_DEFAULT
                          : k % 16 ? MACHINE_CHECK_MEMORY
                                   : 0;
        checks |= k % 2 ? MACHINE_CHECK_RACE : 0;
        char *z = xstrndup(text.data, text.len);
        struct outcome a = run(z, EMIT_NEVER, checks);
        int forced = bind_force_extension(extension_of(k));
        cr_assert(forced == 0 || forced == -ENOTSUP, "a sanitized build has one only");
        struct outcome b = run(z, 1, checks);
        (void)bind_force_extension(NULL);
        bool same = a.end == b.end && a.spent == b.spent &&
                    strcmp(a.findings, b.findings) == 0 &&
                    strcmp(a.counters, b.counters) == 0 &&
                    memcmp(a.memory, b.memory, sizeof a.memory) == 0;
        cr_expect(
            same,
            "kernel %llu: ends %d %d, spent %llu %llu, memory %s\n%s\n%s\n%s\n%s\n%s",
            (unsigned long long)k, (int)a.end, (int)b.end, (unsigned long long)a.spent,
            (unsigned long long)b.spent,
            memcmp(a.memory, b.memory, sizeof a.memory) ? "differs" : "is the same",
            a.findings, b.findings, a.counters, b.counters, getenv("EMIT_TEXT") ? z : "");
        native += b.native;
        entries += a.native;
        outcome_finish(&a);
        outcome_finish(&b);
        free(z);
        if (!same) {
            break;
        }
    }
    cr_expect_eq(entries, 0);
    cr_expect_gt(native, 10 * programs, "%llu blocks ran as code",
                 (unsigned long long)native);
}

/* ---- rows that lie apart ---- */

/* A warp has 16 columns of two rows, 32 KiB apart. It fills n tiles of a row, and then
 * adds 1 to n + 1 tiles, of which nobody has filled the last. */
static const char rows_kernel[] =
    ".visible .entry k(.param .u64 m, .param .u32 n)\n"
    "{ .reg .b32 %r<6>; .reg .b64 %a<4>; .reg .f32 %f<2>; .reg .pred %p<3>;\n"
    "ld.param.u64 %a0, [m]; cvta.to.global.u64 %a0, %a0; ld.param.u32 %r4, [n];\n"
    "mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 4; and.b32 %r2, %r0, 15;\n"
    "mov.u32 %r3, %ctaid.x; mad.lo.u32 %r1, %r3, 4, %r1;\n"
    "mul.wide.u32 %a1, %r1, 32768; add.s64 %a0, %a0, %a1;\n"
    "mul.wide.u32 %a1, %r2, 4; add.s64 %a0, %a0, %a1;\n"
    "mov.u64 %a2, %a0; mov.u32 %r5, 0; cvt.rn.f32.u32 %f0, %r0;\n"
    "FILL: st.global.f32 [%a2], %f0; add.s64 %a2, %a2, 64; add.u32 %r5, %r5, 1;\n"
    "setp.lt.u32 %p0, %r5, %r4; @%p0 bra FILL;\n"
    "ADD: ld.global.f32 %f1, [%a0]; add.f32 %f1, %f1, 0f3f800000;\n"
    "st.global.f32 [%a0], %f1; add.s64 %a0, %a0, 64; setp.le.u64 %p1, %a0, %a2;\n"
    "@%p1 bra ADD; ret; }\n";

enum { ROW_WORDS = 8192, ROW_COUNT = 256, ROW_TILES = 9 };

static char *run_rows(uint32_t after, float *memory) {
    struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT,
                                    .threads = 1,
                                    .emit_after = after,
                                    .memory = 1 << 24};
    struct machine_room *r = room_new(rows_kernel, &config);
    float *m = room_buffer(r, "m", ROW_WORDS * ROW_COUNT * sizeof *m,
                           MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    room_u32(r, ROW_TILES);
    cr_expect_eq(room_launch(r, 3, 64), MACHINE_DONE);
    memcpy(memory, m, ROW_WORDS * ROW_COUNT * sizeof *m);
    json_t *counters = machine_counters(r->machine);
    autofree char *counted = json_dumps(counters, JSON_SORT_KEYS),
                  *found = room_findings(r);
    char *both = xasprintf("%s\n%s", found, counted);
    json_decref(counters);
    cr_expect_eq(room_found(r, "uninitialized", NULL), 3 * 64);
    cr_expect_eq(machine_native_runs(r->machine) > 0, after != EMIT_NEVER);
    room_free(r);
    return both;
}

Test(ptx_emit, rows_that_lie_apart) {
    if (strcmp(bind_extension(), "avx512") != 0) {
        cr_skip_test("no AVX-512 here");
    }
    size_t bytes = ROW_WORDS * ROW_COUNT * sizeof(float);
    autofree float *plain = xmalloc(bytes), *code = xmalloc(bytes);
    autofree char *a = run_rows(EMIT_NEVER, plain), *b = run_rows(1, code);
    cr_expect_str_eq(a, b);
    cr_expect_eq(memcmp(plain, code, bytes), 0);
    for (unsigned row = 0; row < 12; row++) { /* thread t writes t + 1 */
        cr_expect_eq(code[row * ROW_WORDS], (float)(row % 4 * 16 + 1));
        cr_expect_eq(code[row * ROW_WORDS + 16 * ROW_TILES - 1],
                     (float)(row % 4 * 16 + 16));
    }
}
