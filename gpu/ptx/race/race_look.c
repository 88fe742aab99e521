/* Accesses: what they race with, and the traces that they leave. */
#include "gpu/ptx/race/race_cells.h"

/* ---- where the bytes are ---- */

static unsigned grain_of(unsigned bytes) {
    return bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
}

/* Whole and aligned inside; if not, that is another finding. A bulk copy of no bytes is
 * nowhere. */
static bool is_inside(const struct look *k, uint64_t offset, uint64_t bytes) {
    return k->bytes && offset < bytes && k->bytes <= bytes - offset &&
           offset % (k->bytes < 4 ? k->bytes : 4) == 0;
}

static bool look_at_shared(struct look *k, uint64_t offset) {
    struct block *b = k->owner;
    if (!is_inside(k, offset, b->shared_bytes)) {
        return false;
    }
    k->shadow = &b->race->shadow;
    k->events = &b->race->events;
    k->host = b->shared;
    k->base = 0;
    return true;
}

static bool look_at_global(struct look *k, uint64_t address) {
    struct run *run = k->warp->processor->run;
    struct allocation *in = memory_find(run->memory, address);
    if (!in || in->freed || !in->writable ||
        !is_inside(k, address - in->address, in->bytes)) {
        return false;
    }
    if (!in->race) {
        in->race = xcalloc(1, sizeof *in->race);
        *in->race = (struct race_shadow){.bytes = in->bytes, .grain = 2};
    }
    k->shadow = in->race;
    k->events = &run->race->events;
    k->host = in->host;
    k->base = in->address;
    return true;
}

static void tell_too_large(struct look *k) {
    struct race_run *r = race_of(k->warp);
    if (!r->limits[0]) {
        snprintf(r->limits, sizeof r->limits,
                 "races: the traces of accesses take too much memory; use smaller sizes");
    }
}

uint32_t race_event_id(struct look *k) {
    struct race_run *r = race_of(k->warp);
    const struct warp *w = k->warp;
    struct race_event e = {.step = k->step,
                           .stamp = k->copy ? k->copy : w->race->stamp,
                           .block = (uint32_t)w->block->number,
                           .function = w->frame->code->index,
                           .agent = (uint8_t)(w->index + (k->copy ? RACE_COPIES : 0)),
                           .kind = (uint8_t)k->kind,
                           .size = race_size(k->bytes)};
    if (k->kind & RACE_STRONG) {
        e.order = race_tick(r);
        e.synced = w->block->race->synced;
    }
    return race_events_add(k->events, &e, k->kind & RACE_UNLOCK, &r->forgotten);
}

/* The cells and the event of an access at address; false: nothing to look at. */
static bool look_open(struct look *k, uint64_t address) {
    struct race_run *r = race_of(k->warp);
    uint64_t offset = address - k->base;
    if (k->id && offset < k->shadow->bytes && k->bytes <= k->shadow->bytes - offset) {
        return true;
    }
    if (!(k->owner ? look_at_shared(k, address) : look_at_global(k, address))) {
        return false;
    }
    if (!race_shadow_prepare(r, k->shadow, k->events, grain_of(k->bytes),
                             !(k->kind & RACE_WRITE))) {
        tell_too_large(k);
        return false;
    }
    k->id = race_event_id(k);
    return true;
}

static void leave(struct look *k, unsigned lane, uint64_t offset) {
    if (race_keeps(k)) {
        race_keep(k, lane, offset);
    }
    lane_note(k, lane, offset);
}

void race_note(struct warp *w, const struct step *s, unsigned lane, struct block *owner,
               uint64_t address, unsigned bytes, unsigned kind) {
    race_copy_note(w, s, lane, owner, address, bytes, kind,
                   (struct race_copy){.stamp = 0});
}

void race_copy_note(struct warp *w, const struct step *s, unsigned lane,
                    struct block *owner, uint64_t address, unsigned bytes, unsigned kind,
                    struct race_copy copy) {
    struct look k = {.warp = w,
                     .step = s,
                     .owner = owner,
                     .kind = kind,
                     .bytes = bytes,
                     .judged = UINT32_MAX,
                     .copy = copy.stamp};
    if (look_open(&k, address)) {
        race_check(&k, lane, address - k.base, NULL);
        leave(&k, lane, address - k.base);
    }
}

/* ---- a step of program->accesses ---- */

struct lanes {
    const struct access *access;
    const uint64_t *addresses;
    uint32_t mask;
};

