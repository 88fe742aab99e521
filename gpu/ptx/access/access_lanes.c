/* The fast paths of loads and stores: all lanes inside one allocation or inside shared
 * memory, aligned, initialised. Compiled for each vector extension (lanes.h). */
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/lane_pattern.h"

/* false: the slow path must check it. Offsets are in bounds and aligned. */
LANE_INLINE bool move_lanes(struct warp *w, const struct step *s, const struct access *a,
                            struct lane_window at, const uint64_t *o, uint32_t mask,
                            bool shared, const bool store, const unsigned bytes,
                            const unsigned count) {
    const unsigned size = bytes * count;
    struct processor *processor = w->processor;
    bool all = mask == UINT32_MAX;
    uint64_t first = o[__builtin_ctz(mask)] - (uint64_t)__builtin_ctz(mask) * size;
    uint64_t apart = 0, differ = 0;
    LANES_FOR {
        apart |= (o[l] ^ (first + l * size)) & (all || w->masks[l] ? UINT64_MAX : 0);
        differ |= o[l] ^ o[0];
    }
    bool uniform = !store && differ == 0, contiguous = all && apart == 0;
    bool words = !all && apart == 0 && size == 4;
    struct lane_cost c = {0};
    if (processor->run->count) {
        c = contiguous ? cost_contiguous(o[0], shared, size)
            : uniform  ? cost_uniform(mask, shared, size)
            : words    ? cost_words(first, mask, shared)
                       : cost_of(o, mask, shared, size);
        count_request(&processor->accesses[s->extra], c);
    }
    const struct lane_request r = {o, mask, size, bytes, store, shared, uniform || words};
    pattern_learn(&processor->patterns[s->extra], &r,
                  (unsigned)o[__builtin_ctz(mask)] & (shared ? 3 : 31), c.cost, c.ideal);
    return contiguous ? move_contiguous(w, a, at, o[0], store, bytes, count)
           : uniform  ? load_uniform(w, a, at, o[0], mask, bytes, count)
                      : move_scattered(w, a, at, o, mask, store, bytes, count);
}

/* ---- spaces ---- */

/* space: what the addresses are relative to. */
LANE_INLINE void lane_addresses(struct warp *w, const struct step *s, uint32_t mask,
                                uint64_t space, uint64_t *to) {
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t offset = (uint64_t)s->offset - space;
    if (mask == UINT32_MAX) {
        LANES_FOR {
            to[l] = base[l] + offset;
        }
        return;
    }
    const uint32_t *on = w->masks;
    uint64_t first = base[__builtin_ctz(mask)] + offset;
    LANES_FOR {
        to[l] = on[l] ? base[l] + offset : first;
    }
}

/* All offsets within size and aligned. */
LANE_INLINE bool lanes_inside(const uint64_t *o, uint64_t bytes, const unsigned size) {
    uint64_t most = 0, low = 0;
    LANES_FOR {
        most = o[l] > most ? o[l] : most;
        low |= o[l];
    }
    return bytes >= size && most <= bytes - size && (low & (size - 1)) == 0;
}

LANE_INLINE void access_global(struct warp *w, const struct step *s, uint32_t mask,
                               const uint64_t *addresses, const bool store,
                               const unsigned bytes, const unsigned count) {
    struct processor *processor = w->processor;
    const struct access *a = &processor->run->program->accesses[s->extra];
    uint64_t first = addresses[__builtin_ctz(mask)];
    struct allocation *in = processor->last[s->extra];
    if (__builtin_expect(!in || first - in->address >= in->bytes, 0)) {
        in = run_find_for(processor->run, first, !store, store);
        if (!in) {
            access_slow(w, s, mask, addresses, PTX_GLOBAL);
            return;
        }
        processor->last[s->extra] = in;
        if (in->sample[store].launch != processor->run->memory->launch && !a->polls) {
            in->sample[store].offset = first - in->address;
            in->sample[store].launch = processor->run->memory->launch;
        }
    }
    uint64_t o[LANES_COUNT] __attribute__((aligned(64)));
    uint64_t base = in->address;
    LANES_FOR {
        o[l] = addresses[l] - base;
    }
    struct lane_window at = {.host = in->host, .shadow = in->shadow};
    if (!store && !processor->run->check_initialized) {
        at.shadow = NULL;
    }
    bool fine = lanes_inside(o, in->bytes, bytes * count) && !in->freed &&
                (!store || in->writable);
    if (!fine || !move_lanes(w, s, a, at, o, mask, false, store, bytes, count)) {
        access_slow(w, s, mask, addresses, PTX_GLOBAL);
    }
}

