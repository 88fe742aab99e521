#pragma once
/* builtin_wanted: what an answer must contain: only text that cannot be derived from the
 * question, and no more, because a correct answer may use other words. For the tests that
 * the builtin teacher writes. */
#include <jansson.h>
#include <stddef.h>

#define WANTED_MAX 3u

/* The names (letters, digits, "_", three or more, no number) of text that occur in
 * neither known nor asked, each once; a name that text assigns and uses again is the
 * writer's choice and is omitted. A path in quotes or angles, <cub/cub.cuh>, is one
 * name. New reference. */
json_t *wanted_names(const char *text, const char *known, const char *asked);
void wanted_only(json_t *names, const char *told); /* removes names that occur in told */
/* The name of text that has the longest prefix, four letters or more, in common with one
 * of told: "zlib1g-dev" where told has "Could NOT find ZLIB". malloc'ed, or NULL. */
char *wanted_like(const char *text, const char *told);
/* The lines of a diff that begin with mark, without it. Freed by the caller. */
char *wanted_lines(const char *diff, char mark);
