#include "gpu/ptx/machine/barriers.h"

#include "base/find.h"
#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/matrix/wgmma.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"

enum barrier_kind { BARRIER_SYNC, BARRIER_ARRIVE, BARRIER_POPC, BARRIER_AND, BARRIER_OR };

#define AUX_KIND(aux) ((aux)&7u)
#define AUX_ALIGNED 8u

/* ---- completing ---- */

static uint32_t lanes_waiting(const struct warp *w, unsigned id) {
    uint32_t lanes = 0;
    list_each(k, p, w->pending, w->pending_count) {
        lanes |= p->state == SPLIT_BARRIER && p->barrier == id ? p->lanes : 0;
    }
    return lanes;
}

static bool split_predicate(const struct split *p, unsigned lane) {
    uint32_t bits = *(const uint32_t *)(const void *)(p->frame->regs + p->at->src[2]);
    return (bits >> lane & 1) != (p->at->src_negated >> 2 & 1);
}

struct reduction {
    uint32_t popc;
    bool all, any;
};

static void reduce_split(const struct split *p, struct reduction *r) {
    if (AUX_KIND(p->at->aux) < BARRIER_POPC) {
        return;
    }
    bits_each(lane, p->lanes) {
        bool on = split_predicate(p, lane);
        r->popc += on;
        r->all = r->all && on;
        r->any = r->any || on;
    }
}

static void give_result(const struct split *p, const struct reduction *r) {
    uint8_t *to = p->frame->regs + p->at->dst;
    switch (AUX_KIND(p->at->aux)) {
    case BARRIER_POPC:
        bits_each(lane, p->lanes) {
            ((uint32_t *)(void *)to)[lane] = r->popc;
        }
        break;
    case BARRIER_AND:
    case BARRIER_OR: {
        uint32_t *bits = (uint32_t *)(void *)to;
        bool on = AUX_KIND(p->at->aux) == BARRIER_AND ? r->all : r->any;
        *bits = (*bits & ~p->lanes) | (on ? p->lanes : 0);
        break;
    }
    default:
        break;
    }
}

static void tell_divergence(struct warp *w, const struct split *here,
                            const struct split *other) {
    struct frame *running = w->frame;
    w->frame = here->frame; /* the place is one of that code */
    finding_add(
        &(struct finding_place){
            .warp = w, .step = here->at, .lane = (unsigned)__builtin_ctz(here->lanes)},
        FINDING_BARRIER_DIVERGENCE,
        "Divergent threads of a warp are at different barrier instructions: lanes 0x%08x "
        "here, lanes 0x%08x at another one",
        here->lanes, other->lanes);
    w->frame = running;
}

/* Lanes of one warp that are at different instructions of an aligned barrier: reported at
 * each of them, because any may be the wrong one. */
static void check_divergence(struct warp *w, unsigned id) {
    const struct split *first = NULL;
    bool told = false;
    list_each(k, p, w->pending, w->pending_count) {
        if (p->state != SPLIT_BARRIER || p->barrier != id) {
            continue;
        }
        if (!first) {
            first = p;
        } else if (first->at != p->at && (p->at->aux & AUX_ALIGNED)) {
            if (!told) {
                tell_divergence(w, first, p);
                told = true;
            }
            tell_divergence(w, p, first);
        }
    }
}

/* Threads that have left do not take part: allowed by PTX, not by CUDA C++. */
static void check_exited(struct block *b, unsigned id) {
    uint64_t gone = b->processor->run->threads - b->live_threads;
    struct warp *some = NULL;
    for (uint32_t k = 0; gone && !some && k < b->warp_count; k++) {
        some = lanes_waiting(&b->warps[k], id) ? &b->warps[k] : NULL;
    }
    if (!some) {
        return;
    }
    list_each(k, p, some->pending, some->pending_count) {
        if (p->state == SPLIT_BARRIER && p->barrier == id) {
            struct frame *running = some->frame;
            some->frame = p->frame;
            finding_add(&(struct finding_place){.warp = some,
                                                .step = p->at,
                                                .lane = (unsigned)__builtin_ctz(p->lanes),
                                                .warning = true},
                        FINDING_BARRIER_DIVERGENCE,
                        "Barrier %u without %llu threads of the block, which ended before it: "
                        "every thread must come to each __syncthreads()",
                        id, (unsigned long long)gone);
            some->frame = running;
            return;
        }
    }
}

