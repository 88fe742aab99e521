#pragma once
/* omissions: compiles a source again without parts that the compiler rejected and that
 * the device code may not need.
 *
 * The compiler stops at a header that it does not find; one in angle brackets belongs to
 * a library that is not installed. It also rejects code that only the host's compiler
 * accepts, such as a builtin of g++ in a constexpr function, or a host class as a type's
 * member. Such code has no execution space (gpu/source/host_part.h); its declaration is
 * left out, or later its header. If the device code compiles without these parts, they
 * are warnings. Otherwise the first answer stands.
 *
 * An instantiation that host code requests (gpu/source/host_code.h) names its kernel only
 * by its template arguments, which may be the host's names. If the compiler rejects it
 * where it is written, and not within the kernel, it is left out with a warning, because
 * we wrote it there. */
#include "gpu/check/check_input.h"

struct omissions {
    json_t *findings; /* the omitted parts, as findings that are not errors */
    json_t *refused;  /* the first answer that led to an omission; NULL: none */
    bool lacks_header;
    int rounds;
};

/* Call it with the answer to a compilation: true if another is needed without the parts
 * that it named, which are then removed from the input's sources. */
bool omissions_next(struct omissions *o, struct check_input *input, const json_t *answer);
/* After omissions_next returned false: whether the device code needs the omitted
 * parts. */
bool omissions_missed(const struct omissions *o, const json_t *last);
/* The replacement for the last answer, a new reference; NULL: unchanged. */
json_t *omissions_settle(const struct omissions *o, const json_t *last);
void omissions_finish(struct omissions *o);

#define OMISSIONS_ROUNDS_MAX 16 /* compilations */
#define OMISSIONS_MAX 64        /* headers, functions and instantiations */
