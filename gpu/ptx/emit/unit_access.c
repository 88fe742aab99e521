/* Loads and stores in code.
 *
 * Accesses by one value of their base register, to one variable or allocation, are a
 * group with one check, in front of its first: the lanes lie as they lay when the block
 * was looked at, all inside, aligned, the allocation is alive, what is loaded is
 * initialised. Where one of that does not hold the interpreter goes on. Behind the check
 * an access is a load or store and a counter. */
#include "base/find.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/emit/access_group.h"
#include "gpu/ptx/race/race.h"

struct group_data {
    struct allocation *in;
    uint8_t *host;   /* of lane 0, offset 0 */
    uint8_t *shadow; /* of the word at `low` */
    uint8_t *phase;  /* the data + 8 * the phase of lane 0 */
    uint64_t before[BLOCK_MAX_THREADS / WARP_LANES]; /* by warp: lane 0's offset */
};
#define CACHE_BYTES (4u << 20) /* less of memory is not far away for long */
#define GROUP_AT(g, member) ((g)->data + (int32_t)offsetof(struct group_data, member))

/* ---- the check ---- */

static struct asm_place data_at(int32_t at) {
    return in_memory(HOST_DATA, at);
}

static void mov(struct emit_unit *u, enum gpr to, struct asm_place from) {
    asm_scalar(&u->out, MOV, to, from);
}

static bool was_shown(const struct emit_unit *u, const struct access_group *g,
                      uint32_t shape) {
    for (uint32_t k = 0; k < u->group_count; k++) {
        const struct access_group *o = &u->groups[k];
        if (o->is_checked && o->value_shape == shape &&
            memcmp(o->shape->deltas, g->shape->deltas, sizeof g->shape->deltas) == 0) {
            return true;
        }
    }
    return false;
}

/* All lanes are at one place. */
static bool is_level(const struct shape *x) {
    bool level = true;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        level = level && x->deltas[l] == 0;
    }
    return level;
}

/* Lanes lie as they lay. */
static void check_shape(struct emit_unit *u, struct access_group *g) {
    enum { EQUAL = 0 };
    const struct value *base = values_of(&u->values, g->base, 8);
    g->value_shape = base->shape;
    bool level = is_level(g->shape);
    if ((base->is_uniform && level) || was_shown(u, g, base->shape)) {
        return;
    }
    int32_t at = unit_data_add(u, 8 * WARP_LANES);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        int64_t delta = g->shape->deltas[l];
        memcpy(u->data + at + 8 * l, &delta, sizeof delta);
    }
    unsigned first = values_vector(&u->values, g->base, 8, 0, true);
    asm_vector(&u->out, VPBROADCASTQ, VECTOR_TEMPORARY, 0, in_register(first));
    for (unsigned k = 0; k < 4; k++) {
        asm_vector(&u->out, VPADDQ, VECTOR_TEMPORARY + 1, VECTOR_TEMPORARY,
                   data_at(at + (int32_t)(64 * k)));
        asm_vector_masked(&u->out, VPCMPQ, 1, VECTOR_TEMPORARY + 1,
                          values_part(&u->values, g->base, 8, k, true), k ? 1 : 0, EQUAL);
    }
    asm_mask(&u->out, KORTESTB, 1, 0, in_register(1));
    unit_exit_if(u, IF_NOT_CARRY);
    if (level) {
        values_level(&u->values, g->base, 8);
    }
}

static bool is_loaded(const struct shadow_window *x) {
    return any_of(k, 0, WINDOW_WORDS, x->loaded[k] != 0);
}

/* rdi: the shadow of the word at low. All that is loaded is initialised. */
static void check_words(struct emit_unit *u, const struct access_group *g) {
    bool any = false;
    list_each(n, x, g->windows, g->window_count) {
        if (!is_loaded(x)) {
            continue;
        }
        int32_t at = unit_data_add(u, WINDOW_WORDS);
        memcpy(u->data + at, x->loaded, WINDOW_WORDS);
        asm_vector(&u->out, VMOVDQU32, VECTOR_TEMPORARY, 0,
                   in_memory(RDI, (int32_t)x->first));
        if (any) { /* t+1 | (~t & wanted) */
            asm_vector_byte(&u->out, VPTERNLOGD, VECTOR_TEMPORARY + 1, VECTOR_TEMPORARY,
                            data_at(at), 0xf2);
        } else {
            asm_vector(&u->out, VPANDND, VECTOR_TEMPORARY + 1, VECTOR_TEMPORARY,
                       data_at(at));
        }
        any = true;
    }
    if (any) {
        asm_vector(&u->out, VPTESTMD, 1, VECTOR_TEMPORARY + 1,
                   in_register(VECTOR_TEMPORARY + 1));
        asm_mask(&u->out, KORTESTW, 1, 0, in_register(1));
        unit_exit_if(u, IF_NOT_EQUAL);
    }
}