/* The values that the lane stores, consecutive elements. */
static void lane_value(const struct look *k, const struct lanes *x, unsigned lane,
                       uint8_t value[64]) {
    const struct access *a = x->access;
    for (unsigned e = 0; e < a->count; e++) {
        const uint8_t *r = LANES(const uint8_t, k->warp, a->registers[e]);
        memcpy(value + (size_t)e * a->bytes, r + (size_t)lane * a->bytes, a->bytes);
    }
}

/* Lanes of one instruction that store to one place, and not the same. */
static void check_lanes(const struct look *k, const struct lanes *x, uint32_t done,
                        unsigned lane, uint64_t offset) {
    uint32_t cell = k->shadow->write[offset >> k->shadow->grain];
    unsigned other = cell % WARP_LANES;
    if (cell >> RACE_LANE_BITS != k->id || !(done >> other & 1) || other == lane ||
        x->addresses[other] != x->addresses[lane]) {
        return;
    }
    uint8_t here[64], there[64];
    lane_value(k, x, lane, here);
    lane_value(k, x, other, there);
    if (memcmp(here, there, k->bytes) != 0) {
        struct race_conflict c = race_conflict_with(k, cell, lane, offset);
        c.same_instruction = true;
        race_tell(&c);
    }
}

void race_check_lanes(const struct look *k, const struct access *a,
                      const uint64_t addresses[WARP_LANES], uint32_t mask) {
    const struct lanes x = {.access = a, .addresses = addresses, .mask = mask};
    bits_each(lane, mask) {
        check_lanes(k, &x, mask, lane, addresses[lane] - k->base);
    }
}

/* All lanes at one place: what holds for the first and the last holds for each. */
static uint32_t some_of(const struct lanes *x) {
    uint64_t first = x->addresses[__builtin_ctz(x->mask)];
    bits_each(lane, x->mask) {
        if (x->addresses[lane] != first) {
            return x->mask;
        }
    }
    return 1u << __builtin_ctz(x->mask) | 1u << (31 - __builtin_clz(x->mask));
}

/* One lane after the other, with words for what races. */
static void look_each(struct look *k, const struct lanes *x) {
    bool stores = !(k->kind & RACE_READ);
    uint32_t seen = 0, done = 0;
    bits_each(lane, x->mask) {
        uint8_t value[64];
        if (look_open(k, x->addresses[lane])) {
            if (stores) {
                lane_value(k, x, lane, value);
            }
            race_check(k, lane, x->addresses[lane] - k->base, stores ? value : NULL);
            seen |= 1u << lane;
        }
    }
    bits_each(lane, seen) {
        if (!look_open(k, x->addresses[lane])) {
            continue;
        }
        uint64_t offset = x->addresses[lane] - k->base;
        if (stores && done) {
            check_lanes(k, x, done, lane, offset);
        }
        leave(k, lane, offset);
        done |= 1u << lane;
    }
}

/* The lanes whose cells hold anything that is not over: mostly none do. */
static uint32_t lanes_used(const struct look *k, const struct lanes *x) {
    const struct race_shadow *s = k->shadow;
    bool writes = (k->kind & RACE_WRITE) && s->read[0];
    const uint32_t *write = s->write, *one = s->read[0], *two = s->read[1];
    uint32_t over = k->events->first << RACE_LANE_BITS, used = 0;
    uint64_t base = k->base;
    unsigned grain = s->grain, more = (k->bytes - 1) >> grain;
    bits_each(lane, x->mask) {
        uint64_t u = (x->addresses[lane] - base) >> grain;
        bool some = false;
        for (unsigned n = 0; n <= more; n++) {
            some |= write[u + n] >= over;
            some |= writes && (one[u + n] >= over || two[u + n] >= over);
        }
        used |= (uint32_t)some << lane;
    }
    return used;
}

/* All in one piece of memory, and in order, as nearly always. */
static bool look_all(struct look *k, const struct lanes *x) {
    uint64_t low = UINT64_MAX, high = 0;
    bits_each(lane, x->mask) {
        uint64_t a = x->addresses[lane];
        low = a < low ? a : low;
        high = a > high ? a : high;
    }
    if (!look_open(k, low) || high - k->base > k->shadow->bytes - k->bytes) {
        return false;
    }
    bits_each(lane, lanes_used(k, x)) {
        if (!lane_fine(k, lane, x->addresses[lane] - k->base)) {
            return false;
        }
    }
    return true;
}

static void look_lanes(struct look *k, const struct lanes *x) {
    if (!look_all(k, x)) {
        look_each(k, x);
        return;
    }
    bits_each(lane, race_keeps(k) ? x->mask : 0) {
        race_keep(k, lane, x->addresses[lane] - k->base);
    }
    bool stores = !(k->kind & RACE_READ);
    bits_each(lane, x->mask) {
        lane_note(k, lane, x->addresses[lane] - k->base);
    }
    race_check_lanes(k, x->access, x->addresses, stores ? x->mask : 0);
}

