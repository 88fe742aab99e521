#pragma once
/* register_live: registers of a function that are still to be read. */
#include "gpu/ptx/read/module.h"

struct register_live;

/* Never NULL. Of functions that are too large every register counts as live. */
struct register_live *register_live_new(const struct ptx_function *f);
void register_live_free(struct register_live *live);
/* May what register r holds at the head of the basic block, of which `at` is an
 * instruction, be read? */
bool register_live_at(const struct register_live *live, uint32_t at, uint32_t r);
/* Does any instruction read it? */
bool register_live_ever(const struct register_live *live, uint32_t r);
