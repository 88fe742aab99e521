#include "gpu/ptx/access/coalescing.h"

#include "gpu/ptx/state/run.h"

#define LANE_LOOP(m, l)                                                                  \
    for (uint32_t m##_ = (m), l; m##_ && (l = (uint32_t)__builtin_ctz(m##_), 1);         \
         m##_ &= m##_ - 1)

/* A small set of numbers: 64 slots for at most 32 of them. */
struct number_set {
    uint64_t used;
    uint64_t slots[64];
    uint32_t count;
};

/* The slot of the number. */
static unsigned set_add(struct number_set *s, uint64_t value) {
    unsigned k = (unsigned)(value * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    while (s->used >> k & 1) {
        if (s->slots[k] == value) {
            return k;
        }
        k = (k + 1) & 63;
    }
    s->used |= UINT64_C(1) << k;
    s->slots[k] = value;
    s->count++;
    return k;
}

/* Of numbers that grow from lane to lane, as most do: how many are distinct. 0: they do
 * not grow. most: of one number. */
static uint32_t distinct_growing(const uint64_t numbers[32], uint32_t mask,
                                 unsigned shift, uint32_t *ret_most) {
    uint64_t before = numbers[__builtin_ctz(mask)] >> shift;
    uint32_t count = 1, run = 0, most = 1;
    LANE_LOOP(mask, l) {
        uint64_t now = numbers[l] >> shift;
        if (now < before) {
            return 0;
        }
        run = now == before ? run + 1 : 1;
        count += now != before;
        most = run > most ? run : most;
        before = now;
    }
    *ret_most = most;
    return count;
}

static uint32_t distinct(const uint64_t offsets[32], uint32_t mask, unsigned shift) {
    uint32_t most, count = distinct_growing(offsets, mask, shift, &most);
    if (count) {
        return count;
    }
    struct number_set s;
    s.used = s.count = 0; /* the slots need no clearing */
    LANE_LOOP(mask, l) {
        set_add(&s, offsets[l] >> shift);
    }
    return s.count;
}

static void coalescing_sectors(const uint64_t offsets[32], uint32_t mask, unsigned bytes,
                               uint32_t *ret_sectors, uint32_t *ret_ideal) {
    uint32_t sectors = distinct(offsets, mask, 5), lanes = lanes_in(mask);
    uint32_t addresses = sectors == lanes ? lanes : distinct(offsets, mask, 0);
    *ret_sectors = sectors * (bytes > 32 ? bytes / 32 : 1);
    *ret_ideal = (addresses * bytes + 31) / 32;
}

/* Words of shared memory by the bank of their first one: few to a bank, as a rule. */
struct bank_words {
    uint8_t count[32];
    uint64_t words[32][32];
};

static bool bank_adds(struct bank_words *b, uint64_t word) {
    uint64_t *words = b->words[word & 31];
    uint8_t *count = &b->count[word & 31];
    for (unsigned k = 0; k < *count; k++) {
        if (words[k] == word) {
            return false;
        }
    }
    words[(*count)++] = word;
    return true;
}

/* One phase: the fullest bank. */
static uint32_t phase_wavefronts(const uint64_t offsets[32], uint32_t mask,
                                 unsigned words) {
    uint64_t least = UINT64_MAX, highest = 0;
    LANE_LOOP(mask, l) {
        uint64_t word = offsets[l] >> 2;
        least = word < least ? word : least;
        highest = word > highest ? word : highest;
    }
    if (highest - least + words <= 32) { /* no two words share a bank */
        return 1;
    }
    struct bank_words b;
    memset(b.count, 0, sizeof b.count);
    uint8_t banks[32] = {0};
    uint8_t most = 0;
    LANE_LOOP(mask, l) {
        uint64_t word = offsets[l] >> 2;
        if (!bank_adds(&b, word)) { /* accesses are aligned: all or nothing is new */
            continue;
        }
        for (unsigned k = 0; k < words; k++) {
            uint8_t n = ++banks[(word + k) & 31];
            most = n > most ? n : most;
        }
    }
    return most;
}

uint32_t coalescing_most_at_one(const uint64_t addresses[32], uint32_t mask) {
    uint32_t growing;
    if (distinct_growing(addresses, mask, 0, &growing)) {
        return growing;
    }
    struct number_set s;
    s.used = s.count = 0;
    uint8_t lanes[64] = {0};
    uint8_t most = 0;
    LANE_LOOP(mask, l) {
        uint8_t n = ++lanes[set_add(&s, addresses[l])];
        most = n > most ? n : most;
    }
    return most;
}

static void coalescing_wavefronts(const uint64_t offsets[32], uint32_t mask,
                                  unsigned bytes, uint32_t *ret_wavefronts,
                                  uint32_t *ret_ideal) {
    unsigned words = bytes > 4 ? bytes / 4 : 1;
    unsigned lanes = words > 4 ? 4 : 32 / words;
    *ret_wavefronts = *ret_ideal = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint32_t part = lanes == 32 ? mask : mask & (((1u << lanes) - 1) << first);
        if (part) {
            *ret_wavefronts += phase_wavefronts(offsets, part, words);
            *ret_ideal += 1;
        }
    }
}

void coalescing_cost(const uint64_t offsets[32], uint32_t mask, unsigned bytes,
                     int is_shared, uint32_t *ret_cost, uint32_t *ret_ideal) {
    if (is_shared) {
        coalescing_wavefronts(offsets, mask, bytes, ret_cost, ret_ideal);
    } else {
        coalescing_sectors(offsets, mask, bytes, ret_cost, ret_ideal);
    }
}

void coalescing_count(struct access_count *count, const uint64_t offsets[32],
                      uint32_t mask, unsigned bytes, int is_shared) {
    uint32_t cost, ideal;
    coalescing_cost(offsets, mask, bytes, is_shared, &cost, &ideal);
    count->cost += cost;
    count->ideal += ideal;
    count->requests++;
}
