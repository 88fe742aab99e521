#include "gpu/host/host_amount.h"

#include "base/find.h"
#include "gpu/host/host_type.h"

#include <stdio.h>

#define NESTED_MAX 24
#define EXPRESSION_COST 256 /* tokens that could be looked at in the same time */
#define STANDS_IN 256       /* for a size that nobody tells */

struct reader {
    struct host_program *p;
    struct host_sizes *sizes;
    struct place at; /* from: the next token */
    unsigned nested;
};

static bool read_sum(struct reader *r, struct amount *ret);
static bool read_place(struct reader *r, const struct place *place, struct amount *ret);
static bool extents_of(struct reader *r, const struct place *place, struct amount ret[3]);

/* --- sizes --- */

#define MACRO_SIZE SIZE_MAX /* instead of a variable's token: its word tells it */

static struct host_size *size_find(struct host_sizes *s, size_t variable, uint64_t word) {
    return list_find(one, s->list, s->count,
                     one->variable == variable &&
                         (variable != MACRO_SIZE || one->word == word));
}

/* By another size, or by a function of check specs. */
static bool name_taken(const struct host_sizes *s, const char *name) {
    return !strcmp(name, "min") || !strcmp(name, "max") || !strcmp(name, "ceil_div") ||
           any_of(i, 0, s->count, !strcmp(s->list[i].name, name));
}

/* A size of this name and value; the number where it can be none. */
static struct amount size_amount(struct reader *r, const struct place *word,
                                 size_t variable, int64_t value, bool stands_in) {
    struct host_sizes *s = r->sizes;
    uint64_t hash = code_token_hash(word->t, word->from);
    struct host_size *size = size_find(s, variable, hash);
    const struct code_token *token = &word->t->list[word->from];
    char name[HOST_SIZE_NAME];
    int n = snprintf(name, sizeof name, "%.*s", (int)(token->end - token->start),
                     word->t->text + token->start);
    if (!size && s->count < HOST_SIZES_MAX && n < HOST_SIZE_NAME &&
        !name_taken(s, name)) {
        size = &s->list[s->count++];
        *size = (struct host_size){
            .variable = variable, .value = value, .word = hash, .stands_in = stands_in};
        memcpy(size->name, name, sizeof name);
    }
    struct amount a = amount_number(size ? size->value : value);
    if (size) {
        size->fixed |= s->fixes;
    }
    if (size && !size->fixed) {
        a.multiplier = 1;
        memcpy(a.text, size->name, sizeof size->name);
    }
    return a;
}

/* --- expressions --- */

static enum code_word word(const struct reader *r) {
    return r->at.from < r->at.to ? code_word(r->at.t, r->at.from) : WORD_END;
}

static bool spelt(const struct reader *r, const char *text) {
    return r->at.from < r->at.to && code_token_is(r->at.t, r->at.from, text);
}

static bool accept(struct reader *r, const char *text) {
    bool is = spelt(r, text);
    r->at.from += is;
    return is;
}

/* 1024, 1u, 1.0f: a whole number, however it is written. */
static bool read_number(struct reader *r, struct amount *ret) {
    const struct code_token *token = &r->at.t->list[r->at.from++];
    char text[64], *rest;
    size_t n = 0;
    for (size_t i = token->start; i < token->end && n < sizeof text - 1; i++) {
        if (r->at.t->text[i] != '\'') {
            text[n++] = r->at.t->text[i];
        }
    }
    text[n] = '\0';
    long long value = strtoll(text, &rest, 0);
    if (rest[strspn(rest, "uUlLzZ")] != '\0') {
        double real = strtod(text, &rest);
        value = real >= -1e15 && real <= 1e15 ? (long long)real : 0;
        if ((double)value != real || rest[strspn(rest, "fFlL")] != '\0') {
            return false;
        }
    }
    *ret = amount_number(value);
    return true;
}

static struct place rest_of_brackets(struct reader *r) {
    struct place inside = host_inside(&r->at, r->at.from);
    r->at.from = inside.to + 1;
    return inside;
}

static bool read_sizeof(struct reader *r, struct amount *ret) {
    const struct place place = rest_of_brackets(r);
    int64_t bytes = host_sizeof(r->p, &place);
    *ret = amount_number(bytes);
    return bytes > 0;
}

