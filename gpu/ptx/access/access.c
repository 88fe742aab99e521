#include "gpu/ptx/access/access.h"

#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"

/* ---- parameters: areas of the arena, and the launch's block ---- */

#define AREA(bytes, type, words)                                                         \
    static void area_load_##bytes(struct warp *w, const struct step *s, uint32_t mask) { \
        const uint8_t *area = LANES(uint8_t, w, s->src[0]) + s->offset;                  \
        type *to = LANES(type, w, s->dst);                                               \
        for (unsigned l = 0; l < WARP_LANES; l++) {                                      \
            type x = *(const type *)(const void *)(area + 4 * l);                        \
            to[l] = mask >> l & 1 ? x : to[l];                                           \
        }                                                                                \
    }                                                                                    \
    static void area_store_##bytes(struct warp *w, const struct step *s,                 \
                                   uint32_t mask) {                                      \
        uint8_t *area = LANES(uint8_t, w, s->dst) + s->offset;                           \
        const type *from = LANES(const type, w, s->src[0]);                              \
        for (unsigned l = 0; l < WARP_LANES; l++) {                                      \
            type *at = (type *)(void *)(area + 4 * l);                                   \
            *at = mask >> l & 1 ? from[l] : *at;                                         \
        }                                                                                \
    }
AREA(1, uint8_t, 1)
AREA(2, uint16_t, 1)
AREA(4, uint32_t, 1)

static void area_load_8(struct warp *w, const struct step *s, uint32_t mask) {
    const uint32_t *area =
        (const uint32_t *)(const void *)(LANES(uint8_t, w, s->src[0]) + s->offset);
    uint64_t *to = LANES(uint64_t, w, s->dst);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t x = area[l] | (uint64_t)area[l + WARP_LANES] << 32;
        to[l] = mask >> l & 1 ? x : to[l];
    }
}

static void area_store_8(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t *area = (uint32_t *)(void *)(LANES(uint8_t, w, s->dst) + s->offset);
    const uint64_t *from = LANES(const uint64_t, w, s->src[0]);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        bool on = mask >> l & 1;
        area[l] = on ? (uint32_t)from[l] : area[l];
        area[l + WARP_LANES] = on ? (uint32_t)(from[l] >> 32) : area[l + WARP_LANES];
    }
}

step_run *step_area_load(unsigned bytes) {
    return bytes == 8   ? area_load_8
           : bytes == 4 ? area_load_4
           : bytes == 2 ? area_load_2
           : bytes == 1 ? area_load_1
                        : NULL;
}

step_run *step_area_store(unsigned bytes) {
    return bytes == 8   ? area_store_8
           : bytes == 4 ? area_store_4
           : bytes == 2 ? area_store_2
           : bytes == 1 ? area_store_1
                        : NULL;
}

