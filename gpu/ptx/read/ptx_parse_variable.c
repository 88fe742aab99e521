/* Variables of every space but .reg, and parameters. */
#include "gpu/ptx/read/ptx_names.h"
#include "gpu/ptx/read/ptx_reader.h"

#include "base/text.h"

#define MAX_EXTENTS 8

/* The attributes shared by all names of a declaration. */
struct head {
    uint8_t space, type, vector;
    uint32_t align; /* 0 = natural */
};

static bool parse_align(struct ptx_reader *r, uint32_t *ret) {
    uint64_t align;
    ptx_next(r);
    if (!ptx_parse_count(r, 1u << 20, &align)) {
        return false;
    }
    if (align == 0 || (align & (align - 1))) {
        return ptx_fail(r, -EINVAL, "an alignment of %llu is not a power of two",
                        (unsigned long long)align);
    }
    *ret = (uint32_t)align;
    return true;
}

/* `.attribute(.managed, .unified(0x12, 0x34))` changes nothing for a reader. */
static bool skip_attribute(struct ptx_reader *r) {
    unsigned depth = 0;
    ptx_next(r);
    if (!ptx_at(r, '(')) {
        return ptx_fail_expected(r, "'('");
    }
    do {
        depth += ptx_at(r, '(');
        depth -= ptx_at(r, ')');
        ptx_next(r);
    } while (!r->code && depth > 0 && !ptx_at(r, PTX_TOKEN_END) && !ptx_at(r, ';'));
    return depth == 0 && !r->code ? true : ptx_fail_expected(r, "')'");
}

/* `.ptr .global .align 16`: a promise about the pointer that is passed. */
static bool skip_pointer(struct ptx_reader *r) {
    uint32_t ignored;
    ptx_next(r);
    while (!r->code && ptx_at(r, PTX_TOKEN_WORD)) {
        if (ptx_at_word(r, "align")) {
            if (!parse_align(r, &ignored)) {
                return false;
            }
            continue;
        }
        struct ptx_word word;
        if (!ptx_word_find(ptx_spelling(r, r->token), r->token.len, &word) ||
            word.space == PTX_GENERIC) {
            return ptx_fail_expected(r, "a state space");
        }
        ptx_next(r);
    }
    return r->code == 0;
}

static bool parse_head_word(struct ptx_reader *r, struct head *head) {
    struct ptx_word word;
    struct ptx_token t = r->token;
    if (!ptx_word_find(ptx_spelling(r, t), t.len, &word) ||
        (word.type == PTX_NONE && word.vector == 0)) {
        return ptx_fail(r, -ENOTSUP, "'.%.*s' in a declaration is not known",
                        ptx_shown(t), ptx_spelling(r, t));
    }
    head->type = word.type != PTX_NONE ? word.type : head->type;
    head->vector = word.vector ? word.vector : head->vector;
    ptx_next(r);
    return true;
}

static bool parse_head(struct ptx_reader *r, struct head *head) {
    while (!r->code && ptx_at(r, PTX_TOKEN_WORD)) {
        bool ok = ptx_at_word(r, "align")       ? parse_align(r, &head->align)
                  : ptx_at_word(r, "attribute") ? skip_attribute(r)
                  : ptx_at_word(r, "ptr")       ? skip_pointer(r)
                                                : parse_head_word(r, head);
        if (!ok) {
            return false;
        }
    }
    bool is_reference = head->type == PTX_TEXREF || head->type == PTX_SAMPLERREF ||
                        head->type == PTX_SURFREF;
    if (!r->code && !is_reference && ptx_type_bytes(head->type) == 0) {
        return ptx_fail_expected(r, "a type");
    }
    return r->code == 0;
}

/* A reference (.texref …) is a 64-bit handle. */
static uint64_t element_bytes(const struct head *head) {
    unsigned bytes = ptx_type_bytes(head->type);
    return (bytes ? bytes : 8) * (uint64_t)(head->vector ? head->vector : 1);
}

