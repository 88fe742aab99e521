#pragma once
template <typename T> struct Holder {
    using type = typename T::value_type;
    static __device__ T get() { T t; return t.nothing(); }
};
template <typename T> __device__ T inner(T x) { return x.foo() + x; }
template <typename T> __device__ T middle(T x) { return inner(x); }
