#pragma once
/* program: an entry function and all functions it reaches, lowered to steps.
 *
 * Built once per entry (machine/lower_program.h) and read by all threads of a launch. The
 * arena of a function contains its registers, then values that do not change while it
 * runs: constants and special registers. */
#include "gpu/ptx/state/step.h"

/* A load, store or atomic; step->extra is its index in program->accesses. */
struct access {
    uint8_t space; /* enum ptx_space */
    uint8_t bytes; /* of an element: 1, 2, 4, 8, 16 */
    uint8_t count; /* elements: 1, 2, 4, 8 */
    bool is_store;
    bool is_atomic;
    bool compares;         /* an atomic minimum, maximum or compare-and-swap */
    bool acquire, release; /* fences after, before */
    uint16_t race;         /* enum race_kind */
    step_run *watched;     /* the handler that the race check wraps */
    step_run *noted;       /* the handler that proxy.h wraps beneath that */
    bool polls;            /* volatile, acquire, relaxed: may be part of a spin wait */
    step_run *plain;       /* the handler between the fences */
    uint8_t operation;     /* of atomics: enum atomic_operation */
    uint8_t type;          /* of atomics: enum ptx_type */
    uint32_t registers[8]; /* of the elements; STEP_NO_REGISTER for `_` */
    uint32_t code, instruction;
};

/* A texture or surface instruction; step->extra is its index in program->images. */
enum image_operation { IMAGE_FETCH, IMAGE_LOAD, IMAGE_STORE, IMAGE_REDUCE };
enum image_outside { IMAGE_TRAP_OUTSIDE, IMAGE_CLAMP_OUTSIDE, IMAGE_ZERO_OUTSIDE };
enum image_query {
    IMAGE_QUERY_WIDTH,
    IMAGE_QUERY_HEIGHT,
    IMAGE_QUERY_DEPTH,
    IMAGE_QUERY_LAYERS,
};
struct image_access {
    uint8_t operation; /* enum image_operation */
    uint8_t type;      /* enum ptx_type of the elements in registers */
    uint8_t bytes;     /* of an element of a surface access */
    uint8_t count;     /* elements */
    uint8_t rank;      /* 1 to 3; of a cube's faces 2, with three coordinates */
    bool is_layered;
    bool is_cube;
    bool whole;   /* coordinates are integers */
    bool gathers; /* tld4, of this component */
    uint8_t component;
    uint8_t outside;         /* enum image_outside */
    uint8_t reduction;       /* of sured */
    uint8_t query;           /* enum image_query */
    uint32_t coordinates[4]; /* registers of 4 bytes; a layer comes first */
    uint32_t registers[4];
};

/* Parts of a vector move; step->extra is its index in program->vectors. */
struct vector_registers {
    uint8_t count, bytes; /* of one part */
    uint32_t registers[8];
};

/* A copy between a call's parameter area and a register or another area. */
struct call_argument {
    uint32_t from, to; /* offsets: caller's arena and callee's, or reverse for results */
    uint32_t bytes;
};
struct call_site {
    int32_t callee;      /* function, -1: indirect */
    int16_t system_call; /* enum system_call, -1 = none */
    uint32_t address;    /* of an indirect call: register (8 bytes a lane) */
    uint32_t *targets;   /* allowed functions */
    uint32_t target_count;
    uint32_t arguments, results;               /* counts */
    uint32_t *argument_areas, *argument_bytes; /* in the caller's arena */
    uint32_t *result_areas, *result_bytes;
};

/* brx.idx */
struct branch_table {
    uint32_t *targets; /* steps */
    uint32_t count;
};

/* A straight run of instructions: counted when it is entered. */
struct basic_block {
    uint32_t code;
    uint32_t first, count; /* instructions of the function */
};

struct register_live;
struct special_slot {
    uint16_t special;
    uint32_t offset;
};

enum step_lanes {
    STEP_TOGETHER,   /* lanes interact */
    STEP_APART,      /* may run lane after lane */
    STEP_ARITHMETIC, /* likewise, and accesses only its registers: its handler is
                        bind_alu's for its instruction */
};

/* A call that calls on keeps at least its return address on the stack, and its variables
 * in local memory; ptxas also keeps registers there. */
#define STACK_RETURN_BYTES UINT64_C(8)

struct code { /* one function */
    const struct ptx_function *function;
    uint32_t index; /* of the function in the module */
    struct step *steps;
    uint32_t step_count;
    uint8_t *lane_wise;    /* per step: enum step_lanes */
    uint32_t arena_bytes;  /* multiple of 64 */
    uint32_t poison_bytes; /* how many at the start may be read before written */
    uint32_t fixed;        /* from here on: constants, specials */
    uint8_t *fixed_image;  /* arena_bytes - fixed bytes */
    uint8_t *uniform;      /* per 64 bytes of these: equal in all lanes */
    struct special_slot *specials;
    uint32_t special_count;
    uint32_t *registers;   /* arena offsets of the function's registers */
    uint32_t *param_areas; /* arena offsets of the function's params and results */
    uint32_t *result_areas;
    uint64_t local_bytes;
    struct register_live **live; /* atomic: computed at first use (undefined.c) */
};

struct program {
    const struct ptx_module *module;
    uint32_t entry;      /* function */
    struct code **codes; /* by function; NULL = not reached */
    struct access *accesses;
    uint32_t access_count;
    struct image_access *images;
    uint32_t image_count;
    struct vector_registers *vectors;
    uint32_t vector_count;
    struct call_site *calls;
    uint32_t call_count;
    struct branch_table *tables;
    uint32_t table_count;
    struct matrix *matrices; /* matrix.h */
    uint32_t matrix_count;
    struct basic_block *blocks;
    uint32_t block_count;
    uint64_t *shared_offsets; /* by variable; UINT64_MAX = none */
    uint64_t shared_bytes;    /* static, with gaps; dynamic ones start there, aligned */
    uint64_t shared_gaps;     /* bytes of these in gaps (shared_layout.h) */
    uint32_t *shared_variables;
    uint32_t shared_count;
    uint64_t stack_bytes; /* at least, of a thread that is in each function once */
    uint64_t steps;
    /* contains copies, mbarriers or alloca, whose state in a warp must be cleared when a
     * block starts */
    bool remembers;
    bool engine_reads; /* bulk copies or wgmma read shared memory, so fence.proxy.async
                          matters */
    bool generic; /* it makes generic addresses of shared or local memory */
    bool locks;   /* a RACE_UNLOCK is there */
    /* results depend on the order of blocks: then one thread runs them */
    bool order_sensitive;
};

#define STEP_MAX (UINT32_C(1) << 21) /* of a program */
#define ARENA_MAX (UINT32_C(64) << 20)
