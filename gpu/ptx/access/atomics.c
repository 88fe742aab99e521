/* atomics: atom and red on global and shared memory.
 *
 * The lanes of a warp go one after the other; where they all lie in one allocation or
 * variable and nothing is to be told, their addresses are checked together. Shared memory
 * belongs to one thread of the host; on global memory the host's atomics are used where
 * several threads run. */
#include "gpu/ptx/access/atomics.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/alu/half_bits.h"
#include "gpu/ptx/race/cluster_life.h"

/* ---- values ---- */

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}
static uint32_t bits_of(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return f != f ? 0x7fffffffu : bits;
}
static uint32_t flush(uint32_t bits) {
    return bits & 0x7f800000u ? bits : bits & 0x80000000u;
}

static float half_value(uint16_t bits, bool bf16) {
    if (bf16) {
        return float_of((uint32_t)bits << 16);
    }
    return half_to_float(bits);
}

static uint16_t half_of(float f, bool bf16) {
    if (f != f) {
        return 0x7fff;
    }
    if (bf16) {
        uint32_t bits = bits_of(f);
        return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    return half_of_double(f);
}

/* The sum of two halves is exact in binary32 up to one rounding that does no harm. */
static uint16_t half_apply(enum atomic_operation op, uint16_t a, uint16_t b, bool bf16) {
    float x = half_value(a, bf16), y = half_value(b, bf16);
    if (op == ATOMIC_ADD) {
        return half_of(x + y, bf16);
    }
    if (x != x || y != y) {
        return x != x ? (y != y ? 0x7fff : b) : a;
    }
    bool less = x < y || (x == y && (a & 0x8000));
    return (op == ATOMIC_MIN) == less ? a : b;
}

static uint64_t float_add(uint64_t a, uint64_t b, bool ftz) {
    uint32_t x = (uint32_t)a, y = (uint32_t)b;
    uint32_t sum = bits_of(float_of(ftz ? flush(x) : x) + float_of(ftz ? flush(y) : y));
    return ftz ? flush(sum) : sum;
}

static uint64_t double_add(uint64_t a, uint64_t b) {
    double x, y, sum;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    sum = x + y;
    memcpy(&a, &sum, sizeof a);
    return sum != sum ? UINT64_C(0x7fffffffffffffff) : a;
}

static uint64_t signed_least(uint64_t a, uint64_t b, bool least, unsigned bytes) {
    int64_t x = bytes == 4 ? (int32_t)a : (int64_t)a;
    int64_t y = bytes == 4 ? (int32_t)b : (int64_t)b;
    return (x < y) == least ? a : b;
}

static inline uint64_t integer_apply(const struct access *a, uint64_t old, uint64_t b,
                                     uint64_t c) {
    switch ((enum atomic_operation)a->operation) {
    case ATOMIC_ADD:
        return old + b;
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        if (ptx_type_signed(a->type)) {
            return signed_least(old, b, a->operation == ATOMIC_MIN, a->bytes);
        }
        return (old < b) == (a->operation == ATOMIC_MIN) ? old : b;
    case ATOMIC_INC:
        return old >= b ? 0 : old + 1;
    case ATOMIC_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOMIC_AND:
        return old & b;
    case ATOMIC_OR:
        return old | b;
    case ATOMIC_XOR:
        return old ^ b;
    case ATOMIC_EXCH:
        return b;
    default:
        return old == b ? c : old;
    }
}

static inline uint64_t atomic_apply(const struct access *a, uint64_t old, uint64_t b,
                                    uint64_t c, bool shared) {
    enum atomic_operation op = (enum atomic_operation)a->operation;
    switch (a->type) {
    case PTX_F32: /* PTX ISA: on global memory subnormals are flushed */
        return float_add(old, b, !shared);
    case PTX_F64:
        return double_add(old, b);
    case PTX_F16:
    case PTX_BF16:
        return half_apply(op, (uint16_t)old, (uint16_t)b, a->type == PTX_BF16);
    case PTX_F16X2:
    case PTX_BF16X2: {
        bool bf16 = a->type == PTX_BF16X2;
        uint32_t low = half_apply(op, (uint16_t)old, (uint16_t)b, bf16);
        uint32_t high = half_apply(op, (uint16_t)(old >> 16), (uint16_t)(b >> 16), bf16);
        return low | high << 16;
    }
    default:
        return integer_apply(a, old, b, c);
    }
}

uint64_t atomic_combine(unsigned operation, enum ptx_type type, uint64_t old,
                        uint64_t value) {
    const struct access a = {.operation = (uint8_t)operation,
                             .type = (uint8_t)type,
                             .bytes = (uint8_t)ptx_type_bytes(type)};
    return atomic_apply(&a, old, value, 0, false);
}

/* ---- memory ---- */

#define INLINE static inline __attribute__((always_inline))

#define UPDATE(type)                                                                     \
    do {                                                                                 \
        type *p = (type *)(void *)at;                                                    \
        if (alone) {                                                                     \
            old = *p;                                                                    \
            *p = (type)atomic_apply(a, old, b, c, shared);                               \
            *ret_changed = *p != (type)old;                                              \
            return old;                                                                  \
        }                                                                                \
        type was = __atomic_load_n(p, __ATOMIC_RELAXED), now;                            \
        do {                                                                             \
            now = (type)atomic_apply(a, was, b, c, shared);                              \
        } while (!__atomic_compare_exchange_n(p, &was, now, false, __ATOMIC_SEQ_CST,     \
                                              __ATOMIC_SEQ_CST));                        \
        *ret_changed = now != was;                                                       \
        return was;                                                                      \
    } while (0)

INLINE uint64_t atomic_update(uint8_t *at, const struct access *a, uint64_t b, uint64_t c,
                              bool shared, bool alone, bool *ret_changed) {
    uint64_t old;
    if (a->bytes == 8) {
        UPDATE(uint64_t);
    } else if (a->bytes == 4) {
        UPDATE(uint32_t);
    }
    UPDATE(uint16_t);
}

/* cas.b128 and exch.b128 share a lock: no other access is 16 bytes wide and atomic. */
static pthread_mutex_t wide_lock = PTHREAD_MUTEX_INITIALIZER;

static bool wide_update(uint8_t *at, const struct access *a, const uint8_t *b,
                        const uint8_t *c, uint8_t *ret_old) {
    pthread_mutex_lock(&wide_lock);
    memcpy(ret_old, at, 16);
    const uint8_t *now = a->operation == ATOMIC_EXCH   ? b
                         : memcmp(ret_old, b, 16) == 0 ? c
                                                       : ret_old;
    bool changed = memcmp(at, now, 16) != 0;
    memcpy(at, now, 16);
    pthread_mutex_unlock(&wide_lock);
    return changed;
}

/* ---- the step ---- */

static uint64_t lane_value(const uint8_t *row, unsigned lane, unsigned bytes) {
    uint64_t v = 0;
    memcpy(&v, row + (size_t)lane * bytes, bytes);
    return v;
}

struct atomic {
    struct warp *warp;
    const struct step *step;
    const struct access *access;
    const struct vector_registers *operands;
    bool alone;
};

/* Whether anything changed. */
static bool lane_wide(const struct atomic *x, unsigned lane, uint8_t *at) {
    struct warp *w = x->warp;
    uint8_t old[16];
    const uint8_t *b = LANES(uint8_t, w, x->operands->registers[0]) + 16 * lane;
    const uint8_t *c = x->step->src[2] == STEP_NO_REGISTER
                           ? b
                           : LANES(uint8_t, w, x->step->src[2]) + 16 * lane;
    bool changed = wide_update(at, x->access, b, c, old);
    if (x->access->registers[0] != STEP_NO_REGISTER) {
        memcpy(LANES(uint8_t, w, x->access->registers[0]) + 16 * lane, old, 16);
    }
    return changed;
}

static bool lane_atomic(const struct atomic *x, unsigned lane, uint8_t *at, bool shared) {
    struct warp *w = x->warp;
    const struct access *a = x->access;
    bool any = false;
    if (a->bytes == 16) {
        return lane_wide(x, lane, at);
    }
    for (unsigned k = 0; k < a->count; k++) {
        uint64_t b =
            lane_value(LANES(uint8_t, w, x->operands->registers[k]), lane, a->bytes);
        uint64_t c = x->step->src[2] == STEP_NO_REGISTER
                         ? 0
                         : lane_value(LANES(uint8_t, w, x->step->src[2]), lane, a->bytes);
        bool changed;
        uint64_t old = atomic_update(at + (size_t)k * a->bytes, a, b, c, shared,
                                     shared || x->alone, &changed);
        any |= changed;
        if (a->registers[k] != STEP_NO_REGISTER) {
            memcpy(LANES(uint8_t, w, a->registers[k]) + (size_t)lane * a->bytes, &old,
                   a->bytes);
        }
    }
    return any;
}

static void lane_denied(const struct atomic *x, unsigned lane) {
    const struct access *a = x->access;
    for (unsigned k = 0; k < a->count; k++) {
        if (a->registers[k] != STEP_NO_REGISTER) {
            memset(LANES(uint8_t, x->warp, a->registers[k]) + (size_t)lane * a->bytes, 0,
                   a->bytes);
        }
    }
}

/* Of the lanes of a mask: the lowest and the highest address, and all their bits. */
struct lane_span {
    uint64_t least, most, bits;
    bool row; /* all lanes, one behind the other */
};

static struct lane_span span_of(const uint64_t *addresses, uint32_t mask, unsigned size) {
    uint64_t apart = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        apart |= addresses[l] ^ (addresses[0] + (uint64_t)l * size);
    }
    if (mask == UINT32_MAX && apart == 0) {
        uint64_t most = addresses[WARP_LANES - 1];
        return (struct lane_span){addresses[0], most, addresses[0] | size, true};
    }
    struct lane_span s = {.least = UINT64_MAX};
    bits_each(lane, mask) {
        uint64_t at = addresses[lane];
        s.least = at < s.least ? at : s.least;
        s.most = at > s.most ? at : s.most;
        s.bits |= at;
    }
    return s;
}

