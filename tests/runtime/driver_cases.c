/* driver_cases: functions of CUDA's driver, and handles of cuBLAS. */
#include "cases.h"

#include <stdint.h>
#include <string.h>

int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuDeviceGetAttribute(int *, int, int);
int cuCtxCreate_v2(void **, unsigned, int);
int cuCtxGetCurrent(void **);
int cuCtxPopCurrent_v2(void **);
int cuCtxDestroy_v2(void *);
int cuModuleLoadData(void **, const void *);
int cuModuleLoad(void **, const char *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuModuleGetGlobal_v2(uint64_t *, size_t *, void *, const char *);
int cuMemAlloc_v2(uint64_t *, size_t);
int cuMemFree_v2(uint64_t);
int cuMemsetD32_v2(uint64_t, unsigned, size_t);
int cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemGetAddressRange_v2(uint64_t *, size_t *, uint64_t);
int cuFuncGetAttribute(int *, int, void *);
int cuLinkCreate_v2(unsigned, int *, void **, void **);
int cuLinkAddData_v2(void *, int, const void *, size_t, const char *, unsigned, int *,
                     void **);
int cuLinkComplete(void *, void **, size_t *);
int cuLinkDestroy(void *);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, void *, int, size_t);
int cuOccupancyMaxPotentialBlockSize(int *, int *, void *, size_t (*)(int), size_t, int);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, void *, void **, void **);
int cuGetErrorName(int, const char **);
int cuGetProcAddress_v2(const char *, void **, int, uint64_t, int *);
int cublasCreate_v2(void **);
int cublasDestroy_v2(void *);
int cublasSetStream_v2(void *, void *);
int cublasGetStream_v2(void *, void **);
int cublasSetMathMode(void *, int);
int cublasGetMathMode(void *, int *);
const char *cublasGetStatusName(int);
int cudaStreamCreate(void **);

/* ---- virtual memory: the semantics of cuda.h's comments on each function ---- */

typedef uint64_t ptr;
struct place { /* CUmemLocation */
    int type, id;
};
struct properties { /* CUmemAllocationProp */
    int type, handles;
    struct place where;
    void *windows;
    unsigned char flags[8];
};
struct access { /* CUmemAccessDesc */
    struct place where;
    int flags;
};
int cuMemGetAllocationGranularity(size_t *, const struct properties *, int);
int cuMemAddressReserve(ptr *, size_t, size_t, ptr, uint64_t);
int cuMemAddressFree(ptr, size_t);
int cuMemCreate(uint64_t *, size_t, const struct properties *, uint64_t);
int cuMemRelease(uint64_t);
int cuMemRetainAllocationHandle(uint64_t *, void *);
int cuMemGetAllocationPropertiesFromHandle(struct properties *, uint64_t);
int cuMemMap(ptr, size_t, size_t, uint64_t, uint64_t);
int cuMemUnmap(ptr, size_t);
int cuMemSetAccess(ptr, size_t, const struct access *, size_t);
int cuMemGetAccess(uint64_t *, const struct place *, ptr);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemcpyHtoD_v2(ptr, const void *, size_t);
int cuMemcpyDtoD_v2(ptr, ptr, size_t);
int cuMemsetD8_v2(ptr, unsigned char, size_t);
int cuCtxSynchronize(void);
int cuPointerGetAttribute(void *, int, ptr);

#define MIB2 (2u << 20)
enum { READ = 1, BOTH = 3 };
static const struct properties pinned = {.type = 1, .where = {1, 0}};

static int allow(ptr at, size_t bytes, int flags) {
    return cuMemSetAccess(at, bytes, &(struct access){{1, 0}, flags}, 1);
}

/* A new handle of 2 MiB, mapped at `at`. */
static int map_new(ptr at, uint64_t *ret) {
    FINE(cuMemCreate(ret, MIB2, &pinned, 0));
    return cuMemMap(at, MIB2, 0, *ret, 0);
}

static int bump_at(ptr at) {
    FINE(launch_in(NULL, &bump, (void *[]){&at}));
    return cuCtxSynchronize();
}

