#include "gpu/ptx/copies/tensor_map.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/access_fault.h"
#include "gpu/ptx/copies/copies_lower.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

/* step->aux of a replacement */
#define AUX_FIELD(aux) ((aux)&0xff)
#define AUX_ORDINAL(aux) ((aux) >> 8 & 0xff)
#define AUX_SHARED (1u << 16)

static void tell(struct warp *w, const struct step *s, unsigned lane,
                 enum finding_code code, const char *words, uint64_t number) {
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane}, code,
                "%s: %llu", words, (unsigned long long)number);
    run_fault(w->processor->run);
}

static void tell_misaligned(struct warp *w, const struct step *s, unsigned lane,
                            enum ptx_space space, uint64_t address, bool writes) {
    struct access_fault f = {.warp = w,
                             .step = s,
                             .lane = lane,
                             .space = space,
                             .address = address,
                             .bytes = TENSOR_BLOB_BYTES,
                             .writes = writes};
    access_fault_misaligned(&f, TENSOR_BLOB_ALIGN);
}

/* ---- using one ---- */

static bool in_params(uint64_t address) {
    return address - MEMORY_PARAM < MEMORY_WINDOW_BYTES;
}

static const uint8_t *param_bytes(struct warp *w, const struct step *s, unsigned lane,
                                  uint64_t address) {
    const struct run *run = w->processor->run;
    uint64_t offset = address - MEMORY_PARAM;
    if (offset < run->param_bytes && run->param_bytes - offset >= TENSOR_BLOB_BYTES) {
        return run->params + offset;
    }
    tell(w, s, lane, FINDING_OUT_OF_BOUNDS,
         "A tensor map behind the end of the parameters, at offset", offset);
    return NULL;
}

static struct access_range map_range(struct warp *w, const struct step *s, unsigned lane,
                                     uint64_t address, bool reads, bool writes) {
    return (struct access_range){.warp = w,
                                 .step = s,
                                 .lane = lane,
                                 .align = 1,
                                 .address = address,
                                 .bytes = TENSOR_BLOB_BYTES,
                                 .reads = reads,
                                 .writes = writes};
}

static uint8_t *global_bytes(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool reads, bool writes) {
    uint64_t offset;
    struct access_range r = map_range(w, s, lane, address, reads, writes);
    struct allocation *in = access_global_range(&r, &offset);
    if (in && writes && in->shadow) {
        access_shadow_set(in->shadow, offset, TENSOR_BLOB_BYTES);
    }
    return in ? in->host + offset : NULL;
}

static bool is_acquired(const struct block *b, uint64_t address, uint32_t change) {
    const struct tensor_maps *maps = &b->maps;
    for (uint32_t k = 0; k < TENSOR_MAPS_ACQUIRED && k < maps->count; k++) {
        if (maps->items[k].address == address && maps->items[k].change == change) {
            return true;
        }
    }
    return false;
}

/* Changes are counted within a launch, of which the upper bits tell. */
#define CHANGE_BITS 20
static bool is_of_launch(const struct run *run, uint32_t change) {
    return change && (change >> CHANGE_BITS) == (run->number & 0xfff);
}

static void check_acquired(struct warp *w, const struct step *s, unsigned lane,
                           uint64_t address, const struct tensor_blob *map) {
    if (is_of_launch(w->processor->run, map->change) &&
        !is_acquired(w->block, address, map->change)) {
        finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                    FINDING_MISSING_FENCE,
                    "This launch has changed the tensor map, and no thread of the block "
                    "has executed fence.proxy.tensormap::generic.acquire on it since");
    }
}

bool tensor_map_at(struct warp *w, const struct step *s, unsigned lane, uint64_t address,
                   struct tensor_blob *ret) {
    if (address % TENSOR_BLOB_ALIGN) {
        tell_misaligned(w, s, lane, in_params(address) ? PTX_PARAM : PTX_GLOBAL, address,
                        false);
        return false;
    }
    const uint8_t *bytes = in_params(address)
                               ? param_bytes(w, s, lane, address)
                               : global_bytes(w, s, lane, address, true, false);
    if (!bytes) {
        return false;
    }
    if (!tensor_blob_open(bytes, ret) || !ret->magic[0]) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "No tensor map (CUtensorMap, made by the host or by tensormap.replace) is "
             "at the address",
             address);
        return false;
    }
    if (!tensor_blob_is_sound(ret)) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "The tensor map's fields do not fit together (rank, box, element strides; "
             "rows of whole 16 bytes, as wide as the swizzle); bytes of a row of the box",
             tensor_blob_row_bytes(ret));
        return false;
    }
    if (ret->rank != s->vector) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "The instruction is one for another number of dimensions than the tensor "
             "map has",
             ret->rank);
        return false;
    }
    check_acquired(w, s, lane, address, ret);
    return true;
}

