#pragma once
/* standin: a library with libcuda's symbols that executes kernels on gpu/ptx.
 *
 * For tests of what uses the driver API where there is no GPU. It behaves as a driver
 * does where that matters to a caller: work is asynchronous, errors of kernels arrive
 * later and stay, a kernel that never ends blocks whatever waits for it, bad handles and
 * sizes are refused. What it does is set by a file named like the library with ".conf"
 * behind it (conf.h), because the processes that load it have an empty environment.
 *
 * One mutex and one condition variable (tasks.h) guard everything here; every function of
 * the table holds the mutex but while it waits. */
#include "gpu/driver/cuda_api.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STANDIN_EXPORT __attribute__((visibility("default")))

#define CUDA_FUNCTION(member, symbol, needed, args) STANDIN_EXPORT int symbol args;
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION

enum standin_function {
#define CUDA_FUNCTION(member, symbol, needed, args) FUNCTION_##symbol,
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION
    STANDIN_FUNCTIONS
};

enum standin_code { /* of CUresult, those that cuda_api.h has no name for */
                    STANDIN_INVALID_DEVICE = 101,
                    STANDIN_INVALID_CONTEXT = 201,
                    STANDIN_UNSUPPORTED_LIMIT = 215,
                    STANDIN_INVALID_HANDLE = 400,
                    STANDIN_PRIMARY_ACTIVE = 708,
                    STANDIN_NOT_SUPPORTED = 801,
                    STANDIN_CAPTURE_UNSUPPORTED = 900,
                    STANDIN_CAPTURE_INVALIDATED = 901,
                    STANDIN_CAPTURE_UNMATCHED = 903,
                    STANDIN_CAPTURE_IMPLICIT = 906,
                    STANDIN_INVALID_CLUSTER = 912,
};

enum standin_need { /* what a function needs before it may do anything */
                    NEED_NOTHING,
                    NEED_INIT,    /* cuInit was called */
                    NEED_CONTEXT, /* and there is a current context that has no error */
};
/* Counts the call and does what conf says of it: fail, crash, hang. Then checks what is
 * needed. 0, with the mutex held, or the code that the function returns. */
int standin_enter(enum standin_function function, enum standin_need need);
void standin_leave_p(const int *entered);

/* Begins a function of the table: returns from it when it may not go on; the mutex is
 * held to the end of the scope. */
#define ENTER(symbol, need)                                                              \
    const int entered_ = standin_enter(FUNCTION_##symbol, (need));                       \
    if (entered_) {                                                                      \
        return entered_;                                                                 \
    }                                                                                    \
    const int scope_ __attribute__((cleanup(standin_leave_p), unused)) = 0

/* What handles point to; every one is in a list, so that a bad handle is known. */
enum object_kind {
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_GRAPH,
    OBJECT_GRAPH_EXEC,
    OBJECT_ARRAY,
    OBJECT_KINDS
};
struct object {
    struct object *next;
    enum object_kind kind;
};
void object_add(struct object *o, enum object_kind kind);
void object_remove(struct object *o);
/* The object behind a handle, or NULL when there is no such. */
void *object_find(const void *handle, enum object_kind kind);
/* The first of a kind; NULL. */
void *object_first(enum object_kind kind);
