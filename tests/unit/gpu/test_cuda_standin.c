/* The stand-in of libcuda (tests/cuda): that it behaves as cuda.h and the programming
 * guide say a driver does. Codes are CUresult's numbers. */
#include "tests/unit/gpu/standin_room.h"

#include "base/mem.h"
#include "standin_kernels.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define COUNT 1000

/* ---- what there is ---- */

Test(cuda_standin, devices) {
    struct standin_room *r = room_load("devices 2\nname GPU with a name\ndriver 12040\n");
    int n = 0;
    char name[64];
    struct cuda_uuid a, b;
    size_t bytes;
    cr_expect_eq(r->api.device_count(&n), CUDA_NOT_INITIALIZED);
    cr_expect_eq(r->api.driver_version(&n), 0);
    cr_expect_eq(n, 12040);
    cr_expect_eq(r->api.init(1), CUDA_INVALID_VALUE);
    cr_assert_eq(r->api.init(0), 0);
    cr_expect_eq(r->api.device_count(&n), 0);
    cr_expect_eq(n, 2);
    cr_expect_eq(r->api.device_get(&n, 2), 101);
    cr_expect_eq(r->api.device_get(&n, 1), 0);
    cr_expect_eq(r->api.device_name(name, sizeof name, n), 0);
    cr_expect_str_eq(name, "GPU with a name");
    cr_expect_eq(r->api.device_uuid(&a, 0) + r->api.device_uuid(&b, 1), 0);
    cr_expect_neq(memcmp(&a, &b, sizeof a), 0);
    cr_expect_eq(r->api.device_memory(&bytes, 0), 0);
    cr_expect_eq(bytes, (size_t)80 << 30);
    cr_expect_eq(r->api.device_attribute(&n, CUDA_DEVICE_CAPABILITY_MAJOR, 0), 0);
    cr_expect_eq(n, 9);
    cr_expect_eq(r->api.device_attribute(&n, 100000, 0), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.memory_alloc(&(cuda_address){0}, 4), 201, "no context yet");
    room_end(r);
}

/* ---- running ---- */

static void axpy_params_check(struct standin_room *r, bool packed) {
    float x[COUNT], y[COUNT], a = 3, back[COUNT];
    uint32_t n = COUNT;
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    cuda_address dx = device_words(r, COUNT), dy = device_words(r, COUNT);
    cr_assert_eq(r->api.copy_to_device(dx, x, sizeof x, r->stream), 0);
    cr_assert_eq(r->api.copy_to_device(dy, y, sizeof y, r->stream), 0);
    void *params[] = {&dy, &dx, &a, &n};
    struct {
        cuda_address y, x;
        float a;
        uint32_t n;
    } block = {dy, dx, a, n};
    size_t bytes = sizeof block;
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL};
    const struct cuda_launch launch = {
        .grid = {8, 1, 1}, .block = {128, 1, 1}, .stream = r->stream};
    cr_assert_eq(r->api.launch(&launch, room_function(r, "axpy"), packed ? NULL : params,
                               packed ? extra : NULL),
                 0);
    cr_assert_eq(r->api.copy_to_host(back, dy, sizeof back, r->stream), 0);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(back[i], (float)(5 * i), "y[%d] is %g", i, (double)back[i]);
    }
}

Test(cuda_standin, axpy) {
    struct standin_room *r = room_start("", AXPY);
    axpy_params_check(r, false);
    axpy_params_check(r, true);
    room_end(r);
}

Test(cuda_standin, copies_and_fills) {
    struct standin_room *r = room_start("", NULL);
    unsigned words[16];
    cuda_address a = device_words(r, 16), b = device_words(r, 16);
    cr_expect_eq(r->api.set_words(a, 0x01020304, 16, r->stream), 0);
    cr_expect_eq(r->api.set_bytes(a + 4, 0xee, 3, r->stream), 0);
    cr_expect_eq(r->api.copy_on_device(b + 8, a, 56, r->stream), 0);
    cr_expect_eq(r->api.copy_to_host(words, b, 64, r->stream), 0);
    cr_expect_eq(words[2], 0x01020304);
    cr_expect_eq(words[3], 0x01eeeeee);
    cr_expect_eq(words[15], 0x01020304);
    cr_expect_eq(r->api.copy_to_host(words, b + 4, 64, r->stream), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.set_words(a + 2, 0, 1, r->stream), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.copy_on_device(b, 4096, 4, r->stream), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.memory_free(a), 0);
    cr_expect_eq(r->api.memory_free(a), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.memory_free(b + 4), CUDA_INVALID_VALUE);
    cr_expect_eq(r->api.copy_to_host(words, a, 4, r->stream), CUDA_INVALID_VALUE);
    room_end(r);
}

