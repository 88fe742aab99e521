#include "gpu/check/check_narrow.h"

#include "gpu/check/kernel_entries.h"

/* False: a name is not exactly one kernel. */
static bool names_resolve(const json_t *kernels, const char *const *names) {
    size_t count = 0;
    for (; *names; names++) {
        kernel_entry_find(kernels, *names, &count);
        if (count != 1) {
            return false;
        }
    }
    return count == 1;
}

static bool is_meant(const json_t *finding, const json_t *kernels,
                     const char *const *names) {
    const char *about = json_get_string(finding, "kernel", NULL);
    size_t count;
    if (!about) {
        return !json_says(finding, "code", "not_compiled");
    }
    for (; *names; names++) {
        const json_t *kernel = kernel_entry_find(kernels, *names, &count);
        if (json_says(kernel, "name", about)) {
            return true;
        }
    }
    return false;
}

void check_narrow(json_t *result, const char *const *names) {
    const json_t *kernels = json_object_get(result, "kernels");
    json_t *findings = json_object_get(result, "diagnostics");
    if (!names || !names_resolve(kernels, names)) {
        return;
    }
    for (size_t i = json_array_size(findings); i-- > 0;) {
        if (!is_meant(json_array_get(findings, i), kernels, names)) {
            json_array_remove(findings, i);
        }
    }
}
