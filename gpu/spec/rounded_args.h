#pragma once
/* rounded_args: float arguments that whole-number division has rounded, as "1 / d" is 0.
 *
 * It is what the specification says, and hardly ever what was meant. */
#include "gpu/spec/spec_case.h"

#define ROUNDED_ARGS_CODE "integer_division"

/* The first of a case, of the kernel's launches or else the reference's: "args[2].value:
 * …", for who shows a finding. False: there is none. */
bool case_rounded_argument(const struct spec_case *c, char *message, size_t size);
