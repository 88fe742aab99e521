/* Constant expressions of PTX: those of C on 64-bit integers, and float literals. */
#include "gpu/ptx/read/ptx_reader.h"

#define MAX_NESTING 64

struct constant_value {
    struct ptx_constant c;
    bool is_unsigned;
};

static bool parse_expression(struct ptx_reader *r, int precedence, unsigned depth,
                             struct constant_value *ret);

static bool read_number(struct ptx_reader *r, struct ptx_token t,
                        struct constant_value *ret) {
    struct ptx_number n;
    if (!ptx_number_read(ptx_spelling(r, t), t.len, &n)) {
        return ptx_fail(r, -EINVAL, "'%.*s' is not a number", ptx_shown(t),
                        ptx_spelling(r, t));
    }
    ret->c.bits = n.bits;
    ret->c.kind = n.kind == PTX_NUMBER_SINGLE   ? PTX_CONSTANT_SINGLE
                  : n.kind == PTX_NUMBER_DOUBLE ? PTX_CONSTANT_DOUBLE
                                                : PTX_CONSTANT_INTEGER;
    ret->is_unsigned = n.kind == PTX_NUMBER_UNSIGNED;
    ptx_next(r);
    return true;
}

/* `(.s64) x`, `(.u64) x` or a bracketed expression. */
static bool parse_bracket(struct ptx_reader *r, unsigned depth,
                          struct constant_value *ret) {
    bool to_signed = ptx_at_word(r, "s64"), to_unsigned = ptx_at_word(r, "u64");
    if (!to_signed && !to_unsigned) {
        return parse_expression(r, 0, depth, ret) && ptx_expect(r, ')');
    }
    ptx_next(r);
    if (!ptx_expect(r, ')') || !parse_expression(r, 100, depth, ret)) {
        return false;
    }
    ret->is_unsigned = to_unsigned;
    return true;
}

static bool apply_unary(struct ptx_reader *r, int op, struct constant_value *v) {
    if (v->c.kind != PTX_CONSTANT_INTEGER) {
        uint64_t sign = v->c.kind == PTX_CONSTANT_SINGLE ? 1ull << 31 : 1ull << 63;
        if (op != '-' && op != '+') {
            return ptx_fail(r, -EINVAL, "'%c' of a float", op);
        }
        v->c.bits ^= op == '-' ? sign : 0;
        return true;
    }
    uint64_t bits = v->c.bits;
    v->c.bits = op == '-' ? -bits : op == '~' ? ~bits : op == '!' ? !bits : bits;
    v->is_unsigned = v->is_unsigned && op != '!';
    return true;
}

static bool parse_unary(struct ptx_reader *r, unsigned depth,
                        struct constant_value *ret) {
    *ret = (struct constant_value){0};
    if (depth > MAX_NESTING) {
        return ptx_fail(r, -EFBIG, "an expression is nested deeper than %d", MAX_NESTING);
    }
    struct ptx_token t = r->token;
    switch (t.kind) {
    case PTX_TOKEN_NUMBER:
        return read_number(r, t, ret);
    case '(':
        ptx_next(r);
        return parse_bracket(r, depth + 1, ret);
    case '-':
    case '+':
    case '!':
    case '~':
        ptx_next(r);
        return parse_unary(r, depth + 1, ret) && apply_unary(r, t.kind, ret);
    case PTX_TOKEN_NAME:
        if (ptx_at_name(r, "WARP_SZ")) {
            ptx_next(r);
            ret->c.bits = 32;
            return true;
        }
        break;
    default:
        break;
    }
    return ptx_fail_expected(r, "a constant");
}

static int precedence_of(int op) {
    switch (op) {
    case '?':
        return 1;
    case PTX_TOKEN_OR:
        return 2;
    case PTX_TOKEN_AND:
        return 3;
    case '|':
        return 4;
    case '^':
        return 5;
    case '&':
        return 6;
    case PTX_TOKEN_EQUAL:
    case PTX_TOKEN_NOT_EQUAL:
        return 7;
    case '<':
    case '>':
    case PTX_TOKEN_LESS_EQUAL:
    case PTX_TOKEN_GREATER_EQUAL:
        return 8;
    case PTX_TOKEN_SHIFT_LEFT:
    case PTX_TOKEN_SHIFT_RIGHT:
        return 9;
    case '+':
    case '-':
        return 10;
    case '*':
    case '/':
    case '%':
        return 11;
    default:
        return -1;
    }
}

static uint64_t compare(int op, const struct constant_value *a,
                        const struct constant_value *b, bool is_unsigned) {
    uint64_t x = a->c.bits, y = b->c.bits;
    bool less = is_unsigned ? x < y : (int64_t)x < (int64_t)y;
    switch (op) {
    case '<':
        return less;
    case '>':
        return !less && x != y;
    case PTX_TOKEN_LESS_EQUAL:
        return less || x == y;
    default:
        return !less;
    }
}

static uint64_t shift(int op, const struct constant_value *a, uint64_t by) {
    uint64_t x = a->c.bits;
    by = by > 63 ? 63 : by; /* over the width is undefined in PTX: clamp */
    return op == PTX_TOKEN_SHIFT_LEFT ? x << by
           : a->is_unsigned           ? x >> by
                                      : (uint64_t)((int64_t)x >> by);
}

