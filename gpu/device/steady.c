#include "gpu/device/steady.h"

#include "base/find.h"
#include "gpu/ptx/lower/register_flow.h"

#define ANYWHERE (UINT64_C(1) << 63) /* a pointer that is not traced to a parameter */

/* Of each register, over all of the function: which parameters its value is made of, and
 * whether a changed value may be in it. */
struct traces {
    const struct ptx_module *module;
    const struct ptx_function *f;
    uint64_t changed, stores; /* stores: the parameters that it stores through */
    uint64_t *from;
    bool *varies;
    bool shared_varies, local_varies; /* what such memory holds */
    bool grew;
};

static void trace(struct traces *t, uint32_t reg, uint64_t from, bool varies) {
    t->grew |= (from & ~t->from[reg]) || (varies && !t->varies[reg]);
    t->from[reg] |= from;
    t->varies[reg] |= varies;
}

static bool operand_varies(const struct traces *t, const struct ptx_operand *o) {
    bool varies = false;
    for (uint32_t k = 0; k < operand_parts(o); k++) {
        uint32_t r = operand_register(t->f, o, k);
        varies |= r != UINT32_MAX && t->varies[r];
    }
    return varies;
}

static uint64_t operand_from(const struct traces *t, const struct ptx_operand *o) {
    uint64_t from = o->kind == PTX_OPERAND_SYMBOL ? ANYWHERE : 0;
    for (uint32_t k = 0; k < operand_parts(o); k++) {
        uint32_t r = operand_register(t->f, o, k);
        from |= r != UINT32_MAX ? t->from[r] : 0;
    }
    return from;
}

static void result_trace(struct traces *t, const struct ptx_operand *o, uint64_t from,
                         bool varies) {
    for (uint32_t k = 0; k < operand_parts(o); k++) {
        uint32_t r = operand_register(t->f, o, k);
        if (r != UINT32_MAX) {
            trace(t, r, from, varies);
        }
    }
}

/* The parameter that a load reads. */
static uint64_t param_bit(const struct traces *t, const struct ptx_operand *address) {
    if (address->base == PTX_BASE_SYMBOL) {
        for (uint32_t n = 0; n < t->f->param_count && n < STEADY_PARAMS; n++) {
            if (t->f->params[n] == address->index) {
                return UINT64_C(1) << n;
            }
        }
    }
    return ANYWHERE;
}

static enum ptx_space space_of(const struct ptx_instruction *i) {
    return i->space_count ? (enum ptx_space)i->spaces[0] : PTX_GENERIC;
}

/* Whether what stands at an address may have changed. A variable's own name leads to no
 * buffer. */
static bool memory_varies(const struct traces *t, const struct ptx_instruction *i,
                          const struct ptx_operand *address) {
    bool named = address->base == PTX_BASE_SYMBOL;
    bool far = !named && operand_from(t, address) & (t->changed | ANYWHERE);
    switch (space_of(i)) {
    case PTX_PARAM:
    case PTX_CONST:
        return false;
    case PTX_GLOBAL:
        return far;
    case PTX_SHARED:
        return t->shared_varies;
    case PTX_LOCAL:
        return t->local_varies;
    default:
        return far || named || t->shared_varies || t->local_varies;
    }
}

static void memory_takes(struct traces *t, const struct ptx_instruction *i, bool varies) {
    enum ptx_space s = space_of(i);
    bool shared = varies && s != PTX_GLOBAL && s != PTX_LOCAL;
    bool local = varies && (s == PTX_LOCAL || s == PTX_GENERIC);
    t->grew |= (shared && !t->shared_varies) || (local && !t->local_varies);
    t->shared_varies |= shared;
    t->local_varies |= local;
}

/* The operands from `first` on. */
static bool rest_varies(const struct traces *t, const struct ptx_instruction *i,
                        unsigned first) {
    return any_of(k, first, i->operand_count,
                  operand_varies(t, &t->f->operands[i->operands + k]));
}

static void store_note(struct traces *t, const struct ptx_instruction *i,
                       const struct ptx_operand *address) {
    enum ptx_space s = space_of(i);
    if (s != PTX_SHARED && s != PTX_SHARED_CLUSTER && s != PTX_LOCAL && s != PTX_PARAM) {
        bool named = address->base == PTX_BASE_SYMBOL;
        t->stores |= named ? ANYWHERE : operand_from(t, address);
    }
}