/* What was freed is found again, at another address. */
Test(cuda_standin, stale_memory) {
    struct standin_room *r = room_start("room 1000000\n", NULL);
    unsigned word = 0;
    cuda_address before = 0;
    for (unsigned k = 0; k < 20; k++) {
        cuda_address a = device_words(r, 100);
        cr_expect_gt(a, before);
        before = a;
        cr_expect_eq(r->api.copy_to_host(&word, a, 4, r->stream), 0);
        cr_expect_eq(word, k ? 1000 + k - 1 : 0xcdcdcdcd);
        cr_expect_eq(r->api.set_words(a, 1000 + k, 100, r->stream), 0);
        cr_expect_eq(r->api.memory_free(a), 0);
    }
    cr_expect_eq(r->api.memory_alloc(&before, 2000000), CUDA_OUT_OF_MEMORY);
    cr_expect_eq(r->api.memory_alloc(&before, 0), CUDA_INVALID_VALUE);
    room_end(r);
}

/* All modules see all memory. */
Test(cuda_standin, two_modules) {
    struct standin_room *r = room_start("", POKE);
    cuda_module_ref first = r->module;
    unsigned words[2] = {0, 0};
    cuda_address a = device_words(r, 2), b = a + 4;
    cr_assert_eq(r->api.module_load(&r->module,
                                    ".version 8.0\n.target sm_80\n.address_size 64\n" POKE
                                    ".visible .global .align 4 .u32 unused;\n",
                                    0, NULL, NULL),
                 0);
    cr_expect_eq(room_launch(r, "poke", 1, 1, (void *[]){&b}), 0);
    cuda_address unused;
    size_t bytes;
    cr_expect_eq(r->api.module_global(&unused, &bytes, r->module, "unused"), 0);
    cr_expect_eq(bytes, 4);
    cr_expect_eq(r->api.copy_to_host(words, unused, 4, r->stream), 0);
    cr_expect_eq(words[0], 0);
    cr_expect_eq(r->api.module_unload(r->module), 0);
    cr_expect_eq(r->api.module_unload(r->module), 400);
    r->module = first;
    cr_expect_eq(room_launch(r, "poke", 1, 1, (void *[]){&a}), 0);
    cr_expect_eq(r->api.copy_to_host(words, a, 8, r->stream), 0);
    cr_expect_eq(words[0], 7);
    cr_expect_eq(words[1], 7);
    room_end(r);
}

/* ---- time ---- */

Test(cuda_standin, asynchronous) {
    struct standin_room *r = room_start("stuck 2\n", NOTHING);
    cuda_event_ref before, after, never;
    cr_expect_eq(r->api.event_create(&before, 0) + r->api.event_create(&after, 0) +
                     r->api.event_create(&never, 0),
                 0);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(r->api.event_record(before, r->stream), 0);
    cr_expect_eq(room_launch(r, "nothing", 1, 1, NULL), 0);
    cr_expect_eq(r->api.event_record(after, r->stream), 0);
    while (r->api.event_query(before) == CUDA_NOT_READY) {
        usleep(200);
    }
    cr_expect_eq(r->api.event_query(before), 0);
    cr_expect_eq(r->api.event_query(after), CUDA_NOT_READY);
    cr_expect_eq(r->api.stream_query(r->stream), CUDA_NOT_READY);
    float ms;
    cr_expect_eq(r->api.event_elapsed(&ms, before, after), CUDA_NOT_READY);
    cr_expect_eq(r->api.event_elapsed(&ms, before, never), 400);
    cr_expect_eq(r->api.event_query(never), 0);
    room_end(r); /* ends although the launch does not */
}

