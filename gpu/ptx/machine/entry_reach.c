#include "gpu/ptx/machine/entry_reach.h"

#include "base/find.h"

static void reach_function(struct reach *r, uint32_t index) {
    if (!r->functions[index]) {
        r->functions[index] = true;
        r->queue[r->queued++] = index;
    }
}

static void reach_variable(struct reach *r, uint32_t first) {
    /* Initialisers name further variables; a list in the array keeps this flat. */
    autofree uint32_t *todo = xmalloc(r->module->variable_count * sizeof *todo);
    uint32_t count = 0;
    if (!r->variables[first]) {
        r->variables[first] = true;
        todo[count++] = first;
    }
    while (count > 0) {
        const struct ptx_variable *v = &r->module->variables[todo[--count]];
        for (uint32_t k = 0; k < v->relocation_count; k++) {
            uint32_t index = v->relocations[k].index;
            if (v->relocations[k].is_function) {
                reach_function(r, index);
            } else if (!r->variables[index]) {
                r->variables[index] = true;
                todo[count++] = index;
            }
        }
    }
}

static void reach_operand(struct reach *r, const struct ptx_function *f,
                          const struct ptx_operand *o) {
    bool symbol = o->kind == PTX_OPERAND_SYMBOL ||
                  (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_SYMBOL);
    if (symbol && !r->variables[o->index]) {
        reach_variable(r, o->index);
    }
    if (o->kind == PTX_OPERAND_FUNCTION) {
        reach_function(r, o->index);
    }
    if (o->kind == PTX_OPERAND_TABLE && f->tables[o->index].calls) {
        for (uint32_t k = 0; k < f->tables[o->index].count; k++) {
            reach_function(r, f->tables[o->index].targets[k]);
        }
    }
}

/* A call through a register that names no targets. */
static bool calls_any(const struct ptx_function *f) {
    list_each(k, i, f->code, f->code_count) {
        const struct ptx_operand *o = &f->operands[i->operands];
        if (i->opcode == PTX_OP_CALL && o->kind == PTX_OPERAND_REGISTER &&
            (i->operand_count < 4 || o[3].kind != PTX_OPERAND_TABLE)) {
            return true;
        }
    }
    return false;
}

/* All whose address is known anywhere: what is called may be in an object that another
 * kernel made. */
static void reach_taken(struct reach *r) {
    list_each(k, f, r->module->functions, r->module->function_count) {
        if (f->taken && !f->is_entry) {
            reach_function(r, k);
        }
    }
}

void reach_entry(struct reach *r, const struct ptx_module *module, uint32_t entry) {
    *r = (struct reach){.module = module};
    r->functions = xcalloc(module->function_count + 1u, sizeof *r->functions);
    r->queue = xcalloc(module->function_count + 1u, sizeof *r->queue);
    r->variables = xcalloc(module->variable_count + 1u, sizeof *r->variables);
    reach_function(r, entry);
    while (r->done < r->queued) {
        const struct ptx_function *f = &r->module->functions[r->queue[r->done++]];
        if (calls_any(f)) {
            reach_taken(r);
        }
        for (uint32_t k = 0; k < f->operand_count; k++) {
            reach_operand(r, f, &f->operands[k]);
        }
        for (uint32_t k = 0; k < f->element_count; k++) {
            reach_operand(r, f, &f->elements[k]);
        }
    }
}

void reach_free(struct reach *r) {
    free(r->functions);
    free(r->queue);
    free(r->variables);
}

uint64_t entry_static_shared(const struct ptx_module *module, uint32_t entry) {
    struct reach r;
    uint64_t bytes = 0;
    reach_entry(&r, module, entry);
    list_each(k, v, module->variables, module->variable_count) {
        if (v->space == PTX_SHARED && r.variables[k] && !v->is_unsized) {
            uint64_t align = v->align ? v->align : 1;
            bytes = (bytes + align - 1) / align * align + v->size;
        }
    }
    reach_free(&r);
    return bytes;
}
