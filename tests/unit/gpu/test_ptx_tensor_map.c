/* The machine: tensor maps that kernels make and change. What a field means is the ISA's
 * word ("tensormap.replace"); what must come in is counted out here. */
#include "gpu/ptx/state/tensor_blob.h"
#include "tests/unit/gpu/async_room.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <string.h>

#define COLUMNS 24
#define ROWS 20

/* x: words that hold their own place; maps: room for two. */
#define START                                                                            \
    HEAD_WITH(", .param .u64 x, .param .u64 maps, .param .align 64 .b8 map[128]", "",    \
              BAR ".shared .align 1024 .b8 tile[4096];\n"                                \
                  ".shared .align 128 .b8 made[128];\n")                                 \
    INIT("1")                                                                            \
    "ld.param.u64 %rd10, [x]; ld.param.u64 %rd11, [maps];\n"                             \
    "mov.u32 %r20, 1; mov.u64 %rd13, 96;\n"
#define SET32(field, more, value)                                                        \
    "@%q tensormap.replace.tile." field ".shared::cta.b1024.b32 [made], " more value ";" \
    "\n"
#define SET64(field, more, value)                                                        \
    "@%q tensormap.replace.tile." field ".shared::cta.b1024.b64 [made], " more value ";" \
    "\n"
/* As compilers do that make a map from nothing. */
#define ZEROS                                                                            \
    "mul.wide.u32 %rd12, %t, 4; mov.u64 %rd14, made; add.s64 %rd14, %rd14, %rd12;\n"     \
    "setp.lt.u32 %p5, %t, 32; @%p5 st.shared.u32 [%rd14], 0; bar.sync 0;\n"
#define FIELDS                                                                           \
    SET64("global_address", "", "%rd10")                                                 \
    SET32("rank", "", "%r20")                                                            \
    "mov.u32 %r21, 8; mov.u32 %r22, 4; mov.u32 %r23, 24; mov.u32 %r24, 20;\n" SET32(     \
        "box_dim", "0, ", "%r21") SET32("box_dim", "1, ", "%r22")                        \
        SET32("global_dim", "0, ", "%r23") SET32("global_dim", "1, ", "%r24")            \
            SET64("global_stride", "0, ", "%rd13")                                       \
                SET32("element_stride", "0, ", "%r20")                                   \
                    SET32("element_stride", "1, ", "%r20") SET32("elemtype", "", "2")    \
                        SET32("interleave_layout", "", "0")                              \
                            SET32("swizzle_mode", "", "0") SET32("fill_mode", "", "0")
#define PUBLISH                                                                          \
    "bar.sync 0; setp.lt.u32 %p6, %t, 32;\n"                                             \
    "@%p6 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu"     \
    ".sync.aligned [%rd11], [made], 128;\n bar.sync 0;\n"
#define ACQUIRE "@%q fence.proxy.tensormap::generic.acquire.gpu [%rd11], 128;\n"
/* A box of `bytes` at (x, y) by the map at %rd11, to out. */
#define BOX(x, y, bytes)                                                                 \
    "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " bytes ";\n"               \
    "@%q cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "   \
    "[tile], [%rd11, {" x ", " y                                                         \
    "}], [bar];\n" MINE WAIT("W") "ld.shared.u32 %r3, [%rd3];\n" TAIL("%r3")

static struct machine_room *map_room(const char *body, uint32_t **ret_out,
                                     uint64_t *ret_x) {
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 1};
    struct machine_room *r = room_new(body, &c);
    *ret_out = room_buffer(r, "out", 32 * 4, OUT_FLAGS);
    uint32_t *x = room_buffer(r, "x", COLUMNS * ROWS * 4, 0);
    room_buffer(r, "maps", 256, OUT_FLAGS);
    for (uint32_t k = 0; k < COLUMNS * ROWS; k++) {
        x[k] = k;
    }
    *ret_x = r->address[1];
    memset(r->params + r->param_bytes, 0, 64 - r->param_bytes % 64 + 128);
    r->param_bytes = (r->param_bytes + 63) / 64 * 64 + 128;
    return r;
}

