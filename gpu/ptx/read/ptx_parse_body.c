/* Function bodies: blocks, registers, labels, target tables, prototypes. */
#include "gpu/ptx/read/ptx_names.h"
#include "gpu/ptx/read/ptx_reader.h"

static bool add_registers(struct ptx_reader *r, struct ptx_token name, uint8_t type,
                          uint32_t count, bool numbered) {
    struct ptx_function *f = ptx_current(r);
    if (count > PTX_MAX_REGISTERS - r->register_count) {
        return ptx_fail(r, -EFBIG, "more than %u registers", PTX_MAX_REGISTERS);
    }
    r->register_count += count;
    for (uint32_t i = 0; i < count; i++) {
        PTX_GROW(f->registers, f->register_count);
        f->registers[f->register_count++] = (struct ptx_register){
            .type = type,
            .name = name.at,
            .name_len = name.len,
            .number = numbered ? i : UINT32_MAX,
        };
    }
    return true;
}

/* `%r<12>`, `p`, or one of a vector declaration. */
static bool parse_register(struct ptx_reader *r, uint8_t type, uint32_t vector) {
    struct ptx_token name = r->token;
    uint64_t count = vector ? vector : 1;
    int kind = vector ? PTX_SYMBOL_VECTOR_REGISTER : PTX_SYMBOL_REGISTER;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    if (ptx_accept(r, '<')) {
        struct ptx_token number = r->token;
        struct ptx_number n;
        kind = PTX_SYMBOL_RANGE;
        if (vector) {
            return ptx_fail(r, -ENOTSUP, "numbered vector registers");
        }
        if (!ptx_expect(r, PTX_TOKEN_NUMBER) ||
            !ptx_number_read(ptx_spelling(r, number), number.len, &n) ||
            n.bits > PTX_MAX_REGISTERS) {
            return ptx_fail(r, -EFBIG, "no count of registers, or more than %u",
                            PTX_MAX_REGISTERS);
        }
        count = n.bits;
        if (!ptx_expect(r, '>')) {
            return false;
        }
    }
    struct ptx_symbol *symbol = ptx_declare(r, name, kind);
    if (!symbol) {
        return false;
    }
    symbol->index = ptx_current(r)->register_count;
    symbol->count = (uint32_t)count;
    return add_registers(r, name, type, (uint32_t)count, kind != PTX_SYMBOL_REGISTER);
}

static bool parse_registers(struct ptx_reader *r) {
    uint8_t type = PTX_NONE, vector = 0;
    ptx_next(r);
    while (!r->code && ptx_at(r, PTX_TOKEN_WORD)) {
        struct ptx_word word;
        struct ptx_token t = r->token;
        if (!ptx_word_find(ptx_spelling(r, t), t.len, &word) ||
            (word.type == PTX_NONE && !word.vector)) {
            return ptx_fail(r, -ENOTSUP, "registers of '.%.*s' are not known",
                            ptx_shown(t), ptx_spelling(r, t));
        }
        type = word.type != PTX_NONE ? word.type : type;
        vector = word.vector ? word.vector : vector;
        ptx_next(r);
    }
    if (type != PTX_PRED && (ptx_type_bytes(type) == 0 || ptx_type_bytes(type) > 16)) {
        return ptx_fail_expected(r, "a type of registers");
    }
    do {
        if (!parse_register(r, type, vector)) {
            return false;
        }
    } while (ptx_accept(r, ','));
    return ptx_expect(r, ';');
}

static bool parse_label(struct ptx_reader *r, struct ptx_token name) {
    struct ptx_symbol *symbol = ptx_declare(r, name, PTX_SYMBOL_LABEL);
    if (symbol) {
        symbol->index = ptx_current(r)->code_count;
    }
    return symbol != NULL;
}

