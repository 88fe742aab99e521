#pragma once
/* amount: an integer both as a number and as an expression of a check spec
 * (integer_expression.h). Arithmetic returns false if the number has no result: an
 * overflow, a division by zero. If the text grows too long, only the number is kept. */
#include "base/mem.h"

enum { AMOUNT_TEXT = 192, AMOUNT_WRITTEN = AMOUNT_TEXT + 32 };

/* multiplier * (text); text "": only the number. */
struct amount {
    int64_t value, multiplier;
    char text[AMOUNT_TEXT];
    enum { AMOUNT_WORD, AMOUNT_PRODUCT, AMOUNT_SUM } form;
};

struct amount amount_number(int64_t value);
void amount_write(const struct amount *a, char ret[AMOUNT_WRITTEN]);
bool amount_add(struct amount *a, const struct amount *b, bool minus);
bool amount_multiply(struct amount *a, const struct amount *b);
bool amount_by(struct amount *a, const struct amount *b); /* toward zero */
bool amount_remainder(struct amount *a, const struct amount *b);
/* Divides by a number, without a '/' if possible. False: there is a remainder. */
bool amount_divide(struct amount *a, int64_t by);
/* "NAME(a, b)", with this value. */
void amount_call(struct amount *a, const struct amount *b, const char *name,
                 int64_t value);
