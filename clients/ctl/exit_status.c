/* What upskillctl's exit status says of a result: done, the answer no, or no answer. */
#include "base/find.h"
#include "clients/ctl/render.h"

/* A verdict that rests on no answer at all is none. */
static bool has_answers(const json_t *result) {
    json_each(json_object_get(result, "students"), i, student) {
        json_each(json_object_get(student, "arms"), k, arm) {
            if (json_get_integer(arm, "runs", 0) > 0) {
                return true;
            }
        }
    }
    return false;
}

static bool any_refused(const json_t *targets) {
    return json_any(targets, target, json_says(target, "outcome", "refused"));
}

static int evaluation_exit_status(const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "");
    return !has_answers(result) ? 2 : strcmp(verdict, "helps") ? 1 : 0;
}

/* A model that loads no skill at all gives no answer about this one. */
static int trigger_exit_status(const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "");
    return strcmp(verdict, "pass") == 0 ? 0 : strcmp(verdict, "fail") == 0 ? 1 : 2;
}

/* Measuring or installing that was asked for and could not be done: the skill is there
 * all the same. */
static int generation_exit_status(const json_t *result) {
    const json_t *evaluation = json_object_get(result, "evaluation");
    const json_t *install = json_object_get(result, "install");
    if (!json_object_get(result, "skill")) {
        return 1;
    }
    if (evaluation && !has_answers(evaluation)) {
        return 2;
    }
    return json_is_object(install) ? 2 : any_refused(install) ? 1 : 0;
}

/* The compiler came to no verdict: it crashed, or ran out of time or memory. */
static bool has_no_verdict(const json_t *check) {
    const char *outcome = json_get_string(check, "outcome", "");
    return *outcome && strcmp(outcome, "nothing_compiled") != 0 &&
           strcmp(outcome, "no_kernels") != 0;
}

/* A kernel that does not compile, or cannot be launched so, is the answer no; a spec that
 * proves nothing, a machine that cannot run it and a compiler that died are none. */
static int validation_exit_status(const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "");
    const char *stage = json_get_string(json_object_get(result, "error"), "stage", "");
    bool kernels = strcmp(stage, "launch") == 0 ||
                   (strcmp(stage, "compile") == 0 &&
                    !has_no_verdict(json_object_get(result, "check")));
    bool could_not = strcmp(verdict, "unsupported") == 0 ||
                     (strcmp(verdict, "error") == 0 && !kernels);
    return could_not ? 2 : strcmp(verdict, "pass") ? 1 : 0;
}

/* A program that does not compile is the answer no, as one that fails. */
static int program_exit_status(const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "");
    const char *code = json_get_string(json_object_get(result, "error"), "code", "");
    bool no = strcmp(verdict, "fail") == 0 || strcmp(verdict, "timeout") == 0 ||
              strcmp(code, "not_compiled") == 0;
    return strcmp(verdict, "pass") == 0 ? 0 : no ? 1 : 2;
}

int result_exit_status(const char *operation, const json_t *result) {
    if (strcmp(operation, "skill/find") == 0) {
        return json_array_size(json_object_get(result, "matches")) ? 0 : 1;
    }
    if (strcmp(operation, "kernel/validate") == 0) {
        return validation_exit_status(result);
    }
    if (strcmp(operation, "kernel/run") == 0) {
        return program_exit_status(result);
    }
    if (strcmp(operation, "kernel/check") == 0 && has_no_verdict(result)) {
        return 2;
    }
    if (strcmp(operation, "skill/evaluate") == 0) {
        return evaluation_exit_status(result);
    }
    if (strcmp(operation, "skill/trigger") == 0) {
        return trigger_exit_status(result);
    }
    if (strcmp(operation, "skill/generate") == 0) {
        return generation_exit_status(result);
    }
    if (any_refused(json_object_get(result, "results"))) {
        return 1;
    }
    return json_is_false(json_object_get(result, "ok")) ? 1 : 0;
}
