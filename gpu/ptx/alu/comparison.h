#pragma once
/* comparison: the meaning of step->aux of setp and set: what to compare, how, and what to
 * combine the result with. */
enum comparison {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    NAN_,
    COMPARISONS
};
/* The type to compare; bits are for types that are only compared for equality. */
enum compared {
    C_U16,
    C_S16,
    C_U32,
    C_S32,
    C_U64,
    C_S64,
    C_F32,
    C_F32_FTZ,
    C_F64,
    C_F16,
    C_F16_FTZ,
    C_BF16,
    C_F16_LOW,
    C_F16_HIGH,
    C_F16_FTZ_LOW,
    C_F16_FTZ_HIGH,
    C_BF16_LOW,
    C_BF16_HIGH,
    COMPARED,
};
/* step->aux of setp and set: what and how to compare, and how to combine with a third
 * source. */
enum combine { ALONE, WITH_AND, WITH_OR, WITH_XOR };
#define AUX(what, how, combine)                                                          \
    ((uint32_t)(what) | (uint32_t)(how) << 8 | (uint32_t)(combine) << 16)
#define AUX_WHAT(aux) ((aux)&0xff)
#define AUX_HOW(aux) ((aux) >> 8 & 0xff)
#define AUX_COMBINE(aux) ((aux) >> 16)
