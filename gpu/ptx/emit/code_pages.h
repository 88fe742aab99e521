#pragma once
/* code_pages: memory for code that was made while the process runs.
 *
 * A page is written to or executed, never both: it is turned over for each piece. One
 * thread adds and runs; each has pages of its own. */
#include <stddef.h>
#include <stdint.h>

struct code_pages {
    uint8_t *base; /* NULL: none, or the system refuses them */
    size_t size, used;
};

/* A copy of the code that can be called; NULL when there is no room, or when the system
 * refuses pages that can be executed. */
const void *code_pages_add(struct code_pages *p, const uint8_t *code, size_t size);
void code_pages_finish(struct code_pages *p);
