#include "gpu/ptx/race/cluster_life.h"

#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/run.h"

#define OBJECTS_MOST 4096 /* mbarriers with knowledge, of a cluster */

/* The latest access of an agent to a block's shared memory. */
struct life_touch {
    uint32_t time; /* 0: none */
    uint32_t function;
    const struct step *step;
    struct warp *warp;
    uint8_t lane;
    bool strong;
    uint64_t offset;
};

/* Agents are the warps of all blocks, and for each block the copies that read its memory:
 * number rank * per_block + warp, or + warp_count. A vector has a time for each: all that
 * the agent did until then is known. */
struct cluster_life {
    uint32_t blocks, per_block, agents;
    uint32_t objects;
    bool blind; /* too many mbarriers: all counts as known */
    uint32_t synced[CLUSTER_MAX];
    struct life_exit {
        const struct step *step; /* NULL: no thread has left */
        uint32_t function, thread;
    } exits[CLUSTER_MAX];
    struct life_touch *touches;        /* by rank of the owner, agent */
    uint32_t *known;                   /* by rank, agent */
    uint32_t *arrived, *fenced, *view; /* vectors */
};

/* ---- life ---- */

static struct cluster_life *life_new(uint32_t blocks, uint32_t warps) {
    struct cluster_life *l = xcalloc(1, sizeof *l);
    l->blocks = blocks;
    l->per_block = warps + 1;
    l->agents = blocks * l->per_block;
    l->touches = xcalloc((size_t)blocks * l->agents, sizeof *l->touches);
    l->known = xcalloc((size_t)blocks * l->agents, sizeof *l->known);
    l->arrived = xcalloc(l->agents, sizeof *l->arrived);
    l->fenced = xcalloc(l->agents, sizeof *l->fenced);
    l->view = xcalloc(l->agents, sizeof *l->view);
    return l;
}

void life_free(struct cluster_life *l) {
    if (l) {
        free(l->touches);
        free(l->known);
        free(l->arrived);
        free(l->fenced);
        free(l->view);
        free(l);
    }
}

static void life_clear(struct cluster_life *l) {
    size_t many = (size_t)l->blocks * l->agents;
    memset(l->touches, 0, many * sizeof *l->touches);
    memset(l->known, 0, many * sizeof *l->known);
    memset(l->arrived, 0, l->agents * sizeof *l->arrived);
    memset(l->fenced, 0, l->agents * sizeof *l->fenced);
    memset(l->synced, 0, sizeof l->synced);
    memset(l->exits, 0, sizeof l->exits);
    l->objects = 0;
    l->blind = false;
}

struct cluster_life *life_start(struct block *const *blocks, uint32_t count) {
    struct block *first = blocks[0];
    if (count == 1) {
        return NULL;
    }
    if (!first->life) { /* all launches of a processor's blocks have one shape */
        first->life = life_new(count, first->warp_count);
    }
    life_clear(first->life);
    return first->life;
}

/* ---- what is known ---- */

static struct cluster_life *life_of(const struct block *b) {
    return b->cluster->life;
}

static uint32_t agent_of(const struct cluster_life *l, const struct warp *w) {
    return w->block->rank * l->per_block + w->index;
}

static uint32_t copies_of(const struct cluster_life *l, const struct block *b) {
    return b->rank * l->per_block + l->per_block - 1;
}

static uint32_t *known_by(struct cluster_life *l, const struct block *b) {
    return l->known + (size_t)b->rank * l->agents;
}

static void most(uint32_t *to, const uint32_t *more, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        to[k] = more[k] > to[k] ? more[k] : to[k];
    }
}

/* All that the warp knows now; what it does later has a later time. */
static const uint32_t *view_now(struct cluster_life *l, const struct warp *w) {
    struct block *b = w->block;
    memcpy(l->view, known_by(l, b), l->agents * sizeof *l->view);
    uint32_t *own = l->view + (size_t)b->rank * l->per_block;
    for (uint32_t k = 0; k + 1 < l->per_block; k++) {
        own[k] = l->synced[b->rank] > own[k] ? l->synced[b->rank] : own[k];
    }
    own[w->index] = b->cluster->time++;
    return l->view;
}

void life_arrive(struct warp *w) {
    struct cluster_life *l = life_of(w->block);
    if (l) {
        most(l->arrived, view_now(l, w), l->agents);
    }
}