/* Word i of a box of 8 columns; what is outside of the tensor is 0. */
static uint32_t word(uint32_t i, int column, int row, int columns, int rows) {
    int at = column + (int)i % 8, line = row + (int)i / 8;
    return at >= 0 && at < columns && line >= 0 && line < rows
               ? (uint32_t)(line * COLUMNS + at)
               : 0;
}

static void check_box(struct machine_room *r, const uint32_t *out, int column, int row,
                      int columns, int rows) {
    cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE, "%s", r->refused);
    no_findings(r);
    for (uint32_t i = 0; i < 32; i++) {
        cr_assert_eq(out[i], word(i, column, row, columns, rows), "word %u: %u", i,
                     out[i]);
    }
}

Test(ptx_tensor_map, a_map_made_from_zeros) {
    uint32_t *out;
    uint64_t x;
    struct machine_room *r =
        map_room(START ZEROS FIELDS PUBLISH ACQUIRE BOX("5", "17", "128"), &out, &x);
    check_box(r, out, 5, 17, COLUMNS, ROWS);
    room_free(r);
}

/* As grouped products do: the host's map is a pattern. */
Test(ptx_tensor_map, the_hosts_map_with_other_places_and_extents) {
    uint32_t *out;
    uint64_t x;
    struct machine_room *r = map_room(
        START "mov.b64 %rd15, map; cvta.param.u64 %rd15, %rd15; mul.wide.u32 %rd12, %t, "
              "4;\n"
              "add.s64 %rd15, %rd15, %rd12; mov.u64 %rd14, made;\n"
              "add.s64 %rd14, %rd14, %rd12;\n"
              "ld.u32 %r20, [%rd15]; st.shared.u32 [%rd14], %r20; bar.sync 0;\n"
              /* the same tensor without its first row, of 18 columns and 3 rows */
              "add.s64 %rd10, %rd10, 96; mov.u32 %r21, 18; mov.u32 %r22, 3;\n" SET64(
                  "global_address", "", "%rd10") SET32("global_dim", "0, ", "%r21")
                  SET32("global_dim", "1, ", "%r22")
                      PUBLISH ACQUIRE BOX("12", "1", "128"),
        &out, &x);
    struct tensor_blob map = {.address = x,
                              .strides = {COLUMNS * 4},
                              .last = {COLUMNS - 1, ROWS - 1},
                              .box = {8, 4},
                              .element_strides = {1, 1},
                              .type = TENSOR_BLOB_U32,
                              .rank = 2};
    tensor_blob_seal(&map);
    memcpy(r->params + 64, &map, sizeof map);
    cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE, "%s", r->refused);
    no_findings(r);
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t want = word(i, 12, 1, 18, 3);
        cr_assert_eq(out[i], want ? want + COLUMNS : 0, "word %u: %u", i, out[i]);
    }
    room_free(r);
}

/* In global memory there is no copy. */
Test(ptx_tensor_map, a_map_changed_where_it_stands) {
    uint32_t *out;
    uint64_t x;
    struct machine_room *r = map_room(
        START ZEROS FIELDS PUBLISH
        "mov.u32 %r21, 10;\n"
        "@%q tensormap.replace.tile.global_dim.global.b1024.b32 [%rd11], 0, %r21;\n"
        "@%q fence.proxy.tensormap::generic.release.gpu;\n" ACQUIRE BOX("5", "2", "128"),
        &out, &x);
    check_box(r, out, 5, 2, 10, ROWS);
    room_free(r);
}

