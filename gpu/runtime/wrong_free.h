#pragma once
/* wrong_free: words and findings about what a program gave back to its own heap. */
#include "gpu/runtime/host_heap.h"

void wrong_free_watch(void);
/* What was wrong, as a sentence. */
void wrong_free_describe(const struct host_free *f, char *ret, size_t room);