Test(cuda_standin, kernel_that_never_ends) {
    struct standin_room *r = room_start("", ENDLESS);
    cuda_address a = device_words(r, 1);
    cr_expect_eq(r->api.set_words(a, 1, 1, r->stream), 0);
    cr_expect_eq(room_wait(r), 0);
    cr_expect_eq(room_launch(r, "endless", 1, 32, (void *[]){&a}), 0);
    for (int k = 0; k < 20; k++) {
        cr_expect_eq(r->api.stream_query(r->stream), CUDA_NOT_READY);
        usleep(500);
    }
    room_end(r);
}

static float elapsed(struct standin_room *r, cuda_event_ref from, cuda_event_ref to) {
    float ms = -1;
    cr_assert_eq(r->api.event_record(to, r->stream), 0);
    cr_assert_eq(room_wait(r), 0);
    cr_assert_eq(r->api.event_elapsed(&ms, from, to), 0);
    cr_assert_eq(r->api.event_record(from, r->stream), 0);
    return ms * 1000;
}

/* The device's clock is made of what conf says, nothing else. */
Test(cuda_standin, events) {
    struct standin_room *r = room_start(
        "launch_us 20\nkernel_us poke 50\ncold_us 7\nl2 4096\nbytes_per_us 4\n",
        NOTHING POKE);
    cuda_event_ref from, to;
    cuda_address a = device_words(r, 1024);
    r->api.event_create(&from, 0);
    r->api.event_create(&to, 0);
    r->api.event_record(from, r->stream);
    cr_expect_eq(elapsed(r, from, to), 0);
    room_launch(r, "nothing", 1, 1, NULL);
    room_launch(r, "nothing", 1, 1, NULL);
    cr_expect_float_eq(elapsed(r, from, to), 40, 0.01);
    room_launch(r, "poke", 1, 1, (void *[]){&a});
    cr_expect_float_eq(elapsed(r, from, to), 50, 0.01);
    r->api.set_words(a, 0, 1024, r->stream);
    cr_expect_float_eq(elapsed(r, from, to), 1025, 0.01);
    room_launch(r, "nothing", 1, 1, NULL);
    room_launch(r, "nothing", 1, 1, NULL);
    cr_expect_float_eq(elapsed(r, from, to), 47, 0.01);
    cr_expect_eq(r->api.event_destroy(from), 0);
    cr_expect_eq(r->api.event_destroy(from), 400);
    room_end(r);
}

/* ---- graphs ---- */

Test(cuda_standin, graphs) {
    struct standin_room *r = room_start("gap_us 3\n", AXPY);
    cuda_graph_ref graph = NULL;
    cuda_graph_exec_ref exec = NULL;
    cuda_event_ref from, to;
    float one = 1, y = 0;
    uint32_t n = 1;
    cuda_address dx = device_words(r, 1), dy = device_words(r, 1);
    void *params[] = {&dy, &dx, &one, &n};
    r->api.copy_to_device(dx, &one, 4, r->stream);
    cr_assert_eq(r->api.stream_begin_capture(r->stream, CUDA_CAPTURE_THREAD_LOCAL), 0);
    cr_expect_eq(r->api.set_words(dy, 0, 1, r->stream), 0);
    for (int k = 0; k < 10; k++) {
        cr_expect_eq(room_launch(r, "axpy", 1, 32, params), 0);
    }
    cr_assert_eq(r->api.stream_end_capture(r->stream, &graph), 0);
    cr_assert_eq(r->api.graph_instantiate(&exec, graph, 0), 0);
    cr_expect_eq(r->api.graph_destroy(graph), 0);
    r->api.event_create(&from, 0);
    r->api.event_create(&to, 0);
    cr_expect_eq(room_wait(r), 0);
    r->api.event_record(from, r->stream);
    for (int k = 0; k < 3; k++) {
        cr_expect_eq(r->api.graph_launch(exec, r->stream), 0);
    }
    cr_expect_float_eq(elapsed(r, from, to), 303, 0.1, "launches without gaps, 3 fills");
    cr_expect_eq(r->api.copy_to_host(&y, dy, 4, r->stream), 0);
    cr_expect_eq(y, 10);
    cr_expect_eq(r->api.graph_exec_destroy(exec), 0);
    cr_expect_eq(r->api.graph_launch(exec, r->stream), CUDA_INVALID_VALUE);
    room_end(r);
}

