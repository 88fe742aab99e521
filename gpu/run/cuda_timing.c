#include "gpu/run/cuda_timing.h"

#include "gpu/driver/benchmark.h"
#include "gpu/driver/device_lock.h"
#include "gpu/driver/nvml.h"
#include "gpu/run/trial.h"

struct timed {
    struct cuda_prepared *list;
    size_t count;
};

static int launch_all(void *data, cuda_stream_ref stream) {
    const struct timed *t = data;
    int code = CUDA_OK;
    for (size_t i = 0; i < t->count && code == CUDA_OK; i++) {
        code = cuda_prepared_launch(&t->list[i], stream);
    }
    return code;
}

int cuda_timing(struct cuda_context *c, const struct backend_timing *what,
                struct cuda_prepared *list, size_t count, json_t **ret, int *ret_code,
                struct err *err) {
    const struct cuda_device *d = &c->device;
    struct timed timed = {list, count};
    struct device_lock lock = DEVICE_LOCK_NONE;
    struct nvml *nvml = NULL;
    struct err no_nvml = {0}, no_lock = {0};
    bool stuck = false;
    bool has_nvml = nvml_open(&nvml, NULL, d->uuid_bytes, &no_nvml) == 0;
    bool has_lock = device_lock_open(&lock, NULL, d->uuid, &no_lock) == 0;
    const struct cuda_benchmark bench = {
        .api = c->api,
        .launch = launch_all,
        .data = &timed,
        .launches = (unsigned)count,
        .how = what->how,
        .l2_bytes = (uint64_t)(d->l2_bytes > 0 ? d->l2_bytes : 0),
        .until_ms = what->until_ms,
        .nvml = has_nvml ? nvml : NULL,
        .nvml_absent = no_nvml.msg,
        .lock = has_lock ? &lock : NULL,
        .lock_absent = no_lock.msg,
        .stopped = trials_stopped,
        .stuck = &stuck,
    };
    int r = cuda_benchmark(&bench, ret, ret_code, err);
    c->code = *ret_code ? *ret_code : c->code;
    c->lost |= stuck || cuda_code_is_sticky(*ret_code);
    device_lock_close(&lock);
    nvml_close(nvml);
    /* A failure that does not persist is the driver's, not the kernel's. */
    bool own = c->lost && !cuda_code_is_foreign(*ret_code);
    return r == -EIO && !own ? -ENODEV : r;
}
