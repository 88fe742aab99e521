#pragma once
/* parts: runs a loop of an operator on all cores (base/parts.h). */
#include "gpu/reference/operator_call.h"

/* Iterations [from, to) of a loop; other parts may run at the same time. A negative
 * result ends the whole loop. Parts must not use c->err, which belongs to the caller. */
typedef int call_body(const struct operator_call *c, const void *data, int64_t from,
                      int64_t to);
/* All iterations [0, count), at least `least` together: choose it so that they take some
 * ten microseconds. 0; -ETIME with c->err once the run was stopped; or a part's negative
 * result. */
int call_parts(struct operator_call *c, int64_t count, int64_t least, call_body *body,
               const void *data);