/* `name: .branchtargets a, b;`, `.calltargets f, g;` */
static bool parse_table(struct ptx_reader *r, struct ptx_token name) {
    struct ptx_function *f = ptx_current(r);
    struct ptx_symbol *symbol = ptx_declare(r, name, PTX_SYMBOL_TABLE);
    if (!symbol) {
        return false;
    }
    symbol->index = f->table_count;
    PTX_GROW(f->tables, f->table_count);
    struct ptx_table *table = &f->tables[f->table_count++];
    *table = (struct ptx_table){.calls = ptx_at_word(r, "calltargets")};
    do {
        uint32_t number;
        ptx_next(r);
        struct ptx_token target = r->token;
        if (!ptx_at(r, PTX_TOKEN_NAME)) {
            return ptx_fail_expected(r, "a target");
        }
        struct ptx_symbol *function =
            table->calls ? ptx_resolve(r, target, &number) : NULL;
        if (table->calls && (!function || function->kind != PTX_SYMBOL_FUNCTION)) {
            return ptx_fail(r, -EINVAL, "'%.*s' is not a function declared before",
                            ptx_shown(target), ptx_spelling(r, target));
        }
        PTX_GROW(table->targets, table->count);
        table->targets[table->count] = function ? function->index : 0;
        if (!table->calls &&
            !ptx_add_label_use(r, target, true, symbol->index, table->count)) {
            return false;
        }
        table->count++;
        ptx_next(r);
    } while (ptx_at(r, ','));
    return ptx_expect(r, ';');
}

static bool parse_prototype_list(struct ptx_reader *r, uint32_t **bytes, uint32_t **align,
                                 uint32_t *count) {
    if (!ptx_accept(r, '(')) {
        return r->code == 0;
    }
    uint64_t total = 0;
    while (!r->code && !ptx_at(r, ')')) {
        uint32_t index;
        if (!ptx_parse_parameter(r, PTX_BLOCK_NONE, &total, &index)) {
            return false;
        }
        const struct ptx_variable *v = &r->m->variables[index];
        PTX_GROW(*bytes, *count);
        PTX_GROW(*align, *count);
        (*bytes)[*count] = (uint32_t)v->size;
        (*align)[(*count)++] = v->align;
        r->m->variable_count--; /* it was only a description */
        if (!ptx_accept(r, ',')) {
            break;
        }
    }
    return ptx_expect(r, ')');
}

/* `name: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;` */
static bool parse_prototype(struct ptx_reader *r, struct ptx_token name) {
    struct ptx_module *m = r->m;
    struct ptx_symbol *symbol = ptx_declare(r, name, PTX_SYMBOL_PROTOTYPE);
    if (!symbol) {
        return false;
    }
    symbol->index = m->prototype_count;
    PTX_GROW(m->prototypes, m->prototype_count);
    struct ptx_prototype *p = &m->prototypes[m->prototype_count++];
    *p = (struct ptx_prototype){0};
    ptx_next(r);
    if (!parse_prototype_list(r, &p->result_bytes, &p->result_align, &p->result_count) ||
        !ptx_expect(r, PTX_TOKEN_NAME) ||
        !parse_prototype_list(r, &p->param_bytes, &p->param_align, &p->param_count)) {
        return false;
    }
    if (ptx_at_word(r, "noreturn")) {
        ptx_next(r);
    }
    return ptx_expect(r, ';');
}

static bool parse_directive(struct ptx_reader *r) {
    struct ptx_token t = r->token;
    struct ptx_word word;
    if (ptx_at_word(r, "loc")) {
        return ptx_parse_loc(r);
    }
    if (ptx_at_word(r, "file")) {
        return ptx_parse_file(r);
    }
    if (ptx_at_word(r, "reg")) {
        return parse_registers(r);
    }
    if (ptx_at_word(r, "pragma")) {
        return ptx_skip_pragma(r);
    }
    if (ptx_word_find(ptx_spelling(r, t), t.len, &word) && word.space != PTX_GENERIC) {
        return ptx_parse_variables(r, word.space, 0);
    }
    return ptx_fail(r, -ENOTSUP, "the directive '.%.*s' is not known", ptx_shown(t),
                    ptx_spelling(r, t));
}

/* After a name and ':': a table, a prototype or a label. */
static bool parse_named(struct ptx_reader *r, struct ptx_token name) {
    ptx_next(r);
    if (ptx_at_word(r, "branchtargets") || ptx_at_word(r, "calltargets")) {
        return parse_table(r, name);
    }
    if (ptx_at_word(r, "callprototype")) {
        return parse_prototype(r, name);
    }
    return parse_label(r, name);
}