/* All within one variable and aligned. */
LANE_INLINE bool lanes_of_extent(const uint64_t *o, const struct shared_extent *e,
                                 const unsigned size) {
    uint64_t most = 0, least = UINT64_MAX, low = 0;
    LANES_FOR {
        most = o[l] > most ? o[l] : most;
        least = o[l] < least ? o[l] : least;
        low |= o[l];
    }
    return least >= e->low && e->high >= size && most <= e->high - size &&
           (low & (size - 1)) == 0;
}

LANE_INLINE bool lanes_of_variable(struct processor *processor, uint32_t access,
                                   const uint64_t *o, const unsigned size) {
    struct shared_extent *last = &processor->extents[access];
    return __builtin_expect(lanes_of_extent(o, last, size), 1) ||
           (shared_extent_find(processor->run, o[0], size, last) &&
            lanes_of_extent(o, last, size));
}

LANE_INLINE void access_shared(struct warp *w, const struct step *s, uint32_t mask,
                               const uint64_t *offsets, const bool store,
                               const unsigned bytes, const unsigned count) {
    struct block *b = w->block;
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    struct lane_window at = {.host = b->shared, .shadow = b->shared_shadow};
    if (!lanes_of_variable(w->processor, s->extra, offsets, bytes * count) ||
        !move_lanes(w, s, a, at, offsets, mask, true, store, bytes, count)) {
        access_slow(w, s, mask, offsets, PTX_SHARED);
    }
}

typedef void lane_access(struct warp *w, const struct step *s, uint32_t mask,
                         uint64_t space);

static LANES_APART void access_generic(struct warp *w, const struct step *s,
                                       uint32_t mask, lane_access *global,
                                       lane_access *shared) {
    uint64_t addresses[LANES_COUNT] __attribute__((aligned(64)));
    bool windows = false, elsewhere = false;
    lane_addresses(w, s, mask, 0, addresses);
    LANES_FOR {
        uint64_t in = addresses[l] - MEMORY_SHARED;
        windows |= in < 4 * MEMORY_WINDOW_BYTES;
        elsewhere |= in >= MEMORY_WINDOW_BYTES;
    }
    if (!windows) {
        global(w, s, mask, 0);
    } else if (!elsewhere) {
        shared(w, s, mask, MEMORY_SHARED);
    } else {
        access_generic_mixed(w, s, mask, addresses);
    }
}

/* ---- the request that was learned, in each space ---- */

LANE_INLINE bool again_global(struct warp *w, const struct step *s, uint32_t mask,
                              pattern_scatter *scatter, const bool store,
                              const unsigned bytes, const unsigned count) {
    const struct processor *processor = w->processor;
    const struct allocation *in = processor->last[s->extra];
    if (!in || in->freed || (store && !in->writable)) {
        return false;
    }
    bool look = store || processor->run->check_initialized;
    const struct lane_space to = {
        in->address, {0, in->bytes}, {in->host, look ? in->shadow : NULL}, false};
    return pattern_again(w, s, mask, to, scatter, store, bytes, count);
}

LANE_INLINE bool again_window(struct warp *w, const struct step *s, uint32_t mask,
                              uint64_t space, pattern_scatter *scatter, const bool store,
                              const unsigned bytes, const unsigned count) {
    const struct block *b = w->block;
    const struct lane_space to = {
        space, w->processor->extents[s->extra], {b->shared, b->shared_shadow}, true};
    return pattern_again(w, s, mask, to, scatter, store, bytes, count);
}

LANE_INLINE bool again_shared(struct warp *w, const struct step *s, uint32_t mask,
                              pattern_scatter *scatter, const bool store,
                              const unsigned bytes, const unsigned count) {
    return again_window(w, s, mask, 0, scatter, store, bytes, count);
}

