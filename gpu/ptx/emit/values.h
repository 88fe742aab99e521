#pragma once
/* values: the contents of the vector registers while the code of a block is made.
 *
 * A value is that of a register of the arena (by its offset there) of 2, 4 or 8 bytes a
 * lane: bytes / 2 vectors, or one if all lanes are known to be equal. It is kept in
 * vectors until it is overwritten, is not needed any more, or room is needed (the least
 * recently used goes first). It is written back where other code may read it: before
 * calls and at the end of the block. A value that no later step and no other block reads
 * is not stored.
 *
 * NaNs made by arithmetic may be `loose`, with any bits, until their bits can be
 * observed. */
#include "gpu/ptx/emit/assembler.h"
#include "gpu/ptx/state/program.h"

/* Registers of the host in compiled code. Called functions preserve those of this
 * line. */
#define HOST_WARP RBX  /* struct warp */
#define HOST_REGS R12  /* its arena */
#define HOST_DATA R13  /* the block's data */
#define HOST_STEPS R14 /* code->steps */
#define HOST_LANES RBP /* the active lanes, where they are not all */
#define HOST_OWN RBP   /* else the block's data + 8 * the warp's index */

enum {
    VECTOR_POOL = 26,
    VECTOR_TEMPORARY = 26, /* and three more */
    VECTOR_NAN = 30,       /* the one NaN of f32 */
    VECTOR_ONES = 31,
    VECTORS_OF_A_VALUE = 4,
};

struct value {
    uint32_t offset;
    uint8_t bytes; /* 2, 4 or 8 */
    uint8_t count; /* vectors that hold it; 0: the arena alone */
    uint8_t vectors[VECTORS_OF_A_VALUE];
    bool is_stored; /* the arena holds it */
    bool is_loose;
    bool is_flushed; /* no lane is a subnormal f32 */
    bool is_uniform; /* all lanes are equal */
    bool is_fixed;   /* a constant or special register */
    bool is_own;     /* no other block sees it */
    uint32_t shape; /* id of a value whose lanes differ from its first lane by the same */
    uint32_t last_use; /* step that reads it last */
    uint32_t used;     /* time of the last use */
};

struct slot_use {  /* the block's use of 64 bytes of the arena, and their value */
    uint32_t last; /* step that reads it */
    uint8_t first; /* unit.c */
    bool is_own;   /* written before it is read, and no other block sees it */
};

struct values {
    struct assembler *to;
    bool is_masked; /* only the lanes of warp->active are stored */
    const struct code *code;
    const bool *invariant; /* registers_invariant */
    struct value *items;
    uint32_t count, room;
    uint32_t *slots; /* by 64 bytes of the arena: index + 1 */
    struct slot_use *uses;
    uint32_t owners[VECTOR_POOL]; /* index + 1; VALUE_NEW while a result is made */
    uint32_t now, ids;
    uint32_t at; /* the step */
};
#define VALUE_NEW UINT32_MAX

/* A result that is being computed. */
struct vectors {
    uint8_t count, vectors[VECTORS_OF_A_VALUE];
    bool is_uniform; /* all lanes are equal; then one vector stands for several */
};

void values_init(struct values *v, struct assembler *to, const struct code *code,
                 const bool *invariant);
void values_finish(struct values *v);
/* The next step begins: values that it uses stay until the one after it. */
void values_step(struct values *v, uint32_t at);

/* Valid until the next call. */
struct value *values_of(struct values *v, uint32_t offset, unsigned bytes);
/* A part of it as an operand, from the arena if it is in no vector. NaNs are settled if
 * `settled`. */
struct asm_place values_part(struct values *v, uint32_t offset, unsigned bytes,
                             unsigned part, bool settled);
/* The vector that holds the part; loads it. */
unsigned values_vector(struct values *v, uint32_t offset, unsigned bytes, unsigned part,
                       bool settled);

/* For `bytes` a lane; one vector if uniform. */
struct vectors values_new(struct values *v, unsigned bytes, bool uniform);
/* The result takes over the vectors of a value that is dead or overwritten by it; false
 * if it has none. */
bool values_take(struct values *v, uint32_t offset, uint32_t result, unsigned count,
                 struct vectors *ret);
void values_set(struct values *v, uint32_t offset, unsigned bytes, struct vectors from,
                bool is_loose);
/* All lanes turned out to be equal. */
void values_level(struct values *v, uint32_t offset, unsigned bytes);
/* The value changed in the arena. */
void values_forget(struct values *v, uint32_t offset);
void values_forget_all(struct values *v);
/* Frees dead values. */
void values_drop_dead(struct values *v);
/* Stores all values that are not dead. */
void values_store_all(struct values *v);
/* The instructions that store this value. */
void values_store(const struct values *v, const struct value *x);
/* Lanes of part `part` that are active, of `bytes` each, become k`mask`. */
void values_active(struct assembler *to, unsigned mask, unsigned bytes, unsigned part);
/* Frees all vectors: a call follows. */
void values_release(struct values *v);
