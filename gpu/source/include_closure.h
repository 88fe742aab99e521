#pragma once
/* include_closure: the user's files that a source needs, resolved here rather than by the
 * compiler.
 *
 * #include "…" (and <…> if a root has the file) is resolved lexically beneath the roots
 * and read with openat2(RESOLVE_BENEATH), so that no "..", link, FIFO or absolute path
 * reaches a file outside the roots. A computed include is refused. #line directives are
 * blanked in every file. A file that is not found is left to the compiler (a CUDA header,
 * or a missing one that it reports itself). */
#include "gpu/source/source_set.h"

struct include_options {
    const char *const *roots;        /* absolute folders that may be read */
    const char *const *include_dirs; /* absolute, beneath the roots; -I in order */
    /* {path: text} from the request; takes precedence. An absolute path replaces the text
     * of that file */
    const json_t *headers;
    size_t
        /* of a Python file, from 1 on; 0: all units together (python_strings.h) */
        script_unit;
};

struct include_closure {
    struct source_set sources;
    char **include_dirs; /* inside the job, for -I; NULL-terminated */
    size_t script_units; /* of a Python file; else 0 */
    json_t *findings;    /* refused includes, as errors at their lines; may be empty */
    /* the leading run of includes and macros of the unit, in the form for the precompiled
     * header's key, or NULL if it begins otherwise or includes only light headers; set by
     * include_closure_find_prefix */
    char *prefix;
    /* on this machine, indexed by their number in job paths; NULL-terminated */
    char **roots;
};

/* Builds it from a text (display: its name; path: the absolute folder for its quoted
 * includes, or NULL) or, if text is NULL, from the file at the absolute `path`. A header
 * (.cuh, .h …) is compiled through a generated unit, files[0], that includes it. Each
 * file's text is settled (include_directives.h), and references that the compiler must
 * not follow are blanked; `original` then has the text as it was. Fails only if the unit
 * itself cannot be read or is too large. */
int include_closure_build(const char *path, const char *display, const char *text,
                          size_t len, const struct include_options *options,
                          struct include_closure *ret, struct err *err);
/* Sets `prefix` from the unit's current text: call it after host_code has changed the
 * text. */
void include_closure_find_prefix(struct include_closure *c);
void include_closure_finish(struct include_closure *c);
/* "r0/…" inside the job -> absolute path on this machine, or NULL; freed by the caller.
 */
char *include_closure_real_path(const struct include_closure *c, const char *job_path);
