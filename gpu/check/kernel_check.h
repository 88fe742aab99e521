#pragma once
/* kernel_check: compile a kernel for the H100 and say all that the compiler knows.
 *
 * The operation "kernel/check" and the same thing for other parts of the daemon (editors,
 * evaluation). Answers are cached by content: sources, options, compiler. A check owns
 * itself: the handle is good until its callback returns, which kernel_check_cancel brings
 * about as well. Single-threaded: everything is called and calls back on the loop's
 * thread; reading and what else takes long is done on libuv's. */
#include "gpu/check/gpu.h"
#include "protocol/operation.h"

struct kernel_check;
/* A failure whose words are owned here: what call_fail takes. */
struct check_refusal {
    enum call_fault fault;
    const char *reason; /* static */
    char hint[512];     /* "": none */
    char message[512];
};
/* Fills it; returns code. */
int check_refuse(struct check_refusal *ret, int code, enum call_fault fault,
                 const char *reason, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* Exactly once, from the loop. On success result is kernel/check's (new reference passed
 * on); otherwise NULL and a failure, borrowed; neither: it was cancelled. */
typedef void kernel_check_done(json_t *result, const struct check_refusal *failure,
                               void *data);
/* As such a callback: ends a call with it, and lets go of the call. */
kernel_check_done gpu_call_end;
/* params: as the operation's (checked against its schema). The values within it are read
 * on a thread after this returns: nobody may change them any more. */
struct kernel_check *kernel_check_start(struct gpu *gpu, const json_t *params,
                                        const struct call_origin *origin,
                                        kernel_check_done *done, void *data);
struct check_wants; /* check_input.h */
/* The same, with more in the result, which is of one compilation: the units of a Python
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
