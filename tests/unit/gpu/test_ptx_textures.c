/* Textures and surfaces on the machine. What fetches give is in data/textures.json, made
 * by numpy from the programming guide's formulas (make_textures.py). */
#include "base/err.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define THREADS 32u
#define OUT_FLAGS (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)

/* %h the handle, %l the layer, %f0 … %f2 the coordinates, %at four words of out. */
#define HEAD                                                                             \
    ".visible .entry k(.param .u64 out, .param .u64 at, .param .u64 layer,\n"            \
    ".param .u64 memory, .param .u64 handle)\n"                                          \
    "{ .reg .b32 %r<20>, %i, %l; .reg .b64 %rd<20>, %at, %h; .reg .f32 %f<8>;\n"         \
    ".reg .b16 %s<4>; .reg .pred %p<4>;\n"                                               \
    "mov.u32 %i, %tid.x; mul.wide.u32 %rd0, %i, 16;\n"                                   \
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1; add.s64 %at, %rd1, "       \
    "%rd0;\n"                                                                            \
    "ld.param.u64 %rd2, [at]; cvta.to.global.u64 %rd2, %rd2; add.s64 %rd2, %rd2, "       \
    "%rd0;\n"                                                                            \
    "ld.global.v2.f32 {%f0,%f1}, [%rd2]; ld.global.f32 %f2, [%rd2+8];\n"                 \
    "mul.wide.u32 %rd3, %i, 4; ld.param.u64 %rd4, [layer];\n"                            \
    "add.s64 %rd4, %rd4, %rd3; ld.u32 %l, [%rd4];\n"                                     \
    "ld.param.u64 %h, [handle];\n"
#define TAIL "st.global.v4.b32 [%at], {%r0,%r1,%r2,%r3}; ret; }\n"

static const char *kernel_of(unsigned rank, bool layered, bool integers) {
    static const char *const bodies[2][2][3] = {
        {{HEAD "tex.1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0}];\n" TAIL,
          HEAD "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL,
          HEAD "tex.3d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1,%f2,%f2}];\n" TAIL},
         {HEAD "tex.1d.v4.s32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0}];\n" TAIL,
          HEAD "tex.2d.v4.s32.f32 {%r0,%r1,%r2,%r3}|%p1, [%h, {%f0,%f1}];\n"
               "@!%p1 trap;\n" TAIL,
          NULL}},
        {{HEAD "tex.a1d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%l,%f0}];\n" TAIL,
          HEAD "tex.a2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%l,%f0,%f1,%f1}];\n" TAIL,
          NULL},
         {NULL, NULL, NULL}}};
    return bodies[layered][integers][rank - 1];
}

/* ---- what fetches give ---- */

static const struct {
    const char *name;
    enum ptx_type type;
} types[] = {{"f32", PTX_F32}, {"f16", PTX_F16}, {"u8", PTX_U8},   {"s8", PTX_S8},
             {"u16", PTX_U16}, {"s16", PTX_S16}, {"u32", PTX_U32}, {"s32", PTX_S32}};

static enum ptx_type type_named(const char *name) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        if (strcmp(types[k].name, name) == 0) {
            return types[k].type;
        }
    }
    cr_assert_fail("type %s", name);
    return PTX_NONE;
}

static enum machine_address_mode mode_named(const char *name) {
    return !strcmp(name, "wrap")     ? MACHINE_WRAP
           : !strcmp(name, "mirror") ? MACHINE_MIRROR
           : !strcmp(name, "border") ? MACHINE_BORDER
                                     : MACHINE_CLAMP;
}

/* Of a value that a half holds. */
static uint16_t half_bits(double v) {
    int e;
    double m = frexp(fabs(v), &e);
    double bits = v == 0 ? 0 : e > -14 ? (e + 13) * 1024.0 + m * 2048 : fabs(v) * 0x1p24;
    return (uint16_t)((v < 0 ? 0x8000 : 0) | (uint16_t)bits);
}

static void store_texel(void *memory, size_t k, enum ptx_type type, double v) {
    float f = (float)v;
    int64_t whole = (int64_t)v;
    uint16_t half = type == PTX_F16 ? half_bits(v) : 0;
    size_t bytes = ptx_type_bytes(type);
    const void *from = type == PTX_F32   ? (const void *)&f
                       : type == PTX_F16 ? (const void *)&half
                                         : (const void *)&whole;
    memcpy((char *)memory + k * bytes, from, bytes);
}

