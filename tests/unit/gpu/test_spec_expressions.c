/* Expressions of a check spec: integers over sizes, and expected values. */
#include "base/err.h"
#include "gpu/spec/value_expression.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

Test(integer_expression, values) {
    static const struct size_value sizes[] = {{"rows", 7}, {"cols", 1000}};
    const struct size_values list = {sizes, 2};
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        {"rows", 7},
        {"rows * cols + 1", 7001},
        {"ceil_div(cols, 256)", 4},
        {"ceil_div(-7, 2)", -3},
        {"ceil_div(-8, -3)", 3},
        {"(rows + 1) % 5 * 2", 6},
        {"-7 / 2", -3},
        {"max(1, rows, 3) - min(rows, 2)", 5},
        {"2 * -(rows)", -14},
        {"9223372036854775807", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = 0;
        struct err err = {0};
        cr_assert_eq(integer_expression(cases[i].text, &list, &got, &err), 0, "%s: %s",
                     cases[i].text, err.msg);
        cr_assert_eq(got, cases[i].want, "%s is %lld", cases[i].text, (long long)got);
    }
}

Test(integer_expression, errors) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"rows / 0", "division by zero"},
        {"nosuch + 1", "unknown size 'nosuch'"},
        {"1 +", "ends too early"},
        {"1 2", "operator"},
        {"(1", "parenthesis"},
        {"9223372036854775807 + 1", "too large"},
        {"pow(2, 3)", "functions are"},
        {"1.5", "whole"},
        {"ceil_div(1, 2, 3)", "two arguments"},
        {"", "ends too early"},
        {"rows ** 2", "write the product out"},
        {"rows // 2", "'/' is the quotient"},
        {"cdiv(rows, 2)", "did you mean \"ceil_div\"?"},
    };
    static const struct size_value sizes[] = {{"rows", 7}};
    const struct size_values list = {sizes, 1};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t got = 42;
        struct err err = {0};
        cr_assert_lt(integer_expression(cases[i].text, &list, &got, &err), 0);
        cr_assert(strstr(err.msg, cases[i].words) != NULL, "%s: %s", cases[i].text,
                  err.msg);
        cr_assert_eq(got, 42);
    }
    char deep[600];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    struct err err = {0};
    int64_t got;
    cr_assert_lt(integer_expression(deep, &list, &got, &err), 0);
}

static double value(const char *text, uint64_t at, struct err *err) {
    static const float x[6] = {1, -2, 3, 4, -5, 6};
    static const int32_t k[3] = {2, 0, 1};
    static const struct value_input inputs[] = {{"x", TENSOR_FLOAT32, x, 6},
                                                {"k", TENSOR_INT32, k, 3}};
    static const struct size_value sizes[] = {{"cols", 3}};
    static const struct value_scalar scalars[] = {{"s", 0.5, false}, {"n", 7, true}};
    const struct value_inputs list = {inputs, 2, scalars, 2};
    const struct size_values names = {sizes, 1};
    struct value_expression *e = NULL;
    double out[8] = {0};
    struct value_budget budget = {100000, NULL};
    if (value_expression_new(&e, text, &names, &list, err) < 0) {
        return NAN;
    }
    int r = value_expression_evaluate(e, at + 1, out, &budget, err);
    value_expression_free(e);
    return r < 0 ? NAN : out[at];
}

