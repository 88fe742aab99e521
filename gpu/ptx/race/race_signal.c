/* Signals: strong reads by which a thread learns that another one has come so far, and
 * data that was written before the signal with no fence in between.
 *
 * Strong accesses never race, but by the PTX memory model they keep no order between two
 * places: whoever has seen the flag may still read the old data. Many correct programs
 * read several such places without any need for order (labels of a graph, a bound, ranks
 * that may be old). So only three kinds of reads count as signals, because whoever waits
 * for them needs what came before: a load or atomic that a loop without effects repeats
 * until its value changes; the old value of an atomic increment that is compared with one
 * value only (the last block); and that of a compare-and-swap, if a later write to the
 * place gives it back (a lock), or if what it reads was written so by a function that is
 * called (the lock's other half). */
#include "gpu/ptx/race/race_cells.h"

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

static bool is_unlock(const struct look *k, const struct race_event *e) {
    const struct program *p = k->warp->processor->run->program;
    const struct access *a =
        e->step->extra < p->access_count ? &p->accesses[e->step->extra] : NULL;
    return a && a->code == e->function && a->instruction == e->step->instruction &&
           (a->race & RACE_UNLOCK);
}

void race_signal(struct look *k, uint64_t u, unsigned lane, uint64_t offset) {
    uint32_t cell = k->shadow->write[u];
    bool signal = (k->kind & (RACE_SIGNAL | RACE_TRIED)) != 0;
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
        if ((k->kind & RACE_SIGNAL) || is_unlock(k, e)) {
            remember(k, cell, lane);
        }
        return;
    }
    const struct race_seen *s =
        race_was_read(k, u, lane) ? NULL : signal_of(k, cell, lane);
    if (s) {
        struct race_conflict c = race_conflict_with(k, cell, lane, offset);
        race_tell_signal(&c, s);
    }
}