/* rax: lane 0's offset; rcx: what has the member `shadow` at `at`. */
static void check_shadow(struct emit_unit *u, const struct access_group *g, int32_t at) {
    struct assembler *out = &u->out;
    mov(u, RDI, in_memory(RCX, at));
    asm_scalar(out, LEA, RDX, in_memory(RAX, (int32_t)g->low));
    asm_constant(out, SHR_C, in_register(RDX), 2);
    asm_scalar(out, ADD, RDI, in_register(RDX));
    if (g->stores) {
        asm_scalar(out, MOV_STORE, RDI, data_at(GROUP_AT(g, shadow)));
    }
    if (access_group_needs_words(u, g)) {
        check_words(u, g);
    }
}

static int32_t block_at(size_t member) {
    return (int32_t)member;
}

/* rax: lane 0's address, then its offset. */
static void check_shared(struct emit_unit *u, const struct access_group *g) {
    struct assembler *out = &u->out;
    asm_scalar(out, LEA, RDX, in_memory(RAX, (int32_t)(g->low - (int64_t)g->extent.low)));
    int64_t room = (int64_t)(g->extent.high - g->extent.low) - (g->high - g->low);
    asm_constant(out, CMP_C, in_register(RDX), (int32_t)room);
    unit_exit_if(u, IF_ABOVE);
    asm_constant(out, TEST_C_8, in_register(RAX), (int32_t)g->align - 1);
    unit_exit_if(u, IF_NOT_EQUAL);
    mov(u, RCX, in_memory(HOST_WARP, block_at(offsetof(struct warp, block))));
    mov(u, RSI, in_memory(RCX, block_at(offsetof(struct block, shared))));
    if (u->processor->run->check_initialized) {
        check_shadow(u, g, block_at(offsetof(struct block, shared_shadow)));
    }
}

static bool global_has_shadow(const struct emit_unit *u, const struct access_group *g) {
    return g->in->shadow && (g->stores || u->processor->run->check_initialized);
}

/* rax: lane 0's offset, rcx: the allocation. Rows that lie apart, as of a tile, are on
 * lines that processors do not expect, and memory is slower than a warp. Where this warp
 * will be some blocks, or rounds of its loop, later is as far again as it has come since
 * the last time. */
static void prefetch_rows(struct emit_unit *u, const struct access_group *g) {
    struct assembler *out = &u->out;
    int32_t lines[GROUP_LINES];
    bool is_row = g->high - g->low <= GROUP_LINE * GROUP_LINES;
    bool is_near = g->in->bytes < CACHE_BYTES;
    unsigned count = is_row || is_near ? 0 : access_group_lines(g, lines);
    if (count == 0) {
        return;
    }
    mov(u, R9, in_register(RAX));
    asm_scalar(out, SUB, R9, in_memory(HOST_OWN, GROUP_AT(g, before)));
    asm_scalar(out, MOV_STORE, RAX, in_memory(HOST_OWN, GROUP_AT(g, before)));
    asm_scalar(out, ADD, R9, in_register(R9)); /* four times as far */
    asm_scalar(out, ADD, R9, in_register(R9));
    asm_scalar(out, ADD, R9, in_register(RAX));
    if (global_has_shadow(u, g)) {
        asm_scalar(out, LEA, RDX, in_memory(R9, (int32_t)g->low));
        asm_constant(out, SHR_C, in_register(RDX), 2);
        asm_scalar(out, ADD, RDX, in_memory(RCX, offsetof(struct allocation, shadow)));
        for (unsigned k = 0; k < count; k++) {
            asm_prefetch(out, in_memory(RDX, lines[k] / 4));
        }
    }
    asm_scalar(out, ADD, R9, in_memory(RCX, offsetof(struct allocation, host)));
    for (unsigned k = 0; k < count; k++) {
        asm_prefetch(out, in_memory(R9, (int32_t)g->low + lines[k]));
    }
}

