#include "gpu/run/cuda_fault.h"

#include "gpu/driver/cuda_api.h"

/* Explanations of a fault for which the driver only gave its code. */
static const struct {
    int code;
    const char *finding, *words;
} faults[] = {
    {CUDA_ILLEGAL_ADDRESS, "out_of_bounds",
     "read or wrote an address that belongs to no memory of the device"},
    {CUDA_MISALIGNED_ADDRESS, "misaligned",
     "accessed an address that is not a multiple of the access's size"},
    {CUDA_ASSERT, "assert", "failed an assertion"},
    {CUDA_LAUNCH_FAILED, "trap",
     "trapped: __trap(), an access outside of shared memory, or an exception"},
    {CUDA_ILLEGAL_INSTRUCTION, "trap", "ran into an illegal instruction, or trapped"},
    {CUDA_LAUNCH_TIMEOUT, "deadlock", "was ended by the display's watchdog"},
    {CUDA_HARDWARE_STACK_ERROR, "launch_error", "overflowed or damaged its call stack"},
    {CUDA_INVALID_ADDRESS_SPACE, "launch_error",
     "used an address of another memory space than the instruction's"},
    {CUDA_INVALID_PC, "launch_error", "jumped to an address that holds no code"},
};

void cuda_finding_add(json_t *findings, const char *code, enum finding_severity how,
                      const char *label, const char *words) {
    struct finding_span nowhere = {0};
    autofree char *message = xasprintf("%.100s %s", label, words);
    json_t *f = finding_new("run", code, how, message, NULL, &nowhere);
    json_object_set_new(f, "kernel", json_clean_z(label));
    json_array_append_new(findings, f);
}

void cuda_fault_add(json_t *findings, int code, const char *label) {
    const char *name = cuda_code_name(code);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
        if (faults[i].code != code) {
            continue;
        }
        autofree char *words = xasprintf("%s (%s)", faults[i].words, name);
        cuda_finding_add(findings, faults[i].finding, FINDING_ERROR, label, words);
        return;
    }
    autofree char *words = xasprintf("was ended by the device (%s)", name);
    cuda_finding_add(findings, "launch_error", FINDING_ERROR, label, words);
}
