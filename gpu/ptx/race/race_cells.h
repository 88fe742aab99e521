#pragma once
/* race_cells: compares one access with the cells of its bytes (race_internal.h), and
 * records it there. Private to the files that race_look.c calls for every access of a warp;
 * therefore the short paths are inline. */
#include "gpu/ptx/race/race_internal.h"

enum race_verdict { VERDICT_ORDERED, VERDICT_LANES, VERDICT_RACE };

struct look {
    struct warp *warp;
    const struct step *step;
    struct block *owner; /* NULL: global */
    unsigned kind, bytes;
    struct race_events *events;
    struct race_shadow *shadow;
    const uint8_t *host; /* the memory that the shadow describes */
    uint64_t base;       /* address of its first byte */
    uint32_t id;         /* of this access */
    uint32_t judged;     /* the event of the last verdict */
    enum race_verdict verdict;
    uint32_t copy; /* stamp of the copy that accesses, 0: the warp itself */
    uint32_t lanes; /* all that read one place, where not each of them is looked at */
};

/* The event of the access that k describes, without its id; its id. */
uint32_t race_event_id(struct look *k);
/* The lane's access and the one in a cell. */
struct race_conflict race_conflict_with(const struct look *k, uint32_t cell,
                                        unsigned lane, uint64_t offset);
/* race_check.c: whether the lane's access races with the accesses in the cells. */
void race_check(struct look *k, unsigned lane, uint64_t offset, const uint8_t *value);
/* Whether the write in unit u happened before this access because a strong read saw it,
 * and that read happened before. ("Causality order": what precedes by observation, then
 * by base causality.) */
bool race_was_seen(struct look *k, uint64_t u, unsigned lane);
/* The same without regard to the kind of this access and of the write. */
bool race_was_read(struct look *k, uint64_t u, unsigned lane);
/* Two strong accesses do not race when each is within the other's scope. */
bool race_both_strong(const struct look *k, const struct race_event *e);
/* race_signal.c: in front of a strong read of unit u, in order or not: remembers a signal,
 * or tells that the order relies on one alone. */
void race_signal(struct look *k, uint64_t u, unsigned lane, uint64_t offset);
/* Call before an access is recorded: a write of another warp that a blind write would
 * hide is kept until a strong read has seen it; a plain write that a strong one would
 * hide is kept until the next plain one. */
void race_keep(struct look *k, unsigned lane, uint64_t offset);
/* Whether it is ordered after the accesses that a plane has in these cells. */
bool race_is_after(struct look *k, const uint32_t *plane, uint64_t first, uint64_t last,
                   unsigned lane);

/* A strong write that does not read the old value. A thread that has read a place by a
 * strong access, including an atomic operation, has seen the earlier writers: they are
 * ordered before its later accesses ("observation order"). */
static inline bool is_blind(unsigned kind) {
    return (kind & RACE_STRONG) && (kind & (RACE_READ | RACE_BLIND)) != RACE_READ;
}

static inline bool race_keeps(const struct look *k) {
    return k->shadow->other || k->shadow->plain ||
           (k->kind & (RACE_STRONG | RACE_WRITE)) == (RACE_STRONG | RACE_WRITE) ||
           is_blind(k->kind);
}

/* Whether the kept writes matter for it: it is strong. */
static inline bool race_meets_kept(const struct look *k) {
    return k->shadow->other && !(k->kind & RACE_STRONG);
}

static inline const struct race_event *event_of(const struct look *k, uint32_t cell) {
    return &k->events->items[(cell >> RACE_LANE_BITS) - k->events->first];
}

static inline bool is_over(const struct look *k, uint32_t cell) {
    return cell >> RACE_LANE_BITS < k->events->first;
}

/* Ignores lanes of the warp itself. */
static inline enum race_verdict race_judge(const struct look *k,
                                           const struct race_event *e) {
    const struct warp *w = k->warp;
    const struct race_block *b = w->block->race;
    if (race_of(w)->coarse || (k->copy && e->stamp == k->copy)) {
        return VERDICT_ORDERED;
    }
    if (e->block != (uint32_t)w->block->number) {
        const struct race_clocks *c =
            race_know_find(race_of(w), w->race->foreign, e->block);
        return c && e->stamp <= c->t[e->agent] ? VERDICT_ORDERED : VERDICT_RACE;
    }
    if (e->agent < RACE_COPIES && e->stamp <= b->synced) {
        return VERDICT_ORDERED;
    }
    if (e->agent == w->index) {
        return VERDICT_LANES;
    }
    return e->stamp <= w->race->known[e->agent] ? VERDICT_ORDERED : VERDICT_RACE;
}

