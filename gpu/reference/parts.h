#pragma once
/* parts: a loop of an operator, spread over the machine's cores (base/parts.h). */
#include "gpu/reference/operator_call.h"

/* Turns [from, to) of a loop; those of others may run at the same time. Negative ends the
 * whole loop. c->err is the caller's: a part of several leaves it alone. */
typedef int call_body(const struct operator_call *c, const void *data, int64_t from,
                      int64_t to);
/* All turns [0, count), at least `least` of them together: give as many as take some ten
 * microseconds. 0; -ETIME with c->err once the run was stopped; what a part returned. */
int call_parts(struct operator_call *c, int64_t count, int64_t least, call_body *body,
               const void *data);