Test(cuda_standin, functions) {
    struct standin_room *r = room_start("", AXPY NOTHING);
    cuda_function_ref f = room_function(r, "axpy");
    const size_t want[][2] = {{0, 8}, {8, 8}, {16, 4}, {20, 4}};
    size_t offset, bytes;
    int n;
    for (size_t k = 0; k < 4; k++) {
        cr_expect_eq(r->api.function_param(f, k, &offset, &bytes), 0);
        cr_expect(offset == want[k][0] && bytes == want[k][1], "parameter %zu", k);
    }
    cr_expect_eq(r->api.function_param(f, 4, &offset, &bytes), 1);
    cr_expect_eq(r->api.module_function(&f, r->module, "axpyy"), CUDA_NOT_FOUND);
    cr_expect_eq(r->api.module_function(&f, (cuda_module_ref)(void *)&n, "axpy"), 400);
    cr_expect_eq(r->api.function_attribute(&n, CUDA_FUNCTION_MAX_THREADS, f), 0);
    cr_expect_eq(n, 1024);
    cr_expect_eq(r->api.active_blocks(&n, f, 256, 0), 0);
    cr_expect_eq(n, 8, "2048 threads of an SM");
    cr_expect_eq(r->api.active_blocks(&n, f, 128, 100 << 10), 0);
    cr_expect_eq(n, 2, "228 KiB of an SM, 1 KiB of each block the system's");
    room_end(r);
}

/* ---- what kernels say ---- */

#define PRINTS                                                                           \
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"            \
    ".global .align 1 .b8 text[8] = {104, 101, 108, 108, 111, 33, 10, 0};\n"             \
    ".visible .entry hello() { .reg .b64 %d<4>; .reg .b32 %r<2>;\n"                      \
    "mov.u64 %d0, text; cvta.global.u64 %d1, %d0; mov.u64 %d2, 0;\n"                     \
    "{ .param .b64 p0; st.param.b64 [p0], %d1; .param .b64 p1; st.param.b64 [p1], "      \
    "%d2;\n"                                                                             \
    ".param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r0, [q]; } ret; }\n"

/* Everything that is on the pipe now. */
static size_t drain(int fd, char *text, size_t room) {
    size_t len = 0;
    ssize_t n;
    while ((n = read(fd, text + len, room - 1 - len)) > 0) {
        len += (size_t)n;
    }
    text[len] = 0;
    return len;
}

Test(cuda_standin, printf_) {
    struct standin_room *r = room_start("print 202 5000\n", PRINTS);
    int ends[2], saved = dup(1);
    char text[32768];
    cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
    cr_assert_eq(dup2(ends[1], 1), 1);
    room_launch(r, "hello", 2, 1, NULL);
    room_wait(r);
    size_t before = drain(ends[0], text, sizeof text);
    r->api.context_synchronize();
    drain(ends[0], text, sizeof text);
    cr_assert_eq(dup2(saved, 1), 1);
    cr_expect_eq(before, 0, "a query flushes nothing");
    cr_expect_str_eq(text, "hello!\nhello!\n");
    cr_expect_eq(r->api.context_set_limit(CUDA_LIMIT_PRINTF_BYTES, 1024), 0);
    cr_assert_eq(dup2(ends[1], 1), 1);
    for (int k = 0; k < 200; k++) {
        room_launch(r, "hello", 1, 1, NULL);
    }
    r->api.context_synchronize();
    size_t kept = drain(ends[0], text, sizeof text);
    room_launch(r, "hello", 1, 1, NULL);
    r->api.context_synchronize();
    size_t flood = drain(ends[0], text, sizeof text);
    cr_assert_eq(dup2(saved, 1), 1);
    cr_expect_eq(kept, 1024, "the oldest are lost");
    cr_expect_eq(flood, 7 + 5000);
    close(saved);
    room_end(r);
}