int case_virtual(void) {
    size_t step = 0, before, after, total;
    ptr base, other;
    uint64_t one, two, again, flags;
    struct properties known;
    unsigned value[2] = {0, 0};
    FINE(cuMemGetInfo_v2(&before, &total));
    FINE(cuMemGetAllocationGranularity(&step, &pinned, 0));
    CHECK(step == MIB2);
    FINE(cuMemAddressReserve(&base, 4 * MIB2, 0, 0, 0));
    CHECK(cuMemAddressReserve(&other, MIB2 + 4, 0, 0, 0) == 1);
    FINE(map_new(base, &one));
    FINE(map_new(base + MIB2, &two));
    FINE(cuMemGetInfo_v2(&after, &total));
    CHECK(before - after == 2 * MIB2);
    CHECK(cuMemMap(base + MIB2, MIB2, 0, one, 0) == 1);      /* something is there */
    CHECK(cuMemMap(base + 4 * MIB2, MIB2, 0, one, 0) == 1);  /* outside */
    CHECK(allow(base, 3 * MIB2, BOTH) == 1);                 /* not all mapped */
    CHECK(cuMemUnmap(base, MIB2 / 2) == 1);                  /* not a whole mapping */
    CHECK(cuMemAddressFree(base, 4 * MIB2) == 1);            /* still mapped */
    CHECK(cuMemsetD8_v2(base, 1, 4) == 1);                   /* no access yet */
    FINE(allow(base, 2 * MIB2, BOTH));
    FINE(cuMemGetAccess(&flags, &(struct place){1, 0}, base + MIB2));
    CHECK(flags == BOTH);
    FINE(cuMemsetD8_v2(base, 0, 2 * MIB2)); /* over the border of the two */
    FINE(bump_at(base + MIB2 - 4));
    FINE(bump_at(base + MIB2));
    FINE(cuMemcpyDtoH_v2(value, base + MIB2 - 4, 8));
    CHECK(value[0] == 1 && value[1] == 1);
    FINE(cuMemUnmap(base, MIB2)); /* the bytes are the handle's */
    FINE(cuMemMap(base + 2 * MIB2, MIB2, 0, one, 0));
    FINE(allow(base + 2 * MIB2, MIB2, READ));
    FINE(cuMemcpyDtoH_v2(value, base + 3 * MIB2 - 4, 4));
    CHECK(value[0] == 1);
    CHECK(cuMemsetD8_v2(base + 2 * MIB2, 1, 4) == 1); /* only to be read */
    FINE(cuPointerGetAttribute(&step, 12, base + 2 * MIB2)); /* its range's size */
    CHECK(step == MIB2);
    FINE(cuPointerGetAttribute(&value[1], 2, base + 2 * MIB2));
    CHECK(value[1] == 2); /* CU_MEMORYTYPE_DEVICE */
    CHECK(cuPointerGetAttribute(&step, 4, base + 2 * MIB2) == 1); /* no host's */
    FINE(cuMemMap(base, MIB2, 0, two, 0)); /* twice at a time */
    FINE(allow(base, MIB2, BOTH));
    FINE(bump_at(base));
    FINE(cuMemcpyDtoH_v2(value, base + MIB2, 4));
    CHECK(value[0] == 2);
    FINE(cuMemAddressReserve(&other, MIB2, 0, 0, 0));
    FINE(cuMemMap(other, MIB2, 0, two, 0));
    FINE(allow(other, MIB2, BOTH));
    for (unsigned k = 0; k < 4; k++) { /* the same by turns, and nothing of it is skipped */
        FINE(cuMemsetD8_v2(other, 0, 4));
        FINE(cuMemcpyDtoH_v2(value, base + MIB2, 4));
        CHECK(value[0] == 0);
        FINE(bump_at(base + MIB2));
    }
    FINE(cuMemUnmap(other, MIB2));
    FINE(cuMemAddressFree(other, MIB2));
    FINE(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(base + 8)));
    CHECK(again == two);
    FINE(cuMemGetAllocationPropertiesFromHandle(&known, again));
    CHECK(known.type == 1 && known.where.type == 1);
    FINE(cuMemRelease(again));
    FINE(cuMemRelease(one));
    FINE(cuMemRelease(two)); /* mapped memory stays */
    CHECK(cuMemRelease(two) == 1);
    FINE(bump_at(base));
    FINE(cuMemGetInfo_v2(&before, &total));
    FINE(cuMemUnmap(base, 3 * MIB2));
    FINE(cuMemAddressFree(base, 4 * MIB2));
    FINE(cuMemGetInfo_v2(&after, &total));
    CHECK(after - before == 2 * MIB2);
    return 0;
}

