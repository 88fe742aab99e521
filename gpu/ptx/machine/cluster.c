#include "gpu/ptx/machine/cluster.h"

#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/run.h"

/* ---- the barrier: every thread arrives, then waits; who has exited has arrived ---- */

#define AUX_RELAXED 1u /* the arrival releases nothing but what was fenced */
#define RACE_PLACE (UINT64_C(1) << 40) /* of no memory, in the first block's */

static bool all_arrived(const struct cluster *c) {
    for (uint32_t r = 0; r < c->count; r++) {
        const struct block *b = c->blocks[r];
        for (uint32_t k = 0; k < b->warp_count; k++) {
            if (b->warps[k].live & ~b->warps[k].cluster_arrived) {
                return false;
            }
        }
    }
    return true;
}

static void race_pass(struct warp *w, uint32_t lanes) {
    if (lanes) {
        warp_synced(w);
        life_pass(w->block);
        race_acquire_at(w, lanes, w->block->cluster->blocks[0], RACE_PLACE);
        race_meet(w, lanes, true);
    }
}

static void warp_release(struct warp *w) {
    w->cluster_arrived = 0;
    for (uint32_t k = 0; k < w->pending_count; k++) {
        if (w->pending[k].state == SPLIT_CLUSTER) {
            w->pending[k].state = SPLIT_READY;
            w->cluster_owed &= ~w->pending[k].lanes;
            race_pass(w, w->pending[k].lanes);
        }
    }
}

void cluster_check_barrier(struct cluster *c) {
    if (!c->open || !all_arrived(c)) {
        return;
    }
    c->open = false;
    for (uint32_t r = 0; r < c->count; r++) {
        struct block *b = c->blocks[r];
        b->changes++;
        for (uint32_t k = 0; k < b->warp_count; k++) {
            warp_release(&b->warps[k]);
        }
    }
}

bool cluster_is_stuck(const struct cluster *c) {
    for (uint32_t r = 0; r < c->count; r++) {
        if (!c->blocks[r]->finished && block_can_run(c->blocks[r])) {
            return false;
        }
    }
    return c->left > 0;
}

static void tell_order(struct warp *w, const struct step *s, uint32_t lanes,
                       const char *words) {
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = (unsigned)__builtin_ctz(lanes)},
                FINDING_BARRIER_DIVERGENCE, "%s", words);
}

static void step_cluster_arrive(struct warp *w, const struct step *s, uint32_t mask) {
    if (w->cluster_owed & mask) {
        tell_order(w, s, w->cluster_owed & mask,
                   "barrier.cluster.arrive a second time without barrier.cluster.wait");
    }
    w->cluster_arrived |= mask;
    w->cluster_owed |= mask;
    w->block->cluster->open = true;
    life_arrive(w);
    if (s->aux & AUX_RELAXED) {
        race_publish_fenced(w, w->block->cluster->blocks[0], RACE_PLACE);
    } else {
        w->block->released = w->block->cluster->time;
        race_release_at(w, w->block->cluster->blocks[0], RACE_PLACE);
    }
    w->block->changes++;
    cluster_check_barrier(w->block->cluster);
}

static void step_cluster_wait(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t strange = mask & ~w->cluster_owed;
    if (strange) {
        tell_order(w, s, strange, "barrier.cluster.wait without barrier.cluster.arrive");
    }
    uint32_t waiting = mask & w->cluster_arrived & w->cluster_owed;
    w->cluster_owed &= ~(mask & ~waiting);
    race_pass(w, mask & ~waiting);
    if (waiting) {
        warp_park(w, waiting, s, SPLIT_CLUSTER, 0);
    }
}

/* ---- addresses ---- */

#define TAG(rank) ((uint64_t)((rank) + 1) << CLUSTER_TAG_SHIFT)
#define OFFSET(address) ((address) & ((UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1))

#define AUX_GENERIC 1u
#define AUX_WIDE 2u

static uint64_t address_of(struct warp *w, const struct step *s, unsigned lane) {
    return s->aux & AUX_WIDE ? LANES(const uint64_t, w, s->src[0])[lane]
                             : LANES(const uint32_t, w, s->src[0])[lane];
}

static bool is_outside(const struct step *s, uint64_t address) {
    return (s->aux & AUX_GENERIC) && address - MEMORY_SHARED >= MEMORY_WINDOW_BYTES;
}

