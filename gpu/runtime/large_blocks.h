#pragma once
/* large_blocks: how long the blocks are that glibc lends. Any thread; no locks. What finds no
 * place is not known, so nothing is said of it. */
#include <stddef.h>

void large_block_add(const void *block, size_t bytes);
/* Forgets it; returns its bytes, 0 if it is not known. */
size_t large_block_drop(const void *block);
size_t large_block_bytes(const void *block); /* 0: not known */
