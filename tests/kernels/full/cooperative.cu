// Cooperative groups and a cooperative launch.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdio>

namespace cg = cooperative_groups;

__global__ void tile_sum(const float *x, float *out, int n) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<32>(block);
    float sum = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n;
         i += gridDim.x * block.size()) {
        sum += x[i];
    }
    sum = cg::reduce(tile, sum, cg::plus<float>());
    if (tile.thread_rank() == 0) {
        atomicAdd(out, sum);
    }
}

__global__ void two_phase(float *x, int n) {
    cg::grid_group grid = cg::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
        x[i] *= 2.f;
    }
    grid.sync();
    for (int i = grid.thread_rank(); i + 1 < n; i += grid.size()) {
        x[i] += x[i + 1];
    }
}

static bool supports_cooperative(int device) {
    int yes = 0;
    cudaDeviceGetAttribute(&yes, cudaDevAttrCooperativeLaunch, device);
    return yes != 0;
}

int main() {
    float *x = nullptr;
    int n = 1000;
    tile_sum<<<8, 256>>>(x, x, n);
    if (supports_cooperative(0)) {
        void *args[] = {&x, &n};
        cudaLaunchCooperativeKernel((void *)two_phase, dim3(8), dim3(256), args, 0, 0);
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}