void life_pass(struct block *b) {
    struct cluster_life *l = life_of(b);
    if (l) {
        most(known_by(l, b), l->arrived, l->agents);
    }
}

void life_fence(struct warp *w) {
    struct cluster_life *l = life_of(w->block);
    if (l) {
        w->block->released = w->block->cluster->time;
        most(l->fenced, view_now(l, w), l->agents);
    }
}

/* What others have written strongly at [offset, offset + bytes) of the warp's block. */
static void read_strong(struct cluster_life *l, const struct block *b, uint64_t offset,
                        uint64_t bytes) {
    const struct life_touch *touches = l->touches + (size_t)b->rank * l->agents;
    uint32_t *known = known_by(l, b);
    for (uint32_t k = 0; k < l->agents; k++) {
        const struct life_touch *t = &touches[k];
        if (t->strong && t->offset - offset < bytes && t->time > known[k]) {
            known[k] = t->time;
        }
    }
}

static void note_strong(struct cluster_life *l, const struct warp *w,
                        const struct step *s) {
    for (uint32_t r = 0; r < l->blocks; r++) {
        struct life_touch *t = &l->touches[(size_t)r * l->agents + agent_of(l, w)];
        t->strong = t->strong || (t->step == s && t->time == w->block->cluster->time);
    }
}

void life_synchronise(struct warp *w, const struct step *s, const struct access *a,
                      uint32_t mask) {
    struct cluster_life *l = life_of(w->block);
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t window = a->space == PTX_GENERIC ? MEMORY_SHARED : 0, last = UINT64_MAX;
    note_strong(l, w, s);
    if (a->race & RACE_RELEASE) {
        life_fence(w);
    }
    if (!(a->race & RACE_READ)) {
        return;
    }
    most(known_by(l, w->block), l->fenced, l->agents);
    bits_each(lane, mask) {
        uint64_t at = base[lane] + (uint64_t)s->offset - window;
        uint64_t tag = at >> CLUSTER_TAG_SHIFT;
        bool own = tag == 0 || tag == w->block->rank + UINT64_C(1);
        if (own && at != last && a->space != PTX_GLOBAL) {
            read_strong(l, w->block, at & ((UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1),
                        (uint64_t)a->bytes * a->count);
        }
        last = at;
    }
}

void life_block_barrier(struct block *b) {
    struct cluster_life *l = life_of(b);
    if (l) {
        l->synced[b->rank] = b->cluster->time++;
    }
}

/* The mbarrier's vector; NULL: there are too many. */
static uint32_t *vector_of(struct cluster_life *l, struct mbarrier *m) {
    if (!m->known && l->objects == OBJECTS_MOST) {
        l->blind = true;
        return NULL;
    }
    if (!m->known) {
        l->objects++;
        m->known = xcalloc(l->agents, sizeof *m->known);
    }
    return m->known;
}

void life_arrive_at(struct warp *w, struct mbarrier *m) {
    struct cluster_life *l = life_of(w->block);
    uint32_t *to = l ? vector_of(l, m) : NULL;
    if (to) {
        most(to, view_now(l, w), l->agents);
    }
}

void life_pass_at(struct block *b, const struct mbarrier *m) {
    struct cluster_life *l = life_of(b);
    if (l && m->known) {
        most(known_by(l, b), m->known, l->agents);
    }
}

void life_complete_at(const struct warp *w, uint32_t time, struct mbarrier *m) {
    struct cluster_life *l = life_of(w->block);
    uint32_t *to = l ? vector_of(l, m) : NULL;
    if (to) {
        uint32_t *issuer = &to[agent_of(l, w)], *copies = &to[copies_of(l, w->block)];
        *issuer = time > *issuer ? time : *issuer;
        *copies = time > *copies ? time : *copies;
    }
}

void life_told(struct block *b, const struct warp *w, uint32_t time) {
    struct cluster_life *l = life_of(b);
    uint32_t *known = l ? &known_by(l, b)[agent_of(l, w)] : NULL;
    if (l && time > *known) {
        *known = time;
    }
}

/* ---- accesses ---- */

static void note(struct cluster_life *l, const struct block *owner, uint32_t agent,
                 const struct life_touch *t) {
    l->touches[(size_t)owner->rank * l->agents + agent] = *t;
}

static struct life_touch touch_of(struct warp *w, const struct step *s, unsigned lane) {
    return (struct life_touch){.time = w->block->cluster->time,
                               .function = w->frame->code->index,
                               .step = s,
                               .warp = w,
                               .lane = (uint8_t)lane};
}

void life_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
               uint64_t offset) {
    struct cluster_life *l = life_of(w->block);
    struct life_touch t = touch_of(w, s, lane);
    t.offset = offset;
    note(l, owner, agent_of(l, w), &t);
}

