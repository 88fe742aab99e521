#pragma once
/* hardware_numbers: compares a number in a text with the table. Part of
 * hardware_facts. */
#include "skills/check/hardware_claims.h"

/* The devices that a statement is about: bits by index in hardware_devices. */
struct hardware_subject {
    unsigned devices;
    char board[8];  /* "sxm", "pcie", "nvl", "80gb", "40gb" or "" */
    bool inherited; /* named by a heading only */
};

struct hardware_verdict {
    const struct hardware_fact *facts[8]; /* those contradicted */
    size_t count;
    const struct hardware_device *device;
};

/* The number that a claim's first two groups matched, in the quantity's unit. */
double hardware_number(const struct claim_shape *shape, const char *text,
                       const struct pattern_match *m);
/* Whether the value is wrong for every named device. */
bool hardware_contradicts(const struct hardware_subject *s,
                          enum hardware_quantity quantity, double value,
                          bool below_is_fine, struct hardware_verdict *ret);
