#include "gpu/ptx/lower/register_flow.h"

#include "gpu/ptx/alu/bind.h"

#define MAX_ROUNDS 256                /* over the blocks */
#define MAX_CELLS (UINT32_C(1) << 21) /* blocks times words of a set */

/* ---- what an instruction names ---- */

bool instruction_is_load(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_LD || i->opcode == PTX_OP_LDU;
}

bool instruction_only_reads(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_ST || i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_RET ||
           i->opcode == PTX_OP_EXIT;
}

unsigned instruction_results(const struct ptx_instruction *i) {
    struct step unused = {0};
    bool writes =
        i->operand_count > 0 && (i->opcode == PTX_OP_MOV || i->opcode == PTX_OP_CVTA ||
                                 instruction_is_load(i) || bind_alu(i, &unused));
    return !writes ? 0 : i->has_pair ? 2 : 1;
}

uint32_t operand_parts(const struct ptx_operand *o) {
    bool has = o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_ADDRESS;
    return 1 + (has ? o->count : 0);
}

uint32_t operand_register(const struct ptx_function *f, const struct ptx_operand *o,
                          uint32_t k) {
    const struct ptx_operand *e = k ? &f->elements[o->first + k - 1] : o;
    bool is = e->kind == PTX_OPERAND_REGISTER ||
              (e->kind == PTX_OPERAND_ADDRESS && e->base == PTX_BASE_REGISTER);
    return is ? e->index : UINT32_MAX;
}

/* ---- flow ---- */

struct flow_walk {
    const struct register_flow *flow;
    uint32_t words;
    uint64_t *entry;  /* per block */
    uint32_t *blocks; /* of each instruction */
    uint32_t block_count;
    bool *queued, *seen;
};

static void flow_into(struct flow_walk *w, uint32_t to, const uint64_t *set) {
    uint64_t *entry = w->entry + (size_t)w->blocks[to] * w->words;
    bool more = !w->seen[w->blocks[to]];
    w->seen[w->blocks[to]] = true;
    for (uint32_t k = 0; k < w->words; k++) {
        more = more || (set[k] & ~entry[k]) != 0;
        entry[k] |= set[k];
    }
    w->queued[w->blocks[to]] |= more;
}

static void flow_targets(struct flow_walk *w, const struct ptx_instruction *i,
                         const uint64_t *set) {
    const struct ptx_function *f = w->flow->function;
    const struct ptx_operand *o = &f->operands[i->operands];
    if (i->opcode == PTX_OP_BRA && i->operand_count > 0) {
        flow_into(w, o[0].index, set);
    } else if (i->opcode == PTX_OP_BRX && i->operand_count > 1 &&
               o[1].kind == PTX_OPERAND_TABLE) {
        const struct ptx_table *t = &f->tables[o[1].index];
        for (uint32_t k = 0; !t->calls && k < t->count; k++) {
            flow_into(w, t->targets[k], set);
        }
    }
}

static bool ends(const struct ptx_instruction *i) {
    bool leaves = i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_BRX ||
                  i->opcode == PTX_OP_RET || i->opcode == PTX_OP_EXIT ||
                  i->opcode == PTX_OP_TRAP;
    return leaves && i->guard < 0;
}

static void flow_block(struct flow_walk *w, uint32_t first, uint64_t *set) {
    const struct ptx_function *f = w->flow->function;
    uint32_t at = first, block = w->blocks[first];
    memcpy(set, w->entry + (size_t)block * w->words, w->words * sizeof *set);
    for (;; at++) {
        if (at == f->code_count) {
            return;
        }
        if (w->blocks[at] != block) {
            flow_into(w, at, set);
            return;
        }
        w->flow->step(w->flow, at, set);
        flow_targets(w, &f->code[at], set);
        if (ends(&f->code[at])) {
            return;
        }
    }
}

/* Once over the blocks that wait for it. */
static bool flow_round(struct flow_walk *w, uint64_t *set) {
    bool any = false;
    for (uint32_t at = 0; at < w->flow->function->code_count; at++) {
        uint32_t block = w->blocks[at];
        bool head = at == 0 || w->blocks[at - 1] != block;
        if (head && w->queued[block]) {
            w->queued[block] = false;
            flow_block(w, at, set);
            any = true;
        }
    }
    return any;
}

static bool flow_settle(struct flow_walk *w, const uint64_t *entry) {
    autofree uint64_t *set = xcalloc(w->words, sizeof *set);
    w->entry = xcalloc((size_t)w->block_count * w->words, sizeof *w->entry);
    w->queued = xcalloc(w->block_count, sizeof *w->queued);
    w->seen = xcalloc(w->block_count, sizeof *w->seen);
    flow_into(w, 0, entry ? entry : set);
    unsigned rounds = 0;
    while (rounds < MAX_ROUNDS && flow_round(w, set)) {
        rounds++;
    }
    free(w->entry);
    free(w->queued);
    free(w->seen);
    return rounds < MAX_ROUNDS;
}

bool register_flow_run(const struct register_flow *flow, const uint64_t *entry) {
    const struct ptx_function *f = flow->function;
    struct flow_walk w = {.flow = flow, .words = flow->words};
    w.blocks = xcalloc(f->code_count + 1u, sizeof *w.blocks);
    for (uint32_t k = 0; k < f->code_count; k++) {
        w.block_count += k == 0 || f->leader[k] || ends(&f->code[k - 1]);
        w.blocks[k] = w.block_count - 1;
    }
    bool fits = f->code_count > 0 && (uint64_t)w.block_count * w.words <= MAX_CELLS;
    bool settled = fits && flow_settle(&w, entry);
    free(w.blocks);
    return settled;
}
