/* Requirements on operands, and the messages of refusals. */
#include "gpu/ptx/read/ptx_legality.h"

bool ptx_refuse(const struct ptx_check *c, int number, const char *what) {
    const struct ptx_instruction *i = c->i;
    int len = i->spelling_len > 120 ? 120 : (int)i->spelling_len;
    const char *spelling = c->r->lexer.text + i->spelling;
    if (number < 0) {
        return ptx_fail_at(c->r, i->line, -EINVAL, "'%.*s' %s", len, spelling, what);
    }
    return ptx_fail_at(c->r, i->line, -EINVAL, "operand %d of '%.*s' %s", number + 1, len,
                       spelling, what);
}

static bool is_bits(enum ptx_type t) {
    return t >= PTX_B8 && t <= PTX_B128;
}

/* Types whose values are in registers of another type: packed ones, and formats that only
 * matrix instructions and cvt have. */
bool ptx_is_packed(enum ptx_type t) {
    return (t >= PTX_F16X2 && t <= PTX_S16X2) || t == PTX_TF32 ||
           (t >= PTX_E4M3 && t <= PTX_B1024);
}

/* A register of this type may hold a value of type t. relaxed: ld, st and cvt let a
 * register be wider. */
static bool ptx_register_fits(enum ptx_type reg, enum ptx_type t, bool relaxed) {
    unsigned have = ptx_type_bytes(reg), need = ptx_type_bytes(t);
    if (reg == PTX_PRED || t == PTX_PRED) {
        return reg == t;
    }
    if (need == 0 || have < need) {
        return false;
    }
    if (is_bits(reg)) {
        return have == need || relaxed;
    }
    if (ptx_is_packed(t)) {
        return reg == t || (have == need && !ptx_type_float(t) && !ptx_type_float(reg));
    }
    if (ptx_type_float(reg)) { /* of a wider float nothing can be a part */
        return have == need && (reg == t || is_bits(t));
    }
    return !ptx_type_float(t) && (have == need || relaxed);
}

static bool is_relaxed(const struct ptx_instruction *i) {
    return i->opcode == PTX_OP_LD || i->opcode == PTX_OP_ST || i->opcode == PTX_OP_CVT ||
           i->opcode == PTX_OP_LDU || i->opcode == PTX_OP_SULD ||
           i->opcode == PTX_OP_SUST;
}

enum ptx_type ptx_register_type(const struct ptx_check *c, const struct ptx_operand *o) {
    return ptx_current(c->r)->registers[o->index].type;
}

struct ptx_operand *ptx_elements_of(const struct ptx_check *c,
                                    const struct ptx_operand *vector) {
    return ptx_current(c->r)->elements + vector->first;
}

bool ptx_check_destination(const struct ptx_check *c, int number,
                           const struct ptx_operand *o, enum ptx_type t, bool sink) {
    if (o->kind == PTX_OPERAND_SINK) {
        return sink || ptx_refuse(c, number, "must be a register, not '_'");
    }
    if (o->kind != PTX_OPERAND_REGISTER || o->negated) {
        return ptx_refuse(c, number, "must be a register");
    }
    return ptx_register_fits(ptx_register_type(c, o), t, is_relaxed(c->i)) ||
           ptx_refuse(c, number, "is a register of another size or type");
}

static uint64_t double_bits(float value) {
    double wide = (double)value;
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return bits;
}

static uint32_t single_bits(uint64_t bits64) {
    double wide;
    memcpy(&wide, &bits64, sizeof wide);
    float value = (float)wide;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A float constant takes the width of its type; .b32 and .b64 take only their own. */
static bool fit_float(struct ptx_operand *o, enum ptx_type t) {
    if (t == PTX_F32 && o->is_double) {
        o->bits = single_bits(o->bits);
        o->is_double = false;
    } else if (t == PTX_F64 && !o->is_double) {
        uint32_t bits = (uint32_t)o->bits;
        float value;
        memcpy(&value, &bits, sizeof value);
        o->bits = double_bits(value);
        o->is_double = true;
    }
    return o->is_double ? t == PTX_F64 || t == PTX_B64 : t == PTX_F32 || t == PTX_B32;
}

static bool fit_immediate(struct ptx_operand *o, enum ptx_type t) {
    if (o->is_float) {
        return fit_float(o, t);
    }
    if (t == PTX_PRED) {
        o->bits = o->bits != 0;
        return true;
    }
    return !ptx_type_float(t) || ptx_is_packed(t);
}

bool ptx_check_source(const struct ptx_check *c, int number, struct ptx_operand *o,
                      enum ptx_type t) {
    if (o->kind == PTX_OPERAND_IMMEDIATE) {
        return fit_immediate(o, t) ||
               ptx_refuse(c, number,
                          ptx_type_float(t) && !o->is_float
                              ? "must be a float constant (0f…, 0d… or 1.0)"
                              : "is a constant of another type");
    }
    if (o->kind != PTX_OPERAND_REGISTER) {
        return ptx_refuse(c, number, "must be a register or a constant");
    }
    if (o->negated && t != PTX_PRED) {
        return ptx_refuse(c, number, "cannot be negated");
    }
    return ptx_register_fits(ptx_register_type(c, o), t, is_relaxed(c->i)) ||
           ptx_refuse(c, number, "is a register of another size or type");
}

bool ptx_check_vector(const struct ptx_check *c, int number, enum ptx_type t,
                      unsigned count, bool destination) {
    struct ptx_operand *o = &c->operands[number];
    if (o->kind != PTX_OPERAND_VECTOR || o->count != count) {
        return ptx_refuse(c, number, "is not a vector of that many elements");
    }
    struct ptx_operand *elements = ptx_elements_of(c, o);
    for (uint32_t k = 0; k < count; k++) {
        bool ok = destination ? ptx_check_destination(c, number, &elements[k], t, true)
                              : ptx_check_source(c, number, &elements[k], t);
        if (!ok) {
            return false;
        }
    }
    return true;
}
