// What PyTorch's headers (torch/, ATen/, c10/) give to device code, for a compiler that sees
// device code only. host_code puts #include <torch> where the first of them stood; with
// UPSKILLD_TORCH_STD the standard library comes too, as it does through PyTorch's own.
//
// Only names and layouts that are PyTorch's public interface: a kernel that compiles against
// this compiles against PyTorch. Arithmetic of the 16-bit and 8-bit types goes through float.
#ifndef UPSKILLD_TORCH
#define UPSKILLD_TORCH

#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define C10_HOST
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __device__
#define C10_ALWAYS_INLINE __forceinline__
#define C10_NOINLINE __noinline__
#define C10_UNUSED
#define C10_RESTRICT __restrict__
#define C10_LIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 1))
#define C10_UNLIKELY(expression) (__builtin_expect(static_cast<bool>(expression), 0))
#define C10_MAX_THREADS_PER_BLOCK(threads) ((threads) <= 1024 ? (threads) : 256)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks)                                                     \
    ((threads) * (blocks) <= 2048 ? (blocks) : (2048 + (threads)-1) / (threads))
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(C10_MAX_THREADS_PER_BLOCK(threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks)                                                       \
    __launch_bounds__(C10_MAX_THREADS_PER_BLOCK(threads), C10_MIN_BLOCKS_PER_SM(threads, blocks))
#define C10_WARP_SIZE 32
#define CUDA_KERNEL_ASSERT(condition) assert(condition)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) assert((condition) && (message))
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                    \
    int64_t i##_upskilld_next = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;       \
    for (index_type i = static_cast<index_type>(i##_upskilld_next); i##_upskilld_next < (n);       \
         i##_upskilld_next += static_cast<int64_t>(blockDim.x) * gridDim.x,                        \
                    i = static_cast<index_type>(i##_upskilld_next))
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

// c10/util/Exception.h: checks of the host, met in functions that are constexpr.
#define TORCH_CHECK(...) static_cast<void>(0)
#define STD_TORCH_CHECK(...) static_cast<void>(0)
#define TORCH_INTERNAL_ASSERT(...) static_cast<void>(0)

namespace c10 {

#define UPSKILLD_EACH_NUMBER(X)                                                                    \
    X(float) X(double) X(int) X(unsigned) X(long) X(unsigned long) X(long long)                    \
        X(unsigned long long)

struct alignas(2) Half {
    unsigned short x;
    struct from_bits_t {};
    static __device__ constexpr from_bits_t from_bits() { return from_bits_t(); }

    Half() = default;
    __device__ constexpr Half(unsigned short bits, from_bits_t) : x(bits) {}
    __device__ Half(float value) : x(__half_as_ushort(__float2half_rn(value))) {}
    __device__ Half(const __half &value) : x(__half_as_ushort(value)) {}
    __device__ operator float() const { return __half2float(__ushort_as_half(x)); }
    __device__ operator __half() const { return __ushort_as_half(x); }
};

struct alignas(2) BFloat16 {
    unsigned short x;
    struct from_bits_t {};
    static __device__ constexpr from_bits_t from_bits() { return from_bits_t(); }

    BFloat16() = default;
    __device__ constexpr BFloat16(unsigned short bits, from_bits_t) : x(bits) {}
    __device__ BFloat16(float value) : x(__bfloat16_as_ushort(__float2bfloat16_rn(value))) {}
    __device__ BFloat16(const __nv_bfloat16 &value) : x(__bfloat16_as_ushort(value)) {}
    __device__ operator float() const { return __bfloat162float(__ushort_as_bfloat16(x)); }
    __device__ operator __nv_bfloat16() const { return __ushort_as_bfloat16(x); }
};

struct alignas(1) Float8_e4m3fn {
    uint8_t x;
    struct from_bits_t {};
    static __device__ constexpr from_bits_t from_bits() { return from_bits_t(); }

    Float8_e4m3fn() = default;
    __device__ constexpr Float8_e4m3fn(uint8_t bits, from_bits_t) : x(bits) {}
    __device__ Float8_e4m3fn(float value)
        : x(__nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E4M3)) {}
    __device__ operator float() const {
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(x, __NV_E4M3)));
    }
};

// AMD's: the type and its bits, without arithmetic.
struct alignas(1) Float8_e4m3fnuz {
    uint8_t x;
    struct from_bits_t {};
    __device__ static constexpr from_bits_t from_bits() { return from_bits_t(); }
    Float8_e4m3fnuz() = default;
    __device__ constexpr Float8_e4m3fnuz(uint8_t bits, from_bits_t) : x(bits) {}
};

struct alignas(1) Float8_e5m2 {
    uint8_t x;
    struct from_bits_t {};
    static __device__ constexpr from_bits_t from_bits() { return from_bits_t(); }

    Float8_e5m2() = default;
    __device__ constexpr Float8_e5m2(uint8_t bits, from_bits_t) : x(bits) {}
    __device__ Float8_e5m2(float value)
        : x(__nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E5M2)) {}
    __device__ operator float() const {
        return __half2float(__half(__nv_cvt_fp8_to_halfraw(x, __NV_E5M2)));
    }
};

// With itself: the type; with float or double: that one; with an integer: the type.
#define UPSKILLD_SELF(T, op)                                                                       \
    __device__ inline T operator op(const T &a, const T &b) {                                      \
        return static_cast<float>(a) op static_cast<float>(b);                                     \
    }                                                                                              \
    __device__ inline T &operator op##=(T &a, const T &b) { return a = a op b; }                   \
    __device__ inline float &operator op##=(float &a, const T &b) {                                \
        return a = a op static_cast<float>(b);                                                     \
    }
