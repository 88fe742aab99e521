#pragma once
/* argument_order: does a check spec name its arguments as the kernel names its
 * parameters, but in another order? They are passed by position, so that (cols, rows) for
 * a kernel's (rows, cols) shows as wrong elements alone. */
#include "gpu/spec/kernel_spec.h"

/* A sentence about launch i of a kernel whose parameters are called `names`; NULL: they
 * are in one order, or have other names. */
char *argument_order_words(const struct kernel_spec *spec, size_t i, const json_t *names);
/* Appends the warning `argument_order` for each kernel that it is true of. kernels:
 * kernel/check's. A kernel that is launched in its own order as well is left out: two
 * buffers may change places from launch to launch. */
void argument_order_note(const struct kernel_spec *spec, const json_t *kernels,
                         json_t *findings);
