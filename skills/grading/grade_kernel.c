/* grade_kernel: checks whether the answer's CUDA code compiles and is correct. The
 * compiler and the validator are the daemon's. */
#include "base/find.h"
#include "base/strings.h"
#include "skills/check/cuda_block.h"
#include "skills/check/skill_check.h"
#include "skills/grading/grade_check.h"

#define SOURCE_NAME "answer.cu"

/* --- which code --- */

static bool is_cuda(const struct markdown_code *block, void *) {
    return cuda_block_is(block);
}

static bool is_wanted(const struct markdown_code *block, void *data) {
    const char *entry = data;
    return cuda_block_is(block) && !cuda_block_fragment(block->text) &&
           (!entry || cuda_block_defines(block->text, entry));
}

/* Why no block can be compiled. */
static const char *why_none(const struct markdown_code *last, const char *entry) {
    const char *fragment = last ? cuda_block_fragment(last->text) : NULL;
    return !last      ? "the answer has no CUDA block"
           : fragment ? fragment
           : entry    ? "no complete CUDA block defines this kernel"
                      : "the answer has no complete CUDA block";
}

char *grade_kernel_source(struct answer *answer, const char *check,
                          const json_t *expected, struct assertions *out) {
    const struct answer_code *code = answer_code_of(answer);
    const char *entry = json_get_string(expected, "entry", NULL);
    const char *path = json_get_string(expected, "path", NULL), *text = NULL;
    if (path && answer_file(answer, path, &text) && text) {
        return xstrdup(text);
    }
    if (path) {
        assertion_add(out, check, GRADE_FAILED, expected, NULL, "there is no %.200s",
                      path);
        return NULL;
    }
    const struct markdown_code *block =
        answer_code_last(code, is_wanted, (void *)(uintptr_t)entry);
    if (block) {
        return xstrdup(block->text);
    }
    assertion_add(out, check, GRADE_FAILED, expected, NULL, "%s",
                  why_none(answer_code_last(code, is_cuda, NULL), entry));
    return NULL;
}

/* --- waiting --- */

/* A wait for the compiler or the validator, which may answer from inside their start. */
struct kernel_step {
    struct grade_step step;
    char *source;   /* compile */
    json_t *params; /* validate */
    struct grade_wait wait;
    void (*cancel)(void *handle);
    void *handle;
    bool starting, answered;
};

static void step_cancel(struct grade_step *step) {
    const struct kernel_step *k = container_of(step, struct kernel_step, step);
    k->cancel(k->handle);
}

static struct kernel_step *step_new(const struct grade_wait *wait) {
    struct kernel_step *k = xcalloc(1, sizeof *k);
    *k = (struct kernel_step){.step = {step_cancel}, .wait = *wait, .starting = true};
    return k;
}

static void step_free(struct kernel_step *k) {
    free(k->source);
    json_decref(k->params);
    free(k);
}

static void step_answered(struct kernel_step *k) {
    k->answered = true;
    if (!k->starting) { /* else step_started goes on */
        k->wait.done(k->wait.data);
        step_free(k);
    }
}

static struct grade_step *step_started(struct kernel_step *k) {
    k->starting = false;
    if (k->answered) {
        step_free(k);
        return NULL;
    }
    return &k->step;
}

/* --- compile --- */

/* Whether "ns::k<float>" is a kernel that the source calls k. */
static bool is_entry(const char *name, const char *entry) {
    size_t len = strcspn(name, "<"), want = strlen(entry);
    return len >= want && memcmp(name + len - want, entry, want) == 0 &&
           (len == want || name[len - want - 1] == ':');
}

/* A template that nothing instantiates is only parsed, whatever else was compiled. */
static bool has_entry(const json_t *kernels, const char *entry) {
    return json_any(kernels, kernel,
                    is_entry(json_get_string(kernel, "name", ""), entry));
}

static void compile_add(struct kernel_step *c, json_t *findings, const json_t *kernels,
                        const char *why) {
    const char *entry = json_get_string(c->wait.expected, "entry", NULL);
    if (!findings) {
        assertion_add(c->wait.out, "kernel_compiles", GRADE_ERRORED, c->wait.expected,
                      NULL, "not compiled: %s", why ? why : "no answer");
        return;
    }
    json_t *error = evidence_of_findings(findings);
    if (!error && !why && entry && !has_entry(kernels, entry)) {
        why = "this kernel was not compiled, only others: a kernel template has to be "
              "instantiated";
    }
    assertion_add(c->wait.out, "kernel_compiles",
                  error || why ? GRADE_FAILED : GRADE_PASSED, c->wait.expected, error,
                  "%s",
                  error ? "does not compile"
                  : why ? why
                        : "compiles");
    json_decref(findings);
}

