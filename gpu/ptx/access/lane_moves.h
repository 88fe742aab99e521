#pragma once
/* lane_moves: moves bytes between lanes' registers and memory, and reads and updates the
 * shadow. For access_lanes.c, which is compiled for each vector extension. */
#include "gpu/ptx/alu/lanes.h"
#include "gpu/ptx/state/run.h"

struct lane_window { /* what the lanes' offsets are relative to */
    uint8_t *host;
    uint8_t *shadow; /* NULL: nothing to check or to update */
};

typedef uint16_t u16_alias __attribute__((may_alias));
typedef uint32_t u32_alias __attribute__((may_alias));
typedef uint64_t u64_alias __attribute__((may_alias));

/* ---- shadow ---- */

LANE_INLINE bool shadow_contiguous_set(const uint8_t *shadow, unsigned words) {
    uint8_t all = 0xff;
    for (unsigned k = 0; k < words; k++) {
        all &= shadow[k];
    }
    return (all & 0x0f) == 0x0f;
}

/* Which bytes of their word an access of a lane touches. */
LANE_INLINE uint8_t shadow_bits(uint64_t offset, unsigned bytes) {
    return (uint8_t)(bytes >= 4 ? 0x0f : ((1u << bytes) - 1) << (offset & 3));
}

#define SHADOW_SPAN 1024 /* words: reading all is faster than reading 32 places */

LANE_INLINE bool shadow_gather_set(const uint8_t *shadow, const uint64_t *o,
                                   unsigned bytes) {
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

/* Written by a kernel. Nothing is stored where that is known, because a line that nobody
 * changes can be in the caches of all cores. */
LANE_INLINE void shadow_mark(uint8_t *shadow, unsigned words) {
    uint8_t all = 0xff;
    for (unsigned k = 0; k < words; k++) {
        all &= shadow[k];
    }
    if (all != 0xff) {
        memset(shadow, 0xff, words);
    }
}

/* Blocks on other threads may write other bytes of the same word. */
LANE_INLINE void shadow_note(uint8_t *shadow, uint64_t offset, unsigned bytes) {
    uint8_t *at = shadow + (offset >> 2);
    if (bytes < 4) {
        uint8_t bits = shadow_bits(offset, bytes);
        bits = (uint8_t)(bits | bits << 4);
        if ((__atomic_load_n(at, __ATOMIC_RELAXED) & bits) != bits) {
            __atomic_fetch_or(at, bits, __ATOMIC_RELAXED);
        }
        return;
    }
    shadow_mark(at, bytes / 4);
}

/* ---- moving ---- */

#define ELEMENT(type)                                                                    \
    LANE_INLINE void load_##type(uint8_t *to, const uint8_t *host, const uint64_t *o,    \
                                 uint64_t add, uint32_t mask) {                          \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        if (mask == UINT32_MAX) {                                                        \
            LANES_FOR {                                                                  \
                v[l] = *(const type *)(const void *)(host + o[l] + add);                 \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        bits_each(l, mask) {                                                             \
            v[l] = *(const type *)(const void *)(host + o[l] + add);                     \
        }                                                                                \
    }                                                                                    \
    LANE_INLINE void spread_##type(uint8_t *to, const uint8_t *host,                     \
                                   const uint32_t *on) {                                 \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        type x = *(const type *)(const void *)host;                                      \
        if (!on) {                                                                       \
            LANES_FOR {                                                                  \
                v[l] = x;                                                                \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        LANES_FOR {                                                                      \
            v[l] = on[l] ? x : v[l];                                                     \
        }                                                                                \
    }                                                                                    \
    LANE_INLINE void unzip_##type(uint8_t *to, const uint8_t *host, unsigned count) {    \
        type *v = __builtin_assume_aligned(to, 64);                                      \
        const type *from = (const type *)(const void *)host;                             \
        LANES_FOR {                                                                      \
            v[l] = from[l * count];                                                      \
        }                                                                                \
    }                                                                                    \
    LANE_INLINE void zip_##type(uint8_t *host, const uint8_t *from, unsigned count) {    \
        const type *v = __builtin_assume_aligned(from, 64);                              \
        type *to = (type *)(void *)host;                                                 \
        LANES_FOR {                                                                      \
            to[l * count] = v[l];                                                        \
        }                                                                                \
    }                                                                                    \
    LANE_INLINE void store_##type(uint8_t *host, const uint8_t *from, const uint64_t *o, \
                                  uint64_t add, uint32_t mask) {                         \
        const type *v = __builtin_assume_aligned(from, 64);                              \
        if (mask == UINT32_MAX) {                                                        \
            for (unsigned l = 0; l < LANES_COUNT; l++) {                                 \
                *(type *)(void *)(host + o[l] + add) = v[l];                             \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        bits_each(l, mask) {                                                             \
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

/* The lanes' elements are consecutive. */
LANE_INLINE bool move_contiguous(struct warp *w, const struct access *a,
                                 struct lane_window at, uint64_t first, const bool store,
                                 const unsigned bytes, const unsigned count) {
    const unsigned size = bytes * count;
    uint8_t *host = at.host + first;
    if (at.shadow) {
        if ((first & 3) != 0 || (size * LANES_COUNT) % 4 != 0) {
            return false;
        }
        uint8_t *shadow = at.shadow + (first >> 2);
        if (store) {
            shadow_mark(shadow, size * LANES_COUNT / 4);
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

/* All lanes of mask load from one place. */
LANE_INLINE bool load_uniform(struct warp *w, const struct access *a,
                              struct lane_window at, uint64_t first, uint32_t mask,
                              const unsigned bytes, const unsigned count) {
    const uint32_t *on = mask == UINT32_MAX ? NULL : w->masks;
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
                     at.host + first + k * bytes, on);
        }
    }
    return true;
}

LANE_INLINE bool move_scattered(struct warp *w, const struct access *a,
                                struct lane_window at, const uint64_t *o, uint32_t mask,
                                const bool store, const unsigned bytes,
                                const unsigned count) {
    const unsigned size = bytes * count;
    if (at.shadow && !store && !shadow_gather_set(at.shadow, o, size)) {
        return false;
    }
    for (unsigned k = 0; k < count; k++) {
        if (a->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        uint8_t *r = LANES(uint8_t, w, a->registers[k]);
        if (store) {
            BY_BYTES(store, at.host, r, o, (uint64_t)k * bytes, mask);
        } else {
            BY_BYTES(load, r, at.host, o, (uint64_t)k * bytes, mask);
        }
    }
    if (at.shadow && store) {
        bits_each(lane, mask) {
            shadow_note(at.shadow, o[lane], size);
        }
    }
    return true;
}
