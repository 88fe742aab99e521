/* host_program: host code as nvcc makes it, of gcc's: what __cudaRegister… is told is
 * told here, with kernels.ptx. One case a run, by its name; exit status 0: calls answered
 * as they should. */
#include "cases.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- CUDA's names, as NVIDIA documents them ---- */

typedef struct {
    unsigned x, y, z;
} dim3;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *,
                            void *, void *, void *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocHost(void **, size_t);
int cudaFree(void *);
int cudaFreeHost(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemset(void *, int, size_t);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, int);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemsetAsync(void *, int, size_t, void *);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
int cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaDeviceReset(void);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
const char *cudaGetErrorName(int);
int cudaStreamCreate(void **);
int cudaStreamCreateWithFlags(void **, unsigned);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamQuery(void *);
int cudaEventQuery(void *);
int cudaStreamSynchronize(void *);
int cudaStreamBeginCapture(void *, int);
int cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiate(void **, void *, unsigned long long);
int cudaGraphLaunch(void *, void *);
int cudaEventCreate(void **);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaFuncGetAttributes(void *, const void *);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
enum { IN = 1, OUT = 2, ON_DEVICE = 3, DEFAULT = 4 };

/* ---- registration ---- */

/* The host's sides of kernels. */
static char past, bump_apart, scale, wait_for, hello;
const char add, bump, decide;
static char total, factor;                           /* and of variables */
static void **module;

static struct {
    uint32_t magic, version;
    const void *data;
    const void *parts;
} wrapper = {0x466243b1, 1, NULL, NULL};

static void leave(void) {
    __cudaUnregisterFatBinary(module);
}

/* Makes a fat binary of one entry, PTX for compute_90a, as --no-compress writes it, of
 * the len bytes behind the first 80 of data. */
static void fatbin_make(uint8_t *data, size_t len) {
    uint64_t bytes = (len + 8) / 8 * 8, all = bytes + 64, flags = 0x100011;
    memcpy(data, &(uint32_t){0xba55ed50}, 4);
    memcpy(data + 4, &(uint16_t){1}, 2);
    memcpy(data + 6, &(uint16_t){16}, 2);
    memcpy(data + 8, &all, 8);
    memcpy(data + 16, &(uint16_t){1}, 2);
    memcpy(data + 20, &(uint32_t){64}, 4);
    memcpy(data + 24, &bytes, 8);
    memcpy(data + 44, &(uint32_t){90}, 4);
    memcpy(data + 56, &flags, 8);
}

static void register_all(const char *path) {
    static uint8_t data[1 << 20];
    FILE *f = fopen(path, "r");
    size_t len = f ? fread(data + 80, 1, sizeof data - 100, f) : 0;
    fatbin_make(data, len);
    wrapper.data = data;
    module = __cudaRegisterFatBinary(&wrapper);
    static const struct {
        const char *host;
        const char *name;
    } kernels[] = {{&add, "add"},
                   {&past, "past"},
                   {&bump, "bump"},
                   {&bump_apart, "bump_apart"},
                   {&decide, "decide"},
                   {&scale, "scale"},
                   {&wait_for, "wait_for"},
                   {&hello, "hello"}};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        __cudaRegisterFunction(module, kernels[k].host,
                               (char *)(uintptr_t)kernels[k].name, kernels[k].name, -1,
                               NULL, NULL, NULL, NULL, NULL);
    }
    __cudaRegisterVar(module, &total, (char *)(uintptr_t) "total", "total", 0, 4, 0, 0);
    __cudaRegisterVar(module, &factor, (char *)(uintptr_t) "factor", "factor", 0, 4, 1,
                      0);
    __cudaRegisterFatBinaryEnd(module);
    atexit(leave);
}

/* ---- cases ---- */

#define N 256

static int launch(const void *kernel, unsigned blocks, unsigned threads, void **params,
                  void *stream) {
    return cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, params,
                            0, stream);
}

int launch_in(void *stream, const void *kernel, void **params) {
    return launch(kernel, 1, 1, params, stream);
}

static float *upload(float first) {
    float host[N], *device = NULL;
    for (int k = 0; k < N; k++) {
        host[k] = first + (float)k;
    }
    return cudaMalloc((void **)&device, sizeof host) ||
                   cudaMemcpy(device, host, sizeof host, IN)
               ? NULL
               : device;
}

static __attribute__((noinline)) int sum(const float *a, const float *b, float *c,
                                         void *stream) {
    int n = N;
    return launch(&add, 2, 128, (void *[]){&a, &b, &c, &n}, stream);
}

static int case_add(void) {
    float *a = upload(1), *b = upload(2), *c = upload(0), host[N];
    CHECK(a && b && c);
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(host, c, sizeof host, OUT));
    for (int k = 0; k < N; k++) {
        CHECK(host[k] == 3 + 2 * (float)k);
    }
    return cudaFree(a) || cudaFree(b) || cudaFree(c);
}