/* A row costs what it has to (coalescing.h). */
static void count_row(struct access_count *count, const struct lane_span *s,
                      unsigned size, bool shared) {
    uint32_t ideal = shared ? (size + 3) / 4 : size;
    uint64_t sectors = ((s->most + size - 1) >> 5) - (s->least >> 5) + 1;
    count->requests++;
    count->cost += shared ? ideal : sectors;
    count->ideal += ideal;
}

static void count_atomic(const struct atomic *x, const uint64_t *addresses, uint32_t mask,
                         const struct lane_span *s, bool shared) {
    struct processor *processor = x->warp->processor;
    unsigned size = (unsigned)x->access->bytes * x->access->count;
    struct access_count *count = &processor->accesses[x->step->extra];
    if (!processor->run->count) {
        return;
    }
    if (s->row && size % 4 == 0 && s->least % size == 0) {
        count_row(count, s, size, shared);
        return;
    }
    coalescing_count(count, addresses, mask, size, shared);
    if (shared) {
        count->cost += coalescing_most_at_one(addresses, mask) - 1;
    }
}

static bool in_shared(const struct access *a, uint64_t address) {
    return a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER ||
           (a->space == PTX_GENERIC && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES);
}

static void lanes_one_by_one(const struct atomic *x, const uint64_t *addresses,
                             uint32_t mask) {
    struct warp *w = x->warp;
    const struct access *a = x->access;
    unsigned bytes = (unsigned)a->bytes * a->count;
    bits_each(lane, mask) {
        bool here = in_shared(a, addresses[lane]);
        uint8_t *shadow;
        uint8_t *at =
            access_resolve(w, x->step, lane, addresses[lane], (enum ptx_space)a->space,
                           bytes, true, true, &shadow);
        if (!at) {
            lane_denied(x, lane);
        } else if (lane_atomic(x, lane, at, here)) {
            w->block->changes++;
            if (!here) {
                access_atomic_changed(w, x->step, lane, addresses[lane], bytes);
            }
        }
    }
}

