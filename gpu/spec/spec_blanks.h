#pragma once
/* spec_blanks: the open members of a check spec. kernel/init writes null if the value is
 * unknown. */
#include "base/json.h"

/* -EINVAL names every null of the spec outside "expect", with the schema's description of
 * the member; 0: there is none. */
int spec_blanks_refuse(const json_t *spec, struct err *err);