#define UPSKILLD_MIXED(T, op, number, result)                                                      \
    __device__ inline result operator op(const T &a, number b) {                                   \
        return static_cast<float>(a) op static_cast<result>(b);                                    \
    }                                                                                              \
    __device__ inline result operator op(number a, const T &b) {                                   \
        return static_cast<result>(a) op static_cast<float>(b);                                    \
    }
#define UPSKILLD_WITH_INTEGER(T, op, number)                                                       \
    __device__ inline T operator op(const T &a, number b) { return a op static_cast<T>(b); }       \
    __device__ inline T operator op(number a, const T &b) { return static_cast<T>(a) op b; }
#define UPSKILLD_ARITHMETIC(T, op)                                                                 \
    UPSKILLD_SELF(T, op)                                                                           \
    UPSKILLD_MIXED(T, op, float, float) UPSKILLD_MIXED(T, op, double, double)                      \
    UPSKILLD_WITH_INTEGER(T, op, int) UPSKILLD_WITH_INTEGER(T, op, unsigned)                       \
    UPSKILLD_WITH_INTEGER(T, op, long) UPSKILLD_WITH_INTEGER(T, op, unsigned long)                 \
    UPSKILLD_WITH_INTEGER(T, op, long long) UPSKILLD_WITH_INTEGER(T, op, unsigned long long)
#define UPSKILLD_COMPARE_NUMBER(number)                                                            \
    UPSKILLD_COMPARE_WITH(==, number) UPSKILLD_COMPARE_WITH(!=, number)                            \
    UPSKILLD_COMPARE_WITH(<, number) UPSKILLD_COMPARE_WITH(<=, number)                             \
    UPSKILLD_COMPARE_WITH(>, number) UPSKILLD_COMPARE_WITH(>=, number)
#define UPSKILLD_COMPARE_WITH(op, number)                                                          \
    __device__ inline bool operator op(const UPSKILLD_T &a, number b) {                            \
        return static_cast<float>(a) op b;                                                         \
    }                                                                                              \
    __device__ inline bool operator op(number a, const UPSKILLD_T &b) {                            \
        return a op static_cast<float>(b);                                                         \
    }
#define UPSKILLD_COMPARE_SELF(op)                                                                  \
    __device__ inline bool operator op(const UPSKILLD_T &a, const UPSKILLD_T &b) {                 \
        return static_cast<float>(a) op static_cast<float>(b);                                     \
    }
#define UPSKILLD_NUMBER(T)                                                                         \
    UPSKILLD_ARITHMETIC(T, +)                                                                      \
    UPSKILLD_ARITHMETIC(T, -)                                                                      \
    UPSKILLD_ARITHMETIC(T, *)                                                                      \
    UPSKILLD_ARITHMETIC(T, /)                                                                      \
    __device__ inline T operator-(const T &a) { return -static_cast<float>(a); }
