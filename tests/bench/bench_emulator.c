/* bench_emulator: lane-instructions per second of the CPU backend.
 *
 * usage: bench_emulator EMULATOR_KERNELS.ptx [EXTENSION]
 *   EXTENSION  of the vectors, instead of the processor's widest: avx2
 *
 * Each kernel of emulator_kernels.cu runs on one thread with checks and counters off and
 * on, on all threads, and as its peers the same decoded code one lane at a time and the
 * same loop in plain C. Best of several runs; results are compared with the plain loop's.
 */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/machine/machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_BUFFERS = 3 };

struct work {
    const char *kind, *name;
    uint32_t grid[3], block[3];
    int n; /* the kernel's last parameter */
    size_t
        count[MAX_BUFFERS]; /* floats or ints of each buffer; the last one is written */
    unsigned buffers;
    bool ints; /* what the first buffer holds */
    void (*plain)(void *const *buffer, int n);
};

/* ---- the same in plain C ---- */

static void plain_add(void *const *v, int n) {
    const float *restrict a = v[0], *restrict b = v[1];
    float *restrict c = v[2];
    for (int i = 0; i < n; i++) {
        c[i] = a[i] + b[i];
    }
}

static void plain_saxpy(void *const *v, int n) {
    const float *restrict x = v[0];
    float *restrict y = v[1];
    for (int i = 0; i < 4 * n; i++) {
        y[i] = 1.5f * x[i] + y[i];
    }
}

static void plain_polynomial(void *const *v, int n) {
    const float *restrict x = v[0];
    float *restrict y = v[1];
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k < 64; k++) {
            s = s * x[i] + 0.25f;
        }
        y[i] = s;
    }
}

static void plain_collatz(void *const *v, int n) {
    const int *x = v[0];
    int *y = v[1];
    for (int i = 0; i < n; i++) {
        int k = 0;
        for (unsigned u = (unsigned)x[i]; u > 1; k++) {
            u = u % 2 ? 3 * u + 1 : u / 2;
        }
        y[i] = k;
    }
}

static void plain_gather(void *const *v, int n) {
    const float *x = v[0];
    const int *index = v[1];
    float *y = v[2];
    for (int i = 0; i < n; i++) {
        float s = 0;
        for (int k = 0; k < 16; k++) {
            s += x[index[(i + k * 977) % n]];
        }
        y[i] = s;
    }
}

static void plain_transpose(void *const *v, int w) {
    const float *in = v[0];
    float *out = v[1];
    for (int y = 0; y < w; y++) {
        for (int x = 0; x < w; x++) {
            out[x * w + y] = in[y * w + x];
        }
    }
}

static void plain_gemm(void *const *v, int n) {
    const float *a = v[0], *b = v[1];
    float *restrict c = v[2];
    memset(c, 0, (size_t)n * (size_t)n * sizeof *c);
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < n; k++) {
            for (int q = 0; q < n; q++) {
                c[r * n + q] += a[r * n + k] * b[k * n + q];
            }
        }
    }
}

static void plain_reduce(void *const *v, int n) {
    const float *x = v[0];
    float *out = v[1];
    for (int b = 0; b < n / 256; b++) {
        float s = 0;
        for (int i = 0; i < 256; i++) {
            s += x[b * 256 + i];
        }
        out[b] = s;
    }
}

static void plain_nothing(void *const *v, int n) {
    (void)v;
    (void)n;
}

/* A barrier of one thread is nothing: what is left is the count that it stores. */
static void plain_count(void *const *v, int n) {
    float *y = v[0];
    for (int i = 0; i < 64 * 256; i++) {
        y[i] = (float)n;
    }
}

#define MIB (1 << 20)
static const struct work works[] = {
    {"coalesced", "vector_add", {4096}, {256}, MIB, {MIB, MIB, MIB}, 3, false, plain_add},
    {"coalesced", "saxpy4", {512}, {256}, MIB / 4, {MIB, MIB}, 2, false, plain_saxpy},
    {"coalesced",
     "polynomial",
     {1024},
     {256},
     MIB / 4,
     {MIB / 4, MIB / 4},
     2,
     false,
     plain_polynomial},
    {"divergent", "collatz", {64}, {256}, 16384, {16384, 16384}, 2, true, plain_collatz},
    {"gather",
     "gather",
     {512},
     {256},
     MIB / 8,
     {MIB / 8, MIB / 8, MIB / 8},
     3,
     false,
     plain_gather},
    {"shared",
     "transpose",
     {32, 32},
     {32, 8},
     1024,
     {MIB, MIB},
     2,
     false,
     plain_transpose},
    {"shared",
     "gemm_tiled",
     {16, 16},
     {16, 16},
     256,
     {65536, 65536, 65536},
     3,
     false,
     plain_gemm},
    {"shared",
     "gemm_tiled_32",
     {8, 8},
     {32, 32},
     256,
     {65536, 65536, 65536},
     3,
     false,
     plain_gemm},
    {"coalesced",
     "gemm_naive",
     {8, 32},
     {32, 8},
     256,
     {65536, 65536, 65536},
     3,
     false,
     plain_gemm},
    {"shared", "block_reduce", {4096}, {256}, MIB, {MIB, 4096}, 2, false, plain_reduce},
    {"block", "empty_block", {4096}, {256}, 1, {1}, 1, false, plain_nothing},
    {"block", "barrier_only", {64}, {256}, 256, {64 * 256}, 1, false, plain_count},
};