Test(ptx_tensor_map, a_change_wants_a_fence_of_its_own_proxy) {
    uint32_t *out;
    uint64_t x;
    struct machine_room *r =
        map_room(START ZEROS FIELDS PUBLISH
                 "@%q fence.proxy.async; fence.acq_rel.gpu;\n" BOX("5", "2", "128"),
                 &out, &x);
    cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE);
    json_t *first = NULL;
    cr_assert_eq(room_found(r, "missing_fence", &first), 1);
    cr_expect(strstr(json_get_string(first, "message", ""),
                     "fence.proxy.tensormap::generic.acquire"));
    json_decref(first);
    room_free(r);
    /* an acquire in front of the change is of no use */
    r = map_room(START ZEROS ACQUIRE FIELDS PUBLISH BOX("5", "2", "128"), &out, &x);
    room_launch(r, 1, 32);
    cr_expect_eq(room_found(r, "missing_fence", NULL), 1);
    room_free(r);
}

Test(ptx_tensor_map, wrong_fields_are_told) {
    static const struct {
        const char *change, *words;
    } cases[] = {
        {"add.s64 %rd10, %rd10, 8;\n" SET64("global_address", "", "%rd10"),
         "global_address is not a multiple of 16"},
        {"mov.u32 %r20, 5;\n" SET32("rank", "", "%r20"), "one less than the number"},
        {"mov.u32 %r20, 257;\n" SET32("box_dim", "1, ", "%r20"), "1 to 256: 257"},
        {"mov.u64 %rd13, 100;\n" SET64("global_stride", "0, ", "%rd13"),
         "multiple of 16 below 2^40: 100"},
        {"mov.u32 %r20, 9;\n" SET32("element_stride", "1, ", "%r20"), "1 to 8: 9"},
        {SET32("interleave_layout", "", "1"), "interleaved tensors are not run here"},
        {SET32("swizzle_mode", "", "3"), "fields do not fit together"},
        {"mov.u32 %r20, 2;\n" SET32("rank", "", "%r20"), "fields do not fit together"},
        {"mov.u32 %r20, 0;\n" SET32("rank", "", "%r20"),
         "another number of dimensions than the tensor map has: 1"},
        {"@%q st.shared.u32 [made+8], %r20;\n" SET32("fill_mode", "", "0"),
         "neither a tensor map nor zeros"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        autobuf body = BUF_INIT(16384);
        buf_addf(&body, "%s%s%s", START ZEROS FIELDS, cases[k].change,
                 PUBLISH ACQUIRE BOX("5", "2", "128"));
        uint32_t *out;
        uint64_t x;
        struct machine_room *r = map_room(body.data, &out, &x);
        cr_expect_neq(room_launch(r, 1, 32), MACHINE_DONE, "%s", cases[k].words);
        char *all = room_findings(r);
        cr_expect(strstr(all, cases[k].words), "%s: not in %s", cases[k].words, all);
        free(all);
        room_free(r);
    }
}

/* Sizes of the ISA's element types, by number: a box of eight columns brings so many
 * bytes. */
Test(ptx_tensor_map, element_types_have_the_isas_numbers) {
    static const unsigned bytes[13] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
    for (unsigned type = 0; type < 13; type++) {
        autobuf body = BUF_INIT(16384);
        unsigned size = bytes[type] * 32; /* 16 columns of bytes, else 8: 4 rows */
        buf_addf(&body,
                 "%s@%%q tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [made], "
                 "%u;\nmov.u32 %%r21, %u; %s%s@%%q mbarrier.arrive.expect_tx.shared::cta"
                 ".b64 _, [bar], %u;\n"
                 "@%%q cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
                 "complete_tx::bytes [tile], [%%rd11, {0, 0}], [bar];\n%sret; }\n",
                 START ZEROS FIELDS, type, type == 0 ? 16u : 8u,
                 SET32("box_dim", "0, ", "%r21"), PUBLISH ACQUIRE, type == 0 ? 64u : size,
                 WAIT("W"));
        uint32_t *out;
        uint64_t x;
        struct machine_room *r = map_room(body.data, &out, &x);
        cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE, "type %u", type);
        no_findings(r);
        room_free(r);
    }
}
