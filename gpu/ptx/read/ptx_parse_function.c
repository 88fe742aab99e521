/* Functions: their heads, declarations and aliases. */
#include "gpu/ptx/read/ptx_reader.h"

static bool append(struct ptx_reader *r, uint32_t **array, uint32_t *count,
                   uint32_t value) {
    if (*count >= 65536) {
        return ptx_fail(r, -EFBIG, "more than 65536 parameters");
    }
    PTX_GROW(*array, *count);
    (*array)[(*count)++] = value;
    return true;
}

/* `( .param …, .param … )`, or nothing. */
static bool parse_parameters(struct ptx_reader *r, enum ptx_param_block block,
                             uint64_t *bytes, uint32_t **array, uint32_t *count) {
    uint32_t index;
    if (!ptx_accept(r, '(')) {
        return r->code == 0;
    }
    while (!r->code && !ptx_at(r, ')')) {
        if (!ptx_parse_parameter(r, block, bytes, &index) ||
            !append(r, array, count, index)) {
            return false;
        }
        if (!ptx_accept(r, ',')) {
            break;
        }
    }
    return ptx_expect(r, ')');
}

static bool parse_dimensions(struct ptx_reader *r, uint32_t ret[3]) {
    ret[0] = ret[1] = ret[2] = 1;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        if (!ptx_parse_count(r, INT32_MAX, &value)) {
            return false;
        }
        ret[i] = (uint32_t)value;
        if (!ptx_accept(r, ',')) {
            break;
        }
    }
    return r->code == 0;
}

static bool parse_single(struct ptx_reader *r, uint32_t *ret) {
    uint64_t value;
    if (!ptx_parse_count(r, INT32_MAX, &value)) {
        return false;
    }
    *ret = (uint32_t)value;
    return true;
}

static bool parse_pragma(struct ptx_reader *r) {
    do {
        if (!ptx_expect(r, PTX_TOKEN_STRING)) {
            return false;
        }
    } while (ptx_accept(r, ','));
    return ptx_expect(r, ';');
}

/* One directive between the parameters and the body; all are promises to a compiler,
 * except those that are stored. */
static bool parse_directive(struct ptx_reader *r, struct ptx_function *f) {
    uint32_t ignored;
    struct ptx_token t = r->token;
    struct {
        const char *word;
        uint32_t *triple, *single;
    } known[] = {
        {"maxntid", f->maxntid, NULL},
        {"reqntid", f->reqntid, NULL},
        {"reqnctapercluster", f->reqnctapercluster, NULL},
        {"minnctapersm", NULL, &f->minnctapersm},
        {"maxnreg", NULL, &f->maxnreg},
        {"maxnctapersm", NULL, &ignored},
        {"maxclusterrank", NULL, &ignored},
        {"abi_preserve", NULL, &ignored},
        {"abi_preserve_control", NULL, &ignored},
        {"explicitcluster", NULL, NULL},
        {"blocksareclusters", NULL, NULL},
        {"noreturn", NULL, NULL},
    };
    if (ptx_at_word(r, "pragma")) {
        ptx_next(r);
        return parse_pragma(r);
    }
    f->is_noreturn = f->is_noreturn || ptx_at_word(r, "noreturn");
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (ptx_at_word(r, known[i].word)) {
            ptx_next(r);
            return known[i].triple   ? parse_dimensions(r, known[i].triple)
                   : known[i].single ? parse_single(r, known[i].single)
                                     : true;
        }
    }
    return ptx_fail(r, -ENOTSUP, "the directive '.%.*s' of a function is not known",
                    ptx_shown(t), ptx_spelling(r, t));
}

static bool parse_head(struct ptx_reader *r, struct ptx_function *f) {
    if (!parse_parameters(r, PTX_BLOCK_PARAMS, &f->param_bytes, &f->params,
                          &f->param_count)) {
        return false;
    }
    while (!r->code && ptx_at(r, PTX_TOKEN_WORD)) {
        if (!parse_directive(r, f)) {
            return false;
        }
    }
    return r->code == 0;
}

static bool same_variables(const struct ptx_module *m, const uint32_t *a,
                           const uint32_t *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_variable *x = &m->variables[a[i]], *y = &m->variables[b[i]];
        if (x->size != y->size || x->align != y->align) {
            return false;
        }
    }
    return true;
}

static bool same_interface(const struct ptx_module *m, const struct ptx_function *a,
                           const struct ptx_function *b) {
    return a->is_entry == b->is_entry && a->param_count == b->param_count &&
           a->result_count == b->result_count &&
           same_variables(m, a->params, b->params, a->param_count) &&
           same_variables(m, a->results, b->results, a->result_count);
}

static void head_free(struct ptx_function *f) {
    free(f->params);
    free(f->results);
    *f = (struct ptx_function){0};
}

