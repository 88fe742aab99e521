#include "gpu/fixes/cuda_builtins.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 63

static const struct cuda_builtin builtins[] = {
    {"threadIdx", "const uint3 threadIdx",
     "The thread's place in its block: `x` varies fastest within a warp."},
    {"blockIdx", "const uint3 blockIdx", "The block's place in the grid."},
    {"blockDim", "const dim3 blockDim", "Threads per block, at most 1024 in all."},
    {"gridDim", "const dim3 gridDim", "Blocks in the grid."},
    {"warpSize", "const int warpSize", "Threads in a warp: 32 on every GPU so far."},
    {"__global__", NULL,
     "A kernel: runs on the GPU, started by a launch; returns `void`."},
    {"__device__", NULL, "Runs or lives on the GPU and is reached from device code."},
    {"__host__", NULL, "Runs on the CPU (the default); with `__device__` on both."},
    {"__shared__", NULL,
     "Memory of one block. Static arrays hold up to 48 KB; more (227 KB on the H100) "
     "needs "
     "`extern __shared__`, `cudaFuncSetAttribute` and a size at the launch."},
    {"__constant__", NULL,
     "Constant memory, 64 KB in all; fast when a warp reads one address at a time."},
    {"__managed__", NULL, "A variable that host and device share by page migration."},
    {"__restrict__", NULL,
     "Promises that no other pointer reaches the same memory, so that loads may be "
     "reordered and cached."},
    {"__grid_constant__", NULL,
     "A `const` kernel parameter that is read in place; needed for tensor maps (TMA)."},
    {"__launch_bounds__",
     "__launch_bounds__(maxThreads, minBlocksPerSM, maxBlocksPerCluster)",
     "Bounds registers so that blocks of `maxThreads` fit; a larger launch fails."},
    {"__cluster_dims__", "__cluster_dims__(x, y, z)",
     "The kernel's cluster size: up to 8 blocks that share memory (sm_90)."},
    {"__forceinline__", NULL, "Inline this function always."},
    {"__noinline__", NULL, "Never inline this function."},
    {"__syncthreads", "void __syncthreads()",
     "Waits for every thread of the block, and makes their writes to memory visible. All "
     "threads must reach it, or none."},
    {"__syncthreads_count", "int __syncthreads_count(int predicate)",
     "`__syncthreads` that returns how many threads had a true predicate."},
    {"__syncthreads_and", "int __syncthreads_and(int predicate)",
     "`__syncthreads` that returns whether all predicates were true."},
    {"__syncthreads_or", "int __syncthreads_or(int predicate)",
     "`__syncthreads` that returns whether any predicate was true."},
    {"__syncwarp", "void __syncwarp(unsigned mask = 0xffffffff)",
     "Waits for the lanes in `mask`, and orders their memory accesses."},
    {"__threadfence", "void __threadfence()",
     "Orders this thread's writes for the whole device. It waits for no thread."},
    {"__threadfence_block", "void __threadfence_block()",
     "Orders this thread's writes for its block."},
    {"__threadfence_system", "void __threadfence_system()",
     "Orders this thread's writes for host and other devices too."},
    {"__shfl_sync", "T __shfl_sync(unsigned mask, T var, int srcLane, int width = 32)",
     "The value of `var` in lane `srcLane`; every lane in `mask` must take part."},
    {"__shfl_up_sync",
     "T __shfl_up_sync(unsigned mask, T var, unsigned delta, int width = 32)",
     "The value of `var` in the lane `delta` below; used for scans."},
    {"__shfl_down_sync",
     "T __shfl_down_sync(unsigned mask, T var, unsigned delta, int width = 32)",
     "The value of `var` in the lane `delta` above; used for reductions."},
    {"__shfl_xor_sync",
     "T __shfl_xor_sync(unsigned mask, T var, int laneMask, int width = 32)",
     "The value of `var` in lane `lane ^ laneMask`: every lane gets the sum of a "
     "butterfly reduction."},
    {"__ballot_sync", "unsigned __ballot_sync(unsigned mask, int predicate)",
     "One bit per lane of `mask` whose predicate is true."},
    {"__any_sync", "int __any_sync(unsigned mask, int predicate)",
     "Whether the predicate is true in any lane of `mask`."},
    {"__all_sync", "int __all_sync(unsigned mask, int predicate)",
     "Whether the predicate is true in every lane of `mask`."},
    {"__match_any_sync", "unsigned __match_any_sync(unsigned mask, T value)",
     "The lanes of `mask` that hold the same value as this one."},
    {"__match_all_sync", "unsigned __match_all_sync(unsigned mask, T value, int *pred)",
     "`mask` when all its lanes hold the same value, else 0."},
    {"__reduce_add_sync", "unsigned __reduce_add_sync(unsigned mask, unsigned value)",
     "The sum over the lanes of `mask`, in hardware (sm_80 and later)."},
    {"__reduce_max_sync", "int __reduce_max_sync(unsigned mask, int value)",
     "The largest value over the lanes of `mask`, in hardware (sm_80 and later)."},
    {"__reduce_min_sync", "int __reduce_min_sync(unsigned mask, int value)",
     "The smallest value over the lanes of `mask`, in hardware (sm_80 and later)."},
    {"__activemask", "unsigned __activemask()",
     "The lanes that happen to be active. Not a mask to synchronise with."},
    {"__ldg", "T __ldg(const T *address)",
     "A load through the read-only cache; the data must not change while the kernel "
     "runs."},
    {"__ldcs", "T __ldcs(const T *address)",
     "A load of data that is used once: evict first."},
    {"__stcs", "void __stcs(T *address, T value)",
     "A store of data that is not read again soon."},
    {"__ldcg", "T __ldcg(const T *address)", "A load that is cached in L2 only."},
    {"atomicAdd", "T atomicAdd(T *address, T value)",
     "Adds and returns the old value; not ordered with other memory accesses."},
    {"atomicMax", "T atomicMax(T *address, T value)", "Keeps the larger; integers only."},
    {"atomicMin", "T atomicMin(T *address, T value)",
     "Keeps the smaller; integers only."},
    {"atomicCAS", "T atomicCAS(T *address, T compare, T value)",
     "Stores `value` where `compare` was; returns the old value."},
    {"atomicExch", "T atomicExch(T *address, T value)",
     "Exchanges; returns the old value."},
    {"__expf", "float __expf(float x)",
     "Fast exponential: 2 ulp and more of error, growing with |x|."},
    {"__fdividef", "float __fdividef(float x, float y)",
     "Fast division, 2 ulp; 0 for 2^126 < |y| < 2^128."},
    {"rsqrtf", "float rsqrtf(float x)", "1/sqrt(x), 2 ulp of error at most."},
    {"__float2half", "__half __float2half(float x)",
     "Rounds to the nearest half (cuda_fp16.h)."},
    {"__half2float", "float __half2float(__half x)", "Exact (cuda_fp16.h)."},
    {"__dp4a", "int __dp4a(int a, int b, int c)",
     "c plus the dot product of four 8-bit integers (sm_61 and later)."},
    {"__popc", "int __popc(unsigned x)", "The number of bits that are set."},
    {"__clz", "int __clz(int x)", "Leading zero bits; 32 for 0."},
    {"__ffs", "int __ffs(int x)", "1 + the lowest bit that is set; 0 for 0."},
    {"__brev", "unsigned __brev(unsigned x)", "The bits in reverse order."},
    {"__cvta_generic_to_shared", "size_t __cvta_generic_to_shared(const void *p)",
     "The shared-memory address that inline PTX wants."},
    {"__nanosleep", "void __nanosleep(unsigned ns)",
     "Sleeps for about `ns`, at most 1 ms."},
    {"__trap", "void __trap()", "Ends the kernel with an error; the context is lost."},
    {"clock64", "long long clock64()", "The multiprocessor's cycle counter."},
    {"printf", "int printf(const char *format, ...)",
     "Into a buffer of 1 MB that is shown when the host synchronises."},
    {"assert", "void assert(int condition)",
     "Ends the kernel with an error when the condition is false."},
    /* Known by name: for misspellings. */
    {"dim3"},
    {"float2"},
    {"float3"},
    {"float4"},
    {"int2"},
    {"int3"},
    {"int4"},
    {"uint2"},
    {"uint3"},
    {"uint4"},
    {"double2"},
    {"double4"},
    {"char4"},
    {"uchar4"},
    {"short2"},
    {"make_float2"},
    {"make_float3"},
    {"make_float4"},
    {"make_int2"},
    {"make_int4"},
    {"make_uint2"},
    {"make_uint4"},
    {"make_double2"},
    {"atomicSub"},
    {"atomicAnd"},
    {"atomicOr"},
    {"atomicXor"},
    {"atomicInc"},
    {"atomicDec"},
    {"atomicAdd_block"},
    {"atomicAdd_system"},
    {"__reduce_and_sync"},
    {"__reduce_or_sync"},
    {"__reduce_xor_sync"},
    {"__stcg"},
    {"__stwt"},
    {"__ldca"},
    {"__ldlu"},
    {"__ldcv"},
    {"__isShared"},
    {"__isGlobal"},
    {"__cvta_shared_to_generic"},
    {"__align__"},
    {"__inline__"},
    {"__builtin_assume"},
    {"__builtin_assume_aligned"},
    {"__builtin_expect"},
    {"__brkpt"},
    {"clock"},
    {"memcpy"},
    {"memset"},
    {"malloc"},
    {"alignof"},
    {"__popcll"},
    {"__clzll"},
    {"__ffsll"},
    {"__brevll"},
    {"__byte_perm"},
    {"__funnelshift_l"},
    {"__funnelshift_r"},
    {"__umulhi"},
    {"__mulhi"},
    {"__mul24"},
    {"__umul24"},
    {"__sad"},
    {"__hadd"},
    {"__dp2a_lo"},
    {"__dp2a_hi"},
    {"__float_as_int"},
    {"__int_as_float"},
    {"__float_as_uint"},
    {"__uint_as_float"},
    {"__float2int_rn"},
    {"__float2int_rz"},
    {"__float2uint_rn"},
    {"__int2float_rn"},
    {"__uint2float_rn"},
    {"__double2float_rn"},
    {"__double_as_longlong"},
    {"__longlong_as_double"},
    {"__fadd_rn"},
    {"__fmul_rn"},
    {"__fmaf_rn"},
    {"__frcp_rn"},
    {"__fsqrt_rn"},
    {"__frsqrt_rn"},
    {"__fdiv_rn"},
    {"__saturatef"},
    {"__sinf"},
    {"__cosf"},
    {"__tanf"},
    {"__sincosf"},
    {"__logf"},
    {"__log2f"},
    {"__log10f"},
    {"__exp10f"},
    {"__powf"},
    {"__tanhf"},
    {"expf"},
    {"exp2f"},
    {"exp10f"},
    {"expm1f"},
    {"logf"},
    {"log2f"},
    {"log10f"},
    {"log1pf"},
    {"sqrtf"},
    {"cbrtf"},
    {"rcbrtf"},
    {"hypotf"},
    {"rhypotf"},
    {"powf"},
    {"sinf"},
    {"cosf"},
    {"tanf"},
    {"asinf"},
    {"acosf"},
    {"atanf"},
    {"atan2f"},
    {"sinhf"},
    {"coshf"},
    {"tanhf"},
    {"sincosf"},
    {"sinpif"},
    {"cospif"},
    {"erff"},
    {"erfcf"},
    {"erfinvf"},
    {"erfcinvf"},
    {"normcdff"},
    {"tgammaf"},
    {"lgammaf"},
    {"fmaxf"},
    {"fminf"},
    {"fabsf"},
    {"fmodf"},
    {"fmaf"},
    {"fdimf"},
    {"floorf"},
    {"ceilf"},
    {"roundf"},
    {"rintf"},
    {"truncf"},
    {"nearbyintf"},
    {"copysignf"},
    {"ldexpf"},
    {"frexpf"},
    {"modff"},
    {"remainderf"},
    {"fdividef"},
    {"saturate"},
    {"isnan"},
    {"isinf"},
    {"isfinite"},
    {"signbit"},
    {"exp"},
    {"log"},
    {"sqrt"},
    {"rsqrt"},
    {"tanh"},
    {"fmax"},
    {"fmin"},
    {"fabs"},
    {"fma"},
    {"floor"},
    {"ceil"},
    {"round"},
    {"trunc"},
    {"umin"},
    {"umax"},
    {"llmin"},
    {"llmax"},
    {"__umul64hi"},
};

