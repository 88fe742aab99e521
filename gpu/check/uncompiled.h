#pragma once
/* uncompiled: device code that the compiler was content with and made no machine code of.
 *
 * Template kernels exist where something instantiates them, device functions where a
 * kernel calls them: a source without either compiles to nothing, which looks like
 * success. */
#include "gpu/check/check_input.h"

struct buf;

/* Of a compilation without errors; answer: the worker's. Appends to findings what was not
 * compiled, not_compiled (in quick checks only when nothing was) or no_kernels; explain
 * false: only the return value. Returns the outcome
 * "nothing_compiled" or "no_kernels" (there is no device code), with its words in
 * summary; NULL: something was compiled. */
const char *uncompiled_tell(const struct check_input *input, const json_t *answer,
                            bool explain, json_t *findings, struct buf *summary);
/* The names of the checked file's templates that nothing instantiates, beside something
 * that was compiled; new reference. findings: a note of those that are no kernels; NULL:
 * none. */
json_t *uncompiled_templates(const struct check_input *input, const json_t *answer,
                             json_t *findings);