static void check_global(struct emit_unit *u, const struct access_group *g) {
    struct assembler *out = &u->out;
    mov(u, RCX, data_at(GROUP_AT(g, in)));
    asm_constant(out, CMP_C_8, in_memory(RCX, offsetof(struct allocation, freed)), 0);
    unit_exit_if(u, IF_NOT_EQUAL);
    asm_scalar(out, SUB, RAX, in_memory(RCX, offsetof(struct allocation, address)));
    asm_constant(out, TEST_C_8, in_register(RAX), (int32_t)g->align - 1);
    unit_exit_if(u, IF_NOT_EQUAL);
    asm_scalar(out, LEA, RDX, in_memory(RAX, (int32_t)g->low));
    mov(u, RSI, in_memory(RCX, offsetof(struct allocation, bytes)));
    asm_constant(out, SUB_C, in_register(RSI), (int32_t)(g->high - g->low));
    unit_exit_if(u, IF_BELOW);
    asm_scalar(out, CMP, RDX, in_register(RSI));
    unit_exit_if(u, IF_ABOVE);
    prefetch_rows(u, g);
    mov(u, RSI, in_memory(RCX, offsetof(struct allocation, host)));
    if (global_has_shadow(u, g)) {
        check_shadow(u, g, offsetof(struct allocation, shadow));
    }
}

static void check_group(struct emit_unit *u, struct access_group *g) {
    struct assembler *out = &u->out;
    g->data = unit_data_add(u, sizeof(struct group_data));
    ((struct group_data *)(void *)(u->data + g->data))->in = g->in;
    check_shape(u, g);
    g->is_checked = true;
    unsigned first = values_vector(&u->values, g->base, 8, 0, true);
    asm_vector(out, VMOVQ_TO, first, 0, in_register(RAX));
    if (g->shared) {
        check_shared(u, g);
    } else {
        check_global(u, g);
    }
    asm_scalar(out, ADD, RSI, in_register(RAX));
    asm_scalar(out, MOV_STORE, RSI, data_at(GROUP_AT(g, host)));
    if (!g->shared && u->processor->run->count) {
        asm_constant(out, AND_C, in_register(RAX), 28);
        asm_scalar(out, ADD, RAX, in_register(RAX));
        asm_scalar(out, ADD, RAX, in_register(HOST_DATA));
        asm_scalar(out, MOV_STORE, RAX, data_at(GROUP_AT(g, phase)));
    }
}

/* ---- what it costs ---- */

static void count_cost(const struct emit_unit *u, struct unit_count *c,
                       const struct access *a, int64_t offset) {
    bool shared = a->space == PTX_SHARED;
    const struct shape *x = &u->shapes[u->at];
    for (unsigned phase = 0; phase < 8; phase++) {
        uint64_t offsets[WARP_LANES];
        for (unsigned l = 0; l < WARP_LANES; l++) {
            offsets[l] =
                (UINT64_C(1) << 40) + 4 * phase + (uint64_t)(offset + x->deltas[l]);
        }
        coalescing_cost(offsets, UINT32_MAX, bytes_of(a), shared, &c->cost[phase],
                        &c->ideal);
    }
}

/* Accesses between two ways out are done together: they share a counter. */
static void count(struct emit_unit *u, struct access_group *g, const struct step *s) {
    if (!u->processor->run->count) {
        return;
    }
    if (g->segment != u->segment) {
        g->segment = u->segment;
        g->counter = unit_data_add(u, 64);
        if (g->shared) {
            asm_scalar(&u->out, INC, RAX, data_at(g->counter));
        } else {
            mov(u, RAX, data_at(GROUP_AT(g, phase)));
            asm_scalar(&u->out, INC, RAX, in_memory(RAX, g->counter));
        }
    }
    u->counts = xreallocarray(u->counts, u->count_count + 1, sizeof *u->counts);
    struct unit_count *c = &u->counts[u->count_count++];
    *c = (struct unit_count){
        .access = s->extra, .counter = (uint32_t)g->counter, .by_phase = !g->shared};
    count_cost(u, c, access_of(u, u->at), s->offset);
}

/* ---- the access ---- */

