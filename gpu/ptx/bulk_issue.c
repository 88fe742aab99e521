/* bulk_issue: cp.async.bulk and its kin when a thread issues them. */
#include "base/mem.h"
#include "gpu/ptx/access.h"
#include "gpu/ptx/atomics.h"
#include "gpu/ptx/bulk_copies.h"
#include "gpu/ptx/cluster_life.h"
#include "gpu/ptx/lower.h"
#include "gpu/ptx/mbarrier.h"
#include "gpu/ptx/proxy.h"
#include "gpu/ptx/race.h"
#include "gpu/ptx/tensor_copies.h"

#include <string.h>

/* step->aux */
#define AUX_OPERATION(aux) ((aux)&0xff)
#define AUX_TYPE(aux) ((aux) >> 8 & 0xff)
#define AUX_TO_SHARED (1u << 16)
#define AUX_FROM_SHARED (1u << 17)
#define AUX_MULTICAST (1u << 18)
#define AUX_GENERIC (1u << 19)

/* The instruction's operands: registers of the vector step->extra; a tensor's coordinates
 * are those of the next one. */
enum { OPERAND_TO, OPERAND_FROM, OPERAND_SIZE, OPERAND_MBARRIER, OPERAND_MASK };

static uint64_t operand(struct warp *w, const struct step *s, unsigned lane, unsigned k) {
    uint32_t at = w->worker->run->program->vectors[s->extra].registers[k];
    switch (k) {
    case OPERAND_SIZE:
        return LANES(const uint32_t, w, at)[lane];
    case OPERAND_MASK:
        return LANES(const uint16_t, w, at)[lane];
    default:
        return LANES(const uint64_t, w, at)[lane];
    }
}

static void tell(struct warp *w, const struct step *s, unsigned lane,
                 enum finding_code code, const char *words, uint64_t number) {
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane}, code,
                "%s: %llu", words, (unsigned long long)number);
    run_fault(w->worker->run);
}

static struct bulk_copy copy_of(struct warp *w, const struct step *s, unsigned lane,
                                enum bulk_kind kind, uint64_t bytes) {
    return (struct bulk_copy){.kind = (uint8_t)kind,
                              .lane = (uint8_t)lane,
                              .operation = (uint8_t)AUX_OPERATION(s->aux),
                              .type = (uint8_t)AUX_TYPE(s->aux),
                              .warp = w,
                              .step = s,
                              .code = w->frame->code,
                              .block = w->block,
                              .bytes = (uint32_t)bytes,
                              .race = race_copy_begin(w),
                              .time = w->block->cluster->time,
                              .group = w->bulk_groups[lane]};
}

static struct access_range range_of(const struct bulk_copy *c, uint64_t address,
                                    unsigned align, bool reads, bool writes) {
    return (struct access_range){.warp = c->warp,
                                 .step = c->step,
                                 .lane = c->lane,
                                 .align = align,
                                 .address = address,
                                 .bytes = c->bytes,
                                 .reads = reads,
                                 .writes = writes};
}

/* What threads have written may not have been seen by the engine yet. */
static void check_proxy(const struct bulk_copy *c, const struct block *b,
                        uint64_t offset) {
    proxy_check(
        &(struct proxy_reader){
            .warp = c->warp, .step = c->step, .lane = c->lane, .words = "The copy"},
        b, offset, c->bytes);
}

/* ---- to shared memory ---- */

/* Offers the copy to one block: places and mbarrier at these addresses. */
static void send_to(const struct bulk_copy *proto, uint64_t to, uint64_t mbarrier,
                    bool fine, unsigned align) {
    struct bulk_copy c = *proto;
    struct block *owner;
    uint64_t offset = 0;
    struct mbarrier *m = mbarrier_at(c.warp, c.step, c.lane, mbarrier, true, &owner);
    struct access_range r = range_of(&c, to, align, bulk_reduces(&c), true);
    c.block = access_shared_range(&r, true, &offset);
    c.shared = (uint32_t)offset;
    if (!m) {
        return;
    }
    c.mbarrier = m->offset;
    if (!c.block || !fine) {
        c.kind = BULK_NOTHING; /* told; its bytes still come, so that others go on */
        c.tensor = NULL;
    } else {
        if (c.tensor) {
            c.tensor = xmalloc(sizeof *c.tensor);
            *c.tensor = *proto->tensor;
        }
        bulk_begin(&c);
        if (c.source && c.block != c.source) {
            life_copy(c.warp, c.step, c.lane);
        }
        race_copy_touch(c.warp, c.step, c.lane, c.block, c.shared, c.bytes,
                        bulk_race_kind(&c), c.race);
    }
    bulk_add(owner, &owner->arrivals, &c);
}

