#include "gpu/runtime/runtime.h"

#include "base/text.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/api_errors.h"

/* Recursive: what frees a graph may have it, and nodes of events take it. */
struct runtime runtime = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

static __thread struct {
    cudart_error last;
    char why[256];
} thread;

/* ---- how functions end ---- */

cudart_error explain(cudart_error code, const char *fmt, ...) {
    text_format(thread.why, fmt);
    return code;
}

cudart_error runtime_return(const char *function, cudart_error code) {
    atomic_store_explicit(&runtime.called, true, memory_order_relaxed);
    bool answers = code == CUDART_NOT_READY && !thread.why[0]; /* a query */
    if (code && code != CUDART_NOT_READY) {
        thread.last = code;
    }
    if (code && !answers) {
        api_error_note(function, code, thread.why,
                       code == queue_error(&runtime.device.queue));
    }
    thread.why[0] = '\0';
    return code;
}

static cudart_error runtime_last_error(bool forget) {
    int stays = queue_error(&runtime.device.queue);
    cudart_error last = stays ? stays : thread.last;
    if (last) {
        api_error_looked_at();
    }
    if (forget) {
        thread.last = CUDART_SUCCESS;
    }
    return last;
}

EXPORT cudart_error cudaGetLastError(void) {
    return runtime_last_error(true);
}

EXPORT cudart_error cudaPeekAtLastError(void) {
    return runtime_last_error(false);
}