/* ---- lanes that need no finding ---- */

#define PREFETCH_SPAN (1u << 16)

/* Memory in which all lanes of the request lie. */
struct atomic_window {
    uint64_t start; /* the address of its first byte */
    uint8_t *host, *shadow;
    bool shared, reads;
};

static bool window_shared(const struct atomic *x, const struct lane_span *s,
                          unsigned size, struct atomic_window *ret) {
    const struct block *b = x->warp->block;
    uint64_t start = x->access->space == PTX_GENERIC ? MEMORY_SHARED : 0;
    *ret = (struct atomic_window){start, b->shared, b->shared_shadow, true, true};
    return !b->proxy && shared_is_inside(x->warp->processor, x->step->extra,
                                         s->least - start, s->most - s->least + size);
}

static bool window_global(const struct atomic *x, const struct lane_span *s,
                          unsigned size, struct atomic_window *ret) {
    struct processor *processor = x->warp->processor;
    struct allocation **last = &processor->last[x->step->extra];
    if (!*last || s->least - (*last)->address >= (*last)->bytes) {
        *last = run_find(processor->run, s->least);
    }
    const struct allocation *in = *last;
    if (!in || in->freed || !in->writable || in->kind == MEMORY_CONSTANT ||
        s->most - in->address + size > in->bytes) {
        return false;
    }
    *ret = (struct atomic_window){in->address, in->host, in->shadow, false,
                                  processor->run->check_initialized};
    return true;
}