static void send(const struct bulk_copy *c, uint64_t to, uint64_t mbarrier, bool fine,
                 unsigned align) {
    const struct step *s = c->step;
    if (!(s->aux & AUX_MULTICAST)) {
        send_to(c, to, mbarrier, fine, align);
        return;
    }
    const struct cluster *cluster = c->warp->block->cluster;
    const uint64_t offset = (UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1;
    uint64_t mask = operand(c->warp, s, c->lane, OPERAND_MASK);
    if (mask >> cluster->count || mask == 0) {
        tell(c->warp, s, c->lane, FINDING_OUT_OF_BOUNDS,
             "The mask of a multicast names blocks that the cluster has not, or none",
             mask);
        mask &= (UINT64_C(1) << cluster->count) - 1;
    }
    for (; mask; mask &= mask - 1) {
        uint64_t tag = (uint64_t)(__builtin_ctzll(mask) + 1) << CLUSTER_TAG_SHIFT;
        send_to(c, tag | (to & offset), tag | (mbarrier & offset), fine, align);
    }
}

static bool size_fits(struct warp *w, const struct step *s, unsigned lane,
                      uint64_t size) {
    if (size % 16) {
        tell(w, s, lane, FINDING_MISALIGNED,
             "The size of a bulk copy is no multiple of 16 bytes", size);
    }
    return size % 16 == 0;
}

static void lane_load(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t size = operand(w, s, lane, OPERAND_SIZE), offset = 0;
    uint64_t from = operand(w, s, lane, OPERAND_FROM);
    bool shared = s->aux & AUX_FROM_SHARED;
    struct bulk_copy c = copy_of(w, s, lane, shared ? BULK_SHARED : BULK_LOAD, size);
    struct access_range r = range_of(&c, from, 16, true, false);
    bool fine = size_fits(w, s, lane, size);
    c.from = from;
    if (shared) {
        c.source = access_shared_range(&r, false, &offset);
        c.from = offset;
        fine = fine && c.source;
        if (fine) {
            check_proxy(&c, c.source, offset);
        }
    } else {
        fine = access_global_range(&r, &offset) && fine;
    }
    if (fine) {
        race_copy_touch(w, s, lane, c.source, c.from, c.bytes, RACE_READ, c.race);
    }
    send(&c, operand(w, s, lane, OPERAND_TO), operand(w, s, lane, OPERAND_MBARRIER), fine,
         16);
}

/* ---- to global memory ---- */

static void lane_store(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t size = operand(w, s, lane, OPERAND_SIZE), offset;
    struct bulk_copy c = copy_of(w, s, lane, BULK_STORE, size);
    bool fine = size_fits(w, s, lane, size);
    c.from = operand(w, s, lane, OPERAND_TO);
    struct access_range from =
        range_of(&c, operand(w, s, lane, OPERAND_FROM), 16, true, false);
    struct access_range to = range_of(&c, c.from, 16, bulk_reduces(&c), true);
    c.block = access_shared_range(&from, false, &offset);
    c.shared = (uint32_t)offset;
    if (!c.block || !access_global_range(&to, &offset) || !fine) {
        return;
    }
    check_proxy(&c, c.block, c.shared);
    race_copy_touch(w, s, lane, c.block, c.shared, c.bytes, RACE_READ, c.race);
    race_copy_touch(w, s, lane, NULL, c.from, c.bytes, bulk_race_kind(&c), c.race);
    bulk_add(w->block, &w->block->stores, &c);
}

static void step_bulk(struct warp *w, const struct step *s, uint32_t mask) {
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        if (s->aux & AUX_TO_SHARED) {
            lane_load(w, s, lane);
        } else {
            lane_store(w, s, lane);
        }
    }
}

/* ---- tensors ---- */

