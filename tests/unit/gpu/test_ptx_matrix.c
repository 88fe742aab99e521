/* Matrix instructions against CuTe's layouts and numpy's sums
 * (tests/kernels/make_matrix_vectors.py). */
#include "tests/unit/gpu/machine_room.h"
#include "tests/unit/gpu/test_data.h"

#include "base/buf.h"
#include "base/err.h"
#include "gpu/ptx/bind.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define SHARED_WORDS 12288u

struct matrix_case {
    char instruction[128], kinds[3][8], tail[32];
    unsigned d, a, b, c; /* registers */
    uint64_t descriptors[2];
    uint32_t seed;
    uint64_t expected;
    bool group; /* of four warps */
};

/* ---- the generator of make_matrix_vectors.py ---- */

static uint32_t word_next(uint32_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static uint32_t halves(uint32_t x, unsigned bits, uint32_t least) {
    uint32_t out = 0;
    for (unsigned s = 0; s < 32; s += 16) {
        uint32_t h = x >> s & 0xffff, low = (1u << bits) - 1;
        out |= ((h & 0x8000) | ((h >> bits & 7) + least) << bits | (h & low)) << s;
    }
    return out;
}

static uint32_t bytes(uint32_t x) {
    for (unsigned s = 0; s < 32; s += 8) {
        if ((x >> s & 0x7c) == 0x7c) {
            x &= ~(0x40u << s);
        }
    }
    return x;
}

/* Appends one element's word, or its two. */
static uint32_t *word_take(uint32_t *state, const char *kind, uint32_t *to) {
    uint32_t x = word_next(state);
    if (strcmp(kind, "f64") == 0) {
        to[0] = word_next(state);
        to[1] = (x & 0x80000000) | ((x >> 20 & 7) + 1020) << 20 | (x & 0xfffff);
        return to + 2;
    }
    if (strcmp(kind, "f16") == 0) {
        x = halves(x, 10, 12);
    } else if (strcmp(kind, "bf16") == 0) {
        x = halves(x, 7, 124);
    } else if (strcmp(kind, "tf32") == 0 || strcmp(kind, "f32") == 0) {
        x = (x & 0x80000000) | ((x >> 23 & 7) + 124) << 23 | (x & 0x7fffff);
    } else if (kind[0] == 'e') {
        x = bytes(x);
    }
    *to = x;
    return to + 1;
}

static uint64_t checksum(const uint32_t *words, size_t count, bool wide) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < count * (wide ? 2 : 1); k++) {
        h = (h ^ words[k]) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* ---- a case ---- */

static bool case_read(const char *line, struct matrix_case *c) {
    *c = (struct matrix_case){.group = line[0] == 'w'};
    if (c->group) {
        return sscanf(line,
                      "w %127[^|]|%u %u %u|%7s %7s %7[^|]|%31[^|]|%" SCNx64 " %" SCNx64
                      "|%" SCNu32 "|%" SCNx64,
                      c->instruction, &c->d, &c->a, &c->c, c->kinds[0], c->kinds[1],
                      c->kinds[2], c->tail, &c->descriptors[0], &c->descriptors[1],
                      &c->seed, &c->expected) == 12;
    }
    return sscanf(line, "m %127[^|]|%u %u %u %u|%7s %7s %7[^|]|%" SCNu32 "|%" SCNx64,
                  c->instruction, &c->d, &c->a, &c->b, &c->c, c->kinds[0], c->kinds[1],
                  c->kinds[2], &c->seed, &c->expected) == 10;
}

static void add_vector(struct buf *t, char name, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        buf_addf(t, "%s%%%c%u", k ? "," : "{", name, k);
    }
    buf_adds(t, "}");
}

static void add_words(struct buf *t, const char *move, char name, unsigned count,
                      unsigned first, unsigned size, bool store) {
    for (unsigned k = 0; k < count; k++) {
        unsigned at = first + k * size;
        if (store) {
            buf_addf(t, "%s.b%u [%%to+%u], %%%c%u;\n", move, size * 8, at, name, k);
        } else {
            buf_addf(t, "%s.b%u %%%c%u, [%%from+%u];\n", move, size * 8, name, k, at);
        }
    }
}