static struct reduction reduce_all(const struct block *b, unsigned id) {
    struct reduction r = {.all = true};
    list_each(k, w, b->warps, b->warp_count) {
        list_each(n, p, w->pending, w->pending_count) {
            if (p->state == SPLIT_BARRIER && p->barrier == id) {
                reduce_split(p, &r);
            }
        }
    }
    return r;
}

static void barrier_release(struct block *b, unsigned id) {
    struct barrier *bar = &b->barriers[id];
    struct reduction r = {.all = true};
    bool check = b->processor->run->check_barrier;
    if (check && bar->expected == 0) {
        check_exited(b, id);
    }
    if (bar->reduces) {
        r = reduce_all(b, id);
    }
    list_each(k, w, b->warps, b->warp_count) {
        if (check && w->pending_count > 1) {
            check_divergence(w, id);
        }
        list_each(n, p, w->pending, w->pending_count) {
            if (p->state == SPLIT_BARRIER && p->barrier == id) {
                give_result(p, &r);
                p->state = SPLIT_READY;
            }
        }
    }
    race_barrier_pass(b, id, bar->warps);
    life_block_barrier(b);
    bits_each(k, bar->warps) {
        warp_synced(&b->warps[k]);
    }
    b->open &= ~(1u << id);
    b->changes++;
}

static bool barrier_complete(const struct block *b, const struct barrier *bar) {
    uint32_t arrived = lanes_in(bar->warps) + bar->arrived;
    if (bar->expected) {
        return arrived >= bar->expected;
    }
    return bar->warps != 0 && (b->live_warps & ~bar->warps) == 0;
}

/* All of the warp's lanes that live have come. */
static void note_warp(struct block *b, struct warp *w, unsigned id) {
    struct barrier *bar = &b->barriers[id];
    uint32_t waiting = lanes_waiting(w, id);
    bool here = waiting && (w->live & ~waiting) == 0;
    bar->warps = here ? bar->warps | 1u << w->index : bar->warps & ~(1u << w->index);
    if (!b->arrives) {
        return;
    }
    uint32_t *arrives = &b->arrive_lanes[id][w->index];
    if (*arrives && (w->live & ~*arrives) == 0) {
        *arrives = 0;
        bar->arrived++;
    }
}

void block_check_barriers(struct block *b) {
    if (b->ended) {
        return;
    }
    bits_each(id, b->open) {
        for (uint32_t k = 0; k < b->warp_count; k++) {
            note_warp(b, &b->warps[k], id);
        }
        if (barrier_complete(b, &b->barriers[id])) {
            barrier_release(b, id);
        }
    }
}

/* ---- arriving ---- */

static bool barrier_expect(struct warp *w, const struct step *s, unsigned id,
                           uint32_t threads, uint32_t lanes) {
    struct finding_place at = {
        .warp = w, .step = s, .lane = (unsigned)__builtin_ctz(lanes)};
    struct block *b = w->block;
    if (id >= BLOCK_BARRIERS || threads % WARP_LANES || threads > BLOCK_MAX_THREADS) {
        finding_add(&at, FINDING_LAUNCH_ERROR,
                    "Barrier %u with %u threads: there are %d barriers, and the threads "
                    "must be a multiple of %d; the threads stop",
                    id, threads, BLOCK_BARRIERS, WARP_LANES);
        run_fault(w->processor->run);
        warp_exit_lanes(w, lanes);
        return false;
    }
    struct barrier *bar = &b->barriers[id];
    bool open = b->open >> id & 1;
    if (open && bar->expected != threads / WARP_LANES) {
        finding_add(&at, FINDING_BARRIER_DIVERGENCE,
                    "Barrier %u is used with %u threads here and %u elsewhere (0: all)",
                    id, threads, bar->expected * WARP_LANES);
    }
    if (!open) {
        *bar = (struct barrier){.expected = threads / WARP_LANES};
        b->open |= 1u << id;
    }
    return true;
}