static bool at_label(const struct ptx_reader *r) {
    struct ptx_lexer ahead = r->lexer;
    return ptx_lexer_next(&ahead).kind == ':';
}

static bool parse_statement(struct ptx_reader *r) {
    struct ptx_token t = r->token;
    if (ptx_at(r, PTX_TOKEN_WORD)) {
        return parse_directive(r);
    }
    if (ptx_at(r, PTX_TOKEN_NAME) && at_label(r)) {
        ptx_next(r);
        return parse_named(r, t);
    }
    if (ptx_at(r, PTX_TOKEN_NAME) || ptx_at(r, '@')) {
        return ptx_parse_instruction(r);
    }
    return ptx_accept(r, ';') || ptx_fail_expected(r, "an instruction");
}

/* Blocks nest; the space of a block's .param variables is free again after it. */
static bool parse_blocks(struct ptx_reader *r) {
    uint64_t call_bytes[PTX_MAX_DEPTH + 1];
    do {
        if (ptx_at(r, '{')) {
            call_bytes[r->scope.depth] = r->call_bytes;
            if (!ptx_scope_open(&r->scope)) {
                return ptx_fail(r, -EFBIG, "blocks are nested deeper than %d",
                                PTX_MAX_DEPTH);
            }
            ptx_next(r);
        } else if (ptx_at(r, '}')) {
            ptx_scope_close(&r->scope);
            r->call_bytes = call_bytes[r->scope.depth];
            ptx_next(r);
        } else if (!parse_statement(r)) {
            return false;
        }
    } while (r->scope.depth > 0 && !r->code);
    return r->code == 0;
}

static bool resolve_label(struct ptx_reader *r, const struct ptx_label_use *use) {
    struct ptx_function *f = ptx_current(r);
    const struct ptx_symbol *symbol =
        ptx_symbol_find(&r->scope, use->scope, r->lexer.text + use->at, use->len);
    if (!symbol || symbol->kind != PTX_SYMBOL_LABEL) {
        return ptx_fail_at(r, use->line, -EINVAL, "there is no label '%.*s'",
                           use->len > 80 ? 80 : (int)use->len, r->lexer.text + use->at);
    }
    if (use->in_table) {
        f->tables[use->table].targets[use->operand] = symbol->index;
    } else {
        f->operands[use->operand].index = symbol->index;
    }
    f->leader[symbol->index] = true;
    return true;
}

static bool ends_function(const struct ptx_instruction *i) {
    return i->guard < 0 && (i->opcode == PTX_OP_RET || i->opcode == PTX_OP_EXIT ||
                            i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_TRAP ||
                            i->opcode == PTX_OP_BRX);
}

/* Falling out of a body returns: so that code never does, a `ret` may be added. It has no
 * spelling. */
static void close_code(struct ptx_reader *r, bool label_at_end) {
    struct ptx_function *f = ptx_current(r);
    if (f->code_count > 0 && !label_at_end &&
        ends_function(&f->code[f->code_count - 1])) {
        return;
    }
    PTX_GROW(f->code, f->code_count);
    f->code[f->code_count++] = (struct ptx_instruction){.opcode = PTX_OP_RET,
                                                        .guard = -1,
                                                        .vector = 1,
                                                        .place = r->place,
                                                        .line = r->token.line};
}

bool ptx_parse_body(struct ptx_reader *r) {
    if (!ptx_at(r, '{')) {
        return ptx_fail_expected(r, "'{' or ';'");
    }
    struct ptx_function *f = ptx_current(r);
    PTX_GROW(f->operands, f->operand_count); /* never NULL: they are indexed at once */
    PTX_GROW(f->elements, f->element_count);
    r->label_use_count = 0;
    if (!parse_blocks(r)) {
        return false;
    }
    uint32_t written = f->code_count;
    f->leader = xcalloc((size_t)written + 2, sizeof *f->leader);
    for (size_t i = 0; i < r->label_use_count; i++) {
        if (!resolve_label(r, &r->label_uses[i])) {
            return false;
        }
    }
    close_code(r, f->leader[written]);
    return true;
}