/* The map's bytes; NULL after a finding. */
static const uint8_t *map_bytes(struct warp *w, const struct step *s, unsigned lane,
                                uint64_t address) {
    const struct run *run = w->worker->run;
    uint64_t in_params = address - MEMORY_PARAM, offset;
    if (address % TENSOR_BLOB_ALIGN) {
        tell(w, s, lane, FINDING_MISALIGNED,
             "The address of a tensor map is no multiple of 64", address);
        return NULL;
    }
    if (in_params < MEMORY_WINDOW_BYTES) {
        if (in_params < run->param_bytes &&
            run->param_bytes - in_params >= TENSOR_BLOB_BYTES) {
            return run->params + in_params;
        }
        tell(w, s, lane, FINDING_OUT_OF_BOUNDS,
             "A tensor map behind the end of the parameters, at offset", in_params);
        return NULL;
    }
    struct access_range r = {.warp = w,
                             .step = s,
                             .lane = lane,
                             .align = 1,
                             .address = address,
                             .bytes = TENSOR_BLOB_BYTES,
                             .reads = true};
    const struct allocation *in = access_global_range(&r, &offset);
    return in ? in->host + offset : NULL;
}

static bool map_read(struct warp *w, const struct step *s, unsigned lane,
                     uint64_t address, struct tensor_copy *t) {
    const uint8_t *bytes = map_bytes(w, s, lane, address);
    if (!bytes) {
        return false;
    }
    if (!tensor_blob_read(bytes, &t->map)) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "No tensor map (CUtensorMap, made by the host) is at the address", address);
        return false;
    }
    if (t->map.rank != s->vector) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "The instruction is one for another number of dimensions than the tensor "
             "map has",
             t->map.rank);
        return false;
    }
    const struct vector_registers *v = &w->worker->run->program->vectors[s->extra + 1];
    for (unsigned d = 0; d < s->vector; d++) {
        t->at[d] = LANES(const int32_t, w, v->registers[d])[lane];
    }
    return true;
}

static enum ptx_type map_type(const struct tensor_blob *map) {
    static const uint8_t types[TENSOR_BLOB_TYPES] = {
        [TENSOR_BLOB_U32] = PTX_U32,     [TENSOR_BLOB_S32] = PTX_S32,
        [TENSOR_BLOB_U64] = PTX_U64,     [TENSOR_BLOB_S64] = PTX_S64,
        [TENSOR_BLOB_F16] = PTX_F16,     [TENSOR_BLOB_F32] = PTX_F32,
        [TENSOR_BLOB_F64] = PTX_F64,     [TENSOR_BLOB_BF16] = PTX_BF16,
        [TENSOR_BLOB_F32_FTZ] = PTX_F32,
    };
    return (enum ptx_type)types[map->type];
}

#define TENSOR_ALIGN 128 /* of the box in shared memory */

static void tensor_load(struct bulk_copy *c, uint64_t mbarrier) {
    bool fine = tensor_copy_check(c, false);
    send(c, operand(c->warp, c->step, c->lane, OPERAND_TO), mbarrier, fine, TENSOR_ALIGN);
}

static void tensor_store(struct bulk_copy *c) {
    struct warp *w = c->warp;
    uint64_t offset;
    struct access_range r = range_of(c, operand(w, c->step, c->lane, OPERAND_FROM),
                                     TENSOR_ALIGN, true, false);
    c->block = access_shared_range(&r, false, &offset);
    c->shared = (uint32_t)offset;
    if (!c->block || !tensor_copy_check(c, true)) {
        return;
    }
    if (bulk_reduces(c)) {
        c->type = (uint8_t)map_type(&c->tensor->map);
        if (!atomic_reduces(c->operation, (enum ptx_type)c->type)) {
            tell(w, c->step, c->lane, FINDING_INVALID_TENSOR_MAP,
                 "Elements of the tensor map's type cannot be reduced so",
                 c->tensor->map.type);
            return;
        }
    }
    check_proxy(c, c->block, offset);
    race_copy_touch(w, c->step, c->lane, c->block, offset, c->bytes, RACE_READ, c->race);
    struct tensor_copy *own = xmalloc(sizeof *own);
    *own = *c->tensor;
    c->tensor = own;
    bulk_add(w->block, &w->block->stores, c);
}

static void step_tensor(struct warp *w, const struct step *s, uint32_t mask) {
    bool load = s->aux & AUX_TO_SHARED;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct tensor_copy t;
        uint64_t map = operand(w, s, lane, load ? OPERAND_FROM : OPERAND_TO);
        if (!map_read(w, s, lane, map, &t)) {
            continue;
        }
        struct bulk_copy c =
            copy_of(w, s, lane, load ? BULK_TENSOR_LOAD : BULK_TENSOR_STORE,
                    tensor_blob_box_bytes(&t.map));
        c.tensor = &t;
        if (load) {
            tensor_load(&c, operand(w, s, lane, OPERAND_MBARRIER));
        } else {
            tensor_store(&c);
        }
    }
}

