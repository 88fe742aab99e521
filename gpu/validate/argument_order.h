#pragma once
/* argument_order: whether a check spec names its arguments like the kernel's parameters
 * but in another order. Arguments are passed by position, so passing (cols, rows) for
 * (rows, cols) would only show as wrong elements. */
#include "gpu/spec/kernel_spec.h"

/* A sentence about launch i of a kernel with parameters called `names`; NULL: they are in
 * the same order, or have other names. */
char *argument_order_words(const struct kernel_spec *spec, size_t i, const json_t *names);
/* Appends the warning `argument_order` for each affected kernel. kernels: from
 * kernel/check. A kernel that is also launched in its own order is left out, because two
 * buffers may swap places from launch to launch. */
void argument_order_note(const struct kernel_spec *spec, const json_t *kernels,
                         json_t *findings);
/* Appends `argument_order` for two scalars of a launch of which each has the value of the
 * size that is called like the other. */
void argument_values_note(const struct kernel_spec *spec, json_t *findings);
/* "the kernel's parameters are (x, n), the spec's arguments (x)" of the first launch that
 * has another number of them than its kernel; NULL: there is none. New. */
char *argument_count_words(const struct kernel_spec *spec, const json_t *kernels);