static int case_bounds(void) {
    float *a = upload(1);
    FINE(launch(&past, 1, N, (void *[]){&a}, NULL));
    CHECK(cudaDeviceSynchronize() == 700);
    CHECK(cudaMemset(a, 0, 4) == 700); /* it stays */
    void *event;
    FINE(cudaEventCreate(&event));
    CHECK(cudaEventRecord(event, NULL) == 700);
    return 0;
}

static int case_uninitialized(void) {
    float *a = upload(1), *b, *c = upload(0);
    FINE(cudaMalloc((void **)&b, N * sizeof *b));
    FINE(cudaMemset(b, 0, N * sizeof *b / 2));
    FINE(sum(a, b, c, NULL));
    FINE(cudaDeviceSynchronize());
    return cudaFree(a) || cudaFree(b) || cudaFree(c);
}

/* The host looks at what came of it: through a copy on the device, or only at the half
 * that was written. */
static int case_uninitialized_read(void) {
    float *a = upload(1), *b, *c = upload(0), *d = upload(0), read[N];
    FINE(cudaMalloc((void **)&b, N * sizeof *b));
    FINE(cudaMemset(b, 0, N * sizeof *b / 2));
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(d, c, N * sizeof *d, 3));
    FINE(cudaMemcpy(read, d, N * sizeof *d, 2));
    return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFree(d);
}

/* Pinned memory is the host's, too. */
static int case_uninitialized_pinned(void) {
    float *a = upload(1), *b, *c = upload(0), *read;
    FINE(cudaMalloc((void **)&b, N * sizeof *b));
    FINE(cudaMallocHost((void **)&read, N * sizeof *read));
    FINE(cudaMemset(b, 0, N * sizeof *b / 2));
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(read, c, N * sizeof *c, 2));
    return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFreeHost(read);
}

/* More undefined values than are followed one by one: nobody uses them but one. */
static int case_uninitialized_many(void) {
    float *a, *c, one;
    int n = 1 << 17;
    FINE(cudaMalloc((void **)&a, n * sizeof *a));
    FINE(cudaMalloc((void **)&c, n * sizeof *c));
    FINE(launch(&add, n / 256, 256, (void *[]){&a, &a, &c, &n}, NULL));
    FINE(cudaMemcpy(&one, c + n - 1, sizeof one, OUT));
    return cudaFree(a) || cudaFree(c);
}

static int case_uninitialized_half(void) {
    float *a = upload(1), *b, *c = upload(0), read[N];
    FINE(cudaMalloc((void **)&b, N * sizeof *b));
    FINE(cudaMemset(b, 0, N * sizeof *b / 2));
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(read, c, N * sizeof *c / 2, 2));
    return cudaFree(a) || cudaFree(b) || cudaFree(c);
}

/* Whoever wrote them: a kernel, an upload, a fill, another copy. */
static int case_written(void) {
    float *a = upload(1), *b = upload(2), *c, *d, read[N];
    char rows[4][1024];
    void *p;
    size_t pitch;
    FINE(cudaMalloc((void **)&c, N * sizeof *c));
    FINE(cudaMalloc((void **)&d, N * sizeof *d));
    FINE(launch(&add, 1, 128, (void *[]){&a, &b, &c, &(int){N}}, NULL));
    FINE(cudaMemcpy(read, c, N / 2 * sizeof *c, OUT));
    FINE(cudaMemset((char *)(c + N / 2) + 3, 0, N / 2 * sizeof *c - 3));
    FINE(cudaMemcpy(c + N / 2, a, 3, ON_DEVICE));
    FINE(cudaMemcpy(read, c, N * sizeof *c, OUT));
    FINE(cudaMemcpy(d, c, N * sizeof *d, ON_DEVICE));
    FINE(cudaMemcpy(read, d, N * sizeof *d, DEFAULT));
    FINE(cudaMallocPitch(&p, &pitch, 100, 4));
    FINE(cudaMemset2D(p, pitch, 0, 100, 4));
    FINE(cudaMemcpy2D(rows, 1024, p, pitch, 100, 4, OUT)); /* without the padding */
    return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFree(d) || cudaFree(p);
}

static int case_unwritten(void) {
    float *a = upload(1), *b = upload(2), *c, *d, read[N], *pinned;
    char rows[4][1024];
    void *p;
    size_t pitch;
    FINE(cudaMalloc((void **)&c, N * sizeof *c));
    FINE(cudaMalloc((void **)&d, N * sizeof *d));
    FINE(cudaMallocHost((void **)&pinned, 8));
    FINE(launch(&add, 1, 128, (void *[]){&a, &b, &c, &(int){N}}, NULL));
    for (int k = 0; k < 3; k++) { /* told once */
        FINE(cudaMemcpy(read, c, N * sizeof *c, OUT));
    }
    FINE(cudaMemcpy(d, c, N * sizeof *d, ON_DEVICE));
    FINE(cudaMemcpyAsync(pinned, d + N / 2 - 1, 8, OUT, NULL));
    FINE(cudaMallocPitch(&p, &pitch, 100, 4));
    FINE(cudaMemset2D(p, pitch, 0, 100, 4));
    FINE(cudaMemcpy2D(rows, 1024, p, pitch, 101, 4, OUT));
    FINE(cudaFreeHost(pinned));
    return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFree(d) || cudaFree(p);
}

