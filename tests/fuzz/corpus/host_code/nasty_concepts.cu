// C++20: concepts, requires-clauses, template lambdas. Compiled with -std=c++20.
#include <concepts>
#include <vector>

template <class T>
concept Number = requires(T a, T b) {
    { a + b };
    { a *b };
};
template <class T>
concept Small = Number<T> && (sizeof(T) <= 4);

template <class T>
    requires Number<T> && requires(T t) { t - t; }
__device__ T sub(T a, T b) {
    return a - b;
}

template <Number T>
__global__ void difference(const T *a, const T *b, T *c)
    requires(sizeof(T) >= 2)
{
    c[threadIdx.x] = sub(a[threadIdx.x], b[threadIdx.x]);
}

template <class T>
    requires(sizeof(T) > 1)
void host_required(std::vector<T> &v) {
    difference<T><<<1, (int)v.size()>>>(v.data(), v.data(), v.data());
}

auto host_short(Number auto x, auto y) { return x + y; }

template <Small T> int host_small(T x) requires requires { x + 1; } { return (int)x; }

consteval int four() { return 4; }
struct Point { int x, y; };

int main() {
    std::vector<float> v(4);
    host_required<float>(v);
    Point p{.x = 1, .y = 2};
    auto lambda = []<class U>(U u) { return u; };
    return host_short(p.x, p.y) + lambda(four()) + host_small(1);
}
