#pragma once
/* uncompiled: device code for which the compiler reported no error and generated no code.
 * Template kernels exist only if something instantiates them, device functions only if a
 * kernel calls them: a source without either compiles to nothing, which looks like
 * success. */
#include "gpu/check/check_input.h"

/* For a compilation without errors; answer: the worker's. Appends the finding
 * not_compiled (in quick checks only if nothing was compiled) or no_kernels; explain
 * false: only the return value. Returns the outcome "nothing_compiled" or "no_kernels"
 * (there is no device code), with a sentence in summary; NULL: something was compiled. */
const char *uncompiled_tell(const struct check_input *input, const json_t *answer,
                            bool explain, json_t *findings, struct buf *summary);
/* The names of the checked file's templates that are not instantiated although something
 * else was compiled; new reference. findings: gets a note about those that are not
 * kernels; NULL: none. */
json_t *uncompiled_templates(const struct check_input *input, const json_t *answer,
                             json_t *findings);
