#pragma once
/* nvml: state of a GPU during timing, from the driver's management library. libnvidia-ml
 * is optional. Values that the library, the driver or the device cannot give are absent,
 * never made up. Constants are those of nvml.h (12.0 to 13.x). Use it from one thread. */
#include "base/json.h"

struct nvml;

/* "libnvidia-ml.so.1" in the loader's path, or `path`. -ENOENT: no such library; -ENOSYS:
 * it lacks a function that every version has; -EIO: it does not start; -ENODEV: it does
 * not know the device. uuid: from CUDA; "GPU-…" or "MIG-…" is built from it. */
int nvml_open(struct nvml **ret, const char *path, const unsigned char uuid[16],
              struct err *err);
void nvml_close(struct nvml *nvml); /* NULL is fine */

enum nvml_known { /* bits: which members of the state are valid */
                  NVML_KNOWS_SM_CLOCK = 1,
                  NVML_KNOWS_MEMORY_CLOCK = 2,
                  NVML_KNOWS_REASONS = 4,
                  NVML_KNOWS_TEMPERATURE = 8,
                  NVML_KNOWS_POWER_LIMIT = 16,
                  NVML_KNOWS_PERSISTENCE = 32,
                  NVML_KNOWS_OTHERS = 64,
};
struct nvml_state {
    unsigned known;
    unsigned sm_clock_mhz, memory_clock_mhz, temperature_c;
    uint64_t reasons; /* nvmlClocksEventReason bits */
    double power_limit_w;
    bool persistence;
    unsigned other_processes; /* with a context on the device, except this one */
};

/* Never fails: see known. */
void nvml_read(struct nvml *nvml, struct nvml_state *ret);
/* Reasons that slow down a measurement: power, heat, a brake. Not included: idle, and
 * clocks set on purpose. */
bool nvml_reasons_throttle(uint64_t reasons);
/* ["sw_power_cap", "hw_slowdown" …], unknown bits as "0x…": new reference. */
json_t *nvml_reasons_to_json(uint64_t reasons);
