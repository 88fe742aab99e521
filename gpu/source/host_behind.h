#pragma once
/* host_behind: instantiations behind the unit's last line, where no place moves. Part of
 * host_code. */
#include "gpu/source/host_blanker.h"

struct buf;

/* What the launch asks for, in its namespaces and for the compiler on the line that asks
 * for it, counted from `base`. What stands beneath an #if from there on is left out:
 * false. */
bool host_behind_add(struct buf *out, const struct host_blanker *b,
                     const struct host_launch *launch, size_t base);
/* What follows has its own lines again. text: the unit's, which this comes behind. */
void host_behind_end(struct buf *out, const char *text, size_t len);

#define HOST_BEHIND_BYTES (64u << 10)
