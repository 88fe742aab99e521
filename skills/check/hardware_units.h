#pragma once
/* hardware_units: the units that a table's headers give for the numbers beneath. Part of
 * hardware_text; text in lower case. */
#include <stdbool.h>
#include <stddef.h>

struct header_unit {
    const char *unit; /* "kb"; borrowed from the label */
    size_t len;
    size_t name_len;  /* of the label without it: "shared memory" */
    const char *rest; /* what stood behind it in the brackets: "/sm", "per sm" */
    size_t rest_len;
};
/* "shared memory (kb/sm)", "l2 [mb]", "l2, mb", "l2 in mb". */
bool header_unit_find(const char *label, size_t len, struct header_unit *ret);
/* The whole text is a unit that we know. */
bool header_unit_is(const char *text, size_t len);
/* A number and nothing else, so that its unit must stand elsewhere. */
bool header_unit_is_wanted(const char *cell, size_t len);
