/* Operands of instructions, in the shapes that module.h lists. */
#include "gpu/ptx/read/ptx_names.h"
#include "gpu/ptx/read/ptx_reader.h"

#include <stdio.h>

#define MAX_ELEMENTS 512 /* of one vector: 256 of tcgen05.ld are the most in PTX 9.0 */

static bool count_operand(struct ptx_reader *r) {
    return ++r->element_count <= PTX_MAX_OPERANDS ||
           ptx_fail(r, -EFBIG, "more than %u operands", PTX_MAX_OPERANDS);
}

static bool add_operand(struct ptx_reader *r, struct ptx_instruction *i,
                        const struct ptx_operand *operand) {
    struct ptx_function *f = ptx_current(r);
    if (i->operand_count == UINT8_MAX) {
        return ptx_fail(r, -EINVAL, "more than %d operands", UINT8_MAX);
    }
    PTX_GROW(f->operands, f->operand_count);
    f->operands[f->operand_count++] = *operand;
    i->operand_count++;
    return count_operand(r);
}

static bool add_element(struct ptx_reader *r, struct ptx_operand *vector,
                        const struct ptx_operand *element) {
    struct ptx_function *f = ptx_current(r);
    if (vector->count == MAX_ELEMENTS) {
        return ptx_fail(r, -EINVAL, "a vector of more than %d elements", MAX_ELEMENTS);
    }
    if (vector->count == 0) {
        vector->first = f->element_count;
    }
    PTX_GROW(f->elements, f->element_count);
    f->elements[f->element_count++] = *element;
    vector->count++;
    return count_operand(r);
}

static bool parse_immediate(struct ptx_reader *r, struct ptx_operand *ret) {
    struct ptx_constant c;
    if (!ptx_parse_constant(r, &c)) {
        return false;
    }
    *ret = (struct ptx_operand){.kind = PTX_OPERAND_IMMEDIATE,
                                .is_float = c.kind != PTX_CONSTANT_INTEGER,
                                .is_double = c.kind == PTX_CONSTANT_DOUBLE,
                                .bits = c.bits};
    return true;
}

/* %tid.x, %laneid; or %tid alone, which is a vector. */
static bool parse_special(struct ptx_reader *r, struct ptx_token name,
                          struct ptx_operand *ret) {
    const char *text = ptx_spelling(r, name);
    uint32_t len = name.len;
    if (ptx_at(r, PTX_TOKEN_WORD) && r->token.at == name.at + name.len + 1) {
        len = name.len + 1 + r->token.len;
    }
    int special = ptx_special_find(text, len);
    if (special >= 0) {
        if (len > name.len) {
            ptx_next(r);
        }
        *ret =
            (struct ptx_operand){.kind = PTX_OPERAND_SPECIAL, .index = (uint32_t)special};
        return true;
    }
    char first[40];
    int first_len =
        snprintf(first, sizeof first, "%.*s.x", name.len < 32 ? (int)name.len : 31, text);
    special = ptx_special_find(first, (size_t)first_len);
    if (special < 0 || name.len >= 32) {
        return ptx_fail_at(r, name.line, -EINVAL, "'%.*s' is not declared",
                           ptx_shown(name), text);
    }
    *ret = (struct ptx_operand){.kind = PTX_OPERAND_VECTOR};
    for (uint32_t i = 0; i < 4; i++) { /* x, y, z, w follow each other */
        struct ptx_operand element = {.kind = PTX_OPERAND_SPECIAL,
                                      .index = (uint32_t)special + i};
        if (!add_element(r, ret, &element)) {
            return false;
        }
    }
    return true;
}