static inline bool lanes_ordered(const struct race_warp *x, const struct race_event *e,
                                 unsigned other, unsigned lane) {
    return other == lane || e->stamp <= x->all[lane] ||
           ((x->mask[lane] >> other & 1) && e->stamp <= x->part[lane]);
}

static inline bool is_ordered(struct look *k, uint32_t cell, unsigned lane) {
    if (is_over(k, cell)) {
        return true;
    }
    const struct race_event *e = event_of(k, cell);
    uint32_t id = cell >> RACE_LANE_BITS;
    if (id != k->judged) {
        k->judged = id;
        k->verdict = race_judge(k, e);
    }
    return k->verdict == VERDICT_ORDERED ||
           (k->verdict == VERDICT_LANES &&
            lanes_ordered(k->warp->race, e, cell % WARP_LANES, lane));
}

/* Whether it is ordered after all accesses in the cells. */
static inline bool lane_fine(struct look *k, unsigned lane, uint64_t offset) {
    const struct race_shadow *s = k->shadow;
    bool reads = (k->kind & RACE_WRITE) && s->read[0];
    uint64_t first = offset >> s->grain, last = (offset + k->bytes - 1) >> s->grain;
    for (uint64_t u = first; u <= last; u++) {
        if ((!is_ordered(k, s->write[u], lane) &&
             ((k->kind & RACE_STRONG) || !race_was_seen(k, u, lane))) ||
            (reads && (!is_ordered(k, s->read[0][u], lane) ||
                       !is_ordered(k, s->read[1][u], lane)))) {
            return false;
        }
    }
    return (!race_meets_kept(k) || race_is_after(k, s->other, first, last, lane)) &&
           (!s->plain || race_is_after(k, s->plain, first, last, lane));
}

/* Whether it is another warp's or, in global memory, another block's. */
static inline bool is_apart(const struct look *k, uint32_t a, uint32_t b) {
    const struct race_event *x = event_of(k, a), *y = event_of(k, b);
    return x->block != y->block || (k->owner && x->agent != y->agent);
}

/* A word with two readers of different warps or blocks needs no third: no writer is
 * ordered after both by chance. */
static inline void read_note(struct look *k, uint64_t u, unsigned lane) {
    uint32_t *one = &k->shadow->read[0][u], *two = &k->shadow->read[1][u];
    uint32_t cell = k->id << RACE_LANE_BITS | lane;
    bool over_two = is_over(k, *two);
    if ((*one ^ cell) >> RACE_LANE_BITS == 0) {
        *two = over_two && *one % WARP_LANES != lane ? cell : *two;
        return;
    }
    bool over_one = is_over(k, *one);
    if ((k->kind & RACE_STRONG) && !over_two && (event_of(k, *two)->kind & RACE_STRONG)) {
        *two = cell | (over_one || is_apart(k, *one, cell) ? RACE_APART : 0);
        return; /* the latest of those that poll: what they wait for, they have seen */
    }
    if ((!over_one && !over_two && (*two & RACE_APART)) ||
        (*two ^ cell) >> RACE_LANE_BITS == 0) {
        return;
    }
    if (over_one || is_ordered(k, *one, lane)) {
        *one = cell;
        *two = over_two ? 0 : (*two & ~RACE_APART);
    } else if (over_two || is_ordered(k, *two, lane) || is_apart(k, *one, cell)) {
        *two = cell | (is_apart(k, *one, cell) ? RACE_APART : 0);
    }
}

static inline void lane_note(struct look *k, unsigned lane, uint64_t offset) {
    struct race_shadow *s = k->shadow;
    s->written = k->kind & RACE_WRITE ? k->id : s->written;
    uint64_t first = offset >> s->grain, last = (offset + k->bytes - 1) >> s->grain;
    for (uint64_t u = first; u <= last; u++) {
        if (k->kind & RACE_WRITE) {
            s->write[u] = k->id << RACE_LANE_BITS | lane;
            if (s->read[0]) {
                s->read[0][u] = s->read[1][u] = 0;
            }
        } else {
            read_note(k, u, lane);
        }
    }
}
