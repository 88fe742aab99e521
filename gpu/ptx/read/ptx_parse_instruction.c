/* One instruction: guard, opcode, dotted words, operands. */
#include "gpu/ptx/read/ptx_names.h"
#include "gpu/ptx/read/ptx_reader.h"

static bool parse_guard(struct ptx_reader *r, struct ptx_instruction *i) {
    uint32_t number;
    if (!ptx_accept(r, '@')) {
        return true;
    }
    i->guard_negated = ptx_accept(r, '!');
    struct ptx_token name = r->token;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    const struct ptx_symbol *symbol = ptx_resolve(r, name, &number);
    if (!symbol || symbol->kind > PTX_SYMBOL_RANGE ||
        ptx_current(r)->registers[symbol->index + number].type != PTX_PRED) {
        return ptx_fail_at(r, name.line, -EINVAL, "the guard '%.*s' is not a predicate",
                           ptx_shown(name), ptx_spelling(r, name));
    }
    i->guard = (int32_t)(symbol->index + number);
    return true;
}

static bool add_word(struct ptx_reader *r, struct ptx_instruction *i,
                     const struct ptx_word *word) {
    if (word->type != PTX_NONE) {
        if (i->type_count == sizeof i->types) {
            return ptx_fail(r, -EINVAL, "more than %zu types", sizeof i->types);
        }
        i->types[i->type_count++] = word->type;
    }
    if (word->space != PTX_GENERIC) {
        if (i->space_count == sizeof i->spaces) {
            return ptx_fail(r, -EINVAL, "more than %zu state spaces", sizeof i->spaces);
        }
        i->spaces[i->space_count++] = word->space;
    }
    if (word->modifier >= 0) {
        i->modifiers[word->modifier / 64] |= 1ull << (word->modifier % 64);
    }
    if (word->shape[0]) {
        for (int n = 0; n < 3; n++) {
            i->shape[n] = word->shape[n];
        }
    }
    i->vector = word->vector ? word->vector : i->vector;
    return true;
}

static bool parse_words(struct ptx_reader *r, struct ptx_instruction *i) {
    while (!r->code && ptx_at(r, PTX_TOKEN_WORD)) {
        struct ptx_word word;
        struct ptx_token t = r->token;
        i->spelling_len = t.at + t.len - i->spelling;
        if (!ptx_word_find(ptx_spelling(r, t), t.len, &word)) {
            return ptx_fail(r, -ENOTSUP, "'.%.*s' of '%.*s' is not known", ptx_shown(t),
                            ptx_spelling(r, t),
                            i->spelling_len > 120 ? 120 : (int)i->spelling_len,
                            r->lexer.text + i->spelling);
        }
        if (!add_word(r, i, &word)) {
            return false;
        }
        ptx_next(r);
    }
    return r->code == 0;
}

static bool parse_opcode(struct ptx_reader *r, struct ptx_instruction *i) {
    struct ptx_token t = r->token;
    if (!ptx_at(r, PTX_TOKEN_NAME)) {
        return ptx_fail_expected(r, "an instruction");
    }
    int opcode = ptx_opcode_find(ptx_spelling(r, t), t.len);
    if (opcode < 0) {
        return ptx_fail(r, -ENOTSUP, "the instruction '%.*s' is not known", ptx_shown(t),
                        ptx_spelling(r, t));
    }
    i->opcode = (uint16_t)opcode;
    i->line = t.line;
    i->spelling = t.at;
    i->spelling_len = t.len;
    ptx_next(r);
    return parse_words(r, i);
}

bool ptx_parse_instruction(struct ptx_reader *r) {
    struct ptx_instruction i = {.guard = -1, .vector = 1};
    if (r->instruction_count >= PTX_MAX_INSTRUCTIONS) {
        return ptx_fail(r, -EFBIG, "more than %u instructions", PTX_MAX_INSTRUCTIONS);
    }
    if (!parse_guard(r, &i) || !parse_opcode(r, &i) || !ptx_parse_operands(r, &i) ||
        !ptx_check_instruction(r, &i) || !ptx_expect(r, ';')) {
        return false;
    }
    i.place = ptx_place_at(r, i.line);
    struct ptx_function *f = ptx_current(r);
    PTX_GROW(f->code, f->code_count);
    f->code[f->code_count++] = i;
    r->instruction_count++;
    return true;
}