/* Whether all these words are written. */
static bool row_is_written(const uint8_t *shadow, unsigned words) {
    uint64_t all = UINT64_MAX;
    for (unsigned k = 0; k < words; k += 8) {
        uint64_t word;
        memcpy(&word, shadow + k, sizeof word);
        all &= word;
    }
    return all == UINT64_MAX;
}

/* Marks the lanes' words as written. false: one was not initialised. */
static bool window_write(const struct atomic_window *in, const uint64_t *addresses,
                         uint32_t mask, const struct lane_span *s, unsigned size) {
    bool fine = true;
    if (!in->shadow ||
        (s->row && row_is_written(in->shadow + (s->least - in->start) / 4, size * 8))) {
        return true;
    }
    bits_each(lane, mask) {
        uint8_t *word = in->shadow + (addresses[lane] - in->start) / 4;
        for (unsigned k = 0; k < size / 4; k++) {
            bool known = !in->reads || (word[k] & 0x0f) == 0x0f;
            fine = fine && known;
            if (known && word[k] != 0xff) {
                word[k] = 0xff;
            }
        }
    }
    return fine;
}

static bool window_find(const struct atomic *x, const struct lane_span *s,
                        struct atomic_window *ret) {
    const struct access *a = x->access;
    unsigned size = (unsigned)a->bytes * a->count;
    bool shared = in_shared(a, s->least);
    return size % 4 == 0 && a->bytes <= 8 && (s->bits & (size - 1)) == 0 &&
           shared == in_shared(a, s->most) &&
           (shared ? window_shared(x, s, size, ret) : window_global(x, s, size, ret));
}

/* The lanes of a hash table or a histogram lie far apart: all their lines are on the way
 * before the first is used. */
INLINE void window_prefetch(const struct atomic_window *in, const uint64_t *addresses,
                            uint32_t mask, const struct lane_span *s) {
    if (in->shared || s->most - s->least < PREFETCH_SPAN) {
        return;
    }
    bits_each(lane, mask) {
        uint64_t at = addresses[lane] - in->start;
        __builtin_prefetch(in->host + at, 1);
        if (in->shadow) {
            __builtin_prefetch(in->shadow + at / 4, 1);
        }
    }
}

static bool window_of(const struct atomic *x, const uint64_t *addresses, uint32_t mask,
                      const struct lane_span *s, struct atomic_window *ret) {
    if (!window_find(x, s, ret)) {
        return false;
    }
    window_prefetch(ret, addresses, mask, s);
    return window_write(ret, addresses, mask, s, x->access->bytes * x->access->count);
}

/* ---- updates without findings ---- */

/* kind: x->access, or a constant with the same operation. */
INLINE uint64_t update_lanes(const struct atomic *x, const struct atomic_window *in,
                             const uint64_t *addresses, uint32_t mask,
                             const struct access *kind, const bool alone) {
    struct warp *w = x->warp;
    const uint8_t *b = LANES(const uint8_t, w, x->operands->registers[0]);
    const uint8_t *c = kind->operation == ATOMIC_CAS
                           ? LANES(const uint8_t, w, x->step->src[2])
                           : NULL;
    uint32_t result = x->access->registers[0];
    uint8_t *to = result == STEP_NO_REGISTER ? NULL : LANES(uint8_t, w, result);
    uint8_t *host = in->host;
    uint64_t start = in->start, changes = 0;
    bool shared = in->shared;
    bits_each(lane, mask) {
        uint64_t value = lane_value(b, lane, kind->bytes);
        uint64_t swap = c ? lane_value(c, lane, kind->bytes) : 0;
        bool changed;
        uint64_t old = atomic_update(host + (addresses[lane] - start), kind, value, swap,
                                     shared, alone, &changed);
        changes += changed;
        if (to) {
            memcpy(to + (size_t)lane * kind->bytes, &old, kind->bytes);
        }
    }
    return changes;
}

