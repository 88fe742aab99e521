/* Conversions: vectors of tests/kernels/make_alu_vectors.py, and every number of f16 and
 * bf16, from its definition (IEEE 754: value = significand times a power of two). */
#include "alu_room.h"
#include "alu_vectors.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Test(ptx_alu_convert, vectors) {
    cr_assert(alu_vectors_check("alu_convert.bin") > 1000);
}

static const struct format {
    const char *name;
    unsigned mantissa, bias, infinity;
} formats[] = {{"f16", 10, 15, 0x7c00}, {"bf16", 7, 127, 0x7f80}};

/* Of a magnitude's code; of infinity's the number that would follow the largest. */
static float value_of(const struct format *f, unsigned code) {
    unsigned e = code >> f->mantissa, m = code & ((1u << f->mantissa) - 1);
    int scale = (int)(e ? e : 1) - (int)f->bias - (int)f->mantissa;
    return ldexpf((float)(m + (e ? 1u << f->mantissa : 0)), scale);
}
static uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static unsigned run_one_pool(struct alu_room *room, const uint32_t *in,
                             const uint32_t *expected, unsigned count, const char *what) {
    unsigned wrong = 0;
    for (unsigned at = 0; at < count; at += ALU_LANES) {
        for (unsigned l = 0; l < ALU_LANES; l++) {
            room->in[0][l] = in[at + l < count ? at + l : at];
        }
        alu_room_run(room, UINT32_MAX);
        for (unsigned l = 0; l < ALU_LANES && at + l < count; l++) {
            if (room->out[l] != expected[at + l] && wrong++ < 3) {
                cr_expect(false, "%s: %x gives %llx, not %x", what, in[at + l],
                          (unsigned long long)room->out[l], expected[at + l]);
            }
        }
    }
    return wrong;
}

#define MAX_POOL (0x8000 * 10)
static uint32_t pool_in[MAX_POOL], pool_expected[MAX_POOL];

/* Both signs of x, which rounds to `up` when magnitudes grow and to `down` otherwise. */
static unsigned add_points(unsigned n, float x, const char *mode, unsigned down,
                           unsigned up, unsigned nearest, bool exact) {
    for (unsigned negative = 0; negative < 2; negative++) {
        bool grows = !exact && strcmp(mode, negative ? "rm" : "rp") == 0;
        unsigned code = strcmp(mode, "rn") == 0 ? nearest : grows ? up : down;
        pool_in[n] = bits_of(x) | negative << 31;
        pool_expected[n++] = code | negative << 15;
    }
    return n;
}

static unsigned make_pool(const struct format *f, const char *mode) {
    unsigned n = 0;
    for (unsigned code = 0; code < f->infinity; code++) {
        float v = value_of(f, code), w = value_of(f, code + 1);
        /* bf16 reaches the end of f32: nothing follows the largest there */
        float middle = v + (isinf(w) ? v - value_of(f, code - 1) : w - v) / 2;
        n = add_points(n, v, mode, code, code, code, true);
        n = add_points(n, nextafterf(v, INFINITY), mode, code, code + 1, code, false);
        n = add_points(n, nextafterf(middle, 0), mode, code, code + 1, code, false);
        n = add_points(n, middle, mode, code, code + 1, code + (code & 1), false);
        n = add_points(n, nextafterf(middle, INFINITY), mode, code, code + 1, code + 1,
                       false);
    }
    return n;
}

Test(ptx_alu_convert, every_half_and_what_lies_between) {
    static const char *const extensions[] = {"avx512", "avx2", "baseline", "neon"};
    static const char *const modes[] = {"rn", "rz", "rm", "rp"};
    for (unsigned k = 0; k < 2 * 4; k++) {
        const struct format *f = &formats[k / 4];
        unsigned count = make_pool(f, modes[k % 4]);
        char spelling[64];
        snprintf(spelling, sizeof spelling, "cvt.%s.%s.f32", modes[k % 4], f->name);
        for (unsigned e = 0; e < 4; e++) {
            struct alu_room room;
            if (bind_force_extension(extensions[e]) == 0) {
                cr_assert(alu_room_bind(&room, spelling, "hw", false) && room.run);
                cr_expect(run_one_pool(&room, pool_in, pool_expected, count, spelling) ==
                          0);
            }
        }
    }
}

Test(ptx_alu_convert, every_half_widened) {
    static const char *const extensions[] = {"avx512", "avx2", "baseline", "neon"};
    for (unsigned k = 0; k < 2; k++) {
        const struct format *f = &formats[k];
        for (unsigned code = 0; code < 0x10000; code++) {
            unsigned magnitude = code & 0x7fff;
            uint32_t sign = (code & 0x8000) << 16;
            pool_in[code] = code;
            pool_expected[code] = magnitude > f->infinity ? 0x7fffffff
                                  : magnitude == f->infinity
                                      ? 0x7f800000 | sign
                                      : bits_of(value_of(f, magnitude)) | sign;
        }
        char spelling[64];
        snprintf(spelling, sizeof spelling, "cvt.f32.%s", f->name);
        for (unsigned e = 0; e < 4; e++) {
            struct alu_room room;
            if (bind_force_extension(extensions[e]) == 0) {
                cr_assert(alu_room_bind(&room, spelling, "wh", false) && room.run);
                cr_expect(
                    run_one_pool(&room, pool_in, pool_expected, 0x10000, spelling) == 0);
            }
        }
    }
}
