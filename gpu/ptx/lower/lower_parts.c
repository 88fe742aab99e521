/* The tables of a program that steps refer to grow. */
#include "gpu/ptx/lower/lower.h"

#define GROW(array, count)                                                               \
    do {                                                                                 \
        if (((count) & ((count)-1)) == 0) {                                              \
            uint32_t room_ = (count) ? (count)*2 : 1;                                    \
            (array) = xreallocarray((array), room_, sizeof *(array));                    \
        }                                                                                \
    } while (0)

uint32_t lower_add_access(struct lowering *l, const struct access *a) {
    struct program *p = l->program;
    GROW(p->accesses, p->access_count);
    p->accesses[p->access_count] = *a;
    p->accesses[p->access_count].code = l->code->index;
    p->accesses[p->access_count].instruction = l->index;
    return p->access_count++;
}

uint32_t lower_add_image(struct lowering *l, const struct image_access *x) {
    struct program *p = l->program;
    GROW(p->images, p->image_count);
    p->images[p->image_count] = *x;
    return p->image_count++;
}

uint32_t lower_add_vector(struct lowering *l, const struct vector_registers *v) {
    struct program *p = l->program;
    GROW(p->vectors, p->vector_count);
    p->vectors[p->vector_count] = *v;
    return p->vector_count++;
}

uint32_t lower_add_call(struct lowering *l, const struct call_site *c) {
    struct program *p = l->program;
    GROW(p->calls, p->call_count);
    p->calls[p->call_count] = *c;
    return p->call_count++;
}

uint32_t lower_add_table(struct lowering *l, const struct branch_table *t) {
    struct program *p = l->program;
    GROW(p->tables, p->table_count);
    p->tables[p->table_count] = *t;
    return p->table_count++;
}

uint32_t lower_add_block(struct lowering *l) {
    struct program *p = l->program;
    GROW(p->blocks, p->block_count);
    p->blocks[p->block_count] =
        (struct basic_block){.code = l->code->index, .first = l->index};
    return p->block_count++;
}

bool lower_ends_block(const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_CALL:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
    case PTX_OP_BRKPT:
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return true;
    default:
        return false;
    }
}
