#pragma once
/* rounded_args: float arguments rounded by integer division, such as "1 / d" = 0. The
 * specification allows it, but it is hardly ever intended. */
#include "gpu/spec/spec_case.h"

#define ROUNDED_ARGS_CODE "integer_division"

/* The first such argument of a case, in the kernel's launches or else the reference's:
 * "args[2].value: …", the message of a finding. False: there is none. */
bool case_rounded_argument(const struct spec_case *c, char *message, size_t size);