Test(value_expression, values) {
    static const struct {
        const char *text;
        uint64_t at;
        double want;
    } cases[] = {
        {"x[i] * 0.5", 3, 2},
        {"max(x[i], 0)", 1, 0},
        {"x[i / cols * cols + (cols - 1 - i % cols)]", 3, 6},
        {"sum(j, 0, cols, x[i / cols * cols + j])", 4, 5},
        {"x[k[i % 3]]", 0, 3},
        {"1 / 2", 0, 0},
        {"x[i] * s", 3, 2},
        {"n / 2 + s", 0, 3.5}, /* of an integer type: as in C */
        {"1 / 2.0", 0, 0.5},
        {"i > 2 && x[i] > 0 ? exp(0) : -1", 3, 1},
        {"i > 2 && x[i] > 0 ? exp(0) : -1", 2, -1},
        {"-x[i] - -2", 1, 4},
        {"!(i == 0) || 0", 0, 0},
        {"maximum(j, 0, 6, x[j]) + minimum(j, 0, 6, x[j])", 0, 1},
        {"sum(a, 0, 3, sum(b, 0, a, 1))", 0, 3},
        {"fma(2, 3, 4) + pow(2, 10) + round(2.5)", 0, 1036},
        {"2 - 3 - 4", 0, -5},
        {"cos(pi)", 0, -1},
        /* As C has them: shifts before comparisons, those before the bits. */
        {"(k[0] << 4 | 5) >> 1 & 7 ^ 1", 0, 3},
        {"1 | 2 == 2 && 4 & 4", 0, 1},
        {"k[i] << 2 < 9", 0, 1},
        {"floor(-7.5) >> 1", 0, -4},
        {"log2(8) + exp2(3) + expm1(0) + log1p(0) + log10(100) + cbrt(27)", 0, 16},
        {"atan2(1, 1) * 4 - pi + asin(0) + acos(1) + atan(0) + sinh(0) + cosh(0)", 0, 1},
        {"erf(1) + erfc(1) + isnan(nan) + isnan(1)", 0, 2},
        {"0.5f * x[i] + 1e1F", 1, 9},
        /* A sum is kept for as long as what it hangs on is the same: */
        {"sum(j, 0, 6, x[j])", 5, 7},                     /* on nothing, */
        {"sum(j, 0, i, x[j])", 3, 2},                     /* a bound, */
        {"sum(j, 0, 3, x[i / 3 * 3 + j])", 2, 2},         /* the row, */
        {"sum(j, 0, 3, x[i / 3 * 3 + j])", 3, 5},         /* and the next, */
        {"sum(j, 0, 3, x[k[j]] * (i % 2))", 2, 0},        /* the index's parity, */
        {"sum(j, 0, 3, x[k[j]] * (i % 2))", 3, 2},        /* */
        {"sum(a, 0, 3, sum(b, 0, 2, a * b + i))", 4, 27}, /* the outer sum's index, */
        {"sum(a, 0, 2, x[k[i % 3] + a])", 1, -1},         /* what an index says, */
        {"sum(a, 0, 2, i + i * i + (i + 2) / 3 + i % 5 + (i - 1) * a)", 3,
         34}, /* a lot. */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        double got = value(cases[i].text, cases[i].at, &err);
        cr_assert(fabs(got - cases[i].want) < 1e-12, "%s: %g %s", cases[i].text, got,
                  err.msg);
    }
}

Test(value_expression, errors) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"x[6]", "lies outside 'x'"},
        {"x[-1]", "lies outside"},
        {"x[1/0.0]", "is infinite: something is divided by zero"},
        {"x[0.0/0.0]", "is not a number: something is divided by zero"},
        {"y[0]", "there is no buffer y; known are i, cols, s, n, x[…], k[…]"},
        {"q + 1", "unknown name q; known are i, cols, s, n, x[…], k[…]"},
        {"sum(j, 0, 2, q)", "unknown name q; known are i, j, cols, s"},
        {"max(1)", "too few"},
        {"sum(j, 0, 1e9, 1)", "too long"},
        {"sum(0, 1, 2)", "index name"},
        {"frob(1)", "unknown function frob"},
        {"fmaxf(x[0], 0)", "unknown function fmaxf; did you mean \"max\"?"},
        {"expf(x[0])", "unknown function expf; did you mean \"exp\"?"},
        {"relu(x[0])", "whole tensors: \"expect\": {\"op\": \"relu\"}"},
        {"x + 1", "not the buffer x: an element of the buffer is x[i]"},
        {"sum(j, 0, 9, x[j])", "the index 6 lies outside 'x'"},
        {"x[0", "bracket"},
        {"1 ? 2", "colon"},
        {"", "ends too early"},
        {"x[0] ** 2", "write pow(a, b)"},
        {"x[0] >> 1", "bits are of whole numbers: floor(a) makes one"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        double got = value(cases[i].text, 0, &err);
        cr_assert(isnan(got) && strstr(err.msg, cases[i].words), "%s: %s", cases[i].text,
                  err.msg);
    }
}