/* Whether the brackets at the next token hold a type alone: a cast. */
static bool is_cast(const struct reader *r) {
    const struct place inside = host_inside(&r->at, r->at.from);
    size_t i = inside.from;
    bool type = false;
    for (; i < inside.to; i++) {
        enum code_word w = code_word(inside.t, i);
        type |= w == WORD_TYPE || code_token_is(inside.t, i, "size_t");
        if (w != WORD_TYPE && w != WORD_CONST && w != WORD_NAME && w != WORD_SCOPE) {
            return false;
        }
    }
    return type;
}

/* ceil(a / b), with whatever casts. */
static bool read_ceil(struct reader *r, const struct place *inside, struct amount *ret) {
    struct place left = *inside, right = *inside;
    struct amount divisor;
    int depth = 0;
    left.to = 0;
    for (size_t i = inside->from; i < inside->to; i++) {
        enum code_word w = code_word(inside->t, i);
        depth += w == WORD_PAREN_OPEN;
        depth -= w == WORD_PAREN_CLOSE;
        if (depth == 0 && code_token_is(inside->t, i, "/")) {
            left.to = i;
            right.from = i + 1;
        }
    }
    if (!left.to || !read_place(r, &left, ret) || !read_place(r, &right, &divisor) ||
        ret->value < 0 || divisor.value <= 0) {
        return false;
    }
    amount_call(ret, &divisor, "ceil_div",
                ret->value / divisor.value + (ret->value % divisor.value != 0));
    return true;
}

/* The two of min(a, b). */
static bool read_pair(struct reader *r, const struct place *list, struct amount pair[2]) {
    struct place part;
    return !any_of(i, 0, 2,
                   !host_part(list, i, &part) || !read_place(r, &part, &pair[i])) &&
           !host_part(list, 2, &part);
}

static bool read_least(struct reader *r, const struct place *list, bool most,
                       struct amount *ret) {
    struct amount pair[2];
    if (!read_pair(r, list, pair)) {
        return false;
    }
    bool second = (pair[1].value > pair[0].value) == most;
    *ret = pair[0];
    amount_call(ret, &pair[1], most ? "max" : "min", pair[second].value);
    return true;
}

/* A function of one return, as ceil_div is mostly written. */
static bool read_function(struct reader *r, const struct place *call,
                          struct amount *ret) {
    const struct declaration *d = host_function_find(r->p, call->t, call->from);
    const struct code_tokens *t = &r->p->b.tokens;
    const struct host_frame *f =
        d && !d->has_global ? host_frame_call(r->p, d, call) : NULL;
    size_t i = f ? d->body + 1 : 0;
    if (!f || !code_token_is(t, i, "return")) {
        return false;
    }
    struct place value = {f, t, i + 1, i + 1, i};
    while (value.to < d->body_end && code_word(t, value.to) != WORD_SEMICOLON) {
        value.to++;
    }
    return value.to + 1 == d->body_end && read_place(r, &value, ret);
}

/* A call of the name at the next token. */
static bool read_call(struct reader *r, struct amount *ret) {
    struct place call = r->at, made;
    size_t name = r->at.from, open = name + 1;
    if (code_word(r->at.t, open) == WORD_LESS) {
        open = code_angles_end(r->at.t, open) + 1;
    }
    call.to = open;
    r->at.from = open;
    const struct place inside = rest_of_brackets(r);
    if (code_token_in(call.t, name, "ceil ceilf")) {
        return read_ceil(r, &inside, ret);
    }
    bool most = code_token_is(call.t, name, "max");
    if (most || code_token_is(call.t, name, "min")) {
        return read_least(r, &inside, most, ret);
    }
    if (code_token_in(call.t, name, "static_cast size_t")) {
        return read_place(r, &inside, ret);
    }
    return host_expand(r->p, &call, &made) ? read_place(r, &made, ret)
                                           : read_function(r, &call, ret);
}

/* NAME.x of a dim3. */
static bool read_member(struct reader *r, const struct place *name, struct amount *ret) {
    struct amount extents[3];
    struct reader inner = *r;
    char member = code_word(r->at.t, r->at.from + 1) == WORD_NAME
                      ? r->at.t->text[r->at.t->list[r->at.from + 1].start]
                      : 0;
    const struct place one = {name->frame, name->t, name->from, name->from + 1,
                              name->before};
    r->at.from += 2;
    if (member < 'x' || member > 'z' || !extents_of(&inner, &one, extents)) {
        return false;
    }
    *ret = extents[member - 'x'];
    return true;
}

