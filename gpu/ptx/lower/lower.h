#pragma once
/* lower: helpers to lower families of instructions to steps: operands, addresses,
 * constants, and the tables that steps refer to. machine/lower_program.c lists the
 * families. */
#include "base/json.h"
#include "gpu/ptx/state/program.h"

struct allocation;

enum lower_answer { LOWER_NOT_MINE, LOWER_DONE, LOWER_REFUSED };
struct lowering;
/* A family of instructions, lower_<family>: LOWER_NOT_MINE, LOWER_DONE with its steps
 * added, or LOWER_REFUSED for a known instruction that cannot run. */
typedef enum lower_answer lower_family(struct lowering *l,
                                       const struct ptx_instruction *i);

struct lowering {
    struct program *program;
    const struct ptx_module *module;
    struct allocation **variables; /* by variable: of global and constant ones, or NULL */
    struct code *code;
    const struct ptx_function *function;
    uint32_t index;      /* of the instruction */
    uint32_t *registers; /* offsets, by register */
    uint32_t *starts;    /* first step, by instruction */
    uint32_t *areas;     /* parameter areas, by variable; STEP_NO_REGISTER */
    uint32_t top;        /* of the arena */
    uint32_t step_room;
    struct lower_constant {
        uint64_t value;
        uint32_t bytes, offset;
    } * constants; /* hash table, open addressing; bytes + 1 = 0: free */
    uint32_t constant_count, constant_room;
    uint32_t specials[PTX_SPECIALS]; /* offset + 1 */
    uint32_t temporaries[5][16];     /* by log2 of bytes; offset + 1 */
    uint8_t temporary_used[5];
    struct {
        uint32_t from, to;
        uint8_t from_bytes, to_bytes;
        bool is_signed;
    } widen[8];
    uint8_t widen_count;
    bool *early; /* by instruction, or NULL: wgmma_early */
    bool failed; /* the instruction cannot run */
};

/* The kth operand, and the kth element of a vector operand. */
static inline const struct ptx_operand *
lower_operand(const struct lowering *l, const struct ptx_instruction *i, unsigned k) {
    return &l->function->operands[i->operands + k];
}
static inline const struct ptx_operand *
lower_element(const struct lowering *l, const struct ptx_operand *vector, unsigned k) {
    return &l->function->elements[vector->first + k];
}

/* Adds a step with the instruction's guard; valid until the next is added. lane_wise: the
 * lanes do not interact. */
struct step *lower_step(struct lowering *l, const struct ptx_instruction *i,
                        step_run *run, bool lane_wise);
/* The arena offset of a register with the operand's value in exactly `bytes` per lane (0:
 * predicate); adds steps that narrow it. Sets l->failed if that is impossible. */
uint32_t lower_source(struct lowering *l, const struct ptx_instruction *i,
                      const struct ptx_operand *o, unsigned bytes, enum ptx_type type);
/* Of a register of 8 bytes per lane the low 4, with their sign. */
uint32_t lower_low_half(struct lowering *l, const struct ptx_instruction *i,
                        const struct ptx_operand *o);
/* The arena offset for a result of `bytes`; lower_finish widens it if the register is
 * wider. */
uint32_t lower_result(struct lowering *l, const struct ptx_operand *o, unsigned bytes,
                      bool is_signed);
void lower_finish(struct lowering *l, const struct ptx_instruction *i);
uint32_t lower_constant(struct lowering *l, uint64_t value, unsigned bytes);
uint32_t lower_temporary(struct lowering *l, unsigned bytes);
uint32_t lower_arena(struct lowering *l, uint64_t bytes); /* 64-byte aligned */
/* Bytes per lane of a register operand, 0 for a predicate. */
unsigned lower_register_bytes(const struct lowering *l, uint32_t index);
/* The address of a variable in its own space. false: it has none. */
bool lower_variable_address(const struct lowering *l, uint32_t variable, uint64_t *ret);
/* An address operand's register (a constant if it has none) and offset. */
bool lower_address(struct lowering *l, const struct ptx_instruction *i,
                   const struct ptx_operand *o, enum ptx_space space, uint32_t *ret_base,
                   int64_t *ret_offset);
/* The final address of operand k as a register of 8 bytes per lane. */
bool lower_address_register(struct lowering *l, const struct ptx_instruction *i,
                            unsigned k, enum ptx_space space, uint32_t *ret);
uint32_t lower_add_access(struct lowering *l, const struct access *a);
uint32_t lower_add_image(struct lowering *l, const struct image_access *x);
uint32_t lower_add_vector(struct lowering *l, const struct vector_registers *v);
uint32_t lower_add_call(struct lowering *l, const struct call_site *c);
uint32_t lower_add_table(struct lowering *l, const struct branch_table *t);
bool lower_is_register_read(const struct lowering *l, const struct ptx_operand *o);

/* Per register of the function: whether some path reads it before writing it. Only these
 * need poison. Freed by the caller. */
bool *lower_unwritten(const struct ptx_function *f);

/* Whether the basic block ends after this instruction. */
bool lower_ends_block(const struct ptx_instruction *i);
/* Starts a basic block here; returns its index in program->blocks. */
uint32_t lower_add_block(struct lowering *l);

/* The widths of a step that converts a register's width; false: it is another step. */
bool lower_is_copy(const struct step *s, unsigned *ret_from, unsigned *ret_to,
                   bool *ret_signed);

/* Handlers shared by the families. */
step_run step_nothing;
/* dst = src[0] + offset, of addresses. */
step_run step_add_offset;