static void barrier_group(struct warp *w, const struct step *s, unsigned id,
                          uint32_t threads, uint32_t lanes) {
    if (!barrier_expect(w, s, id, threads, lanes)) {
        return;
    }
    struct block *b = w->block;
    struct barrier *bar = &b->barriers[id];
    if (AUX_KIND(s->aux) == BARRIER_ARRIVE) {
        b->arrive_lanes[id][w->index] |= lanes;
        b->arrives = true;
        race_barrier_arrive(w, id);
    } else {
        warp_park(w, lanes, s, SPLIT_BARRIER, (uint8_t)id);
        bar->reduces = bar->reduces || AUX_KIND(s->aux) >= BARRIER_POPC;
    }
    note_warp(b, w, id);
    if (barrier_complete(b, bar)) {
        barrier_release(b, id);
    }
}

/* A number that is a constant, and all threads: as __syncthreads() is. */
static void step_barrier_all(struct warp *w, const struct step *s, uint32_t mask) {
    barrier_group(w, s, s->extra, 0, mask);
}

static void step_barrier(struct warp *w, const struct step *s, uint32_t mask) {
    const uint32_t *ids = LANES(const uint32_t, w, s->src[0]);
    const uint32_t *counts =
        s->src[1] == STEP_NO_REGISTER ? NULL : LANES(const uint32_t, w, s->src[1]);
    uint32_t id[WARP_LANES], count[WARP_LANES] = {0};
    memcpy(id, ids, sizeof id);
    if (counts) {
        memcpy(count, counts, sizeof count);
    }
    while (mask) {
        unsigned first = (unsigned)__builtin_ctz(mask);
        uint32_t group = 0;
        bits_each(l, mask) {
            group |= (uint32_t)(id[l] == id[first] && count[l] == count[first]) << l;
        }
        mask &= ~group;
        barrier_group(w, s, id[first], count[first], group);
    }
}

/* ---- deadlock ---- */

static void tell_split(struct warp *w, const struct split *p, const char *missing) {
    struct frame *running = w->frame;
    w->frame = p->frame;
    struct finding_place at = {
        .warp = w, .step = p->at, .lane = (unsigned)__builtin_ctz(p->lanes)};
    if (p->state == SPLIT_CLUSTER) {
        finding_add(&at, FINDING_DEADLOCK,
                    "Deadlock at barrier.cluster.wait: %u threads wait, others of the "
                    "cluster have not arrived and cannot",
                    lanes_in(p->lanes));
    } else if (p->state == SPLIT_MEET) {
        uint32_t gone = p->members & w->live & ~p->lanes;
        finding_add(&at, FINDING_INVALID_MASK,
                    "Lanes 0x%08x wait for lanes 0x%08x of the mask 0x%08x, which never "
                    "come here",
                    p->lanes, gone, p->members);
    } else if (p->state == SPLIT_GROUP) {
        finding_add(&at, FINDING_DEADLOCK,
                    "Deadlock at wgmma.wait_group: other warps of the warpgroup have not "
                    "issued what this one waits for; %s",
                    missing);
    } else {
        finding_add(&at, FINDING_DEADLOCK, "Deadlock at barrier %u: %u threads wait; %s",
                    p->barrier, lanes_in(p->lanes), missing);
    }
    w->frame = running;
}

