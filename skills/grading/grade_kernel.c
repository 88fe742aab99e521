/* grade_kernel: does the answer's CUDA code compile, and is it right? The compiler and
 * the validator are the daemon's. */
#include "protocol/call.h"
#include "skills/check/cuda_block.h"
#include "skills/check/skill_check.h"
#include "skills/grading/grade_check.h"
#include "skills/grading/grade_step.h"
#include "skills/grading/kernel_source.h"

#include <stdint.h>
#include <string.h>

#define SOURCE_NAME "answer.cu"

static json_t *kept(const json_t *value) {
    return json_incref((json_t *)(uintptr_t)value);
}

/* --- which code --- */

/* Whether the declaration that text[from, to) goes on with has __global__ in it; began:
 * whether it had before. */
static bool is_global(const char *words, size_t from, size_t to, bool began) {
    for (size_t i = from; i < to; i++) {
        char c = words[i];
        if (c == ';' || c == '{' || c == '}') {
            began = false;
        } else if (c == '_' && strncmp(words + i, "__global__", 10) == 0) {
            began = true;
        }
    }
    return began;
}

/* One pass, as a hostile text uses the name millions of times. */
static bool defines_kernel(const char *text, const char *entry) {
    struct kernel_source s;
    size_t len = strlen(entry), from = 0;
    bool found = false, global = false;
    kernel_source_init(&s, text);
    for (size_t at = kernel_source_word(&s, entry, 0); at != SIZE_MAX && !found;
         at = kernel_source_word(&s, entry, from)) {
        global = is_global(s.words, from, at, global);
        from = at + len;
        found = global && s.words[from + strspn(s.words + from, " \t\r\n")] == '(';
    }
    kernel_source_finish(&s);
    return found;
}

static bool is_cuda(const struct markdown_code *block, void *data) {
    (void)data;
    return cuda_block_is(block);
}

static bool is_wanted(const struct markdown_code *block, void *data) {
    const char *entry = data;
    return cuda_block_is(block) && !cuda_block_fragment(block->text) &&
           (!entry || defines_kernel(block->text, entry));
}

/* Why none of the blocks will do. */
static const char *why_none(const struct markdown_code *last, const char *entry) {
    const char *fragment = last ? cuda_block_fragment(last->text) : NULL;
    return !last      ? "the answer holds no CUDA block"
           : fragment ? fragment
           : entry    ? "no whole CUDA block defines this kernel"
                      : "the answer holds no whole CUDA block";
}

char *grade_kernel_source(struct answer *answer, const char *check,
                          const json_t *expected, struct assertions *out) {
    const struct answer_code *code = answer_code_of(answer);
    const char *entry = json_get_string(expected, "entry", NULL);
    const struct markdown_code *block =
        answer_code_last(code, is_wanted, (void *)(uintptr_t)entry);
    if (block) {
        return xstrdup(block->text);
    }
    assertion_add(out, check, GRADE_FAILED, kept(expected), NULL, "%s",
                  why_none(answer_code_last(code, is_cuda, NULL), entry));
    return NULL;
}

/* --- compile --- */

struct compile {
    struct grade_step step;
    const struct skill_grader *grader; /* or NULL */
    char *source;
    const json_t *expected;
    struct assertions *out;
    grade_step_done *done;
    void *data;
    void *handle;
    bool starting, answered;
};

/* Whether "ns::k<float>" is a kernel that the source calls k. */
static bool is_entry(const char *name, const char *entry) {
    size_t len = strcspn(name, "<"), want = strlen(entry);
    return len >= want && memcmp(name + len - want, entry, want) == 0 &&
           (len == want || name[len - want - 1] == ':');
}

/* A template that nothing instantiates is only parsed, whatever else was compiled. */
static bool has_entry(const json_t *kernels, const char *entry) {
    const json_t *kernel;
    size_t i;
    json_array_foreach(kernels, i, kernel) {
        if (is_entry(json_get_string(kernel, "name", ""), entry)) {
            return true;
        }
    }
    return false;
}

static void compile_add(struct compile *c, json_t *findings, const json_t *kernels,
                        const char *why) {
    const char *entry = json_get_string(c->expected, "entry", NULL);
    if (!findings) {
        assertion_add(c->out, "kernel_compiles", GRADE_ERRORED, kept(c->expected), NULL,
                      "not compiled: %s", why ? why : "no answer");
        return;
    }
    json_t *error = evidence_of_findings(findings);
    if (!error && !why && entry && !has_entry(kernels, entry)) {
        why = "this kernel was not compiled, only others: a kernel template has to be "
              "instantiated";
    }
    bool good = error == NULL && !why;
    assertion_add(c->out, "kernel_compiles", good ? GRADE_PASSED : GRADE_FAILED,
                  kept(c->expected), error, "%s",
                  good    ? "compiles"
                  : error ? "does not compile"
                          : why);
    json_decref(findings);
}