/* tail: "scale-d imm …" */
static void add_product(struct buf *t, const struct matrix_case *c) {
    buf_addf(t, "%s ", c->instruction);
    add_vector(t, 'd', c->d);
    buf_adds(t, ", ");
    if (!c->group) {
        add_vector(t, 'a', c->a);
        buf_adds(t, ", ");
        add_vector(t, 'b', c->b);
        buf_adds(t, ", ");
        add_vector(t, 'c', c->c);
    } else {
        if (c->a) {
            add_vector(t, 'a', c->a);
        } else {
            buf_addf(t, "0x%" PRIx64, c->descriptors[0]);
        }
        buf_addf(t, ", 0x%" PRIx64 ", %%p", c->descriptors[1]);
        for (const char *at = strchr(c->tail, ' '); at; at = strchr(at + 1, ' ')) {
            buf_addf(t, ",%.*s", (int)strcspn(at + 1, " ") + 1, at);
        }
    }
    buf_adds(t, ";\n");
}

static const char image_text[] =
    ".shared .align 1024 .b8 image[49152];\n"
    "mov.u32 %w, %tid.x; shl.b32 %w, %w, 2; mov.u32 %base, image; add.u32 %base, %base, "
    "%w;\n"
    "cvt.u64.u32 %move, %w; add.u64 %move, %move, %in; mov.u32 %n, 0;\n"
    "again: ld.global.b32 %w, [%move]; st.shared.b32 [%base], %w;\n"
    "add.u64 %move, %move, 512; add.u32 %base, %base, 512; add.u32 %n, %n, 1;\n"
    "setp.lt.u32 %p, %n, 96; @%p bra again;\n"
    "fence.proxy.async.shared::cta; bar.sync 0; add.u64 %from, %from, 49152;\n"
    "wgmma.fence.sync.aligned;\n";

static void case_text(const struct matrix_case *c, struct buf *t) {
    bool wide = strcmp(c->kinds[0], "f64") == 0;
    unsigned size = wide ? 8 : 4;
    buf_addf(t,
             ".visible .entry k(.param .u64 in, .param .u64 out)\n"
             "{ .reg .b%u %%d<130>, %%a<9>, %%b<9>, %%c<9>; .reg .b32 %%l, %%w, %%n, "
             "%%base; .reg .b64 %%from, %%to, %%in, %%move; .reg .pred %%p;\n"
             "ld.param.u64 %%in, [in]; ld.param.u64 %%to, [out]; mov.u32 %%l, %%tid.x;\n"
             "mov.u64 %%move, %%to; mad.wide.u32 %%to, %%l, %u, %%move;\n"
             "mad.wide.u32 %%from, %%l, %u, %%in;\n",
             size * 8, c->d * size, (c->a + c->b + c->c) * size);
    if (c->group) {
        buf_adds(t, image_text);
    }
    add_words(t, "ld.global", 'a', c->a, 0, size, false);
    add_words(t, "ld.global", 'b', c->b, c->a * size, size, false);
    add_words(t, "ld.global", c->group ? 'd' : 'c', c->c, (c->a + c->b) * size, size,
              false);
    if (c->group) {
        buf_addf(t, "setp.ne.u32 %%p, %c, 0;\n", c->tail[0]);
    }
    add_product(t, c);
    if (c->group) {
        buf_adds(t, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned "
                    "0;\n");
    }
    add_words(t, "st.global", 'd', c->d, 0, size, true);
    buf_adds(t, "ret; }\n");
}

static void case_fill(const struct matrix_case *c, unsigned threads, uint32_t *to) {
    uint32_t state = c->seed;
    for (unsigned k = 0; c->group && k < SHARED_WORDS; k++) {
        to = word_take(&state, c->kinds[1], to);
    }
    for (unsigned l = 0; l < threads; l++) {
        unsigned counts[3] = {c->a, c->b, c->c};
        for (unsigned part = 0; part < 3; part++) {
            for (unsigned k = 0; k < counts[part]; k++) {
                to = word_take(&state, c->kinds[part], to);
            }
        }
    }
}

