#pragma once
/* cuda_child: opens a CUDA device in the process of a validation.
 *
 * Loads libcuda, confines the process for it (cuda_room.h), opens the device, and
 * captures the output of kernels. All of it before a byte of the kernel is read. */
#include "base/json.h"

struct backend_class;

enum cuda_child_state {
    CUDA_CHILD_READY,
    CUDA_CHILD_NO_DRIVER, /* there is no libcuda: no effect */
    CUDA_CHILD_UNUSABLE,  /* there is one, and err says what is missing */
};
struct cuda_child {
    const char *device; /* as cuda_device_find takes it; NULL = any */
    const char *ptx;    /* PTX that it must be able to run; may be NULL */
    unsigned cpu_s;
    uint64_t deadline_ms; /* clock_ms at which a wait gives up */
    bool is_confined;     /* the process is confined already */
    unsigned confinement; /* out: what is in force */
    bool refused; /* out: the driver did not start, perhaps because of its confinement */
};
enum cuda_child_state cuda_child_start(struct cuda_child *child, struct err *err);
extern const struct backend_class *const cuda_child_backend;

/* The answer of `worker/devices` (compile.h): new reference. For a process that does
 * nothing else. */
json_t *cuda_child_devices(void);
