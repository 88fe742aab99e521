#pragma once
/* nvml: what the driver's management library tells of a GPU while it is timed.
 *
 * libnvidia-ml is opened when it is there; nothing depends on it. Whatever it, the driver
 * or the device cannot tell is said by absence, never by a made-up number. Constants are
 * those of nvml.h (12.0 to 13.x). Call from one thread. */
#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct nvml;

/* "libnvidia-ml.so.1" in the loader's path, or `path`. -ENOENT: no such library; -ENOSYS:
 * it lacks what every version has; -EIO: it does not start; -ENODEV: it does not know the
 * device. uuid: as CUDA gives it, "GPU-…" or "MIG-…" is made of it. */
int nvml_open(struct nvml **ret, const char *path, const unsigned char uuid[16],
              struct err *err);
void nvml_close(struct nvml *nvml); /* NULL is fine */

enum nvml_known { /* bits: which members of the state mean something */
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
    unsigned other_processes; /* that hold a context on the device, this one left out */
};

/* Never fails: see known. */
void nvml_read(struct nvml *nvml, struct nvml_state *ret);
/* Reasons that make a measured time worse than the device is: power, heat, a brake. Not
 * among them: idle, and clocks that somebody set on purpose. */
bool nvml_reasons_throttle(uint64_t reasons);
/* ["sw_power_cap", "hw_slowdown" …], unknown bits as "0x…": new reference. */
json_t *nvml_reasons_to_json(uint64_t reasons);
