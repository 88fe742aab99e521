#pragma once
/* module: a PTX text, read once into a compact typed form. Source: NVIDIA, "Parallel
 * Thread Execution ISA", version 9.0.
 *
 * The reader accepts all of the language that NVRTC and NVVM emit, including inline
 * assembly with its nested scopes; names are resolved to indices, labels to instruction
 * indices, `.loc` to places in the CUDA source. It does not know the meaning of
 * instructions: the machine (machine.h) binds each to a handler, and reports those that
 * it cannot bind (bind.h). The text is hostile: every count and size below has a limit.
 * Nothing is executed. A module can be read from several threads. */
#include "base/mem.h"

#define PTX_MAX_TEXT (64u << 20)
#define PTX_MAX_INSTRUCTIONS (4u << 20) /* of a module */
#define PTX_MAX_OPERANDS (32u << 20)    /* operands and elements of a module */
#define PTX_MAX_REGISTERS (1u << 20)    /* of all functions of a module together */
#define PTX_MAX_SYMBOLS (2u << 20)      /* names at module scope; names of a function */
#define PTX_MAX_INITIALISER (64u << 20) /* bytes of all initialisers together */
#define PTX_MAX_VARIABLE (1ull << 40)   /* bytes of a variable without an initialiser */
#define PTX_MAX_PARAM_BYTES (1u << 20)  /* each of a function's params, results, calls */
#define PTX_MAX_LOCAL_BYTES (16u << 20) /* of one function */
#define PTX_MAX_FILES 65536             /* the largest number of .file */

/* One entry per instruction of the ISA, including those that the emulator cannot run. */
enum ptx_opcode {
#define PTX_OPCODE(id, text) PTX_OP_##id,
#include "gpu/ptx/read/opcodes.def"
    PTX_OPCODES
};

enum ptx_type {
    PTX_NONE,
    PTX_PRED,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_BF16,
    PTX_TF32,
    PTX_F32,
    PTX_F64,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_F32X2,
    PTX_U16X2,
    PTX_S16X2,
    PTX_E4M3,
    PTX_E5M2,
    PTX_E4M3X2,
    PTX_E5M2X2, /* fp8 */
    PTX_E2M1,
    PTX_E2M3,
    PTX_E3M2,
    PTX_UE8M0,
    PTX_UE4M3, /* fp4, fp6 and scales */
    PTX_E2M1X2,
    PTX_E2M3X2,
    PTX_E3M2X2,
    PTX_UE8M0X2,
    PTX_E4M3X4,
    PTX_E5M2X4,
    PTX_E2M1X4,
    PTX_E2M3X4,
    PTX_E3M2X4,
    PTX_B1024, /* for tensor maps */
    PTX_U4,
    PTX_S4,
    PTX_B1, /* for matrix instructions */
    PTX_U2,
    PTX_S2, /* for cvt.pack */
    PTX_TEXREF,
    PTX_SAMPLERREF,
    PTX_SURFREF,
    PTX_TYPES
};
unsigned ptx_type_bytes(enum ptx_type t); /* 0 for PRED, fewer than 8 bits, references */
bool ptx_type_signed(enum ptx_type t);
bool ptx_type_float(enum ptx_type t);
const char *ptx_type_name(enum ptx_type t); /* ".u32" */

enum ptx_space {
    PTX_GENERIC, /* none was written */
    PTX_CONST,
    PTX_GLOBAL,
    PTX_LOCAL,
    PTX_PARAM,
    PTX_SHARED,
    PTX_SHARED_CLUSTER,
    PTX_REG,
};

/* All other dotted words: rounding, .ftz, .sat, comparisons, scopes, cache hints, vector
 * widths … (modifiers.def); PTX_M_RN, PTX_M_FTZ, PTX_M_V4, PTX_M_ACQUIRE, PTX_M_LT. */
enum ptx_modifier {
#define PTX_MODIFIER(id, text) PTX_M_##id,
#include "gpu/ptx/read/modifiers.def"
#undef PTX_MODIFIER
    PTX_MODIFIERS
};
#define PTX_MODIFIER_WORDS 6
_Static_assert(PTX_MODIFIERS <= 64 * PTX_MODIFIER_WORDS, "");

