#include "gpu/host/amount.h"

#include <stdio.h>

struct amount amount_number(int64_t value) {
    return (struct amount){.value = value, .multiplier = value};
}

/* A text that is too long, or of no use any more, leaves the number. */
static void amount_set(struct amount *a, int form, const char *x, const char *between,
                       const char *y, const char *behind) {
    char text[2 * AMOUNT_WRITTEN];
    int n = snprintf(text, sizeof text, "%s%s%s%s", x, between, y, behind);
    if (n <= 0 || n >= AMOUNT_TEXT) {
        *a = amount_number(a->value);
        return;
    }
    memcpy(a->text, text, (size_t)n + 1);
    a->form = form;
    a->multiplier = 1;
}

void amount_write(const struct amount *a, char ret[AMOUNT_WRITTEN]) {
    if (!*a->text) {
        snprintf(ret, AMOUNT_WRITTEN, "%lld", (long long)a->value);
    } else if (a->multiplier == 1) {
        snprintf(ret, AMOUNT_WRITTEN, "%s", a->text);
    } else {
        bool sum = a->form == AMOUNT_SUM;
        snprintf(ret, AMOUNT_WRITTEN, sum ? "(%s) * %lld" : "%s * %lld", a->text,
                 (long long)a->multiplier);
    }
}

/* Its text as a part of a product. */
static void factor_write(const struct amount *a, bool divisor,
                         char ret[AMOUNT_TEXT + 40]) {
    char text[AMOUNT_WRITTEN];
    amount_write(a, text);
    bool whole =
        *a->text && (a->form == AMOUNT_SUM
                         ? a->multiplier == 1 || divisor
                         : divisor && (a->form != AMOUNT_WORD || a->multiplier != 1));
    snprintf(ret, AMOUNT_TEXT + 40, whole ? "(%s)" : "%s", text);
}

bool amount_multiply(struct amount *a, const struct amount *b) {
    struct amount left = *a, right = *b;
    int64_t value, multiplier;
    if (__builtin_mul_overflow(a->value, b->value, &value) ||
        __builtin_mul_overflow(a->multiplier, b->multiplier, &multiplier)) {
        return false;
    }
    if (!*left.text || !*right.text) {
        *a = *left.text ? left : right;
        a->value = value;
        a->multiplier = multiplier;
        return true;
    }
    char x[AMOUNT_TEXT + 40], y[AMOUNT_TEXT + 40];
    left.multiplier = right.multiplier = 1;
    factor_write(&left, false, x);
    factor_write(&right, false, y);
    bool divides =
        strpbrk(y, "/%") != NULL && *y != '('; /* a * b / c is not a * (b / c) */
    a->value = value;
    amount_set(a, AMOUNT_PRODUCT, x, divides ? " * (" : " * ", y, divides ? ")" : "");
    if (*a->text) {
        a->multiplier = multiplier;
    }
    return true;
}

/* The quotient of the smallest number and -1 is none, and a processor faults on it. */
static bool can_divide(int64_t a, int64_t b) {
    return b != 0 && (b != -1 || a != INT64_MIN);
}

bool amount_by(struct amount *a, const struct amount *b) {
    char x[AMOUNT_TEXT + 40], y[AMOUNT_TEXT + 40];
    if (!can_divide(a->value, b->value) || !can_divide(a->multiplier, b->value)) {
        return false;
    }
    if (!*b->text && *a->text && a->multiplier % b->value == 0) {
        a->value /= b->value;
        a->multiplier /= b->value;
        return true;
    }
    int64_t value = a->value / b->value;
    if (!*a->text && !*b->text) {
        *a = amount_number(value);
        return true;
    }
    factor_write(a, false, x);
    factor_write(b, true, y);
    a->value = value;
    amount_set(a, AMOUNT_PRODUCT, x, " / ", y, "");
    return true;
}

bool amount_divide(struct amount *a, int64_t by) {
    const struct amount b = amount_number(by);
    return a->value % by == 0 && amount_by(a, &b);
}

bool amount_add(struct amount *a, const struct amount *b, bool minus) {
    char x[AMOUNT_WRITTEN], y[AMOUNT_TEXT + 40];
    int64_t value;
    if (minus ? __builtin_sub_overflow(a->value, b->value, &value)
              : __builtin_add_overflow(a->value, b->value, &value)) {
        return false;
    }
    if (!*a->text && !*b->text) {
        *a = amount_number(value);
        return true;
    }
    int64_t common =
        a->multiplier == b->multiplier && *a->text && *b->text ? a->multiplier : 1;
    struct amount left = *a, right = *b;
    left.multiplier = *a->text ? a->multiplier / common : a->value;
    right.multiplier = *b->text ? b->multiplier / common : b->value;
    amount_write(&left, x);
    if (minus) {
        factor_write(&right, right.form == AMOUNT_SUM, y);
    } else {
        amount_write(&right, y);
    }
    a->value = value;
    amount_set(a, AMOUNT_SUM, x, minus ? " - " : " + ", y, "");
    if (*a->text) {
        a->multiplier = common;
    }
    return true;
}

/* "NAME(a, b)" of the two; of numbers the number. */
void amount_call(struct amount *a, const struct amount *b, const char *name,
                 int64_t value) {
    char x[AMOUNT_WRITTEN], y[AMOUNT_WRITTEN], begin[AMOUNT_WRITTEN + 16];
    bool plain = !*a->text && !*b->text;
    amount_write(a, x);
    amount_write(b, y);
    *a = amount_number(value);
    if (!plain) {
        snprintf(begin, sizeof begin, "%.12s(%s", name, x);
        amount_set(a, AMOUNT_WORD, begin, ", ", y, ")");
    }
}

bool amount_remainder(struct amount *a, const struct amount *b) {
    if (!can_divide(a->value, b->value)) {
        return false;
    }
    char x[AMOUNT_TEXT + 40], y[AMOUNT_TEXT + 40];
    bool plain = !*a->text && !*b->text;
    int64_t value = a->value % b->value;
    factor_write(a, false, x);
    factor_write(b, true, y);
    *a = amount_number(value);
    if (!plain) {
        amount_set(a, AMOUNT_PRODUCT, x, " % ", y, "");
    }
    return true;
}