static int case_follow(void) {
    float *a = upload(1);
    return (int)((volatile float *)a)[2];
}

static int case_freed(void) {
    int *a;
    FINE(cudaMallocManaged((void **)&a, 64, 1));
    a[3] = 1; /* the host sees it … */
    FINE(cudaFree(a));
    return ((volatile int *)a)[3]; /* … no more */
}

static int case_frees(void) {
    float *a = upload(1);
    int own;
    void *pinned;
    FINE(cudaMallocHost(&pinned, 64));
    CHECK(cudaFree(a + 1) == 1);
    CHECK(cudaFree(&own) == 1);
    CHECK(cudaFree(pinned) == 1);
    FINE(cudaFree(a));
    CHECK(cudaFree(a) == 1);
    FINE(cudaFree(NULL));
    return cudaFreeHost(pinned);
}

static int case_leak(void) {
    void *a, *b;
    FINE(cudaMalloc(&a, 1000));
    FINE(cudaMallocManaged(&b, 24, 1));
    for (int k = 0; k < 3; k++) {
        FINE(cudaMalloc(&a, 100));
    }
    return 0;
}

static int case_repeat(void) {
    float *a = upload(1), *b = upload(2), *c = upload(0), host[N], one = 100;
    int *counts, count;
    FINE(cudaMalloc((void **)&counts, 4));
    FINE(cudaMemset(counts, 0, 4));
    for (int k = 0; k < 10; k++) {
        FINE(sum(a, b, c, NULL));
        FINE(launch(&bump, 1, 1, (void *[]){&counts}, NULL));
    }
    FINE(cudaMemcpy(&count, counts, 4, OUT));
    CHECK(count == 10);
    FINE(cudaMemcpy(a, &one, 4, IN)); /* an input changes */
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(host, c, sizeof host, OUT));
    CHECK(host[0] == 102 && host[1] == 5);
    FINE(cudaMemset(c, 0, 4)); /* somebody else writes its output */
    FINE(sum(a, b, c, NULL));
    FINE(cudaMemcpy(host, c, sizeof host, OUT));
    CHECK(host[0] == 102);
    FINE(sum(a, b, a, NULL)); /* what is read is written */
    FINE(sum(a, b, a, NULL));
    FINE(cudaMemcpy(host, a, sizeof host, OUT));
    CHECK(host[0] == 104);
    for (int k = 0; k < 10; k++) { /* one that is done, nine that change nothing */
        FINE(cudaMemset(counts, 0, 4));
    }
    FINE(launch(&bump, 1, 1, (void *[]){&counts}, NULL));
    FINE(cudaMemset(counts, 0, 4));
    FINE(cudaMemcpy(&count, counts, 4, OUT));
    CHECK(count == 0);
    return cudaFree(a) || cudaFree(b) || cudaFree(c) || cudaFree(counts);
}

static int bumped(int *counts, int want) {
    int host[N];
    FINE(cudaMemcpy(host, counts, sizeof host, OUT));
    for (int k = 0; k < N; k++) {
        CHECK(host[k] == want);
    }
    return 0;
}

/* What it adds to is what it was: filled anew each time, or not. */
static int case_repeat_contents(void) {
    int *counts, *more, nines[N];
    FINE(cudaMalloc((void **)&counts, sizeof nines));
    FINE(cudaMalloc((void **)&more, sizeof nines));
    FINE(cudaMemset(more, 0, sizeof nines));
    for (int k = 0; k < 60; k++) {
        FINE(cudaMemset(counts, 0, sizeof nines));
        FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
        FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
        CHECK(bumped(counts, 2) == 0);
        FINE(launch(&bump, 1, N, (void *[]){&more}, NULL));
    }
    CHECK(bumped(more, 60) == 0);
    for (int k = 0; k < N; k++) {
        nines[k] = 9;
    }
    FINE(cudaMemcpy(counts, nines, sizeof nines, IN));
    FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    CHECK(bumped(counts, 10) == 0);
    return cudaFree(counts) || cudaFree(more);
}

/* Each launch finds the same. */
static int case_repeat_found(void) {
    int *counts;
    FINE(cudaMalloc((void **)&counts, N * sizeof *counts));
    for (int k = 0; k < 60; k++) {
        FINE(cudaMemset(counts, 0, N * sizeof *counts));
        FINE(launch(&bump_apart, 1, N, (void *[]){&counts}, NULL));
        CHECK(bumped(counts, 1) == 0);
    }
    return cudaFree(counts);
}

