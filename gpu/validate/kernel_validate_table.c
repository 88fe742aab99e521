/* The operation kernel/validate: a call becomes a kernel_validate, which ends it. */
#include "gpu/kernel_validate.operation.h"
#include "gpu/validate/kernel_validate.h"

/* --- the operation --- */

static void operation_stage(struct kernel_validate *, double done, double total,
                            const char *words, void *data) {
    call_report(data, done, total, "%s", words);
}

static void operation_cancelled(struct call *, void *data) {
    kernel_validate_cancel(data);
}

static void validate_operation(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct gpu *gpu = gpu_of(origin);
    if (!gpu) {
        call_fail(call, CALL_UNAVAILABLE, "no_gpu_domain", NULL,
                  "this process validates no kernels");
        return;
    }
    struct kernel_validate *v = kernel_validate_start(
        gpu, params, origin, operation_stage, gpu_call_end, call_ref(call));
    call_on_cancel(call, operation_cancelled, v);
}

const struct operation validate_operations[] = {
    {KERNEL_VALIDATE_OPERATION, .start = validate_operation,
     .describe = validate_result_describe},
};
const size_t validate_operation_count = ARRAY_LEN(validate_operations);
