// Objects outlive the launch that made them: one kernel fills the table, another calls what lies in it.
struct Layer {
    __device__ virtual ~Layer() {}
    __device__ virtual int apply(int x) const = 0;
};
struct Scale : Layer {
    int by;
    __device__ explicit Scale(int by) : by(by) {}
    __device__ int apply(int x) const override { return by * x; }
};
struct Clip : Layer {
    int most;
    __device__ explicit Clip(int most) : most(most) {}
    __device__ int apply(int x) const override { return x < most ? x : most; }
};

__device__ int negated(int x) { return -x; }
__device__ int squared(int x) { return x * x; }

__device__ Layer *layers[64];
__device__ int (*ends[64])(int);

extern "C" __global__ void build(int n) {
    int i = threadIdx.x;
    if (i < n) {
        layers[i] = i % 3 ? static_cast<Layer *>(new Scale(i)) : new Clip(i);
        ends[i] = i % 2 ? negated : squared;
    }
}

extern "C" __global__ void forward(const int *x, int *y, int n) {
    int i = threadIdx.x;
    if (i < n)
        y[i] = ends[i](layers[i]->apply(x[i]));
}

extern "C" __global__ void tear_down(int n) {
    if (threadIdx.x < n)
        delete layers[threadIdx.x];
}