/* ---- changing one ---- */

enum field {
    FIELD_ADDRESS,
    FIELD_RANK,
    FIELD_BOX,
    FIELD_EXTENT,
    FIELD_STRIDE,
    FIELD_ELEMENT_STRIDE,
    FIELD_TYPE,
    FIELD_INTERLEAVE,
    FIELD_SWIZZLE,
    FIELD_FILL,
};

/* By the ISA's number of an element type, which are not the driver's. */
static const uint8_t types[] = {
    TENSOR_BLOB_U8,       TENSOR_BLOB_U16, TENSOR_BLOB_U32,  TENSOR_BLOB_S32,
    TENSOR_BLOB_U64,      TENSOR_BLOB_S64, TENSOR_BLOB_F16,  TENSOR_BLOB_F32,
    TENSOR_BLOB_F32_FTZ,  TENSOR_BLOB_F64, TENSOR_BLOB_BF16, TENSOR_BLOB_TF32,
    TENSOR_BLOB_TF32_FTZ,
};

/* The error in the value; NULL: none. */
static const char *field_set(struct tensor_blob *map, enum field f, unsigned ordinal,
                             uint64_t v) {
    switch (f) {
    case FIELD_ADDRESS:
        map->address = v;
        return v % 16 ? "global_address is not a multiple of 16" : NULL;
    case FIELD_RANK:
        map->rank = (uint8_t)(v + 1);
        return v > 4 ? "rank is one less than the number of dimensions, 0 to 4" : NULL;
    case FIELD_BOX:
        map->box[ordinal] = (uint16_t)v;
        return v < 1 || v > 256 ? "box_dim must be 1 to 256" : NULL;
    case FIELD_EXTENT:
        map->last[ordinal] = (uint32_t)v - 1;
        return NULL;
    case FIELD_STRIDE:
        map->strides[ordinal] = v;
        return v % 16 || v >> 40 ? "global_stride must be a multiple of 16 below 2^40"
                                 : NULL;
    case FIELD_ELEMENT_STRIDE:
        map->element_strides[ordinal] = (uint8_t)v;
        return v < 1 || v > 8 ? "element_stride must be 1 to 8" : NULL;
    case FIELD_TYPE:
        map->type = v < sizeof types ? types[v] : 0;
        return v < sizeof types ? NULL : "elemtype must be 0 to 12";
    case FIELD_INTERLEAVE:
        return v ? "interleave_layout: interleaved tensors are not run here" : NULL;
    case FIELD_SWIZZLE:
        map->swizzle = (uint8_t)v;
        return v > 3 ? "swizzle_mode must be 0 to 3" : NULL;
    default:
        map->fill_nan = v == 1;
        return v > 1 ? "fill_mode must be 0 or 1" : NULL;
    }
}

static uint32_t next_change(struct run *run) {
    uint32_t number = __atomic_add_fetch(&run->map_changes, 1, __ATOMIC_RELAXED);
    return (run->number & 0xfff) << CHANGE_BITS | (number & ((1u << CHANGE_BITS) - 1));
}

/* Its 128 bytes, to be read and written; NULL after a finding. */
static uint8_t *map_bytes(struct warp *w, const struct step *s, unsigned lane,
                          uint64_t address, bool shared, bool reads, bool writes) {
    uint64_t offset = 0;
    unsigned kind = writes ? RACE_WRITE : RACE_READ;
    if (!shared && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES) { /* generic */
        shared = true;
        address -= MEMORY_SHARED;
    }
    if (address % TENSOR_BLOB_ALIGN) {
        tell_misaligned(w, s, lane, shared ? PTX_SHARED : PTX_GLOBAL, address, writes);
        return NULL;
    }
    if (!shared) {
        race_touch(w, s, lane, NULL, address, TENSOR_BLOB_BYTES, kind);
        return global_bytes(w, s, lane, address, reads, writes);
    }
    struct access_range r = map_range(w, s, lane, address, reads, writes);
    struct block *b = access_shared_range(&r, false, &offset);
    if (!b) {
        return NULL;
    }
    race_touch(w, s, lane, b, offset, TENSOR_BLOB_BYTES, kind);
    if (writes && b->shared_shadow) {
        access_shadow_set(b->shared_shadow, offset, TENSOR_BLOB_BYTES);
        proxy_wrote(w, s, lane, b, offset, TENSOR_BLOB_BYTES);
    }
    return b->shared + offset;
}

