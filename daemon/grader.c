#include "daemon/grader.h"

#include "gpu/validate/kernel_validate.h"

/* --- kernel/check --- */

struct kernel_grading {
    struct kernel_check *check;
    skill_kernel_done *done;
    void *data;
};

/* Nothing was compiled, so there was no objection. */
static bool is_nothing(const char *outcome) {
    return outcome && (strcmp(outcome, "nothing_compiled") == 0 ||
                       strcmp(outcome, "no_kernels") == 0);
}

static void on_checked(json_t *result, const struct check_refusal *failure, void *data) {
    autofree struct kernel_grading *g = data;
    json_t *findings = json_incref(json_object_get(result, "diagnostics"));
    const char *outcome = json_get_string(result, "outcome", NULL);
    const char *nothing =
        is_nothing(outcome) ? json_get_string(result, "summary", "") : NULL;
    if (findings && outcome && !nothing && !json_array_size(findings)) {
        json_decref(take(findings)); /* the compiler crashed or took too long */
    }
    autofree char *refused = failure && *failure->hint
                                 ? xasprintf("%s; %s", failure->message, failure->hint)
                             : failure ? xstrdup(failure->message)
                                       : NULL;
    g->done(g->data, findings, json_object_get(result, "kernels"),
            findings  ? nothing
            : failure ? refused
            : outcome ? outcome
                      : "cancelled");
    json_decref(result);
}

/* name is a file name; returns only diagnostics and names, which a skill's reader
 * needs. */
static void *grade(const struct call_origin *origin, const char *name, const char *source,
                   const char *arch, skill_kernel_done *done, void *data) {
    struct kernel_grading *g = xcalloc(1, sizeof *g);
    autojson *params =
        json_pack("{s:s,s:s,s:b}", "source", source, "name", name, "quick", 1);
    if (!params) { /* not UTF-8 */
        free(g);
        return NULL;
    }
    if (arch) {
        json_object_set_new(params, "arch", json_clean_z(arch));
    }
    *g = (struct kernel_grading){.done = done, .data = data};
    g->check = kernel_check_start(gpu_of(origin), params, origin, on_checked, g);
    return g;
}

static void cancel(void *handle) {
    const struct kernel_grading *g = handle;
    kernel_check_cancel(g->check);
}

const struct skill_grader gpu_skill_grader = {.start = grade, .cancel = cancel};

/* --- kernel/validate --- */

struct graded_validation {
    struct kernel_validate *run;
    kernel_validated *done;
    void *data;
};

static void on_validated(json_t *result, const struct check_refusal *failure,
                         void *data) {
    autofree struct graded_validation *v = data;
    v->done(v->data, result, failure ? failure->message : "cancelled");
}

static void *validation_start(const struct call_origin *origin, const json_t *params,
                              kernel_validated *done, void *data) {
    struct graded_validation *v = xcalloc(1, sizeof *v);
    *v = (struct graded_validation){.done = done, .data = data};
    v->run = kernel_validate_start(gpu_of(origin), params, origin, NULL, on_validated, v);
    return v;
}

static void validation_cancel(void *handle) {
    const struct graded_validation *v = handle;
    kernel_validate_cancel(v->run);
}

const struct kernel_validator gpu_kernel_validator = {.start = validation_start,
                                                      .cancel = validation_cancel};