/* Instructions that move elements of 4 or 8 bytes. */
static const struct {
    enum vector_op broadcast, permute, permute_two, gather, scatter;
} moves[] = {
    [4] = {VPBROADCASTD, VPERMD, VPERMI2D, VPGATHERDD, VPSCATTERDD},
    [8] = {VPBROADCASTQ, VPERMQ, VPERMI2Q, VPGATHERDQ, VPSCATTERDQ},
};

/* (delta - low) / unit of each lane, in the data, as numbers of `bytes`. */
static struct asm_place part_indices(struct emit_unit *u, const struct part *p,
                                     unsigned lanes, int32_t unit, unsigned bytes) {
    int32_t at = unit_data_add(u, 64);
    for (unsigned l = 0; l < lanes; l++) {
        int32_t index = (p->deltas[l] - p->low) / unit;
        memcpy(u->data + at + bytes * l, &index, sizeof index);
    }
    return data_at(at);
}

/* A window may extend beyond the last lane; if that memory may not be read, lanes are
 * gathered. */
static void load_part(struct emit_unit *u, const struct part *p, unsigned bytes,
                      unsigned to, int32_t offset, bool windows) {
    struct assembler *out = &u->out;
    struct asm_place window = in_memory(RAX, offset + p->low);
    unsigned t = VECTOR_TEMPORARY, lanes = part_lanes(bytes);
    if (p->equal) {
        asm_vector(out, moves[bytes].broadcast, to, 0, window);
    } else if (p->rising) {
        asm_vector(out, VMOVDQU32, to, 0, window);
    } else if (windows && p->span <= 64) {
        asm_vector(out, VMOVDQU32, t, 0, part_indices(u, p, lanes, (int)bytes, bytes));
        asm_vector(out, moves[bytes].permute, to, t, window);
    } else if (windows && p->span <= 128) {
        asm_vector(out, VMOVDQU32, to, 0, part_indices(u, p, lanes, (int)bytes, bytes));
        asm_vector(out, VMOVDQU32, t, 0, window);
        window.at += 64;
        asm_vector(out, moves[bytes].permute_two, to, t, window);
    } else {
        asm_vector(out, VMOVDQU32, t, 0, part_indices(u, p, lanes, 1, 4));
        asm_mask(out, KXNORW, 1, 1, in_register(1));
        window.kind = PLACE_INDEXED;
        window.index = (uint8_t)t;
        asm_vector_masked(out, moves[bytes].gather, to, 0, window, 1, 0);
    }
}

/* 16 lanes of 2 bytes become half k of the vector. */
static void load_halves(struct emit_unit *u, const struct part *p, unsigned k,
                        unsigned to, int32_t offset) {
    struct asm_place from = in_memory(RAX, offset + p->low);
    if (p->equal) {
        asm_vector(&u->out, VPBROADCASTW, k ? VECTOR_TEMPORARY : to, 0, from);
        from = in_register(VECTOR_TEMPORARY);
    }
    if (k || !p->equal) {
        asm_vector_byte(&u->out, VINSERTI64X4, to, to, from, (uint8_t)k);
    }
}

static void load(struct emit_unit *u, const struct access_group *g, unsigned bytes,
                 uint32_t to_offset, int32_t offset) {
    bool windows = g->shared || g->in->is_padded;
    const struct shape *x = &u->shapes[u->at];
    struct vectors to = values_new(&u->values, bytes, is_level(x));
    for (unsigned k = 0; k < (bytes == 2 ? 2 : to.count); k++) {
        struct part p = part_of(x, k, bytes);
        size_t size = part_lanes(bytes) * sizeof *p.deltas;
        if (bytes == 2) {
            load_halves(u, &p, k, to.vectors[0], offset);
        } else if (k && memcmp(p.deltas, x->deltas, size) == 0) {
            asm_vector(&u->out, VMOVDQU32, to.vectors[k], 0, in_register(to.vectors[0]));
        } else {
            load_part(u, &p, bytes, to.vectors[k], offset, windows);
        }
    }
    values_set(&u->values, to_offset, bytes, to, false);
}

static void load_all(struct emit_unit *u, const struct access_group *g,
                     const struct access *a, int32_t offset) {
    for (unsigned k = 0; k < a->count; k++) {
        if (a->registers[k] != STEP_NO_REGISTER) {
            load(u, g, a->bytes, a->registers[k], offset + (int32_t)(a->bytes * k));
        }
    }
}