#define ASSERTS                                                                          \
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c,\n"         \
    ".param .b64 d, .param .b64 e) .noreturn;\n"                                         \
    ".global .align 1 .b8 words[6] = {120, 32, 62, 32, 48, 0};\n"                        \
    ".global .align 1 .b8 file[5] = {107, 46, 99, 117, 0};\n"                            \
    ".global .align 1 .b8 name[9] = {118, 111, 105, 100, 32, 107, 40, 41, 0};\n"         \
    ".visible .entry k() { .reg .b64 %d<8>; .reg .b32 %r<2>;\n"                          \
    "mov.u64 %d0, words; cvta.global.u64 %d1, %d0; mov.u64 %d2, file;\n"                 \
    "cvta.global.u64 %d3, %d2; mov.u64 %d4, name; cvta.global.u64 %d5, %d4;\n"           \
    "mov.u64 %d6, 1; mov.u32 %r0, 12;\n"                                                 \
    "{ .param .b64 p0; st.param.b64 [p0], %d1; .param .b64 p1; st.param.b64 [p1], "      \
    "%d3;\n"                                                                             \
    ".param .b32 p2; st.param.b32 [p2], %r0; .param .b64 p3; st.param.b64 [p3], %d5;\n"  \
    ".param .b64 p4; st.param.b64 [p4], %d6;\n"                                          \
    "call.uni __assertfail, (p0, p1, p2, p3, p4); } ret; }\n"

Test(cuda_standin, assert_) {
    struct standin_room *r = room_start("", ASSERTS);
    int ends[2], saved = dup(2);
    char text[4096];
    cr_assert_eq(pipe2(ends, O_NONBLOCK), 0);
    cr_assert_eq(dup2(ends[1], 2), 2);
    room_launch(r, "k", 1, 1, NULL);
    int code = room_wait(r);
    drain(ends[0], text, sizeof text);
    cr_assert_eq(dup2(saved, 2), 2);
    cr_expect_eq(code, CUDA_ASSERT);
    cr_expect_str_eq(
        text,
        "k.cu:12: void k(): block: [0,0,0], thread: [0,0,0] Assertion `x > 0` failed.\n");
    close(saved);
    room_end(r);
}

Test(cuda_standin, tensor_maps) {
    struct standin_room *r = room_start("", NULL);
    unsigned char map[128] __attribute__((aligned(128)));
    cuda_address a = device_words(r, 4096);
    uint64_t dims[] = {64, 64}, strides[] = {128};
    uint32_t box[] = {32, 8}, steps[] = {1, 1};
    void *at = (void *)(uintptr_t)a;
#define ENCODE(type, swizzle)                                                            \
    r->api.tensor_map_encode(map, type, 2, at, dims, strides, box, steps, 0, swizzle, 0, \
                             0)
    cr_expect_eq(ENCODE(CUDA_TENSOR_FLOAT16, CUDA_SWIZZLE_64B), 0);
    cr_expect_eq(ENCODE(CUDA_TENSOR_FLOAT16, CUDA_SWIZZLE_32B), 1, "64 bytes of a row");
    cr_expect_eq(ENCODE(99, CUDA_SWIZZLE_NONE), 1);
    strides[0] = 120;
    cr_expect_eq(ENCODE(CUDA_TENSOR_FLOAT16, CUDA_SWIZZLE_NONE), 1);
    strides[0] = 128;
    box[1] = 257;
    cr_expect_eq(ENCODE(CUDA_TENSOR_FLOAT16, CUDA_SWIZZLE_NONE), 1);
    box[1] = 8;
    box[0] = 7;
    cr_expect_eq(ENCODE(CUDA_TENSOR_FLOAT16, CUDA_SWIZZLE_NONE), 1, "14 bytes of a row");
    room_end(r);
}