static void lane_replace(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t address = LANES(const uint64_t, w, s->src[0])[lane];
    uint64_t value = s->bytes == 8 ? LANES(const uint64_t, w, s->src[1])[lane]
                                   : LANES(const uint32_t, w, s->src[1])[lane];
    uint8_t *at = map_bytes(w, s, lane, address, s->aux & AUX_SHARED, true, true);
    struct tensor_blob map;
    if (!at) {
        return;
    }
    if (!tensor_blob_open(at, &map)) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "tensormap.replace where neither a tensor map nor zeros are", address);
        return;
    }
    if (map.im2col) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
             "tensormap.replace.tile on a map for im2col mode; its pixels", map.pixels);
        return;
    }
    const char *wrong =
        field_set(&map, (enum field)AUX_FIELD(s->aux), AUX_ORDINAL(s->aux), value);
    if (wrong) {
        tell(w, s, lane, FINDING_INVALID_TENSOR_MAP, wrong, value);
    }
    map.change = next_change(w->processor->run);
    tensor_blob_seal(&map);
    memcpy(at, &map, sizeof map);
    w->block->changes++;
}

static void step_replace(struct warp *w, const struct step *s, uint32_t mask) {
    bits_each(lane, mask) {
        lane_replace(w, s, lane);
    }
}

/* tensormap.cp_fenceproxy: one copy by the whole warp, whose addresses are the same. */
static void step_copy_map(struct warp *w, const struct step *s, uint32_t mask) {
    const uint64_t *to = LANES(const uint64_t, w, s->src[0]);
    const uint64_t *from = LANES(const uint64_t, w, s->src[1]);
    unsigned lane = (unsigned)__builtin_ctz(mask);
    const uint8_t *source = map_bytes(w, s, lane, from[lane], true, true, false);
    uint8_t *target = map_bytes(w, s, lane, to[lane], false, false, true);
    if (w->live & ~mask) {
        finding_add(
            &(struct finding_place){.warp = w, .step = s, .lane = lane},
            FINDING_INVALID_MASK,
            "tensormap.cp_fenceproxy by the lanes 0x%08x: it is one for all lanes "
            "of the warp",
            mask);
    }
    bits_each(l, mask) {
        if (to[l] != to[lane] || from[l] != from[lane]) {
            tell(w, s, l, FINDING_INVALID_MASK,
                 "tensormap.cp_fenceproxy with other addresses than those of lane", lane);
            return;
        }
    }
    if (source && target) {
        memcpy(target, source, TENSOR_BLOB_BYTES);
        w->block->changes++;
    }
    race_fence(w, false);
}

/* ---- fence.proxy.tensormap::generic.acquire ---- */

static void acquire(struct block *b, uint64_t address, uint32_t change) {
    struct tensor_maps *maps = &b->maps;
    uint32_t k = maps->count++ % TENSOR_MAPS_ACQUIRED;
    maps->items[k].address = address;
    maps->items[k].change = change;
}

static void step_acquire_map(struct warp *w, const struct step *s, uint32_t mask) {
    const uint64_t *addresses = LANES(const uint64_t, w, s->src[0]);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    race_fence(w, false);
    warp_synced(w);
    bits_each(lane, mask) {
        uint64_t address = addresses[lane];
        struct tensor_blob map;
        const struct allocation *in = run_find(w->processor->run, address);
        bool here = in && !in->freed && in->bytes >= TENSOR_BLOB_BYTES &&
                    address - in->address <= in->bytes - TENSOR_BLOB_BYTES;
        if (here && tensor_blob_open(in->host + (address - in->address), &map) &&
            map.change && !is_acquired(w->block, address, map.change)) {
            acquire(w->block, address, map.change);
        }
    }
}

/* ---- lowering ---- */

