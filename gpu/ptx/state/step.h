#pragma once
/* step: one instruction prepared to run, and the warp it runs on.
 *
 * Registers are in an arena, structure of arrays: a register of N bytes is 32 lanes of N
 * bytes, lane 0 first, 64-byte aligned; a predicate is one uint32_t, bit l for lane l.
 * Immediates are broadcast into constant registers of the same arena when the code is
 * lowered, special registers are filled when a block or warp starts, so a handler only
 * needs offsets.
 *
 * A handler runs one step for the lanes in `mask` (never 0) and does not change other
 * lanes. Full masks (~0u) are the common case and must be a plain loop over 32 lanes that
 * the compiler vectorises. Handlers never divide, shift or convert in a way that traps or
 * is undefined, whatever values the inactive lanes have.
 *
 * Handlers of arithmetic (alu_*.c) only access warp->regs; they are compiled several
 * times for different vector extensions (lanes.h). */
#include "gpu/ptx/read/module.h"

struct warp;
struct step;
typedef void step_run(struct warp *warp, const struct step *step, uint32_t mask);

struct step {
    step_run *run;
    uint32_t dst;    /* byte offset in the arena; of a predicate result too */
    uint32_t dst2;   /* second result (carry lives in the warp; `p|q`, shfl's predicate);
                        STEP_NO_REGISTER when absent or sunk */
    uint32_t src[4]; /* likewise; of a predicate source the offset of its uint32_t */
    int32_t guard;   /* offset of the guard's predicate, -1 = none */
    uint8_t guard_negated;
    uint8_t src_negated;  /* bit i: predicate source i is !p */
    uint8_t vector;       /* 1, 2, 4, 8 */
    uint8_t bytes;        /* of one element of a memory access */
    uint32_t aux;         /* the handler's: lop3 table, bfe …, small immediates */
    uint32_t target;      /* step index of a branch */
    int64_t offset;       /* of an address */
    uint32_t instruction; /* index in the function's code */
    uint32_t extra;       /* index of further data (vector registers, call) */
};
#define STEP_NO_REGISTER UINT32_MAX

/* The part of a warp that arithmetic may access; the machine's struct warp begins with
 * it. */
struct warp_head {
    uint8_t *regs;             /* the current frame's arena */
    uint32_t carry;            /* CC.CF, a bit per lane */
    const uint32_t *lane_mask; /* 32 words, 0 or ~0, for the mask of the running step when
                                  it is not full */
};
#define WARP_HEAD(warp) ((struct warp_head *)(warp))
#define LANES(type, warp, offset)                                                        \
    ((type *)__builtin_assume_aligned(WARP_HEAD(warp)->regs + (offset), 64))

/* The numbers of the bits that are set in a mask: of lanes in a warp, of warps in a
 * block. `k` is declared for the loop only. */
#define bits_each(k, mask)                                                               \
    for (uint32_t k##_left = (mask), k;                                                  \
         k##_left && (k = (uint32_t)__builtin_ctz(k##_left), true);                      \
         k##_left &= k##_left - 1)