static struct machine_image image_of_case(const json_t *c) {
    const json_t *extent = json_object_get(c, "extent");
    struct machine_image im = {.type = type_named(json_get_string(c, "type", "")),
                               .channels = (unsigned)json_get_integer(c, "channels", 0),
                               .rank = (unsigned)json_array_size(extent),
                               .layers = (uint32_t)json_get_integer(c, "layers", 0),
                               .filters = json_get_bool(c, "linear", false),
                               .normalized = json_get_bool(c, "normalized", false),
                               .reads_floats = json_get_bool(c, "reads_floats", false)};
    for (size_t d = 0; d < im.rank; d++) {
        im.extent[d] = (uint32_t)json_integer_value(json_array_get(extent, d));
        im.mode[d] =
            mode_named(json_string_value(json_array_get(json_object_get(c, "modes"), d)));
    }
    return im;
}

static double number_at(const json_t *list, size_t i) {
    return json_number_value(json_array_get(list, i));
}

/* The buffers of HEAD with a texture of the case. */
static uint32_t *place_case(struct machine_room *r, const json_t *c,
                            struct machine_image *im) {
    const json_t *t = json_object_get(c, "texels");
    uint32_t *out = room_buffer(r, "out", THREADS * 16, OUT_FLAGS);
    float *at = room_buffer(r, "at", THREADS * 16, MACHINE_READ_ONLY);
    int32_t *layer = room_buffer(r, "layer", THREADS * 4, MACHINE_READ_ONLY);
    void *memory = room_buffer(r, "memory", json_array_size(t) * ptx_type_bytes(im->type),
                               MACHINE_READ_ONLY);
    for (size_t k = 0; k < json_array_size(t); k++) {
        store_texel(memory, k, im->type, number_at(t, k));
    }
    for (size_t i = 0; i < THREADS; i++) {
        const json_t *one = json_array_get(json_object_get(c, "coordinates"), i);
        for (size_t d = 0; d < im->rank; d++) {
            at[4 * i + d] = (float)number_at(one, d);
        }
        layer[i] = (int32_t)number_at(json_object_get(c, "layer"), i);
    }
    im->address = r->address[3];
    uint64_t handle;
    struct err err = {0};
    cr_assert_eq(machine_image(r->machine, im, &handle, &err), 0, "%s", err.msg);
    room_u64(r, handle);
    return out;
}

static void compare_case(const json_t *c, size_t number, const uint32_t *out,
                         bool integers) {
    size_t channels = (size_t)json_get_integer(c, "channels", 0);
    for (size_t i = 0; i < THREADS; i++) {
        const json_t *expect = json_array_get(json_object_get(c, "expect"), i);
        for (size_t k = 0; k < channels; k++) {
            double want = number_at(expect, k);
            float f;
            memcpy(&f, &out[4 * i + k], sizeof f);
            double word =
                want < 0 ? (double)(int32_t)out[4 * i + k] : (double)out[4 * i + k];
            double got = integers ? word : (double)f;
            /* Sums in another order: one rounding of the largest term. */
            cr_expect(fabs(got - want) <= (integers ? 0 : 1e-6 * (1 + fabs(want))),
                      "case %zu thread %zu channel %zu: %.9g instead of %.9g", number, i,
                      k, got, want);
        }
    }
}

Test(ptx_textures, fetches_are_the_guides_formulas) {
    struct err err = {0};
    json_error_t error;
    autojson *cases = json_load_file(TEST_DATA "/textures.json", 0, &error);
    cr_assert(json_array_size(cases) > 20, "%s", error.text);
    size_t number;
    json_t *c;
    (void)err;
    json_array_foreach(cases, number, c) {
        struct machine_image im = image_of_case(c);
        bool integers = !im.reads_floats && im.type != PTX_F32 && im.type != PTX_F16;
        struct machine_room *r =
            room_new(kernel_of(im.rank, im.layers > 0, integers), NULL);
        uint32_t *out = place_case(r, c, &im);
        cr_expect_eq(room_launch(r, 1, THREADS), MACHINE_DONE);
        compare_case(c, number, out, integers);
        char *found = room_findings(r);
        cr_expect_str_eq(found, "[]");
        free(found);
        room_free(r);
    }
}

/* ---- the rest, by hand ---- */

