/* Knowledge of accesses: barriers, warp operations, fences, releases, acquires. */
#include "base/find.h"
#include "gpu/ptx/race/race_internal.h"

static void most(uint32_t *to, const uint32_t *more, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        to[k] = more[k] > to[k] ? more[k] : to[k];
    }
}

static void at_least(uint32_t *to, uint32_t least, unsigned count) {
    for (unsigned k = 0; k < count; k++) {
        to[k] = least > to[k] ? least : to[k];
    }
}

/* All that the warp knows of its block, its own accesses until now included. Later ones
 * are not: they get another stamp. */
static void known_now(struct warp *w, uint32_t to[RACE_AGENTS]) {
    struct race_warp *x = w->race;
    memcpy(to, x->known, sizeof x->known);
    at_least(to, w->block->race->synced, RACE_COPIES);
    to[w->index] = x->stamp;
    x->stamp = race_tick(race_of(w));
}

/* The same with what it knows of other blocks; a new reference. */
static struct race_know *view_now(struct warp *w) {
    uint32_t t[RACE_AGENTS];
    known_now(w, t);
    struct race_know *view = race_know_ref(w->race->foreign);
    race_know_add(race_of(w), &view, (uint32_t)w->block->number, t);
    return view;
}

/* ---- barriers of a block ---- */

static void barrier_add(struct race_run *r, struct race_barrier *to,
                        const struct race_warp *x) {
    race_know_join(r, &to->foreign, x->foreign);
    race_know_join(r, &to->fenced, x->fenced);
    race_know_join(r, &to->fenced_block, x->fenced_block);
}

static void barrier_give(struct race_run *r, const struct race_barrier *from,
                         struct race_warp *x) {
    race_know_join(r, &x->foreign, from->foreign);
    race_know_join(r, &x->fenced, from->fenced);
    race_know_join(r, &x->fenced_block, from->fenced_block);
}

static void barrier_clear(struct race_run *r, struct race_barrier *x) {
    race_know_unref(r, &x->foreign);
    race_know_unref(r, &x->fenced);
    race_know_unref(r, &x->fenced_block);
    *x = (struct race_barrier){.known = {0}};
}

void race_barrier_arrive(struct warp *w, unsigned id) {
    if (!w->race) {
        return;
    }
    struct race_barrier *x = &w->block->race->barriers[id];
    uint32_t t[RACE_AGENTS];
    known_now(w, t);
    most(x->known, t, RACE_AGENTS);
    barrier_add(race_of(w), x, w->race);
}

static uint32_t warps_of(const struct block *b) {
    return (uint32_t)((UINT64_C(1) << b->warp_count) - 1);
}

static uint32_t warps_alive(const struct block *b) {
    uint32_t alive = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        alive |= (uint32_t)(b->warps[k].live != 0) << k;
    }
    return alive;
}

/* What needs a word between warps besides "everything of the block until now". */
static bool barrier_is_plain(const struct block *b) {
    if (b->race->copies) {
        return false;
    }
    list_each(k, x, b->race->warps, b->warp_count) {
        if (x->foreign || x->fenced || x->fenced_block) {
            return false;
        }
    }
    return true;
}

static void pass_all(struct block *b) {
    struct race_block *x = b->race;
    struct race_run *r = b->processor->run->race;
    x->synced = r->time;
    uint32_t stamp = race_tick(r);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        x->warps[k].stamp = stamp;
    }
    if (!x->copies && !x->clustered) {
        race_events_void(&x->events);
    }
}

static void pass_some(struct block *b, struct race_barrier *sum, uint32_t warps) {
    struct race_run *r = b->processor->run->race;
    bits_each(k, warps) {
        struct warp *w = &b->warps[k];
        uint32_t t[RACE_AGENTS];
        known_now(w, t);
        most(sum->known, t, RACE_AGENTS);
        barrier_add(r, sum, w->race);
    }
    bits_each(k, warps) {
        struct race_warp *x = &b->race->warps[k];
        most(x->known, sum->known, RACE_AGENTS);
        at_least(x->all, sum->known[k], WARP_LANES);
        barrier_give(r, sum, x);
    }
}

void race_barrier_pass(struct block *b, unsigned id, uint32_t warps) {
    if (!b->race) {
        return;
    }
    struct race_barrier *sum = &b->race->barriers[id];
    /* Who has exited counts as having been there, but not where warps are counted: it
     * may have gone on after it arrived. */
    uint32_t there = b->barriers[id].expected ? warps_of(b) : warps_alive(b);
    bool all = warps == there;
    if (!all || !barrier_is_plain(b)) {
        pass_some(b, sum, warps);
    }
    barrier_clear(b->processor->run->race, sum);
    if (all) {
        pass_all(b);
    }
}

/* ---- inside a warp ---- */

/* What one of the lanes knows by lane, all of them know now; of lanes out of the mask
 * more than they know is taken where masks differ. */
static void meet_some(struct race_warp *x, uint32_t lanes) {
    uint32_t all = 0;
    bits_each(l, lanes) {
        uint32_t part = x->mask[l] == lanes ? 0 : x->part[l];
        uint32_t known = x->all[l] > part ? x->all[l] : part;
        all = known > all ? known : all;
    }
    bits_each(l, lanes) {
        x->all[l] = all;
        x->part[l] = x->stamp;
        x->mask[l] = lanes;
    }
}

void race_meet(struct warp *w, uint32_t lanes, bool orders) {
    struct race_warp *x = w->race;
    if (!x || (lanes & (lanes - 1)) == 0) {
        return;
    }
    if (!orders) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            x->meet[l] = lanes >> l & 1 ? x->stamp : x->meet[l];
        }
    } else if ((w->live & ~lanes) == 0) {
        for (unsigned l = 0; l < WARP_LANES; l++) {
            x->all[l] = x->stamp;
        }
    } else {
        meet_some(x, lanes);
    }
    x->stamp = race_tick(race_of(w));
}

