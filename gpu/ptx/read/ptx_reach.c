/* What the entries reach: functions they call or take the address of, and variables. */
#include "base/find.h"
#include "gpu/ptx/read/ptx_reader.h"

struct block_reach {
    struct ptx_module *m;
    uint32_t *functions, *variables; /* found, not yet looked into; each at most once */
    uint32_t function_count, variable_count;
};

static void reach_function(struct block_reach *s, uint32_t index) {
    struct ptx_function *f = &s->m->functions[index];
    if (!f->used) {
        f->used = true;
        s->functions[s->function_count++] = index;
    }
}

static void reach_variable(struct block_reach *s, uint32_t index) {
    struct ptx_variable *v = &s->m->variables[index];
    if (!v->used) {
        v->used = true;
        s->variables[s->variable_count++] = index;
    }
}

static void reach_operand(struct block_reach *s, const struct ptx_operand *o) {
    if (o->kind == PTX_OPERAND_FUNCTION) {
        reach_function(s, o->index);
    } else if (o->kind == PTX_OPERAND_SYMBOL ||
               (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_SYMBOL)) {
        reach_variable(s, o->index);
    }
}

static void take_addresses(struct ptx_module *m, const struct ptx_function *f) {
    list_each(k, i, f->code, f->code_count) {
        const struct ptx_operand *o = &f->operands[i->operands];
        for (unsigned n = 0; i->opcode == PTX_OP_MOV && n < i->operand_count; n++) {
            if (o[n].kind == PTX_OPERAND_FUNCTION) {
                m->functions[o[n].index].taken = true;
            }
        }
    }
}

static void look_into_function(struct block_reach *s, const struct ptx_function *f) {
    take_addresses(s->m, f);
    for (uint32_t i = 0; i < f->operand_count; i++) {
        reach_operand(s, &f->operands[i]);
    }
    for (uint32_t i = 0; i < f->element_count; i++) {
        reach_operand(s, &f->elements[i]);
    }
    for (uint32_t i = 0; i < f->param_count; i++) {
        reach_variable(s, f->params[i]);
    }
    for (uint32_t i = 0; i < f->result_count; i++) {
        reach_variable(s, f->results[i]);
    }
    for (uint32_t t = 0; t < f->table_count; t++) {
        for (uint32_t i = 0; f->tables[t].calls && i < f->tables[t].count; i++) {
            reach_function(s, f->tables[t].targets[i]);
        }
    }
}

static void look_into_variable(struct block_reach *s, const struct ptx_variable *v) {
    for (uint32_t i = 0; i < v->relocation_count; i++) {
        if (v->relocations[i].is_function) {
            reach_function(s, v->relocations[i].index);
            s->m->functions[v->relocations[i].index].taken = true;
        } else {
            reach_variable(s, v->relocations[i].index);
        }
    }
}

static void drop_unused(struct ptx_module *m) {
    list_each(i, v, m->variables, m->variable_count) {
        if (!v->used) {
            free(take(v->initialiser));
            free(take(v->relocations));
            v->relocation_count = 0;
        }
    }
}

static uint32_t alias_of(const struct ptx_module *m, uint32_t index) {
    for (uint32_t steps = 0; m->functions[index].alias && steps < 64; steps++) {
        index = m->functions[index].alias - 1;
    }
    return index;
}

static void rename_operands(const struct ptx_module *m, struct ptx_operand *operands,
                            uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (operands[i].kind == PTX_OPERAND_FUNCTION) {
            operands[i].index = alias_of(m, operands[i].index);
        }
    }
}

/* Replaces aliases by their functions. */
static void resolve_aliases(struct ptx_module *m) {
    bool any = any_of(i, 0, m->function_count, m->functions[i].alias);
    for (uint32_t i = 0; any && i < m->function_count; i++) {
        struct ptx_function *f = &m->functions[i];
        rename_operands(m, f->operands, f->operand_count);
        rename_operands(m, f->elements, f->element_count);
        for (uint32_t t = 0; t < f->table_count; t++) {
            for (uint32_t k = 0; f->tables[t].calls && k < f->tables[t].count; k++) {
                f->tables[t].targets[k] = alias_of(m, f->tables[t].targets[k]);
            }
        }
    }
    for (uint32_t i = 0; any && i < m->variable_count; i++) {
        struct ptx_variable *v = &m->variables[i];
        for (uint32_t k = 0; k < v->relocation_count; k++) {
            if (v->relocations[k].is_function) {
                v->relocations[k].index = alias_of(m, v->relocations[k].index);
            }
        }
    }
}

static bool is_hosts(const struct ptx_variable *v) {
    return v->function < 0 && !v->is_extern &&
           (v->space == PTX_GLOBAL || v->space == PTX_CONST);
}

void ptx_mark_used(struct ptx_module *m, bool whole) {
    struct block_reach s = {.m = m};
    s.functions = xcalloc((size_t)m->function_count + 1, sizeof *s.functions);
    s.variables = xcalloc((size_t)m->variable_count + 1, sizeof *s.variables);
    resolve_aliases(m);
    for (uint32_t i = 0; i < m->function_count; i++) {
        if (m->functions[i].is_entry && !m->functions[i].is_declaration) {
            reach_function(&s, i);
        }
    }
    for (uint32_t i = 0; whole && i < m->variable_count; i++) {
        if (is_hosts(&m->variables[i])) {
            reach_variable(&s, i);
        }
    }
    while (s.function_count || s.variable_count) {
        if (s.function_count) {
            look_into_function(&s, &m->functions[s.functions[--s.function_count]]);
        } else {
            look_into_variable(&s, &m->variables[s.variables[--s.variable_count]]);
        }
    }
    drop_unused(m);
    free(s.functions);
    free(s.variables);
}
