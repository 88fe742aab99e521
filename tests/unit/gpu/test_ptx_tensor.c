/* The machine: tensors that come in and go out. The kernels are PTX written here; what
 * they must give follows from the ISA's words, computed here. */
#include "gpu/ptx/state/tensor_blob.h"
#include "tests/unit/gpu/async_room.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <string.h>

/* A tensor of 4-byte elements, each the number of its place; rank 1 to 5. */
struct tensor_case {
    unsigned rank, swizzle;
    bool nan;
    uint32_t extent[5], box[5], step[5];
    int32_t at[5];
};

static struct tensor_blob blob_of(const struct tensor_case *x, uint64_t address,
                                  unsigned type) {
    struct tensor_blob b = {.address = address,
                            .type = (uint8_t)type,
                            .rank = (uint8_t)x->rank,
                            .swizzle = (uint8_t)x->swizzle,
                            .fill_nan = x->nan};
    uint64_t stride = 4;
    for (unsigned d = 0; d < x->rank; d++) {
        b.last[d] = x->extent[d] - 1;
        b.box[d] = (uint16_t)x->box[d];
        b.element_strides[d] = (uint8_t)(x->step[d] ? x->step[d] : 1);
        stride *= x->extent[d];
        if (d + 1 < x->rank) {
            b.strides[d] = stride;
        }
    }
    tensor_blob_seal(&b);
    return b;
}

/* What element `number` of the box holds: counted out again by the words of the ISA. */
static uint32_t box_element(const struct tensor_case *x, uint32_t number,
                            uint32_t outside) {
    uint64_t place = 0, stride = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        uint32_t step = d && x->step[d] ? x->step[d] : 1;
        uint32_t count = (x->box[d] + step - 1) / step;
        int64_t at = x->at[d] + (int64_t)(number % count) * step;
        number /= count;
        if (at < 0 || at >= x->extent[d]) {
            return outside;
        }
        place += (uint64_t)at * stride;
        stride *= x->extent[d];
    }
    return (uint32_t)place;
}

static uint32_t box_count(const struct tensor_case *x) {
    uint32_t n = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        uint32_t step = d && x->step[d] ? x->step[d] : 1;
        n *= (x->box[d] + step - 1) / step;
    }
    return n;
}

/* The byte in shared memory: address bits 4 to 6 XOR bits 7 to 9, as many as are
 * swizzled. */
static uint32_t swizzled(uint32_t byte, unsigned swizzle) {
    return byte ^ ((byte >> 7 & ((1u << swizzle) - 1)) << 4);
}

#define MAP_PARAM ", .param .align 64 .b8 map[128], .param .u32 bytes"
static void tensor_body(struct buf *to, const struct tensor_case *x, bool store) {
    buf_adds(to, HEAD_WITH(MAP_PARAM, "", BAR ".shared .align 1024 .b8 tile[8192];\n")
                     INIT("1") "ld.param.u32 %r2, [bytes]; shr.u32 %r3, %r2, 2;\n"
                               "mov.b64 %rd3, map; cvta.param.u64 %rd2, %rd3;\n");
    if (store) {
        buf_adds(to,
                 "L: setp.ge.u32 %p1, %t, %r3; @%p1 bra FULL; mul.wide.u32 %rd5, %t, 4;\n"
                 "mov.u64 %rd6, tile; add.s64 %rd6, %rd6, %rd5;\n"
                 "add.u32 %r5, %t, 1000000; st.shared.u32 [%rd6], %r5;\n"
                 "add.u32 %t, %t, %r1; bra L;\n"
                 "FULL: fence.proxy.async.shared::cta; bar.sync 0; @!%q bra END;\n");
    } else {
        buf_adds(to,
                 "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %r2;\n@%q ");
    }
    buf_addf(to, "cp.async.bulk.tensor.%ud.%s", x->rank,
             store ? "global.shared::cta.tile.bulk_group [%rd2, {"
                   : "shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
                     "[%rd2, {");
    for (unsigned d = 0; d < x->rank; d++) {
        buf_addf(to, "%s%d", d ? ", " : "", x->at[d]);
    }
    if (store) {
        buf_adds(to, "}], [tile];\n"
                     "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"
                     "END: ret; }\n");
        return;
    }
    buf_adds(
        to,
        "}], [bar];\n" WAIT(
            "W") "L: setp.ge.u32 %p1, %t, %r3; @%p1 bra END; mul.wide.u32 %rd5, %t, 4;\n"
                 "mov.u64 %rd6, tile; add.s64 %rd6, %rd6, %rd5;\n"
                 "ld.shared.u32 %r4, [%rd6]; add.s64 %rd6, %rd1, %rd5;\n"
                 "st.global.u32 [%rd6], %r4; add.u32 %t, %t, %r1; bra L;\n"
                 "END: ret; }\n");
}

