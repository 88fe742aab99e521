// What PyTorch's headers give to device code: types, accessors, macros, and what they include.
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include "ATen/cuda/DeviceUtils.cuh"

static_assert(sizeof(c10::Half) == 2 && sizeof(at::BFloat16) == 2 && alignof(c10::Half) == 2, "");
static_assert(sizeof(c10::Float8_e4m3fn) == 1 && sizeof(at::Float8_e5m2) == 1, "");
// a pointer, the sizes, the strides
static_assert(sizeof(torch::PackedTensorAccessor32<float, 2>) == 8 + 2 * 4 + 2 * 4, "");
static_assert(sizeof(at::PackedTensorAccessor64<double, 3, at::RestrictPtrTraits>) == 8 + 6 * 8, "");
static_assert(std::is_same<at::acc_type<at::Half, true>, float>::value, "");
static_assert(std::is_same<at::acc_type<int, true>, int64_t>::value, "");
static_assert(std::is_same<at::opmath_type<at::BFloat16>, float>::value, "");
static_assert(std::is_same<at::opmath_type<double>, double>::value, "");
static_assert(std::is_same<decltype(c10::Half() + c10::Half()), c10::Half>::value, "");
static_assert(std::is_same<decltype(c10::Half() * 2.f), float>::value, "");
static_assert(std::is_same<decltype(2 * c10::Half()), c10::Half>::value, "");
static_assert(at::ceil_div(7, 2) == 4 && at::round_up(7, 4) == 8, "");
static_assert(std::numeric_limits<c10::Half>::max().x == 0x7bff, "");    // 65504
static_assert(std::numeric_limits<c10::BFloat16>::lowest().x == 0xff7f, "");

template <typename T> using wide = at::opmath_type<T>;

template <typename T> __device__ wide<T> mixed(T a, T b, int i, float f, double d, int64_t n) {
    T c = a + b;
    c += a, c -= b, c *= a, c /= b;
    c = -c * f + i;
    c = i * a + a * n;
    wide<T> sum = a * f + static_cast<float>(d * b);
    sum += a;
    bool ordered = a < b || a == b || a > f || f <= a || a != i || d >= a || a > 0;
    c = ordered ? std::max(a, c) : static_cast<T>(expf(static_cast<float>(a)));
    return sum + c + (a > T(0) ? a : T(0));
}

C10_LAUNCH_BOUNDS_1(256)
__global__ void numbers(c10::Half *h, at::BFloat16 *b, float *out, int64_t n) {
    CUDA_KERNEL_LOOP(i, n) {
        CUDA_KERNEL_ASSERT(i >= 0);
        out[i] = mixed(h[i], h[i + 1], i, 2.f, 3., n) + mixed(b[i], b[i + 1], i, 2.f, 3., n);
        __half plain = h[i];
        h[i] = plain;
        __nv_bfloat16 brain = b[i];
        b[i] = brain;
        out[i] += WARP_SHFL_DOWN(out[i], 16);
        gpuAtomicAdd(h, h[i]);
    }
}

template <typename scalar_t>
__global__ void rows(const torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x,
                     torch::PackedTensorAccessor32<scalar_t, 1, torch::RestrictPtrTraits> y) {
    using acc_t = at::acc_type<scalar_t, true>;
    acc_t sum = 0;
    for (int j = 0; j < x.size(1); j++) {
        sum += x[blockIdx.x][j];
    }
    y[blockIdx.x] = static_cast<scalar_t>(sum);
}

torch::Tensor row_sums(torch::Tensor x) {
    auto y = torch::empty({x.size(0)}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "row_sums", [&] {
        rows<scalar_t><<<x.size(0), 1>>>(
            x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(),
            y.packed_accessor32<scalar_t, 1, torch::RestrictPtrTraits>());
    });
    return y;
}