/* ---- st.async, red.async: values of registers ---- */

static void step_value(struct warp *w, const struct step *s, uint32_t mask) {
    const struct vector_registers *v = &w->worker->run->program->vectors[s->extra + 1];
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct bulk_copy c =
            copy_of(w, s, lane, BULK_VALUE, (uint64_t)v->count * v->bytes);
        for (unsigned k = 0; k < v->count; k++) {
            memcpy(c.value + (size_t)k * v->bytes,
                   LANES(uint8_t, w, v->registers[k]) + (size_t)lane * v->bytes,
                   v->bytes);
        }
        uint64_t base = s->aux & AUX_GENERIC ? MEMORY_SHARED : 0;
        send(&c, operand(w, s, lane, OPERAND_TO) - base,
             operand(w, s, lane, OPERAND_MBARRIER) - base, true, c.bytes);
    }
}

/* ---- groups and fences ---- */

static void step_commit(struct warp *w, const struct step *s, uint32_t mask) {
    (void)s;
    for (uint32_t m = mask; m; m &= m - 1) {
        w->bulk_groups[__builtin_ctz(m)]++;
    }
}

/* aux: groups that may stay away. */
static void step_wait_group(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t limit[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        limit[l] = w->bulk_groups[l] > s->aux ? w->bulk_groups[l] - s->aux : 0;
    }
    bulk_deliver_groups(w, mask, limit);
}

static void step_proxy_fence(struct warp *w, const struct step *s, uint32_t mask) {
    (void)s;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    proxy_fence(w, mask);
}

/* ---- lowering ---- */

/* The final address of an operand as a register of 8 bytes a lane. */
static bool address_register(struct lowering *l, const struct ptx_instruction *i,
                             unsigned k, enum ptx_space space, uint32_t *ret) {
    const struct ptx_operand *o = lower_operand(l, i, k);
    uint32_t base;
    int64_t offset;
    if (o->kind != PTX_OPERAND_ADDRESS ||
        !lower_address(l, i, o, space, &base, &offset)) {
        return false;
    }
    *ret = base;
    if (offset != 0) {
        *ret = lower_temporary(l, 8);
        struct step *add = lower_step(l, i, step_add_offset, true);
        add->src[0] = base;
        add->dst = *ret;
        add->offset = offset;
    }
    return !l->failed;
}

static bool is_shared(enum ptx_space space) {
    return space == PTX_SHARED || space == PTX_SHARED_CLUSTER;
}

/* What no sm_90 has, or nothing here does. */
static bool has_strange_words(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_IM2COL) || ptx_has(i, PTX_M_IM2COL_NO_OFFS) ||
           ptx_has(i, PTX_M_IM2COL_W) || ptx_has(i, PTX_M_IM2COL_W_128) ||
           ptx_has(i, PTX_M_TILE_GATHER4) || ptx_has(i, PTX_M_TILE_SCATTER4) ||
           ptx_has(i, PTX_M_CP_MASK) || ptx_has(i, PTX_M_CTA_GROUP_1) ||
           ptx_has(i, PTX_M_CTA_GROUP_2) || ptx_has(i, PTX_M_IGNORE_OOB) ||
           ptx_has(i, PTX_M_MULTICAST_CLUSTER_ALL);
}

/* .op and .type of a reduction into aux; false: there is none such. */
static bool reduction(const struct ptx_instruction *i, bool typed, uint32_t *aux) {
    if (!ptx_has(i, PTX_M_REDUCE) && i->opcode != PTX_OP_RED) {
        *aux |= BULK_NO_OPERATION;
        return true;
    }
    int op = atomic_operation(i);
    if (op < 0 || op >= ATOMIC_EXCH || (typed && i->type_count != 1)) {
        return false;
    }
    *aux |= (uint32_t)op | (typed ? (uint32_t)i->types[0] << 8 : 0);
    return !typed || atomic_reduces((unsigned)op, (enum ptx_type)i->types[0]);
}

