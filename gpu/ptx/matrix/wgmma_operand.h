#pragma once
/* wgmma_operand: factors of wgmma in shared memory (PTX ISA, "Matrix descriptor"). */
#include "gpu/ptx/state/race_copy.h"
#include "gpu/ptx/state/warp.h"

#define ROW_BYTES 32 /* of a dense factor: k always has this size */

struct wgmma_operand {
    uint64_t start, lead, stride; /* bytes */
    unsigned base;                /* of the pattern, in 128 bytes */
    unsigned swizzle;             /* 16-byte pieces that are exchanged: 1, 2, 4 or 8 */
    unsigned rows;                /* of m or n */
    unsigned first;               /* row */
    bool transposed;              /* rows run along memory, not k */
    unsigned doubled;             /* 1: rows of 64 bytes of k, of a sparse product */
};

/* rows: of m or n, starting with row `first` of the matrix. */
struct wgmma_operand wgmma_operand_of(uint64_t descriptor, unsigned first, unsigned rows,
                                      bool transposed);
/* A checksum of its current contents; bytes outside shared memory are ignored. */
uint64_t wgmma_operand_sum(const struct block *b, const struct wgmma_operand *o);
/* Copies it to rows of packed elements and returns the checksum. race: the reader, until
 * a warp has waited (race.h). */
uint64_t wgmma_operand_take(struct warp *w, const struct step *s,
                            const struct wgmma_operand *o, struct race_copy race,
                            uint8_t *to);