int case_virtual_no_access(void) {
    uint64_t one;
    ptr base;
    FINE(cuMemAddressReserve(&base, MIB2, 0, 0, 0));
    FINE(map_new(base, &one));
    CHECK(bump_at(base + 4) == 700);
    return 0;
}

int case_virtual_unmapped(void) {
    uint64_t one, two;
    ptr base, second;
    FINE(cuMemAddressReserve(&base, 2 * MIB2, 0, 0, 0));
    second = base + MIB2;
    FINE(map_new(base, &one));
    FINE(map_new(second, &two));
    FINE(allow(base, 2 * MIB2, BOTH));
    FINE(cuMemsetD8_v2(base, 0, 2 * MIB2));
    FINE(bump_at(second));
    FINE(cuMemUnmap(second, MIB2));
    FINE(cuMemRelease(two));
    CHECK(bump_at(second) == 700);
    return 0;
}

/* What is fresh is uninitialised, and what is left is told. */
int case_virtual_left(void) {
    uint64_t one;
    ptr base;
    FINE(cuMemAddressReserve(&base, MIB2, 0, 0, 0));
    FINE(map_new(base, &one));
    FINE(allow(base, MIB2, BOTH));
    FINE(cuMemRelease(one));
    return bump_at(base);
}

/* ---- what is said of managed memory, as NVIDIA's documentation of each attribute says ---- */

int cudaMallocManaged(void **, size_t, unsigned);
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemPrefetchAsync(const void *, size_t, struct place, unsigned, void *);
int cudaMemAdvise(const void *, size_t, int, struct place);
int cudaMemRangeGetAttribute(void *, size_t, int, const void *, size_t);
int cuMemPrefetchAsync(const void *, size_t, int, void *);
int cuMemAdvise_v2(const void *, size_t, int, struct place);
enum { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, FETCHED, PREFERRED_TYPE }; /* attributes */
enum { SET_MOSTLY = 1, UNSET_MOSTLY, SET_PREFERRED, UNSET_PREFERRED, SET_ACCESSED, UNSET_ACCESSED };

static int asked(const char *at, size_t bytes, int attribute) {
    int value = 99;
    return cudaMemRangeGetAttribute(&value, sizeof value, attribute, at, bytes) ? 98 : value;
}

int case_advice(void) {
    const struct place device = {1, 0}, host = {2, 0};
    char *m, *d;
    int who[3];
    FINE(cudaMallocManaged((void **)&m, 3 << 20, 1));
    FINE(cudaMalloc((void **)&d, 4096));
    const size_t part = 1 << 20, all = 3 << 20;
    CHECK(asked(m, all, READ_MOSTLY) == 0 && asked(m, all, PREFERRED) == -2);
    CHECK(asked(m, all, FETCHED) == -2);
    FINE(cudaMemAdvise(m, part, SET_MOSTLY, device));
    CHECK(asked(m, part, READ_MOSTLY) == 1 && asked(m, all, READ_MOSTLY) == 0);
    FINE(cudaMemAdvise(m + part, 2 * part, SET_MOSTLY, device));
    CHECK(asked(m, all, READ_MOSTLY) == 1); /* said in two parts */
    FINE(cudaMemAdvise(m + part + 4096, 4096, UNSET_MOSTLY, device));
    CHECK(asked(m, all, READ_MOSTLY) == 0 && asked(m + 2 * part, part, READ_MOSTLY) == 1);
    FINE(cuMemAdvise_v2(m, all, SET_PREFERRED, host));
    CHECK(asked(m, all, PREFERRED) == -1 && asked(m, all, PREFERRED_TYPE) == 2);
    FINE(cudaMemAdvise(m, all, UNSET_PREFERRED, host));
    CHECK(asked(m, all, PREFERRED) == -2);
    FINE(cudaMemAdvise(m, all, SET_ACCESSED, device));
    FINE(cudaMemRangeGetAttribute(who, sizeof who, ACCESSED_BY, m, all));
    CHECK(who[0] == 0 && who[1] == -2 && who[2] == -2);
    FINE(cudaMemPrefetchAsync(m, all, device, 0, NULL));
    CHECK(asked(m, all, FETCHED) == 0);
    FINE(cuMemPrefetchAsync(m, part, -1, NULL)); /* CUDA 12's: the host */
    CHECK(asked(m, part, FETCHED) == -1 && asked(m, all, FETCHED) == -2);
    CHECK(cudaMemPrefetchAsync(d, 4096, device, 0, NULL) == 1); /* not managed */
    CHECK(cudaMemPrefetchAsync(m, all + 1, device, 0, NULL) == 1);
    CHECK(cudaMemPrefetchAsync(m, all, (struct place){1, 1}, 0, NULL) == 101);
    CHECK(cudaMemAdvise(m, all, 7, device) == 1);
    CHECK(asked(m, all, 9) == 98);
    return cudaFree(m) || cudaFree(d);
}