const struct cuda_builtin *cuda_builtin_find(const char *name, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++) {
        if (strlen(builtins[i].name) == len && memcmp(builtins[i].name, name, len) == 0) {
            return &builtins[i];
        }
    }
    return NULL;
}

static unsigned least(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Optimal string alignment over three rows. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len,
                       unsigned limit) {
    unsigned rows[3][MAX_NAME + 2];
    size_t gap = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (a_len > MAX_NAME || b_len > MAX_NAME || gap > limit) {
        return limit + 1;
    }
    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3],
                 *older = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            unsigned change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = least(row[j], older[j - 2] + 1);
            }
        }
    }
    unsigned distance = rows[a_len % 3][b_len];
    return distance > limit ? limit + 1 : distance;
}

const char *cuda_builtin_nearest(const char *name, size_t len) {
    unsigned best = len < 4 ? 0 : len < 8 ? 1 : len < 12 ? 2 : 3; /* edits allowed */
    const char *nearest = NULL;
    bool tie = false;
    for (size_t i = 0; i < ARRAY_LEN(builtins); i++) {
        const char *candidate = builtins[i].name;
        size_t size = strlen(candidate);
        if (size == len && strncasecmp(candidate, name, len) == 0) {
            return candidate;
        }
        unsigned distance = edit_distance(name, len, candidate, size, best);
        if (distance < best || (distance == best && !nearest)) {
            best = distance;
            nearest = candidate;
            tie = false;
        } else if (distance == best) {
            tie = true;
        }
    }
    return tie || best == 0 ? NULL : nearest;
}
