#pragma once
/* omissions: what a source is compiled again without, because the compiler refused it and
 * the device code may do without.
 *
 * The compiler stops at a header that it does not find. One in angle brackets belongs to
 * a library that is not here. It also refuses what only the host's compiler takes, such
 * as a builtin of g++ in a constexpr function, or a class of the host's that a type
 * holds: it stands in what has no execution space (gpu/source/host_part.h), and is left
 * out by the declaration, later by the header. When the
 * device code compiles without these, they are warnings. Else the first answer stands.
 *
 * An instantiation that host code asks for (gpu/source/host_code.h) names its kernel by
 * its template arguments alone, and these by names that may be the host's. One that the
 * compiler refuses where it stands, and not within the kernel, is left out with a
 * warning: it was written here. */
#include "gpu/check/check_input.h"

struct omissions {
    json_t *findings; /* what was left out, as findings that call nothing wrong */
    json_t *refused;  /* the first answer that something was left out for;
                         NULL: none */
    bool lacks_header;
    int rounds;
};

/* With the answer to a compilation: true when another is due without what it named, which
 * the input's sources then lack. */
bool omissions_next(struct omissions *o, struct check_input *input, const json_t *answer);
/* After that said false: the device code needs what was left out. */
bool omissions_missed(const struct omissions *o, const json_t *last);
/* What stands in the last answer's place, a new reference; NULL:
 * the answer as it is. */
json_t *omissions_settle(const struct omissions *o, const json_t *last);
void omissions_finish(struct omissions *o);

#define OMISSIONS_ROUNDS_MAX 16 /* compilations */
#define OMISSIONS_MAX 64        /* headers, functions and instantiations */