enum ptx_special { /* %tid.x is PTX_SR_TID_X … */
#define PTX_SPECIAL(id, text) PTX_SR_##id,
#include "gpu/ptx/read/specials.def"
#undef PTX_SPECIAL
                   PTX_SPECIALS
};

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER, /* index: of the function's registers */
    /* bits: an integer, or the IEEE bits of an 0f / 0d / decimal float; is_double: bits
     * are a binary64 that must be converted */
    PTX_OPERAND_IMMEDIATE,
    PTX_OPERAND_SPECIAL,  /* index: enum ptx_special */
    PTX_OPERAND_SYMBOL,   /* index: variable; offset is added. Its address in its space */
    PTX_OPERAND_FUNCTION, /* index: function */
    PTX_OPERAND_ADDRESS,  /* [base + offset]: see `base` */
    PTX_OPERAND_LABEL,    /* index: instruction of the function */
    PTX_OPERAND_VECTOR,   /* first, count: elements in the instruction's elements */
    PTX_OPERAND_TABLE,    /* index: of the function's branch or call target tables */
    PTX_OPERAND_PROTOTYPE, /* index: of the module's prototypes */
    PTX_OPERAND_SINK,      /* _ */
};
enum ptx_base { PTX_BASE_REGISTER, PTX_BASE_SYMBOL, PTX_BASE_IMMEDIATE };

struct ptx_operand {
    uint8_t kind;             /* enum ptx_operand_kind */
    uint8_t base;             /* enum ptx_base of an address */
    bool negated;             /* !p (predicate), or -r where the grammar allows it */
    bool is_float, is_double; /* of an immediate, as written */
    uint32_t index;           /* see kind; in an address: register or variable */
    /* of a vector (also inside an address: tensor coordinates); for a register its
     * selector, see ptx_selector_of */
    uint32_t first;
    uint32_t count;
    union {
        uint64_t bits;
        int64_t offset;
    };
};

/* The suffix of a register of a video instruction: .b0, .h10, .b3210. */
struct ptx_selector {
    bool bytes;      /* else halves */
    unsigned count;  /* number of digits; 0: there is no selector */
    unsigned digits; /* each 0 to 7 in three bits; the last one written is the lowest */
};
#define PTX_SELECTOR_BYTES (1u << 16)
static inline struct ptx_selector ptx_selector_of(const struct ptx_operand *o) {
    uint32_t s = o->kind == PTX_OPERAND_REGISTER ? o->first : 0;
    return (struct ptx_selector){s & PTX_SELECTOR_BYTES, s >> 12 & 7, s & 0xfff};
}

struct ptx_instruction {
    uint16_t opcode;  /* enum ptx_opcode */
    uint8_t types[5]; /* enum ptx_type, in the order written */
    uint8_t type_count;
    uint8_t spaces[2]; /* enum ptx_space, in the order written (cp.async has two) */
    uint8_t space_count;
    uint8_t operand_count;
    uint8_t vector; /* 1, 2, 4 or 8: .v2 … of ld/st/…; 1 if absent */
    bool guard_negated;
    int32_t guard;                          /* predicate register of @p, -1 = none */
    uint64_t modifiers[PTX_MODIFIER_WORDS]; /* bit set of enum ptx_modifier */
    /* the first one, in function->operands. In the order written: results first; `r|p`
     * are two operands and set has_pair; a call is FUNCTION or REGISTER, then a VECTOR of
     * results, a VECTOR of arguments (symbols of params or registers), and for an
     * indirect call TABLE or PROTOTYPE */
    uint32_t operands;
    bool has_pair;
    bool has_sampler; /* [texture, sampler, …]: the operand after the ADDRESS */
    /* m, n, k as written: 16, 8, 4 of .m16n8k4; k is 0 for .m8n8; all 0 if absent */
    uint16_t shape[3];
    uint32_t place;                  /* index in module->places, 0 = unknown */
    uint32_t line;                   /* of the PTX text, 1-based */
    uint32_t spelling, spelling_len; /* "ld.global.nc.f32" in module->text */
};
static inline bool ptx_has(const struct ptx_instruction *i, enum ptx_modifier m) {
    return i->modifiers[m / 64] >> (m % 64) & 1;
}
/* The types of its first `count` operands, as opcodes.def has them; PTX_NONE: it names
 * none, or there is no such operand. Those of an opcode without rows, as mov, are its
 * own. */
