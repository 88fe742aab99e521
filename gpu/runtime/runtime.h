#pragma once
/* runtime: the global state of the library, and the common beginning and end of its
 * functions.
 *
 * Exported functions are one line: RETURN(result). It keeps the thread's last error and
 * reports failed calls. `explain` states the reason in words, for the report, before an
 * error is returned. runtime.lock guards handles and registered objects; memory and
 * modules belong to the holder of the queue's turn (gpu/device/device.h). */
#include "gpu/device/repeats.h"
#include "gpu/runtime/cuda_types.h"

#include <stdatomic.h>

struct runtime {
    pthread_mutex_t lock;
    struct device device;
    struct repeats *repeats;
    bool runs_all;
    atomic_bool called; /* the program called a function */
    uint64_t launch_limit, launches;
    uint64_t work_limit;
    uint64_t born_us, first_launch_us;
};
extern struct runtime runtime;

#define EXPORT __attribute__((visibility("default")))
#define RETURN(code) return runtime_return(__func__, (code))

cudart_error runtime_return(const char *function, cudart_error code);
/* Explains this thread's next error in a sentence for people; returns the given code. */
cudart_error explain(cudart_error code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Returns the error for a NULL argument. */
#define NEED(pointer)                                                                    \
    if (!(pointer)) {                                                                    \
        return explain(CUDART_INVALID_VALUE, "an argument is a null pointer");           \
    }