/* Registers are written over: d is where c was read from in wgmma alone. */
static void case_run(const struct matrix_case *c, const char *extension) {
    unsigned threads = c->group ? 128 : 32;
    bool wide = strcmp(c->kinds[0], "f64") == 0;
    unsigned size = wide ? 8 : 4;
    autobuf text = BUF_INIT(1 << 20);
    case_text(c, &text);
    buf_addc(&text, '\0');
    struct machine_room *r = room_new(text.data, NULL);
    uint64_t in = (c->group ? SHARED_WORDS * 4u : 0) +
                  (uint64_t)threads * (c->a + c->b + c->c) * size;
    uint32_t *from = room_buffer(r, "in", in, 0);
    uint32_t *to = room_buffer(r, "out", (uint64_t)threads * c->d * size,
                               MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    case_fill(c, threads, from);
    enum machine_end end = room_launch(r, 1, threads);
    char *findings = room_findings(r);
    cr_expect_eq(end, MACHINE_DONE, "%s: %s %s", c->instruction, r->refused, findings);
    cr_expect_str_eq(findings, "[]", "%s: %s", c->instruction, findings);
    uint64_t got = checksum(to, (size_t)threads * c->d, wide);
    cr_expect_eq(got, c->expected, "%s %s (%s) gives %016" PRIx64 " not %016" PRIx64,
                 extension, c->instruction, c->tail, got, c->expected);
    free(findings);
    room_free(r);
}

static unsigned cases_run(char which, const char *extension) {
    size_t len;
    autofree char *text = test_data_read("matrix_cases.txt", &len);
    unsigned count = 0;
    for (char *save, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        struct matrix_case c;
        if (line[0] == which) {
            cr_assert(case_read(line, &c), "%s", line);
            case_run(&c, extension);
            count++;
        }
    }
    return count;
}

Test(ptx_matrix, of_a_warp) {
    static const char *const extensions[] = {"baseline", "avx2", "avx512", "neon"};
    unsigned usable = 0;
    for (unsigned k = 0; k < 4; k++) {
        if (bind_force_extension(extensions[k]) == 0) {
            cr_expect_eq(cases_run('m', extensions[k]), 86);
            usable++;
        }
    }
    bind_force_extension(NULL);
    cr_expect_geq(usable, 1);
}

Test(ptx_matrix, of_a_warpgroup) {
    cr_expect_eq(cases_run('w', "widest"), 95);
}

/* ---- what a table of products does not show ---- */

#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out)\n"                                               \
    "{ .reg .b32 %r<20>, %t, %d<8>; .reg .b64 %rd<8>, %at; .reg .pred %p<4>;\n"          \
    "ld.param.u64 %rd0, [out]; mov.u32 %t, %tid.x; mad.wide.u32 %at, %t, 4, %rd0;\n"
#define END "ret; }\n"

static struct machine_room *run(const char *body, unsigned threads) {
    struct machine_room *r = room_new(body, NULL);
    room_buffer(r, "out", 4 * (uint64_t)threads, 0);
    room_launch(r, 1, threads);
    return r;
}

static json_int_t counted(struct machine_room *r, const char *key) {
    json_t *counters = machine_counters(r->machine);
    json_int_t n = json_get_integer(counters, key, -1);
    json_decref(counters);
    return n;
}

/* Rows of 16 bytes, 128 bytes apart, fall into the same four banks; one piece further
 * each, into all of them. */
Test(ptx_matrix, rows_of_ldmatrix_are_phases_of_eight) {
    static const struct {
        const char *stride;
        json_int_t conflicts;
    } cases[] = {{"128", 28}, {"144", 0}, {"16", 0}, {"64", 12}};
    for (unsigned k = 0; k < 4; k++) {
        autobuf text = BUF_INIT(4096);
        buf_adds(&text, HEAD ".shared .align 16 .b8 s[4608]; mov.u32 %r1, s;\n");
        buf_addf(&text, "mad.lo.u32 %%r2, %%t, %s, %%r1;\n", cases[k].stride);
        buf_adds(&text, "mov.u32 %r3, 0; mad.lo.u32 %r4, %t, 144, %r1;\n"
                        "fill: st.shared.v4.b32 [%r4], {%t,%t,%t,%t};\n"
                        "add.u32 %r4, %r4, 16; add.u32 %r3, %r3, 1;\n"
                        "setp.lt.u32 %p1, %r3, 9; @%p1 bra fill; bar.warp.sync -1;\n"
                        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%d0,%d1,%d2,%d3}, "
                        "[%r2];\n"
                        "st.global.b32 [%at], %d0;\n" END);
        buf_addc(&text, '\0');
        struct machine_room *r = run(text.data, 32);
        json_int_t fill = counted(r, "shared_bank_conflicts");
        char *all = room_findings(r);
        cr_expect_eq(r->end, MACHINE_DONE, "%s", all);
        cr_expect_eq(fill, cases[k].conflicts, "%s bytes: %ld", cases[k].stride,
                     (long)fill);
        free(all);
        room_free(r);
    }
}

