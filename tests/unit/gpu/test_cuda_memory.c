/* Device memory between red zones, modules and launch limits: on the stand-in. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/json.h"
#include "gpu/driver/cuda_memory.h"
#include "gpu/driver/cuda_module.h"
#include "tests/unit/gpu/standin_room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

static struct standin_room *room;
static struct cuda_context context;

/* A context on a stand-in that does as `conf` says. */
static struct cuda_context *start(const char *conf) {
    struct err err = {0};
    room = room_load(conf);
    cr_assert_eq(cuda_context_open(&context, &room->api, NULL, 0, &err), 0, "%s",
                 err.msg);
    return &context;
}

static void stop(void) {
    room_end(room);
}

Test(cuda_context, waits_for_a_device_that_another_process_has) {
    struct err err = {0};
    room = room_load("fail cuDevicePrimaryCtxRetain 1 46\n"
                     "fail cuDevicePrimaryCtxRetain 2 46\n");
    cr_expect_eq(cuda_context_open(&context, &room->api, NULL, 0, &err), -EIO);
    cr_expect_eq(context.code, CUDA_DEVICE_UNAVAILABLE);
    cr_expect_eq(cuda_context_open(&context, &room->api, NULL, UINT64_MAX, &err), 0);
    stop();
}

/* --- memory --- */

/* What a kernel would do: a write past all of our checks. */
static void poke(struct cuda_context *c, cuda_address at, const void *bytes, size_t len) {
    cr_assert_eq(c->api->copy_to_device(at, bytes, len, c->stream), 0);
    cr_assert_eq(cuda_context_wait(c, "a write", NULL), 0);
}

static const json_t *only(const json_t *findings) {
    cr_assert_eq(json_array_size(findings), 1);
    return json_array_get(findings, 0);
}

Test(cuda_memory, a_write_next_to_a_buffer_is_found_with_its_offset) {
    static const struct {
        int64_t offset;
        size_t len;
    } cases[] = {{1001, 1}, {1001, 4},         {1003, 8},   {-1, 1}, {-4, 4},
                 {1400, 2}, {1001 + 65535, 1}, {-65536, 1}, {-5, 3}};
    struct cuda_context *c = start("");
    const unsigned char zeros[16] = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cuda_memory *m = cuda_memory_new(c, 1 << 20, i);
        autojson *findings = json_array();
        cuda_address a, b;
        cr_assert_eq(cuda_memory_alloc(m, "a", 1001, false, &a, NULL), 0);
        cr_assert_eq(cuda_memory_alloc(m, "b", 8, false, &b, NULL), 0);
        cr_assert_eq(cuda_memory_check(m, "k", findings, NULL), 0);
        cr_assert_eq(json_array_size(findings), 0);
        poke(c, a + (uint64_t)cases[i].offset, zeros, cases[i].len);
        cr_assert_eq(cuda_memory_check(m, "k", findings, NULL), 0);
        const json_t *f = only(findings);
        /* A random byte that was 0 already does not change. */
        json_int_t offset = json_get_integer(f, "offset", 0);
        cr_expect(offset >= cases[i].offset &&
                      offset < cases[i].offset + (int64_t)cases[i].len,
                  "case %zu: %lld", i, (long long)offset);
        cr_expect(json_get_integer(f, "count", 0) <= (json_int_t)cases[i].len);
        cr_expect_str_eq(json_get_string(f, "buffer", ""), "a");
        cr_expect_str_eq(json_get_string(f, "kernel", ""), "k");
        cr_expect_str_eq(json_get_string(f, "code", ""), "out_of_bounds");
        json_array_clear(findings);
        cr_assert_eq(cuda_memory_check(m, "k", findings, NULL), 0);
        cr_expect_eq(json_array_size(findings), 0, "told twice");
        cuda_memory_free(m);
    }
    stop();
}

