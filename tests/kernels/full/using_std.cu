// "using namespace std" at the top, as in many course solutions.
#include <bits/stdc++.h>
using namespace std;

typedef unsigned long long u64;
typedef vector<float> Floats;

enum Mode { SUM, MAXIMUM };
enum class Layout : int { Row = 0, Column = 1 };

const int THREADS = 192;
const double SCALE = 0.5;
static const int TABLE[4] = {1, 3, 5, 7};

__device__ int g_counter;

__global__ void reduce_mode(const double *x, double *out, int n, Mode mode, Layout layout) {
    __shared__ double part[THREADS];
    double v = mode == SUM ? 0.0 : -1e300;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        int at = layout == Layout::Row ? i : n - 1 - i;
        v = mode == SUM ? v + x[at] : max(v, x[at]);
    }
    part[threadIdx.x] = v * SCALE;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int t = 1; t < THREADS; t++) {
            v = mode == SUM ? v + part[t] : max(v, part[t]);
        }
        *out = v;
        atomicAdd(&g_counter, 1);
    }
}

map<string, int> histogram(const vector<string> &words) {
    map<string, int> h;
    for (const auto &w : words) {
        h[w]++;
    }
    return h;
}

pair<int, int> split(int n) {
    return {n / 2, n - n / 2};
}

int main() {
    ios::sync_with_stdio(false);
    Floats f(10);
    iota(f.begin(), f.end(), 0.f);
    double *d;
    cudaMalloc((void **)&d, 80);
    reduce_mode<<<1, THREADS>>>(d, d, 10, SUM, Layout::Row);
    cout << histogram({"a", "b"}).size() << split(3).first << endl;
    u64 x = 3;
    sort(f.begin(), f.end(), greater<float>());
    return x == 3 ? 0 : 1;
}
