/* race_watch: which steps of the code are watched, and what is known beforehand of the
 * accesses that they make. */
#include "gpu/ptx/lower/register_flow.h"
#include "gpu/ptx/race/race_internal.h"

#define GUESS_STEPS 1024 /* limit of steps between a guess and its atomic */

static struct access *access_of(const struct program *p, const struct code *c,
                              const struct step *s) {
    struct access *a = s->extra < p->access_count ? &p->accesses[s->extra] : NULL;
    return a && a->watched && (a->watched == s->run || s->run == race_step) &&
                   a->code == c->index && a->instruction == s->instruction
               ? a
               : NULL;
}

/* ---- reads of signals (race_signal.c) ---- */

#define SPIN_INSTRUCTIONS 64u /* of a loop that waits */
#define LOCKED_STEPS 1024u    /* from a lock to where it is given back */

static uint32_t address_register(const struct ptx_function *f,
                                 const struct ptx_instruction *i) {
    for (uint32_t k = 0; k < i->operand_count; k++) {
        const struct ptx_operand *o = &f->operands[i->operands + k];
        if (o->kind == PTX_OPERAND_ADDRESS) {
            return o->base == PTX_BASE_REGISTER ? o->index : UINT32_MAX;
        }
    }
    return UINT32_MAX;
}

static bool changes(const struct ptx_function *f, const struct ptx_instruction *i,
                    uint32_t r) {
    unsigned results = instruction_results(i);
    for (unsigned k = 0; r != UINT32_MAX && k < results; k++) {
        const struct ptx_operand *o = &f->operands[i->operands + k];
        for (uint32_t part = 0; part < operand_parts(o); part++) {
            if (operand_register(f, o, part) == r) {
                return true;
            }
        }
    }
    return false;
}

/* Has no effect outside its thread, besides on time. */
static bool only_waits(const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_NANOSLEEP:
    case PTX_OP_MEMBAR:
    case PTX_OP_FENCE:
    case PTX_OP_VOTE:
        return true;
    case PTX_OP_ATOM:
        return false;
    default:
        return instruction_results(i) > 0;
    }
}

/* Whether a short loop repeats the access at one place and does nothing else. */
static bool is_spin(const struct ptx_function *f, uint32_t at) {
    uint32_t base = address_register(f, &f->code[at]), first = at, last = at;
    for (; last < f->code_count && last - at < SPIN_INSTRUCTIONS; last++) {
        const struct ptx_instruction *i = &f->code[last];
        if (i->opcode == PTX_OP_BRA && f->operands[i->operands].index <= at) {
            first = f->operands[i->operands].index;
            break;
        }
    }
    if (last == f->code_count || last - first >= SPIN_INSTRUCTIONS || last == at) {
        return false;
    }
    for (uint32_t k = first; k <= last; k++) {
        const struct ptx_instruction *i = &f->code[k];
        if ((k != at && !only_waits(i)) || changes(f, i, base)) {
            return false;
        }
    }
    return true;
}

/* Registers that something other than a comparison for equality reads. */
static bool *used_otherwise(const struct ptx_function *f) {
    bool *used = xcalloc(f->register_count + 1u, sizeof *used);
    for (uint32_t n = 0; n < f->code_count; n++) {
        const struct ptx_instruction *i = &f->code[n];
        bool equals = i->opcode == PTX_OP_SETP && (ptx_has(i, PTX_M_EQ) ||
                                                   ptx_has(i, PTX_M_NE));
        /* the results of an atomic are no reads, whatever instruction_results says */
        uint32_t k = i->opcode == PTX_OP_ATOM ? 1 : instruction_results(i);
        for (; !equals && k < i->operand_count; k++) {
            const struct ptx_operand *o = &f->operands[i->operands + k];
            for (uint32_t part = 0; part < operand_parts(o); part++) {
                uint32_t r = operand_register(f, o, part);
                if (r < f->register_count) {
                    used[r] = true;
                }
            }
        }
    }
    return used;
}

/* An atomic whose old value is only compared for equality. */
static bool is_compared(const struct ptx_function *f, const struct ptx_instruction *i,
                        bool **used) {
    const struct ptx_operand *result = &f->operands[i->operands];
    if (i->opcode != PTX_OP_ATOM || result->kind != PTX_OPERAND_REGISTER) {
        return false;
    }
    *used = *used ? *used : used_otherwise(f);
    return !(*used)[result->index];
}

/* `atomicInc(&count, n) == n - 1` */
static bool is_ticket(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_ADD) || ptx_has(i, PTX_M_INC);
}

