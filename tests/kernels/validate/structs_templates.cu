// Structs by value, constant memory, function pointers, templates, recursion.
struct Step {
    char kind;
    double scale;
    int offset[3];
};
struct Plan {
    Step steps[2];
    short count;
};
__constant__ float weights[5];
__device__ int calls = 0;

extern "C" __global__ void run_plan(Plan plan, const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i];
    for (int s = 0; s < plan.count; s++) {
        Step step = plan.steps[s];
        v = step.kind == 'm' ? __dmul_rn(v, step.scale) : __dadd_rn(v, step.offset[i % 3]);
    }
    y[i] = v;
}

extern "C" __global__ void weighted(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = __fmul_rn(x[i], weights[i % 5]);
}

using Op = int (*)(int, int);
__device__ __noinline__ int op_add(int a, int b) { return a + b; }
__device__ __noinline__ int op_mul(int a, int b) { return a * b; }
__device__ __noinline__ int op_sub(int a, int b) { return a - b; }
__device__ Op table[3] = {op_add, op_mul, op_sub};

extern "C" __global__ void by_pointer(const int *a, const int *b, int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = table[i % 3](a[i], b[i]);
        atomicAdd(&calls, 1);
    }
}

__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recurse(int *y) {
    y[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 3);
}

template <typename T, int SCALE> __global__ void scaled(const T *x, T *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * T(SCALE);
}
template __global__ void scaled<int, 3>(const int *, int *, int);
template __global__ void scaled<float, -2>(const float *, float *, int);