/* The element of a list in braces that [i] behind the name picks. */
static bool read_element(struct reader *r, const struct place *list, struct amount *ret) {
    const struct place index = rest_of_brackets(r);
    struct amount i;
    struct place part, inner = *list;
    if (code_word(list->t, list->from) == WORD_BRACE_OPEN) {
        inner = host_inside(list, list->from);
    }
    return read_place(r, &index, &i) && i.value >= 0 &&
           host_part(&inner, (size_t)i.value, &part) && read_place(r, &part, ret);
}

static bool is_one_number(const struct place *v) {
    return v->to == v->from + 1 && code_word(v->t, v->from) == WORD_NUMBER;
}

/* Only what nothing on the device is written for may have other values. */
static bool may_vary(const struct reader *r, enum host_found found,
                     const struct place *name) {
    return found == HOST_VALUE ||
           !host_is_device_word(r->p, code_token_hash(name->t, name->from));
}

/* argv[1], atoi(…), a parameter of what nobody calls: some number from outside. */
static bool comes_from_outside(const struct place *v) {
    return any_of(i, v->from, v->to, code_token_in(v->t, i, "argv optarg"));
}

/* Whether the value is made of other variables: it varies with them, or not at all. */
static bool is_derived(struct reader *r, const struct place *value) {
    struct place one = *value, other;
    size_t variable;
    for (; one.from < value->to; one.from++) {
        one.to = one.from + 1;
        enum host_found found = code_word(one.t, one.from) == WORD_NAME
                                    ? host_look_up(r->p, &one, &other, &variable)
                                    : HOST_NOTHING;
        if (found == HOST_VALUE || found == HOST_PARAMETER) {
            return true;
        }
    }
    return false;
}

static bool read_name(struct reader *r, struct amount *ret) {
    const struct place name = r->at;
    struct place value;
    size_t variable;
    enum code_word after =
        name.from + 1 < name.to ? code_word(name.t, name.from + 1) : WORD_END;
    if (after == WORD_PAREN_OPEN || after == WORD_LESS) {
        size_t end = after == WORD_LESS ? code_angles_end(name.t, name.from + 1) : 0;
        if (after == WORD_PAREN_OPEN ||
            (end > name.from + 1 && code_word(name.t, end + 1) == WORD_PAREN_OPEN)) {
            return read_call(r, ret);
        }
    }
    r->at.from++;
    if (after == WORD_DOT) {
        return read_member(r, &name, ret);
    }
    enum host_found found = host_look_up(r->p, &name, &value, &variable);
    if (found == HOST_PARAMETER ||
        (found == HOST_VALUE && variable && comes_from_outside(&value))) {
        *ret = size_amount(r, &name, variable, STANDS_IN, true);
        return !r->p->certain;
    }
    if (found == HOST_NOTHING) {
        return false;
    }
    if (after == WORD_BRACKET_OPEN) {
        return read_element(r, &value, ret);
    }
    if (!read_place(r, &value, ret)) {
        return false;
    }
    bool plain =
        !*ret->text && (variable ? !is_derived(r, &value) : is_one_number(&value));
    if (plain && may_vary(r, found, &name)) {
        *ret = size_amount(r, &name, variable ? variable : MACRO_SIZE, ret->value, false);
    }
    return true;
}

static bool read_factor(struct reader *r, struct amount *ret) {
    while (code_token_is(r->at.t, r->at.from, "std") || word(r) == WORD_SCOPE) {
        r->at.from++;
    }
    if (accept(r, "-")) {
        const struct amount minus = amount_number(-1);
        return read_factor(r, ret) && amount_multiply(ret, &minus);
    }
    if (spelt(r, "true") || spelt(r, "false")) {
        *ret = amount_number(spelt(r, "true"));
        r->at.from++;
        return true;
    }
    if (accept(r, "sizeof")) {
        return word(r) == WORD_PAREN_OPEN && read_sizeof(r, ret);
    }
    if (word(r) == WORD_PAREN_OPEN) {
        bool cast = is_cast(r);
        const struct place inside = rest_of_brackets(r);
        return cast ? read_factor(r, ret) : read_place(r, &inside, ret);
    }
    if (word(r) == WORD_TYPE) { /* int(x) */
        r->at.from++;
        const struct place inside = rest_of_brackets(r);
        return read_place(r, &inside, ret);
    }
    return word(r) == WORD_NUMBER ? read_number(r, ret)
                                  : word(r) == WORD_NAME && read_name(r, ret);
}

