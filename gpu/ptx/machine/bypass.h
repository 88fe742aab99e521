#pragma once
/* bypass: lanes that pass by a warp operation whose mask names them.
 *
 * CUDA: all non-exited threads that the mask names must execute the operation, or the
 * result is undefined; on a device the others may wait for ever. Here they go on when the
 * lanes that pass by have exited. A lane that leaves at once, as `if (i >= n) return;`
 * does, is right. One that passes by runs on into code that those who wait come to as
 * well: the operation stands in a branch or loop that not all of them enter. That is a
 * warning, because `if (i >= n) { x[i] = 0; return; }` in front of an operation and
 * `x[i] = v;` behind it is the same code, once the compiler has merged the two stores. */
#include "gpu/ptx/state/block.h"

/* Call when `lanes` exit at `s`, and others of their warp are pending. */
void bypass_tell(struct warp *w, const struct step *s, uint32_t lanes);