static bool load_trace(struct traces *t, const struct ptx_instruction *i,
                       const struct ptx_operand *o) {
    bool is_param = space_of(i) == PTX_PARAM;
    result_trace(t, &o[0], is_param ? param_bit(t, &o[1]) : ANYWHERE,
                 memory_varies(t, i, &o[1]));
    return !rest_varies(t, i, 1);
}

static bool atomic_trace(struct traces *t, const struct ptx_instruction *i,
                         const struct ptx_operand *o) {
    bool values = rest_varies(t, i, 2);
    store_note(t, i, &o[1]);
    memory_takes(t, i, values);
    result_trace(t, &o[0], ANYWHERE, values || memory_varies(t, i, &o[1]));
    return !operand_varies(t, &o[1]);
}

static bool store_trace(struct traces *t, const struct ptx_instruction *i,
                        const struct ptx_operand *o) {
    store_note(t, i, &o[0]);
    memory_takes(t, i, rest_varies(t, i, 1));
    return !operand_varies(t, &o[0]);
}

/* Results first, then one value; what lanes take part must not depend on it. */
static bool warp_trace(struct traces *t, const struct ptx_instruction *i,
                       const struct ptx_operand *o) {
    unsigned value = i->has_pair ? 2 : 1;
    bool varies = operand_varies(t, &o[value]);
    for (unsigned k = 0; k < value; k++) {
        result_trace(t, &o[k], ANYWHERE, varies);
    }
    return !rest_varies(t, i, value + 1);
}

static bool arithmetic_trace(struct traces *t, const struct ptx_instruction *i,
                             const struct ptx_operand *o) {
    unsigned results = instruction_results(i);
    uint64_t from = 0;
    for (unsigned k = results; k < i->operand_count; k++) {
        from |= operand_from(t, &o[k]);
    }
    for (unsigned k = 0; k < results; k++) {
        result_trace(t, &o[k], from, rest_varies(t, i, results));
    }
    return results > 0;
}

/* false: what it does depends on a changed value, or is not known. */
static bool instruction_trace(struct traces *t, const struct ptx_instruction *i) {
    const struct ptx_operand *o = &t->f->operands[i->operands];
    if (i->guard >= 0 && t->varies[i->guard]) {
        return false;
    }
    switch (i->opcode) {
    case PTX_OP_LD:
        return load_trace(t, i, o);
    case PTX_OP_ATOM:
        return atomic_trace(t, i, o);
    case PTX_OP_ST:
    case PTX_OP_RED:
        return store_trace(t, i, o);
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_REDUX:
        return warp_trace(t, i, o);
    case PTX_OP_ACTIVEMASK:
        result_trace(t, &o[0], 0, false);
        return true;
    case PTX_OP_BAR:
    case PTX_OP_BARRIER:
        return i->operand_count < 3 && !rest_varies(t, i, 0);
    case PTX_OP_BRA:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
        return true;
    default:
        return !instruction_is_load(i) && arithmetic_trace(t, i, o);
    }
}

/* What the kernel stores through, UINT64_MAX if it is not steady. */
static uint64_t steady_find(const struct kernel *k, uint64_t changed) {
    const struct ptx_function *f = k->entry;
    struct traces t = {.f = f, .changed = changed};
    t.from = xcalloc(f->register_count + 1u, sizeof *t.from);
    t.varies = xcalloc(f->register_count + 1u, sizeof *t.varies);
    bool steady = f->param_count <= STEADY_PARAMS;
    do {
        t.grew = false;
        for (uint32_t n = 0; n < f->code_count && steady; n++) {
            steady = instruction_trace(&t, &f->code[n]);
        }
    } while (t.grew && steady);
    free(t.from);
    free(t.varies);
    return steady ? t.stores : UINT64_MAX;
}

#define ANSWERS 64

/* A program asks for the same few kernels over and over. */
static uint64_t stores_of(const struct kernel *k, uint64_t changed) {
    static struct steady_answer {
        const struct kernel *kernel;
        uint64_t changed, stores;
    } answers[ANSWERS];
    struct steady_answer *a = &answers[((uintptr_t)k / sizeof *k + changed) % ANSWERS];
    if (a->kernel != k || a->changed != changed) {
        *a = (struct steady_answer){k, changed, steady_find(k, changed)};
    }
    return a->stores;
}

bool kernel_is_steady(const struct kernel *k, uint64_t changed) {
    return stores_of(k, changed) != UINT64_MAX;
}

bool kernel_is_plain(const struct kernel *k, uint64_t *ret_stores) {
    *ret_stores = stores_of(k, (UINT64_C(1) << STEADY_PARAMS) - 1);
    return !(*ret_stores & ANYWHERE);
}