/* Warps that are missing at a barrier, in words. */
static void describe_missing(const struct block *b, unsigned id, char *to, size_t room) {
    const struct barrier *bar = &b->barriers[id];
    size_t len = 0;
    unsigned told = 0;
    len += (size_t)snprintf(to, room, "missing:");
    for (uint32_t k = 0; k < b->warp_count && len < room; k++) {
        const struct warp *w = &b->warps[k];
        if (bar->warps >> k & 1) {
            continue;
        }
        if (told++ == 4) {
            snprintf(to + len, room - len, " …");
            return;
        }
        uint32_t absent = w->live & ~lanes_waiting(w, id);
        len += (size_t)snprintf(to + len, room - len, "%s warp %u%s", told > 1 ? "," : "",
                                k, w->live == 0 ? " (exited)" : "");
        if (absent && absent != w->live && len < room) {
            len += (size_t)snprintf(to + len, room - len, " lanes 0x%08x", absent);
        }
    }
    if (bar->expected && len < room) {
        snprintf(to + len, room - len, "; %u warps expected", bar->expected);
    }
}

void block_tell_stuck(struct block *b) {
    list_each(k, w, b->warps, b->warp_count) {
        for (uint32_t n = 0; n < w->pending_count; n++) {
            if (w->pending[n].state == SPLIT_READY) {
                continue;
            }
            char missing[160] = "";
            if (w->pending[n].state == SPLIT_BARRIER) {
                describe_missing(b, w->pending[n].barrier, missing, sizeof missing);
            } else if (w->pending[n].state == SPLIT_GROUP) {
                wgmma_describe(w, missing, sizeof missing);
            }
            tell_split(w, &w->pending[n], missing);
        }
    }
}

/* ---- lowering ---- */

static int barrier_kind(const struct ptx_instruction *i) {
    if (ptx_has(i, PTX_M_RED)) {
        return ptx_has(i, PTX_M_POPC)  ? BARRIER_POPC
               : ptx_has(i, PTX_M_AND) ? BARRIER_AND
               : ptx_has(i, PTX_M_OR)  ? BARRIER_OR
                                       : -1;
    }
    return ptx_has(i, PTX_M_ARRIVE) ? BARRIER_ARRIVE
           : ptx_has(i, PTX_M_SYNC) ? BARRIER_SYNC
                                    : -1;
}

enum lower_answer lower_barrier(struct lowering *l, const struct ptx_instruction *i) {
    bool bar = i->opcode == PTX_OP_BAR;
    if ((!bar && i->opcode != PTX_OP_BARRIER) || ptx_has(i, PTX_M_WARP)) {
        return LOWER_NOT_MINE;
    }
    int kind = barrier_kind(i);
    bool red = kind >= BARRIER_POPC;
    unsigned first = red ? 1 : 0, left = i->operand_count - first;
    if (kind < 0 || ptx_has(i, PTX_M_CLUSTER) || i->operand_count <= first ||
        left > (red ? 3u : 2u) || (red && left < 2)) {
        return LOWER_REFUSED;
    }
    uint32_t src[3] = {STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER};
    src[0] = lower_source(l, i, lower_operand(l, i, first), 4, PTX_U32);
    if (left == (red ? 3u : 2u)) {
        src[1] = lower_source(l, i, lower_operand(l, i, first + 1), 4, PTX_U32);
    }
    const struct ptx_operand *last = lower_operand(l, i, i->operand_count - 1);
    uint32_t dst = STEP_NO_REGISTER;
    if (red) {
        src[2] = lower_source(l, i, last, 0, PTX_PRED);
        dst =
            lower_result(l, lower_operand(l, i, 0), kind == BARRIER_POPC ? 4 : 0, false);
    }
    if (red && dst == STEP_NO_REGISTER) {
        dst = lower_temporary(l, 4);
    }
    const struct ptx_operand *id = lower_operand(l, i, first);
    bool all = id->kind == PTX_OPERAND_IMMEDIATE && src[1] == STEP_NO_REGISTER;
    struct step *s = lower_step(l, i, all ? step_barrier_all : step_barrier, false);
    memcpy(s->src, src, sizeof src);
    s->extra = all ? (uint32_t)id->bits : 0;
    s->dst = dst;
    s->aux = (uint32_t)kind | (bar || ptx_has(i, PTX_M_ALIGNED) ? AUX_ALIGNED : 0);
    s->src_negated = red && last->negated ? 4 : 0;
    return LOWER_DONE;
}
