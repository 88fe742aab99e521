/* The fast paths of loads and stores: all lanes inside one allocation or inside shared
 * memory, aligned, initialised. Compiled for each vector extension (lanes.h). */
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/alu/lanes.h"

#include <string.h>

struct window { /* what the lanes' offsets are relative to */
    uint8_t *host;
    uint8_t *shadow; /* NULL: nothing to check or to note */
};

typedef uint16_t u16_alias __attribute__((may_alias));
typedef uint32_t u32_alias __attribute__((may_alias));
typedef uint64_t u64_alias __attribute__((may_alias));

#define INLINE static inline __attribute__((always_inline))

/* ---- shadow ---- */

INLINE bool shadow_contiguous_set(const uint8_t *shadow, unsigned words) {
    uint8_t all = 0xff;
    for (unsigned k = 0; k < words; k++) {
        all &= shadow[k];
    }
    return (all & 0x0f) == 0x0f;
}

/* Which bytes of their word an access of a lane touches. */
INLINE uint8_t shadow_bits(uint64_t offset, unsigned bytes) {
    return (uint8_t)(bytes >= 4 ? 0x0f : ((1u << bytes) - 1) << (offset & 3));
}

#define SHADOW_SPAN 1024 /* words: looking at all of them is faster than at 32 places */

INLINE bool shadow_gather_set(const uint8_t *shadow, const uint64_t *o, unsigned bytes) {
    uint64_t low = o[0], high = o[0];
    LANES_FOR {
        low = o[l] < low ? o[l] : low;
        high = o[l] > high ? o[l] : high;
    }
    uint64_t first = low >> 2, words = ((high + bytes + 3) >> 2) - first;
    if (words <= SHADOW_SPAN && shadow_contiguous_set(shadow + first, (unsigned)words)) {
        return true;
    }
    uint8_t missing = 0;
    for (unsigned l = 0; l < LANES_COUNT; l++) {
        uint8_t want = shadow_bits(o[l], bytes);
        for (unsigned k = 0; k < (bytes + 3) / 4; k++) {
            missing |= (uint8_t)(want & ~shadow[(o[l] >> 2) + k]);
        }
    }
    return missing == 0;
}

/* Blocks on other threads may write other bytes of the same word. */
INLINE void shadow_note(uint8_t *shadow, uint64_t offset, unsigned bytes) {
    uint8_t *at = shadow + (offset >> 2);
    if (bytes < 4) {
        uint8_t bits = shadow_bits(offset, bytes);
        bits = (uint8_t)(bits | bits << 4);
        if ((__atomic_load_n(at, __ATOMIC_RELAXED) & bits) != bits) {
            __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
        }
        return;
    }
    memset(at, 0xff, bytes / 4);
}

/* ---- moving ---- */

