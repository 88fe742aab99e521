#include "gpu/ptx/emit/values.h"

#include "gpu/ptx/state/warp.h"

void values_init(struct values *v, struct assembler *to, const struct code *code,
                 const bool *invariant) {
    *v = (struct values){.to = to, .code = code, .invariant = invariant};
    v->slots = xcalloc(code->arena_bytes / 64 + 1, sizeof *v->slots);
    v->uses = xcalloc(code->arena_bytes / 64 + 1, sizeof *v->uses);
}

void values_finish(struct values *v) {
    free(v->items);
    free(v->slots);
    free(v->uses);
}

void values_step(struct values *v, uint32_t at) {
    v->at = at;
    v->now++;
}

static void fresh_id(struct values *v, struct value *x) {
    x->shape = ++v->ids;
}

/* What the arena holds is one number for all lanes, if all of them are active: others may
 * not have got to where it is written. */
static bool is_invariant(const struct values *v, uint32_t offset) {
    return offset < v->code->fixed && !v->is_masked && v->invariant[offset / 64];
}

struct value *values_of(struct values *v, uint32_t offset, unsigned bytes) {
    uint32_t *slot = &v->slots[offset / 64];
    if (*slot == 0) {
        list_room(v->items, v->count, v->room, 64);
        bool fixed = offset >= v->code->fixed;
        bool uniform = fixed && v->code->uniform[(offset - v->code->fixed) / 64];
        v->items[v->count] = (struct value){.offset = offset,
                                            .bytes = (uint8_t)bytes,
                                            .is_stored = true,
                                            .is_own = v->uses[offset / 64].is_own,
                                            .last_use = v->uses[offset / 64].last,
                                            .is_uniform =
                                                uniform || is_invariant(v, offset),
                                            .is_fixed = uniform};
        fresh_id(v, &v->items[v->count]);
        *slot = ++v->count;
    }
    struct value *x = &v->items[*slot - 1];
    x->used = v->now;
    return x;
}

/* Nobody reads it after this step. */
static bool values_is_dead(const struct values *v, const struct value *x) {
    return x->is_own && x->last_use <= v->at;
}

/* ---- vectors ---- */

static void settle(struct assembler *to, unsigned vector) {
    enum { UNORDERED = 3 };
    asm_vector_byte(to, VCMPPS, 1, vector, in_register(vector), UNORDERED);
    asm_vector_masked(to, VMOVDQU32, vector, 0, in_register(VECTOR_NAN), 1, 0);
}

void values_active(struct assembler *to, unsigned mask, unsigned bytes, unsigned part) {
    int32_t at = (int32_t)offsetof(struct warp, active);
    unsigned lanes = 64 / bytes;
    asm_mask(to, lanes == 32 ? KMOVD_LOAD : KMOVW_LOAD, mask, 0,
             in_memory(HOST_WARP, at + (int32_t)(part * lanes / 8)));
}

static void store_part(const struct values *v, const struct value *x, unsigned part) {
    static const enum vector_op stores[] = {
        [2] = VMOVDQU16_STORE, [4] = VMOVDQU32_STORE, [8] = VMOVDQU64_STORE};
    struct asm_place to = in_memory(HOST_REGS, (int32_t)(x->offset + 64 * part));
    unsigned from = x->vectors[x->count == 1 ? 0 : part];
    if (v->is_masked) {
        values_active(v->to, 1, x->bytes, part);
    }
    asm_vector_masked(v->to, stores[x->bytes], from, 0, to, v->is_masked ? 1 : 0, 0);
}

void values_store(const struct values *v, const struct value *x) {
    for (unsigned k = 0; x->is_loose && k < x->count; k++) {
        settle(v->to, x->vectors[k]);
    }
    for (unsigned k = 0; k < x->bytes / 2u; k++) {
        store_part(v, x, k);
    }
}

static void store(struct values *v, struct value *x) {
    if (!x->is_stored && x->count) {
        values_store(v, x);
        x->is_stored = true;
        x->is_loose = false;
    }
}

static void release(struct values *v, struct value *x) {
    for (unsigned k = 0; k < x->count; k++) {
        v->owners[x->vectors[k]] = 0;
    }
    x->count = 0;
    /* The arena has the value in the active lanes alone. */
    x->is_uniform = x->is_uniform && (x->is_fixed || !v->is_masked);
}

/* One is free afterwards: a step uses less than all. */
static void evict(struct values *v) {
    struct value *oldest = NULL;
    for (unsigned k = 0; k < VECTOR_POOL; k++) {
        struct value *x = v->owners[k] != VALUE_NEW ? &v->items[v->owners[k] - 1] : NULL;
        if (x && x->used != v->now && (!oldest || x->used < oldest->used)) {
            oldest = x;
        }
    }
    if (!oldest) { /* cannot be: a step uses 20 at most */
        v->to->full = true;
        return;
    }
    if (!oldest->is_own || oldest->last_use >= v->at) {
        store(v, oldest);
    }
    release(v, oldest);
}

