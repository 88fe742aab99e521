/* Finds the accesses in its cells that an access races with. */
#include "base/find.h"
#include "gpu/ptx/race/race_cells.h"

/* ---- lanes that count on lock step ---- */

/* Other words of the write that the cell stands for are other lanes': no flag. */
static bool is_by_lanes(const struct look *k, uint32_t cell, uint64_t u) {
    const struct race_shadow *s = k->shadow;
    uint64_t far = k->bytes >> s->grain, units = s->bytes >> s->grain;
    uint32_t near[] = {u >= far ? s->write[u - far] : 0,
                       u + far < units ? s->write[u + far] : 0};
    return any_of(i, 0, ARRAY_LEN(near),
                  near[i] != cell &&
                      near[i] >> RACE_LANE_BITS == cell >> RACE_LANE_BITS);
}

static bool is_volatile(const struct look *k, uint32_t function, const struct step *s) {
    const struct ptx_module *m = k->warp->processor->run->program->module;
    return ptx_has(&m->functions[function].code[s->instruction], PTX_M_VOLATILE);
}

/* A warp's reduction through volatile shared memory as it was written before Volta: the
 * accesses do not race, but only lock step would give the lanes their order. A flag that
 * all lanes share, a read that waits, and lanes that a shuffle has brought together are
 * no such case. */
static bool is_lock_step(const struct look *k, const struct race_conflict *c,
                         uint32_t cell, uint64_t u) {
    const struct race_event *e = c->other;
    return k->owner && k->verdict == VERDICT_LANES && !c->met &&
           (e->kind & RACE_WRITE) && !((k->kind | e->kind) & RACE_ATOMIC) &&
           !(k->kind & (RACE_WRITE | RACE_SIGNAL)) && is_by_lanes(k, cell, u) &&
           is_volatile(k, k->warp->frame->code->index, k->step) &&
           is_volatile(k, e->function, e->step);
}

/* ---- all ---- */

/* False: no race, both are strong. */
static bool look_tell(const struct look *k, uint32_t cell, unsigned lane, uint64_t offset,
                      const uint8_t *value) {
    struct race_conflict c = race_conflict_with(k, cell, lane, offset);
    const struct race_event *e = c.other;
    const struct race_warp *x = k->warp->race;
    c.same_value = value && (e->kind & RACE_WRITE) && !(e->kind & RACE_ATOMIC) &&
                   memcmp(k->host + offset, value, k->bytes) == 0;
    c.met = e->block == (uint32_t)k->warp->block->number && e->agent == k->warp->index &&
            e->stamp <= x->meet[lane] && e->stamp <= x->meet[c.other_lane];
    if (race_both_strong(k, e)) {
        if (is_lock_step(k, &c, cell, offset >> k->shadow->grain)) {
            race_tell_lock_step(&c);
        }
        return false;
    }
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
