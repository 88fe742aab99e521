/* Any bytes as PTX. Of what is read, everything that module.h promises to later stages
 * must be in range: each index is followed here. */
#include "gpu/ptx/read/module.h"

#include <stdlib.h>
#include <string.h>

static void need(bool ok) {
    if (!ok) {
        abort();
    }
}

static void check_operand(const struct ptx_module *m, const struct ptx_function *f,
                          const struct ptx_operand *o, bool element) {
    switch (o->kind) {
    case PTX_OPERAND_REGISTER:
        need(o->index < f->register_count);
        break;
    case PTX_OPERAND_SPECIAL:
        need(o->index < PTX_SPECIALS);
        break;
    case PTX_OPERAND_SYMBOL:
        need(o->index < m->variable_count);
        break;
    case PTX_OPERAND_FUNCTION:
        need(o->index < m->function_count);
        break;
    case PTX_OPERAND_ADDRESS:
        need(o->base != PTX_BASE_REGISTER || o->index < f->register_count);
        need(o->base != PTX_BASE_SYMBOL || o->index < m->variable_count);
        need(o->count <= f->element_count && o->first <= f->element_count - o->count);
        break;
    case PTX_OPERAND_LABEL:
        need(o->index < f->code_count && f->leader[o->index]);
        break;
    case PTX_OPERAND_VECTOR:
        need(!element);
        need(o->count <= f->element_count && o->first <= f->element_count - o->count);
        break;
    case PTX_OPERAND_TABLE:
        need(o->index < f->table_count);
        break;
    case PTX_OPERAND_PROTOTYPE:
        need(o->index < m->prototype_count);
        break;
    default:
        need(o->kind == PTX_OPERAND_IMMEDIATE || o->kind == PTX_OPERAND_SINK);
    }
}

static void check_instruction(const struct ptx_module *m, const struct ptx_function *f,
                              const struct ptx_instruction *i) {
    need(i->opcode < PTX_OPCODES && i->place < m->place_count);
    need(i->spelling <= m->len && i->spelling_len <= m->len - i->spelling);
    need(i->operand_count <= f->operand_count &&
         i->operands <= f->operand_count - i->operand_count);
    need(i->guard < 0 || ((uint32_t)i->guard < f->register_count &&
                          f->registers[i->guard].type == PTX_PRED));
    for (unsigned k = 0; k < i->operand_count; k++) {
        check_operand(m, f, &f->operands[i->operands + k], false);
    }
}

static void check_function(const struct ptx_module *m, const struct ptx_function *f) {
    for (uint32_t i = 0; i < f->code_count; i++) {
        check_instruction(m, f, &f->code[i]);
    }
    for (uint32_t i = 0; i < f->element_count; i++) {
        check_operand(m, f, &f->elements[i], true);
    }
    for (uint32_t t = 0; t < f->table_count; t++) {
        for (uint32_t i = 0; i < f->tables[t].count; i++) {
            need(f->tables[t].targets[i] <
                 (f->tables[t].calls ? m->function_count : f->code_count));
        }
    }
    for (uint32_t i = 0; i < f->param_count; i++) {
        const struct ptx_variable *v = &m->variables[f->params[i]];
        need(v->offset + v->size <= f->param_bytes && v->offset % v->align == 0);
    }
    const struct ptx_instruction *last =
        f->code_count ? &f->code[f->code_count - 1] : NULL;
    need(f->is_declaration || (last && last->guard < 0));
}

static void check_variable(const struct ptx_module *m, const struct ptx_variable *v) {
    unsigned sum = 0;
    need(v->align > 0 && (v->align & (v->align - 1)) == 0);
    need(v->initialiser == NULL || v->size <= PTX_MAX_INITIALISER);
    for (uint64_t i = 0; v->initialiser && i < v->size; i += 61) {
        sum += v->initialiser[i];
    }
    need(sum != UINT32_MAX);
    for (uint32_t i = 0; i < v->relocation_count; i++) {
        const struct ptx_relocation *r = &v->relocations[i];
        need(r->at <= v->size && r->bytes <= v->size - r->at);
        need(r->index < (r->is_function ? m->function_count : m->variable_count));
    }
    const struct ptx_function *f = v->function >= 0 ? &m->functions[v->function] : NULL;
    need(v->function < (int32_t)m->function_count);
    need(!f || !v->used || v->space != PTX_LOCAL ||
         v->offset + v->size <= f->local_bytes);
    need(!f || v->param_block != PTX_BLOCK_CALL || v->offset + v->size <= f->call_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct ptx_module *m;
    if (ptx_module_read(&m, (const char *)data, size, NULL) < 0) {
        return 0;
    }
    for (uint32_t i = 0; i < m->function_count; i++) {
        check_function(m, &m->functions[i]);
    }
    for (uint32_t i = 0; i < m->variable_count; i++) {
        check_variable(m, &m->variables[i]);
    }
    for (uint32_t i = 1; i < m->place_count; i++) {
        need(m->places[i].caller < m->place_count && m->places[i].caller != i);
    }
    ptx_module_free(m);
    return 0;
}
