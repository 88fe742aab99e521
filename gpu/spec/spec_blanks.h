#pragma once
/* spec_blanks: what a check spec leaves open. kernel/init writes null where nothing tells
 * what belongs there. */
#include "base/json.h"

struct err;
/* -EINVAL names every null of the spec, but for what stands in "expect", with what
 * belongs there in the words of the schema; 0: there is none. */
int spec_blanks_refuse(const json_t *spec, struct err *err);