#define UPSKILLD_COMPARISONS                                                                       \
    UPSKILLD_COMPARE_SELF(==)                                                                      \
    UPSKILLD_COMPARE_SELF(!=)                                                                      \
    UPSKILLD_COMPARE_SELF(<)                                                                       \
    UPSKILLD_COMPARE_SELF(<=)                                                                      \
    UPSKILLD_COMPARE_SELF(>)                                                                       \
    UPSKILLD_COMPARE_SELF(>=)                                                                      \
    UPSKILLD_EACH_NUMBER(UPSKILLD_COMPARE_NUMBER)

UPSKILLD_NUMBER(Half)
UPSKILLD_NUMBER(BFloat16)
UPSKILLD_NUMBER(Float8_e4m3fn)
UPSKILLD_NUMBER(Float8_e5m2)
#define UPSKILLD_T Half
UPSKILLD_COMPARISONS
#undef UPSKILLD_T
#define UPSKILLD_T BFloat16
UPSKILLD_COMPARISONS
#undef UPSKILLD_T

#undef UPSKILLD_SELF
#undef UPSKILLD_MIXED
#undef UPSKILLD_WITH_INTEGER
#undef UPSKILLD_ARITHMETIC
#undef UPSKILLD_NUMBER
#undef UPSKILLD_COMPARE_NUMBER
#undef UPSKILLD_COMPARE_WITH
#undef UPSKILLD_COMPARE_SELF
#undef UPSKILLD_COMPARISONS
#undef UPSKILLD_EACH_NUMBER

// c10/util/complex.h
template <typename T> struct alignas(2 * sizeof(T)) complex {
    using value_type = T;
    T real_ = T(0), imag_ = T(0);

    constexpr complex() = default;
    __device__ constexpr complex(const T &re, const T &im = T()) : real_(re), imag_(im) {}
    template <typename U>
    __device__ constexpr complex(const complex<U> &z) : real_(T(z.real_)), imag_(T(z.imag_)) {}
    __device__ constexpr T real() const { return real_; }
    __device__ constexpr T imag() const { return imag_; }
    __device__ constexpr void real(T value) { real_ = value; }
    __device__ constexpr void imag(T value) { imag_ = value; }
    __device__ constexpr complex operator+() const { return *this; }
    __device__ constexpr complex operator-() const { return complex(-real_, -imag_); }
    __device__ constexpr complex &operator+=(const complex &z) { return *this = *this + z; }
    __device__ constexpr complex &operator-=(const complex &z) { return *this = *this - z; }
    __device__ constexpr complex &operator*=(const complex &z) { return *this = *this * z; }
    __device__ constexpr complex &operator/=(const complex &z) { return *this = *this / z; }
    // found by their arguments, so that a number on either side becomes a complex one
    friend __device__ constexpr complex operator+(const complex &a, const complex &b) {
        return complex(a.real_ + b.real_, a.imag_ + b.imag_);
    }
    friend __device__ constexpr complex operator-(const complex &a, const complex &b) {
        return complex(a.real_ - b.real_, a.imag_ - b.imag_);
    }
    friend __device__ constexpr complex operator*(const complex &a, const complex &b) {
        return complex(a.real_ * b.real_ - a.imag_ * b.imag_,
                       a.real_ * b.imag_ + a.imag_ * b.real_);
    }
    friend __device__ constexpr complex operator/(const complex &a, const complex &b) {
        T norm = b.real_ * b.real_ + b.imag_ * b.imag_;
        return complex((a.real_ * b.real_ + a.imag_ * b.imag_) / norm,
                       (a.imag_ * b.real_ - a.real_ * b.imag_) / norm);
    }
    friend __device__ constexpr bool operator==(const complex &a, const complex &b) {
        return a.real_ == b.real_ && a.imag_ == b.imag_;
    }
    friend __device__ constexpr bool operator!=(const complex &a, const complex &b) {
        return !(a == b);
    }
};

// c10/util/Half-inl.h and its kin: found by their argument
__device__ inline Half __ldg(const Half *p) {
    return ::__ldg(reinterpret_cast<const __half *>(p));
}
__device__ inline BFloat16 __ldg(const BFloat16 *p) {
    return ::__ldg(reinterpret_cast<const __nv_bfloat16 *>(p));
}

// c10/core/ScalarType.h: what a tensor holds, with its numbers.
enum class ScalarType : int8_t {
    Byte, Char, Short, Int, Long, Half, Float, Double,
    ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16,
    QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16,
    Float8_e5m2, Float8_e4m3fn, Float8_e5m2fnuz, Float8_e4m3fnuz, UInt16, UInt32, UInt64,
    Float8_e8m0fnu = 44, Float4_e2m1fn_x2 = 45,
};

} // namespace c10

