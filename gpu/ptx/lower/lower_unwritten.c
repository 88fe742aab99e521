/* Registers that a path may read before it has written them. */
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/lower/register_flow.h"

struct unwritten {
    const struct ptx_function *f;
    bool *read; /* the answer, by register */
};

static void operand_read(const struct unwritten *u, const uint64_t *set, bool always,
                         const struct ptx_operand *o) {
    for (uint32_t k = 0; k < operand_parts(o); k++) {
        uint32_t r = operand_register(u->f, o, k);
        if (r != UINT32_MAX) {
            u->read[r] |= always || (set[r / 64] >> (r % 64) & 1);
        }
    }
}

static void operand_write(const struct unwritten *u, uint64_t *set,
                          const struct ptx_operand *o) {
    for (uint32_t k = 0; k < operand_parts(o); k++) {
        uint32_t r = operand_register(u->f, o, k);
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
    unsigned results = instruction_results(i);
    bool writes = results > 0;
    for (unsigned k = results; k < i->operand_count; k++) {
        operand_read(u, set, !writes && !instruction_only_reads(i), &o[k]);
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
    autofree uint64_t *all = xmalloc(words * sizeof *all);
    memset(all, 0xff, words * sizeof *all);
    const struct register_flow flow = {
        .function = f, .words = words, .step = unwritten_step, .data = &u};
    if (!register_flow_run(&flow, all)) {
        memset(u.read, 1, f->register_count);
    }
    return u.read;
}