static void add_copy_step(struct lowering *l, const struct ptx_instruction *i,
                          step_run *run, const uint32_t registers[8],
                          const struct vector_registers *more, uint32_t aux) {
    struct vector_registers v = {.count = 5, .bytes = 8};
    memcpy(v.registers, registers, sizeof v.registers);
    uint32_t extra = lower_add_vector(l, &v);
    lower_add_vector(l, more);
    struct step *s = lower_step(l, i, run, true);
    s->extra = extra;
    s->aux = aux;
    s->vector = more->count;
    bool to_shared = aux & AUX_TO_SHARED;
    l->program->engine_reads |= !to_shared || (aux & AUX_FROM_SHARED);
    /* Blocks of other threads may add to the same bytes. */
    l->program->order_sensitive |= !to_shared && AUX_OPERATION(aux) != BULK_NO_OPERATION;
}

static bool multicast_mask(struct lowering *l, const struct ptx_instruction *i,
                           unsigned k, uint32_t *aux, uint32_t *ret) {
    if (!ptx_has(i, PTX_M_MULTICAST_CLUSTER)) {
        return true;
    }
    *aux |= AUX_MULTICAST;
    if (k >= i->operand_count) {
        return false;
    }
    *ret = lower_source(l, i, lower_operand(l, i, k), 2, PTX_U16);
    return !l->failed;
}

static enum lower_answer lower_bulk(struct lowering *l, const struct ptx_instruction *i) {
    enum ptx_space to = (enum ptx_space)i->spaces[0], from = (enum ptx_space)i->spaces[1];
    uint32_t aux = 0, registers[8] = {0};
    struct vector_registers none = {.count = 1};
    if (i->space_count != 2 || i->operand_count < 3 || !reduction(i, true, &aux)) {
        return LOWER_REFUSED;
    }
    bool load = is_shared(to) && (from == PTX_GLOBAL || from == PTX_SHARED);
    if (!load && !(to == PTX_GLOBAL && from == PTX_SHARED)) {
        return LOWER_REFUSED;
    }
    aux |= (load ? AUX_TO_SHARED : 0) | (from == PTX_SHARED ? AUX_FROM_SHARED : 0);
    if (!address_register(l, i, 0, to, &registers[OPERAND_TO]) ||
        !address_register(l, i, 1, from, &registers[OPERAND_FROM]) ||
        (load && (i->operand_count < 4 ||
                  !address_register(l, i, 3, PTX_SHARED, &registers[OPERAND_MBARRIER]) ||
                  !multicast_mask(l, i, 4, &aux, &registers[OPERAND_MASK])))) {
        return LOWER_REFUSED;
    }
    registers[OPERAND_SIZE] = lower_source(l, i, lower_operand(l, i, 2), 4, PTX_U32);
    add_copy_step(l, i, step_bulk, registers, &none, aux);
    return LOWER_DONE;
}

static unsigned dimensions(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_D1D)   ? 1
           : ptx_has(i, PTX_M_D2D) ? 2
           : ptx_has(i, PTX_M_D3D) ? 3
           : ptx_has(i, PTX_M_D4D) ? 4
           : ptx_has(i, PTX_M_D5D) ? 5
                                   : 0;
}

static bool coordinates(struct lowering *l, const struct ptx_instruction *i,
                        const struct ptx_operand *map, struct vector_registers *v) {
    unsigned rank = dimensions(i);
    if (rank == 0 || map->count != rank) {
        return false;
    }
    v->count = (uint8_t)rank;
    for (unsigned d = 0; d < rank; d++) {
        v->registers[d] = lower_source(l, i, lower_element(l, map, d), 4, PTX_S32);
    }
    return !l->failed;
}

static enum lower_answer lower_tensor(struct lowering *l,
                                      const struct ptx_instruction *i) {
    bool store = ptx_has(i, PTX_M_BULK_GROUP);
    uint32_t aux = store ? AUX_FROM_SHARED : AUX_TO_SHARED, registers[8] = {0};
    struct vector_registers at = {.bytes = 4};
    unsigned map = store ? 0 : 1, shared = store ? 1 : 0;
    if (i->space_count != 2 || i->operand_count < (store ? 2u : 3u) ||
        !reduction(i, false, &aux) || !is_shared((enum ptx_space)i->spaces[shared]) ||
        i->spaces[map] != PTX_GLOBAL ||
        !coordinates(l, i, lower_operand(l, i, map), &at)) {
        return LOWER_REFUSED;
    }
    if (!address_register(l, i, map, PTX_GENERIC,
                          &registers[store ? OPERAND_TO : OPERAND_FROM]) ||
        !address_register(l, i, shared, PTX_SHARED,
                          &registers[store ? OPERAND_FROM : OPERAND_TO])) {
        return LOWER_REFUSED;
    }
    if (!store && (!address_register(l, i, 2, PTX_SHARED, &registers[OPERAND_MBARRIER]) ||
                   !multicast_mask(l, i, 3, &aux, &registers[OPERAND_MASK]))) {
        return LOWER_REFUSED;
    }
    add_copy_step(l, i, step_tensor, registers, &at, aux);
    return LOWER_DONE;
}

