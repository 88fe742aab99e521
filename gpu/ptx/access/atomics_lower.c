/* The lowering of atom and red: which there are, and their operands. */
#include "gpu/ptx/access/atomics.h"
#include "gpu/ptx/race/race.h"

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
