#pragma once
/* include_closure: the user's files that a source needs, resolved by us, not the
 * compiler.
 *
 * #include "…" (and <…> where a root has the file) is resolved lexically beneath the
 * roots and read with openat2(RESOLVE_BENEATH), so neither "..", a link, a FIFO nor an
 * absolute path reaches a file that is not the user's to compile. A computed include is
 * refused. #line directives are blanked in every file. What is found nowhere is left to
 * the compiler (a CUDA header, or a missing one that it reports itself). */
#include "gpu/source/source_set.h"

struct err;

struct include_options {
    const char *const *roots;        /* absolute folders files may come from */
    const char *const *include_dirs; /* absolute, beneath the roots; -I in order */
    const json_t *headers;           /* {path: text} from the request; first of all. An
                                        absolute path: the text of the file there */
    size_t
        script_unit; /* of a Python file, from 1 on; 0: all together (python_strings.h) */
};

struct include_closure {
    struct source_set sources;
    char **include_dirs; /* inside the job, for -I; NULL-terminated */
    size_t script_units; /* of a Python file; else 0 */
    json_t *findings;    /* refused includes, as errors at their lines; may be empty */
    char *prefix; /* the leading run of includes and macros of the unit as the precompiled
                     header key wants it, or NULL when it begins otherwise or includes
                     only light headers; set by include_closure_find_prefix */
    char **roots; /* of this machine, by their number in job paths; NULL-terminated */
};

/* From a text (display: its name; path: the absolute folder its quoted includes are
 * relative to, or NULL) or, with text NULL, from the file at the absolute `path`. A
 * header (.cuh, .h …) is compiled through a generated unit, files[0], that includes it.
 *
 * Each file's text is settled (include_directives.h) and what the compiler must not reach
 * is blanked in it; `original` is then the text as it was. Fails only when the unit
 * itself can't be read or is too large. */
int include_closure_build(const char *path, const char *display, const char *text,
                          size_t len, const struct include_options *options,
                          struct include_closure *ret, struct err *err);
/* Set `prefix` by the unit's text as it is now: after host_code has changed it. */
void include_closure_find_prefix(struct include_closure *c);
void include_closure_finish(struct include_closure *c);
/* "r0/…" inside the job -> absolute path on this machine, or NULL; freed by the caller.
 */
char *include_closure_real_path(const struct include_closure *c, const char *job_path);
