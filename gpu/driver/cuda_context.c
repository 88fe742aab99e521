#include "gpu/driver/cuda_context.h"

#include "base/clock.h"
#include "base/err.h"

#include <time.h>

enum { SPIN_MS = 2 }; /* a wait polls this long before it sleeps between polls */

int cuda_context_check(struct cuda_context *c, int code, const char *what,
                       struct err *err) {
    if (code == CUDA_OK) {
        return 0;
    }
    c->code = code;
    c->lost |= cuda_code_is_sticky(code);
    return err_set(err, code == CUDA_OUT_OF_MEMORY ? -ENOMEM : -EIO, "%s: %s", what,
                   cuda_code_name(code));
}

int cuda_context_usable(const struct cuda_context *c, struct err *err) {
    if (!c->lost) {
        return 0;
    }
    return err_set(err, -EIO, "the device no longer answers (%s)",
                   c->code ? cuda_code_name(c->code) : "a kernel is still running");
}

static int choose(struct cuda_context *c, const char *wanted, struct err *err) {
    struct cuda_device devices[CUDA_MAX_DEVICES];
    int count = cuda_devices_read(c->api, devices, CUDA_MAX_DEVICES, &c->code, err);
    if (count < 0) {
        return c->code == CUDA_NO_DEVICE ? -ENODEV : count;
    }
    const struct cuda_device *found =
        cuda_device_find(devices, (size_t)count, wanted, err);
    if (!found) {
        c->code = CUDA_NO_DEVICE;
        return -ENODEV;
    }
    c->device = *found;
    return 0;
}

static int retain(struct cuda_context *c, uint64_t patience_ms) {
    const struct timespec pause = {.tv_nsec = 100000000};
    for (;;) {
        int code = c->api->context_retain(&c->context, c->device.handle);
        if (code != CUDA_DEVICE_UNAVAILABLE || clock_ms() >= patience_ms) {
            return code;
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* The flags cannot be set any more when somebody made the context before; then they stay
 * as they are. */
static int make(struct cuda_context *c, uint64_t patience_ms, struct err *err) {
    const struct cuda_api *api = c->api;
    (void)api->context_set_flags(c->device.handle, CUDA_CONTEXT_SCHED_BLOCKING);
    int r = cuda_context_check(c, retain(c, patience_ms), "making a context", err);
    r = r ? r
          : cuda_context_check(c, api->context_set_current(c->context),
                               "entering the context", err);
    return r ? r
             : cuda_context_check(
                   c, api->stream_create(&c->stream, CUDA_STREAM_NON_BLOCKING),
                   "making a stream", err);
}

int cuda_context_open(struct cuda_context *ret, const struct cuda_api *api,
                      const char *device, uint64_t patience_ms, struct err *err) {
    *ret = (struct cuda_context){.api = api};
    (void)api->driver_version(&ret->driver_version);
    int code = api->init(0);
    int r = cuda_context_check(ret, code, "starting the driver", err);
    if (r < 0) {
        return code == CUDA_NO_DEVICE ? -ENODEV : r;
    }
    r = choose(ret, device, err);
    return r < 0 ? r : make(ret, patience_ms, err);
}

static bool time_is_up(const struct cuda_context *c, uint64_t now) {
    return c->stopped || (c->deadline_ms && now >= c->deadline_ms);
}

int cuda_context_wait(struct cuda_context *c, const char *what, struct err *err) {
    const struct timespec pause = {.tv_nsec = 200000};
    uint64_t begun = clock_ms();
    for (;;) {
        int code = c->api->stream_query(c->stream);
        if (code != CUDA_NOT_READY) {
            return cuda_context_check(c, code, what, err);
        }
        uint64_t now = clock_ms();
        if (time_is_up(c, now)) {
            c->lost = true;
            return err_set(err, -ECANCELED, "%s: time ran out", what);
        }
        if (now - begun >= SPIN_MS) {
            (void)nanosleep(&pause, NULL);
        }
    }
}