static bool value_exists(const struct ptx_instruction *i, enum ptx_type type) {
    unsigned bytes = ptx_type_bytes(type), count = i->vector ? i->vector : 1;
    bool place = i->space_count == 0 ||
                 (i->space_count == 1 && i->spaces[0] == PTX_SHARED_CLUSTER);
    return place && (bytes == 4 || bytes == 8) && bytes * count <= 16 &&
           ptx_has(i, PTX_M_MBARRIER_COMPLETE_TX_BYTES);
}

static enum lower_answer lower_value(struct lowering *l,
                                     const struct ptx_instruction *i) {
    uint32_t aux = AUX_TO_SHARED, registers[8] = {0};
    enum ptx_type type = i->type_count == 1 ? (enum ptx_type)i->types[0] : PTX_NONE;
    const struct ptx_operand *value = lower_operand(l, i, 1);
    enum ptx_space space = i->space_count ? PTX_SHARED_CLUSTER : PTX_GENERIC;
    bool is_vector = value->kind == PTX_OPERAND_VECTOR;
    struct vector_registers v = {.count = i->vector ? i->vector : 1,
                                 .bytes = (uint8_t)ptx_type_bytes(type)};
    if (i->operand_count != 3 || !value_exists(i, type) || !reduction(i, true, &aux) ||
        (is_vector ? value->count : 1) != v.count) {
        return LOWER_REFUSED;
    }
    for (unsigned k = 0; k < v.count; k++) {
        const struct ptx_operand *e = is_vector ? lower_element(l, value, k) : value;
        v.registers[k] = lower_source(l, i, e, v.bytes, type);
    }
    if (!address_register(l, i, 0, space, &registers[OPERAND_TO]) ||
        !address_register(l, i, 2, space, &registers[OPERAND_MBARRIER])) {
        return LOWER_REFUSED;
    }
    aux |= space == PTX_GENERIC ? AUX_GENERIC : 0;
    add_copy_step(l, i, step_value, registers, &v, aux);
    return LOWER_DONE;
}

static enum lower_answer lower_group(struct lowering *l,
                                     const struct ptx_instruction *i) {
    if (ptx_has(i, PTX_M_COMMIT_GROUP)) {
        lower_step(l, i, step_commit, true);
        return LOWER_DONE;
    }
    const struct ptx_operand *n = i->operand_count ? lower_operand(l, i, 0) : NULL;
    if (!n || n->kind != PTX_OPERAND_IMMEDIATE || n->bits >= UINT32_MAX) {
        return LOWER_REFUSED;
    }
    lower_step(l, i, step_wait_group, true)->aux = (uint32_t)n->bits;
    return LOWER_DONE;
}

enum lower_answer lower_bulk_copy(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode == PTX_OP_FENCE && ptx_has(i, PTX_M_PROXY) &&
        (ptx_has(i, PTX_M_ASYNC) || ptx_has(i, PTX_M_ASYNC_GENERIC)) &&
        !(i->space_count == 1 && i->spaces[0] == PTX_GLOBAL)) {
        lower_step(l, i, step_proxy_fence, false);
        return LOWER_DONE;
    }
    bool value = i->opcode == PTX_OP_ST || i->opcode == PTX_OP_RED;
    if (value && ptx_has(i, PTX_M_ASYNC)) {
        return lower_value(l, i);
    }
    if (i->opcode != PTX_OP_CP || !ptx_has(i, PTX_M_BULK)) {
        return LOWER_NOT_MINE;
    }
    if (has_strange_words(i)) {
        return LOWER_REFUSED;
    }
    if (ptx_has(i, PTX_M_COMMIT_GROUP) || ptx_has(i, PTX_M_WAIT_GROUP)) {
        return lower_group(l, i);
    }
    if (ptx_has(i, PTX_M_PREFETCH)) { /* a hint */
        lower_step(l, i, step_nothing, false);
        return LOWER_DONE;
    }
    return ptx_has(i, PTX_M_TENSOR) ? lower_tensor(l, i) : lower_bulk(l, i);
}
