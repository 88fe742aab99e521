/* Registers that a path may read before it has written them. */
#include "base/mem.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/lower/register_flow.h"

#include <string.h>

struct unwritten {
    const struct ptx_function *f;
    bool *read; /* the answer, by register */
};

/* Writes all of its results in each lane that it runs for, and looks at no other lane. */
static bool writes_results(const struct ptx_instruction *i) {
    struct step unused = {0};
    return i->opcode == PTX_OP_MOV || i->opcode == PTX_OP_CVTA ||
           i->opcode == PTX_OP_LD || i->opcode == PTX_OP_LDU || bind_alu(i, &unused);
}

/* Has no results, and each lane reads its own registers only. */
static bool only_reads(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_ST || i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_RET ||
           i->opcode == PTX_OP_EXIT;
}

/* Register k of an operand: itself or its address's, then those of its vector. */
static uint32_t part_register(const struct ptx_function *f, const struct ptx_operand *o,
                              uint32_t k) {
    const struct ptx_operand *e = k ? &f->elements[o->first + k - 1] : o;
    bool is = e->kind == PTX_OPERAND_REGISTER ||
              (e->kind == PTX_OPERAND_ADDRESS && e->base == PTX_BASE_REGISTER);
    return is ? e->index : UINT32_MAX;
}

static uint32_t part_count(const struct ptx_operand *o) {
    bool has = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_ADDRESS;
    return 1 + (has ? o->count : 0);
}

static void operand_read(const struct unwritten *u, const uint64_t *set, bool always,
                         const struct ptx_operand *o) {
    for (uint32_t k = 0; k < part_count(o); k++) {
        uint32_t r = part_register(u->f, o, k);
        if (r != UINT32_MAX) {
            u->read[r] |= always || (set[r / 64] >> (r % 64) & 1);
        }
    }
}

static void operand_write(const struct unwritten *u, uint64_t *set,
                          const struct ptx_operand *o) {
    for (uint32_t k = 0; k < part_count(o); k++) {
        uint32_t r = part_register(u->f, o, k);
        if (r != UINT32_MAX) {
            set[r / 64] &= ~(UINT64_C(1) << (r % 64));
        }
    }
}

/* The set: registers that may be unwritten. What is not known exactly counts as a read of
 * whatever it names: warp operations see other lanes' registers, too. */
static void unwritten_step(const struct register_flow *flow, uint32_t at, uint64_t *set) {
    const struct unwritten *u = flow->data;
    const struct ptx_instruction *i = &u->f->code[at];
    const struct ptx_operand *o = &u->f->operands[i->operands];
    bool writes = i->operand_count > 0 && writes_results(i);
    unsigned results = !writes ? 0 : i->has_pair ? 2 : 1;
    for (unsigned k = results; k < i->operand_count; k++) {
        operand_read(u, set, !writes && !only_reads(i), &o[k]);
    }
    if (i->guard >= 0) {
        uint32_t r = (uint32_t)i->guard;
        u->read[r] |= set[r / 64] >> (r % 64) & 1;
        return; /* lanes that it leaves out keep what they had */
    }
    for (unsigned k = 0; k < results; k++) {
        operand_write(u, set, &o[k]);
    }
}

bool *lower_unwritten(const struct ptx_function *f) {
    struct unwritten u = {.f = f, .read = xcalloc(f->register_count + 1u, 1)};
    uint32_t words = f->register_count / 64 + 1;
    uint64_t *all = xmalloc(words * sizeof *all);
    memset(all, 0xff, words * sizeof *all);
    const struct register_flow flow = {
        .function = f, .words = words, .step = unwritten_step, .data = &u};
    if (!register_flow_run(&flow, all)) {
        memset(u.read, 1, f->register_count);
    }
    free(all);
    return u.read;
}
