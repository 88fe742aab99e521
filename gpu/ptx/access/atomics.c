/* atomics: atom and red on global and shared memory.
 *
 * The lanes of a warp go one after the other. Shared memory belongs to one thread of the
 * host; on global memory the host's atomics are used where several threads run. */
#include "gpu/ptx/access/atomics.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/alu/half_bits.h"
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"

#include <pthread.h>
#include <string.h>

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

static uint64_t integer_apply(const struct access *a, uint64_t old, uint64_t b,
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

static uint64_t atomic_apply(const struct access *a, uint64_t old, uint64_t b, uint64_t c,
                             bool shared) {
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

static inline uint64_t atomic_update(uint8_t *at, const struct access *a, uint64_t b,
                                     uint64_t c, bool shared, bool alone,
                                     bool *ret_changed) {
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

static void count_atomic(struct warp *w, const struct step *s, const struct access *a,
                         const uint64_t *addresses, uint32_t mask, bool shared) {
    struct processor *processor = w->processor;
    if (!processor->run->count) {
        return;
    }
    struct access_count *count = &processor->accesses[s->extra];
    coalescing_count(count, addresses, mask, (unsigned)a->bytes * a->count, shared);
    if (shared) {
        count->cost += coalescing_most_at_one(addresses, mask) - 1;
    }
}

static bool in_shared(const struct access *a, uint64_t address) {
    return a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER ||
           (a->space == PTX_GENERIC && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES);
}

static void step_atomic(struct warp *w, const struct step *s, uint32_t mask) {
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
    bool shared = in_shared(a, addresses[__builtin_ctz(mask)]);
    count_atomic(w, s, a, addresses, mask, shared);
    bits_each(lane, mask) {
        unsigned bytes = (unsigned)a->bytes * a->count;
        bool here = in_shared(a, addresses[lane]);
        uint8_t *shadow;
        uint8_t *at =
            access_resolve(w, s, lane, addresses[lane], (enum ptx_space)a->space, bytes,
                           true, true, &shadow);
        if (!at) {
            lane_denied(&x, lane);
        } else if (lane_atomic(&x, lane, at, here)) {
            w->block->changes++;
            if (!here) {
                access_atomic_changed(w, s, lane, addresses[lane], bytes);
            }
        }
    }
    w->polled = true;
    life_strong(w, s, a, mask);
    warp_synced(w);
}

/* ---- lowering ---- */

int atomic_operation(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_ADD)    ? ATOMIC_ADD
           : ptx_has(i, PTX_M_MIN)  ? ATOMIC_MIN
           : ptx_has(i, PTX_M_MAX)  ? ATOMIC_MAX
           : ptx_has(i, PTX_M_INC)  ? ATOMIC_INC
           : ptx_has(i, PTX_M_DEC)  ? ATOMIC_DEC
           : ptx_has(i, PTX_M_AND)  ? ATOMIC_AND
           : ptx_has(i, PTX_M_OR)   ? ATOMIC_OR
           : ptx_has(i, PTX_M_XOR)  ? ATOMIC_XOR
           : ptx_has(i, PTX_M_EXCH) ? ATOMIC_EXCH
           : ptx_has(i, PTX_M_CAS)  ? ATOMIC_CAS
                                    : -1;
}

static bool atomic_exists(const struct access *a) {
    bool bits = a->operation >= ATOMIC_AND;
    bool limits = a->operation == ATOMIC_MIN || a->operation == ATOMIC_MAX;
    switch (a->type) {
    case PTX_F32:
    case PTX_F64:
        return a->operation == ATOMIC_ADD;
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        return a->operation == ATOMIC_ADD || limits;
    case PTX_B16:
        return a->operation == ATOMIC_CAS;
    case PTX_B32:
    case PTX_B64:
        return bits;
    case PTX_B128:
        return a->operation >= ATOMIC_EXCH && a->count == 1;
    case PTX_U32:
        return a->operation <= ATOMIC_DEC;
    case PTX_S32:
    case PTX_U64:
    case PTX_S64:
        return a->operation == ATOMIC_ADD || limits;
    default:
        return false;
    }
}

bool atomic_reduces(unsigned operation, enum ptx_type type) {
    bool logic = operation >= ATOMIC_AND && operation <= ATOMIC_XOR;
    bool limits = operation == ATOMIC_MIN || operation == ATOMIC_MAX;
    switch (type) {
    case PTX_F32:
    case PTX_F64:
        return operation == ATOMIC_ADD;
    case PTX_F16:
    case PTX_BF16:
        return operation == ATOMIC_ADD || limits;
    case PTX_B32:
    case PTX_B64:
        return logic;
    case PTX_U32:
        return operation <= ATOMIC_XOR;
    case PTX_S32:
    case PTX_U64:
    case PTX_S64:
        return operation == ATOMIC_ADD || limits || logic;
    default:
        return false;
    }
}

static bool atomic_init(const struct ptx_instruction *i, struct access *a) {
    int op = atomic_operation(i);
    if (op < 0 || i->type_count == 0 || i->space_count > 1 || ptx_has(i, PTX_M_ASYNC)) {
        return false;
    }
    a->operation = (uint8_t)op;
    a->type = i->types[i->type_count - 1];
    a->space = i->space_count ? i->spaces[0] : PTX_GENERIC;
    a->bytes = (uint8_t)ptx_type_bytes(a->type);
    a->count = i->vector ? i->vector : 1;
    a->is_store = a->is_atomic = a->polls = true;
    a->watched = step_atomic;
    a->compares = op == ATOMIC_MIN || op == ATOMIC_MAX || op == ATOMIC_CAS;
    a->race =
        (uint16_t)race_kind_of(i, RACE_READ | RACE_WRITE | RACE_ATOMIC | RACE_STRONG);
    bool place = a->space == PTX_GENERIC || a->space == PTX_GLOBAL ||
                 a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER;
    return place && a->count <= 8 && a->bytes * a->count <= 16 && atomic_exists(a);
}

/* Whether the result depends on the order of blocks. */
static bool order_matters(const struct access *a, bool used) {
    if (a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER) {
        return false;
    }
    return used || ptx_type_float(a->type) || a->operation >= ATOMIC_EXCH ||
           a->operation == ATOMIC_INC || a->operation == ATOMIC_DEC ||
           a->type == PTX_F16X2 || a->type == PTX_BF16X2;
}

static bool atomic_operands(struct lowering *l, const struct ptx_instruction *i,
                            const struct ptx_operand *result, const struct ptx_operand *b,
                            struct access *a, struct vector_registers *v) {
    bool is_vector = b->kind == PTX_OPERAND_VECTOR;
    if ((is_vector ? b->count : 1) != a->count ||
        (result && result->kind == PTX_OPERAND_VECTOR && result->count != a->count)) {
        return false;
    }
    for (unsigned k = 0; k < a->count; k++) {
        const struct ptx_operand *e = is_vector ? lower_element(l, b, k) : b;
        v->registers[k] = lower_source(l, i, e, a->bytes, (enum ptx_type)a->type);
        const struct ptx_operand *d = result && result->kind == PTX_OPERAND_VECTOR
                                          ? lower_element(l, result, k)
                                          : result;
        a->registers[k] = !d || d->kind == PTX_OPERAND_SINK
                              ? STEP_NO_REGISTER
                              : lower_result(l, d, a->bytes, false);
    }
    return !l->failed;
}

enum lower_answer lower_atomic(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode != PTX_OP_ATOM && i->opcode != PTX_OP_RED) {
        return LOWER_NOT_MINE;
    }
    bool red = i->opcode == PTX_OP_RED;
    struct access a = {0};
    unsigned first = red ? 0 : 1;
    if (!atomic_init(i, &a) ||
        i->operand_count < first + 2u + (a.operation == ATOMIC_CAS) ||
        lower_operand(l, i, first)->kind != PTX_OPERAND_ADDRESS) {
        return LOWER_REFUSED;
    }
    const struct ptx_operand *at = lower_operand(l, i, first);
    const struct ptx_operand *result = red ? NULL : lower_operand(l, i, 0);
    struct vector_registers v = {.count = a.count, .bytes = a.bytes};
    uint32_t base = 0, c = STEP_NO_REGISTER;
    int64_t offset;
    if (!atomic_operands(l, i, result, lower_operand(l, i, first + 1), &a, &v) ||
        !lower_address(l, i, at, (enum ptx_space)a.space, &base, &offset)) {
        return LOWER_REFUSED;
    }
    if (a.operation == ATOMIC_CAS) {
        c = lower_source(l, i, lower_operand(l, i, first + 2), a.bytes,
                         (enum ptx_type)a.type);
    }
    bool used = result &&
                (result->kind == PTX_OPERAND_VECTOR || lower_is_register_read(l, result));
    a.race |= used ? 0 : RACE_BLIND;
    l->program->order_sensitive |= order_matters(&a, used);
    uint32_t vector = lower_add_vector(l, &v), extra = lower_add_access(l, &a);
    struct step *s = lower_step(l, i, step_atomic, true);
    s->src[0] = base;
    s->src[2] = c;
    s->offset = offset;
    s->extra = extra;
    s->aux = vector;
    return LOWER_DONE;
}
