#pragma once
/* edit_distance: how far two names are apart, and which of several was probably meant. */
#include <stddef.h>

/* Edits (insert, delete, change, swap neighbours) from a to b; `limit` + 1 when more than
 * limit. Names of up to 63 bytes; longer ones are farther than any limit. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len,
                       unsigned limit);

/* The name that somebody meant who wrote `said`. Set said and limit (the most edits that
 * still make the same name), give each candidate to nearest_name_try, and read best: NULL
 * when none is near enough, else the first with the fewest edits. Everything is borrowed.
 * A candidate that would have to be written anew is not near, however short it is. */
struct nearest_name {
    const char *said;
    unsigned limit;
    const char *best;
    unsigned distance; /* of best */
};

void nearest_name_try(struct nearest_name *n, const char *candidate);