Test(cuda_memory, holds_what_is_written_and_nothing_beyond) {
    struct cuda_context *c = start("");
    struct cuda_memory *m = cuda_memory_new(c, 4096, 1);
    struct err err = {0};
    cuda_address a = 0, b = 0;
    char text[16] = "device memory";
    cr_assert_eq(cuda_memory_alloc(m, "a", sizeof text, false, &a, &err), 0);
    cr_expect_eq(a % 256, 0);
    cr_expect_eq(cuda_memory_write(m, a, text, sizeof text, &err), 0);
    memset(text, 0, sizeof text);
    cr_expect_eq(cuda_memory_read(m, a + 7, text, 6, &err), 0);
    cr_expect_str_eq(text, "memory");
    cr_expect_eq(cuda_memory_read(m, a + 7, text, 10, &err), -EFAULT);
    cr_expect_eq(cuda_memory_write(m, a - 1, text, 1, &err), -EFAULT);
    cr_expect_eq(cuda_memory_write(m, 12, text, 1, &err), -EFAULT);
    cr_expect_eq(cuda_memory_alloc(m, "empty", 0, false, &b, &err), 0);
    cr_expect_eq(cuda_memory_read(m, b, text, 0, &err), 0);
    cr_expect_eq(cuda_memory_alloc(m, "too much", 4096, false, &b, &err), -ENOMEM);
    cr_expect(strstr(err.msg, "too much"));
    cuda_memory_free(m);
    stop();
}

Test(cuda_memory, a_buffer_is_elsewhere_in_the_next_trial) {
    struct cuda_context *c = start("");
    cuda_address before[3] = {0};
    for (uint64_t trial = 0; trial < 40; trial++) {
        struct cuda_memory *m = cuda_memory_new(c, 1 << 20, trial);
        for (size_t i = 0; i < 3; i++) {
            cuda_address at;
            cr_assert_eq(cuda_memory_alloc(m, "b", 1000 + i, false, &at, NULL), 0);
            cr_expect_neq(at, before[i]);
            before[i] = at;
        }
        cuda_memory_free(m);
    }
    stop();
}

struct poison {
    const char *what;
    unsigned char bytes[8];
    size_t size;
    bool known; /* one-byte NaNs cannot be told from a kernel's */
};
static const struct poison poisons[] = {
    {"float32", {0, 0, 0xc0, 0x7f}, 4, true},
    {"float16", {0, 0x7e}, 2, true},
    {"bfloat16", {0xc0, 0x7f}, 2, true},
    {"float64", {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}, 8, true},
    {"int32", {0xa5, 0xa5, 0xa5, 0xa5}, 4, true},
    {"int8", {0xa5}, 1, true},
    {"float8_e4m3", {0x7f}, 1, false},
};

static void fill(unsigned char *to, size_t len, const struct poison *p) {
    for (size_t i = 0; i < len; i++) {
        to[i] = p->bytes[i % p->size];
    }
}

Test(cuda_memory, what_nobody_wrote_is_told_from_what_somebody_did) {
    struct cuda_context *c = start("");
    unsigned char bytes[4096];
    for (size_t i = 0; i < sizeof poisons / sizeof *poisons; i++) {
        const struct poison *p = &poisons[i];
        struct cuda_memory *m = cuda_memory_new(c, 1 << 20, 77 + i);
        cuda_address a;
        uint64_t first;
        fill(bytes, sizeof bytes, p);
        cr_assert_eq(cuda_memory_alloc(m, "y", sizeof bytes, true, &a, NULL), 0);
        cr_assert_eq(cuda_memory_write(m, a, bytes, sizeof bytes, NULL), 0);
        cr_expect_eq(cuda_memory_unwritten(m, a, &first), p->known ? 4096 : 0, "%s",
                     p->what);
        /* The kernel's own NaNs are none of ours. */
        poke(c, a, bytes, 3000);
        cr_expect_eq(cuda_memory_unwritten(m, a, &first), p->known ? 1096 : 0, "%s",
                     p->what);
        cr_expect_eq(first, p->known ? 3000 : 0);
        memset(bytes, 1, sizeof bytes);
        poke(c, a, bytes, sizeof bytes);
        cr_expect_eq(cuda_memory_unwritten(m, a, &first), 0);
        cuda_memory_free(m);
    }
    stop();
}

Test(cuda_memory, float_poison_is_not_a_number) {
    struct cuda_context *c = start("");
    struct cuda_memory *m = cuda_memory_new(c, 1 << 20, 3);
    float values[64];
    double wide[64];
    cuda_address a, b;
    for (size_t i = 0; i < 64; i++) {
        values[i] = __builtin_nanf("");
        wide[i] = __builtin_nan("");
    }
    cr_assert_eq(cuda_memory_alloc(m, "y", sizeof values, true, &a, NULL), 0);
    cr_assert_eq(cuda_memory_alloc(m, "z", sizeof wide, true, &b, NULL), 0);
    cr_assert_eq(cuda_memory_write(m, a, values, sizeof values, NULL), 0);
    cr_assert_eq(cuda_memory_write(m, b, wide, sizeof wide, NULL), 0);
    memset(values, 0, sizeof values);
    memset(wide, 0, sizeof wide);
    cr_assert_eq(cuda_memory_read(m, a, values, sizeof values, NULL), 0);
    cr_assert_eq(cuda_memory_read(m, b, wide, sizeof wide, NULL), 0);
    for (size_t i = 0; i < 64; i++) {
        cr_assert(values[i] != values[i]);
        cr_assert(wide[i] != wide[i]);
    }
    cuda_memory_free(m);
    stop();
}

