/* Matrix instructions against CuTe's layouts and numpy's ideal sums
 * (tests/kernels/make_matrix_vectors.py); an H100's sums: tests/kernels/tensor_cores/. */
#include "tests/unit/gpu/machine_room.h"
#include "tests/unit/gpu/test_data.h"

#include "base/buf.h"
#include "base/err.h"
#include "gpu/ptx/alu/bind.h"

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
    bool group;   /* of four warps */
    int selector; /* of a sparse product, else -1 */
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

/* Eight chunks: which two of four stay, or which one of two. */
static uint32_t metadata_take(uint32_t *state, const char *kind) {
    static const uint8_t pairs[6] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
    uint32_t x = word_next(state), out = 0;
    for (unsigned s = 0; s < 32; s += 4) {
        uint32_t n = x >> s & 15;
        out |= (strcmp(kind, "tf32") ? pairs[n % 6] : n % 2 ? 0xeu : 0x4u) << s;
    }
    return out;
}

static uint64_t checksum(const uint32_t *words, size_t count, bool wide) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < count * (wide ? 2 : 1); k++) {
        h = (h ^ words[k]) * UINT64_C(0x100000001b3);
    }
    return h;
}

/* ---- a case ---- */

static bool line_read(const char *line, struct matrix_case *c) {
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

static bool case_read(const char *line, struct matrix_case *c) {
    *c = (struct matrix_case){.group = line[0] == 'w', .selector = -1};
    bool known = line_read(line, c);
    char *mark = strchr(c->instruction, '#');
    if (mark) {
        *mark = 0;
        c->selector = mark[1] - '0';
    }
    return known;
}

/* One word of each thread more. */
static unsigned metadata_words(const struct matrix_case *c) {
    return c->selector >= 0;
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
        if (c->selector >= 0) {
            buf_addf(t, ", %%e, %d", c->selector);
        }
    } else {
        if (c->a) {
            add_vector(t, 'a', c->a);
        } else {
            buf_addf(t, "0x%" PRIx64, c->descriptors[0]);
        }
        buf_addf(t, ", 0x%" PRIx64, c->descriptors[1]);
        if (c->selector >= 0) {
            buf_addf(t, ", %%e, %d", c->selector);
        }
        buf_adds(t, ", %p");
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
    buf_addf(
        t,
        ".visible .entry k(.param .u64 in, .param .u64 out)\n"
        "{ .reg .b%u %%d<130>, %%a<9>, %%b<9>, %%c<9>; .reg .b32 %%e, %%l, %%w, %%n, "
        "%%base; .reg .b64 %%from, %%to, %%in, %%move; .reg .pred %%p;\n"
        "ld.param.u64 %%in, [in]; ld.param.u64 %%to, [out]; mov.u32 %%l, %%tid.x;\n"
        "mov.u64 %%move, %%to; mad.wide.u32 %%to, %%l, %u, %%move;\n"
        "mad.wide.u32 %%from, %%l, %u, %%in;\n",
        size * 8, c->d * size, (c->a + c->b + c->c + metadata_words(c)) * size);
    if (c->group) {
        buf_adds(t, image_text);
    }
    add_words(t, "ld.global", 'a', c->a, 0, size, false);
    add_words(t, "ld.global", 'b', c->b, c->a * size, size, false);
    add_words(t, "ld.global", c->group ? 'd' : 'c', c->c, (c->a + c->b) * size, size,
              false);
    if (c->selector >= 0) {
        buf_addf(t, "ld.global.b32 %%e, [%%from+%u];\n", (c->a + c->b + c->c) * size);
    }
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
        if (c->selector >= 0) {
            *to++ = metadata_take(&state, c->kinds[0]);
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
    const struct machine_config ideal = {
        .checks = MACHINE_CHECK_DEFAULT, .threads = 1, .ideal_sums = true};
    struct machine_room *r = room_new(text.data, &ideal);
    uint64_t in = (c->group ? SHARED_WORDS * 4u : 0) +
                  (uint64_t)threads * (c->a + c->b + c->c + metadata_words(c)) * size;
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
            cr_expect_eq(cases_run('m', extensions[k]), 117);
            usable++;
        }
    }
    bind_force_extension(NULL);
    cr_expect_geq(usable, 1);
}

Test(ptx_matrix, of_a_warpgroup) {
    cr_expect_eq(cases_run('w', "widest"), 109);
}