static void tell_outside(struct warp *w, const struct step *s, unsigned lane,
                         uint64_t address) {
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                FINDING_OUT_OF_BOUNDS, "0x%llx is not an address of shared memory",
                (unsigned long long)address);
    run_fault(w->processor->run);
}

static void step_mapa(struct warp *w, const struct step *s, uint32_t mask) {
    const struct cluster *c = w->block->cluster;
    const uint32_t *ranks = LANES(const uint32_t, w, s->src[1]);
    bits_each(lane, mask) {
        uint64_t address = address_of(w, s, lane), base = 0;
        uint32_t rank = ranks[lane];
        if (is_outside(s, address)) {
            tell_outside(w, s, lane, address);
        }
        if (rank >= c->count) {
            finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                        FINDING_OUT_OF_BOUNDS,
                        "mapa of block %u in a cluster of %u blocks", rank, c->count);
            run_fault(w->processor->run);
            rank = w->block->rank;
        }
        if (s->aux & AUX_GENERIC) {
            base = MEMORY_SHARED;
            address -= MEMORY_SHARED;
        }
        uint64_t mapped = base + (OFFSET(address) | TAG(rank));
        if (s->aux & AUX_WIDE) {
            LANES(uint64_t, w, s->dst)[lane] = mapped;
        } else {
            LANES(uint32_t, w, s->dst)[lane] = (uint32_t)mapped;
        }
    }
}

static void step_getctarank(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t *to = LANES(uint32_t, w, s->dst);
    bits_each(lane, mask) {
        uint64_t address = address_of(w, s, lane);
        if (is_outside(s, address)) {
            tell_outside(w, s, lane, address);
        }
        address -= s->aux & AUX_GENERIC ? MEMORY_SHARED : 0;
        uint64_t tag = (uint32_t)address >> CLUSTER_TAG_SHIFT;
        to[lane] = tag ? (uint32_t)tag - 1 : w->block->rank;
    }
}

/* ---- lowering ---- */

static enum lower_answer lower_cluster_barrier(struct lowering *l,
                                               const struct ptx_instruction *i) {
    bool arrive = ptx_has(i, PTX_M_ARRIVE);
    if (arrive == ptx_has(i, PTX_M_WAIT) || i->operand_count != 0) {
        return LOWER_REFUSED;
    }
    lower_step(l, i, arrive ? step_cluster_arrive : step_cluster_wait, false)->aux =
        ptx_has(i, PTX_M_RELAXED) ? AUX_RELAXED : 0;
    return LOWER_DONE;
}

static enum lower_answer lower_rank(struct lowering *l, const struct ptx_instruction *i) {
    bool mapa = i->opcode == PTX_OP_MAPA;
    bool generic = i->space_count == 0;
    const struct ptx_operand *from = lower_operand(l, i, 1);
    if (i->type_count != 1 || i->operand_count != (mapa ? 3u : 2u) ||
        (!generic && i->spaces[0] != PTX_SHARED_CLUSTER)) {
        return LOWER_REFUSED;
    }
    unsigned bytes = ptx_type_bytes(i->types[0]);
    uint32_t rank = STEP_NO_REGISTER;
    uint32_t base = lower_source(l, i, from, bytes, PTX_U64);
    if (mapa) {
        rank = lower_source(l, i, lower_operand(l, i, 2), 4, PTX_U32);
    }
    uint32_t to = lower_result(l, lower_operand(l, i, 0), mapa ? bytes : 4, false);
    struct step *s = lower_step(l, i, mapa ? step_mapa : step_getctarank, true);
    s->src[0] = base;
    s->src[1] = rank;
    s->dst = to;
    s->aux = (generic ? AUX_GENERIC : 0) | (bytes == 8 ? AUX_WIDE : 0);
    return LOWER_DONE;
}

enum lower_answer lower_cluster(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode == PTX_OP_MAPA || i->opcode == PTX_OP_GETCTARANK) {
        return lower_rank(l, i);
    }
    if (i->opcode == PTX_OP_BARRIER && ptx_has(i, PTX_M_CLUSTER)) {
        return lower_cluster_barrier(l, i);
    }
    return LOWER_NOT_MINE;
}
