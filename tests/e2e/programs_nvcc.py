#!/usr/bin/env python3
"""kernel/run with the real nvcc: what it compiles, where findings stand, and how soon the first kernel is launched.

usage: programs_nvcc.py UPSKILLD [--bench]   (TAP on standard output; ends with 77 where there is no nvcc)
--bench: only the time from the request to the first launch beside what nvcc takes for the same program
"""
import os, shutil, statistics, subprocess, sys, time

from validate_support import Daemon, Tap
import scratch

HEAD = "#include <cstdio>\n#include <cuda_runtime.h>\n"
ADD = HEAD + r"""
#define CHECK(call) do { cudaError_t e = (call); if (e != cudaSuccess) { \
    fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); return 1; } } while (0)
__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
int main(int argc, char **argv) {
    int n = 1000;
    float h[1000], *a, *b, *c;
    for (int i = 0; i < n; i++) h[i] = i;
    CHECK(cudaMalloc(&a, n * sizeof(float)));
    CHECK(cudaMalloc(&b, n * sizeof(float)));
    CHECK(cudaMalloc(&c, n * sizeof(float)));
    CHECK(cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(a, b, c, n + (argc > 1));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) if (h[i] != 2.f * i) return 2;
    puts("right");
    cudaFree(a); cudaFree(b); cudaFree(c);
}
"""
RACES = HEAD + r"""
__global__ void exchange(int *out) {
    __shared__ int s[256];
    int t = threadIdx.x, sum = 0;
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        s[(t + i * 64) & 255] = t;  // first write
        s[(t + i * 64 + 64) & 255] = t + 1;  // second write
    }
#pragma unroll
    for (int i = 0; i < 4; i++) sum += s[(t + i * 64 + 33) & 255];  // read
    out[t] = sum;
}
int main() {
    int *out;
    cudaMalloc(&out, 64 * sizeof *out);
    exchange<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""
MANAGED = HEAD + r"""
__managed__ int total;
__constant__ int factor;
__global__ void sum(const int *x, int n) {
    extern __shared__ int part[];
    part[threadIdx.x] = threadIdx.x < n ? x[threadIdx.x] * factor : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (!threadIdx.x) total = part[0];
}
int main() {
    int *x, three = 3;
    cudaMallocManaged(&x, 64 * sizeof *x);
    for (int i = 0; i < 64; i++) x[i] = i;
    cudaMemcpyToSymbol(factor, &three, sizeof three);
    sum<<<1, 64, 64 * sizeof(int)>>>(x, 64);
    cudaDeviceSynchronize();
    printf("%d\n", total);
    cudaFree(x);
}
"""
VARIABLES = HEAD + r"""
__device__ int a[2] = {1, 2};
__constant__ int c[2] = {3, 4};
static __device__ int s = 5;
__managed__ int m = 7;
typedef int (*op)(int);
__device__ int next(int x) { return x + 1; }
__device__ op chosen = next;
__global__ void k(int *q, op f) { *q = f(8); }
int main() {
    int *d, x[2], y[2], u, q;
    op f;
    cudaMalloc(&d, 4);
    cudaMemcpyFromSymbol(x, a, 8);
    cudaMemcpyFromSymbol(y, c, 8);
    cudaMemcpyFromSymbol(&u, s, 4);
    cudaMemcpyFromSymbol(&f, chosen, sizeof f);
    k<<<1, 1>>>(d, f);
    cudaMemcpy(&q, d, 4, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %d\n", x[1], y[1], u, m, q);
    cudaFree(d);
}
"""
REFUSED = HEAD + r"""
__global__ void k(int *x) { x[threadIdx.x] = 1; }
int main(int argc, char **) {
    int *d;
    cudaMalloc(&d, 4096 * 4);
    k<<<1, 32>>>(d);
    k<<<1, 4096>>>(d);
    if (argc > 1) printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
"""
THRUST = r"""#include <thrust/device_vector.h>
#include <thrust/host_vector.h>
#include <thrust/sort.h>
#include <thrust/reduce.h>
#include <cstdio>
int main() {
    thrust::host_vector<int> h(1000);
    for (int i = 0; i < 1000; i++) h[i] = (i * 7919) % 1000;
    thrust::device_vector<int> d = h;
    thrust::sort(d.begin(), d.end());
    h = d;
    bool sorted = true;
    for (int i = 0; i < 1000; i++) sorted &= h[i] == i;
    printf("%d %d\n", sorted, thrust::reduce(d.begin(), d.end()));
}
"""
FOLLOWED = HEAD + "int main() {\n    int *d;\n    cudaMalloc(&d, 64);\n    d[3] = 1;\n}\n"

# A launch whose argument is a struct of the device's memory: the host copies it.
GIVEN = HEAD + """
struct Part { int n, *at, more[4]; };
template <class T> __global__ void add(Part p,
                                       T by) { p.at[threadIdx.x] += by; }
int main() {
    Part h = {}, *d;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, &h, sizeof h, cudaMemcpyHostToDevice);
    add<<<1, 4>>>(*d, 1);
}
"""


PARTS = """__device__ int twice(int x);
extern __device__ int counter;
static __device__ int own = 3;
""" + HEAD + """__global__ void use(int *o) { *o = twice(own) + counter; }
int main() {
    int *d, h;
    cudaMalloc(&d, 4);
    use<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d\\n", h);
}
"""
OTHER_PART = """__device__ int counter = 100;
static __device__ int own = 4;
__device__ int twice(int x) { return 2 * x + own; }
"""
BLAS = "#include <cublas_v2.h>\n#include <cublasLt.h>\n" + ADD.replace("int main(", """void times(cublasHandle_t h, float *x) {
    MULTIPLY
}
cublasHandle_t handle;
bool begun = cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS;
int main(""")


OLDER = HEAD + r"""
__global__ void five(int *x) { *x = 5; }
int main() {
    int *x;
    cudaMallocManaged(&x, sizeof *x);
    cudaMemAdvise(x, sizeof *x, cudaMemAdviseSetReadMostly, 0);
    cudaMemPrefetchAsync(x, sizeof *x, 0);
    five<<<1, 1>>>(x);
    cudaThreadSynchronize();
    printf("%d\n", *x);
    cudaFree(x);
    return cudaThreadExit();
}
"""


# The driver's descriptions by NVIDIA's own headers: a layout that ours does not have ends in another number.
DRIVER = "#include <cuda.h>\n" + HEAD + r"""
#define CHECK(call) do { int error_ = (int)(call); if (error_) { printf("%d: %d\n", __LINE__, error_); return 1; } } while (0)
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
__global__ void fetch(cudaTextureObject_t t, float *out) {
    out[threadIdx.x] = tex2D<float>(t, threadIdx.x % 4 + .5f, threadIdx.x / 4 + .5f);
}
__global__ void count_down(cudaGraphConditionalHandle h, int *x) { cudaGraphSetConditional(h, --*x > 0); }
static const char seven[] = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry seven(.param .u64 p) {\n.reg .b64 %a;\n"
    "ld.param.u64 %a, [p];\nst.global.u32 [%a], 7;\nret;\n}\n";

static int graphs(CUcontext c, CUfunction f, CUfunction down) {
    int h[4] = {0};
    CUdeviceptr x, own;
    CUgraph g;
    CUgraphExec e;
    CUgraphNode set, run, copy, get, give, cond, body;
    CHECK(cuMemAlloc(&x, 16));
    void *args[] = {&x};
    CHECK(cuGraphCreate(&g, 0));
    CUDA_MEMSET_NODE_PARAMS m = {};
    m.dst = x, m.value = 3, m.elementSize = 4, m.width = 4, m.height = 1;
    CHECK(cuGraphAddMemsetNode(&set, g, 0, 0, &m, c));
    CUDA_KERNEL_NODE_PARAMS k = {};
    k.func = f, k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimY = k.blockDimZ = 1, k.blockDimX = 4, k.kernelParams = args;
    CHECK(cuGraphAddKernelNode(&run, g, &set, 1, &k));
    CUDA_MEMCPY3D p = {};
    p.srcMemoryType = CU_MEMORYTYPE_DEVICE, p.srcDevice = x, p.srcXInBytes = 4, p.dstMemoryType = CU_MEMORYTYPE_HOST, p.dstHost = h;
    p.WidthInBytes = 8, p.Height = p.Depth = 1;
    CHECK(cuGraphAddMemcpyNode(&copy, g, &run, 1, &p, c));
    CHECK(cuGraphInstantiate(&e, g, 0));
    CHECK(cuGraphLaunch(e, 0));
    CHECK(cuCtxSynchronize());
    printf("%d %d %d\n", h[0], h[1], h[2]);
    k.blockDimX = 1;
    CHECK(cuGraphExecKernelNodeSetParams(e, run, &k));
    CHECK(cuGraphLaunch(e, 0));
    CHECK(cuCtxSynchronize());
    CUgraphNodeType type;
    CHECK(cuGraphNodeGetType(copy, &type));
    printf("%d %d\n", h[0], type == CU_GRAPH_NODE_TYPE_MEMCPY);
    CHECK(cuGraphExecDestroy(e));
    CHECK(cuGraphDestroy(g));

    CHECK(cuGraphCreate(&g, 0)); /* its own memory, and a body that runs three times */
    CUDA_MEM_ALLOC_NODE_PARAMS a = {};
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE, a.bytesize = 64;
    CHECK(cuGraphAddMemAllocNode(&get, g, 0, 0, &a));
    own = a.dptr;
    m.dst = own, m.width = 1;
    CHECK(cuGraphAddMemsetNode(&set, g, &get, 1, &m, c));
    CUgraphConditionalHandle handle;
    CHECK(cuGraphConditionalHandleCreate(&handle, g, c, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams n = {};
    n.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    n.conditional.handle = handle, n.conditional.type = CU_GRAPH_COND_TYPE_WHILE, n.conditional.size = 1, n.conditional.ctx = c;
    CHECK(cuGraphAddNode(&cond, g, &set, 0, 1, &n));
    CUgraphNodeParams b = {};
    void *downs[] = {&handle, &own};
    b.type = CU_GRAPH_NODE_TYPE_KERNEL;
    b.kernel.func = down, b.kernel.gridDimX = b.kernel.gridDimY = b.kernel.gridDimZ = 1;
    b.kernel.blockDimX = b.kernel.blockDimY = b.kernel.blockDimZ = 1, b.kernel.kernelParams = downs;
    CHECK(cuGraphAddNode(&body, n.conditional.phGraph_out[0], 0, 0, 0, &b));
    CUgraphNodeParams q = {};
    q.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    p.srcDevice = own, p.srcXInBytes = 0, p.WidthInBytes = 4, q.memcpy.copyCtx = c, q.memcpy.copyParams = p;
    CHECK(cuGraphAddNode(&copy, g, &cond, 0, 1, &q));
    CHECK(cuGraphAddMemFreeNode(&give, g, &copy, 1, own));
    CHECK(cuGraphInstantiate(&e, g, 0));
    h[0] = 9;
    CHECK(cuGraphLaunch(e, 0));
    CHECK(cuCtxSynchronize());
    printf("%d\n", h[0]);
    CHECK(cuGraphExecDestroy(e));
    CHECK(cuGraphDestroy(g));
    return cuMemFree(x);
}

static int textures(CUfunction fetch_f) {
    float h[8], out[8], *d;
    for (int i = 0; i < 8; i++) h[i] = i;
    CUDA_ARRAY_DESCRIPTOR a = {4, 2, CU_AD_FORMAT_FLOAT, 1};
    CUarray array;
    CHECK(cuArrayCreate(&array, &a));
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = h, c.srcPitch = 16, c.dstMemoryType = CU_MEMORYTYPE_ARRAY, c.dstArray = array;
    c.WidthInBytes = 16, c.Height = 2;
    CHECK(cuMemcpy2D(&c));
    CUDA_RESOURCE_DESC r = {};
    r.resType = CU_RESOURCE_TYPE_ARRAY, r.res.array.hArray = array;
    CUDA_TEXTURE_DESC t = {};
    t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP, t.filterMode = CU_TR_FILTER_MODE_POINT;
    CUtexObject object;
    CHECK(cuTexObjectCreate(&object, &r, &t, 0));
    CHECK(cudaMalloc(&d, 32));
    CUlaunchConfig l = {};
    l.gridDimX = l.gridDimY = l.gridDimZ = l.blockDimY = l.blockDimZ = 1, l.blockDimX = 8;
    void *args[] = {&object, &d};
    CHECK(cuLaunchKernelEx(&l, fetch_f, args, 0));
    CHECK(cuMemcpyDtoH(out, (CUdeviceptr)d, 32));
    printf("%g %g %g\n", out[1], out[4], out[7]);
    CHECK(cuTexObjectDestroy(object));
    CHECK(cuArrayDestroy(array));
    return cudaFree(d);
}

int main() {
    CUcontext c;
    cudaFunction_t f, g, h;
    CUlibrary library;
    CUkernel kernel;
    CUdeviceptr x;
    int value = 0;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&c, 0));
    CHECK(cuCtxSetCurrent(c));
    CHECK(cudaGetFuncBySymbol(&f, (const void *)twice));
    CHECK(cudaGetFuncBySymbol(&g, (const void *)count_down));
    CHECK(cudaGetFuncBySymbol(&h, (const void *)fetch));
    if (graphs(c, (CUfunction)f, (CUfunction)g) || textures((CUfunction)h)) return 1;
    CHECK(cuMemAlloc(&x, 4));
    void *args[] = {&x};
    CHECK(cuLibraryLoadData(&library, seven, 0, 0, 0, 0, 0, 0));
    CHECK(cuLibraryGetKernel(&kernel, library, "seven"));
    CHECK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, args, 0));
    CHECK(cuMemcpyDtoH(&value, x, 4));
    CHECK(cuLibraryUnload(library));
    CHECK(cuMemFree(x));
    printf("%d\n", value);
}
"""


OLDER_PROPERTIES = HEAD + r"""
int main() {
    struct cudaDeviceProp first = {0}, *own = new cudaDeviceProp[2];
    if (cudaGetDeviceProperties(&own[1], 0) || cudaChooseDevice(&first.major, &own[1])) return 1;
    if (own[1].computeMode == cudaComputeModeProhibited) return 2;
    printf("%d.%d %d %d\n", own[1].major, own[1].minor, own[1].deviceOverlap, (&own[1])->clockRate > 1000000);
    delete[] own;
    return 0;
}
"""


def nvcc_of(upskilld):
    d = Daemon(upskilld)
    result = d.ask("kernel/run", {"source": HEAD + "int main() {}\n"})["result"]
    d.close()
    return result.get("error", {}).get("code") != "no_nvcc"


def run(d, text, *args, **more):
    with open(d.home + "/work/p.cu", "w") as f:
        f.write(text)
    answer = d.ask("kernel/run", dict({"path": "p.cu", "args": list(args), "timeout_s": 120}, **more))
    assert "result" in answer, answer
    return answer["result"]


def line_of(text, words):
    return text[:text.index(words)].count("\n") + 1


def adds(d):
    r = run(d, ADD)
    assert r["verdict"] == "pass" and r["stdout"] == "right\n" and r["leaks"] == [], r
    launch, = r["launches"]
    assert launch["kernel"].startswith("add") and launch["line"] == line_of(ADD, "add<<<"), launch


def finds_the_line(d):
    r = run(d, ADD, "one more")
    f = r["findings"][0]
    assert r["verdict"] == "fail" and f["code"] == "out_of_bounds", r
    assert (f["file"], f["line"]) == ("p.cu", line_of(ADD, "c[i] = a[i]")), f
    assert [x["line"] for x in f["related"] if x["message"] == "the host's call"] == [line_of(ADD, "add<<<")], f
    assert any(e["line"] == line_of(ADD, "CHECK(cudaMemcpy(h, c") for e in r["api_errors"]), r["api_errors"]


def runs_managed_and_constant(d):
    r = run(d, MANAGED)
    assert r["verdict"] == "pass" and r["stdout"] == "%d\n" % (3 * sum(range(64))), r


def variables_have_their_first_values(d):
    """Also those that no kernel uses, and a pointer to a function that only a variable names."""
    r = run(d, VARIABLES)
    assert r["verdict"] == "pass" and r["stdout"] == "2 4 5 7 9\n", r


def a_launch_that_was_refused_is_no_pass(d):
    """... unless the program asked about it."""
    assert run(d, REFUSED)["verdict"] == "fail"
    r = run(d, REFUSED, "ask")
    assert r["verdict"] == "pass" and "invalid configuration" in r["stdout"], r


def runs_thrust(d):
    r = run(d, THRUST)
    assert r["verdict"] == "pass" and r["stdout"] == "1 499500\n", {k: r[k] for k in r if k != "counters"}


def tells_a_followed_pointer(d):
    r = run(d, FOLLOWED)
    assert r["verdict"] == "fail" and r["signal"] == "SIGSEGV", r
    finding, = r["findings"]
    assert finding["code"] == "host_access" and finding["line"] == line_of(FOLLOWED, "d[3]"), finding


def tells_a_followed_argument_at_its_launch(d):
    """... not at the kernel, whose host function copies it."""
    finding, = run(d, GIVEN)["findings"]
    assert finding["code"] == "host_access" and finding["line"] == line_of(GIVEN, "(*d, 1)"), finding


def joins_parts_that_were_compiled_apart(d):
    with open(d.home + "/work/other.cu", "w") as f:
        f.write(OTHER_PART)
    r = run(d, PARTS, paths=["other.cu"], options=["-rdc=true"])
    assert r["verdict"] == "pass" and r["stdout"] == "110\n", r


def knows_handles_of_cublas_and_no_more(d):
    r = run(d, BLAS.replace("MULTIPLY", "(void)h;"))
    assert r["verdict"] == "pass", r
    text = BLAS.replace("MULTIPLY", "cublasSscal(h, 1, x, x, 1);")
    r = run(d, text)
    assert r["verdict"] == "unsupported", r
    assert [(u["function"], u["line"]) for u in r["unsupported"]] == [("cublasSscal", line_of(text, "cublasSscal"))], r


def records_a_launch_beside_functions_of_cublas_that_are_missing(d):
    """Our header does not declare them, so they do nothing, which is said, also of a program that was compiled before."""
    text = BLAS.replace("MULTIPLY", "float one = 1; cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 1, &one, x, 1, x, 1, &one, x, 1);")
    with open(d.home + "/work/blas.cu", "w") as f:
        f.write(text.replace("    add<<<", "    times(handle, a);\n    add<<<"))
    for _ in range(2):
        r = d.ask("kernel/init", {"path": "blas.cu", "args": ["1"], "print": True})["result"]
        assert r["from"] == "run" and r["spec"]["launch"] == {"grid": [4], "block": [256]}, r
        assert any("did nothing, such as cublasSgemm" in u["why"] for u in r["unknown"]), r


def links_openmp_where_a_source_includes_it(d):
    r = run(d, ADD.replace("#include", "#include <omp.h>\n#include", 1).replace('puts("right")', """int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += omp_get_num_threads();
    printf("%d\\n", sum)"""))
    assert r["verdict"] == "pass" and r["stdout"] == "9\n", r


def runs_what_cuda_13_no_longer_declares(d):
    """... and warns at the line of each call."""
    r = run(d, OLDER)
    assert r["verdict"] == "pass" and r["stdout"] == "5\n", r
    told = {f["line"]: f["message"] for f in r["diagnostics"] if f["severity"] == "warning"}
    names = "cudaMemAdvise", "cudaMemPrefetchAsync", "cudaThreadSynchronize", "cudaThreadExit"
    assert told.keys() == {line_of(OLDER, name + "(") for name in names}, r["diagnostics"]
    assert "cudaDeviceSynchronize() instead" in told[line_of(OLDER, "cudaThreadS")], told


def runs_with_properties_that_cuda_13_lacks(d):
    """cudaDeviceProp has the members that it lost; each use is warned of."""
    r = run(d, OLDER_PROPERTIES)
    assert r["verdict"] == "pass" and r["stdout"] == "9.0 1 1\n", r
    told = {f["line"]: f["message"] for f in r["diagnostics"] if f["severity"] == "warning"}
    assert told.keys() == {line_of(OLDER_PROPERTIES, word) for word in ("computeMode", "deviceOverlap")}, r["diagnostics"]


def runs_what_the_driver_describes_its_own_way(d):
    """Graphs, copies, arrays, textures, launches, libraries. Two of four ints from the second on are copied; then all four are
    doubled no more, but one."""
    r = run(d, DRIVER, options=["-lcuda"])
    assert (r["verdict"], r["stdout"], r["findings"], r["leaks"]) == ("pass", "6 6 0\n3 1\n0\n1 4 7\n7\n", [], []), r


OLDER_DRIVER = "#include <cuda.h>\n" + HEAD + r"""
__global__ void five(int *x) { *x = 5; }
int main() {
    CUcontext c;
    CUdeviceptr x;
    int last = 9;
    size_t total = 0;
    if (cuInit(0) || cuCtxCreate(&c, 0, 0)) return 1;
    if (cuMemGetInfo(NULL, &total) || !total) return 2;
    if (cuMemAllocManaged(&x, 4, CU_MEM_ATTACH_GLOBAL)) return 3;
    if (cuMemAdvise(x, 4, CU_MEM_ADVISE_SET_READ_MOSTLY, 0)) return 4;
    if (cuMemPrefetchAsync(x, 4, CU_DEVICE_CPU, 0)) return 5;
    if (cuMemRangeGetAttribute(&last, 4, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, x, 4)) return 6;
    five<<<1, 1>>>((int *)x);
    cuCtxSynchronize();
    cudaGraph_t g;
    cudaGraphNode_t nodes[2], found;
    size_t count = 1;
    cudaGraphCreate(&g, 0);
    for (int i = 0; i < 2; i++) cudaGraphAddEmptyNode(&nodes[i], g, 0, 0);
    if (cudaGraphAddDependencies(g, nodes, nodes + 1, 1)) return 7;
    if (cudaGraphNodeGetDependencies(nodes[1], &found, &count) || found != nodes[0]) return 8;
    printf("%d %d\n", *(int *)x, last);
    cudaGraphDestroy(g);
    return cuMemFree(x) || cuCtxDestroy(c);
}
"""


def runs_what_the_driver_of_cuda_12_declares(d):
    """Calls as cuda.h of CUDA 12 has them, each with a warning; so are those of graphs without edges."""
    r = run(d, OLDER_DRIVER, options=["-lcuda"])
    assert (r["verdict"], r["stdout"]) == ("pass", "5 -1\n"), r
    told = {f["line"] for f in r["diagnostics"] if f["severity"] == "warning"}
    names = "cuCtxCreate", "cuMemAdvise", "cuMemPrefetchAsync", "cudaGraphAddDependencies", "cudaGraphNodeGetDependencies"
    assert told == {line_of(OLDER_DRIVER, name + "(") for name in names}, r["diagnostics"]


def tells_what_does_not_compile(d):
    text = ADD.replace("float *c, int n) {", "float *c, int n) { int x = undeclared;").replace("int n = 1000;", "int n = also;")
    r = run(d, text)
    assert r["verdict"] == "error" and r["error"]["code"] == "not_compiled", r
    errors = {(f.get("file"), f.get("line")) for f in r["diagnostics"] if f["severity"] == "error"}
    assert errors == {("p.cu", line_of(text, "undeclared")), ("p.cu", line_of(text, "also"))}, r["diagnostics"]
    r = run(d, ADD.replace("threadIdx.x;", 'threadIdx.x; asm volatile("foo.bar;");'))
    assert r["verdict"] == "error" and any(f["source"] == "ptxas" for f in r["diagnostics"]), r
    r = run(d, ADD.replace("int n = 1000;", 'int n = 1000; asm volatile("bogus %eax");'))
    told, = r["diagnostics"]
    assert told["line"] == line_of(ADD, "int n = 1000;") and "bogus" in told["message"], r


def tells_what_gcc_sees_of_mismatched_frees(d):
    text = HEAD + """#include <cstdlib>
int main(int argc, char **) {
    int *p = (int *)malloc(400), *d;
    p[3] = argc;
    cudaMalloc(&d, 4); cudaFree(d);
    printf("%d", p[3]);
    delete p;
}
"""
    told, = run(d, text)["diagnostics"]
    assert told["line"] == line_of(text, "delete p") and told["severity"] == "warning" and "mismatched" in told["message"], told


def calls_nothing(d):
    """Whatever it prints: its one kernel is registered before main, and not launched."""
    r = run(d, HEAD + '__global__ void k(int *p) { *p = 1; }\nint main() { puts("Test PASSED"); }\n')
    assert r["verdict"] == "error" and r["error"]["code"] == "nothing_launched" and "called no CUDA" in r["error"]["message"], r


def tells_a_race_once_for_each_pair_of_lines(d):
    """nvcc unrolls the loops, so that each line has several instructions, which race at several offsets."""
    r = run(d, RACES, checks=["race"])
    lines = [line_of(RACES, word) for word in ("first write", "second write", "// read")]
    told = [(f["code"], *sorted((f["line"], f["related"][0]["line"]))) for f in r["findings"] if f["severity"] == "error"]
    assert sorted(told) == [("race", lines[0], lines[2]), ("race", lines[1], lines[2])], r["findings"]
    assert all(f["count"] > 64 for f in r["findings"] if f["severity"] == "error"), r["findings"]


def first_launch(d):
    """From the request to the first launch, and nvcc alone with the same words: medians of seven."""
    ours, theirs, folder = [], [], scratch.folder("programs-nvcc-")
    nvcc = os.path.join(os.environ["CUDA_HOME"], "bin/nvcc") if "CUDA_HOME" in os.environ else shutil.which("nvcc")
    data = os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
    nvcc = nvcc or data + "/upskilld/cuda/nvidia/cu13/bin/nvcc"
    library = os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "../gpu/runtime/libcudart.so.13")
    os.symlink(os.path.realpath(library), folder + "/libcudart.so")
    for i in range(7):
        text = "// %d\n" % i + ADD  # nothing is kept
        with open(folder + "/p.cu", "w") as f:
            f.write(text)
        begun = time.monotonic()
        subprocess.run([nvcc, "-arch=compute_90a", "-code=compute_90a", "-lineinfo", "-cudart", "shared", "--no-compress", "-g",
                        "-O2", "-L.", "-L" + os.path.dirname(nvcc) + "/../lib", "p.cu", "-o", "p"], cwd=folder, check=True, capture_output=True)
        theirs.append(time.monotonic() - begun)
        begun = time.monotonic()
        r = run(d, text)
        run_ms, compile_ms = r["phases"][1]["ms"], r["phases"][0]["ms"]
        ours.append(time.monotonic() - begun - (run_ms - r["phases"][1].get("first_launch_ms", run_ms)) / 1e3)
        assert not r["cached"] and r["verdict"] == "pass" and compile_ms, r
    shutil.rmtree(folder)
    ratio = statistics.median(ours) / statistics.median(theirs)
    return "%.2f s beside nvcc's %.2f s: %.2f times" % (statistics.median(ours), statistics.median(theirs), ratio)


def main():
    upskilld = os.path.abspath(sys.argv[1])
    if not nvcc_of(upskilld):
        print("there is no nvcc here: upskillctl setup programs downloads it", file=sys.stderr)
        return 77
    tap, d = Tap(), Daemon(upskilld)
    if "--bench" in sys.argv:
        print("kernel/run, request to first launch: " + first_launch(d))
        d.close()
        return 0
    for function in (adds, finds_the_line, runs_managed_and_constant, runs_thrust, variables_have_their_first_values,
                     a_launch_that_was_refused_is_no_pass, tells_a_followed_pointer,
                     tells_a_followed_argument_at_its_launch, joins_parts_that_were_compiled_apart, knows_handles_of_cublas_and_no_more,
                     records_a_launch_beside_functions_of_cublas_that_are_missing,
                     links_openmp_where_a_source_includes_it, runs_what_cuda_13_no_longer_declares,
                     runs_with_properties_that_cuda_13_lacks, runs_what_the_driver_describes_its_own_way,
                     runs_what_the_driver_of_cuda_12_declares, tells_what_does_not_compile, tells_what_gcc_sees_of_mismatched_frees,
                     calls_nothing,
                     tells_a_race_once_for_each_pair_of_lines):
        tap.run(function.__name__.replace("_", " "), function, d)
    d.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