namespace at {

using c10::ScalarType;
using c10::BFloat16;
using c10::Float8_e4m3fn;
using c10::Float8_e4m3fnuz;
using c10::Float8_e5m2;
using c10::Half;

// ATen/AccumulateType.h and ATen/OpMathType.h: the types that sums and formulas are kept in.
template <typename T, bool is_cuda> struct AccumulateType { using type = int64_t; };
template <bool is_cuda> struct AccumulateType<float, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<double, is_cuda> { using type = double; };
template <bool is_cuda> struct AccumulateType<Half, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<BFloat16, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<Float8_e4m3fn, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<Float8_e5m2, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<__half, is_cuda> { using type = float; };
template <bool is_cuda> struct AccumulateType<bool, is_cuda> { using type = bool; };
template <typename T, bool is_cuda> using acc_type = typename AccumulateType<T, is_cuda>::type;

template <typename T> struct OpMathType { using type = T; };
template <> struct OpMathType<Half> { using type = float; };
template <> struct OpMathType<BFloat16> { using type = float; };
template <> struct OpMathType<Float8_e4m3fn> { using type = float; };
template <> struct OpMathType<Float8_e5m2> { using type = float; };
template <typename T> using opmath_type = typename OpMathType<T>::type;

template <typename T> __device__ constexpr T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <typename T> __device__ constexpr T round_up(T a, T b) { return ceil_div(a, b) * b; }
template <typename T> __device__ inline bool _isnan(T value) { return value != value; }

// ATen/core/TensorAccessor.h. A packed accessor is passed to kernels by value: the pointer, the
// sizes, the strides (both in elements).
template <typename T> struct DefaultPtrTraits { typedef T *PtrType; };
template <typename T> struct RestrictPtrTraits { typedef T *__restrict__ PtrType; };

template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
class TensorAccessor {
  public:
    typedef typename PtrTraits<T>::PtrType PtrType;
    __device__ TensorAccessor(PtrType data, const index_t *sizes, const index_t *strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1,
                                                            strides_ + 1);
    }
    __device__ index_t stride(index_t i) const { return strides_[i]; }
    __device__ index_t size(index_t i) const { return sizes_[i]; }
    __device__ PtrType data() const { return data_; }

  private:
    PtrType data_;
    const index_t *sizes_;
    const index_t *strides_;
};

template <typename T, template <typename U> class PtrTraits, typename index_t>
class TensorAccessor<T, 1, PtrTraits, index_t> {
  public:
    typedef typename PtrTraits<T>::PtrType PtrType;
    __device__ TensorAccessor(PtrType data, const index_t *sizes, const index_t *strides)
        : data_(data), sizes_(sizes), strides_(strides) {}
    __device__ T &operator[](index_t i) const { return data_[strides_[0] * i]; }
    __device__ index_t stride(index_t i) const { return strides_[i]; }
    __device__ index_t size(index_t i) const { return sizes_[i]; }
    __device__ PtrType data() const { return data_; }

  private:
    PtrType data_;
    const index_t *sizes_;
    const index_t *strides_;
};

template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
class GenericPackedTensorAccessorBase {
  public:
    typedef typename PtrTraits<T>::PtrType PtrType;
    __device__ index_t stride(index_t i) const { return strides_[i]; }
    __device__ index_t size(index_t i) const { return sizes_[i]; }
    __device__ PtrType data() const { return data_; }

  protected:
    PtrType data_;
    index_t sizes_[N];
    index_t strides_[N];
};

template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
class GenericPackedTensorAccessor
    : public GenericPackedTensorAccessorBase<T, N, PtrTraits, index_t> {
  public:
    __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
        return TensorAccessor<T, N - 1, PtrTraits, index_t>(
            this->data_ + this->strides_[0] * i, this->sizes_ + 1, this->strides_ + 1);
    }
};

template <typename T, template <typename U> class PtrTraits, typename index_t>
class GenericPackedTensorAccessor<T, 1, PtrTraits, index_t>
    : public GenericPackedTensorAccessorBase<T, 1, PtrTraits, index_t> {
  public:
    __device__ T &operator[](index_t i) const { return this->data_[this->strides_[0] * i]; }
};

