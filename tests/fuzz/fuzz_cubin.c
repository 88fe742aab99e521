/* Any bytes as a cubin, and what is made of them up to the launch's judgement. */
#include "gpu/facts/cubin.h"
#include "gpu/facts/kernel_facts.h"
#include "gpu/lint/lint.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cubin cubin;
    if (cubin_read(&cubin, data, size, NULL) < 0) {
        return 0;
    }
    struct source_set sources = {0};
    json_t *kernels = kernel_facts_new(&cubin, NULL, &sources);
    json_t *findings = json_array();
    lint_compiled(kernels, &(struct compile_options){.arch = "sm_90a"}, NULL, findings);
    lint_launched(kernels, "sm_90a", NULL, findings);
    if (json_array_size(kernels) != cubin.count) {
        abort();
    }
    json_decref(findings);
    json_decref(kernels);
    cubin_finish(&cubin);
    return 0;
}