/* `[2][3]`; a first extent left open is 0. */
static bool parse_extents(struct ptx_reader *r, uint64_t extents[MAX_EXTENTS],
                          unsigned *ret_count) {
    unsigned count = 0;
    while (ptx_accept(r, '[')) {
        uint64_t extent = 0;
        if (count == MAX_EXTENTS) {
            return ptx_fail(r, -EFBIG, "more than %d dimensions", MAX_EXTENTS);
        }
        if (!(count == 0 && ptx_at(r, ']')) &&
            !ptx_parse_count(r, PTX_MAX_VARIABLE, &extent)) {
            return false;
        }
        extents[count++] = extent;
        if (!ptx_expect(r, ']')) {
            return false;
        }
    }
    *ret_count = count;
    return r->code == 0;
}

static uint64_t limit_of(uint8_t space) {
    return space == PTX_PARAM   ? PTX_MAX_PARAM_BYTES
           : space == PTX_LOCAL ? PTX_MAX_LOCAL_BYTES
                                : PTX_MAX_VARIABLE;
}

static bool set_size(struct ptx_reader *r, struct ptx_variable *v, uint64_t element,
                     const uint64_t *extents, unsigned count) {
    v->size = element;
    for (unsigned i = 0; i < count; i++) {
        uint64_t extent = i == 0 && extents[0] == 0 ? 1 : extents[i];
        if (__builtin_mul_overflow(v->size, extent, &v->size) ||
            v->size > limit_of(v->space)) {
            char size[TEXT_SIZE_MAX];
            return ptx_fail(r, -EFBIG, "'%.80s' is bigger than %s", v->name,
                            text_size(size, limit_of(v->space)));
        }
    }
    v->is_unsized = count > 0 && extents[0] == 0;
    v->size = v->is_unsized ? 0 : v->size;
    return true;
}

/* Places v after the block's previous variables. */
static bool place_in(struct ptx_reader *r, struct ptx_variable *v, uint64_t *bytes) {
    uint64_t at = (*bytes + v->align - 1) & ~(uint64_t)(v->align - 1);
    if (at + v->size > limit_of(v->space)) {
        char size[TEXT_SIZE_MAX];
        return ptx_fail(r, -EFBIG, "more than %s of %s with '%.80s'",
                        text_size(size, limit_of(v->space)),
                        v->space == PTX_PARAM ? "parameters" : "local memory", v->name);
    }
    v->offset = at;
    *bytes = at + v->size;
    return true;
}

static struct ptx_variable *add_variable(struct ptx_reader *r, struct ptx_token name,
                                         const struct head *head) {
    struct ptx_module *m = r->m;
    PTX_GROW(m->variables, m->variable_count);
    struct ptx_variable *v = &m->variables[m->variable_count++];
    uint64_t natural = element_bytes(head);
    *v = (struct ptx_variable){
        .name = ptx_name_keep(r, name),
        .space = head->space,
        .type = head->type,
        .align = head->align > natural ? head->align : (uint32_t)natural,
        .function = r->function,
    };
    if (head->align && head->align < natural) {
        v->align = head->align; /* the text may ask for less than natural */
    }
    return v;
}

static bool is_anonymous(const struct ptx_reader *r, struct ptx_token name) {
    return name.len == 1 && *ptx_spelling(r, name) == '_';
}

/* Redeclared: an extern one takes the place that its definition gives it. */
static bool declare(struct ptx_reader *r, struct ptx_token name, uint32_t index,
                    int linkage) {
    uint32_t ignored;
    struct ptx_symbol *old = r->function < 0 ? ptx_resolve(r, name, &ignored) : NULL;
    if (old && old->kind == PTX_SYMBOL_VARIABLE) {
        struct ptx_variable *before = &r->m->variables[old->index];
        struct ptx_variable *now = &r->m->variables[index];
        if (before->is_extern && before->space == now->space) {
            /* Both entries stay; references made before go to the older one. */
            struct ptx_variable swap = *before;
            *before = *now;
            *now = swap;
            return true;
        }
        bool again = now->is_extern || linkage & (PTX_WEAK | PTX_COMMON);
        if (again && before->space == now->space) {
            now->is_extern = true;
            return true; /* said again: the symbol stays with the first definition */
        }
    }
    struct ptx_symbol *symbol = ptx_declare(r, name, PTX_SYMBOL_VARIABLE);
    if (symbol) {
        symbol->index = index;
        symbol->own = linkage == 0;
    }
    return symbol != NULL;
}

