// Macros that make template kernels, host templates, launchers and lists of them.
#include <cstdio>
#include <map>
#include <string>

template <class T, int N>
struct Tile {
    using type = T;
    static constexpr int rows = N;
};

#define HEAD(NAME, ...)                                                       \
    template <class Shape, __VA_ARGS__>                                       \
    __global__ void NAME(typename Shape::type *out)

HEAD(scale, bool Twice, int Step) {
    if (threadIdx.x < Shape::rows) {
        out[threadIdx.x * Step] *= Twice ? 2 : 1;
    }
}

namespace sums {
#define MAKE_SUM(NAME, EXPRESSION)                                            \
    template <int N>                                                          \
    __global__ void sum_##NAME(const float *x, float *out) {                  \
        float sum = 0;                                                        \
        for (int i = 0; i < N; i++) {                                         \
            float v = x[i];                                                   \
            sum += (EXPRESSION);                                              \
        }                                                                     \
        *out = sum;                                                           \
    }
MAKE_SUM(plain, v)
MAKE_SUM(squares, v *v)
}  // namespace sums

template <class Shape, bool Twice>
void run(typename Shape::type *out) {
    auto kernel = &scale<Shape, Twice, 4>;
    kernel<<<1, Shape::rows>>>(out);
}

// What a program finds its launchers by.
struct Entry {
    static std::map<std::string, void (*)(float *)> all;
    Entry(const char *name, void (*function)(float *)) { all[name] = function; }
};
std::map<std::string, void (*)(float *)> Entry::all;

#define REGISTER(TYPE, ROWS)                                                  \
    void run_##TYPE##_##ROWS(float *out) { run<Tile<TYPE, ROWS>, true>(out); } \
    static Entry entry_##TYPE##_##ROWS(#TYPE #ROWS, run_##TYPE##_##ROWS);
REGISTER(float, 32);
#define EACH(X) X(float, 64) X(float, 128)
EACH(REGISTER)

#define INSTANTIATE(TYPE) template void run<Tile<TYPE, 8>, false>(TYPE * out)
INSTANTIATE(float);
INSTANTIATE(
    double
);

#define LAUNCHER(NAME)                                                        \
    template <int N>                                                          \
    void launch_##NAME(const float *x, float *out) {                          \
        sums::sum_##NAME<N><<<1, 1>>>(x, out);                                \
    }
LAUNCHER(plain)
LAUNCHER(squares)

int main() {
    float *x = nullptr;
    cudaMalloc(&x, 1024 * sizeof *x);
    launch_plain<16>(x, x + 512);
    launch_squares<32>(x, x + 513);
    for (const auto &entry : Entry::all) {
        std::printf("launching %s\n", entry.first.c_str());
        entry.second(x);
    }
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        std::fprintf(stderr, "launches failed: %s\n", cudaGetErrorString(error));
        return 1;
    }
    float result[2] = {0, 0};
    cudaMemcpy(result, x + 512, sizeof result, cudaMemcpyDeviceToHost);
    std::printf("the sum of the numbers is %g, that of their squares %g\n",
                result[0], result[1]);
    cudaFree(x);
    return 0;
}