/* Two texts that are linked at run time (CU_JIT_INPUT_PTX is 1, a cubin 0), as case
 * "linked" has them from nvlink. */
static int links(uint64_t p) {
    void *link, *image, *module, *use;
    int value = 0, grid = 0, block = 0;
    FINE(cuLinkCreate_v2(0, NULL, NULL, &link));
    for (int k = 0; k < 2; k++) {
        const char *text = linked_texts[k];
        FINE(cuLinkAddData_v2(link, 1, text, strlen(text) + 1, "part", 0, NULL, NULL));
    }
    CHECK(cuLinkAddData_v2(link, 0, "", 0, "cubin", 0, NULL, NULL) == 209);
    FINE(cuLinkComplete(link, &image, NULL));
    FINE(cuModuleLoadData(&module, image));
    FINE(cuLinkDestroy(link));
    FINE(cuModuleGetFunction(&use, module, "use"));
    FINE(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    FINE(cuMemcpyDtoH_v2(&value, p, 4));
    CHECK(value == 2 * 3 + 10 + 100 + 1000);
    FINE(cuOccupancyMaxPotentialBlockSize(&grid, &block, use, NULL, 0, 0));
    CHECK(block == 1024 && grid == 2 * 132); /* 2,048 threads on each of 132 */
    return cuModuleUnload(module);
}

/* Variables of the module in shared memory: each kernel has those that it, or what it
 * calls, names. CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES is 1; of a multiprocessor's 228 KiB a
 * block takes 1 KiB besides its own. */
#define PTX_SHARED(name, function)                                                       \
    ".shared .align 4 .b8 of_" name "[100000];\n" function " " name                      \
    "()\n{\n.reg .b32 %a;\nst.shared.u32 [of_" name "], %a;\n"
#define PTX_RETURN "ret;\n}\n"
static const char shared_text[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    PTX_SHARED("a", ".entry") PTX_RETURN
    PTX_SHARED("b", ".func") PTX_RETURN
    PTX_SHARED("c", ".entry") "call.uni b;\n" PTX_RETURN;

static int shares(void) {
    void *module, *a, *c;
    int bytes = 0, blocks = 0;
    FINE(cuModuleLoadData(&module, shared_text));
    FINE(cuModuleGetFunction(&a, module, "a"));
    FINE(cuModuleGetFunction(&c, module, "c"));
    FINE(cuFuncGetAttribute(&bytes, 1, a));
    CHECK(bytes == 100000);
    FINE(cuFuncGetAttribute(&bytes, 1, c));
    CHECK(bytes == 200000);
    FINE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, a, 256, 0));
    CHECK(blocks == 2);
    FINE(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, c, 256, 0));
    CHECK(blocks == 1);
    return cuModuleUnload(module);
}

/* The driver's functions over the same device: a module that is loaded, launches with
 * pointers to parameters and with a buffer of all (CU_LAUNCH_PARAM_BUFFER_POINTER 1,
 * _BUFFER_SIZE 2, _END 0), and its numbers of errors. */
