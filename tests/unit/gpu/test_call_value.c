#include "base/mem.h"
#include "gpu/worker/call_value.h"

#include <criterion/criterion.h>
#include <string.h>

/* The value of the function's call in the line that has /@/ in front of it. */
static enum call_value value_in(const char *text, const char *function) {
    struct source_set s = {0};
    int line = 1;
    const char *mark = strstr(text, "/*@*/");
    cr_assert_not_null(mark, "%s", text);
    for (const char *at = text; at < mark; at++) {
        line += *at == '\n';
    }
    cr_assert_eq(source_set_add(&s, "r0/k.cu", "dir/k.cu", text, strlen(text), NULL), 0);
    enum call_value value = call_value_of(&s, "dir/k.cu", line, function);
    source_set_finish(&s);
    return value;
}

static void all_are(enum call_value want, const char *const *texts) {
    for (; *texts; texts++) {
        cr_expect_eq(value_in(*texts, "cudaMemcpy"), want, "%s", *texts);
    }
}

#define MAIN "int main() {\n"

Test(call_value, is_used) {
    static const char *const texts[] = {
        MAIN "/*@*/ if (cudaMemcpy(d, h, n * 4, k) != cudaSuccess) {\n  return 2; } }",
        MAIN "/*@*/ if (cudaMemcpy(d, h, n, k)) return 2; }",
        MAIN "/*@*/ return cudaMemcpy(d, h, f(n), k); }",
        MAIN "cudaError_t e;\n/*@*/ e = cudaMemcpy(d, h, n, k);\nif (e) return 1; }",
        MAIN "/*@*/ s->error = cudaMemcpy(d, h, n, k); }",
        MAIN "/*@*/ check(cudaMemcpy(d, h, n, k), __LINE__); }",
        MAIN "/*@*/ bool ok = !cudaMemcpy(d, h, n, k) && f(); }",
        MAIN "/*@*/ a ? cudaMemcpy(d, h, n, k) : 0; }",
        MAIN "/*@*/ if (\n  ::cudaMemcpy(d, h, n, k) ||\n  cudaMemset(d, 0, n)) return 1; }",
        MAIN "/*@*/ check(\n  cudaMemcpy(d,\n  h, n, k)); }",
        "#define CK(x) do { cudaError_t e = (x); if (e) exit(1); } while (0)\n" MAIN
        "/*@*/ CK(cudaMemcpy(d, h, n, k)); }",
        "#define CK(x) \\\n  if ((x) != cudaSuccess) abort()\n" MAIN
        "/*@*/ CK(cudaMemcpy(d, h, n, k)); }",
        "#define CK(...) check(#__VA_ARGS__, __VA_ARGS__)\n" MAIN
        "/*@*/ CK(cudaMemcpy(d, h, n, k)); }",
        "#define ID(x) (x)\n" MAIN "/*@*/ if (ID(cudaMemcpy(d, h, n, k))) return 1; }",
        NULL};
    all_are(CALL_VALUE_USED, texts);
}

Test(call_value, is_dropped) {
    static const char *const texts[] = {
        MAIN "/*@*/ cudaMemcpy(d, h, n * 4, k); }",
        MAIN "/*@*/ (void)cudaMemcpy(d, h, n, k); }",
        MAIN "/*@*/ ::cudaMemcpy(d, h, n, k); }",
        MAIN "/*@*/ static_cast<void>(cudaMemcpy(d, h, n, k)); }",
        MAIN "/*@*/ if (f(n) == 1) cudaMemcpy(d, h, n, k); else f(1); }",
        MAIN "/*@*/ if (cudaMalloc(&p, 4)) f(1); else cudaMemcpy(d, h, n, k); }",
        MAIN "for (int i = 0; i < 9; i++)\n/*@*/ cudaMemcpy(d, h, n, k); }",
        MAIN "switch (n) { case 1:\n/*@*/ cudaMemcpy(d, h, n, k); } }",
        MAIN "/*@*/ cudaError_t e = cudaMemcpy(d, h, n, k); f(d); }",
        MAIN "cudaMemcpy(d,\n  h,\n/*@*/  n, k); }",
        "#define ID(x) x\n" MAIN "/*@*/ ID(cudaMemcpy(d, h, n, k)); }",
        "#define TIMED(name, x) start(name); x; stop(#x)\n" MAIN
        "/*@*/ TIMED(\"copy\", cudaMemcpy(d, h, n, k)); }",
        NULL};
    all_are(CALL_VALUE_DROPPED, texts);
}

/* Another line, a macro that contains the call, two that differ, no more than a comment. */
Test(call_value, is_not_known) {
    static const char *const texts[] = {
        MAIN "cudaMemcpy(d, h, n, k);\n/*@*/ f(1); }",
        "#define COPY(d, h) cudaMemcpy(d, h, n, k)\n" MAIN "/*@*/ COPY(d, h); }",
        MAIN "/*@*/ if (cudaMemcpy(d, h, n, k)) cudaMemcpy(d, h, n, k); }",
        MAIN "/*@*/ f(1); // cudaMemcpy(d, h, n, k)\n }",
        MAIN "/*@*/ BEGIN() cudaMemcpy(d, h, n, k); }",
        "/*@*/ cudaMemcpy(((((",
        "/*@*/ )))) cudaMemcpy",
        NULL};
    all_are(CALL_VALUE_UNKNOWN, texts);
    cr_expect_eq(call_value_of(&(struct source_set){0}, "k.cu", 1, "cudaMemcpy"),
                 CALL_VALUE_UNKNOWN);
}

/* <<<>>> has no value; the same function by its name has one. */
Test(call_value, launches) {
    static const char function[] = "cudaLaunchKernel";
    cr_expect_eq(value_in(MAIN "/*@*/ k<<<1, 2048>>>(d); }", function),
                 CALL_VALUE_DROPPED);
    cr_expect_eq(value_in("#define RUN(k) k<<<1, 2048>>>(d)\n" MAIN "/*@*/ RUN(k); }",
                          function),
                 CALL_VALUE_DROPPED);
    cr_expect_eq(value_in(MAIN "/*@*/ if (cudaLaunchKernel(k, g, b, a, 0, 0)) f(1); }",
                          function),
                 CALL_VALUE_USED);
    cr_expect_eq(value_in(MAIN "/*@*/ if (cudaLaunchKernelEx(&c, k, d)) f(1); }",
                          "cudaLaunchKernelExC"),
                 CALL_VALUE_USED);
    cr_expect_eq(value_in(MAIN "/*@*/ cudaMalloc<float>(&p, 4); }", "cudaMalloc"),
                 CALL_VALUE_DROPPED);
}
