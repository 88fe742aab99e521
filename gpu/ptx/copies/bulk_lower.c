/* cp.async.bulk and its kin become steps. */
#include "gpu/ptx/access/atomics.h"
#include "gpu/ptx/copies/bulk_issue.h"
#include "gpu/ptx/copies/copies_lower.h"

static bool is_shared(enum ptx_space space) {
    return space == PTX_SHARED || space == PTX_SHARED_CLUSTER;
}

/* Modifiers that sm_90 or this machine lacks. */
static bool has_strange_words(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_IM2COL_W) || ptx_has(i, PTX_M_IM2COL_W_128) ||
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
    if (!lower_address_register(l, i, 0, to, &registers[OPERAND_TO]) ||
        !lower_address_register(l, i, 1, from, &registers[OPERAND_FROM]) ||
        (load &&
         (i->operand_count < 4 ||
          !lower_address_register(l, i, 3, PTX_SHARED, &registers[OPERAND_MBARRIER]) ||
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

/* .im2col of a load: one operand more, its offsets; .im2col_no_offs of a store. */
static bool im2col_offsets(struct lowering *l, const struct ptx_instruction *i,
                           bool store, uint32_t *aux, struct vector_registers *ret) {
    bool offsets = ptx_has(i, PTX_M_IM2COL);
    if (!offsets && !ptx_has(i, PTX_M_IM2COL_NO_OFFS)) {
        return true;
    }
    unsigned rank = dimensions(i);
    *aux |= AUX_IM2COL;
    if (rank < 3 || offsets == store) {
        return false;
    }
    const struct ptx_operand *o = offsets ? lower_operand(l, i, 3) : NULL;
    if (o &&
        (i->operand_count < 4 || o->kind != PTX_OPERAND_VECTOR || o->count != rank - 2)) {
        return false;
    }
    ret->count = o ? (uint8_t)(rank - 2) : 1;
    for (unsigned d = 0; o && d < rank - 2; d++) {
        ret->registers[d] = lower_source(l, i, lower_element(l, o, d), 2, PTX_U16);
    }
    return !l->failed;
}

static enum lower_answer lower_tensor(struct lowering *l,
                                      const struct ptx_instruction *i) {
    bool store = ptx_has(i, PTX_M_BULK_GROUP);
    uint32_t aux = store ? AUX_FROM_SHARED : AUX_TO_SHARED, registers[8] = {0};
    struct vector_registers at = {.bytes = 4}, offsets = {.bytes = 2, .count = 1};
    unsigned map = store ? 0 : 1, shared = store ? 1 : 0;
    unsigned mask = ptx_has(i, PTX_M_IM2COL) ? 4 : 3;
    if (i->space_count != 2 || i->operand_count < (store ? 2u : 3u) ||
        !reduction(i, false, &aux) || !is_shared((enum ptx_space)i->spaces[shared]) ||
        i->spaces[map] != PTX_GLOBAL ||
        !coordinates(l, i, lower_operand(l, i, map), &at) ||
        !im2col_offsets(l, i, store, &aux, &offsets)) {
        return LOWER_REFUSED;
    }
    if (!lower_address_register(l, i, map, PTX_GENERIC,
                                &registers[store ? OPERAND_TO : OPERAND_FROM]) ||
        !lower_address_register(l, i, shared, PTX_SHARED,
                                &registers[store ? OPERAND_FROM : OPERAND_TO])) {
        return LOWER_REFUSED;
    }
    if (!store &&
        (!lower_address_register(l, i, 2, PTX_SHARED, &registers[OPERAND_MBARRIER]) ||
         !multicast_mask(l, i, mask, &aux, &registers[OPERAND_MASK]))) {
        return LOWER_REFUSED;
    }
    add_copy_step(l, i, step_bulk_tensor, registers, &at, aux);
    lower_add_vector(l, &offsets);
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
    if (!lower_address_register(l, i, 0, space, &registers[OPERAND_TO]) ||
        !lower_address_register(l, i, 2, space, &registers[OPERAND_MBARRIER])) {
        return LOWER_REFUSED;
    }
    aux |= space == PTX_GENERIC ? AUX_GENERIC : 0;
    add_copy_step(l, i, step_bulk_value, registers, &v, aux);
    return LOWER_DONE;
}

static enum lower_answer lower_group(struct lowering *l,
                                     const struct ptx_instruction *i) {
    if (ptx_has(i, PTX_M_COMMIT_GROUP)) {
        lower_step(l, i, step_bulk_commit, true);
        return LOWER_DONE;
    }
    const struct ptx_operand *n = i->operand_count ? lower_operand(l, i, 0) : NULL;
    if (!n || n->kind != PTX_OPERAND_IMMEDIATE || n->bits >= UINT32_MAX) {
        return LOWER_REFUSED;
    }
    lower_step(l, i, step_bulk_wait, true)->aux = (uint32_t)n->bits;
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
