#pragma once
/* worker_answers: what the tests of the worker ask of a result. */
#include "base/mem.h"
#include "worker_process.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static const char axpy[] =
    "__global__ void axpy(float a, const float *x, float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] += a * x[i];\n"
    "}\n";

static const char endless[] =
    "template <int N, int M> struct X {\n"
    "    static const int v = X<N - 1, 2 * M>::v + X<N - 1, 2 * M + 1>::v;\n"
    "};\n"
    "template <int M> struct X<0, M> { static const int v = M; };\n"
    "__global__ void k(int *x) { *x = X<22, 0>::v; }\n";

static inline const json_t *first_finding(const json_t *result) {
    return json_array_get(json_object_get(result, "diagnostics"), 0);
}

static inline const char *text_of(const json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static inline int number_of(const json_t *object, const char *key) {
    return (int)json_integer_value(json_object_get(object, key));
}

static inline void expect_outcome(const json_t *result, const char *outcome,
                                  const char *what) {
    char *text = json_dumps(result, 0);
    cr_expect_str_eq(outcome_of(result), outcome, "%s: %.600s", what, text);
    free(text);
}

static inline void expect_axpy_compiles(struct worker_process *w, const char *after) {
    autojson *result = compile_result(w, compile_params(axpy));
    expect_outcome(result, "compiled", after);
}