/* A loop that allocates gets an address back after four rounds, with new bytes. */
static int case_again(void) {
    int *a, *seen[60], unwritten;
    for (int k = 0; k < 60; k++) {
        FINE(cudaMalloc((void **)&a, N * sizeof *a));
        seen[k] = a;
        if (k == 59) {
            FINE(cudaMemcpy(&unwritten, a + 1, 4, OUT));
            FINE(launch(&bump, 1, 1, (void *[]){&a}, NULL));
            FINE(cudaMemcpy(&unwritten, a, 4, OUT));
        } else {
            FINE(cudaMemset(a, 0, N * sizeof *a));
            FINE(launch(&bump, 1, N, (void *[]){&a}, NULL));
            CHECK(bumped(a, 1) == 0);
        }
        FINE(cudaFree(a));
    }
    for (int k = 1; k < 60; k++) {
        CHECK((seen[k] == seen[k - 1]) == (k >= 4));
    }
    for (int k = 0; k < 70000; k++) { /* more than the table holds */
        FINE(cudaMalloc((void **)&a, 4));
        FINE(cudaFree(a));
    }
    FINE(launch(&bump, 1, 1, (void *[]){&seen[1]}, NULL));
    CHECK(cudaDeviceSynchronize() == 700);
    return 0;
}

/* Launches that go on from their own results wait until somebody looks. */
static int case_unseen(void) {
    int *counts, *more, host[N];
    float *a = upload(1), *b = upload(2), *c = upload(0), sums[N];
    FINE(cudaMalloc((void **)&counts, sizeof host));
    FINE(cudaMalloc((void **)&more, sizeof host));
    FINE(cudaMemset(counts, 0, sizeof host));
    for (int k = 0; k < 20; k++) {
        FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    }
    CHECK(bumped(counts, 20) == 0); /* all of them at once */
    for (int k = 0; k < 5; k++) {
        FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    }
    FINE(cudaMemcpy(more, counts, sizeof host, ON_DEVICE));
    CHECK(bumped(more, 25) == 0);
    FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    FINE(cudaMemset(counts, 0, sizeof host)); /* behind it, not in front */
    FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    CHECK(bumped(counts, 1) == 0);

    FINE(sum(a, b, a, NULL));
    FINE(sum(a, b, c, NULL));
    FINE(sum(a, b, a, NULL)); /* a + b is read below, though a is freed */
    FINE(sum(a, b, c, NULL));
    FINE(cudaFree(a));
    CHECK(cudaFree(a) != 0);
    FINE(cudaMemcpy(sums, c, sizeof sums, OUT));
    CHECK(sums[0] == 1 + 3 * 2 && sums[1] == 2 + 3 * 3);

    for (int k = 0; k < 1000; k++) { /* nobody sees what these make */
        FINE(launch(&bump, 1, N, (void *[]){&counts}, NULL));
    }
    return cudaFree(b) || cudaFree(c) || cudaFree(counts) || cudaFree(more);
}

/* A launch that waits keeps what is freed behind it, not what is freed before it. */
static int case_unseen_freed(void) {
    float *a = upload(1), *b = upload(2), *c = upload(0);
    for (int k = 0; k < 10; k++) {
        FINE(sum(a, b, a, NULL));
        FINE(sum(a, b, c, NULL));
    }
    FINE(cudaFree(b));
    FINE(sum(a, b, c, NULL));
    CHECK(cudaDeviceSynchronize() == 700);
    return 0;
}

/* all += from, by way of memory that is made for it. */
static int add_by_way(float *from, float *all, int fills) {
    float *part;
    FINE(cudaMalloc((void **)&part, N * sizeof *part));
    if (fills) {
        FINE(cudaMemset(part, 0, N * sizeof *part));
        FINE(sum(part, from, part, NULL));
    }
    FINE(sum(part, all, all, NULL));
    return cudaFree(part);
}

/* A round that makes memory, fills it and frees it waits as a whole. */
static int case_unseen_renewed(void) {
    float *from = upload(2), *all = upload(0), sums[N];
    for (int k = 0; k < 60; k++) {
        CHECK(add_by_way(from, all, 1) == 0);
    }
    FINE(cudaMemcpy(sums, all, sizeof sums, OUT));
    for (int k = 0; k < N; k++) {
        CHECK(sums[k] == (float)(k + 60 * (2 + k)));
    }
    for (int k = 0; k < 60; k++) {
        CHECK(add_by_way(from, all, 1) == 0);
    }
    CHECK(add_by_way(from, all, 0) == 0); /* reads what nobody wrote */
    FINE(cudaMemcpy(sums, all, sizeof sums, OUT));
    for (int k = 0; k < 60; k++) { /* nobody sees what these make */
        CHECK(add_by_way(from, all, 1) == 0);
    }
    return cudaFree(from) || cudaFree(all);
}