static struct machine_room *tensor_room(const struct tensor_case *x, bool store,
                                        uint32_t **ret_out, uint32_t **ret_tensor,
                                        uint32_t *ret_count) {
    autobuf body = BUF_INIT(16384);
    tensor_body(&body, x, store);
    struct machine_room *r =
        room_new(body.data, &(struct machine_config){.checks = ALL_CHECKS, .threads = 1});
    uint32_t elements = 1;
    for (unsigned d = 0; d < x->rank; d++) {
        elements *= x->extent[d];
    }
    *ret_out = room_buffer(r, "out", 8192, MACHINE_OUTPUT);
    size_t before = r->param_bytes;
    *ret_tensor = room_buffer(r, "x", (uint64_t)elements * 4, store ? MACHINE_OUTPUT : 0);
    r->param_bytes = before; /* known through the map alone */
    for (uint32_t k = 0; k < elements; k++) {
        (*ret_tensor)[k] = k;
    }
    struct tensor_blob map =
        blob_of(x, r->address[1], x->nan ? TENSOR_BLOB_F32 : TENSOR_BLOB_U32);
    r->param_bytes = 64;
    memcpy(r->params + 64, &map, sizeof map);
    r->param_bytes += sizeof map;
    *ret_count = box_count(x);
    room_u32(r, *ret_count * 4);
    return r;
}

static const struct tensor_case tensor_cases[] = {
    {.rank = 1, .extent = {100}, .box = {64}, .at = {20}},
    {.rank = 1, .extent = {100}, .box = {64}, .at = {70}},
    {.rank = 1, .extent = {100}, .box = {64}, .at = {-5}, .nan = true},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {13, 7}},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {30, 26}, .nan = true},
    {.rank = 2, .extent = {40, 30}, .box = {16, 8}, .at = {-20, 2}},
    {.rank = 2, .extent = {64, 64}, .box = {8, 32}, .at = {3, 9}, .swizzle = 1},
    {.rank = 2, .extent = {64, 64}, .box = {16, 32}, .at = {8, 0}, .swizzle = 2},
    {.rank = 2, .extent = {64, 64}, .box = {32, 24}, .at = {32, 50}, .swizzle = 3},
    {.rank = 3, .extent = {20, 6, 9}, .box = {8, 3, 4}, .at = {4, 2, 7}},
    {.rank = 3,
     .extent = {20, 16, 9},
     .box = {8, 9, 4},
     .step = {1, 4, 2},
     .at = {4, 5, -1}},
    {.rank = 4, .extent = {8, 5, 4, 3}, .box = {4, 2, 3, 2}, .at = {2, 1, 2, -1}},
    {.rank = 5,
     .extent = {8, 3, 4, 3, 2},
     .box = {4, 2, 2, 2, 2},
     .at = {0, 2, -1, 1, 0}},
};
#define TENSOR_CASES (sizeof tensor_cases / sizeof *tensor_cases)

