/* Events and the shadows that point to them. */
#include "gpu/ptx/race/race_internal.h"

#define SHADOW_MOST (UINT64_C(1) << 30) /* bytes of all shadows */

/* ---- events ---- */

void race_events_void(struct race_events *e) {
    e->first = e->next;
    if (e->next >= RACE_MAX_ID / 2) {
        e->generation++;
        e->first = e->next = 1;
    }
}

static uint32_t *cache_slot(struct race_events *e, const struct race_event *x) {
    uint64_t h = (uint64_t)(uintptr_t)x->step * UINT64_C(0x9e3779b97f4a7c15);
    return &e->cache[(h >> 40 ^ x->agent) % RACE_CACHE];
}

static bool same_event(const struct race_event *a, const struct race_event *b) {
    return a->step == b->step && a->stamp == b->stamp && a->block == b->block &&
           a->agent == b->agent;
}

uint32_t race_events_add(struct race_events *e, const struct race_event *event,
                         bool alone, bool *ret_forgot) {
    uint32_t *slot = cache_slot(e, event);
    if (!alone && *slot >= e->first && *slot < e->next &&
        same_event(&e->items[*slot - e->first], event)) {
        return *slot;
    }
    if (e->next - e->first == e->most || e->next == RACE_MAX_ID - 1) {
        race_events_void(e);
        *ret_forgot = true;
    }
    uint32_t count = e->next - e->first;
    list_room(e->items, count, e->room, 256);
    e->items[count] = *event;
    *slot = e->next;
    return e->next++;
}

/* ---- shadows ---- */

void race_shadow_finish(struct race_shadow *s) {
    free(s->write);
    free(s->read[0]);
    free(s->read[1]);
    free(s->other);
    free(s->plain);
    if (s->run) {
        s->run->shadow_bytes -= s->held;
    }
}

void race_shadow_free(struct race_shadow *s) {
    if (s) {
        race_shadow_finish(s);
        free(s);
    }
}

static uint64_t cell_count(const struct race_shadow *s) {
    /* An access of a warp may look a little past the end. */
    return (s->bytes >> s->grain) + 64;
}

/* The same cells for a half of the bytes each. */
static uint32_t *plane_refine(const uint32_t *from, uint64_t count, unsigned by,
                              uint64_t room) {
    uint32_t *to = calloc(room, sizeof *to);
    for (uint64_t k = 0; to && k < count; k++) {
        for (unsigned part = 0; from[k] && part < 1u << by; part++) {
            uint64_t at = (k << by) + part;
            if (at < room) {
                to[at] = from[k];
            }
        }
    }
    return to;
}

static bool planes_hold(struct race_run *r, struct race_shadow *s, uint64_t bytes) {
    s->run = r;
    if (r->shadow_bytes - s->held + bytes > SHADOW_MOST) {
        return false;
    }
    r->shadow_bytes += bytes - s->held;
    s->held = bytes;
    return true;
}

static unsigned plane_count(const struct race_shadow *s, bool reads, bool more) {
    return 1u + (reads || s->read[0] ? 2 : 0) + (s->other != NULL) + (s->plain != NULL) +
           more;
}

bool race_shadow_plane(struct race_run *r, struct race_shadow *s, uint32_t **plane) {
    uint64_t bytes = cell_count(s) * sizeof **plane;
    if (!*plane && planes_hold(r, s, plane_count(s, false, true) * bytes)) {
        *plane = calloc(1, bytes);
    }
    return *plane;
}

static bool shadow_refine(struct race_run *r, struct race_shadow *s, unsigned grain) {
    unsigned by = s->grain - grain;
    uint64_t count = cell_count(s);
    struct race_shadow fine = *s;
    fine.grain = (uint8_t)grain;
    uint64_t room = cell_count(&fine);
    if (!planes_hold(r, s, plane_count(s, false, false) * room * sizeof *s->write)) {
        return false;
    }
    uint32_t **planes[] = {&s->write, &s->read[0], &s->read[1], &s->other, &s->plain};
    bool whole = true;
    for (unsigned k = 0; k < ARRAY_LEN(planes); k++) {
        if (*planes[k]) {
            uint32_t *to = plane_refine(*planes[k], count, by, room);
            free(*planes[k]);
            *planes[k] = to;
            whole = whole && to;
        }
    }
    s->grain = (uint8_t)grain;
    return whole;
}

static void shadow_clear(struct race_shadow *s) {
    uint64_t bytes = cell_count(s) * sizeof *s->write;
    uint32_t *planes[] = {s->write, s->read[0], s->read[1], s->other, s->plain};
    for (unsigned k = 0; k < ARRAY_LEN(planes); k++) {
        if (planes[k]) {
            memset(planes[k], 0, bytes);
        }
    }
}

bool race_shadow_prepare(struct race_run *r, struct race_shadow *s,
                         const struct race_events *e, unsigned grain, bool reads) {
    if (s->grain > grain && s->write && !shadow_refine(r, s, grain)) {
        return false;
    }
    s->grain = s->grain > grain ? (uint8_t)grain : s->grain;
    uint64_t bytes = cell_count(s) * sizeof *s->write;
    bool more = reads && !s->read[0];
    if (!s->write || more) {
        if (!planes_hold(r, s, bytes * plane_count(s, reads, false))) {
            return false;
        }
        s->write = s->write ? s->write : calloc(1, bytes);
        for (unsigned k = 0; k < 2 && more; k++) {
            s->read[k] = calloc(1, bytes);
        }
        if (!s->write || (more && (!s->read[0] || !s->read[1]))) {
            return false;
        }
    }
    if (s->generation != e->generation) {
        shadow_clear(s);
        s->written = 0;
        s->generation = e->generation;
    }
    return true;
}
