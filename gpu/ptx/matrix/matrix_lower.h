#pragma once
/* matrix_lower: shared by the lowerings of matrix instructions. */
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/matrix/matrix.h"

/* Adds the registers of a vector operand (or of one register) to m's. */
struct matrix_registers lower_fragment(struct lowering *l,
                                       const struct ptx_instruction *i, struct matrix *m,
                                       const struct ptx_operand *o, unsigned bytes,
                                       bool result);
/* For a sparse product: operands `operand` (metadata) and the next one (the selector).
 * false: they are missing or invalid. */
bool lower_metadata(struct lowering *l, const struct ptx_instruction *i, struct matrix *m,
                    unsigned operand);
/* The step; the program takes ownership of m. */
struct step *lower_matrix_step(struct lowering *l, const struct ptx_instruction *i,
                               struct matrix *m);

/* The families. */
lower_family lower_matrix, lower_wgmma;