static bool parse_initialised(struct ptx_reader *r, uint32_t index, uint64_t element,
                              const uint64_t *extents, unsigned count) {
    struct ptx_variable *v = &r->m->variables[index];
    if (!ptx_accept(r, '=')) {
        return r->code == 0;
    }
    if (v->space != PTX_GLOBAL && v->space != PTX_CONST) {
        return ptx_fail(r, -EINVAL, "only .global and .const variables are initialised");
    }
    uint64_t all[1 + MAX_EXTENTS];
    memcpy(all, extents, count * sizeof *all);
    if (element > ptx_type_bytes(v->type) && ptx_type_bytes(v->type)) { /* a vector */
        all[count++] = element / ptx_type_bytes(v->type);
    }
    return ptx_parse_initialiser(r, v, all, count);
}

static bool parse_one(struct ptx_reader *r, const struct head *head, int linkage) {
    struct ptx_token name = r->token;
    uint64_t extents[MAX_EXTENTS];
    unsigned count;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    uint32_t index = r->m->variable_count;
    struct ptx_variable *v = add_variable(r, name, head);
    v->is_extern = linkage & PTX_EXTERN;
    if (!parse_extents(r, extents, &count) ||
        !set_size(r, v, element_bytes(head), extents, count) ||
        !parse_initialised(r, index, element_bytes(head), extents, count)) {
        return false;
    }
    v = &r->m->variables[index];
    if (r->function >= 0 && v->space == PTX_LOCAL) {
        struct ptx_function *f = ptx_current(r);
        f->local_align = f->local_align > v->align ? f->local_align : v->align;
        if (!place_in(r, v, &f->local_bytes)) {
            return false;
        }
    } else if (v->space == PTX_PARAM) {
        struct ptx_function *f = ptx_current(r);
        v->param_block = PTX_BLOCK_CALL;
        if (!place_in(r, v, &r->call_bytes)) {
            return false;
        }
        f->call_bytes = f->call_bytes > r->call_bytes ? f->call_bytes : r->call_bytes;
    }
    return declare(r, name, index, linkage);
}

bool ptx_parse_variables(struct ptx_reader *r, enum ptx_space space, int linkage) {
    struct head head = {.space = (uint8_t)space};
    ptx_next(r);
    if (r->function < 0 && (space == PTX_PARAM || space == PTX_LOCAL)) {
        return ptx_fail(r, -ENOTSUP, "a %s variable outside of a function",
                        space == PTX_PARAM ? ".param" : ".local");
    }
    if (!parse_head(r, &head)) {
        return false;
    }
    do {
        if (!parse_one(r, &head, linkage)) {
            return false;
        }
    } while (ptx_accept(r, ','));
    return ptx_expect(r, ';');
}

bool ptx_parse_parameter(struct ptx_reader *r, enum ptx_param_block block,
                         uint64_t *bytes, uint32_t *ret) {
    struct head head = {.space = PTX_PARAM};
    if (ptx_at_word(r, "reg")) {
        return ptx_fail(r, -ENOTSUP, "a parameter in a register (.reg); use .param");
    }
    if (!ptx_at_word(r, "param")) {
        return ptx_fail_expected(r, "'.param'");
    }
    ptx_next(r);
    if (!parse_head(r, &head)) {
        return false;
    }
    struct ptx_token name = r->token;
    uint64_t extents[MAX_EXTENTS];
    unsigned count;
    if (!ptx_expect(r, PTX_TOKEN_NAME)) {
        return false;
    }
    *ret = r->m->variable_count;
    struct ptx_variable *v = add_variable(r, name, &head);
    v->param_block = (uint8_t)block;
    return parse_extents(r, extents, &count) &&
           set_size(r, v, element_bytes(&head), extents, count) &&
           place_in(r, v, bytes) && (is_anonymous(r, name) || declare(r, name, *ret, 0));
}
