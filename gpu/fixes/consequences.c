#include "gpu/fixes/consequences.h"

#include "base/find.h"
#include "gpu/fixes/mistake.h"

#define MAX_RELATED 8

/* The beginnings of what NVRTC says inside a declaration that it did not understand. */
static const char *const echoes[] = {
    "attribute \"",
    "A namespace scope variable without memory space annotations",
    "A function without execution space annotations",
    "incomplete type \"void\" is not allowed",
    "variable \"",
    "identifier \"",
    "type name is not allowed",
    "expected ",
    "too many initializer values",
};

static bool starts_with(const json_t *finding, const char *text) {
    const char *message = json_get_string(finding, "message", "");
    return strncmp(message, text, strlen(text)) == 0;
}

static bool is_error(const json_t *finding) {
    return json_says(finding, "severity", "error") && mistake_is_of_front_end(finding);
}

static bool is_echo(const json_t *finding) {
    if (!is_error(finding) || json_array_size(json_object_get(finding, "fixes"))) {
        return false;
    }
    return any_of(i, 0, ARRAY_LEN(echoes), starts_with(finding, echoes[i]));
}

/* The declaration went wrong as a whole: its `__global__` or `__device__` does not fit.
 */
static bool is_misread_declaration(const json_t *finding) {
    return is_error(finding) && starts_with(finding, "attribute \"__") &&
           strstr(json_get_string(finding, "message", ""), "does not apply here");
}

static bool is_unknown_name(const json_t *finding) {
    return is_error(finding) && (starts_with(finding, "identifier \"") ||
                                 starts_with(finding, "name followed by \"::\"") ||
                                 starts_with(finding, "namespace \""));
}

static bool same_file(const json_t *a, const json_t *b) {
    return json_says(a, "file", json_get_string(b, "file", ""));
}

static json_int_t line_of(const json_t *finding) {
    return json_get_integer(finding, "line", 0);
}

/* Index of the name that the declaration at `start` fails for, and in *end the index
 * after the errors that belong to it; `start` when there is none. Findings are in order
 * of place. */
static size_t find_cause(const json_t *findings, size_t start, size_t *end) {
    const json_t *declaration = json_array_get(findings, start);
    size_t cause = start, i = start + 1;
    for (; i < json_array_size(findings); i++) {
        const json_t *at = json_array_get(findings, i);
        if (!is_error(at) || !same_file(at, declaration) || is_misread_declaration(at) ||
            line_of(at) > line_of(declaration) + 64) {
            break;
        }
        if (cause == start && is_unknown_name(at)) {
            cause = i;
        }
        if (cause != start && starts_with(at, "expected a \";\"")) {
            i++;
            break;
        }
    }
    *end = i;
    return cause;
}

static void relate(json_t *cause, const json_t *echo) {
    if (json_array_size(json_object_get(cause, "related")) < MAX_RELATED) {
        autofree char *message =
            xasprintf("follows: %s", json_get_string(echo, "message", ""));
        finding_add_related(cause, message, json_get_string(echo, "file", NULL),
                            (int)line_of(echo), (int)json_get_integer(echo, "column", 0));
    }
}

void consequences_fold(json_t *findings) {
    for (size_t i = 0; i < json_array_size(findings); i++) {
        size_t end, cause_at;
        if (!is_misread_declaration(json_array_get(findings, i)) ||
            (cause_at = find_cause(findings, i, &end)) == i) {
            continue;
        }
        json_t *cause = json_array_get(findings, cause_at);
        for (size_t k = i; k < end; k++) {
            const json_t *echo = json_array_get(findings, k);
            if (echo != cause && is_echo(echo)) {
                relate(cause, echo);
            }
        }
        for (size_t k = end; k-- > i;) {
            const json_t *echo = json_array_get(findings, k);
            if (echo != cause && is_echo(echo)) {
                json_array_remove(findings, k);
            }
        }
    }
}
