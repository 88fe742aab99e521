#include "daemon/validator.h"

#include "base/mem.h"
#include "gpu/validate/kernel_validate.h"
#include "skills/grading/grade.h"

struct validation {
    struct kernel_validate *run;
    kernel_validated *done;
    void *data;
};

static void on_validated(struct kernel_validate *run, json_t *result,
                         const struct kernel_check_failure *failure, void *data) {
    (void)run;
    autofree struct validation *v = data;
    v->done(v->data, result, failure ? failure->message : "cancelled");
}

static void *start(const struct call_origin *origin, const json_t *params,
                   kernel_validated *done, void *data) {
    struct validation *v = xcalloc(1, sizeof *v);
    *v = (struct validation){.done = done, .data = data};
    v->run = kernel_validate_start(gpu_of(origin), params, origin, NULL, on_validated, v);
    return v;
}

static void cancel(void *handle) {
    const struct validation *v = handle;
    kernel_validate_cancel(v->run);
}

const struct kernel_validator gpu_kernel_validator = {.start = start, .cancel = cancel};
