#pragma once
/* cuda_context: one CUDA device in use by this process.
 *
 * The primary context of the device, a stream, a deadline, and whether the device still
 * answers. Nothing waits but cuda_context_wait, which polls. A context is opened once in
 * a process and is never closed: after a fault, and while a kernel runs that does not
 * end, any call may fail or hang, so the process ends with _exit and the driver clears
 * up. */
#include "gpu/driver/cuda_device.h"

#include <signal.h>

struct cuda_context {
    const struct cuda_api *api;
    struct cuda_device device;
    int driver_version; /* 13000 */
    cuda_context_ref context;
    cuda_stream_ref stream;        /* non-blocking; everything is put on it */
    uint64_t deadline_ms;          /* clock_ms at which a wait gives up; 0 = never */
    volatile sig_atomic_t stopped; /* set by a signal: waits end */
    int code;                      /* CUDA's, of the last call that failed; 0 = none */
    bool
        lost; /* a sticky error, or a kernel that did not end: no call is made any more */
};

/* cuInit, the device (cuda_device_find's words), context and stream. A device that
 * another process has for itself (compute mode exclusive) is waited for until clock_ms is
 * patience_ms, 0 = not at all. -ENODEV: there is no device that can be used; -EIO
 * otherwise; ret->code says why in both. */
int cuda_context_open(struct cuda_context *ret, const struct cuda_api *api,
                      const char *device, uint64_t patience_ms, struct err *err);
/* Notes the code of a call that failed and says it in err: "copying to the device:
 * CUDA_ERROR_…". Returns -ENOMEM for CUDA_OUT_OF_MEMORY, else -EIO; 0 for CUDA_OK. */
int cuda_context_check(struct cuda_context *c, int code, const char *what,
                       struct err *err);
/* Until the stream is empty. 0; -ECANCELED: stopped or past the deadline with the work
 * still running (the context is lost); -EIO: what ran failed. */
int cuda_context_wait(struct cuda_context *c, const char *what, struct err *err);
/* -EIO with words when the context is lost. */
int cuda_context_usable(const struct cuda_context *c, struct err *err);