static bool divide(struct ptx_reader *r, int op, uint64_t x, uint64_t y, bool is_unsigned,
                   uint64_t *ret) {
    if (y == 0) {
        return ptx_fail(r, -EINVAL, "a constant is divided by 0");
    }
    if (!is_unsigned && y == UINT64_MAX) {
        *ret = op == '/' ? -x : 0; /* INT64_MIN / -1 wraps */
    } else if (is_unsigned) {
        *ret = op == '/' ? x / y : x % y;
    } else {
        int64_t a = (int64_t)x, b = (int64_t)y;
        *ret = (uint64_t)(op == '/' ? a / b : a % b);
    }
    return true;
}

/* The operators whose result is as signed as the operands: all but comparisons. */
static bool apply_arithmetic(struct ptx_reader *r, int op, uint64_t x, uint64_t y,
                             bool is_unsigned, uint64_t *ret) {
    switch (op) {
    case '+':
        *ret = x + y;
        return true;
    case '-':
        *ret = x - y;
        return true;
    case '*':
        *ret = x * y;
        return true;
    case '&':
        *ret = x & y;
        return true;
    case '|':
        *ret = x | y;
        return true;
    case '^':
        *ret = x ^ y;
        return true;
    default:
        return divide(r, op, x, y, is_unsigned, ret);
    }
}

static bool apply_binary(struct ptx_reader *r, int op, struct constant_value *a,
                         const struct constant_value *b) {
    if (a->c.kind != PTX_CONSTANT_INTEGER || b->c.kind != PTX_CONSTANT_INTEGER) {
        return ptx_fail(r, -ENOTSUP, "arithmetic on float constants");
    }
    uint64_t x = a->c.bits, y = b->c.bits;
    bool is_unsigned = a->is_unsigned || b->is_unsigned;
    switch (op) {
    case PTX_TOKEN_SHIFT_LEFT:
    case PTX_TOKEN_SHIFT_RIGHT:
        a->c.bits = shift(op, a, y);
        return true;
    case PTX_TOKEN_OR:
        a->c.bits = x || y;
        break;
    case PTX_TOKEN_AND:
        a->c.bits = x && y;
        break;
    case PTX_TOKEN_EQUAL:
        a->c.bits = x == y;
        break;
    case PTX_TOKEN_NOT_EQUAL:
        a->c.bits = x != y;
        break;
    case '<':
    case '>':
    case PTX_TOKEN_LESS_EQUAL:
    case PTX_TOKEN_GREATER_EQUAL:
        a->c.bits = compare(op, a, b, is_unsigned);
        break;
    default:
        a->is_unsigned = is_unsigned;
        return apply_arithmetic(r, op, x, y, is_unsigned, &a->c.bits);
    }
    a->is_unsigned = false;
    return true;
}

static bool parse_choice(struct ptx_reader *r, unsigned depth,
                         struct constant_value *condition) {
    struct constant_value yes, no;
    if (condition->c.kind != PTX_CONSTANT_INTEGER) {
        return ptx_fail(r, -EINVAL, "the condition before '?' is a float");
    }
    if (!parse_expression(r, 0, depth, &yes) || !ptx_expect(r, ':') ||
        !parse_expression(r, 1, depth, &no)) {
        return false;
    }
    *condition = condition->c.bits ? yes : no;
    return true;
}

/* Operators that bind at least as strongly as `precedence`. */
static bool parse_expression(struct ptx_reader *r, int precedence, unsigned depth,
                             struct constant_value *ret) {
    if (!parse_unary(r, depth + 1, ret)) {
        return false;
    }
    for (;;) {
        int op = r->token.kind, own = precedence_of(op);
        if (own < 0 || own < precedence) {
            return r->code == 0;
        }
        ptx_next(r);
        struct constant_value right;
        bool ok = op == '?' ? parse_choice(r, depth + 1, ret)
                            : parse_expression(r, own + 1, depth + 1, &right) &&
                                  apply_binary(r, op, ret, &right);
        if (!ok) {
            return false;
        }
    }
}

bool ptx_parse_constant(struct ptx_reader *r, struct ptx_constant *ret) {
    struct constant_value v;
    if (!parse_expression(r, 0, 0, &v)) {
        return false;
    }
    *ret = v.c;
    return true;
}

bool ptx_parse_integer(struct ptx_reader *r, int64_t *ret) {
    struct ptx_constant c;
    if (!ptx_parse_constant(r, &c)) {
        return false;
    }
    if (c.kind != PTX_CONSTANT_INTEGER) {
        return ptx_fail(r, -EINVAL, "expected an integer, got a float");
    }
    *ret = (int64_t)c.bits;
    return true;
}

bool ptx_parse_count(struct ptx_reader *r, uint64_t max, uint64_t *ret) {
    int64_t value = 0;
    if (!ptx_parse_integer(r, &value)) {
        return false;
    }
    if ((uint64_t)value > max) {
        return ptx_fail(r, -EFBIG, "%lld is out of range, at most %llu here",
                        (long long)value, (unsigned long long)max);
    }
    *ret = (uint64_t)value;
    return true;
}