#define PARAM(bytes, type)                                                               \
    static void param_load_##bytes(struct warp *w, const struct step *s,                 \
                                   uint32_t mask) {                                      \
        type x;                                                                          \
        memcpy(&x, w->processor->run->params + s->offset, sizeof x);                     \
        type *to = LANES(type, w, s->dst);                                               \
        if (mask == UINT32_MAX) {                                                        \
            for (unsigned l = 0; l < WARP_LANES; l++) {                                  \
                to[l] = x;                                                               \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        for (unsigned l = 0; l < WARP_LANES; l++) {                                      \
            to[l] = mask >> l & 1 ? x : to[l];                                           \
        }                                                                                \
    }
PARAM(1, uint8_t)
PARAM(2, uint16_t)
PARAM(4, uint32_t)
PARAM(8, uint64_t)

static step_run *param_load(unsigned bytes) {
    return bytes == 8   ? param_load_8
           : bytes == 4 ? param_load_4
           : bytes == 2 ? param_load_2
                        : param_load_1;
}

unsigned step_param_bytes(const struct step *s) {
    for (unsigned bytes = 1; bytes <= 8; bytes *= 2) {
        if (s->run == param_load(bytes)) {
            return bytes;
        }
    }
    return 0;
}

/* ---- handlers that are not of the fast tables ---- */

static void read_addresses(struct warp *w, const struct step *s,
                           uint64_t to[WARP_LANES]) {
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        to[l] = base[l] + (uint64_t)s->offset;
    }
}

static void step_access_local(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t offsets[WARP_LANES];
    read_addresses(w, s, offsets);
    access_local(w, s, mask, offsets);
}

static void step_access_local_own(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t offsets[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        offsets[l] = w->frame->local_base + (uint64_t)s->offset;
    }
    access_local(w, s, mask, offsets);
}

static void step_access_any(struct warp *w, const struct step *s, uint32_t mask) {
    uint64_t addresses[WARP_LANES];
    read_addresses(w, s, addresses);
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    if (a->is_store) {
        w->block->changes++;
    }
    if (a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER) {
        access_slow(w, s, mask, addresses, PTX_SHARED);
    } else if (a->space == PTX_PARAM) { /* of an entry, through a register */
        for (unsigned l = 0; l < WARP_LANES; l++) {
            addresses[l] += MEMORY_PARAM;
        }
        access_generic_mixed(w, s, mask, addresses);
    } else {
        access_generic_mixed(w, s, mask, addresses);
    }
}

static void step_access_ordered(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    if (a->release) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    a->plain(w, s, mask);
    if (a->acquire) {
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    }
    w->polled = true;
    life_strong(w, s, a, mask);
    warp_synced(w);
}

/* ---- lowering ---- */

static const access_table *fast_table(void) {
    const char *extension = bind_extension();
#if defined __x86_64__
#ifdef LANES_HAVE_AVX512
    if (strcmp(extension, "avx512") == 0) {
        return &access_table_avx512;
    }
#endif
#ifdef LANES_HAVE_AVX2
    if (strcmp(extension, "avx2") == 0) {
        return &access_table_avx2;
    }
#endif
    (void)extension;
    return &access_table_baseline;
#else
    (void)extension;
    return &access_table_neon;
#endif
}

static step_run *access_handler(const struct access *a) {
    enum access_place place;
    switch (a->space) {
    case PTX_LOCAL:
        return step_access_local;
    case PTX_GLOBAL:
    case PTX_CONST:
        place = ACCESS_GLOBAL;
        break;
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        place = ACCESS_SHARED;
        break;
    case PTX_GENERIC:
        place = ACCESS_GENERIC;
        break;
    default:
        return step_access_any;
    }
    if (a->bytes > 8 || a->count > 4) {
        return step_access_any;
    }
    return (*fast_table())[a->is_store][place][__builtin_ctz(a->bytes)]
                          [__builtin_ctz(a->count)];
}

/* The elements of a load or store. */
static bool lower_elements(struct lowering *l, const struct ptx_instruction *i,
                           const struct ptx_operand *o, struct access *a) {
    enum ptx_type type = (enum ptx_type)i->types[i->type_count - 1];
    bool is_vector = o->kind == PTX_OPERAND_VECTOR;
    if ((is_vector ? o->count : 1) != a->count) {
        return false;
    }
    for (unsigned k = 0; k < a->count; k++) {
        const struct ptx_operand *e = is_vector ? lower_element(l, o, k) : o;
        if (a->is_store) {
            a->registers[k] = lower_source(l, i, e, a->bytes, type);
        } else {
            a->registers[k] = e->kind == PTX_OPERAND_SINK
                                  ? STEP_NO_REGISTER
                                  : lower_result(l, e, a->bytes, ptx_type_signed(type));
        }
    }
    return !l->failed;
}

/* A .param variable by name: its area, or the launch's block. */
static enum lower_answer lower_param(struct lowering *l, const struct ptx_instruction *i,
                                     const struct ptx_operand *o,
                                     const struct access *a) {
    const struct ptx_variable *v = &l->module->variables[o->index];
    uint32_t area = l->areas[o->index];
    uint64_t address = 0;
    bool launch =
        area == STEP_NO_REGISTER && lower_variable_address(l, o->index, &address);
    uint64_t size = (uint64_t)a->bytes * a->count;
    if ((area == STEP_NO_REGISTER && !launch) || (launch && a->is_store) ||
        a->bytes > 8 || o->offset < 0 || (uint64_t)o->offset > v->size ||
        size > v->size - (uint64_t)o->offset || (uint64_t)o->offset % a->bytes) {
        return LOWER_REFUSED;
    }
    for (unsigned k = 0; k < a->count; k++) {
        uint64_t at = (uint64_t)o->offset + (uint64_t)k * a->bytes;
        if (a->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        if (!launch) {
            at = at / 4 * (4 * WARP_LANES) + at % 4;
        }
        struct step *s = lower_step(l, i,
                                    launch        ? param_load(a->bytes)
                                    : a->is_store ? step_area_store(a->bytes)
                                                  : step_area_load(a->bytes),
                                    true);
        s->offset = (int64_t)(at + address);
        s->dst = a->is_store ? area : a->registers[k];
        s->src[0] = a->is_store ? a->registers[k] : area;
    }
    return LOWER_DONE;
}

static bool is_ordered(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_VOLATILE) || ptx_has(i, PTX_M_RELAXED) ||
           ptx_has(i, PTX_M_ACQUIRE) || ptx_has(i, PTX_M_RELEASE) ||
           ptx_has(i, PTX_M_MMIO) || ptx_has(i, PTX_M_SC);
}

static bool access_init(const struct ptx_instruction *i, struct access *a) {
    enum ptx_type type = (enum ptx_type)i->types[i->type_count - 1];
    a->space = i->space_count ? i->spaces[0] : PTX_GENERIC;
    a->bytes = (uint8_t)ptx_type_bytes(type);
    a->count = i->vector ? i->vector : 1;
    a->is_store = i->opcode == PTX_OP_ST;
    a->acquire = ptx_has(i, PTX_M_ACQUIRE) || ptx_has(i, PTX_M_VOLATILE);
    a->release = ptx_has(i, PTX_M_RELEASE) || ptx_has(i, PTX_M_VOLATILE);
    a->polls = is_ordered(i);
    a->race = (uint16_t)race_kind_of(i, a->is_store ? RACE_WRITE : RACE_READ);
    unsigned size = (unsigned)a->bytes * a->count;
    return a->bytes > 0 && a->bytes <= 16 && (a->bytes & (a->bytes - 1)) == 0 &&
           a->count <= 8 && (a->count & (a->count - 1)) == 0 && size <= 32 &&
           i->space_count < 2 && !ptx_has(i, PTX_M_ASYNC) && !ptx_has(i, PTX_M_BULK);
}

enum lower_answer lower_access(struct lowering *l, const struct ptx_instruction *i) {
    bool load = i->opcode == PTX_OP_LD || i->opcode == PTX_OP_LDU;
    if (!load && i->opcode != PTX_OP_ST) {
        return LOWER_NOT_MINE;
    }
    struct access a = {0};
    /* A cache policy may follow the others. */
    if (i->type_count == 0 || i->operand_count < 2 || !access_init(i, &a)) {
        return LOWER_REFUSED;
    }
    const struct ptx_operand *at = lower_operand(l, i, load ? 1 : 0);
    if (at->kind != PTX_OPERAND_ADDRESS ||
        !lower_elements(l, i, lower_operand(l, i, load ? 0 : 1), &a)) {
        return LOWER_REFUSED;
    }
    bool symbol = at->base == PTX_BASE_SYMBOL;
    if (a.space == PTX_PARAM && symbol) {
        return lower_param(l, i, at, &a);
    }
    if (a.space == PTX_PARAM && !l->function->is_entry) {
        return LOWER_REFUSED; /* a callee's parameters have no address here */
    }
    uint32_t base = 0;
    int64_t offset = at->offset;
    step_run *run = access_handler(&a);
    const struct ptx_variable *v = symbol ? &l->module->variables[at->index] : NULL;
    if (a.space == PTX_LOCAL && symbol && v->space == PTX_LOCAL) {
        run = step_access_local_own;
        offset += (int64_t)v->offset;
    } else if (!lower_address(l, i, at, (enum ptx_space)a.space, &base, &offset)) {
        return LOWER_REFUSED;
    }
    a.plain = run;
    bool own = a.space == PTX_SHARED || a.space == PTX_LOCAL;
    l->program->order_sensitive |= load && a.polls && !own;
    bool watched = a.space == PTX_GLOBAL || a.space == PTX_GENERIC ||
                   a.space == PTX_SHARED || a.space == PTX_SHARED_CLUSTER;
    step_run *handler = a.polls ? step_access_ordered : run;
    a.watched = watched ? handler : NULL;
    uint32_t extra = lower_add_access(l, &a);
    struct step *s = lower_step(l, i, handler, true);
    s->src[0] = base;
    s->offset = offset;
    s->extra = extra;
    s->vector = a.count;
    s->bytes = a.bytes;
    return LOWER_DONE;
}

/* ---- discard: the previous contents are lost ---- */

static void step_discard(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    uint64_t addresses[WARP_LANES];
    unsigned size = (unsigned)a->bytes * a->count;
    read_addresses(w, s, addresses);
    bits_each(lane, mask) {
        uint8_t *shadow;
        uint8_t *at = access_resolve(w, s, lane, addresses[lane], PTX_GLOBAL, size, false,
                                     true, &shadow);
        if (at) {
            memset(at, w->processor->run->poison, size);
        }
        if (at && shadow) {
            memset(shadow, 0, size / 4);
        }
    }
    w->block->changes++;
}

/* discard.L2 [a], 128; */
enum lower_answer lower_discard(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode != PTX_OP_DISCARD) {
        return LOWER_NOT_MINE;
    }
    struct access a = {.space = PTX_GENERIC, .bytes = 16, .count = 8, .is_store = true};
    uint32_t base = 0;
    int64_t offset = 0;
    if (lower_operand(l, i, 1)->bits != 128 ||
        !lower_address(l, i, lower_operand(l, i, 0), PTX_GENERIC, &base, &offset)) {
        return LOWER_REFUSED;
    }
    uint32_t extra = lower_add_access(l, &a);
    struct step *s = lower_step(l, i, step_discard, true);
    s->src[0] = base;
    s->offset = offset;
    s->extra = extra;
    return LOWER_DONE;
}
