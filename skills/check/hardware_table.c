#include "skills/check/hardware_table.h"
#include "base/mem.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)
#define GB 1e9
#define TERA 1e12
#define MHZ 1e6

#include "skills/hardware_tables.h"

const size_t hardware_table_count = ARRAY_LEN(hardware_table) - 1;
const size_t hardware_device_count = ARRAY_LEN(hardware_devices) - 1;
const size_t hardware_feature_count = ARRAY_LEN(hardware_features) - 1;

const char *hardware_quantity_name(enum hardware_quantity quantity) {
    static const char *const names[HARDWARE_QUANTITIES] = {
        [HARDWARE_SM_COUNT] = "number of SMs",
        [HARDWARE_THREADS_PER_SM] = "threads per SM",
        [HARDWARE_WARP_SIZE] = "warp size",
        [HARDWARE_WARPS_PER_SM] = "warps per SM",
        [HARDWARE_BLOCKS_PER_SM] = "blocks per SM",
        [HARDWARE_THREADS_PER_BLOCK] = "threads per block",
        [HARDWARE_REGISTERS_PER_SM] = "registers per SM",
        [HARDWARE_REGISTERS_PER_THREAD] = "registers per thread",
        [HARDWARE_SHARED_PER_SM] = "shared memory per SM",
        [HARDWARE_SHARED_PER_BLOCK] = "shared memory per block",
        [HARDWARE_L1_AND_SHARED] = "L1 cache and shared memory of an SM",
        [HARDWARE_L2] = "L2 cache",
        [HARDWARE_MEMORY] = "device memory",
        [HARDWARE_BANDWIDTH] = "memory bandwidth",
        [HARDWARE_BOOST_CLOCK] = "boost clock",
        [HARDWARE_FP64] = "peak FP64 rate",
        [HARDWARE_FP64_TENSOR] = "peak FP64 rate of the tensor cores",
        [HARDWARE_FP32] = "peak FP32 rate",
        [HARDWARE_TF32] = "peak TF32 rate",
        [HARDWARE_FP16] = "peak FP16 and BF16 rate",
        [HARDWARE_FP8] = "peak FP8 rate",
        [HARDWARE_INT8] = "peak INT8 rate",
        [HARDWARE_CUDA_CORES] = "number of CUDA cores",
        [HARDWARE_CORES_PER_SM] = "FP32 cores per SM",
        [HARDWARE_TENSOR_CORES] = "number of tensor cores",
        [HARDWARE_BANKS] = "number of shared memory banks",
        [HARDWARE_CLUSTER_PORTABLE] = "portable cluster size",
        [HARDWARE_CLUSTER_MAX] = "largest cluster size",
        [HARDWARE_CAPABILITY] = "compute capability",
    };
    return names[quantity];
}