Test(cuda_standin, im2col_maps) {
    struct standin_room *r = room_start("", NULL);
    unsigned char map[128] __attribute__((aligned(128)));
    cuda_address a = device_words(r, 4096);
    uint64_t dims[] = {32, 6, 5, 2, 2}, strides[] = {64, 384, 1920, 3840};
    uint32_t steps[] = {1, 2, 1, 1, 1};
    int lower[] = {-1, -1, 0}, upper[] = {-1, 0, 0};
    void *at = (void *)(uintptr_t)a;
#define IM2COL(rank, channels, pixels, interleave, swizzle, fill)                        \
    r->api.tensor_map_encode_im2col(map, CUDA_TENSOR_FLOAT16, rank, at, dims, strides,   \
                                    lower, upper, channels, pixels, steps, interleave,   \
                                    swizzle, 0, fill)
    cr_expect_eq(IM2COL(4, 32, 1024, 0, CUDA_SWIZZLE_64B, 1), 0);
    cr_expect_eq(IM2COL(5, 8, 1, 0, CUDA_SWIZZLE_NONE, 0), 0);
    cr_expect_eq(IM2COL(3, 8, 1, 0, CUDA_SWIZZLE_NONE, 0), 0);
    cr_expect_eq(IM2COL(2, 8, 1, 0, CUDA_SWIZZLE_NONE, 0), 1, "two dimensions");
    cr_expect_eq(IM2COL(4, 257, 1, 0, CUDA_SWIZZLE_NONE, 0), 1, "channels");
    cr_expect_eq(IM2COL(4, 8, 1025, 0, CUDA_SWIZZLE_NONE, 0), 1, "pixels");
    cr_expect_eq(IM2COL(4, 32, 8, 0, CUDA_SWIZZLE_32B, 0), 1, "64 bytes of a pixel");
    cr_expect_eq(IM2COL(4, 16, 8, 2, CUDA_SWIZZLE_NONE, 0), 1, "32B, not swizzled");
    cr_expect_eq(IM2COL(4, 8, 8, 1, CUDA_SWIZZLE_NONE, 0), 801,
                 "right, but not run here");
    lower[0] = -129;
    cr_expect_eq(IM2COL(4, 8, 8, 0, CUDA_SWIZZLE_NONE, 0), 1, "a corner of 9 bits");
    cr_expect_eq(IM2COL(3, 8, 8, 0, CUDA_SWIZZLE_NONE, 0), 0, "that are 16 of one");
    lower[0] = 5;
    cr_expect_eq(IM2COL(4, 8, 8, 0, CUDA_SWIZZLE_NONE, 0), 1, "a box without an inside");
    lower[0] = 4;
    cr_expect_eq(IM2COL(4, 8, 8, 0, CUDA_SWIZZLE_NONE, 0), 0);
    steps[2] = 9;
    cr_expect_eq(IM2COL(4, 8, 8, 0, CUDA_SWIZZLE_NONE, 0), 1, "a step");
    room_end(r);
}

/* ---- libnvidia-ml's: types as in nvml.h ---- */

typedef struct nvmlDevice_st *nvmlDevice_t;
struct nvmlProcessInfo_st {
    unsigned pid;
    unsigned long long memory;
    unsigned instances[2];
};

Test(nvml_standin, clocks) {
    struct standin_room *r = room_load_nvml("sm_clock 1500\nlater 2 900 0x4\nothers 2\n");
    struct nvmlProcessInfo_st list[4];
    int (*init)(void), (*by_uuid)(const char *, nvmlDevice_t *);
    int (*clock)(nvmlDevice_t, int, unsigned *);
    int (*reasons)(nvmlDevice_t, unsigned long long *);
    int (*processes)(nvmlDevice_t, unsigned *, struct nvmlProcessInfo_st *);
#define FIND(f, name) *(void **)&f = dlsym(r->library, name)
    FIND(init, "nvmlInit_v2");
    FIND(by_uuid, "nvmlDeviceGetHandleByUUID");
    FIND(clock, "nvmlDeviceGetClockInfo");
    FIND(reasons, "nvmlDeviceGetCurrentClocksEventReasons");
    FIND(processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    nvmlDevice_t device;
    unsigned mhz, count = 1;
    unsigned long long why;
    cr_assert_eq(by_uuid("GPU-1", &device), 1, "not started");
    cr_assert_eq(init(), 0);
    cr_expect_eq(by_uuid("GPU-1", &device), 6);
    cr_assert_eq(by_uuid("GPU-5d5d5d5d-5d5d-5d5d-5d5d-5d5d5d5d5d00", &device), 0);
    cr_expect(clock(device, 1, &mhz) == 0 && mhz == 1500);
    cr_expect(reasons(device, &why) == 0 && why == 0);
    cr_expect(clock(device, 1, &mhz) == 0 && mhz == 900);
    cr_expect(reasons(device, &why) == 0 && why == 4);
    cr_expect_eq(processes(device, &count, list), 7);
    cr_expect_eq(count, 3);
    cr_expect_eq(processes(device, &count, list), 0);
    cr_expect_eq(list[2].pid, (unsigned)getpid());
    room_end(r);
}
