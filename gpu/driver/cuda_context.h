#pragma once
/* cuda_context: the CUDA device that this process uses: its primary context, a stream, a
 * deadline, and whether the device still answers.
 *
 * Only cuda_context_wait waits, by polling. A context is opened once per process and
 * never closed: after a fault, or while a kernel does not end, any call may fail or hang,
 * so the process ends with _exit and the driver cleans up. */
#include "gpu/driver/cuda_device.h"

#include <signal.h>

struct cuda_context {
    const struct cuda_api *api;
    struct cuda_device device;
    int driver_version; /* 13000 */
    cuda_context_ref context;
    cuda_stream_ref stream;        /* non-blocking; used for everything */
    uint64_t deadline_ms;          /* clock_ms at which waits fail; 0 = never */
    volatile sig_atomic_t stopped; /* set by a signal: ends waits */
    int code;                      /* CUDA's, of the last call that failed; 0 = none */
    bool
        /* a sticky error, or a kernel that did not end: no further calls are made */
        lost;
};

/* cuInit, the device (as in cuda_device_find), context and stream. If another process
 * uses the device exclusively (compute mode), waits until clock_ms is patience_ms, 0 =
 * does not wait. -ENODEV: there is no usable device; -EIO otherwise; ret->code has the
 * reason in both cases. */
int cuda_context_open(struct cuda_context *ret, const struct cuda_api *api,
                      const char *device, uint64_t patience_ms, struct err *err);
/* Records the code of a failed call and describes it in err: "copying to the device:
 * CUDA_ERROR_…". Returns -ENOMEM for CUDA_OUT_OF_MEMORY, else -EIO; 0 for CUDA_OK. */
int cuda_context_check(struct cuda_context *c, int code, const char *what,
                       struct err *err);
/* Waits until the stream is empty. 0; -ECANCELED: stopped or past the deadline with work
 * still running (the context is lost); -EIO: the work failed. */
int cuda_context_wait(struct cuda_context *c, const char *what, struct err *err);
/* -EIO with a message if the context is lost. */
int cuda_context_usable(const struct cuda_context *c, struct err *err);