template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;

// ATen/cuda/detail/TensorInfo.cuh: a tensor of any rank as kernels get it, in elements.
namespace cuda {
namespace detail {

#define MAX_TENSORINFO_DIMS 25

template <typename T, typename IndexType> struct TensorInfo {
    T *data;
    IndexType sizes[MAX_TENSORINFO_DIMS];
    IndexType strides[MAX_TENSORINFO_DIMS];
    int dims;
};

// Dims is the rank, or negative: info.dims.
template <typename T, typename IndexType, int Dims> struct IndexToOffset {
    static __device__ IndexType get(IndexType index, const TensorInfo<T, IndexType> &info) {
        IndexType offset = 0;
        for (int d = (Dims < 0 ? info.dims : Dims) - 1; d >= 0; d--) {
            offset += index % info.sizes[d] * info.strides[d];
            index /= info.sizes[d];
        }
        return offset;
    }
};

} // namespace detail
} // namespace cuda

// ATen/cuda/PhiloxCudaState.h: the state of a random generator, or where a graph has it. Older
// ones have 32 bits of offset_intragraph_.
struct PhiloxCudaState {
    union Payload {
        uint64_t val;
        int64_t *ptr;
    };
    Payload seed_;
    Payload offset_;
    uint64_t offset_intragraph_;
    bool captured_;
};

} // namespace at

namespace torch {
using namespace at;
}

// ATen/cuda/DeviceUtils.cuh
template <typename T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = 32, unsigned mask = ~0u) {
    return __shfl_sync(mask, value, lane, width);
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int mask_xor, int width = 32,
                                           unsigned mask = ~0u) {
    return __shfl_xor_sync(mask, value, mask_xor, width);
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned delta, int width = 32,
                                          unsigned mask = ~0u) {
    return __shfl_up_sync(mask, value, delta, width);
}
template <typename T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned delta, int width = 32,
                                            unsigned mask = ~0u) {
    return __shfl_down_sync(mask, value, delta, width);
}
__device__ __forceinline__ unsigned WARP_BALLOT(int predicate, unsigned mask = ~0u) {
    return __ballot_sync(mask, predicate);
}
__device__ __forceinline__ unsigned ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned mask = ~0u) { __syncwarp(mask); }

// ATen/cuda/Atomic.cuh
template <typename T> __device__ __forceinline__ T gpuAtomicAdd(T *address, T value) {
    return atomicAdd(address, value);
}
__device__ __forceinline__ int64_t gpuAtomicAdd(int64_t *address, int64_t value) {
    return static_cast<int64_t>(atomicAdd(reinterpret_cast<unsigned long long *>(address),
                                          static_cast<unsigned long long>(value)));
}
__device__ __forceinline__ c10::Half gpuAtomicAdd(c10::Half *address, c10::Half value) {
    return atomicAdd(reinterpret_cast<__half *>(address), value.operator __half());
}
__device__ __forceinline__ c10::BFloat16 gpuAtomicAdd(c10::BFloat16 *address,
                                                      c10::BFloat16 value) {
    return atomicAdd(reinterpret_cast<__nv_bfloat16 *>(address),
                     value.operator __nv_bfloat16());
}
template <typename T>
__device__ __forceinline__ void gpuAtomicAdd(c10::complex<T> *address, c10::complex<T> value) {
    gpuAtomicAdd(&address->real_, value.real_);
    gpuAtomicAdd(&address->imag_, value.imag_);
}
__device__ __forceinline__ c10::Half atomicAdd(c10::Half *address, c10::Half value) {
    return gpuAtomicAdd(address, value);
}
__device__ __forceinline__ c10::BFloat16 atomicAdd(c10::BFloat16 *address, c10::BFloat16 value) {
    return gpuAtomicAdd(address, value);
}
__device__ __forceinline__ int64_t atomicAdd(int64_t *address, int64_t value) {
    return gpuAtomicAdd(address, value);
}
template <typename T>
__device__ __forceinline__ void atomicAdd(c10::complex<T> *address, c10::complex<T> value) {
    gpuAtomicAdd(address, value);
}
template <typename T> __device__ __forceinline__ void gpuAtomicAddNoReturn(T *address, T value) {
    gpuAtomicAdd(address, value);
}