#define ELEMENT(type)                                                                    \
    INLINE void load_##type(uint8_t *to, const uint8_t *host, const uint64_t *o,         \
                            uint64_t add, const uint32_t *on) {                          \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        if (!on) {                                                                       \
            LANES_FOR {                                                                  \
                v[l] = *(const type *)(const void *)(host + o[l] + add);                 \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        LANES_FOR {                                                                      \
            type x = *(const type *)(const void *)(host + o[l] + add);                   \
            v[l] = on[l] ? x : v[l];                                                     \
        }                                                                                \
    }                                                                                    \
    INLINE void spread_##type(uint8_t *to, const uint8_t *host) {                        \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        type x = *(const type *)(const void *)host;                                      \
        LANES_FOR {                                                                      \
            v[l] = x;                                                                    \
        }                                                                                \
    }                                                                                    \
    INLINE void unzip_##type(uint8_t *to, const uint8_t *host, unsigned count) {         \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        const type *from = (const type *)(const void *)host;                             \
        LANES_FOR {                                                                      \
            v[l] = from[l * count];                                                      \
        }                                                                                \
    }                                                                                    \
    INLINE void zip_##type(uint8_t *host, const uint8_t *from, unsigned count) {         \
        const type *v = __builtin_assume_aligned(from, 64);                              \
        type *to = (type *)(void *)host;                                                 \
        LANES_FOR {                                                                      \
            to[l * count] = v[l];                                                        \
        }                                                                                \
    }                                                                                    \
    INLINE void store_##type(uint8_t *host, const uint8_t *from, const uint64_t *o,      \
                             uint64_t add, uint32_t mask) {                              \
        const type *v = __builtin_assume_aligned(from, 64);                              \
        if (mask == UINT32_MAX) {                                                        \
            for (unsigned l = 0; l < LANES_COUNT; l++) {                                 \
                *(type *)(void *)(host + o[l] + add) = v[l];                             \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        for (uint32_t m = mask; m; m &= m - 1) {                                         \
            unsigned l = (unsigned)__builtin_ctz(m);                                     \
            *(type *)(void *)(host + o[l] + add) = v[l];                                 \
        }                                                                                \
    }
ELEMENT(uint8_t)
ELEMENT(u16_alias)
ELEMENT(u32_alias)
ELEMENT(u64_alias)

#define BY_BYTES(verb, ...)                                                              \
    do {                                                                                 \
        if (bytes == 1) {                                                                \
            verb##_uint8_t(__VA_ARGS__);                                                 \
        } else if (bytes == 2) {                                                         \
            verb##_u16_alias(__VA_ARGS__);                                               \
        } else if (bytes == 4) {                                                         \
            verb##_u32_alias(__VA_ARGS__);                                               \
        } else {                                                                         \
            verb##_u64_alias(__VA_ARGS__);                                               \
        }                                                                                \
    } while (0)

/* The lanes lie one behind the other. */
INLINE bool move_contiguous(struct warp *w, const struct access *a, struct window at,
                            uint64_t first, const bool store, const unsigned bytes,
                            const unsigned count) {
    const unsigned size = bytes * count;
    uint8_t *host = at.host + first;
    if (at.shadow) {
        if ((first & 3) != 0 || (size * LANES_COUNT) % 4 != 0) {
            return false;
        }
        uint8_t *shadow = at.shadow + (first >> 2);
        if (store) {
            memset(shadow, 0xff, size * LANES_COUNT / 4);
        } else if (!shadow_contiguous_set(shadow, size * LANES_COUNT / 4)) {
            return false;
        }
    }
    for (unsigned k = 0; k < count; k++) {
        if (a->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        uint8_t *r = LANES(uint8_t, w, a->registers[k]);
        if (count == 1 && store) {
            memcpy(host, r, (size_t)bytes * LANES_COUNT);
        } else if (count == 1) {
            memcpy(r, host, (size_t)bytes * LANES_COUNT);
        } else if (store) {
            BY_BYTES(zip, host + k * bytes, r, count);
        } else {
            BY_BYTES(unzip, r, host + k * bytes, count);
        }
    }
    return true;
}

INLINE bool load_uniform(struct warp *w, const struct access *a, struct window at,
                         uint64_t first, const unsigned bytes, const unsigned count) {
    if (at.shadow) {
        uint8_t want = shadow_bits(first, bytes * count), missing = 0;
        for (unsigned k = 0; k < (bytes * count + 3) / 4; k++) {
            missing |= (uint8_t)(want & ~at.shadow[(first >> 2) + k]);
        }
        if (missing) {
            return false;
        }
    }
    for (unsigned k = 0; k < count; k++) {
        if (a->registers[k] != STEP_NO_REGISTER) {
            BY_BYTES(spread, LANES(uint8_t, w, a->registers[k]),
                     at.host + first + k * bytes);
        }
    }
    return true;
}

INLINE bool move_scattered(struct warp *w, const struct access *a, struct window at,
                           const uint64_t *o, uint32_t mask, const bool store,
                           const unsigned bytes, const unsigned count) {
    const unsigned size = bytes * count;
    if (at.shadow && !store && !shadow_gather_set(at.shadow, o, size)) {
        return false;
    }
    const uint32_t *on = mask == UINT32_MAX ? NULL : w->masks;
    for (unsigned k = 0; k < count; k++) {
        if (a->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        uint8_t *r = LANES(uint8_t, w, a->registers[k]);
        if (store) {
            BY_BYTES(store, at.host, r, o, (uint64_t)k * bytes, mask);
        } else if (on) {
            BY_BYTES(load, r, at.host, o, (uint64_t)k * bytes, on);
        } else {
            BY_BYTES(load, r, at.host, o, (uint64_t)k * bytes, NULL);
        }
    }
    if (at.shadow && store) {
        for (uint32_t m = mask; m; m &= m - 1) {
            shadow_note(at.shadow, o[__builtin_ctz(m)], size);
        }
    }
    return true;
}

/* Counts a request: patterns repeat, and a repeated one is a comparison. Costs stay the
 * same when all addresses move by 32 bytes (sectors) or by a word (banks). */
INLINE void count_lanes(struct processor *processor, uint32_t number, const uint64_t *o,
                        uint32_t mask, bool shared, const unsigned size) {
    struct access_count *counts = &processor->accesses[number];
    const struct pattern *pattern = &processor->patterns[number];
    uint64_t base = o[__builtin_ctz(mask)];
    uint32_t phase = (uint32_t)base & (shared ? 3 : 31);
    uint32_t cost = pattern->cost[phase];
    uint64_t far = 0;
    uint32_t apart = 0;
    LANES_FOR {
        uint64_t delta = o[l] - base; /* lanes out of mask have the first one's address */
        far |= (delta + UINT64_C(0x80000000)) >> 32;
        apart |= (uint32_t)delta ^ (uint32_t)pattern->deltas[l];
    }
    if (__builtin_expect(mask == pattern->mask && cost && !apart && !far, 1)) {
        counts->requests++;
        counts->cost += cost;
        counts->ideal += pattern->ideal;
        return;
    }
    coalescing_count(counts, &processor->patterns[number], o, mask, size, shared);
}

/* false: somebody has to look closer. Offsets are in bounds and aligned. */
INLINE bool move_lanes(struct warp *w, const struct step *s, const struct access *a,
                       struct window at, const uint64_t *o, uint32_t mask, bool shared,
                       const bool store, const unsigned bytes, const unsigned count) {
    const unsigned size = bytes * count;
    struct processor *processor = w->processor;
    struct access_count *counts =
        processor->run->count ? &processor->accesses[s->extra] : NULL;
    uint64_t apart = 1, differ = 1;
    if (mask == UINT32_MAX) {
        apart = differ = 0;
        LANES_FOR {
            apart |= o[l] ^ (o[0] + l * size);
            differ |= o[l] ^ o[0];
        }
    }
    if (apart == 0) {
        if (counts) {
            uint32_t ideal = shared ? (size < 4 ? 1 : size / 4) : size;
            counts->requests++;
            counts->ideal += ideal;
            counts->cost +=
                shared ? ideal : ((o[0] + 32 * size - 1) >> 5) - (o[0] >> 5) + 1;
        }
        return move_contiguous(w, a, at, o[0], store, bytes, count);
    }
    if (!store && differ == 0) {
        if (counts) {
            uint32_t cost = !shared || size <= 4 ? 1 : size == 8 ? 2 : 4;
            counts->requests++;
            counts->ideal += shared ? cost : 1;
            counts->cost += cost;
        }
        return load_uniform(w, a, at, o[0], bytes, count);
    }
    if (counts) {
        count_lanes(processor, s->extra, o, mask, shared, size);
    }
    return move_scattered(w, a, at, o, mask, store, bytes, count);
}

/* ---- spaces ---- */

INLINE void lane_addresses(struct warp *w, const struct step *s, uint32_t mask,
                           uint64_t *to) {
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t offset = (uint64_t)s->offset;
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
INLINE bool lanes_inside(const uint64_t *o, uint64_t bytes, const unsigned size) {
    uint64_t most = 0, low = 0;
    LANES_FOR {
        most = o[l] > most ? o[l] : most;
        low |= o[l];
    }
    return bytes >= size && most <= bytes - size && (low & (size - 1)) == 0;
}

INLINE void access_global(struct warp *w, const struct step *s, uint32_t mask,
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
    }
    uint64_t o[LANES_COUNT] __attribute__((aligned(64)));
    uint64_t base = in->address;
    LANES_FOR {
        o[l] = addresses[l] - base;
    }
    struct window at = {.host = in->host, .shadow = in->shadow};
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
INLINE bool lanes_of_extent(const uint64_t *o, const struct shared_extent *e,
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

INLINE bool lanes_of_variable(struct processor *processor, uint32_t access,
                              const uint64_t *o, const unsigned size) {
    struct shared_extent *last = &processor->extents[access];
    return __builtin_expect(lanes_of_extent(o, last, size), 1) ||
           (shared_extent_find(processor->run, o[0], size, last) &&
            lanes_of_extent(o, last, size));
}

INLINE void access_shared(struct warp *w, const struct step *s, uint32_t mask,
                          const uint64_t *offsets, const bool store, const unsigned bytes,
                          const unsigned count) {
    struct block *b = w->block;
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    struct window at = {.host = b->shared, .shadow = b->shared_shadow};
    if (!lanes_of_variable(w->processor, s->extra, offsets, bytes * count) ||
        !move_lanes(w, s, a, at, offsets, mask, true, store, bytes, count)) {
        access_slow(w, s, mask, offsets, PTX_SHARED);
    }
}

INLINE void access_generic(struct warp *w, const struct step *s, uint32_t mask,
                           uint64_t *addresses, const bool store, const unsigned bytes,
                           const unsigned count) {
    bool windows = false, elsewhere = false;
    LANES_FOR {
        uint64_t in = addresses[l] - MEMORY_SHARED;
        windows |= in < 4 * MEMORY_WINDOW_BYTES;
        elsewhere |= in >= MEMORY_WINDOW_BYTES;
    }
    if (!windows) {
        access_global(w, s, mask, addresses, store, bytes, count);
    } else if (!elsewhere) {
        LANES_FOR {
            addresses[l] -= MEMORY_SHARED;
        }
        access_shared(w, s, mask, addresses, store, bytes, count);
    } else {
        access_generic_mixed(w, s, mask, addresses);
    }
}

#define HANDLER(place, store, bytes, count)                                              \
    static void access_##place##_##store##_##bytes##_##count(                            \
        struct warp *w, const struct step *s, uint32_t mask) {                           \
        uint64_t addresses[LANES_COUNT] __attribute__((aligned(64)));                    \
        lane_addresses(w, s, mask, addresses);                                           \
        if (store) {                                                                     \
            w->block->changes++;                                                         \
        }                                                                                \
        access_##place(w, s, mask, addresses, store, bytes, count);                      \
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
