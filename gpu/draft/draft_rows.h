#pragma once
/* draft_rows: which of a buffer's sizes is the length of its rows, as far as the kernel
 * shows it. */
#include "base/json.h"
#include "gpu/host/host_program.h"

/* Each argument's "shape" of several sizes, in the order in which the host multiplies
 * them, becomes [the others' product, the row] where the kernel shows the row, else one
 * product: a shape that was guessed would be believed. */
void draft_rows_show(const struct host_program *p, const struct declaration *kernel,
                     const json_t *args);