static bool read_product(struct reader *r, struct amount *ret) {
    bool good = read_factor(r, ret);
    struct amount b;
    while (good) {
        if (accept(r, "*")) {
            good = read_factor(r, &b) && amount_multiply(ret, &b);
        } else if (accept(r, "/")) {
            good = read_factor(r, &b) && amount_by(ret, &b);
        } else if (accept(r, "%")) {
            good = read_factor(r, &b) && amount_remainder(ret, &b);
        } else {
            break;
        }
    }
    return good;
}

static bool read_terms(struct reader *r, struct amount *ret) {
    bool good = read_product(r, ret);
    struct amount b;
    while (good && (spelt(r, "+") || spelt(r, "-"))) {
        bool minus = spelt(r, "-");
        r->at.from++;
        good = read_product(r, &b) && amount_add(ret, &b, minus);
    }
    return good;
}

/* a << 3, a >> 1. */
static bool read_sum(struct reader *r, struct amount *ret) {
    bool good = read_terms(r, ret);
    struct amount b;
    while (good && (spelt(r, "<<") || word(r) == WORD_SHIFT_RIGHT)) {
        bool left = spelt(r, "<<");
        r->at.from++;
        good = read_terms(r, &b) && !*b.text && b.value >= 0 && b.value < 62;
        const struct amount power = amount_number(good ? INT64_C(1) << b.value : 1);
        good = good && (left ? amount_multiply(ret, &power) : amount_by(ret, &power));
    }
    return good;
}

static bool compare(struct reader *r, const struct amount *a, bool *ret) {
    static const char *const signs[] = {"<=", ">=", "==", "!=", "<", ">"};
    struct amount b = amount_number(0);
    size_t i = 0;
    while (i < ARRAY_LEN(signs) && !accept(r, signs[i])) {
        i++;
    }
    if (i == ARRAY_LEN(signs)) {
        *ret = a->value != 0;
        return true;
    }
    int64_t x = a->value;
    if (!read_sum(r, &b)) {
        return false;
    }
    const bool results[] = {x <= b.value, x >= b.value, x == b.value, x != b.value,
                            x<b.value, x> b.value};
    *ret = results[i];
    return true;
}

/* The ? outside of brackets; 0: there is none. */
static size_t question_in(const struct place *place) {
    int depth = 0;
    for (size_t i = place->from; i < place->to; i++) {
        enum code_word w = code_word(place->t, i);
        depth += (w == WORD_PAREN_OPEN) - (w == WORD_PAREN_CLOSE);
        if (depth == 0 && code_token_is(place->t, i, "?")) {
            return i;
        }
    }
    return 0;
}

static bool read_condition(struct reader *r, const struct place *place, bool *ret) {
    struct reader inner = *r;
    struct amount left;
    inner.at = *place;
    while (code_word(place->t, inner.at.from) == WORD_PAREN_OPEN &&
           host_close(place->t, inner.at.from) + 1 == inner.at.to) {
        inner.at.from++;
        inner.at.to--;
    }
    return inner.at.from < inner.at.to && read_sum(&inner, &left) &&
           compare(&inner, &left, ret) && inner.at.from == inner.at.to;
}

/* a ? b : c is what it is for these sizes alone. */
static bool read_choice(struct reader *r, const struct place *place, size_t question,
                        struct amount *ret) {
    struct place condition = *place, part = *place;
    bool fixes = r->sizes->fixes, yes = false;
    size_t colon = question;
    while (colon < place->to && code_word(place->t, colon) != WORD_COLON) {
        colon++;
    }
    r->sizes->fixes = true;
    condition.to = question;
    bool good = read_condition(r, &condition, &yes);
    part.from = yes ? question + 1 : colon + 1;
    part.to = yes ? colon : place->to;
    good = good && read_place(r, &part, ret);
    r->sizes->fixes = fixes;
    return good;
}

