#pragma once
/* cuda_device: the CUDA devices, and how one is selected. Only those that
 * CUDA_VISIBLE_DEVICES makes visible, in its order; a MIG slice is a separate device,
 * with the slice's figures. cuInit must have been called. */
#include "base/json.h"
#include "gpu/driver/cuda_api.h"

#define CUDA_MAX_DEVICES 64

struct cuda_device {
    int ordinal, handle;
    char name[128]; /* "NVIDIA H100 80GB HBM3" */
    char uuid[48];  /* "GPU-5a1d…", for a slice "MIG-…" */
    unsigned char uuid_bytes[16];
    int major, minor; /* compute capability */
    int sms;
    size_t memory_bytes;
    int l2_bytes, clock_khz, memory_clock_khz, memory_bus_bits; /* 0 = unknown */
    int compute_mode; /* 0 default, 2 prohibited, 3 exclusive process */
    int max_threads, max_block[3], max_grid[3];
    int shared_optin_bytes; /* of one block, static and dynamic */
    bool cooperative, clusters;
};

/* At most max of the devices; the number written, or -EIO with *ret_code and err. */
int cuda_devices_read(const struct cuda_api *api, struct cuda_device *ret, size_t max,
                      int *ret_code, struct err *err);
/* The device named by `wanted`: an ordinal, a UUID or its beginning, with or without
 * "GPU-" or "MIG-", or a part of the name that only one device has; NULL: the first whose
 * compute mode allows a process. NULL with err if there is none. */
const struct cuda_device *cuda_device_find(const struct cuda_device *devices,
                                           size_t count, const char *wanted,
                                           struct err *err);
/* "13.0" of 13000. */
void cuda_version_text(int version, char ret[static 16]);
/* "GPU-…" for 16 bytes, in nvidia-smi's form; kind "GPU" or "MIG". */
void cuda_uuid_text(char ret[static 48], const char *kind, const unsigned char *bytes);
/* {"ordinal", "name", "uuid", "compute_capability": "9.0", "sms", "memory_bytes",
 * "l2_bytes", "sm_clock_mhz", "memory_clock_mhz", "memory_bus_bits",
 * "memory_bytes_per_s", "compute_mode": "default|exclusive_thread|prohibited|
 * exclusive_process"}; what is not known is null. New reference. */
json_t *cuda_device_to_json(const struct cuda_device *device);
