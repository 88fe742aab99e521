#pragma once
/* edit_distance: the distance between two names, and the most likely intended name. */
#include <stddef.h>

/* The number of edits (insert, delete, change, swap neighbours) from a to b, or limit + 1
 * if it exceeds limit. Names of over 63 bytes always exceed it. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len,
                       unsigned limit);

/* Finds the name that was probably meant by `said`. Set said and limit (the maximum
 * number of edits), pass each candidate to nearest_name_try, and read best: NULL if none
 * is near enough, otherwise the first with the fewest edits. All strings are borrowed. A
 * candidate that needs as many edits as it has letters is never near. */
struct nearest_name {
    const char *said;
    unsigned limit;
    const char *best;
    unsigned distance; /* of best */
};

void nearest_name_try(struct nearest_name *n, const char *candidate);
