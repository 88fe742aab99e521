/* Which instructions may read accumulators that a wgmma.mma_async is still writing.
 *
 * A register is in flight from the product that writes it, through moves (NVVM makes some
 * between the products of one pipeline stage), to the wgmma.wait_group that waits for its
 * group. Said of registers on any path (register_flow.h); at run time it is told only
 * where a product has not been waited for. */
#include "base/find.h"
#include "gpu/ptx/lower/register_flow.h"
#include "gpu/ptx/matrix/wgmma.h"

/* A set has a plane for each age: products that are not committed, those of the last
 * group committed, of the one before, and of all before that. */
#define PLANES 4u

struct flow {
    const struct ptx_function *f;
    uint32_t plane; /* words of one */
    bool *early;    /* the answer, by instruction */
};

/* The planes that have the register, a bit each. */
static unsigned set_ages(const struct flow *w, const uint64_t *set, uint32_t r) {
    unsigned ages = 0;
    for (unsigned p = 0; p < PLANES; p++) {
        ages |= (unsigned)(set[p * w->plane + r / 64] >> (r % 64) & 1) << p;
    }
    return ages;
}

static void set_put(const struct flow *w, uint64_t *set, uint32_t r, unsigned ages) {
    uint64_t bit = UINT64_C(1) << (r % 64);
    for (unsigned p = 0; p < PLANES; p++) {
        uint64_t *word = &set[p * w->plane + r / 64];
        *word = ages >> p & 1 ? *word | bit : *word & ~bit;
    }
}

static void set_commit(const struct flow *w, uint64_t *set) {
    for (uint32_t k = 0; k < w->plane; k++) {
        set[(PLANES - 1) * w->plane + k] |= set[(PLANES - 2) * w->plane + k];
    }
    memmove(set + w->plane, set, (PLANES - 2) * w->plane * sizeof *set);
    memset(set, 0, w->plane * sizeof *set);
}

/* Uncommitted products are reported elsewhere; the age of the oldest is unknown. */
static void set_wait(const struct flow *w, uint64_t *set, uint64_t groups) {
    uint32_t stay = groups < PLANES - 2 ? (uint32_t)groups : PLANES - 2;
    memset(set, 0, w->plane * sizeof *set);
    memset(set + (stay + 1) * w->plane, 0, (PLANES - 1 - stay) * w->plane * sizeof *set);
}

static bool is_product(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_WGMMA && ptx_has(i, PTX_M_MMA_ASYNC);
}

static bool operand_reads(const struct flow *w, const uint64_t *set,
                          const struct ptx_operand *o) {
    const struct ptx_function *f = w->f;
    if (o->kind == PTX_OPERAND_REGISTER ||
        (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_REGISTER)) {
        return set_ages(w, set, o->index) != 0;
    }
    bool any = false;
    for (uint32_t k = 0; o->kind == PTX_OPERAND_VECTOR && k < o->count; k++) {
        const struct ptx_operand *e = &f->elements[o->first + k];
        any = any || (e->kind == PTX_OPERAND_REGISTER && set_ages(w, set, e->index) != 0);
    }
    return any;
}

static void operand_write(const struct flow *w, uint64_t *set,
                          const struct ptx_operand *o, unsigned ages) {
    const struct ptx_function *f = w->f;
    if (o->kind == PTX_OPERAND_REGISTER) {
        set_put(w, set, o->index, ages);
    }
    for (uint32_t k = 0; o->kind == PTX_OPERAND_VECTOR && k < o->count; k++) {
        const struct ptx_operand *e = &f->elements[o->first + k];
        if (e->kind == PTX_OPERAND_REGISTER) {
            set_put(w, set, e->index, ages);
        }
    }
}

/* Results in front: what has none reads all of its operands. */
static unsigned result_count(const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_STMATRIX:
    case PTX_OP_SUST:
    case PTX_OP_SURED:
    case PTX_OP_CP:
    case PTX_OP_CALL:
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
    case PTX_OP_MBARRIER:
        return 0;
    case PTX_OP_WMMA:
        return ptx_has(i, PTX_M_STORE) ? 0 : 1;
    default:
        return i->operand_count == 0 ? 0 : i->has_pair ? 2 : 1;
    }
}

static void flow_step(const struct register_flow *flow, uint32_t at, uint64_t *set) {
    const struct flow *w = flow->data;
    const struct ptx_function *f = w->f;
    const struct ptx_instruction *i = &f->code[at];
    const struct ptx_operand *o = &f->operands[i->operands];
    if (is_product(i)) {
        bool reads = o[1].kind == PTX_OPERAND_VECTOR && operand_reads(w, set, &o[1]);
        w->early[at] |= reads;
        operand_write(w, set, &o[0], 1);
        return;
    }
    if (i->opcode == PTX_OP_WGMMA) {
        if (ptx_has(i, PTX_M_COMMIT_GROUP)) {
            set_commit(w, set);
        } else if (ptx_has(i, PTX_M_WAIT_GROUP)) {
            set_wait(w, set, o[0].kind == PTX_OPERAND_IMMEDIATE ? o[0].bits : 0);
        }
        return;
    }
    unsigned results = result_count(i);
    bool reads = any_of(k, results, i->operand_count, operand_reads(w, set, &o[k]));
    bool moves = i->opcode == PTX_OP_MOV && o[0].kind == PTX_OPERAND_REGISTER &&
                 o[1].kind == PTX_OPERAND_REGISTER;
    w->early[at] |= reads && !moves;
    bool always = i->guard < 0;
    unsigned ages = moves ? set_ages(w, set, o[1].index) : 0;
    for (unsigned k = 0; k < results; k++) {
        if (always || ages) {
            operand_write(w, set, &o[k], ages);
        }
    }
}

bool *wgmma_early(const struct ptx_function *f) {
    if (!any_of(k, 0, f->code_count, is_product(&f->code[k]))) {
        return NULL;
    }
    struct flow w = {.f = f, .plane = f->register_count / 64 + 1};
    w.early = xcalloc(f->code_count + 1u, sizeof *w.early);
    const struct register_flow flow = {
        .function = f, .words = PLANES * w.plane, .step = flow_step, .data = &w};
    if (!register_flow_run(&flow, NULL)) {
        free(w.early);
        return NULL;
    }
    return w.early;
}