/* ---- fences, releases, acquires ---- */

void race_fence(struct warp *w, bool block_scope) {
    struct race_warp *x = w->race;
    if (!x) {
        return;
    }
    struct race_run *r = race_of(w);
    struct race_know *view = view_now(w);
    race_know_unref(r, &x->fenced_block);
    x->fenced_block = race_know_ref(view);
    if (!block_scope) {
        race_know_unref(r, &x->fenced);
        x->fenced = race_know_ref(view);
    }
    race_know_unref(r, &view);
}

static struct race_objects *race_objects_of(struct warp *w, struct block *owner) {
    return owner ? &owner->race->objects : &race_of(w)->objects;
}

static void object_add(struct warp *w, struct block *owner, uint64_t address,
                       struct race_know *all, struct race_know *block) {
    struct race_run *r = race_of(w);
    struct race_object *x = race_object_add(race_objects_of(w, owner), address);
    if (!x) {
        r->coarse = true;
        snprintf(r->limits, sizeof r->limits,
                 "races: too many places are used to synchronise");
        return;
    }
    uint32_t number = (uint32_t)w->block->number;
    race_know_join(r, &x->all, all);
    if (block && x->of_block != number) {
        race_know_unref(r, &x->block);
        x->of_block = number;
    }
    race_know_join(r, &x->block, block);
}

void race_publish(struct warp *w, struct block *owner, uint64_t address) {
    struct race_know *view = view_now(w);
    object_add(w, owner, address, view, NULL);
    race_know_unref(race_of(w), &view);
}

void race_publish_fenced(struct warp *w, struct block *owner, uint64_t address) {
    if (w->race && w->race->fenced) {
        object_add(w, owner, address, w->race->fenced, NULL);
    }
}

static void learn(struct warp *w, uint32_t lanes, struct race_know *from) {
    struct race_run *r = race_of(w);
    struct race_warp *x = w->race;
    const struct race_clocks *own = race_know_find(r, from, (uint32_t)w->block->number);
    if (own) {
        uint32_t of_warp = own->t[w->index];
        most(x->known, own->t, RACE_AGENTS);
        bits_each(l, lanes) {
            x->all[l] = of_warp > x->all[l] ? of_warp : x->all[l];
        }
    }
    race_know_join(r, &x->foreign, from);
}

void race_learn(struct warp *w, uint32_t lanes, struct block *owner, uint64_t address) {
    const struct race_object *x = race_object_find(race_objects_of(w, owner), address);
    if (!x) {
        return;
    }
    if (x->all) {
        learn(w, lanes, x->all);
    }
    if (x->block && x->of_block == (uint32_t)w->block->number) {
        learn(w, lanes, x->block);
    }
}

/* The lanes of `lanes` with the first one's address. */
static uint32_t lanes_there(const uint64_t addresses[WARP_LANES], uint32_t lanes) {
    uint64_t first = addresses[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        same |= (uint32_t)(addresses[l] == first) << l;
    }
    return same & lanes;
}

static void release(struct warp *w, uint32_t lanes, struct block *owner,
                    const uint64_t addresses[WARP_LANES], unsigned kind) {
    struct race_warp *x = w->race;
    struct race_run *r = race_of(w);
    struct race_know *all = NULL, *block = NULL;
    if (kind & RACE_RELEASE) {
        all = view_now(w);
    } else {
        all = race_know_ref(x->fenced);
        block = race_know_ref(x->fenced_block);
    }
    while ((all || block) && lanes) {
        uint32_t there = lanes_there(addresses, lanes);
        object_add(w, owner, addresses[__builtin_ctz(lanes)], all, block);
        lanes &= ~there;
    }
    race_know_unref(r, &all);
    race_know_unref(r, &block);
}

/* A strong read takes what is there at once, with or without a fence behind it: that one
 * is missing there is not told. A plain store of one lane behind a fence is taken for a
 * flag: that it is plain is told, but not all that hangs on it too. */
void race_synchronise(struct warp *w, uint32_t lanes, struct block *owner,
                      const uint64_t addresses[WARP_LANES], unsigned kind) {
    bool strong = (kind & RACE_STRONG) != 0;
    if (strong && (kind & RACE_READ) && race_objects_of(w, owner)->count) {
        for (uint32_t left = lanes; left;) {
            uint32_t there = lanes_there(addresses, left);
            race_learn(w, there, owner, addresses[__builtin_ctz(left)]);
            left &= ~there;
        }
    }
    bool flag = (lanes & (lanes - 1)) == 0;
    if ((kind & RACE_WRITE) && (strong || flag) &&
        ((kind & RACE_RELEASE) || w->race->fenced || w->race->fenced_block)) {
        release(w, lanes, owner, addresses, kind);
    }
}

/* ---- copies ---- */

struct race_copy race_copy_new(struct warp *w) {
    w->block->race->copies = true;
    return (struct race_copy){.block = (uint32_t)w->block->number,
                              .warp = w->index,
                              .stamp = race_tick(race_of(w))};
}

void race_copy_told(struct warp *w, struct race_copy copy) {
    at_least(&w->race->known[RACE_COPIES + copy.warp], copy.stamp, 1);
}

void race_copy_publish(struct block *owner, uint64_t address, struct race_copy copy) {
    struct race_object *x = race_object_add(&owner->race->objects, address);
    uint32_t t[RACE_AGENTS] = {0};
    t[RACE_COPIES + copy.warp] = copy.stamp;
    if (x) {
        race_know_add(owner->processor->run->race, &x->all, copy.block, t);
    }
}
