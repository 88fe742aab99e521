/* The operation kernel/check: a call becomes a kernel_check, which ends it. */
#include "base/mem.h"
#include "gpu/check/check_result.h"
#include "gpu/check/kernel_check.h"
#include "gpu/kernel_check.operation.h"

/* --- the operation --- */

struct gpu *gpu_of(const struct call_origin *origin) {
    return call_lent(origin, GPU_LENT);
}

void gpu_call_end(struct call *call, json_t *result,
                  const struct check_refusal *failure) {
    if (result) {
        call_reply(call, result);
    } else if (failure) {
        call_fail(call, failure->fault, failure->reason, failure->hint, "%s",
                  failure->message);
    } else {
        call_stopped(call);
    }
}

static void operation_done(struct kernel_check *check, json_t *result,
                           const struct check_refusal *failure, void *data) {
    (void)check;
    autoptr(call_unref) struct call *call = data;
    gpu_call_end(call, result, failure);
}

static void operation_cancelled(struct call *call, void *data) {
    (void)call;
    kernel_check_cancel(data);
}

static void kernel_check_operation(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process checks no kernels");
        return;
    }
    struct kernel_check *check =
        kernel_check_start(gpu, params, origin, operation_done, call_ref(call));
    call_on_cancel(call, operation_cancelled, check);
}

const struct operation gpu_operations[] = {
    {KERNEL_CHECK_OPERATION, .start = kernel_check_operation,
     .describe = check_result_describe},
};
const size_t gpu_operation_count = ARRAY_LEN(gpu_operations);
