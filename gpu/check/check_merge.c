#include "gpu/check/check_merge.h"

#include "gpu/check/check_result.h"
#include "protocol/finding.h"

#include <string.h>

/* "defines no __global__ function", which has no place. */
static void drop_no_kernels(json_t *findings) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (strcmp(json_get_string(finding, "code", ""), "no_kernels") == 0 &&
            !json_get_integer(finding, "line", 0)) {
            json_array_remove(findings, i);
        }
    }
}

static void merge_findings(json_t *before, const json_t *next) {
    json_t *findings = json_object_get(before, "diagnostics");
    json_array_extend(findings, json_object_get(next, "diagnostics"));
    if (json_array_size(json_object_get(before, "kernels"))) {
        drop_no_kernels(findings);
    }
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_int_t omitted = (json_int_t)more + json_get_integer(before, "omitted", 0) +
                         json_get_integer(next, "omitted", 0);
    json_object_set_new(before, "omitted", json_integer(omitted));
}

/* A string in two units has its kernels in both. */
static void merge_kernels(json_t *before, const json_t *next) {
    json_t *kernels = json_object_get(before, "kernels"), *kernel;
    size_t i, own = json_array_size(kernels);
    json_array_foreach(json_object_get(next, "kernels"), i, kernel) {
        bool known = false;
        for (size_t k = 0; k < own && !known; k++) {
            known = json_equal(kernel, json_array_get(kernels, k));
        }
        if (!known) {
            json_array_append(kernels, kernel);
        }
    }
}

json_t *check_results_merge(json_t *before, json_t *next) {
    if (!before) {
        return next;
    }
    merge_kernels(before, next);
    merge_findings(before, next);
    if (!json_object_get(before, "outcome") && json_object_get(next, "outcome")) {
        json_object_set(before, "outcome", json_object_get(next, "outcome"));
    }
    if (strcmp(json_get_string(next, "mode", ""), "host-stripped") == 0) {
        json_object_set(before, "mode", json_object_get(next, "mode"));
    }
    double ms = json_number_value(json_object_get(before, "compile_ms")) +
                json_number_value(json_object_get(next, "compile_ms"));
    json_object_set_new(before, "compile_ms", json_real(ms));
    bool ok = json_get_bool(before, "ok", 0) && json_get_bool(next, "ok", 0);
    bool cached = json_get_bool(before, "cached", 0) && json_get_bool(next, "cached", 0);
    json_object_set_new(before, "ok", json_boolean(ok));
    json_object_set_new(before, "cached", json_boolean(cached));
    json_decref(next);
    return before;
}
