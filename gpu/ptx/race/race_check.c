/* Finds the accesses in its cells that an access races with. */
#include "gpu/ptx/race/race_cells.h"

/* False: no race, both are strong. */
static bool look_tell(const struct look *k, uint32_t cell, unsigned lane, uint64_t offset,
                      const uint8_t *value) {
    struct race_conflict c = race_conflict_with(k, cell, lane, offset);
    const struct race_event *e = c.other;
    const struct race_warp *x = k->warp->race;
    if (race_both_strong(k, e)) {
        return false;
    }
    c.same_value = value && (e->kind & RACE_WRITE) && !(e->kind & RACE_ATOMIC) &&
                   memcmp(k->host + offset, value, k->bytes) == 0;
    c.met = e->block == (uint32_t)k->warp->block->number && e->agent == k->warp->index &&
            e->stamp <= x->meet[lane] && e->stamp <= x->meet[c.other_lane];
    race_tell(&c);
    return true;
}

void race_check(struct look *k, unsigned lane, uint64_t offset, const uint8_t *value) {
    const struct race_shadow *s = k->shadow;
    uint64_t first = offset >> s->grain, last = (offset + k->bytes - 1) >> s->grain;
    for (uint64_t u = first; u <= last; u++) {
        if ((k->kind & (RACE_STRONG | RACE_READ | RACE_BLIND)) ==
            (RACE_STRONG | RACE_READ)) {
            race_signal(k, u, lane, offset);
        }
        bool reads = (k->kind & RACE_WRITE) && s->read[0], kept = race_meets_kept(k);
        uint32_t cells[] = {race_was_seen(k, u, lane) ? 0 : s->write[u],
                            s->plain ? s->plain[u] : 0, kept ? s->other[u] : 0,
                            reads ? s->read[0][u] : 0, reads ? s->read[1][u] : 0};
        for (unsigned c = 0; c < ARRAY_LEN(cells); c++) {
            if (!is_ordered(k, cells[c], lane) &&
                look_tell(k, cells[c], lane, offset, value)) {
                return;
            }
        }
    }
}