static void compile_free(struct compile *c) {
    free(c->source);
    free(c);
}

static void on_compiled(void *data, json_t *findings, const json_t *kernels,
                        const char *why) {
    struct compile *c = data;
    compile_add(c, findings, kernels, why);
    c->answered = true;
    if (!c->starting) { /* else grade_compile_start goes on */
        c->done(c->data);
        compile_free(c);
    }
}

static void compile_cancel(struct grade_step *step) {
    const struct compile *c = container_of(step, struct compile, step);
    c->grader->cancel(c->handle);
}

struct grade_step *grade_compile_start(const struct grade_room *room, char *source,
                                       const json_t *expected, struct assertions *out,
                                       grade_step_done *done, void *data) {
    struct compile *c = xcalloc(1, sizeof *c);
    *c = (struct compile){.step = {compile_cancel},
                          .source = source,
                          .expected = expected,
                          .out = out,
                          .done = done,
                          .data = data,
                          .starting = true};
    c->grader = call_lent(room->origin, SKILL_GRADER_LENT);
    c->handle = c->grader ? c->grader->start(room->origin, SOURCE_NAME, source,
                                             json_get_string(expected, "arch", NULL),
                                             on_compiled, c)
                          : NULL;
    c->starting = false;
    if (!c->handle && !c->answered) {
        compile_add(c, NULL, NULL, "there is no compiler here");
        c->answered = true;
    }
    if (c->answered) {
        compile_free(c);
        return NULL;
    }
    return &c->step;
}

/* --- validate --- */

struct validate {
    struct grade_step step;
    const struct kernel_validator *validator; /* or NULL */
    json_t *params;
    const json_t *expected;
    struct assertions *out;
    grade_step_done *done;
    void *data;
    void *handle;
    bool starting, answered;
};

/* What a run that does not pass has to say: its error, else its first finding. */
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
    static const char *const students[] = {"compile", "launch", "run", "compare"};
    const char *verdict = json_get_string(result, "verdict", "");
    const char *stage = json_get_string(json_object_get(result, "error"), "stage", "");
    if (strcmp(verdict, "pass") == 0) {
        return GRADE_PASSED;
    }
    if (strcmp(verdict, "fail") == 0 || strcmp(verdict, "timeout") == 0) {
        return GRADE_FAILED;
    }
    for (size_t i = 0; strcmp(verdict, "error") == 0 && i < ARRAY_LEN(students); i++) {
        if (strcmp(stage, students[i]) == 0) {
            return GRADE_FAILED;
        }
    }
    return GRADE_ERRORED;
}

static void validate_add(struct validate *v, json_t *result, const char *why) {
    if (!result) {
        assertion_add(v->out, "kernel_passes", GRADE_ERRORED, kept(v->expected), NULL,
                      "%s", why ? why : "no answer");
        return;
    }
    enum grade_outcome outcome = outcome_of(result);
    assertion_add(v->out, "kernel_passes", outcome, kept(v->expected),
                  outcome == GRADE_PASSED ? NULL : run_evidence(result), "verdict %.32s",
                  json_get_string(result, "verdict", "missing"));
    json_decref(result);
}

static void validate_free(struct validate *v) {
    json_decref(v->params);
    free(v);
}

static void on_validated(void *data, json_t *result, const char *why) {
    struct validate *v = data;
    validate_add(v, result, why);
    v->answered = true;
    if (!v->starting) {
        v->done(v->data);
        validate_free(v);
    }
}

static void validate_cancel(struct grade_step *step) {
    const struct validate *v = container_of(step, struct validate, step);
    v->validator->cancel(v->handle);
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

struct grade_step *grade_validate_start(const struct grade_room *room, char *source,
                                        const json_t *expected, struct assertions *out,
                                        grade_step_done *done, void *data) {
    struct validate *v = xcalloc(1, sizeof *v);
    *v = (struct validate){.step = {validate_cancel},
                           .params = validate_params(source, expected),
                           .expected = expected,
                           .out = out,
                           .done = done,
                           .data = data,
                           .starting = true};
    v->validator = call_lent(room->origin, KERNEL_VALIDATOR_LENT);
    v->handle = v->validator
                    ? v->validator->start(room->origin, v->params, on_validated, v)
                    : NULL;
    v->starting = false;
    if (!v->handle && !v->answered) {
        validate_add(v, NULL, "validation is not available here");
        v->answered = true;
    }
    if (v->answered) {
        validate_free(v);
        return NULL;
    }
    return &v->step;
}
