/* What the cells of an access hold, and what is kept in them. */
#include "gpu/ptx/race/race_cells.h"

bool race_both_strong(const struct look *k, const struct race_event *e) {
    unsigned both = k->kind & e->kind, any = k->kind | e->kind;
    return (both & RACE_STRONG) &&
           (!(any & RACE_BLOCK_SCOPE) || e->block == (uint32_t)k->warp->block->number);
}

struct race_conflict race_conflict_with(const struct look *k, uint32_t cell,
                                        unsigned lane, uint64_t offset) {
    return (struct race_conflict){.warp = k->warp,
                                  .step = k->step,
                                  .lane = lane,
                                  .bytes = k->bytes,
                                  .kind = k->kind,
                                  .owner = k->owner,
                                  .address = k->base + offset,
                                  .other = event_of(k, cell),
                                  .other_lane = cell % WARP_LANES};
}

/* ---- writes that do not know of each other ---- */

bool race_was_seen(struct look *k, uint64_t u, unsigned lane) {
    uint32_t write = k->shadow->write[u];
    return !(k->kind & RACE_STRONG) && !is_over(k, write) &&
           (event_of(k, write)->kind & RACE_STRONG) && race_was_read(k, u, lane);
}

/* Reads that are kept came after the write. */
bool race_was_read(struct look *k, uint64_t u, unsigned lane) {
    const struct race_shadow *s = k->shadow;
    for (unsigned n = 0; n < ARRAY_LEN(s->read) && s->read[n]; n++) {
        uint32_t read = s->read[n][u] & ~RACE_APART;
        if (!is_over(k, read) && (event_of(k, read)->kind & RACE_STRONG) &&
            is_ordered(k, read, lane)) {
            return true;
        }
    }
    return false;
}

/* Another warp's that nothing orders before this access. */
static bool is_loose(struct look *k, uint32_t cell, unsigned lane) {
    if (is_ordered(k, cell, lane)) {
        return false;
    }
    const struct race_event *x = event_of(k, cell),
                            *own = event_of(k, k->id << RACE_LANE_BITS);
    return x->block != own->block || x->agent != own->agent;
}

static bool is_foreign(const struct look *k, uint32_t cell) {
    return event_of(k, cell)->block != (uint32_t)k->warp->block->number;
}

/* Of the two that a blind write is to hide, the one to keep: rather another block's. */
static uint32_t kept_of(struct look *k, uint32_t last, uint32_t before, unsigned lane) {
    if (is_over(k, last)) {
        return 0;
    }
    bool loose = is_loose(k, before, lane);
    if (loose && (is_foreign(k, before) || !is_foreign(k, last))) {
        return before;
    }
    return is_loose(k, last, lane) ? last : loose ? before : 0;
}

/* Two strong accesses do not race, so who meets a strong write alone would not learn of
 * the plain one before it, though nothing orders that for him: `*sum = 0;
 * atomicAdd(sum, x);` by one thread, and atomicAdd by others. */
static void keep_plain(struct look *k, uint64_t u) {
    struct race_shadow *s = k->shadow;
    uint32_t last = s->write[u];
    bool plain = !is_over(k, last) && !(event_of(k, last)->kind & RACE_STRONG);
    if (!(k->kind & RACE_STRONG)) {
        if (s->plain) {
            s->plain[u] = 0;
        }
    } else if (plain && race_shadow_plane(race_of(k->warp), s, &s->plain)) {
        s->plain[u] = last;
    }
}

void race_keep(struct look *k, unsigned lane, uint64_t offset) {
    struct race_shadow *s = k->shadow;
    uint64_t first = offset >> s->grain, last = (offset + k->bytes - 1) >> s->grain;
    bool blind = is_blind(k->kind), sees = k->kind & (RACE_WRITE | RACE_STRONG);
    for (uint64_t u = first; u <= last; u++) {
        if (k->kind & RACE_WRITE) {
            keep_plain(k, u);
        }
        uint32_t before = s->other ? s->other[u] : 0;
        uint32_t kept = blind ? kept_of(k, s->write[u], before, lane) : sees ? 0 : before;
        if (kept != before && race_shadow_plane(race_of(k->warp), s, &s->other)) {
            s->other[u] = kept;
        }
    }
}

bool race_is_after(struct look *k, const uint32_t *plane, uint64_t first, uint64_t last,
                   unsigned lane) {
    for (uint64_t u = first; u <= last; u++) {
        if (!is_ordered(k, plane[u], lane)) {
            return false;
        }
    }
    return true;
}