/* Half of the warp comes by another path: the instruction is done for all at once. */
Test(ptx_matrix, lanes_of_two_paths_meet) {
    struct machine_room *r =
        run(HEAD "mov.b32 %r1, 0x3c003c00; mov.b32 %d0, 0; mov.b32 %d1, 0;\n"
                 "setp.lt.u32 %p1, %t, 16; @%p1 bra low;\n"
                 "mov.b32 %r1, 0x40004000; bra.uni both;\n"
                 "low: mov.b32 %r1, 0x3c003c00;\n"
                 "both: mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%d0,%d1}, "
                 "{%r1,%r1}, {%r1}, {%d0,%d1};\n"
                 "st.global.b32 [%at], %d0;\n" END,
            32);
    const uint32_t *out = r->host[0];
    /* a: rows 0-3 and 8-11 ones, others twos; b: columns 0-3 ones, others twos. */
    static const uint32_t expected[2][2] = {{0x48004800, 0x4c004c00},
                                            {0x4c004c00, 0x50005000}};
    char *all = room_findings(r);
    cr_expect_str_eq(all, "[]", "%s", all);
    for (unsigned l = 0; l < 32; l++) {
        cr_expect_eq(out[l], expected[l / 16][l % 4 / 2], "lane %u: %08x", l, out[l]);
    }
    free(all);
    room_free(r);
}

/* Two instructions, each with half of the warp. */
Test(ptx_matrix, lanes_that_never_meet_are_told) {
    struct machine_room *r =
        run(HEAD "mov.b32 %r1, 0; mov.b32 %d0, 0; setp.lt.u32 %p1, %t, 16;\n"
                 "@%p1 bra low;\n"
                 "movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r1; bra.uni both;\n"
                 "low: movmatrix.sync.aligned.m8n8.trans.b16 %d0, %r1;\n"
                 "both: st.global.b32 [%at], %d0;\n" END,
            32);
    cr_expect_eq(r->end, MACHINE_DEADLOCK);
    cr_expect_eq(room_found(r, "invalid_mask", NULL), 2);
    room_free(r);
}

#define GROUP_HEAD                                                                       \
    HEAD ".shared .align 1024 .b8 s[4096]; mov.u32 %r1, s; mad.lo.u32 %r1, %t, 32, "     \
         "%r1;\nmov.b32 %r2, 0; st.shared.v4.b32 [%r1], {%r2,%r2,%r2,%r2};\n"            \
         "st.shared.v4.b32 [%r1+16], {%r2,%r2,%r2,%r2};\n"                               \
         "mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0;\n"             \
         "mov.b32 %d4, 0; mov.b32 %d5, 0; mov.b32 %d6, 0; mov.b32 %d7, 0;\n"             \
         "fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p0, 0, 0;\n"
#define FIRST                                                                            \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0,%d1,%d2,%d3}, "              \
    "0x0000000800400000, 0x0000000800400080, %p0, 1, 1, 0, 0;\n"
#define SECOND                                                                           \
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d4,%d5,%d6,%d7}, "              \
    "0x0000000800400000, 0x0000000800400080, %p0, 1, 1, 0, 0;\n"
#define FENCE "wgmma.fence.sync.aligned;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"
#define WAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define USE(d) "st.global.b32 [%at], " d ";\n"

/* Which reads of accumulators are early, along moves and round loops. */
Test(ptx_matrix, accumulators_in_flight) {
    static const struct {
        const char *body;
        long early;
    } cases[] = {
        {FENCE FIRST COMMIT WAIT(0) USE("%d0"), 0},
        {FENCE FIRST COMMIT USE("%d0") WAIT(0), 128},
        {FENCE FIRST COMMIT "mov.b32 %r5, %d1;\n" WAIT(0) USE("%r5"), 0},
        {FENCE FIRST COMMIT "mov.b32 %r5, %d1;\n" USE("%r5") WAIT(0), 128},
        {FENCE FIRST COMMIT SECOND COMMIT WAIT(1) USE("%d0") WAIT(0), 0},
        {FENCE FIRST COMMIT USE("%d4") WAIT(0), 0},
        {FENCE FIRST FIRST COMMIT WAIT(0) USE("%d0"), 0},
        {FENCE "mov.u32 %r6, 0;\nround:\n" FIRST COMMIT WAIT(
             0) "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra "
                "round;\n" USE("%d0"),
         0},
        {FENCE "mov.u32 %r6, 0;\nround:\n" USE("%d0") FIRST COMMIT
         "add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 3; @%p1 bra round;\n" WAIT(0),
         256},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        autobuf text = BUF_INIT(1 << 16);
        buf_adds(&text, GROUP_HEAD);
        buf_adds(&text, cases[k].body);
        buf_adds(&text, END);
        buf_addc(&text, '\0');
        struct machine_room *r = run(text.data, 128);
        json_t *first = NULL;
        long found = room_found(r, "uninitialized", &first);
        char *all = room_findings(r);
        cr_expect_eq(r->end, MACHINE_DONE, "case %zu: %s", k, all);
        cr_expect_eq(found > 0, cases[k].early > 0, "case %zu: %ld, %s", k, found, all);
        cr_expect_eq(room_found(r, "race", NULL), 0, "case %zu: %s", k, all);
        json_decref(first);
        free(all);
        room_free(r);
    }
}