static void store_part(struct emit_unit *u, const struct part *p, unsigned bytes,
                       unsigned from, int32_t offset) {
    struct assembler *out = &u->out;
    struct asm_place window = in_memory(RAX, offset + p->low);
    if (p->rising) { /* of 2 bytes all 32 lanes are */
        asm_vector(out, VMOVDQU32_STORE, from, 0, window);
        return;
    }
    unsigned t = VECTOR_TEMPORARY;
    asm_vector(out, VMOVDQU32, t, 0, part_indices(u, p, part_lanes(bytes), 1, 4));
    asm_mask(out, KXNORW, 1, 1, in_register(1));
    window.kind = PLACE_INDEXED;
    window.index = (uint8_t)t;
    asm_vector_masked(out, moves[bytes].scatter, from, 0, window, 1, 0);
}

/* Word number k of those that lanes write: all first ones, then of 8 bytes the second. */
static uint64_t written_word(const struct shape *x, int64_t offset, unsigned k) {
    return (uint64_t)(offset + x->deltas[k % WARP_LANES]) / 4 + k / WARP_LANES;
}

/* Bits of the `count` words that lie in the window of the shadow that begins at `first`;
 * 0 where one before number `k` does, too. */
static uint64_t window_bits(const struct shape *x, int64_t offset, unsigned count,
                            unsigned k, uint64_t first) {
    uint64_t bits = 0;
    for (unsigned l = 0; l < count; l++) {
        uint64_t word = written_word(x, offset, l) - first;
        if (word < WINDOW_WORDS && l < k) {
            return 0;
        }
        bits |= word < WINDOW_WORDS ? UINT64_C(1) << word : 0;
    }
    return bits;
}

/* The words are written, by a kernel. */
static void note_words(struct emit_unit *u, const struct access_group *g, unsigned bytes,
                       int32_t offset) {
    const struct shape *x = &u->shapes[u->at];
    unsigned count = WARP_LANES * (bytes == 8 ? 2 : 1);
    mov(u, RDX, data_at(GROUP_AT(g, shadow)));
    for (unsigned k = 0; k < count; k++) {
        uint64_t first = written_word(x, offset - g->low, k);
        first -= first % WINDOW_WORDS;
        uint64_t bits = window_bits(x, offset - g->low, count, k, first);
        if (bits) {
            int32_t at = unit_data_add(u, 8);
            memcpy(u->data + at, &bits, sizeof bits);
            asm_mask(&u->out, KMOVQ_LOAD, 1, 0, data_at(at));
            asm_vector_masked(&u->out, VMOVDQU8_STORE, VECTOR_ONES, 0,
                              in_memory(RDX, (int32_t)first), 1, 0);
        }
    }
}

static void store(struct emit_unit *u, const struct access_group *g,
                  const struct access *a, int32_t offset) {
    const struct shape *x = &u->shapes[u->at];
    for (unsigned k = 0; k < a->bytes / 2u; k++) {
        struct part p = part_of(x, k, a->bytes);
        unsigned from = values_vector(&u->values, a->registers[0], a->bytes, k, true);
        store_part(u, &p, a->bytes, from, offset);
    }
    bool shadow =
        g->shared ? u->processor->run->check_initialized : global_has_shadow(u, g);
    if (shadow) {
        note_words(u, g, a->bytes, offset);
    }
    mov(u, RCX, in_memory(HOST_WARP, block_at(offsetof(struct warp, block))));
    asm_scalar(&u->out, INC, RAX,
               in_memory(RCX, block_at(offsetof(struct block, changes))));
}

bool unit_access(struct emit_unit *u, const struct step *s) {
    uint32_t index = u->group_of[u->at];
    if (index == 0 || !access_group_fits(u, &u->groups[index - 1])) {
        return false;
    }
    struct access_group *g = &u->groups[index - 1];
    const struct access *a = access_of(u, u->at);
    if (!g->is_checked) {
        check_group(u, g);
    }
    if (u->processor->run->race) {
        unit_call(u, race_note_lanes);
    }
    count(u, g, s);
    if (a->is_store) { /* its value comes into vectors while nothing has happened */
        values_vector(&u->values, a->registers[0], a->bytes, 0, true);
    }
    mov(u, RAX, data_at(GROUP_AT(g, host)));
    if (a->is_store) {
        store(u, g, a, (int32_t)s->offset);
    } else {
        load_all(u, g, a, (int32_t)s->offset);
    }
    return true;
}
