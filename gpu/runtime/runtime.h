#pragma once
/* runtime: the state of the library, one for the process, and how its functions begin and
 * end.
 *
 * Exported functions are one line: RETURN(what the work gave). That keeps the thread's
 * last error and tells the report of calls that failed. `explain` says why in words, for
 * the report, before an error is returned. Handles and registered things are guarded by
 * runtime.lock; memory and modules belong to whoever has the queue's turn
 * (gpu/device/device.h). */
#include "gpu/device/repeats.h"
#include "gpu/runtime/cuda_types.h"

#include <stdbool.h>

struct runtime {
    pthread_mutex_t lock;
    struct device device;
    struct repeats *repeats;
    bool runs_all;
    uint64_t launch_limit, launches;
    uint64_t work_limit;
    uint64_t born_us, first_launch_us;
};
extern struct runtime runtime;

#define EXPORT __attribute__((visibility("default")))
#define RETURN(code) return runtime_return(__func__, (code))

cudart_error runtime_return(const char *function, cudart_error code);
/* What the next error of this thread is about: a sentence for people; the code given. */
cudart_error explain(cudart_error code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
cudart_error runtime_last_error(bool forget);
/* What an argument NULL is answered with. */
#define NEED(pointer)                                                                    \
    if (!(pointer)) {                                                                    \
        return explain(CUDART_INVALID_VALUE, "an argument is a null pointer");           \
    }
