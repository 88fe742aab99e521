#pragma once
/* ptx_legality: the rules that every instruction of a module meets, so that what runs it
 * may take operands by their position. The verdicts follow ptxas 13.0 where it was asked
 * (tests/kernels/ptx/legality.txt).
 *
 * Internal to the reader; module.h says what is promised. */
#include "gpu/ptx/read/ptx_reader.h"

struct ptx_check {
    struct ptx_reader *r;
    struct ptx_instruction *i;
    struct ptx_operand *operands; /* of the instruction */
};

/* ---- ptx_legality_operand.c ---- */

/* "operand 2 of 'add.s32' is no register": false. number is 0-based; -1 = none. */
bool ptx_refuse(const struct ptx_check *c, int number, const char *what);

bool ptx_is_packed(enum ptx_type t); /* several values in a register */
enum ptx_type ptx_register_type(const struct ptx_check *c, const struct ptx_operand *o);
/* A register (or `_` when `sink`) that t can be written to. */
bool ptx_check_destination(const struct ptx_check *c, int number,
                           const struct ptx_operand *o, enum ptx_type t, bool sink);
/* A register or constant of type t; a constant's bits become those of t. */
bool ptx_check_source(const struct ptx_check *c, int number, struct ptx_operand *o,
                      enum ptx_type t);
/* A vector of `count` such elements. */
bool ptx_check_vector(const struct ptx_check *c, int number, enum ptx_type t,
                      unsigned count, bool destination);
struct ptx_operand *ptx_elements_of(const struct ptx_check *c,
                                    const struct ptx_operand *vector);

/* ---- kinds of instructions with rules of their own ---- */

bool ptx_check_call(const struct ptx_check *c);   /* ptx_legality_call.c */
bool ptx_check_move(const struct ptx_check *c);   /* mov, ptx_legality_move.c */
bool ptx_check_matrix(const struct ptx_check *c); /* mma, wmma.mma, wgmma, fragments */
