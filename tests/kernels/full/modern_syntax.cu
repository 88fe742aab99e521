// Trailing return types, attributes, nested templates, lambdas, if constexpr, fold expressions.
#include <array>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <utility>

template <class T>
using Pointer = T *__restrict__;

template <typename... Ts>
struct Pack {
    static constexpr int size = sizeof...(Ts);
};

template <class F, class... Args>
[[nodiscard]] __host__ __device__ constexpr auto apply(F f, Args... args) -> decltype(f(args...)) {
    return f(args...);
}

struct Square {
    template <class T>
    __host__ __device__ constexpr auto operator()(T x) const -> T {
        return x * x;
    }
};

struct [[maybe_unused]] alignas(16) Quad {
    float v[4];
};

template <class F, int N, class = void>
__global__ void map_array(Pointer<float> x, F f) {
    if constexpr (N > 32) {
        x[threadIdx.x] = apply(f, x[threadIdx.x]) + Pack<int, float>::size;
    } else {
        x[threadIdx.x] = -apply(f, x[threadIdx.x]);
    }
}

__global__ [[maybe_unused]] void quads(Quad *q) {
    auto twice = [](float a) { return a + a; };
    q[threadIdx.x].v[threadIdx.x & 3] = twice(1.5f);
}

auto make_callback(int base) -> std::function<int(int)> {
    return [=](int x) mutable noexcept -> int { return base + x; };
}

template <class... Ts>
auto sum(Ts... values) {
    return (values + ... + 0);
}

static const auto g_callback = make_callback(3);
static std::array<std::pair<int, std::function<void()>>, 2> g_table = {{{1, [] {}}, {2, [] { g_callback(1); }}}};
const std::function<void(int)> g_hook{[](int) {}};

struct Base {
    virtual ~Base() = default;
    virtual int run(int) = 0;
};

struct Derived final : public Base {
    Derived(int n) noexcept(false) try : n_(n), more_{n, n + 1} {
    } catch (...) {
    }
    int run(int x) override { return x + n_; }
    operator bool() const { return n_ != 0; }
    Derived &operator=(const Derived &) & = default;

  private:
    int n_;
    std::array<int, 2> more_;
};

decltype(auto) forwarder(int &&x) { return std::forward<int>(x); }

int main() {
    map_array<Square, 64><<<1, 64>>>(nullptr, Square{});
    map_array<Square, 8><<<1, 8>>>(nullptr, Square{});
    quads<<<1, 32>>>(nullptr);
    auto [a, b] = std::tuple<int, int>{sum(1, 2), forwarder(3)};
    return Derived(a).run(b);
}