INLINE void update_window(const struct atomic *x, const struct atomic_window *in,
                          const uint64_t *addresses, uint32_t mask,
                          const struct access *kind) {
    x->warp->block->changes +=
        in->shared || x->alone ? update_lanes(x, in, addresses, mask, kind, true)
                               : update_lanes(x, in, addresses, mask, kind, false);
}

/* A sum of words in a row by the only thread, for the compiler to vectorise. */
INLINE void row_sum(const struct atomic *x, const struct atomic_window *in, uint64_t at,
                    const bool floats) {
    struct warp *w = x->warp;
    uint32_t *p = (uint32_t *)(void *)(in->host + (at - in->start));
    const uint32_t *b = LANES(const uint32_t, w, x->operands->registers[0]);
    uint32_t old[WARP_LANES], changed[WARP_LANES];
    memcpy(old, p, sizeof old);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t sum = floats ? (uint32_t)float_add(old[l], b[l], !in->shared)
                              : old[l] + b[l];
        changed[l] = sum != old[l];
        p[l] = sum;
    }
    if (x->access->registers[0] != STEP_NO_REGISTER) {
        memcpy(LANES(uint8_t, w, x->access->registers[0]), old, sizeof old);
    }
    for (unsigned l = 0; l < WARP_LANES; l++) {
        w->block->changes += changed[l];
    }
}

static void update_all(const struct atomic *x, const struct atomic_window *in,
                       const uint64_t *addresses, uint32_t mask,
                       const struct lane_span *s) {
    static const struct access sum_f32 = {
        .operation = ATOMIC_ADD, .type = PTX_F32, .bytes = 4};
    static const struct access sum_32 = {
        .operation = ATOMIC_ADD, .type = PTX_U32, .bytes = 4};
    static const struct access cas_32 = {
        .operation = ATOMIC_CAS, .type = PTX_B32, .bytes = 4};
    const struct access *a = x->access;
    bool floats = a->type == PTX_F32;
    bool sums = a->operation == ATOMIC_ADD && a->count == 1 && a->bytes == 4 &&
                (floats || a->type == PTX_U32 || a->type == PTX_S32);
    if (sums && s->row && (in->shared || x->alone)) {
        floats ? row_sum(x, in, s->least, true) : row_sum(x, in, s->least, false);
    } else if (sums && floats) {
        update_window(x, in, addresses, mask, &sum_f32);
    } else if (sums) {
        update_window(x, in, addresses, mask, &sum_32);
    } else if (a->count == 1 && a->operation == ATOMIC_CAS && a->bytes == 4) {
        update_window(x, in, addresses, mask, &cas_32);
    } else if (a->count == 1) {
        update_window(x, in, addresses, mask, a);
    } else {
        bits_each(lane, mask) {
            uint8_t *at = in->host + (addresses[lane] - in->start);
            x->warp->block->changes += lane_atomic(x, lane, at, in->shared);
        }
    }
}

void step_atomic(struct warp *w, const struct step *s, uint32_t mask) {
    const struct run *run = w->processor->run;
    const struct access *a = &run->program->accesses[s->extra];
    struct atomic x = {.warp = w,
                       .step = s,
                       .access = a,
                       .operands = &run->program->vectors[s->aux],
                       .alone = run->processors == 1};
    uint64_t addresses[WARP_LANES];
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        addresses[l] = base[l] + (uint64_t)s->offset;
    }
    struct lane_span span = span_of(addresses, mask, (unsigned)a->bytes * a->count);
    bool shared = in_shared(a, addresses[__builtin_ctz(mask)]);
    count_atomic(&x, addresses, mask, &span, shared);
    struct atomic_window in;
    if (window_of(&x, addresses, mask, &span, &in)) {
        update_all(&x, &in, addresses, mask, &span);
    } else {
        lanes_one_by_one(&x, addresses, mask);
    }
    w->polled = true;
    life_strong(w, s, a, mask);
    warp_synced(w);
}