/* `v.x` … `v.w`, also `v.r` … `v.a`; or all of v. */
static bool parse_vector_register(struct ptx_reader *r, const struct ptx_symbol *symbol,
                                  struct ptx_operand *ret) {
    uint32_t index = symbol->index, count = symbol->count;
    struct ptx_operand element = {.kind = PTX_OPERAND_REGISTER, .index = index};
    if (ptx_at(r, PTX_TOKEN_WORD)) {
        static const char names[] = "xyzwrgba";
        const char *at =
            r->token.len == 1 ? strchr(names, *ptx_spelling(r, r->token)) : NULL;
        if (!at || (uint32_t)(at - names) % 4 >= count) {
            return ptx_fail_expected(r, "an element of a vector");
        }
        element.index += (uint32_t)(at - names) % 4;
        ptx_next(r);
        *ret = element;
        return true;
    }
    *ret = (struct ptx_operand){.kind = PTX_OPERAND_VECTOR};
    for (uint32_t i = 0; i < count; i++, element.index++) {
        if (!add_element(r, ret, &element)) {
            return false;
        }
    }
    return true;
}

/* `a.b0`, `a.h10` of video instructions. */
static bool parse_selector(struct ptx_reader *r, struct ptx_operand *ret) {
    if (!ptx_at(r, PTX_TOKEN_WORD)) {
        return true;
    }
    const char *word = ptx_spelling(r, r->token);
    uint32_t count = r->token.len - 1, digits = 0;
    bool right = count >= 1 && count <= 4 && (*word == 'h' || *word == 'b');
    for (uint32_t k = 1; right && k <= count; k++) {
        right = word[k] >= '0' && word[k] <= '7';
        digits = digits << 3 | (uint32_t)(word[k] - '0');
    }
    if (!right) {
        return ptx_fail_expected(r, "','");
    }
    ret->first = (*word == 'b' ? PTX_SELECTOR_BYTES : 0) | count << 12 | digits;
    ptx_next(r);
    return true;
}

static bool parse_name(struct ptx_reader *r, struct ptx_operand *ret) {
    uint32_t number;
    struct ptx_token name = r->token;
    ptx_next(r);
    if (name.len == 1 && *ptx_spelling(r, name) == '_') {
        *ret = (struct ptx_operand){.kind = PTX_OPERAND_SINK};
        return true;
    }
    const struct ptx_symbol *symbol = ptx_resolve(r, name, &number);
    if (!symbol) {
        return parse_special(r, name, ret);
    }
    *ret = (struct ptx_operand){.index = symbol->index + number};
    switch (symbol->kind) {
    case PTX_SYMBOL_REGISTER:
    case PTX_SYMBOL_RANGE:
        ret->kind = PTX_OPERAND_REGISTER;
        return parse_selector(r, ret);
    case PTX_SYMBOL_VECTOR_REGISTER:
        return parse_vector_register(r, symbol, ret);
    case PTX_SYMBOL_VARIABLE:
        ret->kind = PTX_OPERAND_SYMBOL;
        return true;
    case PTX_SYMBOL_FUNCTION:
        ret->kind = PTX_OPERAND_FUNCTION;
        return true;
    case PTX_SYMBOL_TABLE:
        ret->kind = PTX_OPERAND_TABLE;
        return true;
    case PTX_SYMBOL_PROTOTYPE:
        ret->kind = PTX_OPERAND_PROTOTYPE;
        return true;
    default:
        break;
    }
    return ptx_fail_at(r, name.line, -EINVAL, "'%.*s' is not an operand here",
                       ptx_shown(name), ptx_spelling(r, name));
}

/* `+ 4`, `+ -4`, `- 4` after the base of an address or a symbol. */
static bool parse_offset(struct ptx_reader *r, struct ptx_operand *operand) {
    if (!ptx_at(r, '+') && !ptx_at(r, '-')) {
        return r->code == 0;
    }
    return ptx_parse_integer(r, &operand->offset); /* its sign is unary */
}

/* Operands that are also allowed in a vector: a register, a constant, a name, `_`, `!p`,
 * `-r`. */