// torch/headeronly: the same under names of their own
namespace torch {
namespace headeronly {
using c10::ScalarType;
using c10::BFloat16;
using c10::complex;
using c10::Float8_e4m3fn;
using c10::Float8_e4m3fnuz;
using c10::Float8_e5m2;
using c10::Half;
using at::DefaultPtrTraits;
using at::RestrictPtrTraits;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
using HeaderOnlyTensorAccessor = at::TensorAccessor<T, N, PtrTraits, index_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits,
          typename index_t = int64_t>
using HeaderOnlyGenericPackedTensorAccessor =
    at::GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
} // namespace headeronly
} // namespace torch

#endif // UPSKILLD_TORCH

#ifdef UPSKILLD_TORCH_STD
#ifndef UPSKILLD_TORCH_STD_DONE
#define UPSKILLD_TORCH_STD_DONE
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

// ATen/cuda/detail/UnpackRaw.cuh
namespace at {
namespace cuda {
namespace philox {
__device__ inline ::std::tuple<uint64_t, uint64_t> unpack(PhiloxCudaState state) {
    return state.captured_
               ? ::std::make_tuple(static_cast<uint64_t>(*state.seed_.ptr),
                                   static_cast<uint64_t>(*state.offset_.ptr) +
                                       state.offset_intragraph_)
               : ::std::make_tuple(state.seed_.val, state.offset_.val);
}
} // namespace philox
} // namespace cuda
} // namespace at

// The namespace that std stands for here.
namespace cuda {
namespace std {
template <typename T> __device__ constexpr ::c10::complex<T> conj(const ::c10::complex<T> &z) {
    return ::c10::complex<T>(z.real_, -z.imag_);
}
template <typename T> __device__ constexpr T real(const ::c10::complex<T> &z) { return z.real_; }
template <typename T> __device__ constexpr T imag(const ::c10::complex<T> &z) { return z.imag_; }
#define UPSKILLD_LIMITS(T, has_inf, low, high, smallest, eps, inf, nan, bits_of_mantissa)          \
    template <> class numeric_limits<::c10::T> {                                                   \
      public:                                                                                      \
        static constexpr bool is_specialized = true;                                               \
        static constexpr bool is_signed = true;                                                    \
        static constexpr bool is_integer = false;                                                  \
        static constexpr bool is_exact = false;                                                    \
        static constexpr bool has_infinity = has_inf;                                              \
        static constexpr bool has_quiet_NaN = true;                                                \
        static constexpr int radix = 2;                                                            \
        static constexpr int digits = bits_of_mantissa;                                            \
        __device__ static constexpr ::c10::T of(unsigned bits) {                                   \
            return ::c10::T(bits, ::c10::T::from_bits());                                          \
        }                                                                                          \
        __device__ static constexpr ::c10::T lowest() { return of(low); }                          \
        __device__ static constexpr ::c10::T max() { return of(high); }                            \
        __device__ static constexpr ::c10::T min() { return of(smallest); }                        \
        __device__ static constexpr ::c10::T epsilon() { return of(eps); }                         \
        __device__ static constexpr ::c10::T infinity() { return of(inf); }                        \
        __device__ static constexpr ::c10::T quiet_NaN() { return of(nan); }                       \
    };
UPSKILLD_LIMITS(Half, true, 0xfbff, 0x7bff, 0x0400, 0x1400, 0x7c00, 0x7e00, 11)
UPSKILLD_LIMITS(BFloat16, true, 0xff7f, 0x7f7f, 0x0080, 0x3c00, 0x7f80, 0x7fc0, 8)
UPSKILLD_LIMITS(Float8_e4m3fn, false, 0xfe, 0x7e, 0x08, 0x20, 0x7f, 0x7f, 4)
UPSKILLD_LIMITS(Float8_e5m2, true, 0xfb, 0x7b, 0x04, 0x34, 0x7c, 0x7f, 3)
#undef UPSKILLD_LIMITS
} // namespace std
} // namespace cuda

namespace at {
template <typename T> struct numeric_limits {
    using limits = ::cuda::std::numeric_limits<T>;
    __device__ static constexpr T lowest() { return limits::lowest(); }
    __device__ static constexpr T max() { return limits::max(); }
    __device__ static constexpr T lower_bound() {
        return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
    }
    __device__ static constexpr T upper_bound() {
        return limits::has_infinity ? limits::infinity() : limits::max();
    }
};
} // namespace at
#endif
#endif
