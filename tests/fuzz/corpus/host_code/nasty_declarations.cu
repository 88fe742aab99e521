// Declarations that are hard to tell apart.
#include <utility>
#include <cstddef>

__attribute__((noinline)) static int with_attribute(int x) { return x; }
static __attribute__((unused)) void (*g_pointer)(int) = nullptr;
int (*returns_pointer(int x))[3] { static int table[3]; return &table; }
int array_of[2][2]{{1, 2}, {3, 4}}, after_array = 3;
const int kShift(3), kOther{4};
struct Forward;
class Forward *g_forward;
enum : unsigned char { SMALL = 1, LARGE = 200 } g_enum = SMALL;
struct { int a, b; } g_anonymous = {1, 2};
typedef struct Node { struct Node *next; int value; } Node;
namespace alias_target { int value; }
namespace alias = alias_target;
using alias_target::value;
static_assert(sizeof(Node) == 16, "layout; { with ( odd text");
extern int g_extern;
asm("");
;;

int operator""_km(unsigned long long x) { return (int)x * 1000; }
struct Op {
    int v;
    bool operator<(const Op &o) const { return v < o.v; }
    bool operator()(int a, int b) const { return a < b; }
    int operator[](int i) const { return v + i; }
    Op &operator++() { ++v; return *this; }
    void *operator new(size_t n) { return ::operator new(n); }
    __device__ Op operator,(const Op &o) const { return o; }
    __device__ bool operator>(const Op &o) const { return v > o.v; }
};
bool operator==(const Op &a, const Op &b) { return a.v == b.v; }
__device__ Op operator>>(Op a, int n) { a.v >>= n; return a; }

template <typename T, int N = (sizeof(T) > 4 ? 2 : 1), bool B = (N < 2)>
struct Traits { static const int value = N; enum { twice = N * 2 }; };
template <> struct Traits<float, 3> { static constexpr int value = 33; };
template <template <class, int, bool> class C, class T> struct Wrap { C<T, 1, true> inner; };

template <class T> __device__ T twice(T x) { return x + x; }
template <> __device__ int twice<int>(int x) { return x << 1; }
template <class T> void host_twice(T &x) { x = x + x; }
template <> void host_twice<int>(int &x) { x <<= 1; }
template void host_twice<float>(float &);

template <class T, int kN> __global__ void generic(T *x) { x[threadIdx.x] = twice(x[threadIdx.x]) + kN + Traits<T>::twice; }
template <> __global__ void generic<char, 1>(char *x) { x[0] = 'c'; }
template __global__ void generic<int, 2>(int *);

__global__ void compare(const Op *ops, int *out) {
    Op a = ops[0] >> kShift, b = ops[1];
    out[0] = (a, b) > a ? kOther : Traits<float, 3>::value;
}

int main(int, char *[]) {
    generic<double, (3 > 2 ? 4 : 5)><<<1, 32>>>(nullptr);
    generic<float, Traits<double>::value><<<1, 32>>>(nullptr);
    compare<<<1, 1>>>(nullptr, nullptr);
    int x = 5_km;
    host_twice(x);
    return with_attribute(x) < 3;
}