static bool parse_scalar(struct ptx_reader *r, struct ptx_operand *ret) {
    if (ptx_accept(r, '!')) {
        if (!parse_name(r, ret)) {
            return false;
        }
        ret->negated = true;
        return ret->kind == PTX_OPERAND_REGISTER ||
               ptx_fail(r, -EINVAL, "'!' belongs before a predicate");
    }
    if (ptx_at(r, '-')) {
        struct ptx_lexer ahead = r->lexer;
        struct ptx_token t = ptx_lexer_next(&ahead);
        if (t.kind == PTX_TOKEN_NAME && *ptx_spelling(r, t) != 'W') { /* WARP_SZ */
            ptx_next(r);
            bool ok = parse_name(r, ret);
            ret->negated = true;
            return ok && (ret->kind == PTX_OPERAND_REGISTER ||
                          ptx_fail(r, -EINVAL, "'-' belongs before a register"));
        }
    }
    if (!ptx_at(r, PTX_TOKEN_NAME) || ptx_at_name(r, "WARP_SZ")) {
        return parse_immediate(r, ret);
    }
    if (!parse_name(r, ret)) {
        return false;
    }
    return ret->kind == PTX_OPERAND_SYMBOL ? parse_offset(r, ret) : true;
}

/* Elements of one vector follow each other, so none may bring its own. */
static bool parse_element(struct ptx_reader *r, struct ptx_operand *ret) {
    return parse_scalar(r, ret) && (ret->kind != PTX_OPERAND_VECTOR ||
                                    ptx_fail(r, -EINVAL, "a vector inside a vector"));
}

/* `{a, b}`, and `(a, b)` of a call; "none" is an empty vector there. */
static bool parse_vector(struct ptx_reader *r, char end, struct ptx_operand *ret) {
    *ret = (struct ptx_operand){.kind = PTX_OPERAND_VECTOR};
    ptx_next(r);
    while (!r->code && !ptx_at(r, end)) {
        struct ptx_operand element;
        if (!parse_element(r, &element) || !add_element(r, ret, &element)) {
            return false;
        }
        if (!ptx_accept(r, ',')) {
            break;
        }
    }
    return ptx_expect(r, end);
}

static bool parse_base(struct ptx_reader *r, struct ptx_operand *ret) {
    struct ptx_operand base;
    *ret = (struct ptx_operand){.kind = PTX_OPERAND_ADDRESS, .base = PTX_BASE_IMMEDIATE};
    if (!ptx_at(r, PTX_TOKEN_NAME)) {
        return ptx_parse_integer(r, &ret->offset);
    }
    if (!parse_name(r, &base)) {
        return false;
    }
    if (base.kind != PTX_OPERAND_REGISTER && base.kind != PTX_OPERAND_SYMBOL) {
        return ptx_fail(r, -EINVAL, "an address is a register, a variable or a number");
    }
    ret->base = base.kind == PTX_OPERAND_REGISTER ? PTX_BASE_REGISTER : PTX_BASE_SYMBOL;
    ret->index = base.index;
    return parse_offset(r, ret);
}

/* `[a]`, `[a+4]`, `[map, {x, y}]`, `[texture, sampler, {x, y}]`: coordinates go into the
 * address, a sampler becomes the next operand. */
static bool parse_address(struct ptx_reader *r, struct ptx_instruction *i,
                          struct ptx_operand *ret) {
    struct ptx_operand coordinates = {0}, sampler = {.kind = PTX_OPERAND_SINK};
    ptx_next(r);
    if (!parse_base(r, ret)) {
        return false;
    }
    while (ptx_accept(r, ',')) {
        if (coordinates.count) {
            return ptx_fail_expected(r, "']'");
        }
        if (ptx_at(r, '{')) {
            if (!parse_vector(r, '}', &coordinates)) {
                return false;
            }
            continue;
        }
        if (sampler.kind != PTX_OPERAND_SINK) { /* one coordinate without braces */
            struct ptx_operand only;
            if (!parse_element(r, &only) || !add_element(r, &coordinates, &only)) {
                return false;
            }
        } else if (!parse_scalar(r, &sampler)) {
            return false;
        } else if (sampler.kind == PTX_OPERAND_VECTOR) { /* a vector register */
            coordinates = sampler;
            sampler.kind = PTX_OPERAND_SINK;
        }
    }
    if (!coordinates.count && sampler.kind != PTX_OPERAND_SINK) {
        if (!add_element(r, &coordinates, &sampler)) {
            return false;
        }
        sampler.kind = PTX_OPERAND_SINK;
    }
    ret->first = coordinates.first;
    ret->count = coordinates.count;
    if (!ptx_expect(r, ']')) {
        return false;
    }
    if (sampler.kind == PTX_OPERAND_SINK) {
        return true;
    }
    i->has_sampler = true;
    struct ptx_operand address = *ret;
    *ret = sampler;
    return add_operand(r, i, &address);
}

