#include "gpu/spec/value_functions.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define UNARY(name, expression)                                                          \
    static double name(const double *a) {                                                \
        return expression;                                                               \
    }
#define BINARY UNARY

BINARY(f_add, a[0] + a[1])
BINARY(f_subtract, a[0] - a[1])
BINARY(f_multiply, a[0] * a[1])
BINARY(f_divide, a[0] / a[1])
BINARY(f_quotient, trunc(a[0] / a[1]))
BINARY(f_remainder, fmod(a[0], a[1]))
BINARY(f_less, a[0] < a[1])
BINARY(f_less_equal, a[0] <= a[1])
BINARY(f_greater, a[0] > a[1])
BINARY(f_greater_equal, a[0] >= a[1])
BINARY(f_equal, a[0] == a[1])
BINARY(f_not_equal, a[0] != a[1])
UNARY(f_not, a[0] == 0)
/* What is no int64 has no bits. */
static int64_t bits(double x) {
    return fabs(x) < 0x1p63 ? (int64_t)x : 0;
}
BINARY(f_and, (double)(bits(a[0]) & bits(a[1])))
BINARY(f_or, (double)(bits(a[0]) | bits(a[1])))
BINARY(f_xor, (double)(bits(a[0]) ^ bits(a[1])))
BINARY(f_left, (double)(int64_t)((uint64_t)bits(a[0]) << (bits(a[1]) & 63)))
BINARY(f_right, (double)(bits(a[0]) >> (bits(a[1]) & 63)))
UNARY(f_exp, exp(a[0]))
UNARY(f_exp2, exp2(a[0]))
UNARY(f_expm1, expm1(a[0]))
UNARY(f_log2, log2(a[0]))
UNARY(f_log10, log10(a[0]))
UNARY(f_log1p, log1p(a[0]))
UNARY(f_asin, asin(a[0]))
UNARY(f_acos, acos(a[0]))
UNARY(f_atan, atan(a[0]))
UNARY(f_sinh, sinh(a[0]))
UNARY(f_cosh, cosh(a[0]))
UNARY(f_erfc, erfc(a[0]))
UNARY(f_cbrt, cbrt(a[0]))
UNARY(f_isnan, isnan(a[0]) != 0)
BINARY(f_atan2, atan2(a[0], a[1]))
UNARY(f_log, log(a[0]))
UNARY(f_sqrt, sqrt(a[0]))
UNARY(f_rsqrt, 1 / sqrt(a[0]))
UNARY(f_sin, sin(a[0]))
UNARY(f_cos, cos(a[0]))
UNARY(f_tan, tan(a[0]))
UNARY(f_tanh, tanh(a[0]))
UNARY(f_erf, erf(a[0]))
UNARY(f_abs, fabs(a[0]))
UNARY(f_floor, floor(a[0]))
UNARY(f_ceil, ceil(a[0]))
UNARY(f_round, nearbyint(a[0])) /* ties to even, as rint() on the device */
UNARY(f_trunc, trunc(a[0]))
UNARY(f_sign, (a[0] > 0) - (a[0] < 0))
BINARY(f_min, fmin(a[0], a[1]))
BINARY(f_max, fmax(a[0], a[1]))
BINARY(f_pow, pow(a[0], a[1]))
UNARY(f_fma, fma(a[0], a[1], a[2]))

static const struct value_function functions[] = {
    {"+", 2, true, false, f_add},
    {"-", 2, true, false, f_subtract},
    {"*", 2, true, false, f_multiply},
    {"/", 2, false, false, f_divide},
    {"quotient", 2, true, false, f_quotient},
    {"%", 2, true, false, f_remainder},
    {"<", 2, true, true, f_less},
    {"<=", 2, true, true, f_less_equal},
    {">", 2, true, true, f_greater},
    {">=", 2, true, true, f_greater_equal},
    {"==", 2, true, true, f_equal},
    {"!=", 2, true, true, f_not_equal},
    {"not", 1, true, true, f_not},
    {"&", 2, true, true, f_and},
    {"|", 2, true, true, f_or},
    {"^", 2, true, true, f_xor},
    {"<<", 2, true, true, f_left},
    {">>", 2, true, true, f_right},
    {"exp2", 1, false, false, f_exp2},
    {"expm1", 1, false, false, f_expm1},
    {"log2", 1, false, false, f_log2},
    {"log10", 1, false, false, f_log10},
    {"log1p", 1, false, false, f_log1p},
    {"asin", 1, false, false, f_asin},
    {"acos", 1, false, false, f_acos},
    {"atan", 1, false, false, f_atan},
    {"atan2", 2, false, false, f_atan2},
    {"sinh", 1, false, false, f_sinh},
    {"cosh", 1, false, false, f_cosh},
    {"erfc", 1, false, false, f_erfc},
    {"cbrt", 1, false, false, f_cbrt},
    {"isnan", 1, true, true, f_isnan},
    {"exp", 1, false, false, f_exp},
    {"log", 1, false, false, f_log},
    {"sqrt", 1, false, false, f_sqrt},
    {"rsqrt", 1, false, false, f_rsqrt},
    {"sin", 1, false, false, f_sin},
    {"cos", 1, false, false, f_cos},
    {"tan", 1, false, false, f_tan},
    {"tanh", 1, false, false, f_tanh},
    {"erf", 1, false, false, f_erf},
    {"abs", 1, true, false, f_abs},
    {"floor", 1, true, true, f_floor},
    {"ceil", 1, true, true, f_ceil},
    {"round", 1, true, true, f_round},
    {"trunc", 1, true, true, f_trunc},
    {"sign", 1, true, true, f_sign},
    {"min", 2, true, false, f_min},
    {"max", 2, true, false, f_max},
    {"pow", 2, false, false, f_pow},
    {"fma", 3, true, false, f_fma},
};

static double fold_sum(double so_far, double term) {
    return so_far + term;
}

static double fold_product(double so_far, double term) {
    return so_far * term;
}

static const struct value_fold folds[] = {
    {"sum", 0, fold_sum},
    {"prod", 1, fold_product},
    {"maximum", -INFINITY, fmax},
    {"minimum", INFINITY, fmin},
};

static bool is_word(const char *name, size_t len, const char *word) {
    return strlen(word) == len && !memcmp(name, word, len);
}

const struct value_function *value_function_find(const char *name, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (is_word(name, len, functions[i].name)) {
            return &functions[i];
        }
    }
    return NULL;
}

const struct value_fold *value_fold_find(const char *name, size_t len) {
    for (size_t i = 0; i < ARRAY_LEN(folds); i++) {
        if (is_word(name, len, folds[i].name)) {
            return &folds[i];
        }
    }
    return NULL;
}

bool value_constant_find(const char *name, size_t len, double *ret) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (is_word(name, len, constants[i].name)) {
            *ret = constants[i].value;
            return true;
        }
    }
    return false;
}
