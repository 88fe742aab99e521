#include "gpu/spec/integer_expression.h"

#include "base/err.h"
#include "gpu/spec/spec_words.h"
#include "gpu/spec/value_functions.h"

#include <ctype.h>

enum { MAX_DEPTH = 64 };

struct reader {
    const char *text, *at;
    const struct size_values *sizes;
    const char *why;  /* the first thing that went wrong */
    const char *name; /* it is about this name */
    int name_len;
    char hint[64]; /* what to write instead of it, or "" */
    unsigned depth;
    unsigned quotients; /* by '/' */
    unsigned rounded;   /* of these, the ones with a remainder */
    bool has_rest;      /* there is a '%' */
};

static int64_t read_sum(struct reader *r);

static int64_t fail(struct reader *r, const char *why) {
    if (!r->why) {
        r->why = why;
    }
    return 0;
}

static void skip_blanks(struct reader *r) {
    r->at += strspn(r->at, " \t\r\n");
}

static bool take_char(struct reader *r, char c) {
    skip_blanks(r);
    if (*r->at != c) {
        return false;
    }
    r->at++;
    return true;
}

static int64_t checked_add(struct reader *r, int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? fail(r, "the value is too large") : sum;
}

static int64_t checked_subtract(struct reader *r, int64_t a, int64_t b) {
    int64_t rest;
    return __builtin_sub_overflow(a, b, &rest) ? fail(r, "the value is too large") : rest;
}

static int64_t checked_multiply(struct reader *r, int64_t a, int64_t b) {
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? fail(r, "the value is too large")
                                                  : product;
}

static bool can_divide(struct reader *r, int64_t a, int64_t b) {
    if (!b) {
        fail(r, "division by zero");
    } else if (a == INT64_MIN && b == -1) {
        fail(r, "the value is too large");
    }
    return !r->why;
}

static int64_t read_number(struct reader *r) {
    int64_t value = 0;
    for (; isdigit((unsigned char)*r->at); r->at++) {
        value = checked_add(r, checked_multiply(r, value, 10), *r->at - '0');
    }
    return isalpha((unsigned char)*r->at) || *r->at == '.'
               ? fail(r, "only whole decimal numbers are understood")
               : value;
}

/* --- functions --- */

static int64_t ceil_div(struct reader *r, int64_t a, int64_t b) {
    if (!can_divide(r, a, b)) {
        return 0;
    }
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static int64_t read_call(struct reader *r, const char *name, size_t len) {
    bool divides = expression_word_is(name, len, "ceil_div"),
         least = expression_word_is(name, len, "min");
    if (!divides && !least && !expression_word_is(name, len, "max")) {
        char said[32];
        snprintf(said, sizeof said, "%.*s", (int)len, name);
        spec_words_size_function(said, r->hint, sizeof r->hint);
        return fail(r, "the functions are ceil_div, min and max");
    }
    int64_t result = read_sum(r);
    unsigned count = 1;
    for (; !r->why && take_char(r, ','); count++) {
        int64_t next = read_sum(r);
        if (divides) {
            result = ceil_div(r, result, next);
        } else if (least ? next < result : next > result) {
            result = next;
        }
    }
    if (!take_char(r, ')')) {
        return fail(r, "a closing parenthesis is missing");
    }
    return divides && count != 2 ? fail(r, "ceil_div takes two arguments") : result;
}

static int64_t read_name(struct reader *r) {
    const char *name = r->at;
    while (isalnum((unsigned char)*r->at) || *r->at == '_') {
        r->at++;
    }
    size_t len = (size_t)(r->at - name);
    if (take_char(r, '(')) {
        return read_call(r, name, len);
    }
    for (size_t i = 0; r->sizes && i < r->sizes->count; i++) {
        if (expression_word_is(name, len, r->sizes->list[i].name)) {
            return r->sizes->list[i].value;
        }
    }
    r->name = name;
    r->name_len = (int)len;
    return fail(r, "unknown size");
}

/* --- precedence --- */

static int64_t read_atom(struct reader *r) {
    skip_blanks(r);
    if (++r->depth > MAX_DEPTH) {
        return fail(r, "it nests too deeply");
    }
    int64_t value;
    if (isdigit((unsigned char)*r->at)) {
        value = read_number(r);
    } else if (isalpha((unsigned char)*r->at) || *r->at == '_') {
        value = read_name(r);
    } else if (take_char(r, '-')) {
        value = checked_subtract(r, 0, read_atom(r));
    } else if (take_char(r, '(')) {
        value = read_sum(r);
        if (!take_char(r, ')')) {
            fail(r, "a closing parenthesis is missing");
        }
    } else {
        value = fail(r, *r->at ? "a number or a name is expected" : "it ends too early");
    }
    r->depth--;
    return value;
}

static int64_t read_product(struct reader *r) {
    int64_t value = read_atom(r);
    while (!r->why) {
        if (take_char(r, '*')) {
            if (*r->at == '*') {
                fail(r, "there is no '**': write the product out, as in n * n");
            }
            value = checked_multiply(r, value, read_atom(r));
        } else if (take_char(r, '/')) {
            if (*r->at == '/') {
                fail(r, "there is no '//': '/' is the quotient of whole numbers");
            }
            int64_t by = read_atom(r);
            bool can = can_divide(r, value, by);
            r->quotients++;
            r->rounded += can && value % by != 0;
            value = can ? value / by : 0;
        } else if (take_char(r, '%')) {
            int64_t by = read_atom(r);
            r->has_rest = true;
            value = can_divide(r, value, by) ? value % by : 0;
        } else {
            break;
        }
    }
    return value;
}

static int64_t read_sum(struct reader *r) {
    int64_t value = read_product(r);
    while (!r->why) {
        if (take_char(r, '+')) {
            value = checked_add(r, value, read_product(r));
        } else if (take_char(r, '-')) {
            value = checked_subtract(r, value, read_product(r));
        } else {
            break;
        }
    }
    return value;
}

int integer_expression(const char *text, const struct size_values *sizes, int64_t *ret,
                       struct err *err) {
    if (strlen(text) > INTEGER_EXPRESSION_MAX) {
        return err_set(err, -EINVAL, "an expression is longer than %d bytes",
                       INTEGER_EXPRESSION_MAX);
    }
    struct reader r = {.text = text, .at = text, .sizes = sizes};
    int64_t value = read_sum(&r);
    skip_blanks(&r);
    if (!r.why && *r.at) {
        fail(&r, "an operator is missing or unknown");
    }
    if (r.name) {
        return err_set(err, -EINVAL, "cannot evaluate '%s': %s '%.*s'", text, r.why,
                       r.name_len, r.name);
    }
    if (r.why) {
        return err_set(err, -EINVAL, "cannot evaluate '%s': %s%s", text, r.why, r.hint);
    }
    *ret = value;
    return 0;
}

/* Whether it can be evaluated; *ret then knows its quotients. */
static bool read_quotients(const char *text, const struct size_values *sizes,
                           struct reader *ret) {
    *ret = (struct reader){.text = text, .at = text, .sizes = sizes};
    int64_t ignored;
    if (integer_expression(text, sizes, &ignored, NULL) < 0) {
        return false;
    }
    read_sum(ret);
    return true;
}

bool integer_expression_rounds(const char *text, const struct size_values *sizes) {
    struct reader r;
    return read_quotients(text, sizes, &r) && r.rounded;
}

bool integer_expression_divides(const char *text, const struct size_values *sizes) {
    struct reader r;
    return !read_quotients(text, sizes, &r) || r.has_rest || r.rounded < r.quotients;
}