/* The function of that name: a new one, or the one that was declared before. */
static bool function_slot(struct ptx_reader *r, struct ptx_token name, int linkage,
                          uint32_t *ret) {
    struct ptx_module *m = r->m;
    struct ptx_symbol *old =
        ptx_symbol_find(&r->module_scope, 0, ptx_spelling(r, name), name.len);
    if (old && old->kind == PTX_SYMBOL_FUNCTION) {
        *ret = old->index;
        old->own = old->own && !linkage;
        return true;
    }
    struct ptx_symbol *symbol = ptx_declare(r, name, PTX_SYMBOL_FUNCTION);
    if (!symbol) {
        return false;
    }
    *ret = symbol->index = m->function_count;
    symbol->own = linkage == 0;
    PTX_GROW(m->functions, m->function_count);
    m->functions[m->function_count++] =
        (struct ptx_function){.name = ptx_name_keep(r, name), .is_declaration = true};
    return true;
}

/* Puts the head into its place. A head that was there must agree. */
static bool settle(struct ptx_reader *r, struct ptx_function *head, uint32_t slot,
                   bool is_new) {
    struct ptx_function *f = &r->m->functions[slot];
    char *name = f->name;
    bool again = ptx_at(r, ';');
    if (!is_new && !same_interface(r->m, f, head)) {
        return ptx_fail(r, -EINVAL, "'%.80s' differs from its declaration", name);
    }
    if (!again && !f->is_declaration) {
        return ptx_fail(r, -EINVAL, "'%.80s' is defined twice", name);
    }
    if (again && !f->is_declaration) {
        return true; /* declared again after its definition */
    }
    head->name = name;
    head->is_declaration = again;
    free(f->params);
    free(f->results);
    *f = *head;
    *head = (struct ptx_function){0};
    return true;
}

/* A weak function that another part of the text has defined. */
static bool skip_body(struct ptx_reader *r) {
    unsigned depth = 0;
    do {
        depth += ptx_at(r, '{');
        depth -= ptx_at(r, '}');
        ptx_next(r);
    } while (!r->code && depth && !ptx_at(r, PTX_TOKEN_END));
    return !r->code && (depth == 0 || ptx_expect(r, '}'));
}

static bool parse_rest(struct ptx_reader *r, struct ptx_function *head, uint32_t slot,
                       bool is_new, int linkage) {
    bool defined = !is_new && !r->m->functions[slot].is_declaration;
    if (defined && linkage & PTX_WEAK && ptx_at(r, '{')) {
        return skip_body(r);
    }
    return settle(r, head, slot, is_new) && (ptx_accept(r, ';') || ptx_parse_body(r));
}

/* Names of results and parameters come before the function's own: they are read into a
 * head aside. r->function is set for the time, since they are the function's. */
bool ptx_parse_function(struct ptx_reader *r, int linkage) {
    struct ptx_function head = {.is_entry = ptx_at_word(r, "entry"),
                                .line = r->token.line};
    uint32_t functions = r->m->function_count, slot = 0;
    ptx_scopes_reset(&r->scope);
    r->place = 0;
    r->call_bytes = 0;
    ptx_next(r);
    bool ok = true;
    if (!head.is_entry) {
        while (ok && ptx_at(r, PTX_TOKEN_WORD)) { /* .attribute(…), .noreturn */
            ok = parse_directive(r, &head);
        }
        r->function = (int32_t)functions;
        ok = ok && parse_parameters(r, PTX_BLOCK_RESULTS, &head.result_bytes,
                                    &head.results, &head.result_count);
    }
    r->function = -1;
    struct ptx_token name = r->token;
    ok = ok && ptx_expect(r, PTX_TOKEN_NAME) && function_slot(r, name, linkage, &slot);
    bool is_new = r->m->function_count > functions;
    r->function = (int32_t)slot;
    ok = ok && parse_head(r, &head);
    for (uint32_t i = 0; ok && i < head.result_count; i++) {
        r->m->variables[head.results[i]].function = (int32_t)slot;
    }
    ok = ok && parse_rest(r, &head, slot, is_new, linkage);
    head_free(&head);
    r->function = -1;
    return ok && r->code == 0;
}

/* `.alias a, b;`: calls of a, which is only declared, go to b. Done at the end of the
 * module by ptx_mark_used's caller, since uses of a may stand before this line. */
bool ptx_parse_alias(struct ptx_reader *r) {
    uint32_t number, index[2];
    ptx_next(r);
    for (int i = 0; i < 2; i++) {
        struct ptx_token name = r->token;
        if ((i == 1 && !ptx_expect(r, ',')) ||
            (name = r->token, !ptx_expect(r, PTX_TOKEN_NAME))) {
            return false;
        }
        struct ptx_symbol *symbol = ptx_resolve(r, name, &number);
        if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION) {
            return ptx_fail_at(r, name.line, -EINVAL, "'%.*s' is not a function",
                               ptx_shown(name), ptx_spelling(r, name));
        }
        index[i] = symbol->index;
    }
    struct ptx_function *from = &r->m->functions[index[0]];
    if (!from->is_declaration || (from->alias && from->alias != index[1] + 1) ||
        !same_interface(r->m, from, &r->m->functions[index[1]])) {
        return ptx_fail(r, -EINVAL, "'%.80s' cannot stand for '%.80s'", from->name,
                        r->m->functions[index[1]].name);
    }
    from->alias = index[1] + 1;
    return ptx_expect(r, ';');
}