/* Decimals divide in their own way. */
static bool has_decimals(const struct place *place) {
    for (size_t i = place->from; i < place->to; i++) {
        const struct code_token *token = &place->t->list[i];
        const char *s = place->t->text + token->start;
        size_t len = token->end - token->start;
        if (code_token_is(place->t, i, "sizeof")) {
            i = host_close(place->t, i + 1);
        } else if (token->word == WORD_NUMBER
                       ? memchr(s, '.', len) ||
                             (memchr(s, 'e', len) && !memchr(s, 'x', len))
                       : code_token_in(place->t, i, "float double ceil ceilf")) {
            return true;
        }
    }
    return false;
}

static bool read_place(struct reader *r, const struct place *place, struct amount *ret) {
    struct reader inner = {r->p, r->sizes, *place, r->nested + 1};
    size_t question = question_in(place);
    r->p->looked += EXPRESSION_COST;
    if (inner.nested > NESTED_MAX || place->from >= place->to ||
        r->p->looked > HOST_LOOKED_MAX || (r->p->certain && has_decimals(place))) {
        return false;
    }
    return question ? read_choice(&inner, place, question, ret)
                    : read_sum(&inner, ret) && inner.at.from == inner.at.to;
}

bool host_amount(struct host_program *p, struct host_sizes *sizes,
                 const struct place *place, struct amount *ret) {
    struct reader r = {p, sizes, *place, 0};
    return read_place(&r, place, ret);
}

/* --- extents --- */

static bool is_dim3(const struct host_program *p, size_t variable) {
    return variable && code_token_is(&p->b.tokens, variable - 1, "dim3");
}

static bool extents_of(struct reader *r, const struct place *place,
                       struct amount ret[3]) {
    struct place list = *place, part, value;
    size_t variable, n = 0;
    ret[0] = ret[1] = ret[2] = amount_number(1);
    if (r->nested++ > NESTED_MAX) {
        return false;
    }
    if (code_token_is(list.t, list.from, "dim3")) {
        list.from++;
    }
    if ((list.from > place->from || code_word(list.t, list.from) == WORD_BRACE_OPEN) &&
        host_close(list.t, list.from) + 1 == list.to) {
        list = host_inside(&list, list.from);
    }
    if (list.to == list.from + 1 && code_word(list.t, list.from) == WORD_NAME) {
        enum host_found found = host_look_up(r->p, &list, &value, &variable);
        bool dims =
            (found == HOST_VALUE || found == HOST_CONSTANT) &&
            (host_part(&value, 1, &part) || is_dim3(r->p, variable) ||
             code_token_is(value.t, value.from, "dim3") ||
             code_word(value.t, value.from) == WORD_BRACE_OPEN ||
             (value.to == value.from + 1 && code_word(value.t, value.from) == WORD_NAME));
        if (dims) {
            return extents_of(r, &value, ret);
        }
    }
    for (; n < 3 && host_part(&list, n, &part); n++) {
        if (!read_place(r, &part, &ret[n])) {
            return false;
        }
    }
    return n > 0 && !host_part(&list, 3, &part);
}

bool host_extents(struct host_program *p, struct host_sizes *sizes,
                  const struct place *place, struct amount ret[3]) {
    struct reader r = {p, sizes, *place, 0};
    return extents_of(&r, place, ret);
}

/* --- decimals --- */

static bool decimal_of(struct host_program *p, struct place at, double *ret,
                       unsigned nested) {
    struct place value;
    size_t variable;
    double sign = 1;
    if (at.from < at.to && code_token_is(at.t, at.from, "-")) {
        sign = -1;
        at.from++;
    }
    if (at.to != at.from + 1 || nested > NESTED_MAX) {
        return false;
    }
    if (code_word(at.t, at.from) == WORD_NUMBER) {
        const struct code_token *token = &at.t->list[at.from];
        char text[64], *rest;
        snprintf(text, sizeof text, "%.*s", (int)(token->end - token->start),
                 at.t->text + token->start);
        *ret = sign * strtod(text, &rest);
        return rest > text && rest[strspn(rest, "fFlLuU")] == '\0';
    }
    enum host_found found = code_word(at.t, at.from) == WORD_NAME
                                ? host_look_up(p, &at, &value, &variable)
                                : HOST_NOTHING;
    bool good = (found == HOST_VALUE || found == HOST_CONSTANT) &&
                decimal_of(p, value, ret, nested + 1);
    *ret *= good ? sign : 1;
    return good;
}

bool host_decimal(struct host_program *p, const struct place *place, double *ret) {
    return decimal_of(p, *place, ret, 0);
}