void ptx_operand_types(const struct ptx_instruction *i, unsigned count,
                       enum ptx_type *ret);

struct ptx_register {
    uint8_t type; /* PTX_PRED, PTX_B16 … as declared (.f32 and .s32 are kept) */
    uint32_t name, name_len; /* in module->text; the stem for %r<12> */
    uint32_t number;         /* of a numbered one, otherwise UINT32_MAX */
};

enum ptx_param_block {
    PTX_BLOCK_NONE,
    PTX_BLOCK_PARAMS,  /* function->params, function->param_bytes */
    PTX_BLOCK_RESULTS, /* function->results, function->result_bytes */
    PTX_BLOCK_CALL,    /* .param of a call in the body: function->call_bytes. Blocks
                          `{ // callseq` that do not nest share the bytes */
};

/* A variable of any space: module scope, function scope (.shared, .local depot, .param of
 * calls) or a parameter. */
struct ptx_variable {
    char *name;
    uint8_t space; /* enum ptx_space */
    uint8_t type;
    bool is_extern, is_unsized; /* extern .shared x[]: placed after the static ones */
    bool used;                  /* reachable from an entry; others need no memory */
    uint32_t align;             /* bytes */
    uint64_t size;              /* bytes */
    /* PARAM: in the block that param_block names (natural alignment); LOCAL: in the
     * function's depot (its end for an alias of size 0); SHARED and others: 0, the
     * machine places them */
    uint64_t offset;
    uint8_t param_block;    /* enum ptx_param_block, of a PARAM */
    int32_t function;       /* owner, -1 = module scope */
    uint8_t *initialiser;   /* size bytes, or NULL = zeros */
    struct ptx_relocation { /* addresses inside the initialiser */
        uint64_t at;
        bool is_function, generic;
        uint32_t index; /* variable or function */
        int64_t addend;
        uint8_t bytes; /* 8, 4, or 1 for 0xff00(name): one byte of address >> shift */
        uint8_t shift;
    } * relocations;
    uint32_t relocation_count;
};

struct ptx_table { /* .branchtargets, .calltargets */
    bool calls;
    uint32_t *targets; /* instructions, or functions */
    uint32_t count;
};
struct ptx_prototype {
    uint32_t *result_bytes, *param_bytes; /* with their alignments */
    uint32_t *result_align, *param_align;
    uint32_t result_count, param_count;
};

struct ptx_function {
    char *name; /* mangled, as in the text */
    bool is_entry, is_declaration, used;
    /* its address is in something that an entry reaches: an indirect call may reach it,
     * also from another entry (an object outlives its launch) */
    bool taken;
    uint32_t *params, param_count;   /* variables (PARAM), in order */
    uint32_t *results, result_count; /* of a .func */
    uint64_t param_bytes;            /* the whole parameter block */
    uint64_t result_bytes;
    uint64_t call_bytes; /* the .param variables of the body */
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_instruction *code;
    uint32_t code_count;
    struct ptx_operand *operands; /* top-level operands of all instructions */
    struct ptx_operand *elements; /* vector elements of all instructions */
    uint32_t operand_count, element_count;
    struct ptx_table *tables;
    uint32_t table_count;
    uint32_t line; /* of the PTX text */
    bool is_noreturn;
    /* 1 + the function that .alias names, 0 = none; operands, tables and relocations
     * already refer to that function */
    uint32_t alias;
    uint64_t local_bytes; /* depot: all .local variables */
    uint32_t local_align;
    bool *leader; /* code_count + 1 entries: a branch may land here */
    /* 0 = not given */
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg, reqnctapercluster[3];
};

struct ptx_place {         /* of a `.loc` */
    uint32_t file;         /* of module->files */
    uint32_t line, column; /* in that file; line 0 = none */
    uint32_t caller;       /* the place where that code was inlined, 0 = not inlined */
};