/* A room of HEAD whose memory holds f32 0, 1, 2, …; coordinates are i + 0.5. */
static uint32_t *plain_room(struct machine_room **ret, const char *body,
                            struct machine_image *im, unsigned flags) {
    struct machine_room *r = *ret = room_new(body, NULL);
    uint32_t *out = room_buffer(r, "out", THREADS * 16, OUT_FLAGS);
    float *at = room_buffer(r, "at", THREADS * 16, MACHINE_READ_ONLY);
    memset(room_buffer(r, "layer", THREADS * 4, MACHINE_READ_ONLY), 0, THREADS * 4);
    float *memory = room_buffer(r, "memory", 24 * 4, flags);
    for (unsigned k = 0; k < 24; k++) {
        memory[k] = (float)k;
    }
    for (unsigned i = 0; i < THREADS * 4; i++) {
        at[i] = (float)(i / 4) + 0.5f;
    }
    im->address = r->address[3];
    uint64_t handle;
    struct err err = {0};
    cr_assert_eq(machine_image(r->machine, im, &handle, &err), 0, "%s", err.msg);
    room_u64(r, handle);
    return out;
}

static float as_float(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* 6 x 4 texels of one channel; the footprint of (1, 1) + i. */
Test(ptx_textures, gather_takes_four_texels_of_a_channel) {
    struct machine_image im = {.type = PTX_F32,
                               .channels = 1,
                               .rank = 2,
                               .extent = {6, 4},
                               .mode = {MACHINE_CLAMP, MACHINE_CLAMP}};
    struct machine_room *r;
    uint32_t *out =
        plain_room(&r,
                   HEAD "add.f32 %f0, %f0, 0.5; mov.f32 %f1, 2.0;\n"
                        "tld4.r.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL,
                   &im, MACHINE_READ_ONLY);
    cr_expect_eq(room_launch(r, 1, 5), MACHINE_DONE);
    for (unsigned i = 0; i < 5; i++) { /* rows 1 and 2 begin with 6 and 12 */
        const float want[] = {12.f + i, 13.f + i, 7.f + i, 6.f + i};
        for (unsigned k = 0; k < 4; k++) {
            cr_expect_eq(as_float(out[4 * i + k]), want[k], "%u.%u", i, k);
        }
    }
    room_free(r);
}

/* Directions to the corner where +x, +y and +z meet: a quarter of each of the three
 * texels around it, and of their mean, which the fourth is. */
Test(ptx_textures, a_cubes_corner_is_the_mean_of_three) {
    struct machine_image im = {.type = PTX_F32,
                               .channels = 1,
                               .rank = 2,
                               .extent = {2, 2},
                               .layers = 6,
                               .cube = true,
                               .seamless = true,
                               .filters = true,
                               .normalized = true};
    static const char body[] = HEAD
        "tex.cube.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1,%f2,%f2}];\n"
        "tex.level.cube.v4.f32.f32 {%r1,_,_,_}, [%h, {%f0,%f1,%f2,%f2}], %f0;\n" TAIL;
    struct machine_room *r;
    uint32_t *out = plain_room(&r, body, &im, MACHINE_READ_ONLY);
    cr_expect_eq(room_launch(r, 1, 4), MACHINE_DONE);
    for (unsigned i = 0; i < 4; i++) { /* texel 0 of face 0, 3 of 2, 1 of 4 */
        cr_expect_float_eq(as_float(out[4 * i]), (0 + 11 + 17) / 3.f, 1e-5);
        cr_expect_eq(out[4 * i + 1], out[4 * i]);
    }
    room_free(r);
}

/* tex1Dfetch: whole numbers, 0 outside; and what the object can be asked. */
Test(ptx_textures, linear_memory_is_zero_outside) {
    struct machine_image im = {
        .type = PTX_F32, .channels = 2, .rank = 1, .extent = {12}, .linear = true};
    struct machine_room *r;
    uint32_t *out = plain_room(
        &r,
        HEAD "sub.s32 %r4, %i, 1; tex.1d.v4.f32.s32 {%r0,%r1,_,_}, [%h, {%r4}];\n"
             "txq.width.b32 %r2, [%h]; txq.height.b32 %r3, [%h];\n" TAIL,
        &im, MACHINE_READ_ONLY);
    cr_expect_eq(room_launch(r, 1, 20), MACHINE_DONE);
    for (unsigned i = 0; i < 20; i++) {
        bool in = i >= 1 && i - 1 < 12;
        cr_expect_eq(as_float(out[4 * i]), in ? 2.f * (i - 1) : 0.f);
        cr_expect_eq(as_float(out[4 * i + 1]), in ? 2.f * (i - 1) + 1 : 0.f);
        cr_expect_eq(out[4 * i + 2], 12u);
        cr_expect_eq(out[4 * i + 3], 0u);
    }
    room_free(r);
}

Test(ptx_textures, surfaces_are_bytes) {
    struct machine_image im = {
        .type = PTX_F32, .channels = 1, .rank = 2, .extent = {6, 4}, .surface = true};
    struct machine_room *r;
    uint32_t *out =
        plain_room(&r,
                   HEAD "shl.b32 %r4, %i, 2; suld.b.2d.b32.zero %r0, [%h, {%r4, 1}];\n"
                        "suld.b.2d.v2.b16.clamp {%s0,%s1}, [%h, {%r4, 9}];\n"
                        "mov.b32 %r1, {%s0,%s1}; mov.u32 %r2, 7; mov.u32 %r3, 8;\n"
                        "sust.b.2d.b32.zero [%h, {%r4, 2}], %i;\n"
                        "sust.b.2d.b32.clamp [%h, {%r4, -5}], %r2;\n"
                        "sured.b.add.2d.u32.trap [%h, {4, 3}], %i;\n"
                        "sured.b.max.2d.s32.trap [%h, {8, 3}], %i;\n" TAIL,
                   &im, OUT_FLAGS & ~MACHINE_UNINITIALIZED);
    uint32_t *memory = r->host[3];
    memory[19] = 100;
    memory[20] = (uint32_t)-5;
    cr_expect_eq(room_launch(r, 1, 8), MACHINE_DONE);
    for (unsigned i = 0; i < 8; i++) {
        cr_expect_eq(as_float(out[4 * i]), i < 6 ? 6.f + i : 0.f);
        /* row 9 is row 3; column 1 of it was added to, 2 may have been */
        if (i != 1 && i != 2) {
            cr_expect_eq(as_float(out[4 * i + 1]), i < 6 ? 18.f + i : 23.f);
        }
    }
    for (unsigned x = 0; x < 6; x++) {
        cr_expect_eq(memory[x], 7u);
        cr_expect_eq(memory[12 + x], x);
    }
    cr_expect_eq(memory[19], 100u + 28);
    cr_expect_eq(memory[20], 7u);
    char *found = room_findings(r);
    cr_expect_str_eq(found, "[]");
    free(found);
    room_free(r);
}

/* ---- what is wrong ---- */

static void check_wrong(const char *body, struct machine_image im, unsigned flags,
                        const char *code, enum machine_end end) {
    struct machine_room *r;
    plain_room(&r, body, &im, flags);
    cr_expect_eq(room_launch(r, 1, 8), end, "%s", code);
    char *found = room_findings(r);
    cr_expect_neq(room_found(r, code, NULL), 0, "%s: %s", code, found);
    free(found);
    room_free(r);
}

/* Of one finding, "Invalid surface read of 4 bytes: " and these words. */
static void check_surface_words(const char *body, struct machine_image im,
                                const char *words) {
    struct machine_room *r;
    plain_room(&r, body, &im, 0);
    cr_expect_eq(room_launch(r, 1, 1), MACHINE_FAULT);
    char *found = room_findings(r);
    cr_expect_neq(strstr(found, words), NULL, "%s", found);
    free(found);
    room_free(r);
}

Test(ptx_textures, a_surface_tells_the_dimensions_it_has) {
    struct machine_image flat = {
        .type = PTX_F32, .channels = 1, .rank = 2, .extent = {6, 4}, .surface = true};
    struct machine_image layered = flat;
    layered.layers = 2;
    layered.extent[1] = 2;
    check_surface_words(HEAD "suld.b.2d.b32.trap %r0, [%h, {4, 9}];\n"
                             "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n" TAIL,
                        flat, "(4, 9) of a surface of ");
    check_surface_words(HEAD "suld.b.2d.b32.trap %r0, [%h, {4, 9}];\n"
                             "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n" TAIL,
                        flat, "whose rows have 24 bytes, 4 of them\"");
    check_surface_words(HEAD "suld.b.a2d.b32.trap %r0, [%h, {7, 4, 1, 0}];\n"
                             "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n" TAIL,
                        layered, "(4, 1), layer 7 of a surface of ");
    check_surface_words(HEAD "suld.b.a2d.b32.trap %r0, [%h, {7, 4, 1, 0}];\n"
                             "mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n" TAIL,
                        layered, "24 bytes, 2 of them in 2 layers\"");
}

Test(ptx_textures, what_is_wrong_is_found) {
    struct machine_image tex = {
        .type = PTX_F32, .channels = 1, .rank = 2, .extent = {6, 4}};
    struct machine_image surface = tex, layered = tex;
    surface.surface = true;
    layered.layers = 2;
    layered.extent[1] = 2;
    static const char fetch[] =
        HEAD "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL;
    static const char cube_fetch[] =
        HEAD "tex.cube.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1,%f2,%f2}];\n" TAIL;
#define WORDS "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
    check_wrong(HEAD "add.s64 %h, %h, 9;\n"
                     "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL,
                tex, 0, "out_of_bounds", MACHINE_FAULT);
    check_wrong(HEAD "ld.param.u64 %h, [memory];\n"
                     "tex.2d.v4.f32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL,
                tex, 0, "out_of_bounds", MACHINE_FAULT);
    check_wrong(fetch, surface, 0, "launch_error", MACHINE_FAULT);
    check_wrong(fetch, layered, 0, "launch_error", MACHINE_FAULT);
    struct machine_image cube = layered;
    cube.extent[0] = 2;
    cube.layers = 6;
    check_wrong(cube_fetch, cube, 0, "launch_error", MACHINE_FAULT);
    cube.cubes = true;
    check_wrong(cube_fetch, cube, 0, "launch_error", MACHINE_FAULT);
    cube.cubes = false;
    cube.cube = true;
    check_wrong(fetch, cube, 0, "launch_error", MACHINE_FAULT);
    check_wrong(fetch, tex, MACHINE_UNINITIALIZED, "uninitialized", MACHINE_DONE);
    check_wrong(HEAD "tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%h, {%f0,%f1}];\n" TAIL, tex,
                0, "launch_error", MACHINE_DONE);
    check_wrong(HEAD WORDS "suld.b.2d.b32.trap %r0, [%h, {24, 0}];\n" TAIL, surface, 0,
                "out_of_bounds", MACHINE_FAULT);
    check_wrong(HEAD WORDS "sust.b.2d.b32.trap [%h, {0, -1}], %r1;\n" TAIL, surface, 0,
                "out_of_bounds", MACHINE_FAULT);
    check_wrong(HEAD WORDS "sust.b.2d.b32.zero [%h, {2, 0}], %r1;\n" TAIL, surface, 0,
                "misaligned", MACHINE_FAULT);
    check_wrong(HEAD WORDS "sust.b.2d.b32.trap [%h, {0, 0}], %r1;\n" TAIL, surface,
                MACHINE_READ_ONLY, "input_modified", MACHINE_DONE);
    check_wrong(HEAD "ld.u32 %r0, [%h]; mov.u32 %r1, 0; mov.u32 %r2, 0;\n"
                     "mov.u32 %r3, 0;\n" TAIL,
                tex, 0, "out_of_bounds", MACHINE_FAULT);
}

Test(ptx_textures, images_that_cannot_be_are_refused) {
    struct machine_room *r = room_new(".visible .entry k(.param .u64 b) { ret; }", NULL);
    room_buffer(r, "b", 4096, 0);
    const struct machine_image good = {.address = r->address[0],
                                       .type = PTX_U8,
                                       .channels = 4,
                                       .rank = 2,
                                       .extent = {32, 32}};
    struct machine_image bad[14];
    uint64_t handle;
    struct err err = {0};
    for (size_t k = 0; k < 14; k++) {
        bad[k] = good;
    }
    for (size_t k = 10; k < 13; k++) {
        bad[k].cube = true;
        bad[k].extent[0] = bad[k].extent[1] = 8;
        bad[k].layers = 6;
    }
    bad[10].extent[1] = 7;
    bad[11].layers = 12;
    bad[12].surface = true;
    bad[13].seamless = true;
    bad[0].address += 2;
    bad[1].type = PTX_F64;
    bad[2].channels = 3;
    bad[3].rank = 4;
    bad[4].extent[1] = 33;
    bad[5].extent[0] = 0;
    bad[6].filters = true;
    bad[7].rank = 3;
    bad[7].extent[2] = 1;
    bad[7].layers = 1;
    bad[8].linear = true;
    bad[9].type = PTX_BF16;
    cr_assert_eq(machine_image(r->machine, &good, &handle, &err), 0, "%s", err.msg);
    for (size_t k = 0; k < 14; k++) {
        cr_expect_lt(machine_image(r->machine, &bad[k], &handle, &err), 0, "%zu", k);
    }
    room_free(r);
}