void life_copy(struct warp *w, const struct step *s, unsigned lane) {
    struct cluster_life *l = life_of(w->block);
    if (l) {
        struct life_touch t = touch_of(w, s, lane);
        note(l, w->block, copies_of(l, w->block), &t);
    }
}

/* ---- findings ---- */

void life_check_init(struct warp *w, const struct step *s, unsigned lane,
                     struct block *owner, const struct mbarrier *m) {
    struct cluster_life *l = life_of(w->block);
    uint32_t agent = owner->rank * l->per_block + m->init.warp;
    bool ordered = l->blind || known_by(l, w->block)[agent] >= m->init.time;
    if (ordered && owner->released >= m->init.time) {
        return;
    }
    struct finding_other other = {.function = m->init.function,
                                  .instruction = m->init.step->instruction,
                                  .block = owner->number,
                                  .thread = m->init.warp * WARP_LANES + m->init.lane,
                                  .message = "mbarrier.init by the other block"};
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = lane,
                                        .buffer = "shared memory",
                                        .offset = m->offset,
                                        .other = &other},
                ordered ? FINDING_MISSING_FENCE : FINDING_INVALID_MBARRIER,
                "The mbarrier at offset %u of block %u of the cluster may not be "
                "initialized yet: %s",
                m->offset, owner->rank,
                ordered
                    ? "barrier.cluster.arrive.relaxed orders nothing, and "
                      "fence.mbarrier_init.release.cluster is missing after mbarrier.init"
                    : "nothing orders mbarrier.init before this (a cluster.sync() by all "
                      "after it)");
}

void life_exit(struct warp *w, const struct step *s) {
    struct cluster_life *l = life_of(w->block);
    if (l) {
        uint32_t lane = w->active ? (uint32_t)__builtin_ctz(w->active) : 0;
        l->exits[w->block->rank] =
            (struct life_exit){.step = s,
                               .function = w->frame->code->index,
                               .thread = w->index * WARP_LANES + lane};
    }
}

bool life_exit_place(const struct block *b, struct finding_other *ret) {
    const struct cluster_life *l = life_of(b);
    const struct life_exit *e = l ? &l->exits[b->rank] : NULL;
    if (!e || !e->step) {
        return false;
    }
    *ret = (struct finding_other){
        .function = e->function,
        .instruction = e->step->instruction,
        .block = b->number,
        .thread = e->thread,
        .message = "here a block leaves that others still read or write"};
    return true;
}

static void tell(const struct block *b, const struct life_touch *t) {
    struct warp *w = t->warp;
    struct finding_other other;
    struct finding_place at = {.warp = w, .step = t->step, .lane = t->lane};
    at.other = life_exit_place(b, &other) ? &other : NULL;
    struct frame *running = w->frame,
                 place = {.code = w->processor->run->program->codes[t->function]};
    w->frame = &place;
    if (w->block == b) {
        finding_add(&at, FINDING_EARLY_EXIT,
                    "Block %u of the cluster may exit before this copy has read its "
                    "shared memory: it must wait until the copy is complete (a "
                    "cluster.sync() before the end)",
                    b->rank);
    } else {
        finding_add(&at, FINDING_EARLY_EXIT,
                    "Block %u of the cluster may exit before this access to its shared "
                    "memory: nothing makes it wait (a cluster.sync() before the end)",
                    b->rank);
    }
    w->frame = running;
}

void life_end(struct block *b) {
    struct cluster_life *l = life_of(b);
    if (!l || l->blind) {
        return;
    }
    const uint32_t *known = known_by(l, b);
    const struct life_touch *touches = l->touches + (size_t)b->rank * l->agents;
    for (uint32_t k = 0; k < l->agents; k++) {
        if (touches[k].time > known[k]) {
            tell(b, &touches[k]);
        }
    }
}
