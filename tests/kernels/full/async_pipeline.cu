// Streams, graphs, occupancy queries and callbacks around a tiled kernel.
#include <cuda_pipeline.h>
#include <cuda_fp16.h>
#include <thread>
#include <atomic>
#include <functional>
#include <vector>

constexpr int kTile = 128;

__device__ __forceinline__ void load_tile(float *dst, const float *src) {
    __pipeline_memcpy_async(dst + threadIdx.x, src + threadIdx.x, sizeof(float));
    __pipeline_commit();
}

__global__ void __launch_bounds__(kTile, 8) convert(const float *in, __half *out, int tiles) {
    __shared__ float stage[2][kTile];
    load_tile(stage[0], in);
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) {
            load_tile(stage[(t + 1) & 1], in + (t + 1) * kTile);
            __pipeline_wait_prior(1);
        } else {
            __pipeline_wait_prior(0);
        }
        __syncthreads();
        out[t * kTile + threadIdx.x] = __float2half(stage[t & 1][threadIdx.x]);
        __syncthreads();
    }
}

static std::atomic<int> g_done{0};

static void CUDART_CB on_done(void *data) {
    static_cast<std::atomic<int> *>(data)->fetch_add(1);
}

int blocks_per_sm() {
    int blocks = 0;
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, convert, kTile, 0);
    return blocks;
}

void capture(const float *in, __half *out, int tiles) {
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    convert<<<1, kTile, 0, stream>>>(in, out, tiles);
    cudaStreamEndCapture(stream, &graph);
    cudaLaunchHostFunc(stream, on_done, &g_done);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
}

int main() {
    std::vector<std::thread> workers;
    for (int i = 0; i < 4; ++i) {
        workers.emplace_back([i] { capture(nullptr, nullptr, i); });
    }
    for (auto &w : workers) {
        w.join();
    }
    return g_done.load() + blocks_per_sm();
}
