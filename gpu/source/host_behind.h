#pragma once
/* host_behind: instantiations after the unit's last line, where they move no places. Part
 * of host_code. */
#include "gpu/source/host_blanker.h"

/* Adds the instantiation of a launch, in its namespaces and with a #line for the line
 * that requests it, counted from `base`. False, adding nothing, if that is inside an
 * #if. */
bool host_behind_add(struct buf *out, const struct host_blanker *b,
                     const struct host_launch *launch, size_t base);
/* Restores the line numbers of the text that follows. text: the unit's, before this
 * one. */
void host_behind_end(struct buf *out, const char *text, size_t len);

#define HOST_BEHIND_BYTES (64u << 10)
