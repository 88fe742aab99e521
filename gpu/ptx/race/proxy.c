#include "gpu/ptx/race/proxy.h"

#include "base/find.h"
#include "gpu/ptx/state/run.h"

#define PLAIN 0xf0 /* of a shadow byte */

/* All stores of an instruction by a warp between two synchronisations. */
struct proxy_event {
    const struct step *step; /* NULL: cp.async */
    uint32_t function, time;
    uint64_t block; /* number */
    uint16_t warp;
    uint8_t rank;
    bool fenced; /* by a thread that need not know of it */
};

#define LANE_BITS 5
#define EVENTS_MOST (UINT32_C(1) << 20)
#define CACHE 64

struct proxy {
    uint32_t *writers; /* by word: event << LANE_BITS | lane; event 0: unknown */
    struct proxy_event *events;
    uint32_t count, room;
    uint32_t cache[CACHE];
    uint64_t low, high; /* words outside have no plain bits */
};

/* ---- life ---- */

static bool is_kept(const struct run *run) {
    return run->check_initialized && run->program->engine_reads;
}

uint64_t proxy_bytes(const struct run *run) {
    return is_kept(run) ? run->shared_window + sizeof(struct proxy) : 0;
}

bool proxy_new(struct block *b) {
    const struct run *run = b->processor->run;
    if (!is_kept(run)) {
        return true;
    }
    b->proxy = calloc(1, sizeof *b->proxy);
    if (!b->proxy) {
        return false;
    }
    b->proxy->writers = calloc(run->shared_window / 4, sizeof *b->proxy->writers);
    return b->proxy->writers != NULL;
}

static void events_clear(struct proxy *p) {
    p->count = 1; /* 0 is none */
    p->low = UINT64_MAX;
    p->high = 0;
}

/* The shadow is clear, so `writers` is not read. */
void proxy_start(struct block *b) {
    if (b->proxy) {
        events_clear(b->proxy);
    }
}

void proxy_free(struct block *b) {
    if (b->proxy) {
        free(b->proxy->writers);
        free(b->proxy->events);
        free(b->proxy);
        b->proxy = NULL;
    }
}

/* ---- writing ---- */

static bool is_same(const struct proxy_event *e, const struct warp *w,
                    const struct step *s) {
    return e->step == s && e->warp == w->index && e->rank == w->block->rank &&
           e->time == w->block->cluster->time;
}

/* Too many: the writers of the current contents are unknown. */
static void events_forget(struct block *owner) {
    struct proxy *p = owner->proxy;
    uint64_t low = p->low, high = p->high;
    memset(p->writers, 0, owner->processor->run->shared_window / 4 * sizeof *p->writers);
    events_clear(p);
    p->low = low;
    p->high = high;
}

static uint32_t event_of(struct warp *w, const struct step *s, struct block *owner) {
    struct proxy *p = owner->proxy;
    uint32_t slot = ((s ? s->instruction : 0) ^ w->index * 7u) % CACHE;
    uint32_t known = p->cache[slot];
    if (known && known < p->count && is_same(&p->events[known], w, s)) {
        return known;
    }
    if (p->count == EVENTS_MOST) {
        events_forget(owner);
    }
    list_room(p->events, p->count, p->room, 64);
    p->events[p->count] = (struct proxy_event){.step = s,
                                               .function = w->frame->code->index,
                                               .time = w->block->cluster->time,
                                               .block = w->block->number,
                                               .warp = (uint16_t)w->index,
                                               .rank = (uint8_t)w->block->rank};
    p->cache[slot] = p->count;
    return p->count++;
}

void proxy_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
                uint64_t offset, uint64_t bytes) {
    struct proxy *p = owner->proxy;
    uint32_t cell = event_of(w, s, owner) << LANE_BITS | lane;
    uint64_t first = offset / 4, end = (offset + bytes + 3) / 4;
    for (uint64_t k = first; k < end; k++) {
        p->writers[k] = cell;
    }
    p->low = first < p->low ? first : p->low;
    p->high = end > p->high ? end : p->high;
}

/* Stores use fast paths that do not record this: call before them. */
static void note_lanes(struct warp *w, const struct step *s, const struct access *a,
                       uint32_t mask) {
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t add = (uint64_t)s->offset - (a->space == PTX_GENERIC ? MEMORY_SHARED : 0);
    unsigned size = (unsigned)a->bytes * a->count, more = (size - 1) / 4;
    struct block *b = w->block;
    struct proxy *p = b->proxy;
    uint64_t bytes = b->shared_bytes, low = p->low, high = p->high;
    uint32_t event = 0;
    bits_each(lane, mask) {
        uint64_t offset = base[lane] + add, first = offset / 4;
        if (offset >= bytes || size > bytes - offset) {
            continue;
        }
        event = event ? event : event_of(w, s, b);
        for (unsigned k = 0; k <= more; k++) {
            p->writers[first + k] = event << LANE_BITS | lane;
        }
        low = first < low ? first : low;
        high = first + more + 1 > high ? first + more + 1 : high;
    }
    p->low = low;
    p->high = high;
}

