/* What is known of other blocks, and the objects that hand it on.
 *
 * Many know nearly the same (every block of a look-back chain all those before it), so
 * trees share what is equal: joining two costs what they differ in. */
#include "gpu/ptx/race/race_internal.h"

#define KNOW_MOST (UINT64_C(256) << 20) /* bytes of all trees */
#define OBJECTS_MOST (UINT32_C(1) << 20)

/* ---- clocks ---- */

static void know_grown(struct race_run *r, uint64_t bytes) {
    r->know_bytes += bytes;
    if (r->know_bytes > KNOW_MOST && !r->coarse) {
        r->coarse = true;
        snprintf(
            r->limits, sizeof r->limits,
            "races between blocks: they synchronise in more ways than are kept apart");
    }
}

static struct race_clocks *clocks_new(struct race_run *r) {
    struct race_clocks *c = xcalloc(1, sizeof *c);
    c->refs = 1;
    know_grown(r, sizeof *c);
    return c;
}

static void clocks_drop(struct race_run *r, struct race_clocks *c) {
    if (c && --c->refs == 0) {
        r->know_bytes -= sizeof *c;
        free(c);
    }
}

/* A new reference. */
static struct race_clocks *clocks_join(struct race_run *r, struct race_clocks *a,
                                       struct race_clocks *b) {
    bool more_a = false, more_b = false;
    for (unsigned k = 0; a != b && k < RACE_AGENTS; k++) {
        more_a = more_a || a->t[k] > b->t[k];
        more_b = more_b || b->t[k] > a->t[k];
    }
    if (!more_a || !more_b) {
        struct race_clocks *most = more_b ? b : a;
        most->refs++;
        return most;
    }
    struct race_clocks *c = clocks_new(r);
    for (unsigned k = 0; k < RACE_AGENTS; k++) {
        c->t[k] = a->t[k] > b->t[k] ? a->t[k] : b->t[k];
    }
    return c;
}

/* ---- trees ---- */

struct race_know *race_know_ref(struct race_know *k) {
    if (k) {
        k->refs++;
    }
    return k;
}

static void node_drop(struct race_run *r, struct race_know *k, uint32_t level) {
    if (!k || --k->refs) {
        return;
    }
    for (unsigned i = 0; i < RACE_FAN; i++) {
        if (level == 0) {
            clocks_drop(r, k->child[i]);
        } else {
            node_drop(r, k->child[i], level - 1);
        }
    }
    r->know_bytes -= sizeof *k;
    free(k);
}

void race_know_unref(struct race_run *r, struct race_know **k) {
    node_drop(r, *k, r->levels - 1);
    *k = NULL;
}

static struct race_know *node_new(struct race_run *r) {
    struct race_know *k = xcalloc(1, sizeof *k);
    k->refs = 1;
    know_grown(r, sizeof *k);
    return k;
}

static void *child_ref(void *child, uint32_t level) {
    if (child && level == 0) {
        ((struct race_clocks *)child)->refs++;
    } else if (child) {
        ((struct race_know *)child)->refs++;
    }
    return child;
}

static struct race_know *node_join(struct race_run *r, struct race_know *a,
                                   struct race_know *b, uint32_t level);

static void *child_join(struct race_run *r, void *a, void *b, uint32_t level) {
    if (!a || !b || a == b) {
        return child_ref(a ? a : b, level);
    }
    return level == 0 ? (void *)clocks_join(r, a, b)
                      : (void *)node_join(r, a, b, level - 1);
}

/* A new reference; a or b itself when that knows all. */
static struct race_know *node_join(struct race_run *r, struct race_know *a,
                                   struct race_know *b, uint32_t level) {
    struct race_know *k = node_new(r);
    bool is_a = true, is_b = true;
    for (unsigned i = 0; i < RACE_FAN; i++) {
        k->child[i] = child_join(r, a->child[i], b->child[i], level);
        is_a = is_a && k->child[i] == a->child[i];
        is_b = is_b && k->child[i] == b->child[i];
    }
    if (!is_a && !is_b) {
        return k;
    }
    node_drop(r, k, level);
    return race_know_ref(is_a ? a : b);
}

void race_know_join(struct race_run *r, struct race_know **to, struct race_know *more) {
    if (!more || *to == more || r->coarse) {
        return;
    }
    struct race_know *was = *to;
    *to = was ? node_join(r, was, more, r->levels - 1) : race_know_ref(more);
    race_know_unref(r, &was);
}

void race_know_add(struct race_run *r, struct race_know **to, uint32_t block,
                   const uint32_t t[RACE_AGENTS]) {
    if (r->coarse) {
        return;
    }
    struct race_clocks *c = clocks_new(r);
    memcpy(c->t, t, sizeof c->t);
    void *below = c;
    for (uint32_t level = 0; level < r->levels; level++) {
        struct race_know *k = node_new(r);
        k->child[block >> (RACE_FAN_BITS * level) & (RACE_FAN - 1)] = below;
        below = k;
    }
    struct race_know *one = below;
    race_know_join(r, to, one);
    race_know_unref(r, &one);
}

const struct race_clocks *race_know_find(const struct race_run *r,
                                         const struct race_know *k, uint32_t block) {
    for (uint32_t level = r->levels; k && --level > 0;) {
        k = k->child[block >> (RACE_FAN_BITS * level) & (RACE_FAN - 1)];
    }
    return k ? k->child[block & (RACE_FAN - 1)] : NULL;
}

/* ---- objects ---- */

static struct race_object *object_slot(const struct race_objects *o, uint64_t address) {
    uint64_t h = address * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t k = (uint32_t)(h >> 32);; k++) {
        struct race_object *x = &o->items[k & (o->room - 1)];
        if (!x->used || x->address == address) {
            return x;
        }
    }
}

struct race_object *race_object_find(const struct race_objects *o, uint64_t address) {
    if (o->count == 0) {
        return NULL;
    }
    struct race_object *x = object_slot(o, address);
    return x->used ? x : NULL;
}

static void objects_grow(struct race_objects *o) {
    struct race_objects more = {.count = o->count, .room = o->room ? 2 * o->room : 16};
    more.items = xcalloc(more.room, sizeof *more.items);
    for (uint32_t k = 0; k < o->room; k++) {
        if (o->items[k].used) {
            *object_slot(&more, o->items[k].address) = o->items[k];
        }
    }
    free(o->items);
    *o = more;
}

struct race_object *race_object_add(struct race_objects *o, uint64_t address) {
    struct race_object *x = race_object_find(o, address);
    if (x || o->count == OBJECTS_MOST) {
        return x;
    }
    if (o->count >= o->room / 2) {
        objects_grow(o);
    }
    x = object_slot(o, address);
    *x = (struct race_object){.address = address, .used = true};
    o->count++;
    return x;
}

void race_objects_clear(struct race_run *r, struct race_objects *o) {
    for (uint32_t k = 0; k < o->room; k++) {
        race_know_unref(r, &o->items[k].all);
        race_know_unref(r, &o->items[k].block);
    }
    free(o->items);
    *o = (struct race_objects){.count = 0};
}