static int field_of(const struct ptx_instruction *i) {
    static const enum ptx_modifier names[] = {
        [FIELD_ADDRESS] = PTX_M_GLOBAL_ADDRESS,
        [FIELD_RANK] = PTX_M_RANK,
        [FIELD_BOX] = PTX_M_BOX_DIM,
        [FIELD_EXTENT] = PTX_M_GLOBAL_DIM,
        [FIELD_STRIDE] = PTX_M_GLOBAL_STRIDE,
        [FIELD_ELEMENT_STRIDE] = PTX_M_ELEMENT_STRIDE,
        [FIELD_TYPE] = PTX_M_ELEMTYPE,
        [FIELD_INTERLEAVE] = PTX_M_INTERLEAVE_LAYOUT,
        [FIELD_SWIZZLE] = PTX_M_SWIZZLE_MODE,
        [FIELD_FILL] = PTX_M_FILL_MODE,
    };
    for (unsigned k = 0; k < ARRAY_LEN(names); k++) {
        if (ptx_has(i, names[k])) {
            return (int)k;
        }
    }
    return -1;
}

static bool has_ordinal(int field) {
    return field >= FIELD_BOX && field <= FIELD_ELEMENT_STRIDE;
}

static enum lower_answer lower_replace(struct lowering *l,
                                       const struct ptx_instruction *i) {
    int field = field_of(i);
    unsigned count = has_ordinal(field) ? 3 : 2;
    enum ptx_space space = i->space_count ? (enum ptx_space)i->spaces[0] : PTX_GENERIC;
    bool wide = field == FIELD_ADDRESS || field == FIELD_STRIDE;
    uint32_t address, ordinal = 0;
    if (field < 0 || i->operand_count != count || i->space_count > 1 ||
        space == PTX_SHARED_CLUSTER || !ptx_has(i, PTX_M_TILE)) {
        return LOWER_REFUSED;
    }
    if (has_ordinal(field)) {
        const struct ptx_operand *o = lower_operand(l, i, 1);
        unsigned most = TENSOR_BLOB_RANK - (field == FIELD_STRIDE);
        if (o->kind != PTX_OPERAND_IMMEDIATE || o->bits >= most) {
            return LOWER_REFUSED;
        }
        ordinal = (uint32_t)o->bits;
    }
    if (!lower_address_register(l, i, 0, space, &address)) {
        return LOWER_REFUSED;
    }
    uint32_t value = lower_source(l, i, lower_operand(l, i, count - 1), wide ? 8 : 4,
                                  wide ? PTX_B64 : PTX_B32);
    struct step *s = lower_step(l, i, step_replace, true);
    s->src[0] = address;
    s->src[1] = value;
    s->bytes = wide ? 8 : 4;
    s->aux = (uint32_t)field | ordinal << 8 | (space == PTX_SHARED ? AUX_SHARED : 0);
    return LOWER_DONE;
}

static enum lower_answer lower_copy_map(struct lowering *l,
                                        const struct ptx_instruction *i) {
    uint32_t to, from;
    if (i->space_count != 2 || i->spaces[0] != PTX_GLOBAL || i->spaces[1] != PTX_SHARED ||
        !lower_address_register(l, i, 0, PTX_GLOBAL, &to) ||
        !lower_address_register(l, i, 1, PTX_SHARED, &from)) {
        return LOWER_REFUSED;
    }
    struct step *s = lower_step(l, i, step_copy_map, false);
    s->src[0] = to;
    s->src[1] = from;
    return LOWER_DONE;
}

static enum lower_answer lower_acquire(struct lowering *l,
                                       const struct ptx_instruction *i) {
    uint32_t address;
    if (!lower_address_register(l, i, 0, PTX_GENERIC, &address)) {
        return LOWER_REFUSED;
    }
    lower_step(l, i, step_acquire_map, true)->src[0] = address;
    return LOWER_DONE;
}

enum lower_answer lower_tensor_map(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode == PTX_OP_FENCE && ptx_has(i, PTX_M_TENSORMAP_GENERIC) &&
        ptx_has(i, PTX_M_ACQUIRE) && i->operand_count == 2) {
        return lower_acquire(l, i);
    }
    if (i->opcode != PTX_OP_TENSORMAP) {
        return LOWER_NOT_MINE;
    }
    return ptx_has(i, PTX_M_CP_FENCEPROXY) ? lower_copy_map(l, i) : lower_replace(l, i);
}