/* A tool that watches allocations sees a buffer's end, and what nobody wrote. */
Test(cuda_memory, bare_buffers_are_allocations_and_stay_unwritten) {
    /* The second copy to the device would end the process. */
    struct cuda_context *c = start("crash cuMemcpyHtoDAsync_v2 2 abort\n");
    struct cuda_memory *m = cuda_memory_new(c, 1 << 20, 3);
    autojson *findings = json_array();
    float values[64];
    cuda_address input, output, empty;
    memset(values, 0x3f, sizeof values);
    cuda_memory_make_bare(m);
    cr_assert_eq(cuda_memory_alloc(m, "x", sizeof values, false, &input, NULL), 0);
    cr_assert_eq(cuda_memory_alloc(m, "y", sizeof values, true, &output, NULL), 0);
    cr_assert_eq(cuda_memory_alloc(m, "e", 0, true, &empty, NULL), 0);
    cr_expect_eq(cuda_memory_write(m, input, values, sizeof values, NULL), 0);
    cr_expect_eq(cuda_memory_write(m, output, values, sizeof values, NULL), 0);
    cr_expect_eq(cuda_memory_write(m, empty, values, 0, NULL), 0);
    cr_expect_eq(cuda_memory_check(m, "k", findings, NULL), 0);
    cr_expect_eq(json_array_size(findings), 0);
    cuda_memory_free(m);
    stop();
}

Test(cuda_memory, nothing_is_asked_of_a_lost_device) {
    struct cuda_context *c = start("fail cuMemcpyDtoHAsync_v2 1 700\n"
                                   "crash cuMemFree_v2 1 abort\n"
                                   "crash cuMemcpyDtoHAsync_v2 2 abort\n");
    struct cuda_memory *m = cuda_memory_new(c, 1 << 20, 3);
    struct err err = {0};
    cuda_address a;
    char byte;
    cr_assert_eq(cuda_memory_alloc(m, "y", 64, false, &a, NULL), 0);
    cr_expect_eq(cuda_memory_read(m, a, &byte, 1, &err), -EIO);
    cr_expect_eq(c->code, 700);
    cr_expect_eq(cuda_memory_read(m, a, &byte, 1, &err), -EIO);
    cr_expect(strstr(err.msg, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    cuda_memory_free(m);
    stop();
}

/* --- modules --- */

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define TWO                                                                              \
    HEAD ".visible .entry two(.param .u64 a, .param .u8 b, .param .u32 c) { ret; }\n"

static struct cuda_module *module_of(struct cuda_context *c, const char *ptx) {
    struct cuda_module *m = NULL;
    struct err err = {0};
    const struct cuda_image image = {.ptx = ptx, .ptx_len = strlen(ptx)};
    cr_assert_eq(cuda_module_load(&m, c, &image, &err), 0, "%s", err.msg);
    return m;
}

Test(cuda_module, tells_parameters_with_their_padding) {
    struct cuda_module *m = module_of(start(""), TWO);
    size_t offsets[4], bytes[4];
    cr_assert_eq(cuda_module_params(m, "two", offsets, bytes, 4), 3);
    cr_expect(offsets[0] == 0 && offsets[1] == 8 && offsets[2] == 12);
    cr_expect(bytes[0] == 8 && bytes[1] == 1 && bytes[2] == 4);
    cr_expect_eq(cuda_module_params(m, "none", offsets, bytes, 4), -ENOENT);
    cuda_module_free(m);
    stop();
}

Test(cuda_module, a_launch_that_cannot_be_is_refused_by_name) {
    static const struct {
        struct cuda_shape shape;
        int code;
        const char *words;
    } cases[] = {
        {{.grid = {1, 1, 1}, .block = {1025, 1, 1}}, 1, "block.x is 1025"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 65}}, 1, "block.z is 65"},
        {{.grid = {1, 1, 1}, .block = {64, 32, 1}}, 1, "2048 threads"},
        {{.grid = {1, 65536, 1}, .block = {1, 1, 1}}, 1, "grid.y is 65536"},
        {{.grid = {0, 1, 1}, .block = {1, 1, 1}}, 1, "grid.x is 0"},
        {{.grid = {1, 1, 1}, .block = {1, 1, 1}, .shared_bytes = 232449}, 1, "232449"},
        {{.grid = {3, 1, 1}, .block = {1, 1, 1}, .cluster = {2, 1, 1}},
         912,
         "not a multiple of cluster.x"},
        {{.grid = {32, 1, 1}, .block = {1, 1, 1}, .cluster = {32, 1, 1}}, 912, "at most"},
        {{.grid = {1 << 20, 1, 1}, .block = {1024, 1, 1}, .cooperative = true},
         720,
         "cooperative"},
    };
    struct cuda_context *c = start("");
    struct cuda_module *m = module_of(c, TWO);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cuda_shape shape = cases[i].shape;
        struct cuda_prepared prepared;
        struct err err = {0};
        shape.entry = shape.label = "two";
        cr_expect_eq(cuda_module_prepare(m, &shape, NULL, 0, &prepared, &err), -EINVAL,
                     "case %zu", i);
        cr_expect(strstr(err.msg, cases[i].words), "case %zu: %s", i, err.msg);
        cr_expect_eq(c->code, cases[i].code, "case %zu: %d", i, c->code);
    }
    cuda_module_free(m);
    stop();
}