Test(ptx_async, tensors_come_in) {
    for (size_t k = 0; k < TENSOR_CASES; k++) {
        const struct tensor_case *x = &tensor_cases[k];
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(x, false, &out, &tensor, &count);
        cr_expect_eq(room_launch(r, 1, 64), MACHINE_DONE, "%s", r->refused);
        no_findings(r);
        for (uint32_t e = 0; e < count; e++) {
            uint32_t want = box_element(x, e, x->nan ? 0x7ff77ff7 : 0);
            uint32_t got = out[swizzled(4 * e, x->swizzle) / 4];
            cr_assert_eq(got, want, "case %zu, element %u: %u instead of %u", k, e, got,
                         want);
        }
        room_free(r);
    }
}

Test(ptx_async, tensors_go_out) {
    for (size_t k = 0; k < TENSOR_CASES; k++) {
        const struct tensor_case *x = &tensor_cases[k];
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(x, true, &out, &tensor, &count);
        cr_expect_eq(room_launch(r, 1, 64), MACHINE_DONE, "%s", r->refused);
        no_findings(r);
        uint32_t changed = 0, inside = 0;
        for (uint32_t e = 0; e < count; e++) {
            uint32_t place = box_element(x, e, UINT32_MAX);
            if (place != UINT32_MAX) {
                inside++;
                cr_assert_eq(tensor[place], 1000000 + swizzled(4 * e, x->swizzle) / 4,
                             "case %zu, element %u", k, e);
            }
        }
        uint64_t elements = 1;
        for (unsigned d = 0; d < x->rank; d++) {
            elements *= x->extent[d];
        }
        for (uint64_t e = 0; e < elements; e++) {
            changed += tensor[e] != e;
        }
        cr_expect_eq(changed, inside, "case %zu: nothing else is written", k);
        room_free(r);
    }
}

Test(ptx_async, wrong_tensor_maps_are_told) {
    struct tensor_case x = tensor_cases[3];
    for (unsigned k = 0; k < 4; k++) {
        uint32_t *out, *tensor, count;
        struct machine_room *r = tensor_room(&x, false, &out, &tensor, &count);
        struct tensor_blob map;
        memcpy(&map, r->params + 64, sizeof map);
        const char *code = "invalid_tensor_map", *words = "No tensor map";
        if (k == 0) {
            memset(&map, 0, sizeof map);
        } else if (k == 1) {
            map.box[0]++; /* as a kernel may do */
        } else if (k == 2) {
            map.rank = 1;
            tensor_blob_seal(&map);
            words = "another number of dimensions than the tensor map has: 1";
        } else {
            map.last[1] += 100;
            map.strides[0] = 1 << 20;
            tensor_blob_seal(&map);
            code = "out_of_bounds";
            words = "past the end of x";
        }
        memcpy(r->params + 64, &map, sizeof map);
        cr_expect_neq(room_launch(r, 1, 64), MACHINE_DONE);
        json_t *first = NULL;
        cr_expect(room_found(r, code, &first) > 0, "case %u", k);
        const char *said = json_get_string(first, "message", "");
        cr_expect(strstr(said, words), "case %u: %s", k, said);
        json_decref(first);
        room_free(r);
    }
}

/* ---- im2col mode: what may not be asked for ---- */

/* A map of 2 images of 4 x 5 pixels of 4 floats; filters stand at 0 to 2 along the
 * height, -1 to 4 along the width. */
static struct tensor_blob im2col_map(uint64_t address) {
    struct tensor_blob b = {.address = address,
                            .type = TENSOR_BLOB_F32,
                            .rank = 4,
                            .im2col = 1,
                            .pixels = 8,
                            .box = {4},
                            .last = {3, 4, 3, 1},
                            .lower = {-1, 0},
                            .upper = {0, -1},
                            .strides = {16, 80, 320},
                            .element_strides = {1, 1, 1, 1}};
    return b;
}

#define IM2COL_LOAD(w, h, offsets)                                                       \
    "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"                     \
    "@%q cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::"               \
    "complete_tx::bytes [tile], [%rd2, {0, " w ", " h ", 0}], [bar], {" offsets "};\n"
#define IM2COL_STORE(w, h)                                                               \
    "@%q cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group "          \
    "[%rd2, {0, " w ", " h ", 0}], [tile];\n"                                            \
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n"

struct im2col_fault {
    const char *body, *code, *words;
    void (*change)(struct tensor_blob *map);
};