LANE_INLINE bool again_generic(struct warp *w, const struct step *s, uint32_t mask,
                               pattern_scatter *scatter, const bool store,
                               const unsigned bytes, const unsigned count) {
    uint64_t first = LANES(const uint64_t, w, s->src[0])[__builtin_ctz(mask)];
    bool shared = first + (uint64_t)s->offset - MEMORY_SHARED < MEMORY_WINDOW_BYTES;
    return shared ? again_window(w, s, mask, MEMORY_SHARED, scatter, store, bytes, count)
                  : again_global(w, s, mask, scatter, store, bytes, count);
}

/* ---- handlers ---- */

#define SCATTER(store, bytes, count)                                                     \
    static LANES_APART bool scatter_##store##_##bytes##_##count(                         \
        struct warp *w, const struct access *a, const struct lane_pattern *p,            \
        struct lane_window at, uint64_t start, uint32_t mask) {                          \
        return pattern_scattered(w, a, p, at, start, mask, store, bytes, count);         \
    }
#define SCATTERS(store, bytes)                                                           \
    SCATTER(store, bytes, 1)                                                             \
    SCATTER(store, bytes, 2)                                                             \
    SCATTER(store, bytes, 4)
SCATTERS(0, 1)
SCATTERS(0, 2)
SCATTERS(0, 4)
SCATTERS(0, 8)
SCATTERS(1, 1)
SCATTERS(1, 2)
SCATTERS(1, 4)
SCATTERS(1, 8)

#define OTHER(place, store, bytes, count)                                                \
    static LANES_APART void other_##place##_##store##_##bytes##_##count(                 \
        struct warp *w, const struct step *s, uint32_t mask, uint64_t space) {           \
        uint64_t addresses[LANES_COUNT] __attribute__((aligned(64)));                    \
        lane_addresses(w, s, mask, space, addresses);                                    \
        access_##place(w, s, mask, addresses, store, bytes, count);                      \
    }
#define OTHER_global OTHER
#define OTHER_shared OTHER
#define OTHER_generic(place, store, bytes, count)                                        \
    static void other_generic_##store##_##bytes##_##count(                               \
        struct warp *w, const struct step *s, uint32_t mask, uint64_t) {                 \
        access_generic(w, s, mask, other_global_##store##_##bytes##_##count,             \
                       other_shared_##store##_##bytes##_##count);                        \
    }
#define HANDLER(place, store, bytes, count)                                              \
    OTHER_##place(place, store, bytes, count)                                            \
    static void access_##place##_##store##_##bytes##_##count(                            \
        struct warp *w, const struct step *s, uint32_t mask) {                           \
        if (store) {                                                                     \
            w->block->changes++;                                                         \
        }                                                                                \
        if (!again_##place(w, s, mask, scatter_##store##_##bytes##_##count, store,       \
                           bytes, count)) {                                              \
            other_##place##_##store##_##bytes##_##count(w, s, mask, 0);                  \
        }                                                                                \
    }
#define HANDLERS_COUNT(place, store, bytes)                                              \
    HANDLER(place, store, bytes, 1)                                                      \
    HANDLER(place, store, bytes, 2)                                                      \
    HANDLER(place, store, bytes, 4)
#define HANDLERS(place, store)                                                           \
    HANDLERS_COUNT(place, store, 1)                                                      \
    HANDLERS_COUNT(place, store, 2)                                                      \
    HANDLERS_COUNT(place, store, 4)                                                      \
    HANDLERS_COUNT(place, store, 8)
HANDLERS(global, 0)
HANDLERS(global, 1)
HANDLERS(shared, 0)
HANDLERS(shared, 1)
HANDLERS(generic, 0)
HANDLERS(generic, 1)

#define ROW(place, store, bytes)                                                         \
    {                                                                                    \
        access_##place##_##store##_##bytes##_1, access_##place##_##store##_##bytes##_2,  \
            access_##place##_##store##_##bytes##_4                                       \
    }
#define ROWS(place, store)                                                               \
    {                                                                                    \
        ROW(place, store, 1), ROW(place, store, 2), ROW(place, store, 4),                \
            ROW(place, store, 8)                                                         \
    }
const access_table LANES_NAME(access_table) = {
    {ROWS(global, 0), ROWS(shared, 0), ROWS(generic, 0)},
    {ROWS(global, 1), ROWS(shared, 1), ROWS(generic, 1)},
};
