// Libraries: namespaces inside and out, C launchers, anonymous helpers.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace lib {
inline namespace v2 {
namespace detail {
__device__ inline uint32_t mix(uint32_t h) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    return h;
}
} // namespace detail

__global__ void hash_keys(const uint32_t *keys, uint32_t *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = detail::mix(keys[i]);
    }
}

class Table {
  public:
    static Table &instance() {
        static Table table;
        return table;
    }
    void put(int key, std::shared_ptr<int> value) {
        std::lock_guard<std::mutex> lock(mutex_);
        values_[key] = value;
    }

  private:
    std::mutex mutex_;
    std::map<int, std::shared_ptr<int>> values_;
};
} // namespace v2

namespace {
std::once_flag g_once;
__global__ void clear(uint32_t *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 0;
    }
}
} // namespace

void reset(uint32_t *x, int n) {
    std::call_once(g_once, [] { Table::instance().put(1, std::make_shared<int>(2)); });
    clear<<<(n + 255) / 256, 256>>>(x, n);
}
} // namespace lib

#ifdef __cplusplus
extern "C" {
#endif

__global__ void c_style(uint32_t *x) { x[threadIdx.x] += 1; }

int launch_hash(const uint32_t *keys, uint32_t *out, int n) {
    lib::hash_keys<<<64, 256>>>(keys, out, n);
    return (int)cudaGetLastError();
}

#ifdef __cplusplus
}
#endif

extern "C" void launch_reset(uint32_t *x, int n) {
    lib::reset(x, n);
}