struct ptx_module {
    char *text; /* owned copy, NUL-terminated */
    size_t len;
    unsigned version_major, version_minor;
    char target[32];
    struct ptx_function *functions;
    uint32_t function_count;
    struct ptx_variable *variables; /* of all scopes */
    uint32_t variable_count;
    struct ptx_prototype *prototypes;
    uint32_t prototype_count;
    struct ptx_place *places;
    uint32_t place_count;
    /* by the number of .file; NULL = an unused number. [0], which no compiler uses, is
     * the name of the PTX itself: code before a function's first .loc has its own PTX
     * line as its place; otherwise "" */
    char **files;
    uint32_t file_count;
    struct ptx_names *names; /* owns the names above; for the reader */
};

/* Whether the place is in a header that comes with nvcc. */
bool ptx_place_is_toolkit(const struct ptx_module *m, const struct ptx_place *at);
/* The place to report for `place`, an index of module->places: for code inlined from a
 * header of the toolkit (its name is in angle brackets), the nearest caller outside such
 * headers, if there is one. NULL if it belongs to no line. */
const struct ptx_place *ptx_place_told(const struct ptx_module *m, uint32_t place);
/* The place outside such headers where the code of `at` was inlined; NULL: it was not. */
const struct ptx_place *ptx_place_caller(const struct ptx_module *m,
                                         const struct ptx_place *at);

/* What holds for every instruction of a module that was read, so that later stages index
 * operands without checking them again (the table is opcodes.def):
 * - Indices are in range: registers, variables, functions, tables, elements. A LABEL is
 * an instruction of the same function. Code ends with an unguarded ret, exit, trap, bra
 * or brx: a `ret` with spelling_len 0 is appended where it does not.
 * - The number of operands is one that the opcode and its modifiers take; `r|p` stands
 *   only where there is a second result. Guards are predicate registers.
 * - A predicate stands exactly where one belongs; only predicates are negated (-r but in
 *   video instructions is refused). A source predicate may be a constant: bits 0 or 1.
 *   Selectors of parts stand in video instructions alone.
 * - Other registers have exactly the bytes of the instruction's type, and are no float
 *   where that is an integer or the other way round (.b types take both). ld, ldu, st,
 *   cvt, suld and sust let a register be wider; results are never narrower.
 * - Constants have the kind of the type; bits of floats are those of the type's own width
 *   (.f32: binary32 and is_double false; .f64: binary64 and is_double true). Integers are
 *   64 bits, to be cut to the type.
 * - SPECIAL stands in mov alone, SYMBOL in mov, cvta, mapa, getctarank and calls,
 * FUNCTION in mov and calls, `_` where the table has x or X, and in a vector that is
 * written.
 * - A vector of ld, st, atom, red, tex, suld, sust has `vector` elements; those of mma,
 *   wmma, wgmma, ldmatrix, stmatrix the count that shape and type ask for; mov's together
 *   have the bytes of its type. ADDRESS has a base register of 32 or 64 bits, and
 *   coordinates exactly in tex, tld4, suld, sust, sured and tensor copies. A variable in
 *   an address of ld, st, atom, red is of the space that the instruction names.
 * - A call passes as many arguments and results as its callee, prototype or targets have,
 *   each of the same size; variables among them are the body's own .param ones.
 * Nothing but the range of indices is promised of tcgen05, clusterlaunchcontrol, video
 * instructions (v…), .block_scale, and ldmatrix and stmatrix of .m16n16 and .m16n8.
 * Whether a combination of types and modifiers exists is for bind to say. */

/* -EINVAL for invalid PTX (err: "line 12: …"), -EFBIG over a limit, -ENOTSUP for a word
 * that is not in the tables (err names it with its line). Then ret is unchanged. */
int ptx_module_read(struct ptx_module **ret, const char *text, size_t len,
                    struct err *err);
/* The same, but variables that no entry reaches keep their initial values and get memory,
 * because the host of a whole program may read them. */
int ptx_module_read_whole(struct ptx_module **ret, const char *text, size_t len,
                          struct err *err);
void ptx_module_free(struct ptx_module *m);
/* By mangled name; NULL if there is none or it is only declared. */
const struct ptx_function *ptx_find_entry(const struct ptx_module *m, const char *name);