static void to_tiles(struct tensor_blob *map) {
    map->im2col = 0;
    map->box[1] = map->box[2] = map->box[3] = 1;
}
static void to_no_room(struct tensor_blob *map) {
    map->upper[1] = -4;
}
static void to_far(struct tensor_blob *map) {
    map->lower[0] = -129;
}
static void to_many(struct tensor_blob *map) {
    map->pixels = 1025;
}
static void to_inside(struct tensor_blob *map) {
    map->lower[0] = 0;
    map->upper[0] = 1;
}

static const struct im2col_fault im2col_faults[] = {
    {IM2COL_LOAD("-2", "0", "0, 0"), "out_of_bounds",
     "bounding box (width): -2, it must be -1 to 4", NULL},
    {IM2COL_LOAD("0", "3", "0, 0"), "out_of_bounds",
     "bounding box (height): 3, it must be 0 to 2", NULL},
    {IM2COL_LOAD("0", "0", "0, 256"), "out_of_bounds",
     "(height): 256, it must be 0 to 255", NULL},
    {IM2COL_LOAD("0", "0", "0, 0"), "invalid_tensor_map",
     "the tensor map is one for tiles", to_tiles},
    {IM2COL_LOAD("0", "0", "0, 0"), "invalid_tensor_map", "do not fit together",
     to_no_room},
    {IM2COL_LOAD("0", "0", "0, 0"), "invalid_tensor_map", "do not fit together", to_far},
    {IM2COL_LOAD("0", "0", "0, 0"), "invalid_tensor_map", "do not fit together", to_many},
    {"@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;\n"
     "@%q "
     "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
     "[tile], [%rd2, {0, 0, 0, 0}], [bar];\n",
     "invalid_tensor_map",
     "one for im2col mode, the instruction is not; pixels of the map: 8", NULL},
    {IM2COL_STORE("0", "0"), "invalid_tensor_map",
     "begins outside of the images (width): -1, it must be 0 to 4", NULL},
    {IM2COL_STORE("0", "0"), "invalid_tensor_map",
     "ends outside of the images (width): 1, it must be -4 to 0", to_inside},
    {"mov.u64 %rd4, %rd1; @%q tensormap.replace.tile.rank.global.b1024.b32 [%rd4], 2;\n",
     "invalid_tensor_map", "tensormap.replace.tile on a map for im2col mode", NULL},
};

Test(ptx_async, im2col_out_of_its_bounds) {
    for (size_t k = 0; k < sizeof im2col_faults / sizeof *im2col_faults; k++) {
        const struct im2col_fault *x = &im2col_faults[k];
        autobuf body = BUF_INIT(8192);
        buf_adds(&body,
                 HEAD_WITH(MAP_PARAM, "", BAR ".shared .align 128 .b8 tile[128];\n")
                     INIT("1") "mov.b64 %rd3, map; cvta.param.u64 %rd2, %rd3;\n");
        buf_adds(&body, x->body);
        buf_adds(&body, "ret; }\n");
        struct machine_room *r = room_new(
            body.data, &(struct machine_config){.checks = ALL_CHECKS, .threads = 1});
        uint8_t *out = room_buffer(r, "out", 1024, MACHINE_OUTPUT);
        struct tensor_blob map = im2col_map(r->address[0]);
        if (x->change) {
            x->change(&map);
        }
        tensor_blob_seal(&map);
        memcpy(out, &map, sizeof map);
        r->param_bytes = 64;
        memcpy(r->params + 64, &map, sizeof map);
        r->param_bytes += sizeof map;
        room_u32(r, 128);
        cr_expect_eq(room_launch(r, 1, 32), MACHINE_FAULT, "case %zu: %s", k, r->refused);
        json_t *first = NULL;
        cr_expect(room_found(r, x->code, &first) > 0, "case %zu", k);
        const char *said = json_get_string(first, "message", "");
        cr_expect(strstr(said, x->words), "case %zu: %s", k, said);
        json_decref(first);
        room_free(r);
    }
}
