#include "gpu/spec/value_functions.h"

#include "base/find.h"

#include <math.h>

#define UNARY(name, expression)                                                          \
    static double name(const double *a) {                                                \
        return expression;                                                               \
    }
#define BINARY UNARY

/* Functions that <math.h> lacks. */
BINARY(f_add, a[0] + a[1])
BINARY(f_subtract, a[0] - a[1])
BINARY(f_multiply, a[0] * a[1])
BINARY(f_divide, a[0] / a[1])
BINARY(f_quotient, trunc(a[0] / a[1]))
BINARY(f_less, a[0] < a[1])
BINARY(f_less_equal, a[0] <= a[1])
BINARY(f_greater, a[0] > a[1])
BINARY(f_greater_equal, a[0] >= a[1])
BINARY(f_equal, a[0] == a[1])
BINARY(f_not_equal, a[0] != a[1])
UNARY(f_not, a[0] == 0)
/* A value outside int64 has no bits. */
static int64_t bits(double x) {
    return fabs(x) < 0x1p63 ? (int64_t)x : 0;
}
BINARY(f_and, (double)(bits(a[0]) & bits(a[1])))
BINARY(f_or, (double)(bits(a[0]) | bits(a[1])))
BINARY(f_xor, (double)(bits(a[0]) ^ bits(a[1])))
BINARY(f_left, (double)(int64_t)((uint64_t)bits(a[0]) << (bits(a[1]) & 63)))
BINARY(f_right, (double)(bits(a[0]) >> (bits(a[1]) & 63)))
UNARY(f_isnan, isnan(a[0]) != 0)
UNARY(f_rsqrt, 1 / sqrt(a[0]))
UNARY(f_sign, (a[0] > 0) - (a[0] < 0))
UNARY(f_fma, fma(a[0], a[1], a[2]))

static const struct value_function functions[] = {
    {"+", 2, true, false, .call = f_add},
    {"-", 2, true, false, .call = f_subtract},
    {"*", 2, true, false, .call = f_multiply},
    {"/", 2, false, false, .call = f_divide},
    {"quotient", 2, true, false, .call = f_quotient},
    {"%", 2, true, false, .two = fmod},
    {"<", 2, true, true, .call = f_less},
    {"<=", 2, true, true, .call = f_less_equal},
    {">", 2, true, true, .call = f_greater},
    {">=", 2, true, true, .call = f_greater_equal},
    {"==", 2, true, true, .call = f_equal},
    {"!=", 2, true, true, .call = f_not_equal},
    {"not", 1, true, true, .call = f_not},
    {"&", 2, true, true, .call = f_and},
    {"|", 2, true, true, .call = f_or},
    {"^", 2, true, true, .call = f_xor},
    {"<<", 2, true, true, .call = f_left},
    {">>", 2, true, true, .call = f_right},
    {"exp2", 1, false, false, .one = exp2},
    {"expm1", 1, false, false, .one = expm1},
    {"log2", 1, false, false, .one = log2},
    {"log10", 1, false, false, .one = log10},
    {"log1p", 1, false, false, .one = log1p},
    {"asin", 1, false, false, .one = asin},
    {"acos", 1, false, false, .one = acos},
    {"atan", 1, false, false, .one = atan},
    {"atan2", 2, false, false, .two = atan2},
    {"sinh", 1, false, false, .one = sinh},
    {"cosh", 1, false, false, .one = cosh},
    {"erfc", 1, false, false, .one = erfc},
    {"cbrt", 1, false, false, .one = cbrt},
    {"isnan", 1, true, true, .call = f_isnan},
    {"exp", 1, false, false, .one = exp},
    {"log", 1, false, false, .one = log},
    {"sqrt", 1, false, false, .one = sqrt},
    {"rsqrt", 1, false, false, .call = f_rsqrt},
    {"sin", 1, false, false, .one = sin},
    {"cos", 1, false, false, .one = cos},
    {"tan", 1, false, false, .one = tan},
    {"tanh", 1, false, false, .one = tanh},
    {"erf", 1, false, false, .one = erf},
    {"abs", 1, true, false, .one = fabs},
    {"floor", 1, true, true, .one = floor},
    {"ceil", 1, true, true, .one = ceil},
    {"round", 1, true, true,
     .one = nearbyint}, /* ties to even, as rint() on the device */
    {"trunc", 1, true, true, .one = trunc},
    {"sign", 1, true, true, .call = f_sign},
    {"min", 2, true, false, .two = fmin},
    {"max", 2, true, false, .two = fmax},
    {"pow", 2, false, false, .two = pow},
    {"fma", 3, true, false, .call = f_fma},
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

bool expression_word_is(const char *name, size_t len, const char *word) {
    return strlen(word) == len && !memcmp(name, word, len);
}

const struct value_function *value_function_find(const char *name, size_t len) {
    return list_find(one, functions, ARRAY_LEN(functions),
                     expression_word_is(name, len, one->name));
}

const struct value_fold *value_fold_find(const char *name, size_t len) {
    return list_find(one, folds, ARRAY_LEN(folds),
                     expression_word_is(name, len, one->name));
}

bool value_constant_find(const char *name, size_t len, double *ret) {
    static const struct {
        const char *name;
        double value;
    } constants[] = {{"pi", M_PI}, {"inf", INFINITY}, {"nan", NAN}};
    for (size_t i = 0; i < ARRAY_LEN(constants); i++) {
        if (expression_word_is(name, len, constants[i].name)) {
            *ret = constants[i].value;
            return true;
        }
    }
    return false;
}
