#pragma once
/* host_heap: the heap of a program's host code, for blocks of less than 1 KiB; glibc has
 * the rest.
 *
 * Blocks of a size lie side by side without headers, and which of them are in use stands
 * elsewhere: so a tree or a hash table of the host is as small as can be, freed memory is
 * not written to, and a wrong free is certain. It aborts. Most blocks have a byte behind
 * them that tells, when they are freed, whether it was written over. No function takes a
 * lock, so a program that crashed in the middle of one can still be told. Any thread; the
 * standard says what they do. */
#include <stdbool.h>
#include <stddef.h>

/* Those to which meson.build gives glibc's names. */
#define HOST_HEAP_NAME __attribute__((visibility("default")))
#define HOST_HEAP_MOST 1023u /* bytes */

HOST_HEAP_NAME void *host_heap_malloc(size_t bytes);
HOST_HEAP_NAME void *host_heap_calloc(size_t count, size_t bytes);
HOST_HEAP_NAME void *host_heap_realloc(void *block, size_t bytes);
HOST_HEAP_NAME void host_heap_free(void *block);
HOST_HEAP_NAME size_t host_heap_usable(const void *block);

struct host_block {
    const void *start; /* NULL: no block that is known */
    size_t bytes;      /* that were asked for; if it is freed, at most */
    bool in_use;
};
/* The block that holds an address; of glibc's only by their first. */
struct host_block host_heap_find(const void *address);

struct host_free {
    const char *function; /* NULL: none */
    const void *address;
    const char *why; /* NULL: not known, glibc has it */
    bool lent; /* glibc had lent it: it is no wrong free, what glibc finds is older */
    size_t inside;   /* bytes behind a block's start */
    size_t most;     /* the block has at most so many, and more were written */
};
/* What the calling thread is freeing, for whoever is told that it crashed there. */
struct host_free host_heap_freeing(void);
/* Called for each wrong free, before the thread aborts, and for each block that was
 * written past its end, after which the thread goes on. */
void host_heap_watch(void (*tell)(const struct host_free *));
/* From now on glibc is not asked: the process ends, and glibc's locks may be held. */
void host_heap_leave(void);
