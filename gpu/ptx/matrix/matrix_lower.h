#pragma once
/* matrix_lower: what the lowerings of matrix instructions share. */
#include "gpu/ptx/lower/lower.h"
#include "gpu/ptx/matrix/matrix.h"

/* Adds the registers of a vector operand (or of one register) to m's. */
struct matrix_registers lower_fragment(struct lowering *l,
                                       const struct ptx_instruction *i, struct matrix *m,
                                       const struct ptx_operand *o, unsigned bytes,
                                       bool result);
/* Of a sparse product: operands `operand` (metadata) and the next one (the selector).
 * false: there are none such. */
bool lower_metadata(struct lowering *l, const struct ptx_instruction *i, struct matrix *m,
                    unsigned operand);
/* The step; m becomes the program's. */
struct step *lower_matrix_step(struct lowering *l, const struct ptx_instruction *i,
                               struct matrix *m);

/* The families. */
lower_family lower_matrix, lower_wgmma;
