/* What rules use: figures of a kernel, and how a finding is told. */
#include "gpu/lint/lint.h"

#include "gpu/source/kernel_name.h"

#include <stdarg.h>

/* Larger than any figure of a launch that could succeed, small enough to add and
 * multiply. */
#define MAX_FIGURE (1 << 29)

int lint_limit(json_int_t value) {
    return value < 0 ? 0 : value > MAX_FIGURE ? MAX_FIGURE : (int)value;
}

int lint_figure(const json_t *object, const char *key) {
    return lint_limit(json_get_integer(object, key, 0));
}

int lint_count(const int extents[3]) {
    long long count = 1;
    for (size_t i = 0; i < 3; i++) {
        count *= extents[i] > 0 ? extents[i] : 1;
        if (count > MAX_FIGURE) {
            return MAX_FIGURE;
        }
    }
    return (int)count;
}

void lint_report(const struct lint_kernel *k, const char *code,
                 enum finding_severity severity, const char *format, ...) {
    va_list args;
    char *message;
    va_start(args, format);
    int len = vasprintf(&message, format, args);
    va_end(args);
    if (len < 0) {
        return;
    }
    const json_t *place = k->at ? k->at : k->json;
    struct finding_span span = {.line = lint_figure(place, "line"),
                                .column = lint_figure(place, "column")};
    if (span.line > 0 && span.column > 0) {
        span.end_line = span.line;
        size_t name_len; /* the plain name is what stands in the source */
        kernel_plain_name(k->name, &name_len);
        span.end_column = span.column + (int)name_len;
    }
    json_t *finding = finding_new("upskilld", code, severity, message,
                                  json_get_string(place, "file", NULL), &span);
    json_object_set(finding, "kernel", json_object_get(k->json, "name"));
    json_array_append_new(k->findings, finding);
    free(message);
}

enum finding_severity lint_fatal(const struct lint_kernel *k) {
    return k->alone || k->at ? FINDING_ERROR : FINDING_WARNING;
}

void lint_occupancy(const struct lint_kernel *k, int threads, int dynamic_shared,
                    struct occupancy *ret) {
    occupancy_compute(ret, k->device, k->registers, threads, k->shared, dynamic_shared,
                      k->barriers);
}