/* More elements and terms than are computed side by side. In the text the condition keeps
 * an index from being looked at; the first that is outside is the one that is told. */
Test(value_expression, many_elements) {
    static float x[200];
    static double got[200];
    const struct value_input input = {"x", TENSOR_FLOAT32, x, 200};
    const struct value_inputs inputs = {&input, 1};
    const struct size_values none = {0};
    static const struct {
        const char *text, *words; /* of an error, or NULL */
    } cases[] = {
        {"i >= 150 ? x[i - 150] : i % 2 == 0 && x[i] > 3 || i == 77", NULL},
        {"x[i] + sum(k, 0, i, x[k])", NULL},
        {"i < 131 ? x[i] : x[2 * i]", "the index 262 lies outside 'x'"},
        {"i == 190 ? x[-1] : i == 140 ? x[200 + i] : 0", "the index 340 lies outside"},
        {"sum(k, 0, 300, x[k])", "the index 200 lies outside"},
    };
    for (int i = 0; i < 200; i++) {
        x[i] = (float)(i % 50);
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct value_expression *e;
        struct value_budget budget = {.steps = 1000000};
        struct err err = {0};
        cr_assert_eq(value_expression_new(&e, cases[c].text, &none, &inputs, &err), 0,
                     "%s", err.msg);
        int r = value_expression_evaluate(e, 200, got, &budget, &err);
        value_expression_free(e);
        if (cases[c].words) {
            cr_expect_eq(r, -ERANGE);
            cr_expect(strstr(err.msg, cases[c].words), "%s", err.msg);
            continue;
        }
        double sum = 0;
        for (int i = 0; r == 0 && i < 200; i++) {
            double want =
                i >= 150 ? (double)x[i - 150] : (i % 2 == 0 && x[i] > 3) || i == 77;
            cr_expect_eq(got[i], c ? (double)x[i] + sum : want, "%zu: %d", c, i);
            sum += (double)x[i];
        }
        cr_expect_eq(r, 0, "%s", err.msg);
    }
}

static bool always(void) {
    return true;
}

/* Threads share them; the first error in their order is told, whoever meets one first. */
Test(value_expression, many_elements_on_all_cores) {
    enum { COUNT = 1 << 20 };
    static float x[COUNT];
    static double got[COUNT];
    const struct value_input input = {"x", TENSOR_FLOAT32, x, COUNT};
    const struct value_inputs inputs = {&input, 1};
    const struct size_values none = {NULL, 0};
    struct value_expression *e;
    struct err err = {0};
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(i % 1000);
    }
    struct value_budget budget = {.steps = UINT64_MAX};
    cr_assert_eq(value_expression_new(&e, "2 * x[i] + i", &none, &inputs, &err), 0);
    cr_assert_eq(value_expression_evaluate(e, COUNT, got, &budget, &err), 0);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(got[i], 2.0 * (i % 1000) + i, "%d", i);
    }
    budget.stopped = always;
    cr_expect_eq(value_expression_evaluate(e, COUNT, got, &budget, &err), -ETIME);
    value_expression_free(e);
    budget = (struct value_budget){.steps = UINT64_MAX};
    cr_assert_eq(
        value_expression_new(&e, "i > 5000 ? x[-i] : x[i]", &none, &inputs, &err), 0);
    cr_expect_eq(value_expression_evaluate(e, COUNT, got, &budget, &err), -ERANGE);
    cr_expect(strstr(err.msg, "the index -5001 lies outside"), "%s", err.msg);
    value_expression_free(e);
}
