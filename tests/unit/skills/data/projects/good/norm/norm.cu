#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/all.h>

#include "reduce.cuh"

// One warp per row.
__global__ void rms_norm_kernel(float *out, const float *input, const float *weight, int rows,
                                int columns, float epsilon) {
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const float *in = input + (size_t)row * columns;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 32) {
        sum += in[i] * in[i];
    }
    float scale = rsqrtf(warp_sum(sum) / columns + epsilon);
    for (int i = threadIdx.x; i < columns; i += 32) {
        out[(size_t)row * columns + i] = in[i] * scale * weight[i];
    }
}

void rms_norm(torch::Tensor &out, torch::Tensor const &input, torch::Tensor const &weight,
              double epsilon) {
    TORCH_CHECK(input.is_contiguous() && input.scalar_type() == at::kFloat);
    const at::cuda::OptionalCUDAGuard guard(device_of(input));
    int columns = static_cast<int>(input.size(-1));
    int rows = static_cast<int>(input.numel() / columns);
    dim3 block(32, 4);
    rms_norm_kernel<<<(rows + 3) / 4, block, 0, at::cuda::getCurrentCUDAStream()>>>(
        out.data_ptr<float>(), input.data_ptr<float>(), weight.data_ptr<float>(), rows, columns,
        static_cast<float>(epsilon));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}