/* `if (atomicCAS(&lock, 0, 1) == 0) { …; atomicExch(&lock, 0); }`: a strong write behind
 * it that does not look at the old value gives the lock back. */
static bool is_blind_write(const struct access *a) {
    return (a->race & (RACE_STRONG | RACE_WRITE)) == (RACE_STRONG | RACE_WRITE) &&
           (a->race & (RACE_READ | RACE_BLIND)) != RACE_READ;
}

static bool is_lock(const struct program *p, const struct code *c, const struct step *s,
                    const struct ptx_instruction *i) {
    bool found = false;
    if (i->opcode != PTX_OP_ATOM || !ptx_has(i, PTX_M_CAS)) {
        return false;
    }
    for (uint32_t n = 1; n < LOCKED_STEPS && s + n < c->steps + c->step_count; n++) {
        struct access *a = s[n].src[0] == s->src[0] && s[n].offset == s->offset
                               ? access_of(p, c, &s[n])
                               : NULL;
        if (a && is_blind_write(a)) {
            a->race |= RACE_UNLOCK;
            found = true;
        }
    }
    return found;
}

/* The load in front of a loop that repeats it: compilers rotate loops. */
static void mark_first(const struct program *p, const struct code *c,
                       const struct step *spin) {
    for (const struct step *s = spin - c->steps > SPIN_INSTRUCTIONS
                                    ? spin - SPIN_INSTRUCTIONS
                                    : c->steps;
         s < spin; s++) {
        struct access *a = s->src[0] == spin->src[0] && s->offset == spin->offset
                               ? access_of(p, c, s)
                               : NULL;
        if (a && (a->race & RACE_STRONG) && (a->race & RACE_READ)) {
            a->race |= RACE_SIGNAL;
        }
    }
}

static void find_signals(const struct program *p, const struct code *c) {
    const struct ptx_function *f = &p->module->functions[c->index];
    bool *used = NULL;
    for (uint32_t k = 0; k < c->step_count; k++) {
        const struct step *s = &c->steps[k];
        struct access *a = access_of(p, c, s);
        if (!a || (a->race & (RACE_STRONG | RACE_READ | RACE_BLIND)) !=
                      (RACE_STRONG | RACE_READ)) {
            continue;
        }
        const struct ptx_instruction *i = &f->code[s->instruction];
        bool swaps = i->opcode == PTX_OP_ATOM && ptx_has(i, PTX_M_CAS);
        bool counts = is_lock(p, c, s, i) || is_ticket(i);
        if (is_spin(f, s->instruction)) {
            a->race |= RACE_SIGNAL;
            mark_first(p, c, s);
        } else if ((counts || swaps) && is_compared(f, i, &used)) {
            a->race |= counts ? RACE_SIGNAL : RACE_TRIED;
        }
    }
    free(used);
}

/* ---- all ---- */

/* `old = *p` before a loop of compare-and-swaps on p, or `if (x < *p)` before an
 * atomicMin: a guess, correct whatever it reads. */
static void watch_guesses(const struct program *p, const struct code *c,
                          const struct step *atomic) {
    const struct step *s =
        atomic - c->steps > GUESS_STEPS ? atomic - GUESS_STEPS : c->steps;
    for (; s < atomic; s++) {
        struct access *a = s->src[0] == atomic->src[0] && s->offset == atomic->offset
                               ? access_of(p, c, s)
                               : NULL;
        if (a && !a->is_store) {
            a->race |= RACE_STRONG | RACE_GUESS;
        }
    }
}

/* `__noinline__ void unlock(int *l) { atomicExch(l, 0); }` */
static void find_unlocks(const struct program *p, const struct code *c) {
    for (uint32_t k = 0; !c->function->is_entry && k < c->step_count; k++) {
        struct access *a = access_of(p, c, &c->steps[k]);
        if (a && is_blind_write(a)) {
            a->race |= RACE_UNLOCK;
        }
    }
}

static void watch_code(struct program *p, struct code *c) {
    find_signals(p, c);
    find_unlocks(p, c);
    for (uint32_t k = 0; k < c->step_count; k++) {
        struct step *s = &c->steps[k];
        const struct access *a = access_of(p, c, s);
        if (a && a->is_atomic && a->compares) {
            watch_guesses(p, c, s);
        }
        p->locks |= a && (a->race & RACE_UNLOCK);
        s->run = a ? race_step : s->run;
    }
}

void race_watch(struct program *p) {
    for (uint32_t f = 0; f < p->module->function_count; f++) {
        if (p->codes[f]) {
            watch_code(p, p->codes[f]);
        }
    }
}
