#include "gpu/ptx/emit/code_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGES_SIZE ((size_t)1 << 20)
#define PAGES_START 64 /* where pieces begin */

static int pages_open(struct code_pages *p) {
    if (p->base) {
        return 0;
    }
    void *base = mmap(NULL, PAGES_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return -1;
    }
    p->base = base;
    p->size = PAGES_SIZE;
    return 0;
}

const void *code_pages_add(struct code_pages *p, const uint8_t *code, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (pages_open(p) || size > p->size - p->used) {
        return NULL;
    }
    size_t first = p->used & ~(page - 1), end = (p->used + size + page - 1) & ~(page - 1);
    uint8_t *to = p->base + p->used;
    if (mprotect(p->base + first, end - first, PROT_READ | PROT_WRITE)) {
        return NULL;
    }
    memcpy(to, code, size);
    if (mprotect(p->base + first, end - first, PROT_READ | PROT_EXEC)) {
        p->used = p->size; /* the code there cannot be run any more, or never could */
        return NULL;
    }
    p->used += (size + PAGES_START - 1) & ~(size_t)(PAGES_START - 1);
    return to;
}

void code_pages_finish(struct code_pages *p) {
    if (p->base) {
        munmap(p->base, p->size);
    }
    *p = (struct code_pages){.base = NULL};
}