static _Noreturn void die(const char *what, const char *why) {
    fprintf(stderr, "bench_emulator: %s: %s\n", what, why);
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Buffer 0 holds small numbers, 1 places inside n for the gather, else numbers too. */
static void fill(const struct work *w, unsigned buffer, void *to) {
    bool ints = w->ints || (buffer == 1 && w->plain == plain_gather);
    uint32_t state = 12345 + buffer;
    for (size_t i = 0; i < w->count[buffer]; i++) {
        state = state * 1664525u + 1013904223u;
        if (ints) {
            ((int *)to)[i] = (int)((state >> 8) % (uint32_t)w->n);
        } else {
            ((float *)to)[i] = (float)(state >> 24) / 256;
        }
    }
}

/* ---- the machine ---- */

struct measured {
    double seconds;
    uint64_t lanes;
};

static struct measured measure(const struct ptx_module *module, const struct work *w,
                               const struct machine_config *config, int repeat,
                               const void *expected) {
    struct machine *m = NULL;
    struct err err = {0};
    const char *entries[] = {w->name, NULL};
    if (machine_new(&m, module, entries, config, NULL, &err)) {
        die(w->name, err.msg);
    }
    struct {
        uint64_t address[MAX_BUFFERS];
    } params = {{0}};
    void *host[MAX_BUFFERS];
    unsigned last = w->buffers - 1;
    for (unsigned k = 0; k < w->buffers; k++) {
        if (machine_alloc(m, "buffer", w->count[k] * 4, 0, &params.address[k], &host[k],
                          &err)) {
            die(w->name, err.msg);
        }
        fill(w, k, host[k]);
    }
    char block[MAX_BUFFERS * 8 + 4];
    memcpy(block, params.address, sizeof params.address);
    memcpy(block + 8 * w->buffers, &w->n, 4);
    struct machine_launch launch = {
        .entry = w->name, .params = block, .param_bytes = 8 * w->buffers + 4};
    for (unsigned k = 0; k < 3; k++) {
        launch.grid[k] = w->grid[k] ? w->grid[k] : 1;
        launch.block[k] = w->block[k] ? w->block[k] : 1;
    }
    struct measured best = {1e30, 0};
    for (int k = 0; k < repeat; k++) {
        uint64_t before = machine_spent(m);
        double t = now();
        if (machine_launch(m, &launch, &err) != MACHINE_DONE) {
            die(w->name, "did not end well");
        }
        t = now() - t;
        best.seconds = t < best.seconds ? t : best.seconds;
        best.lanes = machine_spent(m) - before;
        if (k == 0) {
            for (size_t i = 0; i < w->count[last]; i++) {
                float got = ((float *)host[last])[i], want = ((const float *)expected)[i];
                bool same = w->ints ? ((int *)host[last])[i] == ((const int *)expected)[i]
                                    : fabsf(got - want) <= 1e-4f * fabsf(want) + 1e-4f;
                if (!same) {
                    die(w->name, "another result than the plain loop's");
                }
            }
        }
    }
    machine_free(m);
    return best;
}

static double measure_plain(const struct work *w, void **expected) {
    void *host[MAX_BUFFERS];
    double best = 1e30;
    for (int round = 0; round < 5; round++) {
        for (unsigned k = 0; k < w->buffers; k++) {
            host[k] = round ? host[k] : xcalloc(w->count[k], 4);
            fill(w, k, host[k]);
        }
        double t = now();
        w->plain(host, w->n);
        t = now() - t;
        best = t < best ? t : best;
    }
    *expected = host[w->buffers - 1];
    for (unsigned k = 0; k + 1 < w->buffers; k++) {
        free(host[k]);
    }
    return best;
}

static double rate(struct measured m) {
    return (double)m.lanes / m.seconds * 1e-9;
}

static void bench(const struct ptx_module *module, const struct work *w) {
    const uint64_t budget = 1ull << 50;
    void *expected;
    double plain = measure_plain(w, &expected);
    struct machine_config off = {.threads = 1, .instructions = budget};
    struct machine_config on = {
        .threads = 1, .instructions = budget, .checks = MACHINE_CHECK_DEFAULT};
    struct machine_config all = {.instructions = budget, .checks = MACHINE_CHECK_DEFAULT};
    struct machine_config lane = on;
    lane.one_lane = true;
    struct measured a = measure(module, w, &off, 5, expected);
    struct measured b = measure(module, w, &on, 5, expected);
    struct measured c = measure(module, w, &all, 5, expected);
    struct measured d = measure(module, w, &lane, 2, expected);
    printf("%-10s %-13s %8.3f %8.3f %8.3f %8.3f %8.1fx %9.2f %9.2f %7.1fx\n", w->kind,
           w->name, rate(a), rate(b), rate(c), rate(d), d.seconds / b.seconds,
           b.seconds * 1e3, plain * 1e3, b.seconds / plain);
    fflush(stdout);
    free(expected);
}

int main(int argc, char **argv) {
    struct err err = {0};
    autobuf text = BUF_INIT(PTX_MAX_TEXT);
    struct ptx_module *module = NULL;
    if (argc < 2 || argc > 3) {
        die("usage", "bench_emulator EMULATOR_KERNELS.ptx [EXTENSION]");
    }
    if (argc == 3 && bind_force_extension(argv[2])) {
        die(argv[2], "this processor or program does not have it");
    }
    if (file_read(argv[1], &text, &err) ||
        ptx_module_read(&module, text.data, text.len, &err)) {
        die(argv[1], err.msg);
    }
    printf("G lane-instructions/s:    ------ one thread -----   all       one thread,\n");
    printf("%-24s %8s %8s %8s %8s %9s %9s %9s %8s\n", "", "no check", "checks", "threads",
           "one lane", "to lane", "ms", "plain ms", "to plain");
    for (size_t k = 0; k < ARRAY_LEN(works); k++) {
        bench(module, &works[k]);
    }
    ptx_module_free(module);
    return 0;
}
