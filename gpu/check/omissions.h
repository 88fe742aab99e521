#pragma once
/* omissions: what a source is compiled again without, because the compiler refused it and
 * the device code may do without.
 *
 * The compiler stops at a header that it does not find. One in angle brackets belongs to
 * a library that is not here; when the device code compiles without it, that is a
 * warning. Else the first answer stands: it names the header.
 *
 * An instantiation that host code asks for (gpu/source/host_code.h) names its kernel by
 * its template arguments alone. When several kernels of that name take them, none is
 * meant, and a note says so. */
#include "gpu/check/check_input.h"

struct omissions {
    json_t *findings; /* what was left out, as findings that call nothing wrong */
    json_t *refused;  /* the answer with the first missing header; NULL: none missed */
};

/* With the answer to a compilation: true when another is due without what it named, which
 * the input's sources then lack. */
bool omissions_next(struct omissions *o, struct check_input *input, const json_t *answer);
/* After that said false: the device code needs a header that is not there. */
bool omissions_missed(const struct omissions *o, const json_t *last);
/* What stands in the last answer's place, a new reference; NULL:
 * the answer as it is. */
json_t *omissions_settle(const struct omissions *o, const json_t *last);
void omissions_finish(struct omissions *o);

#define OMISSIONS_MAX 16 /* headers and kernels' names */
