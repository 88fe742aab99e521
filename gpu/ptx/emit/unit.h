#pragma once
/* unit: the straight-line part of a basic block, from after its head to where control may
 * branch, while its code is made.
 *
 * The code is a function of the warp and of the block's data. It runs for all 32 lanes,
 * or changes the registers of the active lanes alone, and ends with warp->next at the step where the interpreter continues: the end of the
 * part, or a step whose preconditions do not hold. That step has had no effect then. */
#include "gpu/ptx/emit/native.h"
#include "gpu/ptx/emit/values.h"
#include "gpu/ptx/state/run.h"

/* The data that code reads and writes besides the arena and the kernel's memory; it is
 * never placed among the instructions. Vectors, shapes and counters follow. */
struct unit_data {
    const struct step *steps;
    const uint8_t *params;
    uint64_t exits; /* runs that did not reach the end */
    uint32_t nan, ones;
};
#define DATA_AT(member) ((int32_t)offsetof(struct unit_data, member))

/* Lanes' offsets of one access, as recorded. */
struct shape {
    bool is_known;
    uint64_t first;             /* address of lane 0 */
    int32_t deltas[WARP_LANES]; /* the others' distance from it */
};

struct unit_exit { /* leaves to the interpreter, at a step */
    size_t jump;
    uint32_t step;
    struct value *dirty; /* to be stored there */
    uint32_t dirty_count;
};

struct unit_count {   /* the meaning of a counter in the data */
    uint32_t access;  /* of the program */
    uint32_t counter; /* offset: of one, or of eight by the first address modulo 32 */
    bool by_phase;
    uint32_t cost[8], ideal;
};

struct emit_unit {
    struct processor *processor;
    const struct program *program;
    const struct code *code;
    const struct step *steps; /* the first one */
    uint32_t count, at;
    bool is_masked; /* for some of the lanes: those of warp->active */
    struct native *natives;
    const struct shape *shapes; /* by step; NULL: accesses are calls */
    struct assembler out;
    struct values values;
    uint8_t *data;
    uint32_t data_size;
    int32_t *constants; /* in the data */
    uint32_t constant_count;
    struct unit_exit *exits;
    uint32_t exit_count;
    size_t *leaves; /* jumps to the end of the function */
    uint32_t leave_count;
    struct access_group *groups; /* unit_access.c */
    uint32_t *group_of;          /* by step: index + 1 */
    uint32_t group_count;
    uint32_t segment; /* no exit between two steps of the same segment */
    struct unit_count *counts;
    uint32_t count_count;
};

/* A value of processor->emit_after for tests: code is made even if it does not pay. */
#define UNIT_ALWAYS 1u
#define UNIT_STEPS 4096u
#define UNIT_CODE (256u << 10)

/* The registers that the step writes, if its kind is known: their count, 8 at most. */
uint32_t unit_results(const struct emit_unit *u, uint32_t step, uint32_t *to);
/* `bytes` of zeros, aligned to 64, in the data; its offset. */
int32_t unit_data_add(struct emit_unit *u, uint32_t bytes);
/* Eight bytes with this value, of which the first four may be used; their offset. */
int32_t unit_constant(struct emit_unit *u, uint64_t value);
/* Where a step is, from HOST_STEPS on. */
int32_t unit_step_at(const struct emit_unit *u, uint32_t index);
/* The vectors that never change; a call does not preserve them. */
void unit_load_constants(struct emit_unit *u);
/* Calls a handler for the step that is being made and all lanes; what it may read is in the
 * arena. */
void unit_call(struct emit_unit *u, step_run *run);
/* If the condition holds, the interpreter continues, with the step that is being made. */
void unit_exit_if(struct emit_unit *u, enum condition condition);

/* Native code for the step that is being made. */
void unit_arithmetic(struct emit_unit *u, const struct step *s, const struct native *n);
/* false: it has no native code. */
bool unit_access(struct emit_unit *u, const struct step *s);
void unit_access_plan(struct emit_unit *u);
void unit_access_finish(struct emit_unit *u);

/* Fills out, data and counts from processor, program, code, steps, count and shapes;
 * homes and invariant as registers.h makes them. false: the code would not pay or not
 * fit. */
bool unit_make(struct emit_unit *u, const uint32_t *homes, const bool *invariant,
               uint32_t block);
void unit_finish(struct emit_unit *u);
