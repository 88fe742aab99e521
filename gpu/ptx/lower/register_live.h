#pragma once
/* register_live: registers of a function that may be read later. */
#include "gpu/ptx/read/module.h"

struct register_live;

/* Never NULL. In functions that are too large every register counts as live. */
struct register_live *register_live_new(const struct ptx_function *f);
void register_live_free(struct register_live *live);
/* Made at the first call, by any thread. */
const struct register_live *register_live_kept(struct register_live **kept,
                                               const struct ptx_function *f);
/* instruction_results of the function's instruction `at`, which takes long to find. */
unsigned register_live_results(const struct register_live *live, uint32_t at);
/* Whether the value of register r at the head of the basic block that contains `at` may
 * be read. */
bool register_live_at(const struct register_live *live, uint32_t at, uint32_t r);
/* The registers whose values before the instruction `at` may be read; the caller frees it.
 * NULL: all of them. */
uint64_t *register_live_before(const struct register_live *live, uint32_t at);
bool register_live_in(const uint64_t *set, uint32_t r); /* NULL: true */
/* Whether any instruction reads it. */
bool register_live_ever(const struct register_live *live, uint32_t r);