/* Three kinds of launches, each of which begins while those before it wait. */
static int bump_parts(int *counts) {
    for (unsigned part = 1; part <= 4; part *= 2) {
        for (int k = 0; k < 300; k++) {
            FINE(launch(&bump, 1, N / part, (void *[]){&counts}, NULL));
        }
    }
    return 0;
}

/* A new kind of launch is tried at once and taken back. */
static int case_unseen_kinds(void) {
    int *counts, *useless, host[N];
    FINE(cudaMalloc((void **)&counts, sizeof host));
    FINE(cudaMalloc((void **)&useless, sizeof host));
    FINE(cudaMemset(counts, 0, sizeof host));
    FINE(cudaMemset(useless, 0, sizeof host));
    CHECK(bump_parts(useless) == 0);
    FINE(cudaFree(useless));
    CHECK(bump_parts(counts) == 0);
    FINE(cudaMemcpy(host, counts, sizeof host, OUT));
    for (unsigned k = 0; k < N; k++) {
        CHECK(host[k] == 300 * (1 + (k < N / 2) + (k < N / 4)));
    }
    return cudaFree(counts);
}

/* ---- operations drawn by lot, for comparison with all launches executed ---- */

static unsigned drawn(unsigned below) {
    static uint64_t state;
    const char *seed = getenv("SEED");
    state = state ? state : 2 * strtoull(seed ? seed : "1", NULL, 10) + 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

static int look(const void *device) {
    uint32_t words[N], sum = 0;
    FINE(cudaMemcpy(words, device, sizeof words, OUT));
    for (unsigned k = 0; k < N; k++) {
        sum = sum * 31 + words[k];
    }
    printf("%08x\n", sum);
    return 0;
}

static int operate(unsigned which, float **f, int **counts, const unsigned *n) {
    float **to = &f[n[2]];
    switch (which) {
    case 0:
    case 1:
        return launch(&bump, 1, N >> n[3], (void *[]){&counts[n[0]]}, NULL);
    case 2:
    case 3:
        return sum(f[n[0]], f[n[1]], *to, NULL);
    case 4:
        return cudaMemset(counts[n[0]], (int)n[1], N * 4 >> n[3]);
    case 5:
        return add_by_way(f[n[0]], *to, 1);
    case 6:
        return cudaMemcpy(*to, f[n[0]], N * 4, ON_DEVICE);
    case 7:
        return look(n[3] % 2 ? (void *)*to : (void *)counts[n[0]]);
    default: /* a pointer of its own line, so that it gets its address back */
        FINE(cudaFree(*to));
        *to = upload((float)n[1]);
        return 0;
    }
}

static int case_random(void) {
    float *f[4];
    int *counts[4];
    for (unsigned k = 0; k < 4; k++) {
        f[k] = upload((float)k);
        FINE(cudaMalloc((void **)&counts[k], N * sizeof **counts));
        FINE(cudaMemset(counts[k], 0, N * sizeof **counts));
    }
    for (unsigned round = 0; round < 60; round++) {
        unsigned ops[4], n[4][4], count = 1 + drawn(3), times = 1 + drawn(20);
        for (unsigned k = 0; k < count; k++) {
            ops[k] = drawn(round % 8 ? 7 : 9);
            for (unsigned j = 0; j < 4; j++) {
                n[k][j] = drawn(4);
            }
        }
        for (unsigned k = 0; k < times * count; k++) {
            FINE(operate(ops[k % count], f, counts, n[k % count]));
        }
    }
    for (unsigned k = 0; k < 4; k++) {
        CHECK(look(f[k]) == 0 && look(counts[k]) == 0);
        FINE(cudaFree(f[k]));
        FINE(cudaFree(counts[k]));
    }
    return 0;
}

static int case_poll(void) {
    int *flag, *seen, value = 0;
    char attributes[256];
    void *event;
    float ms;
    FINE(cudaEventCreate(&event));
    FINE(cudaMallocManaged((void **)&flag, 4, 1));
    FINE(cudaMalloc((void **)&seen, 4));
    *flag = 0;
    FINE(launch(&wait_for, 1, 1, (void *[]){&flag, &seen}, NULL));
    FINE(cudaFuncGetAttributes(attributes, &bump)); /* does not wait for the kernel */
    FINE(cudaEventRecord(event, NULL));
    CHECK(cudaEventQuery(event) == 600);
    CHECK(cudaEventElapsedTime(&ms, event, event) == 600);
    usleep(100000);
    __atomic_store_n(flag, 7, __ATOMIC_SEQ_CST);
    FINE(cudaMemcpy(&value, seen, 4, OUT));
    CHECK(value == 7);
    return cudaFree(flag) || cudaFree(seen);
}

static int case_deadlock(void) {
    int *flag, *seen;
    FINE(cudaMallocManaged((void **)&flag, 4, 1));
    FINE(cudaMalloc((void **)&seen, 4));
    *flag = 0;
    FINE(launch(&wait_for, 1, 1, (void *[]){&flag, &seen}, NULL));
    CHECK(cudaDeviceSynchronize() == 702);
    return 0;
}

static int case_graph(void) {
    void *stream, *graph, *exec;
    int *counts, count;
    FINE(cudaMalloc((void **)&counts, 4));
    FINE(cudaStreamCreate(&stream));
    FINE(cudaStreamBeginCapture(stream, 0));
    FINE(cudaMemsetAsync(counts, 0, 4, stream));
    FINE(launch(&bump, 1, 1, (void *[]){&counts}, stream));
    FINE(launch(&bump, 1, 1, (void *[]){&counts}, stream));
    FINE(cudaStreamEndCapture(stream, &graph));
    FINE(cudaGraphInstantiate(&exec, graph, 0));
    for (int k = 0; k < 3; k++) {
        FINE(cudaGraphLaunch(exec, stream));
    }
    FINE(cudaMemcpyAsync(&count, counts, 4, OUT, stream));
    FINE(cudaStreamSynchronize(stream));
    CHECK(count == 2);
    return cudaFree(counts);
}

static int order[3], ordered;

static void note(void *number) {
    order[ordered++] = (int)(intptr_t)number;
}

static int case_order(void) {
    void *stream, *from, *to;
    float ms = -1;
    FINE(cudaStreamCreate(&stream));
    FINE(cudaEventCreate(&from));
    FINE(cudaEventCreate(&to));
    FINE(cudaEventRecord(from, stream));
    for (intptr_t k = 1; k <= 3; k++) {
        FINE(cudaLaunchHostFunc(k == 2 ? NULL : stream, note, (void *)k));
    }
    FINE(cudaEventRecord(to, stream));
    FINE(cudaEventSynchronize(to));
    CHECK(order[0] == 1 && order[1] == 2 && order[2] == 3);
    FINE(cudaEventElapsedTime(&ms, from, to));
    CHECK(ms >= 0 && ms < 60000);
    return 0;
}

/* ---- what is waited for, and what is not ---- */

static struct {
    void *one, *two, *event; /* two does not wait for the default stream */
    float *a, *b, *c, *d, *managed, *pinned, *part;
} room;

static int room_make(void) {
    room.a = upload(1), room.b = upload(2), room.c = upload(0), room.d = upload(0);
    CHECK(room.a && room.b && room.c && room.d);
    FINE(cudaMallocManaged((void **)&room.managed, N * sizeof(float), 1));
    FINE(cudaMallocHost((void **)&room.pinned, (2048 + N) * sizeof(float)));
    room.part = room.pinned + 2048;
    FINE(cudaStreamCreate(&room.one));
    FINE(cudaStreamCreateWithFlags(&room.two, 1));
    return cudaEventCreate(&room.event);
}

static int to_pinned(const float *from, void *stream) {
    return cudaMemcpyAsync(room.part, from, N * sizeof(float), OUT, stream);
}

static int case_waited(void) {
    FINE(room_make());
    for (int way = 0; way < 4; way++) { /* the host and what a kernel wrote */
        FINE(sum(room.a, room.b, room.managed, room.one));
        FINE(cudaEventRecord(room.event, room.one));
        FINE(way == 0   ? cudaDeviceSynchronize()
             : way == 1 ? cudaStreamSynchronize(room.one)
             : way == 2 ? cudaEventSynchronize(room.event)
                        : 0);
        while (way == 3 && cudaStreamQuery(room.one)) {}
        CHECK(room.managed[1] == 5);
        room.managed[1] = 0;
    }
    room.pinned[0] = 1; /* not of the copy's bytes */
    FINE(to_pinned(room.a, room.one));
    room.pinned[1] = 2;
    CHECK(room.pinned[0] == 1);
    FINE(cudaStreamSynchronize(room.one));
    CHECK(room.part[2] == 3);
    FINE(sum(room.a, room.b, room.c, room.one));
    FINE(cudaEventRecord(room.event, room.one));
    FINE(cudaStreamWaitEvent(room.two, room.event, 0));
    FINE(sum(room.c, room.b, room.d, room.two)); /* behind the event */
    FINE(sum(room.a, room.b, room.managed, room.two));
    FINE(cudaStreamSynchronize(room.two));
    CHECK(room.managed[0] == 3);
    FINE(sum(room.c, room.b, room.d, NULL)); /* the default stream waits for `one` */
    FINE(sum(room.d, room.b, room.c, room.one));
    return cudaDeviceSynchronize();
}

static int case_unwaited(void) {
    FINE(room_make());
    FINE(sum(room.a, room.b, room.managed, room.one));
    CHECK(room.managed[1] == 5); /* read */
    FINE(cudaDeviceSynchronize());
    FINE(to_pinned(room.a, room.two));
    FINE(cudaStreamSynchronize(room.one)); /* another one */
    room.part[7] = 1;                      /* written while it is copied to */
    FINE(cudaDeviceSynchronize());
    FINE(sum(room.a, room.b, room.c, room.one));
    FINE(sum(room.c, room.b, room.d, room.two)); /* of what `one` writes */
    FINE(cudaDeviceSynchronize());
    FINE(sum(room.b, room.b, room.c, room.one));
    FINE(sum(room.b, room.c, room.d, room.two)); /* by the same function, elsewhere */
    FINE(cudaDeviceSynchronize());
    FINE(sum(room.a, room.b, room.c, room.two));
    FINE(cudaMemcpy(room.part, room.c, N * sizeof(float), OUT)); /* not behind `two` */
    return cudaDeviceSynchronize();
}

/* It knows that the other thread has asked, not that it has waited. */
static sem_t asked;
static void *sum_later(void *ret_code) {
    sem_wait(&asked);
    usleep(1000);
    *(int *)ret_code = sum(room.c, room.b, room.d, room.two);
    return NULL;
}

static int case_two_threads(void) {
    pthread_t other;
    int code = 1;
    FINE(room_make());
    FINE(sem_init(&asked, 0, 0));
    FINE(pthread_create(&other, NULL, sum_later, &code));
    FINE(sum(room.a, room.b, room.c, room.one));
    FINE(sem_post(&asked));
    FINE(cudaStreamSynchronize(room.one));
    FINE(pthread_join(other, NULL));
    FINE(code);
    return cudaDeviceSynchronize();
}

static int case_symbols(void) {
    int *a, host[4], value = 5;
    FINE(cudaMalloc((void **)&a, sizeof host));
    FINE(cudaMemcpyToSymbol(&factor, &value, 4, 0, IN));
    FINE(launch(&scale, 1, 4, (void *[]){&a}, NULL));
    FINE(cudaMemcpy(host, a, sizeof host, DEFAULT));
    CHECK(host[3] == 15);
    value = 0;
    FINE(cudaMemcpyFromSymbol(&value, &total, 4, 0, OUT));
    CHECK(value == 5);
    CHECK(cudaMemcpyToSymbol(&factor, &value, 4, 4, IN) == 1);
    CHECK(cudaMemcpyToSymbol(&value, &value, 4, 0, IN) == 13);
    FINE(launch(&hello, 1, 2, (void *[]){&value}, NULL));
    FINE(cudaDeviceSynchronize());
    return cudaFree(a);
}

static int case_errors(void) {
    float *a = upload(1), host[N + 1];
    CHECK(cudaMemcpy(a, host, sizeof host, IN) == 1);
    CHECK(cudaGetLastError() == 1 && cudaGetLastError() == 0);
    CHECK(cudaMemcpy(host, NULL, 4, OUT) == 1);
    CHECK(cudaMemcpy(a, host, 4, OUT) == 1); /* the wrong way round */
    CHECK(cudaMemcpy(a, host, 4, 9) == 21);
    CHECK(launch(&add, 1, 1025, (void *[]){&a, &a, &a, &a}, NULL) == 9);
    CHECK(launch(host, 1, 1, NULL, NULL) == 98);
    CHECK(strcmp(cudaGetErrorName(9), "cudaErrorInvalidConfiguration") == 0);
    return cudaFree(a);
}

static int case_registered(void) {
    static int own[1024];
    int *a = own;
    FINE(cudaHostRegister(own, sizeof own, 0));
    CHECK(cudaHostRegister(own, sizeof own, 0) == 712);
    FINE(launch(&bump, 1, 4, (void *[]){&a}, NULL));
    FINE(cudaDeviceSynchronize());
    CHECK(own[0] == 1 && own[3] == 1 && own[4] == 0);
    FINE(cudaHostUnregister(own));
    FINE(launch(&bump, 1, 4, (void *[]){&a}, NULL)); /* the host's own again */
    CHECK(cudaDeviceSynchronize() == 700);
    return 0;
}

static int case_reset(void) {
    float *a = upload(1);
    FINE(launch(&past, 1, N, (void *[]){&a}, NULL));
    CHECK(cudaDeviceSynchronize() == 700);
    FINE(cudaDeviceReset());
    FINE(cudaDeviceSynchronize());
    CHECK(cudaFree(a) == 1); /* it went with the rest */
    return case_add();
}

/* Two texts that nvlink joined: each has a name of its own, `own`, both have `both`, and
 * one calls the other's function. */
#define PTX_HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define PTX_BOTH                                                                         \
    ".weak .func (.param .b32 r) both()\n{\n.reg .b32 %a;\nmov.u32 %a, 100;\n"           \
    "st.param.b32 [r], %a;\nret;\n}\n"
const char *const linked_texts[] = {
    PTX_HEAD ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
             ".extern .global .align 4 .u32 there;\n"
             ".global .align 4 .u32 own = 3;\n" PTX_BOTH
             ".visible .entry use(.param .u64 p)\n{\n.reg .b32 %r<6>;\n.reg .b64 %a;\n"
             "{ .param .b32 x;\nld.global.u32 %r1, [own];\nst.param.b32 [x], %r1;\n"
             ".param .b32 y;\ncall (y), twice, (x);\nld.param.b32 %r2, [y]; }\n"
             "{ .param .b32 z;\ncall (z), both, ();\nld.param.b32 %r3, [z]; }\n"
             "ld.global.u32 %r4, [there];\nadd.u32 %r2, %r2, %r3;\n"
             "add.u32 %r2, %r2, %r4;\nld.param.u64 %a, [p];\n"
             "st.global.u32 [%a], %r2;\nret;\n}\n",
    PTX_HEAD ".global .align 4 .u32 own = 10;\n" PTX_BOTH
             ".visible .global .align 4 .u32 there = 1000;\n"
             ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\n"
             "ld.param.u32 %r1, [x];\nld.global.u32 %r2, [own];\n"
             "mad.lo.u32 %r3, %r1, 2, %r2;\nst.param.b32 [r], %r3;\nret;\n}\n"};

static int case_linked(void) {
    static uint8_t data[2][4096];
    static const void *parts[3] = {data[0], data[1]};
    static struct {
        uint32_t magic, version;
        const void *data, *parts;
    } both = {0x466243b1, 2, NULL, parts};
    static char use;
    int *at, value = 0;
    for (int k = 0; k < 2; k++) {
        memcpy(data[k] + 80, linked_texts[k], strlen(linked_texts[k]));
        fatbin_make(data[k], strlen(linked_texts[k]));
    }
    void **handle = __cudaRegisterFatBinary(&both);
    __cudaRegisterFunction(handle, &use, (char *)(uintptr_t) "use", "use", -1, NULL, NULL,
                           NULL, NULL, NULL);
    FINE(cudaMalloc((void **)&at, 4));
    FINE(launch(&use, 1, 1, (void *[]){&at}, NULL));
    FINE(cudaMemcpy(&value, at, 4, OUT));
    CHECK(value == 2 * 3 + 10 + 100 + 1000);
    return cudaFree(at);
}

const char *kernels_path;

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        int (*run)(void);
    } cases[] = {{"add", case_add},
                 {"advice", case_advice},
                 {"bounds", case_bounds},
                 {"copies", case_copies},
                 {"copies_past", case_copies_past},
                 {"deadlock", case_deadlock},
                 {"driver", case_driver},
                 {"errors", case_errors},
                 {"follow", case_follow},
                 {"free_device", case_free_device},
                 {"free_inside", case_free_inside},
                 {"free_large", case_free_large},
                 {"free_pinned", case_free_pinned},
                 {"free_stack", case_free_stack},
                 {"free_twice", case_free_twice},
                 {"freed", case_freed},
                 {"frees", case_frees},
                 {"graph", case_graph},
                 {"graph_conditions", case_graph_conditions},
                 {"graph_conditions_unordered", case_graph_conditions_unordered},
                 {"graph_conditions_unset", case_graph_conditions_unset},
                 {"graph_events", case_graph_events},
                 {"graph_memory", case_graph_memory},
                 {"graph_memory_kept", case_graph_memory_kept},
                 {"graph_memory_late", case_graph_memory_late},
                 {"graph_nodes", case_graph_nodes},
                 {"graph_ordered", case_graph_ordered},
                 {"graph_unordered", case_graph_unordered},
                 {"handles", case_handles},
                 {"heap", case_heap},
                 {"leak", case_leak},
                 {"linked", case_linked},
                 {"order", case_order},
                 {"overrun", case_overrun},
                 {"poll", case_poll},
                 {"registered", case_registered},
                 {"again", case_again},
                 {"unseen", case_unseen},
                 {"unseen_freed", case_unseen_freed},
                 {"unseen_renewed", case_unseen_renewed},
                 {"unseen_kinds", case_unseen_kinds},
                 {"random", case_random},
                 {"repeat", case_repeat},
                 {"repeat_contents", case_repeat_contents},
                 {"repeat_found", case_repeat_found},
                 {"reset", case_reset},
                 {"resize_managed", case_resize_managed},
                 {"symbols", case_symbols},
                 {"two_threads", case_two_threads},
                 {"uninitialized", case_uninitialized},
                 {"uninitialized_pinned", case_uninitialized_pinned},
                 {"uninitialized_half", case_uninitialized_half},
                 {"uninitialized_many", case_uninitialized_many},
                 {"uninitialized_read", case_uninitialized_read},
                 {"user_objects", case_user_objects},
                 {"virtual", case_virtual},
                 {"virtual_left", case_virtual_left},
                 {"virtual_no_access", case_virtual_no_access},
                 {"virtual_unmapped", case_virtual_unmapped},
                 {"waited", case_waited},
                 {"unwaited", case_unwaited},
                 {"written", case_written},
                 {"unwritten", case_unwritten}};
    if (argc != 3) {
        return 2;
    }
    kernels_path = argv[1];
    register_all(kernels_path);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (strcmp(cases[k].name, argv[2]) == 0) {
            return cases[k].run();
        }
    }
    return 2;
}