static void on_compiled(void *data, json_t *findings, const json_t *kernels,
                        const char *why) {
    compile_add(data, findings, kernels, why);
    step_answered(data);
}

struct grade_step *grade_compile_start(const struct grade_wait *wait, char *source) {
    const struct call_origin *origin = wait->room->origin;
    const struct skill_grader *grader = call_lent(origin, SKILL_GRADER_LENT);
    struct kernel_step *c = step_new(wait);
    c->source = source;
    if (grader) {
        c->cancel = grader->cancel;
        c->handle =
            grader->start(origin, SOURCE_NAME, source,
                          json_get_string(wait->expected, "arch", NULL), on_compiled, c);
    }
    if (!c->handle && !c->answered) {
        on_compiled(c, NULL, NULL, "there is no compiler here");
    }
    return step_started(c);
}

/* --- validate --- */

/* The evidence of a run that did not pass: its error, or else its first finding. */
static json_t *run_evidence(const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    const char *message = json_get_string(error, "message", NULL);
    if (message) {
        return evidence(message, strlen(message));
    }
    const json_t *compiled =
        json_object_get(json_object_get(result, "check"), "diagnostics");
    json_t *found = evidence_of_findings(compiled);
    return found ? found : evidence_of_findings(json_object_get(result, "findings"));
}

/* "fail" is the student's, and so is an error that its source or kernel makes; the rest
 * cannot be judged here. */
static enum grade_outcome outcome_of(const json_t *result) {
    static const char *const students[] = {"compile", "launch", "run", "compare", NULL};
    const char *verdict = json_get_string(result, "verdict", "");
    const char *stage = json_get_string(json_object_get(result, "error"), "stage", "");
    if (strcmp(verdict, "pass") == 0) {
        return GRADE_PASSED;
    }
    bool failed = strcmp(verdict, "fail") == 0 || strcmp(verdict, "timeout") == 0 ||
                  (strcmp(verdict, "error") == 0 && strings_have(students, stage));
    return failed ? GRADE_FAILED : GRADE_ERRORED;
}

static void validate_add(struct kernel_step *v, json_t *result, const char *why) {
    if (!result) {
        assertion_add(v->wait.out, "kernel_passes", GRADE_ERRORED, v->wait.expected, NULL,
                      "%s", why ? why : "no answer");
        return;
    }
    enum grade_outcome outcome = outcome_of(result);
    assertion_add(v->wait.out, "kernel_passes", outcome, v->wait.expected,
                  outcome == GRADE_PASSED ? NULL : run_evidence(result), "verdict %.32s",
                  json_get_string(result, "verdict", "missing"));
    json_decref(result);
}

static void on_validated(void *data, json_t *result, const char *why) {
    validate_add(data, result, why);
    step_answered(data);
}

/* Takes source over. */
static json_t *validate_params(char *source, const json_t *expected) {
    json_t *params = json_copy(json_object_get(expected, "spec"));
    json_t *arch = json_object_get(expected, "arch");
    const json_t *entry = json_object_get(expected, "entry");
    json_object_set_new(params, "source", json_text(source, strlen(source)));
    json_object_set_new(params, "name", json_string(SOURCE_NAME));
    if (arch) {
        json_object_set(params, "arch", arch);
    }
    if (entry && !json_object_get(params, "kernel") &&
        !json_object_get(params, "launches")) {
        json_object_set(params, "kernel", (json_t *)(uintptr_t)entry);
    }
    free(source);
    return params;
}

struct grade_step *grade_validate_start(const struct grade_wait *wait, char *source) {
    const struct call_origin *origin = wait->room->origin;
    const struct kernel_validator *validator = call_lent(origin, KERNEL_VALIDATOR_LENT);
    struct kernel_step *v = step_new(wait);
    v->params = validate_params(source, wait->expected);
    if (validator) {
        v->cancel = validator->cancel;
        v->handle = validator->start(origin, v->params, on_validated, v);
    }
    if (!v->handle && !v->answered) {
        on_validated(v, NULL, "validation is not available here");
    }
    return step_started(v);
}
