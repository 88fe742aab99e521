#pragma once
/* native: the steps that have native code, and the instructions of that code.
 *
 * A step that is not known here becomes a call of its handler (NATIVE_CALL): so compiled
 * code can contain every instruction. Native code computes the same bits as the handler
 * in gpu/ptx/alu. */
#include "gpu/ptx/emit/assembler.h"
#include "gpu/ptx/state/program.h"

enum native_kind {
    NATIVE_CALL,
    NATIVE_NOTHING,
    NATIVE_PLAIN,   /* vector(a, b), or vector(a); `how` is its immediate byte */
    NATIVE_FUSED,   /* a * b + c by vector, the form 231, and vector - 1, the form 213 */
    NATIVE_EXTREME, /* minimum or maximum of floats: `how` of vector */
    NATIVE_QUICK_QUOTIENT, /* div.approx of f32 */
    NATIVE_RECIPROCAL,     /* 1 / a by vector */
    NATIVE_RSQRT,          /* of f32, through binary64 */
    NATIVE_NEGATE,         /* 0 - a by vector */
    NATIVE_INTEGER,        /* of f32: enum integer_of in how */
    NATIVE_HIGH,           /* upper half of a product of 4 bytes */
    NATIVE_FUNNEL,         /* enum funnel in how */
    NATIVE_FIELD,          /* bfe.u32 */
    NATIVE_SIGN,           /* vector(a, one constant of `mask`) */
    NATIVE_PRODUCT,        /* lower half of a * b by vector, plus c */
    NATIVE_WIDE,       /* product of twice the width by vector, plus c if there is one */
    NATIVE_QUOTIENT,   /* of 4 bytes, truncated from binary64 by vector; how: the rest */
    NATIVE_SHIFT_WIDE, /* 64 bits by a count of 32 */
    NATIVE_MOVE,       /* of 4 or 8 bytes; plus step->offset */
    NATIVE_WIDEN,      /* to twice as many bytes by vector, and left by `how` bits */
    NATIVE_NARROW,     /* to half as many bytes by vector */
    NATIVE_TO_HALF,    /* f32 to f16 */
    NATIVE_HALVES,     /* f16s of the whole vector, by vector on f32s */
    NATIVE_LOGIC,      /* lop3 */
    NATIVE_COMPARE,    /* vector with `how`, into a predicate */
    NATIVE_SELECT,     /* by a predicate */
    NATIVE_PREDICATE,  /* logic of two predicates: enum predicate_logic in how */
    NATIVE_PARAMETER,  /* of the launch */
    NATIVE_SPLIT,      /* 8 bytes into two registers of 4 (program->vectors) */
    NATIVE_JOIN,       /* and back */
    NATIVE_ACCESS, /* a load of 1, 2 or 4 elements or store of one, global or shared */
};
enum predicate_logic {
    PREDICATE_MOVE,
    PREDICATE_NOT,
    PREDICATE_AND,
    PREDICATE_OR,
    PREDICATE_XOR
};
/* Signed results are rounded in the direction (enum asm_rounding), unsigned ones in the
 * same + OF_UNSIGNED. */
enum integer_of { OF_UNSIGNED = 4 };
enum funnel { FUNNEL_RIGHT = 1, FUNNEL_CLAMP = 2 };

enum flush { FLUSH_SOURCES = 1, FLUSH_RESULT = 2 };

struct native {
    uint8_t kind;    /* enum native_kind */
    uint8_t vector;  /* enum vector_op */
    uint8_t bytes;   /* of the result; 0: a predicate or none */
    uint8_t from[3]; /* bytes of the sources; 0: none, or a predicate */
    uint8_t how;
    bool makes_nans;  /* NaNs of f32 whose bits are not settled yet */
    bool takes_loose; /* sources of f32 may have such NaNs */
    bool settles;     /* NaNs of f64 are settled at once */
    bool saturates;   /* a result of f32, to 0 … 1 */
    uint8_t flush;    /* enum flush: subnormal f32s become zeros (.ftz) */
    uint8_t rounding; /* enum asm_rounding, of PLAIN, FUSED */
    uint64_t mask;    /* of NATIVE_SIGN */
};

/* Guards are ignored. */
struct native native_of(const struct program *program, const struct code *code,
                        const struct step *step);