static unsigned take_vector(struct values *v, uint32_t owner) {
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned k = 0; k < VECTOR_POOL; k++) {
            if (v->owners[k] == 0) {
                v->owners[k] = owner;
                return k;
            }
        }
        evict(v);
    }
    return 0;
}

static void load(struct values *v, uint32_t offset, unsigned bytes) {
    uint32_t index = (uint32_t)(values_of(v, offset, bytes) - v->items);
    struct value *x = &v->items[index];
    unsigned count = x->is_uniform ? 1 : bytes / 2;
    for (unsigned k = 0; k < count; k++) {
        x->vectors[k] = (uint8_t)take_vector(v, index + 1);
        asm_vector(v->to, VMOVDQU32, x->vectors[k], 0,
                   in_memory(HOST_REGS, (int32_t)(offset + 64 * k)));
    }
    x->count = (uint8_t)count;
}

static void settle_value(struct values *v, struct value *x) {
    for (unsigned k = 0; x->is_loose && k < x->count; k++) {
        settle(v->to, x->vectors[k]);
    }
    x->is_loose = false;
}

unsigned values_vector(struct values *v, uint32_t offset, unsigned bytes, unsigned part,
                       bool settled) {
    struct value *x = values_of(v, offset, bytes);
    if (x->count == 0) {
        load(v, offset, bytes);
    }
    if (settled) {
        settle_value(v, x);
    }
    return x->vectors[x->count == 1 ? 0 : part];
}

struct asm_place values_part(struct values *v, uint32_t offset, unsigned bytes,
                             unsigned part, bool settled) {
    const struct value *x = values_of(v, offset, bytes);
    bool again = !x->is_fixed && x->last_use > v->at;
    if (x->count == 0 && !again) {
        return in_memory(HOST_REGS, (int32_t)(offset + 64 * part));
    }
    return in_register(values_vector(v, offset, bytes, part, settled));
}

/* ---- results ---- */

struct vectors values_new(struct values *v, unsigned bytes, bool uniform) {
    struct vectors r = {.count = uniform ? 1 : (uint8_t)(bytes / 2),
                        .is_uniform = uniform};
    for (unsigned k = 0; k < r.count; k++) {
        r.vectors[k] = (uint8_t)take_vector(v, VALUE_NEW);
    }
    return r;
}

bool values_take(struct values *v, uint32_t offset, uint32_t result, unsigned count,
                 struct vectors *ret) {
    uint32_t slot = v->slots[offset / 64];
    struct value *x = slot ? &v->items[slot - 1] : NULL;
    if (!x || x->count != count || (offset != result && !values_is_dead(v, x))) {
        return false;
    }
    ret->count = x->count;
    memcpy(ret->vectors, x->vectors, sizeof ret->vectors);
    for (unsigned k = 0; k < x->count; k++) {
        v->owners[x->vectors[k]] = VALUE_NEW;
    }
    x->count = 0;
    return true;
}

void values_set(struct values *v, uint32_t offset, unsigned bytes, struct vectors from,
                bool is_loose) {
    uint32_t index = (uint32_t)(values_of(v, offset, bytes) - v->items);
    struct value *x = &v->items[index];
    release(v, x);
    x->count = from.count;
    memcpy(x->vectors, from.vectors, sizeof x->vectors);
    for (unsigned k = 0; k < from.count; k++) {
        v->owners[from.vectors[k]] = index + 1;
    }
    x->is_stored = false;
    x->is_loose = is_loose;
    x->is_flushed = false;
    x->is_uniform = from.is_uniform;
    fresh_id(v, x);
}

void values_forget(struct values *v, uint32_t offset) {
    uint32_t slot = offset == STEP_NO_REGISTER ? 0 : v->slots[offset / 64];
    if (slot == 0 || v->items[slot - 1].is_fixed) {
        return;
    }
    struct value *x = &v->items[slot - 1];
    release(v, x);
    x->is_stored = true;
    x->is_loose = x->is_flushed = false;
    x->is_uniform = is_invariant(v, offset);
    fresh_id(v, x);
}

void values_level(struct values *v, uint32_t offset, unsigned bytes) {
    struct value *x = values_of(v, offset, bytes);
    for (; x->count > 1; x->count--) {
        v->owners[x->vectors[x->count - 1]] = 0;
    }
    x->is_uniform = true;
}

void values_forget_all(struct values *v) {
    for (uint32_t k = 0; k < v->count; k++) {
        values_forget(v, v->items[k].offset);
    }
}

void values_drop_dead(struct values *v) {
    for (unsigned k = 0; k < VECTOR_POOL; k++) {
        struct value *x = v->owners[k] ? &v->items[v->owners[k] - 1] : NULL;
        if (x && values_is_dead(v, x)) {
            release(v, x);
            x->is_stored = true; /* never read */
        }
    }
}

void values_store_all(struct values *v) {
    for (uint32_t k = 0; k < v->count; k++) {
        store(v, &v->items[k]);
    }
}

void values_release(struct values *v) {
    for (uint32_t k = 0; k < v->count; k++) {
        release(v, &v->items[k]);
    }
}