/* A buffer that is only read: nothing to look at. */
static bool is_constant(struct warp *w, const struct step *s, const struct lanes *x) {
    const struct allocation *in = w->processor->last[s->extra];
    if (!in || in->writable) {
        return false;
    }
    bits_each(lane, x->mask) {
        if (x->addresses[lane] - in->address >= in->bytes) {
            return false;
        }
    }
    return true;
}

/* In front of a plain store of the lanes to global memory. */
void race_store_note(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    struct race_store *x = &race_of(w)->stores[s->extra];
    if (x->varied) {
        return;
    }
    if (a->count > 1 || a->bytes > sizeof x->value) {
        x->varied = true;
        x->harmless = false;
        return;
    }
    const char *values = LANES(const char, w, a->registers[0]);
    bits_each(lane, mask) {
        uint64_t value = 0;
        memcpy(&value, values + (size_t)lane * a->bytes, a->bytes);
        x->varied |= x->seen && value != x->value;
        x->harmless = x->seen && !x->varied;
        x->seen = true;
        x->value = value;
    }
}

static void look_place(struct warp *w, const struct step *s, struct lanes x,
                       struct block *owner) {
    struct look k = {.warp = w,
                     .step = s,
                     .owner = owner,
                     .kind = x.access->race | (w->race->fenced ? RACE_FENCED : 0u),
                     .bytes = (unsigned)x.access->bytes * x.access->count,
                     .judged = UINT32_MAX};
    if (!owner && is_constant(w, s, &x)) {
        return;
    }
    uint32_t mask = x.mask;
    if (!owner && x.access->is_store && !(k.kind & RACE_STRONG)) {
        race_store_note(w, s, mask);
    }
    x.mask = k.kind & RACE_WRITE ? mask : some_of(&x);
    k.lanes = x.mask == mask ? 0 : mask;
    look_lanes(&k, &x);
    if ((k.kind & RACE_STRONG) || w->race->fenced || w->race->fenced_block) {
        race_synchronise(w, mask, owner, x.addresses, k.kind);
    }
}

static bool is_shared(enum ptx_space space) {
    return space == PTX_SHARED || space == PTX_SHARED_CLUSTER;
}

/* Whose shared memory an address is in, and at which offset; NULL: global. */
static struct block *owner_of(struct warp *w, enum ptx_space space, uint64_t *address) {
    bool window = space == PTX_GENERIC && *address - MEMORY_SHARED < MEMORY_WINDOW_BYTES;
    if (!window && !is_shared(space)) {
        return NULL;
    }
    *address -= window ? MEMORY_SHARED : 0;
    uint64_t tag = *address >> CLUSTER_TAG_SHIFT;
    const struct cluster *c = w->block->cluster;
    if (tag == 0 || tag > c->count) {
        return w->block;
    }
    *address &= (UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1;
    return c->blocks[tag - 1];
}

void race_note_at(struct warp *w, const struct step *s, unsigned lane,
                  enum ptx_space space, uint64_t address, unsigned bytes, unsigned kind) {
    struct block *owner = owner_of(w, space, &address);
    race_note(w, s, lane, owner, address, bytes, kind);
}

/* Each memory that the lanes access. */
static void look_step(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t addresses[WARP_LANES];
    struct block *owners[WARP_LANES];
    uint32_t left = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        addresses[l] = base[l] + (uint64_t)s->offset;
        owners[l] = owner_of(w, (enum ptx_space)a->space, &addresses[l]);
        bool own = !owners[l] && a->space == PTX_GENERIC &&
                   addresses[l] - MEMORY_LOCAL < 3 * MEMORY_WINDOW_BYTES;
        left |= (uint32_t)!own << l;
    }
    for (left &= mask; left;) {
        struct block *owner = owners[__builtin_ctz(left)];
        struct lanes x = {.access = a, .addresses = addresses};
        bits_each(l, left) {
            x.mask |= (uint32_t)(owners[l] == owner) << l;
        }
        left &= ~x.mask;
        look_place(w, s, x, owner);
    }
}

void race_note_lanes(struct warp *w, const struct step *s, uint32_t mask) {
    if (!race_of(w)->quick(w, s, mask)) {
        look_step(w, s, mask);
    }
}

step_run *race_handler(const struct access *a, const struct step *s) {
    return s->run == race_step ? a->watched : s->run;
}

void race_step(struct warp *w, const struct step *s, uint32_t mask) {
    race_note_lanes(w, s, mask);
    w->processor->run->program->accesses[s->extra].watched(w, s, mask);
}