Test(ptx_matrix, what_a_warpgroup_forgets_is_told) {
    static const struct {
        const char *body, *code, *words;
    } cases[] = {
        {FIRST COMMIT WAIT(0), "uninitialized", "No wgmma.fence"},
        {FENCE FIRST WAIT(0), "uninitialized", "No wgmma.commit_group"},
        {FENCE FIRST COMMIT "bar.sync 0; mov.u32 %r2, 7; st.shared.b32 [%r1], %r2;\n"
                            "bar.sync 0;\n" WAIT(0),
         "race", "before wgmma.wait_group"},
        {FENCE FIRST COMMIT "bar.sync 0; mov.u32 %r2, 7; st.shared.b32 [%r1], %r2;\n",
         "race", "before wgmma.wait_group"},
        {FENCE "setp.lt.u32 %p1, %t, 64; @%p1 bra first;\n" SECOND COMMIT WAIT(
             0) "bra.uni both;\nfirst:\n" FIRST COMMIT WAIT(0) "both:\n",
         "invalid_mask", "different wgmma instructions"},
        {"setp.ge.u32 %p1, %t, 96; @%p1 bra out;\n" FENCE FIRST COMMIT WAIT(0) "out:\n",
         "deadlock", "missing: warp 3 (exited)"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        autobuf text = BUF_INIT(1 << 16);
        buf_adds(&text, GROUP_HEAD);
        buf_adds(&text, cases[k].body);
        buf_adds(&text, END);
        buf_addc(&text, '\0');
        struct machine_room *r = run(text.data, 128);
        json_t *first = NULL;
        room_found(r, cases[k].code, &first);
        char *all = room_findings(r);
        cr_expect(strstr(json_get_string(first, "message", ""), cases[k].words) != NULL,
                  "case %zu: %s", k, all);
        json_decref(first);
        free(all);
        room_free(r);
    }
}

/* Not of sm_90a, or not there: named, nothing runs. */
Test(ptx_matrix, what_does_not_exist_is_refused_by_name) {
    static const char *const lines[] = {
        "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3}, "
        "{%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3}, {%d0,%d1,%d2,%d3};\n",
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 {%d0,%d1}, "
        "{%d0,%d1,%d2,%d3}, {%d0,%d1}, {%d0,%d1};\n",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%d0,%d1,%d2,%d3}, {%d0,%d1}, {%d0,%d1}, {%d0,%d1,%d2,%d3}, %d0, 0;\n",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%d0,%d1,%d2,%d3}, {%d0,%d1}, "
        "{%d0}, {%d0,%d1,%d2,%d3};\n",
        "wgmma.mma_async.sync.aligned.m64n8k32.f32.bf16.bf16 {%d0,%d1,%d2,%d3}, 0, 0, "
        "%p0, 1, 1, 0, 0;\n",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 {%d0,%d1,%d2,%d3,%d0,%d1,%d2,"
        "%d3,%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3,%d0,%d1,%d2,%d3}, 0, 0, %p0;\n",
    };
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        autobuf text = BUF_INIT(1 << 16);
        buf_addf(&text, ".version 9.0\n.target sm_90a\n.address_size 64\n%s%s%s", HEAD,
                 lines[k], END);
        struct ptx_module *module = NULL;
        struct machine *m = NULL;
        struct err err = {0};
        json_t *unsupported = NULL;
        cr_assert_eq(ptx_module_read(&module, text.data, text.len, &err), 0, "%s",
                     err.msg);
        struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
        cr_expect_eq(machine_new(&m, module, NULL, &config, &unsupported, &err), -ENOTSUP,
                     "%s", lines[k]);
        const char *named =
            json_get_string(json_array_get(unsupported, 0), "opcode", "nothing");
        cr_expect_eq(strncmp(named, lines[k], strlen(named)), 0, "%s", named);
        json_decref(unsupported);
        machine_free(m);
        ptx_module_free(module);
    }
}