static bool parse_operand(struct ptx_reader *r, struct ptx_instruction *i) {
    struct ptx_operand operand, partner;
    bool ok = ptx_at(r, '[')   ? parse_address(r, i, &operand)
              : ptx_at(r, '{') ? parse_vector(r, '}', &operand)
                               : parse_scalar(r, &operand);
    if (!ok || !add_operand(r, i, &operand)) {
        return false;
    }
    if (i->operand_count != 1 || !ptx_accept(r, '|')) {
        return r->code == 0;
    }
    i->has_pair = true;
    return parse_scalar(r, &partner) && add_operand(r, i, &partner);
}

bool ptx_add_label_use(struct ptx_reader *r, struct ptx_token name, bool in_table,
                       uint32_t table, uint32_t operand) {
    if (r->label_use_count >= PTX_MAX_INSTRUCTIONS) {
        return ptx_fail(r, -EFBIG, "more than %u uses of labels", PTX_MAX_INSTRUCTIONS);
    }
    PTX_GROW(r->label_uses, r->label_use_count);
    r->label_uses[r->label_use_count++] = (struct ptx_label_use){
        in_table, operand, table, r->scope.current, name.at, name.len, name.line};
    return true;
}

static bool parse_label_operand(struct ptx_reader *r, struct ptx_instruction *i) {
    struct ptx_operand label = {.kind = PTX_OPERAND_LABEL};
    if (!ptx_at(r, PTX_TOKEN_NAME)) {
        return ptx_fail_expected(r, "a label");
    }
    if (!ptx_add_label_use(r, r->token, false, 0, ptx_current(r)->operand_count)) {
        return false;
    }
    ptx_next(r);
    return add_operand(r, i, &label);
}

/* `(results), f, (arguments), prototype`: all but f may be left out. */
static bool parse_call(struct ptx_reader *r, struct ptx_instruction *i) {
    struct ptx_operand callee, results = {.kind = PTX_OPERAND_VECTOR},
                               arguments = results, kind;
    if (ptx_at(r, '(') && (!parse_vector(r, ')', &results) || !ptx_expect(r, ','))) {
        return false;
    }
    if (!ptx_at(r, PTX_TOKEN_NAME)) {
        return ptx_fail_expected(r, "a function");
    }
    bool more = parse_name(r, &callee) && ptx_accept(r, ',');
    if (more && ptx_at(r, '(')) {
        more = parse_vector(r, ')', &arguments) && ptx_accept(r, ',');
    }
    if (r->code || !add_operand(r, i, &callee) || !add_operand(r, i, &results) ||
        !add_operand(r, i, &arguments)) {
        return false;
    }
    if (!more) {
        return true;
    }
    if (!ptx_at(r, PTX_TOKEN_NAME)) {
        return ptx_fail_expected(r, "a prototype or targets");
    }
    return parse_name(r, &kind) && add_operand(r, i, &kind);
}

bool ptx_parse_operands(struct ptx_reader *r, struct ptx_instruction *i) {
    i->operands = ptx_current(r)->operand_count;
    if (ptx_at(r, ';')) {
        return true;
    }
    if (i->opcode == PTX_OP_CALL) {
        return parse_call(r, i);
    }
    if (i->opcode == PTX_OP_BRA) {
        return parse_label_operand(r, i);
    }
    do {
        if (!parse_operand(r, i)) {
            return false;
        }
    } while (ptx_accept(r, ','));
    return r->code == 0;
}
