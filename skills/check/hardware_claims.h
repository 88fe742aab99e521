#pragma once
/* hardware_claims: patterns for claims about hardware in a text.
 *
 * A claim is a number with its unit next to the quantity, in one sentence or in one cell
 * of a table. Patterns are written for text in lower case with emphasis blanked. */
#include "base/pattern.h"
#include "skills/check/hardware_table.h"

enum claim_unit { UNIT_NONE, UNIT_BYTES, UNIT_BANDWIDTH, UNIT_CLOCK, UNIT_RATE, UNIT_SM };
enum claim_flags {
    CLAIM_LIMIT = 1,   /* a smaller number is wrong only where the text says "at most" */
    CLAIM_ASSERTS = 2, /* only where the text says "has", "with", ":" */
    CLAIM_PEAK = 4,    /* not where the text states a measured value */
    CLAIM_UNBOUND = 8, /* may be about the device that the heading names */
    CLAIM_BOARD = 16,  /* the whole GPU: not where an SM or a block is meant */
};
struct claim_shape {
    const char *words; /* one of them, separated by '|', must occur; a fast test */
    const char *regex; /* group 1: the number, group 2: its unit */
    enum hardware_quantity quantity;
    enum claim_unit unit;
    unsigned flags;
};
extern const struct claim_shape claim_shapes[]; /* hardware_claims.txt */
extern const size_t claim_shape_count;

/* Groups 1 and on: the capability as written, "9.0" "90a" "hopper". */
extern const char claim_requirement[];
extern const char claim_doubt[]; /* the sentence quotes a mistake or a possibility */
/* … states a program's usage, not a property of the hardware */
extern const char claim_usage[];
extern const char claim_limit[];       /* … states a maximum */
extern const char claim_asserts[];     /* … states a property */
extern const char claim_reached[];     /* … states a measurement */
extern const char claim_only_device[]; /* the whole text is a GPU's name */
extern const char
    claim_specification[];         /* the sentence or heading speaks of data sheets */
extern const char claim_part[];    /* … is about a part of the GPU */
extern const char claim_foreign[]; /* names hardware that is not in the table */
