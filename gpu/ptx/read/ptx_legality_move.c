/* mov: between registers of one width, from names and special registers, and between a
 * register and the elements that it is made of. */
#include "base/find.h"
#include "gpu/ptx/read/ptx_legality.h"

static bool is_wide_special(uint32_t special) {
    return special == PTX_SR_CLOCK64 || special == PTX_SR_GLOBALTIMER ||
           special == PTX_SR_GRIDID || special == PTX_SR_CURRENT_GRAPH_EXEC ||
           (special >= PTX_SR_PM0_64 && special <= PTX_SR_PM7_64);
}

/* %tid and its like were 16 bits once, and may still be read as such; %gridid was 32. */
static bool special_fits(uint32_t special, enum ptx_type t) {
    unsigned bytes = ptx_type_bytes(t);
    if (ptx_type_float(t)) {
        return false;
    }
    if (special == PTX_SR_IS_EXPLICIT_CLUSTER) {
        return t == PTX_PRED;
    }
    if (special == PTX_SR_GRIDID) {
        return bytes == 4 || bytes == 8;
    }
    return is_wide_special(special) ? bytes == 8 : bytes == 4 || bytes == 2;
}

static bool check_scalar(const struct ptx_check *c, int number, struct ptx_operand *o,
                         enum ptx_type t) {
    switch (o->kind) {
    case PTX_OPERAND_SPECIAL:
        return special_fits(o->index, t) ||
               ptx_refuse(c, number, "is a special register of another size");
    case PTX_OPERAND_SYMBOL:
    case PTX_OPERAND_FUNCTION:
        return (ptx_type_bytes(t) >= (o->kind == PTX_OPERAND_FUNCTION ? 8 : 4) &&
                !ptx_type_float(t)) ||
               ptx_refuse(c, number, "does not fit an address");
    default:
        return ptx_check_source(c, number, o, t);
    }
}

/* mov.b64 {a, b}, c and mov.b64 c, {a, b}: elements of one width, together that of t. */
static bool check_elements(const struct ptx_check *c, int number, enum ptx_type t) {
    static const enum ptx_type by_bytes[] = {
        [1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32, [8] = PTX_B64};
    const struct ptx_operand *o = &c->operands[number];
    unsigned bytes = o->count ? ptx_type_bytes(t) / o->count : 0;
    if (t < PTX_B8 || t > PTX_B128 || o->count < 2 ||
        bytes * o->count != ptx_type_bytes(t) || bytes > 8 || (bytes & (bytes - 1))) {
        return ptx_refuse(c, number, "is not a vector that makes up the type");
    }
    return ptx_check_vector(c, number, by_bytes[bytes], o->count, number == 0);
}

/* mov.v4.u32 {a, b, c, d}, %tid */
static bool check_whole(const struct ptx_check *c, enum ptx_type t) {
    if (!ptx_check_vector(c, 0, t, c->i->vector, true) ||
        c->operands[1].kind != PTX_OPERAND_VECTOR ||
        c->operands[1].count != c->i->vector) {
        return ptx_refuse(c, -1, "needs two vectors of that size");
    }
    struct ptx_operand *elements = ptx_elements_of(c, &c->operands[1]);
    return all_of(k, 0, c->operands[1].count, check_scalar(c, 1, &elements[k], t));
}

bool ptx_check_move(const struct ptx_check *c) {
    const struct ptx_instruction *i = c->i;
    if (i->operand_count != 2 || i->type_count != 1 || i->has_pair) {
        return ptx_refuse(c, -1, "needs a type, a destination and a source");
    }
    enum ptx_type t = i->types[0];
    if (i->vector > 1) {
        return check_whole(c, t);
    }
    if (c->operands[0].kind == PTX_OPERAND_VECTOR) {
        return check_elements(c, 0, t) && ptx_check_source(c, 1, &c->operands[1], t);
    }
    if (!ptx_check_destination(c, 0, &c->operands[0], t, false)) {
        return false;
    }
    return c->operands[1].kind == PTX_OPERAND_VECTOR
               ? check_elements(c, 1, t)
               : check_scalar(c, 1, &c->operands[1], t);
}
