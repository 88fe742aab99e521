/* Running a whole program from an editor: a lens over main in a .cu file. It starts
 * kernel/run on the text as it is; the answer becomes findings at their lines and a few
 * words for the lens. */
#include "gpu/editor/cuda_lens.h"

#include "gpu/source/cuda_lexer.h"
#include "protocol/finding.h"

#define OPERATION "kernel/run"

/* A function's name: `main` at file level, with a parenthesis behind it. */
static bool find_main(const struct document *d, struct cuda_token *ret) {
    struct cuda_lexer lexer;
    struct cuda_token token, last = {.kind = CUDA_END};
    int depth = 0;
    cuda_lexer_init(&lexer, d->text, d->len);
    while ((token = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        depth += cuda_token_is(&lexer, &token, "{");
        depth -= cuda_token_is(&lexer, &token, "}");
        if (depth == 0 && last.kind == CUDA_IDENTIFIER &&
            cuda_token_is(&lexer, &last, "main") && cuda_token_is(&lexer, &token, "(")) {
            *ret = last;
            return true;
        }
        last = token;
    }
    return false;
}

static bool is_program(const struct document *d) {
    size_t len = d->path ? strlen(d->path) : 0;
    return len > 3 && !strcmp(d->path + len - 3, ".cu");
}

static void add(const struct document *d, const struct host_code *, json_t *lenses) {
    struct cuda_token name;
    if (is_program(d) && find_main(d, &name)) {
        json_array_append_new(
            lenses, json_pack("{s:I, s:I, s:s, s:s, s:{s:s}}", "start",
                              (json_int_t)name.start, "end", (json_int_t)name.end,
                              "title", json_get_string(d->outcome, "program", "Run"),
                              "operation", OPERATION, "params", "path", d->path));
    }
}

static json_t *params_of(const struct document *d, const char *operation,
                         const json_t *params) {
    if (strcmp(operation, OPERATION) != 0 || !is_program(d)) {
        return NULL;
    }
    json_t *own = json_copy((json_t *)(uintptr_t)params);
    json_object_set_new(own, "source", json_text(d->text, d->len));
    return own;
}

/* What ended it, at main. */
static void tell_error(const struct document *d, const json_t *answer, json_t *findings) {
    const json_t *error = json_object_get(answer, "error");
    const char *hint = json_get_string(error, "hint", NULL);
    struct cuda_token name;
    if (!error || !find_main(d, &name)) {
        return;
    }
    autofree char *message = xasprintf("%s%s%s", json_get_string(error, "message", ""),
                                       hint ? "; " : "", hint ? hint : "");
    const struct finding_span span =
        finding_span_in(d->text, d->len, name.start, name.end);
    json_array_append_new(findings,
                          finding_new("run", json_get_string(error, "code", "run"),
                                      FINDING_WARNING, message, d->path, &span));
}

/* Where the check of the document has not told it: the compiler's words on host code. */
static void add_diagnostics(const json_t *answer, json_t *findings) {
    json_each(json_object_get(answer, "diagnostics"), i, one) {
        if (!json_says(one, "source", "nvcc")) {
            json_array_append(findings, one);
        }
    }
}

static void outcome_of(const struct document *d, const char *operation,
                       const json_t *answer, json_t **ret_findings,
                       json_t **ret_outcome) {
    if (strcmp(operation, OPERATION) != 0 || !is_program(d)) {
        return;
    }
    json_t *findings = json_array();
    json_array_extend(findings, json_object_get(answer, "findings"));
    add_diagnostics(answer, findings);
    tell_error(d, answer, findings);
    *ret_findings = findings;
    *ret_outcome = json_pack("{s:s}", "program", json_get_string(answer, "summary", "?"));
}

const struct cuda_lens program_lens = {add, params_of, outcome_of};
