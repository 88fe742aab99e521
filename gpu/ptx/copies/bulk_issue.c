/* bulk_issue: cp.async.bulk and its kin when a thread issues them. */
#include "gpu/ptx/copies/bulk_issue.h"
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/atomics.h"
#include "gpu/ptx/copies/bulk_bytes.h"
#include "gpu/ptx/copies/im2col.h"
#include "gpu/ptx/copies/mbarrier.h"
#include "gpu/ptx/copies/tensor_map.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

static uint64_t operand(struct warp *w, const struct step *s, unsigned lane, unsigned k) {
    uint32_t at = w->processor->run->program->vectors[s->extra].registers[k];
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
    run_fault(w->processor->run);
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

/* The engine may not see the threads' writes yet. */
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
             "The mask of a multicast names blocks that the cluster does not have, or "
             "none",
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
             "The size of a bulk copy is not a multiple of 16 bytes", size);
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

/* CUTLASS's epilogues have a whole warp issue each store, which the device does once:
 * equal stores of one instruction are the first lane's. Reductions are not, nor loads,
 * whose bytes an mbarrier counts. */
static bool repeats(struct warp *w, const struct step *s, unsigned lane, unsigned first,
                    bool sized) {
    return lane != first && !(s->aux & AUX_TO_SHARED) &&
           AUX_OPERATION(s->aux) == BULK_NO_OPERATION &&
           operand(w, s, lane, OPERAND_TO) == operand(w, s, first, OPERAND_TO) &&
           operand(w, s, lane, OPERAND_FROM) == operand(w, s, first, OPERAND_FROM) &&
           (!sized ||
            operand(w, s, lane, OPERAND_SIZE) == operand(w, s, first, OPERAND_SIZE));
}

void step_bulk(struct warp *w, const struct step *s, uint32_t mask) {
    unsigned first = mask ? (unsigned)__builtin_ctz(mask) : 0;
    bits_each(lane, mask) {
        if (s->aux & AUX_TO_SHARED) {
            lane_load(w, s, lane);
        } else if (!repeats(w, s, lane, first, true)) {
            lane_store(w, s, lane);
        }
    }
}

/* ---- tensors ---- */

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
                 "This reduction does not exist for the tensor map's element type",
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

/* The map and the lane's places in it; false after a finding. */
static bool tensor_of(struct warp *w, const struct step *s, unsigned lane,
                      struct tensor_copy *ret) {
    bool load = s->aux & AUX_TO_SHARED;
    const struct vector_registers *v = &w->processor->run->program->vectors[s->extra + 1];
    uint64_t map = operand(w, s, lane, load ? OPERAND_FROM : OPERAND_TO);
    if (!tensor_map_at(w, s, lane, map, &ret->map)) {
        return false;
    }
    if (ret->map.im2col != !!(s->aux & AUX_IM2COL)) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             ret->map.im2col
                 ? "The tensor map is one for im2col mode, the instruction is "
                   "not; pixels of the map"
                 : "The instruction is one of im2col mode, the tensor map is "
                   "one for tiles; its dimensions",
             ret->map.im2col ? ret->map.pixels : ret->map.rank);
        return false;
    }
    for (unsigned d = 0; d < s->vector; d++) {
        ret->at[d] = LANES(const int32_t, w, v->registers[d])[lane];
    }
    for (unsigned d = 0; load && ret->map.im2col && d < s->vector - 2u; d++) {
        ret->offsets[d] = LANES(const uint16_t, w, v[1].registers[d])[lane];
    }
    return !ret->map.im2col || im2col_check(w, s, lane, ret, !load);
}

/* A tile or im2col store, to the same place of the same tensor. */
static bool repeats_tensor(struct warp *w, const struct step *s, unsigned lane,
                           unsigned first) {
    const struct vector_registers *v = &w->processor->run->program->vectors[s->extra + 1];
    bool same = repeats(w, s, lane, first, false);
    for (unsigned d = 0; same && d < s->vector; d++) {
        const int32_t *at = LANES(const int32_t, w, v->registers[d]);
        same = at[lane] == at[first];
    }
    return same;
}

void step_bulk_tensor(struct warp *w, const struct step *s, uint32_t mask) {
    bool load = s->aux & AUX_TO_SHARED;
    unsigned first = mask ? (unsigned)__builtin_ctz(mask) : 0;
    bits_each(lane, mask) {
        struct tensor_copy t = {0};
        if (repeats_tensor(w, s, lane, first)) {
            continue;
        }
        if (!tensor_of(w, s, lane, &t)) {
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

void step_bulk_value(struct warp *w, const struct step *s, uint32_t mask) {
    const struct vector_registers *v = &w->processor->run->program->vectors[s->extra + 1];
    bits_each(lane, mask) {
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

void step_bulk_commit(struct warp *w, const struct step *, uint32_t mask) {
    bits_each(lane, mask) {
        w->bulk_groups[lane]++;
    }
}

/* aux: groups that may stay away. */
void step_bulk_wait(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t limit[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        limit[l] = w->bulk_groups[l] > s->aux ? w->bulk_groups[l] - s->aux : 0;
    }
    bulk_deliver_groups(w, mask, limit);
}

void step_proxy_fence(struct warp *w, const struct step *, uint32_t mask) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    proxy_fence(w, mask);
}
