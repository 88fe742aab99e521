#pragma once
/* alu_room: one instruction of arithmetic, bound from its spelling and run on a warp.
 *
 * Registers are 16 bytes a lane apart from each other's: source k of a lane is written
 * and the result read as 64-bit words, whatever their width; predicates as 0 or 1. */
#include "gpu/ptx/alu/bind.h"

#include <stdbool.h>
#include <stdint.h>

#define ALU_LANES 32
#define ALU_SOURCES 4

struct alu_room {
    struct ptx_instruction instruction;
    struct step step;
    step_run *run;        /* NULL: refused */
    unsigned sources;     /* without the pair's second result */
    uint8_t result_bytes; /* 0: predicate */
    uint8_t source_bytes[ALU_SOURCES];
    uint32_t carry; /* before and after a run */
    uint64_t in[ALU_SOURCES][ALU_LANES];
    uint64_t out[ALU_LANES], pair[ALU_LANES];
    uint64_t before; /* what every lane of the result holds before a run */
};

/* "setp.lt.and.s32" with three sources. has_pair: `p|q`. widths: bytes of the result and
 * of each source, as letters b h w d p ("wwp"), one per operand. Returns false when a
 * word is unknown; room->run is NULL when the combination is refused. */
bool alu_room_bind(struct alu_room *room, const char *spelling, const char *widths,
                   bool has_pair);
/* Runs the lanes of mask; the others of `in` may hold anything. */
void alu_room_run(struct alu_room *room, uint32_t mask);
/* Runs it `times` times more on the registers of the last run; for benches. */
void alu_room_repeat(struct alu_room *room, uint32_t mask, unsigned long times);
