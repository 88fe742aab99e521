/* Signals: strong reads by which a thread learns that another one has come so far, and
 * data that was written before the signal with no fence in between.
 *
 * Strong accesses never race, but by the PTX memory model they keep no order between two
 * places: whoever has seen the flag may still read the old data. Many correct programs
 * read several such places without any need for order (labels of a graph, a bound, ranks
 * that may be old). So only two kinds of reads count as signals, because whoever waits for
 * them needs what came before: a load or atomic that a loop without effects repeats until
 * its value changes, and the old value of an atomic increment that is compared with one
 * value only (the last block). */
#include "base/mem.h"
#include "gpu/ptx/lower/register_flow.h"
#include "gpu/ptx/race/race_cells.h"

/* ---- which reads are signals ---- */

#define SPIN_INSTRUCTIONS 64u /* of a loop that waits */

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

/* `atomicInc(&count, n) == n - 1` */
static bool is_ticket(const struct ptx_function *f, const struct ptx_instruction *i,
                      bool **used) {
    const struct ptx_operand *result = &f->operands[i->operands];
    if (i->opcode != PTX_OP_ATOM || result->kind != PTX_OPERAND_REGISTER ||
        !(ptx_has(i, PTX_M_ADD) || ptx_has(i, PTX_M_INC))) {
        return false;
    }
    *used = *used ? *used : used_otherwise(f);
    return !(*used)[result->index];
}

/* The load in front of a loop that repeats it: compilers rotate loops. */
static void mark_first(const struct program *p, const struct code *c,
                       const struct step *spin) {
    for (const struct step *s = spin - c->steps > SPIN_INSTRUCTIONS
                                    ? spin - SPIN_INSTRUCTIONS
                                    : c->steps;
         s < spin; s++) {
        struct access *a = s->src[0] == spin->src[0] && s->offset == spin->offset
                               ? race_access_of(p, c, s)
                               : NULL;
        if (a && (a->race & RACE_STRONG) && (a->race & RACE_READ)) {
            a->race |= RACE_SIGNAL;
        }
    }
}

void race_find_signals(const struct program *p, const struct code *c) {
    const struct ptx_function *f = &p->module->functions[c->index];
    bool *used = NULL;
    for (uint32_t k = 0; k < c->step_count; k++) {
        const struct step *s = &c->steps[k];
        struct access *a = race_access_of(p, c, s);
        if (!a || (a->race & (RACE_STRONG | RACE_READ | RACE_BLIND)) !=
                      (RACE_STRONG | RACE_READ)) {
            continue;
        }
        if (is_spin(f, s->instruction)) {
            a->race |= RACE_SIGNAL;
            mark_first(p, c, s);
        } else if (is_ticket(f, &f->code[s->instruction], &used)) {
            a->race |= RACE_SIGNAL;
        }
    }
    free(used);
}

/* ---- what was seen ---- */

static void remember(struct look *k, uint32_t cell, unsigned lane) {
    struct race_block *b = k->warp->block->race;
    b->seen[b->seen_count++ % RACE_SEEN] =
        (struct race_seen){.write = *event_of(k, cell),
                           .read = *event_of(k, k->id << RACE_LANE_BITS),
                           .write_lane = cell % WARP_LANES,
                           .lanes = k->lanes | 1u << lane};
}

/* Whether the lane's access comes after the read of the signal. */
static bool comes_after(const struct look *k, const struct race_seen *s, unsigned lane) {
    enum race_verdict v = race_judge(k, &s->read);
    return v == VERDICT_ORDERED ||
           (v == VERDICT_LANES &&
            ((s->lanes >> lane & 1) ||
             lanes_ordered(k->warp->race, &s->read,
                           (unsigned)__builtin_ctz(s->lanes), lane)));
}

/* Whether the signal's thread wrote this before the signal, or another thread of its
 * block did in front of a barrier before the signal. */
static bool was_before(const struct race_seen *s, const struct race_event *e,
                       unsigned lane) {
    return e->block == s->write.block && e->order < s->write.order &&
           ((e->agent == s->write.agent && lane == s->write_lane) ||
            e->stamp <= s->write.synced);
}

static bool is_itself(const struct race_seen *s, const struct race_event *e) {
    return e->order == s->write.order;
}

/* The signal that stands for the write in the cell; NULL also if the write was itself
 * seen: then it cannot be missed any more. */
static const struct race_seen *signal_of(const struct look *k, uint32_t cell,
                                         unsigned lane) {
    const struct race_block *b = k->warp->block->race;
    const struct race_event *e = event_of(k, cell);
    const struct race_seen *found = NULL;
    for (uint32_t n = 0; n < RACE_SEEN && n < b->seen_count; n++) {
        const struct race_seen *s = &b->seen[n];
        if (is_itself(s, e)) {
            return NULL;
        }
        if (!found && was_before(s, e, cell % WARP_LANES) && comes_after(k, s, lane)) {
            found = s;
        }
    }
    return found;
}

void race_signal(struct look *k, uint64_t u, unsigned lane, uint64_t offset) {
    uint32_t cell = k->shadow->write[u];
    bool signal = (k->kind & RACE_SIGNAL) != 0;
    if (k->copy || (!signal && (k->warp->block->race->seen_count == 0 ||
                                (k->kind & (RACE_ATOMIC | RACE_GUESS))))) {
        return;
    }
    if (is_ordered(k, cell, lane)) {
        return;
    }
    const struct race_event *e = event_of(k, cell);
    if (k->verdict != VERDICT_RACE || e->agent >= RACE_COPIES ||
        !race_both_strong(k, e)) {
        return;
    }
    if (signal) {
        remember(k, cell, lane);
        return;
    }
    const struct race_seen *s =
        race_was_read(k, u, lane) ? NULL : signal_of(k, cell, lane);
    if (s) {
        struct race_conflict c = race_conflict_with(k, cell, lane, offset);
        race_tell_signal(&c, s);
    }
}
