#pragma once
/* benchmark: measures the time of a kernel on a CUDA device.
 *
 * One sample is the work that `launch` puts on the stream. Cold: each sample follows a
 * write of at least twice the L2 cache and is timed by an event before and one after it;
 * because the flush is still running when the sample is enqueued, no host time is in
 * between. Warm: samples follow each other; below 20 us, as many of them as fill 200 us
 * are put into one CUDA graph, or into one loop if graphs are missing, and a sample is
 * their mean: an event resolves about a microsecond, and a launch costs the host several.
 *
 * Before the first sample: at least 3 launches and 200 ms, so that clocks have risen.
 * It waits by polling with a deadline; no call blocks. Needs a current context. */
#include "gpu/driver/cuda_api.h"
#include "gpu/spec/kernel_spec.h"

struct device_lock;
struct nvml;

struct cuda_benchmark {
    const struct cuda_api *api;
    /* Puts one sample's launches on the stream, in order; a CUDA code. Must not wait. */
    int (*launch)(void *data, cuda_stream_ref stream);
    void *data;
    unsigned launches; /* number of these; if several, each sample is one graph */
    const struct spec_benchmark *how;
    uint64_t l2_bytes;  /* of the device; 0 = unknown */
    uint64_t until_ms;  /* clock_ms; ends then, with fewer samples */
    unsigned warmup_ms; /* 0 = 200 */
    struct nvml *nvml;  /* NULL: clocks stay unknown, and `nvml_absent` says why */
    const char *nvml_absent;
    struct device_lock *lock; /* opened; held while timing. NULL: none, and then
                                 `lock_absent` says why */
    const char *lock_absent;
    bool (*stopped)(void); /* may be NULL; true: end as at the deadline */
    bool *stuck; /* may be NULL; set when something is still running at the end: whatever
                    waits for the device would hang */
};

/* 0 with a new reference:
 *   {those of sample_statistics, "cache": "cold|warm",
 *    "sm_clock_mhz", "mem_clock_mhz", "throttled"  (null if unknown),
 *    "method": "events|graph of N launches|loop of N launches",
 *    "flush_bytes"? and "event_pair_us"? (cold; the latter is what two events
 *    with nothing between them measure, given for short kernels), "warmup_launches",
 *    "ended_by": "samples|time",
 *    "throttle_reasons"?, "temperature_c"?, "power_limit_w"?, "persistence"?,
 *    "other_processes"?, "lock_waited_ms"?, "notes": [words]?}
 * -ETIMEDOUT: not one sample by until_ms, or the lock was held by others until then;
 * -EDEADLK: a launch took far longer than those before it, and passed the
 * deadline; -ENOMEM: no memory for the flush; -EIO: the driver failed (err names the
 * code, which is also put in *ret_code; a sticky one ends this process's use of CUDA). */
int cuda_benchmark(const struct cuda_benchmark *what, json_t **ret, int *ret_code,
                   struct err *err);
