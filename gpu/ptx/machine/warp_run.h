#pragma once
/* warp_run: a warp's turn. */
#include "gpu/ptx/state/warp.h"

/* Runs until every lane waits or has exited, or the turn is over. */
void warp_run(struct warp *w, int32_t steps);
