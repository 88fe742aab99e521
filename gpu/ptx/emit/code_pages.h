#pragma once
/* code_pages: memory for code that is generated while the process runs.
 *
 * A page is writable or executable, never both: it is switched for each piece of code.
 * The thread that adds code runs it; each thread has its own pages. */
#include "base/mem.h"

struct code_pages {
    uint8_t *base; /* NULL: none, or the system refuses them */
    size_t size, used;
};

/* A callable copy of the code; NULL when there is no room, or when the system refuses
 * executable pages. */
const void *code_pages_add(struct code_pages *p, const uint8_t *code, size_t size);
void code_pages_finish(struct code_pages *p);