static void proxy_step(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    if (w->block->proxy) {
        note_lanes(w, s, a, mask);
    }
    a->noted(w, s, mask);
}

static bool is_noted(const struct access *a) {
    return a->is_store && a->watched &&
           (a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER ||
            a->space == PTX_GENERIC);
}

static void watch_code(struct program *p, struct code *c) {
    list_each(k, s, c->steps, c->step_count) {
        struct access *a = s->extra < p->access_count ? &p->accesses[s->extra] : NULL;
        if (a && is_noted(a) && a->watched == s->run && a->code == c->index &&
            a->instruction == s->instruction) {
            a->noted = s->run;
            a->watched = s->run = proxy_step;
        }
    }
}

void proxy_watch(struct program *p) {
    for (uint32_t f = 0; p->engine_reads && f < p->module->function_count; f++) {
        if (p->codes[f]) {
            watch_code(p, p->codes[f]);
        }
    }
}

/* ---- fences ---- */

static bool is_covered(const struct warp *w, uint32_t lanes, const struct proxy_event *e,
                       unsigned lane) {
    bool own = e->warp == w->index && e->rank == w->block->rank;
    return own ? (lanes >> lane & 1) || e->time < w->met : e->time < w->synced;
}

static void fence_block(struct block *b, const struct warp *w, uint32_t lanes) {
    struct proxy *p = b->proxy;
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t k = p->low; k < p->high; k++) {
        if (!(b->shared_shadow[k] & PLAIN)) {
            continue;
        }
        struct proxy_event *e = &p->events[p->writers[k] >> LANE_BITS];
        unsigned lane = p->writers[k] % WARP_LANES;
        if (p->writers[k] == 0 || is_covered(w, lanes, e, lane)) {
            b->shared_shadow[k] &= 0x0f;
        } else {
            e->fenced = true;
            low = low < k ? low : k;
            high = k + 1;
        }
    }
    p->low = low;
    p->high = high;
    if (high == 0) {
        events_clear(p);
    }
}

void proxy_fence(struct warp *w, uint32_t lanes) {
    struct cluster *c = w->block->cluster;
    for (uint32_t r = 0; r < c->count; r++) {
        if (c->blocks[r]->proxy) {
            fence_block(c->blocks[r], w, lanes);
        }
    }
}

/* ---- reading ---- */

static void tell(const struct proxy_reader *r, const struct block *b, uint64_t word,
                 const struct proxy_event *e, unsigned lane) {
    uint64_t offset;
    const char *name = shared_name(r->warp->processor->run, word * 4, &offset);
    struct finding_other other = {.block = b->number};
    struct finding_place at = {.warp = r->warp,
                               .step = r->step,
                               .lane = r->lane,
                               .buffer = name,
                               .offset = (int64_t)offset};
    if (e && e->step) {
        other = (struct finding_other){.function = e->function,
                                       .instruction = e->step->instruction,
                                       .block = e->block,
                                       .thread = e->warp * WARP_LANES + lane,
                                       .message = "the earlier write"};
        at.other = &other;
    }
    finding_add(
        &at, FINDING_MISSING_FENCE,
        "%s reads offset %llu of %s, which %s has written, with no fence.proxy.async %s",
        r->words, (unsigned long long)offset, name,
        e && !e->step ? "a cp.async" : "a thread",
        e && e->fenced
            ? "after that by a thread that is ordered after the write: let every writer "
              "execute it, then the barrier"
            : "after that: put one after the write and before the barrier");
}

bool proxy_check(const struct proxy_reader *r, const struct block *b, uint64_t offset,
                 uint64_t bytes) {
    const struct proxy *p = b->proxy;
    for (uint64_t k = offset / 4; p && k < (offset + bytes + 3) / 4; k++) {
        if (!(b->shared_shadow[k] & PLAIN)) {
            continue;
        }
        uint32_t cell = p->writers[k];
        const struct proxy_event *e = cell ? &p->events[cell >> LANE_BITS] : NULL;
        if (!(e && !e->step && r->passes_copies)) {
            tell(r, b, k, e, cell % WARP_LANES);
            return true;
        }
    }
    return false;
}