Test(cuda_module, sets_what_a_launch_needs) {
    char block[16] = {0};
    struct cuda_context *c = start("");
    struct cuda_module *m = module_of(c, TWO);
    const struct cuda_shape shape = {.entry = "two",
                                     .label = "two",
                                     .grid = {16, 1, 1},
                                     .block = {32, 1, 1},
                                     .cluster = {16, 1, 1},
                                     .shared_bytes = 200000};
    struct cuda_prepared p;
    struct err err = {0};
    cr_assert_eq(cuda_module_prepare(m, &shape, block, sizeof block, &p, &err), 0, "%s",
                 err.msg);
    int value = 0;
    c->api->function_attribute(&value, CUDA_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                               p.function);
    cr_expect_eq(value, 200000);
    c->api->function_attribute(&value, CUDA_FUNCTION_NON_PORTABLE_CLUSTER, p.function);
    cr_expect_eq(value, 1);
    cr_expect_eq(p.launch.attribute_count, 1);
    cr_expect_eq(p.launch.attributes[0].id, CUDA_LAUNCH_CLUSTER);
    cr_expect_eq(p.launch.attributes[0].value.cluster.x, 16);
    cuda_module_free(m);
    stop();
}

Test(cuda_module, says_which_versions_do_not_fit) {
    static const char ptx[] = "// Cuda compilation tools, release 13.0, V13.0.88\n" TWO;
    struct cuda_context *c = start("driver 12040\nfail cuModuleLoadDataEx 1 209\n"
                                   "fail cuModuleLoadDataEx 2 222\n");
    const struct cuda_image image = {
        .cubin = "cubin", .cubin_len = 5, .ptx = ptx, .ptx_len = sizeof ptx - 1};
    struct cuda_module *m = NULL;
    struct err err = {0};
    cr_expect_eq(cuda_module_load(&m, c, &image, &err), -EIO);
    cr_expect_eq(c->code, 222);
    cr_expect(strstr(err.msg, "CUDA 12.4") && strstr(err.msg, "NVRTC 13.0"));
    cr_expect(strstr(err.msg, "CUDA_ERROR_NO_BINARY_FOR_GPU") &&
              strstr(err.msg, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"));
    stop();
}

Test(cuda_module, hands_on_what_the_assembler_says) {
    static const char ptx[] = HEAD ".visible .entry two() { no.such.instruction; }\n";
    struct cuda_context *c = start("");
    const struct cuda_image image = {.ptx = ptx, .ptx_len = sizeof ptx - 1};
    struct cuda_module *m = NULL;
    struct err err = {0};
    cr_expect_eq(cuda_module_load(&m, c, &image, &err), -EIO);
    cr_expect_eq(c->code, CUDA_INVALID_PTX);
    cr_expect(strstr(err.msg, "ptxas application ptx input, line 4"), "%s", err.msg);
    stop();
}