int case_driver(void) {
    void *context, *now, *text, *file, *use, *scaled, *address = NULL;
    int device = -1, major = 0, threads = 0, values[4], status = -1;
    uint64_t p, first, there;
    size_t bytes = 0;
    const char *name;
    FINE(cuInit(0));
    FINE(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGet(&device, 1) == 101 && device == 0);
    FINE(cuDeviceGetAttribute(&major, 75, device)); /* of the compute capability */
    CHECK(major == 9);
    FINE(cuCtxCreate_v2(&context, 0, device));
    FINE(cuCtxGetCurrent(&now));
    CHECK(now == context);
    FINE(cuModuleLoadData(&text, linked_texts[1]));
    CHECK(cuModuleLoadData(&now, "\x7f"
                                 "ELF is a cubin") == 209);
    CHECK(cuModuleLoad(&now, "/nowhere.ptx") == 301);
    FINE(cuModuleLoad(&file, kernels_path));
    CHECK(cuModuleGetFunction(&use, file, "nothing") == 500);
    FINE(cuModuleGetFunction(&use, file, "bump"));
    FINE(cuModuleGetFunction(&scaled, file, "scale"));
    FINE(cuFuncGetAttribute(&threads, 0, use));
    CHECK(threads == 1024);
    FINE(cuModuleGetGlobal_v2(&there, &bytes, text, "there"));
    CHECK(bytes == 4);
    FINE(cuMemcpyDtoH_v2(values, there, 4));
    CHECK(values[0] == 1000);
    FINE(cuMemAlloc_v2(&p, sizeof values));
    FINE(cuMemsetD32_v2(p, 41, 4));
    FINE(cuLaunchKernel(use, 1, 1, 1, 2, 1, 1, 0, NULL, (void *[]){&p}, NULL));
    bytes = 8;
    FINE(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
                        (void *[]){(void *)1, &p, (void *)2, &bytes, NULL}));
    bytes = 4; /* the parameter does not fit */
    CHECK(cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, NULL, NULL,
                         (void *[]){(void *)1, &p, (void *)2, &bytes, NULL}) == 1);
    FINE(cuMemcpyDtoH_v2(values, p, sizeof values));
    CHECK(values[0] == 43 && values[1] == 42 && values[3] == 41);
    FINE(cuMemGetAddressRange_v2(&first, &bytes, p + 5));
    CHECK(first == p && bytes == sizeof values);
    FINE(cuGetProcAddress_v2("cuMemFree", &address, 12000, 0, &status));
    CHECK(address && status == 0);
    CHECK(cuGetProcAddress_v2("cuNothing", &address, 12000, 0, &status) == 500);
    CHECK(!address && status == 1);
    FINE(cuGetErrorName(1, &name));
    CHECK(!strcmp(name, "CUDA_ERROR_INVALID_VALUE"));
    FINE(links(p));
    FINE(shares());
    FINE(cuMemFree_v2(p));
    FINE(cuModuleUnload(file));
    CHECK(cuLaunchKernel(scaled, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){&p}, NULL) != 0);
    FINE(cuCtxPopCurrent_v2(&now));
    CHECK(now == context && cuCtxPopCurrent_v2(&now) == 201);
    return cuCtxDestroy_v2(context);
}

/* Of cuBLAS there are handles; what has none is answered with 1, not initialized. */
int case_handles(void) {
    void *handle, *stream, *same = NULL;
    int mode = -1;
    FINE(cublasCreate_v2(&handle));
    FINE(cudaStreamCreate(&stream));
    FINE(cublasSetStream_v2(handle, stream));
    FINE(cublasGetStream_v2(handle, &same));
    CHECK(same == stream);
    FINE(cublasSetMathMode(handle, 3)); /* TF32 */
    FINE(cublasGetMathMode(handle, &mode));
    CHECK(mode == 3);
    FINE(cublasDestroy_v2(handle));
    CHECK(cublasDestroy_v2(NULL) == 1 && cublasSetMathMode(NULL, 0) == 1);
    CHECK(!strcmp(cublasGetStatusName(1), "CUBLAS_STATUS_NOT_INITIALIZED"));
    return 0;
}
