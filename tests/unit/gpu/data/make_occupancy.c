/* make_occupancy: what NVIDIA's cuda_occupancy.h says of some hundred launches.
 *
 * build: cc -o make_occupancy make_occupancy.c -I$CUDA_HOME/include
 * run:   ./make_occupancy > occupancy.txt
 *
 * Columns: arch, registers, threads, static and dynamic shared bytes, barriers; then
 * blocks per multiprocessor and its limits by registers, shared memory, warps, blocks,
 * barriers
 * (-1 = none). The devices' own figures are those of the CUDA C++ Programming Guide. */
#include <cuda_occupancy.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

struct device {
    const char *arch;
    int major, minor, threads, shared_kib, multiprocessors;
};
static const struct device devices[] = {{"sm_80", 8, 0, 2048, 164, 108},
                                        {"sm_86", 8, 6, 1536, 100, 84},
                                        {"sm_89", 8, 9, 1536, 100, 128},
                                        {"sm_90", 9, 0, 2048, 228, 132}};

struct launch {
    int registers, threads, static_shared, dynamic_shared, barriers;
};
/* At the edges of the allocation units. */
static const struct launch edges[] = {
    {40, 256, 1200, 0, 1},     {168, 384, 0, 200000, 1}, {24, 32, 0, 0, 1},
    {0, 1, 0, 0, 0},           {1, 1024, 0, 0, 0},       {32, 1024, 0, 0, 0},
    {33, 1024, 0, 0, 0},       {64, 1024, 0, 0, 0},      {65, 1024, 0, 0, 0},
    {72, 1024, 0, 0, 0},       {255, 256, 0, 0, 0},      {255, 288, 0, 0, 0},
    {255, 257, 0, 0, 0},       {255, 224, 0, 0, 0},      {168, 352, 0, 0, 0},
    {168, 385, 0, 0, 0},       {128, 512, 0, 0, 0},      {128, 513, 0, 0, 0},
    {32, 33, 0, 0, 0},         {32, 31, 0, 0, 0},        {32, 1025, 0, 0, 0},
    {16, 64, 49152, 0, 0},     {16, 64, 48128, 0, 0},    {16, 64, 48129, 0, 0},
    {16, 64, 0, 49152, 0},     {16, 64, 0, 49153, 0},    {16, 64, 0, 101376, 0},
    {16, 64, 0, 101377, 0},    {16, 64, 0, 166912, 0},   {16, 64, 0, 166913, 0},
    {16, 64, 0, 232448, 0},    {16, 64, 0, 232449, 0},   {16, 64, 1024, 231424, 0},
    {16, 64, 1024, 231425, 0}, {16, 64, 127, 0, 0},      {16, 64, 128, 0, 0},
    {16, 64, 129, 0, 0},       {16, 64, 6271, 0, 0},     {16, 64, 6272, 0, 0},
    {16, 64, 6273, 0, 0},      {16, 32, 0, 0, 2},        {16, 32, 0, 0, 3},
    {16, 32, 0, 0, 4},         {16, 64, 0, 0, 16},       {16, 128, 0, 0, 7},
    {90, 160, 3000, 5000, 5},  {48, 96, 100, 20000, 2},  {200, 128, 0, 65536, 1},
    {255, 1024, 0, 0, 0},      {250, 32, 0, 230000, 16},
};

static void tell(const struct device *d, const struct launch *l) {
    cudaOccDeviceProp p;
    cudaOccFuncAttributes a;
    cudaOccDeviceState s;
    cudaOccResult r;
    memset(&p, 0, sizeof p);
    memset(&a, 0, sizeof a);
    memset(&s, 0, sizeof s);
    p.computeMajor = d->major;
    p.computeMinor = d->minor;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiprocessor = d->threads;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 32;
    p.sharedMemPerBlock = 48 << 10;
    p.sharedMemPerMultiprocessor = (size_t)d->shared_kib << 10;
    p.sharedMemPerBlockOptin = (size_t)(d->shared_kib - 1) << 10;
    p.reservedSharedMemPerBlock = 1 << 10;
    p.numSms = d->multiprocessors;
    a.maxThreadsPerBlock = 1024;
    a.numRegs = l->registers;
    a.sharedSizeBytes = (size_t)l->static_shared;
    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    a.maxDynamicSharedSizeBytes = (size_t)l->dynamic_shared;
    a.numBlockBarriers = l->barriers;
    s.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &a, &s, l->threads,
                                                (size_t)l->dynamic_shared) != 0) {
        return;
    }
    const int limits[] = {r.blockLimitRegs, r.blockLimitSharedMem, r.blockLimitWarps,
                          r.blockLimitBlocks, r.blockLimitBarriers};
    printf("%s %d %d %d %d %d %d", d->arch, l->registers, l->threads, l->static_shared,
           l->dynamic_shared, l->barriers, r.activeBlocksPerMultiprocessor);
    for (int i = 0; i < 5; i++) {
        printf(" %d", limits[i] == INT_MAX ? -1 : limits[i]);
    }
    printf("\n");
}

static unsigned next(unsigned *state, unsigned bound) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % bound;
}

int main(void) {
    unsigned state = 90;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
            tell(&devices[i], &edges[k]);
        }
        for (int k = 0; k < 50; k++) {
            struct launch l = {(int)next(&state, 256), 1 + (int)next(&state, 1024),
                               (int)next(&state, 3) * (int)next(&state, 16384),
                               (int)next(&state, 4) * (int)next(&state, 60000),
                               (int)next(&state, 6)};
            tell(&devices[i], &l);
        }
    }
    return 0;
}
