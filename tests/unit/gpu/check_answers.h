#pragma once
/* check_answers: what the tests of kernel/check ask of a result. */
#include "base/buf.h"
#include "check_room.h"
#include "gpu/check/check_result.h"

#include <criterion/criterion.h>
#include <string.h>

#define AXPY                                                                             \
    "__global__ void axpy(int n, float a, const float *x, float *y) {\n"                 \
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"                                 \
    "  if (i < n) y[i] += a * x[i];\n"                                                   \
    "}\n"

static inline char *report_of(const json_t *result) {
    autobuf text = BUF_INIT(1u << 20);
    check_result_describe(result, &text);
    return buf_detach(&text);
}

static inline const json_t *diagnostic(const json_t *result, size_t i) {
    return json_array_get(json_object_get(result, "diagnostics"), i);
}

static inline const json_t *find_code(const json_t *result, const char *code) {
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(result, "diagnostics"), i, finding) {
        if (strcmp(json_get_string(finding, "code", ""), code) == 0) {
            return finding;
        }
    }
    return NULL;
}

static inline bool is_ok(const json_t *result) {
    return json_is_true(json_object_get(result, "ok"));
}

#define NEED_COMPILER()                                                                  \
    if (!check_room_has_compiler()) {                                                    \
        cr_skip_test("no CUDA compiler");                                                \
    }
