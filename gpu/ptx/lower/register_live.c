#include "gpu/ptx/lower/register_live.h"

#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/lower/register_flow.h"

#define MAX_CELLS (UINT32_C(1) << 21) /* blocks times words of a set */

struct register_live {
    const struct ptx_function *f;
    uint32_t words, block_count;
    uint32_t *blocks; /* of each instruction, and one after the last */
    uint64_t *heads;  /* per block: a bit per register; NULL: too large */
    uint64_t *ever;
    uint8_t *results; /* of each instruction */
};

static void bit_set(uint64_t *set, uint32_t r) {
    set[r / 64] |= UINT64_C(1) << (r % 64);
}

static bool bit_get(const uint64_t *set, uint32_t r) {
    return set[r / 64] >> (r % 64) & 1;
}

static void operand_read(const struct register_live *l, const struct ptx_operand *o,
                         uint64_t *set) {
    for (uint32_t part = 0; part < operand_parts(o); part++) {
        uint32_t r = operand_register(l->f, o, part);
        if (r != UINT32_MAX) {
            bit_set(set, r);
        }
    }
}

static void operand_write(const struct register_live *l, const struct ptx_operand *o,
                          uint64_t *set) {
    for (uint32_t part = 0; part < operand_parts(o); part++) {
        uint32_t r = operand_register(l->f, o, part);
        if (r != UINT32_MAX) {
            set[r / 64] &= ~(UINT64_C(1) << (r % 64));
        }
    }
}

/* Backwards over an instruction. Of one that does more than compute results all operands
 * count as read. */
static void instruction_before(const struct register_live *l,
                               const struct ptx_instruction *i, uint64_t *set) {
    const struct ptx_operand *o = &l->f->operands[i->operands];
    unsigned results = l->results[i - l->f->code];
    for (unsigned k = 0; k < results && i->guard < 0; k++) {
        operand_write(l, &o[k], set);
    }
    for (unsigned k = results; k < i->operand_count; k++) {
        operand_read(l, &o[k], set);
    }
    if (i->guard >= 0) {
        bit_set(set, (uint32_t)i->guard);
    }
}

static void head_add(const struct register_live *l, uint32_t at, uint64_t *set) {
    const uint64_t *head = l->heads + (size_t)l->blocks[at] * l->words;
    for (uint32_t k = 0; k < l->words; k++) {
        set[k] |= head[k];
    }
}

/* The successors of an instruction that may branch. */
static void targets_add(const struct register_live *l, const struct ptx_instruction *i,
                        uint64_t *set) {
    const struct ptx_operand *o = &l->f->operands[i->operands];
    bool leaves = i->opcode == PTX_OP_BRA || i->opcode == PTX_OP_BRX ||
                  i->opcode == PTX_OP_RET || i->opcode == PTX_OP_EXIT ||
                  i->opcode == PTX_OP_TRAP;
    if (leaves && i->guard < 0) {
        memset(set, 0, l->words * sizeof *set);
    }
    if (i->opcode == PTX_OP_BRA && i->operand_count > 0) {
        head_add(l, o[0].index, set);
    } else if (i->opcode == PTX_OP_BRX && i->operand_count > 1 &&
               o[1].kind == PTX_OPERAND_TABLE) {
        const struct ptx_table *t = &l->f->tables[o[1].index];
        for (uint32_t k = 0; !t->calls && k < t->count; k++) {
            head_add(l, t->targets[k], set);
        }
    }
}

/* Once from the end to the beginning; false: nothing changed. */
static bool live_round(const struct register_live *l, uint64_t *set) {
    bool changed = false;
    memset(set, 0, l->words * sizeof *set);
    for (uint32_t at = l->f->code_count; at > 0; at--) {
        const struct ptx_instruction *i = &l->f->code[at - 1];
        uint64_t *head = l->heads + (size_t)l->blocks[at - 1] * l->words;
        targets_add(l, i, set);
        instruction_before(l, i, set);
        if ((at == 1 || l->blocks[at - 2] != l->blocks[at - 1]) &&
            memcmp(head, set, l->words * sizeof *set) != 0) {
            memcpy(head, set, l->words * sizeof *set);
            changed = true;
        }
    }
    return changed;
}

struct register_live *register_live_new(const struct ptx_function *f) {
    struct register_live *l = xcalloc(1, sizeof *l);
    l->f = f;
    l->words = f->register_count / 64 + 1;
    l->blocks = xcalloc(f->code_count + 1u, sizeof *l->blocks);
    l->ever = xcalloc(l->words, sizeof *l->ever);
    l->results = xcalloc(f->code_count + 1u, 1);
    for (uint32_t k = 0; k <= f->code_count; k++) {
        l->block_count += k == 0 || f->leader[k] || lower_ends_block(&f->code[k - 1]);
        l->blocks[k] = l->block_count - 1;
    }
    for (uint32_t k = 0; k < f->code_count; k++) {
        const struct ptx_instruction *i = &f->code[k];
        l->results[k] = (uint8_t)instruction_results(i);
        for (unsigned o = l->results[k]; o < i->operand_count; o++) {
            operand_read(l, &f->operands[i->operands + o], l->ever);
        }
        if (i->guard >= 0) {
            bit_set(l->ever, (uint32_t)i->guard);
        }
    }
    if ((uint64_t)l->block_count * l->words <= MAX_CELLS) {
        l->heads = xcalloc((size_t)l->block_count * l->words, sizeof *l->heads);
        uint64_t *set = xcalloc(l->words, sizeof *set);
        while (live_round(l, set)) {}
        free(set);
    }
    return l;
}

void register_live_free(struct register_live *l) {
    if (l) {
        free(l->blocks);
        free(l->heads);
        free(l->ever);
        free(l->results);
        free(l);
    }
}

bool register_live_at(const struct register_live *l, uint32_t at, uint32_t r) {
    return !l->heads || bit_get(l->heads + (size_t)l->blocks[at] * l->words, r);
}

uint64_t *register_live_before(const struct register_live *l, uint32_t at) {
    if (!l->heads) {
        return NULL;
    }
    uint64_t *set = xcalloc(l->words, sizeof *set);
    uint32_t end = at;
    while (end < l->f->code_count && l->blocks[end] == l->blocks[at]) {
        end++;
    }
    if (end < l->f->code_count) {
        head_add(l, end, set);
    }
    while (end-- > at) {
        targets_add(l, &l->f->code[end], set);
        instruction_before(l, &l->f->code[end], set);
    }
    return set;
}

bool register_live_in(const uint64_t *set, uint32_t r) {
    return !set || bit_get(set, r);
}

bool register_live_ever(const struct register_live *l, uint32_t r) {
    return bit_get(l->ever, r);
}

const struct register_live *register_live_kept(struct register_live **kept,
                                               const struct ptx_function *f) {
    struct register_live *live = __atomic_load_n(kept, __ATOMIC_ACQUIRE);
    if (!live) {
        struct register_live *made = register_live_new(f);
        if (__atomic_compare_exchange_n(kept, &live, made, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return made;
        }
        register_live_free(made);
    }
    return live;
}

unsigned register_live_results(const struct register_live *live, uint32_t at) {
    return live->results[at];
}
