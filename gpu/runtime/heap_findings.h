#pragma once
/* heap_findings: what is wrong with the program's use of its own heap, in words. */
#include "gpu/runtime/host_heap.h"

void heap_findings_watch(void);
/* What was wrong with a free, as a sentence. */
void heap_findings_describe(const struct host_free *f, char *ret, size_t room);
/* Looks whether the host's memory [address, address + bytes), which a copy of the calling
 * thread writes or reads, lies in a block. */
void heap_findings_copy(const void *address, size_t bytes, bool writes);
