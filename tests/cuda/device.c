/* Devices: what they are called and what they can do. */
#include "tests/cuda/conf.h"
#include "tests/cuda/tasks.h"

#include <stdio.h>
#include <string.h>

int cuDriverGetVersion(int *ret) {
    ENTER(cuDriverGetVersion, NEED_NOTHING);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    *ret = conf.driver;
    return CUDA_OK;
}

int cuDeviceGetCount(int *ret) {
    ENTER(cuDeviceGetCount, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    *ret = conf.devices;
    return CUDA_OK;
}

static int device_check(int device) {
    return device >= 0 && device < conf.devices ? CUDA_OK : STANDIN_INVALID_DEVICE;
}

int cuDeviceGet(int *ret, int ordinal) {
    ENTER(cuDeviceGet, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    if (device_check(ordinal)) {
        return STANDIN_INVALID_DEVICE;
    }
    *ret = ordinal;
    return CUDA_OK;
}

int cuDeviceGetName(char *ret, int size, int device) {
    ENTER(cuDeviceGetName, NEED_INIT);
    if (!ret || size <= 0) {
        return CUDA_INVALID_VALUE;
    }
    (void)snprintf(ret, (size_t)size, "%s", conf.name);
    return device_check(device);
}

int cuDeviceGetUuid_v2(struct cuda_uuid *ret, int device) {
    ENTER(cuDeviceGetUuid_v2, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    memset(ret->bytes, 0x5d, sizeof ret->bytes);
    ret->bytes[15] = (unsigned char)device;
    return device_check(device);
}

int cuDeviceTotalMem_v2(size_t *ret, int device) {
    ENTER(cuDeviceTotalMem_v2, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    *ret = conf.memory;
    return device_check(device);
}

int cuDeviceGetPCIBusId(char *ret, int size, int device) {
    ENTER(cuDeviceGetPCIBusId, NEED_INIT);
    if (!ret || size < 13) {
        return CUDA_INVALID_VALUE;
    }
    (void)snprintf(ret, (size_t)size, "0000:%02X:00.0", 0x18 + (unsigned)device % 128);
    return device_check(device);
}

/* By number of CUdevice_attribute; those of an H100 SXM as NVIDIA's data sheet and the
 * programming guide's table of compute capability 9.0 give them. */
static int attribute_value(int attribute, int *ret) {
    const struct {
        int attribute, value;
    } values[] = {
        {CUDA_DEVICE_MAX_THREADS_PER_BLOCK, 1024},
        {CUDA_DEVICE_MAX_BLOCK_X, 1024},
        {3, 1024},
        {4, 64},
        {CUDA_DEVICE_MAX_GRID_X, 2147483647},
        {6, 65535},
        {7, 65535},
        {8, 48 << 10}, /* shared memory of a block */
        {9, 64 << 10}, /* constant memory */
        {10, 32},      /* lanes of a warp */
        {12, 65536},   /* registers of a block */
        {CUDA_DEVICE_CLOCK_KHZ, 1980000},
        {CUDA_DEVICE_SM_COUNT, conf.sms},
        {17, 0}, /* no watchdog */
        {CUDA_DEVICE_INTEGRATED, 0},
        {CUDA_DEVICE_COMPUTE_MODE, conf.compute_mode},
        {CUDA_DEVICE_ECC, conf.ecc},
        {CUDA_DEVICE_MEMORY_CLOCK_KHZ, 2619000},
        {CUDA_DEVICE_MEMORY_BUS_BITS, 5120},
        {CUDA_DEVICE_L2_BYTES, (int)conf.l2},
        {39, 2048}, /* threads of an SM */
        {CUDA_DEVICE_CAPABILITY_MAJOR, conf.major},
        {CUDA_DEVICE_CAPABILITY_MINOR, conf.minor},
        {81, 228 << 10}, /* shared memory of an SM */
        {82, 65536},     /* registers of an SM */
        {CUDA_DEVICE_COOPERATIVE_LAUNCH, 1},
        {CUDA_DEVICE_SHARED_OPTIN_BYTES, 227 << 10},
        {106, 32}, /* blocks of an SM */
        {CUDA_DEVICE_MAX_PERSISTING_L2_BYTES, (int)(conf.l2 / 8 * 5)},
        {111, 1024}, /* shared memory that the system keeps of a block */
        {120, 1},    /* clusters */
    };
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        if (values[k].attribute == attribute) {
            *ret = values[k].value;
            return CUDA_OK;
        }
    }
    *ret = 0;
    return attribute > 0 && attribute < 150 ? CUDA_OK : CUDA_INVALID_VALUE;
}

int cuDeviceGetAttribute(int *ret, int attribute, int device) {
    ENTER(cuDeviceGetAttribute, NEED_INIT);
    if (!ret) {
        return CUDA_INVALID_VALUE;
    }
    if (device_check(device)) {
        return STANDIN_INVALID_DEVICE;
    }
    return attribute_value(attribute, ret);
}
