#pragma once
/* kernel_check: compiles a kernel and reports everything that the compiler knows about
 * it.
 *
 * The operation "kernel/check" and its interface for other parts of the daemon (editors,
 * evaluation). Answers are cached by content: sources, options, compiler. A check frees
 * itself: the handle is valid until its callback returns, also after
 * kernel_check_cancel. Single-threaded: call everything on the loop's thread, where the
 * callbacks run; reading and other long work is done on libuv's threads. */
#include "gpu/check/gpu.h"
#include "protocol/operation.h"

struct kernel_check;
/* A failure with its own texts: the arguments of call_fail. */
struct check_refusal {
    enum call_fault fault;
    const char *reason; /* static */
    char hint[512];     /* "": none */
    char message[512];
    char path[256]; /* JSON Pointer of the member at fault; "": none */
};
/* Fills it; returns code. */
int check_refuse(struct check_refusal *ret, int code, enum call_fault fault,
                 const char *reason, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Called exactly once, from the loop. On success result is kernel/check's (a new
 * reference for the callee); otherwise it is NULL and failure is set, borrowed. Both
 * NULL: it was cancelled. */
typedef void kernel_check_done(json_t *result, const struct check_refusal *failure,
                               void *data);
/* Such a callback: ends the call passed as data and drops its reference. */
kernel_check_done gpu_call_end;
/* params: the operation's (checked against its schema). A thread reads the values after
 * this returns: do not change them any more. */
struct kernel_check *kernel_check_start(struct gpu *gpu, const json_t *params,
                                        const struct call_origin *origin,
                                        kernel_check_done *done, void *data);
struct check_wants; /* check_input.h */
/* The same with additional results, and as one compilation: the units of a Python
 * file (gpu/source/python_units.h) are compiled together. wants is borrowed during the
 * call. */
struct kernel_check *kernel_check_start_for(struct gpu *gpu, const json_t *params,
                                            const struct check_wants *wants,
                                            const struct call_origin *origin,
                                            kernel_check_done *done, void *data);
void kernel_check_cancel(struct kernel_check *check); /* done follows, failure NULL too */

#define GPU_LENT "gpu" /* by the host of an origin: a struct gpu */
struct gpu *gpu_of(const struct call_origin *origin); /* NULL: this process has none */
extern const struct operation gpu_operations[];
extern const size_t gpu_operation_count;
