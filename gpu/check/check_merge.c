#include "gpu/check/check_merge.h"

#include "base/find.h"
#include "gpu/check/check_result.h"
#include "protocol/finding.h"

static bool is_compiled(const json_t *result) {
    return json_array_size(json_object_get(result, "kernels")) ||
           json_get_integer(result, "functions", 0) > 0;
}

/* That a unit has no kernel, which has no place: of no interest beside one that has. */
static void drop_placeless(json_t *findings) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        const char *code = json_get_string(finding, "code", "");
        if (!json_get_integer(finding, "line", 0) &&
            (strcmp(code, "no_kernels") == 0 || strcmp(code, "not_compiled") == 0)) {
            json_array_remove(findings, i);
        }
    }
}

static void merge_findings(json_t *before, const json_t *next) {
    json_t *findings = json_object_get(before, "diagnostics");
    json_array_extend(findings, json_object_get(next, "diagnostics"));
    if (is_compiled(before)) {
        drop_placeless(findings);
    }
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_int_t omitted = (json_int_t)more + json_get_integer(before, "omitted", 0) +
                         json_get_integer(next, "omitted", 0);
    json_object_set_new(before, "omitted", json_integer(omitted));
}

/* A string in two units has its kernels in both. */
static void merge_kernels(json_t *before, const json_t *next) {
    json_t *kernels = json_object_get(before, "kernels");
    size_t own = json_array_size(kernels);
    json_each(json_object_get(next, "kernels"), i, kernel) {
        bool known = any_of(k, 0, own, json_equal(kernel, json_array_get(kernels, k)));
        if (!known) {
            json_array_append(kernels, kernel);
        }
    }
}

/* How much it says of all units together; 0: none, the unit was compiled or rejected. */
static int outcome_rank(const char *outcome) {
    return !*outcome                              ? 0
           : !strcmp(outcome, "no_kernels")       ? 1
           : !strcmp(outcome, "nothing_compiled") ? 2
                                                  : 3;
}

/* Where one unit was compiled, "nothing" is true of none but its own text. */
static void merge_outcome(json_t *before, const json_t *next) {
    int rank = outcome_rank(json_get_string(before, "outcome", ""));
    int other = outcome_rank(json_get_string(next, "outcome", ""));
    if (other > rank) {
        json_object_set(before, "outcome", json_object_get(next, "outcome"));
        json_object_set(before, "summary", json_object_get(next, "summary"));
        rank = other;
    }
    if (rank < 3 && is_compiled(before)) {
        json_object_del(before, "outcome");
    }
}

json_t *check_results_merge(json_t *before, json_t *next) {
    if (!before) {
        return next;
    }
    json_int_t functions =
        json_get_integer(before, "functions", 0) + json_get_integer(next, "functions", 0);
    if (functions > 0) {
        json_object_set_new(before, "functions", json_integer(functions));
    }
    json_object_del(before, "ptx"); /* modules do not become one */
    merge_kernels(before, next);
    merge_findings(before, next);
    merge_outcome(before, next);
    if (json_object_get(before, "uncompiled")) {
        json_array_extend(json_object_get(before, "uncompiled"),
                          json_object_get(next, "uncompiled"));
    } else if (json_object_get(next, "uncompiled")) {
        json_object_set(before, "uncompiled", json_object_get(next, "uncompiled"));
    }
    if (json_object_get(next, "host_code")) {
        json_object_set(before, "host_code", json_object_get(next, "host_code"));
    }
    if (json_says(next, "mode", "host-stripped")) {
        json_object_set(before, "mode", json_object_get(next, "mode"));
    }
    double ms = json_number_value(json_object_get(before, "compile_ms")) +
                json_number_value(json_object_get(next, "compile_ms"));
    json_object_set_new(before, "compile_ms", json_real(ms));
    bool cached = json_get_bool(before, "cached", 0) && json_get_bool(next, "cached", 0);
    json_object_set_new(before, "cached", json_boolean(cached));
    json_decref(next);
    return before;
}
