/* Calls: what is passed and returned has the sizes that the callee declares. */
#include "base/find.h"
#include "gpu/ptx/read/ptx_legality.h"

/* An argument or result: a .param variable of the caller's body, or a register or
 * constant for one value of that many bytes. */
static bool check_passed(const struct ptx_check *c, struct ptx_operand *o, uint64_t bytes,
                         bool result) {
    if (o->kind == PTX_OPERAND_SYMBOL) {
        const struct ptx_variable *v = &c->r->m->variables[o->index];
        return (v->space == PTX_PARAM && v->param_block == PTX_BLOCK_CALL &&
                v->function == c->r->function && o->offset == 0 && v->size == bytes) ||
               ptx_refuse(c, -1, "passes a variable of another size or space");
    }
    if (o->kind == PTX_OPERAND_IMMEDIATE) {
        return (!result && bytes <= 8) || ptx_refuse(c, -1, "passes no such constant");
    }
    if (o->kind != PTX_OPERAND_REGISTER || o->negated) {
        return ptx_refuse(c, -1, "passes .param variables, registers and constants only");
    }
    enum ptx_type t = ptx_current(c->r)->registers[o->index].type;
    return ptx_type_bytes(t) == bytes ||
           ptx_refuse(c, -1, "passes a register of another size");
}

/* By the callee's variables, or by a prototype's sizes. */
static bool check_list(const struct ptx_check *c, const struct ptx_operand *list,
                       const uint32_t *variables, const uint32_t *sizes, uint32_t count,
                       bool result) {
    if (list->count != count) {
        return ptx_refuse(c, -1,
                          result ? "takes another number of results"
                                 : "passes another number of arguments");
    }
    struct ptx_operand *elements = ptx_elements_of(c, list);
    for (uint32_t k = 0; k < count; k++) {
        uint64_t bytes =
            variables ? c->r->m->variables[variables[k]].size : (uint64_t)sizes[k];
        if (!check_passed(c, &elements[k], bytes, result)) {
            return false;
        }
    }
    return true;
}

static bool check_function(const struct ptx_check *c, uint32_t index) {
    const struct ptx_function *f = &c->r->m->functions[index];
    if (f->is_entry) {
        return ptx_refuse(c, -1, "names a kernel, not a function");
    }
    return check_list(c, &c->operands[1], f->results, NULL, f->result_count, true) &&
           check_list(c, &c->operands[2], f->params, NULL, f->param_count, false);
}

static bool check_targets(const struct ptx_check *c, uint32_t index) {
    const struct ptx_table *table = &ptx_current(c->r)->tables[index];
    if (!table->calls) {
        return ptx_refuse(c, -1, "names labels, not functions");
    }
    return all_of(k, 0, table->count, check_function(c, table->targets[k]));
}

static bool check_indirect(const struct ptx_check *c) {
    if (c->i->operand_count != 4) {
        return ptx_refuse(c, -1, "of a register needs a prototype or targets");
    }
    const struct ptx_operand *kind = &c->operands[3];
    if (!ptx_check_source(c, 0, &c->operands[0], PTX_B64)) {
        return false;
    }
    if (kind->kind == PTX_OPERAND_TABLE) {
        return check_targets(c, kind->index);
    }
    if (kind->kind != PTX_OPERAND_PROTOTYPE) {
        return ptx_refuse(c, 3, "is neither a prototype nor a list of targets");
    }
    const struct ptx_prototype *p = &c->r->m->prototypes[kind->index];
    return check_list(c, &c->operands[1], NULL, p->result_bytes, p->result_count, true) &&
           check_list(c, &c->operands[2], NULL, p->param_bytes, p->param_count, false);
}

bool ptx_check_call(const struct ptx_check *c) {
    if (c->i->operand_count < 3 || c->i->has_pair) {
        return ptx_refuse(c, -1, "names no function");
    }
    if (c->operands[0].kind == PTX_OPERAND_REGISTER) {
        return check_indirect(c);
    }
    if (c->operands[0].kind != PTX_OPERAND_FUNCTION || c->i->operand_count != 3) {
        return ptx_refuse(c, -1, "names no function");
    }
    return check_function(c, c->operands[0].index);
}
