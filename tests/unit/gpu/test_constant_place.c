#include "base/mem.h"
#include "gpu/worker/constant_place.h"

#include <criterion/criterion.h>
#include <string.h>

/* The line of the declaration of `c`; 0: none, or it is initialised. */
static int line_in(const char *text) {
    struct source_set s = {0};
    struct constant_place place = {0};
    cr_assert_eq(source_set_add(&s, "r0/k.cu", "dir/k.cu", text, strlen(text), NULL), 0);
    bool found = constant_place_find(&s, "c", &place);
    cr_expect(!found || !strcmp(place.display, "dir/k.cu"));
    source_set_finish(&s);
    return found ? place.line : 0;
}

Test(constant_place, a_declaration_without_initialiser_is_found) {
    static const struct {
        const char *text;
        int line;
    } cases[] = {{"__constant__ int c;", 1},
                 {"int a;\nstatic __constant__ float c[3][N + 1];", 2},
                 {"float __constant__ c[4];", 1},
                 {"__constant__ int a = 3,\n  b[2] = {1, 2},\n  c;", 3},
                 {"namespace n {\n__device__ __constant__ const T<int, 4> c;\n}", 2},
                 {"__constant__ struct {\n  int x;\n  float c;\n} c;", 4},
                 {"extern __constant__ int c;\n__constant__ int c;", 2},
                 {"// __constant__ int c;\n\n__constant__ int c;", 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cr_expect_eq(line_in(cases[k].text), cases[k].line, "%s", cases[k].text);
    }
}

Test(constant_place, what_is_initialised_or_not_seen_is_not_found) {
    static const char *const texts[] = {
        "__constant__ int c = 0;",
        "__constant__ int c{};",
        "__constant__ int c[2] = {0, 0};",
        "__constant__ T c(1);",
        "#ifdef A\n__constant__ int c;\n#else\n__constant__ int c = 0;\n#endif",
        "extern __constant__ int c;",
        "__constant__ int d;",
        "__constant__ int d[c];",
        "int c;",
        "__constant__ int d = c;",
        "#define CONSTANT __constant__\nCONSTANT int c;",
        "__constant__ ((([[{",
        "__constant__",
        "",
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        cr_expect_eq(line_in(texts[k]), 0, "%s", texts[k]);
    }
}
