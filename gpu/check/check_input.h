#pragma once
/* check_input: turns kernel/check's params into the input of a compilation.
 *
 * Reads the options, collects the source and its includes beneath the roots, and computes
 * one digest over all of it. What the compiler gets is prepared later, for answers that
 * are not cached. */
#include "gpu/check/kernel_check.h"
#include "gpu/check/project_flags.h"
#include "gpu/compile/compile_options.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/include_closure.h"

struct check_input {
    struct compile_options options;
    struct include_closure closure;
    bool is_ptx;        /* PTX of another compiler: nothing is blanked */
    char **instantiate; /* kernels' template-ids, NULL-terminated; or NULL */
    /* From check_input_prepare, which also adds to the options: */
    bool host_stripped;          /* something was blanked */
    bool host_left_out;          /* and not only includes */
    bool has_device_code;        /* host_code.h's */
    bool may_hide_device_code;   /* host_code.h's, or a define of the request does */
    struct host_guesses guesses; /* the first choice is in the sources */
    json_t *flags;  /* the project's flags that were applied (project_flags.h), or NULL */
    json_t *launch; /* {"block": [x,y,z], "dynamic_shared_bytes", "cluster": [x,y,z]?} or
                       NULL */
    char key[65];   /* digest of everything that determines the answer, except launch */
};

/* Sources of files and flags other than the request's own roots. */
struct check_places {
    const char *const *include_dirs; /* absolute, NULL-terminated; may be NULL */
    const char *default_arch;
    const char *compiler;              /* identifies the compiler, for the key */
    struct compile_commands *commands; /* the reading thread's; NULL: do not look for the
                                          project's flags */
    const json_t *settings, *known_keys; /* project_flags.h's; may be NULL */
};

/* Additional results for callers inside the daemon. */
struct check_wants {
    bool ptx;   /* result "ptx", with line information */
    bool cubin; /* result "cubin", if it is not too large: compile.h */
    const char *const *instantiate; /* kernels' template-ids, NULL-terminated; or NULL */
    const char *const *kernels;     /* restrict the result to these; NULL: all */
    size_t script_unit;             /* unit of a Python file, from 1; 0: all together */
};

/* 0, or a negative errno with `refusal` filled. wants may be NULL. roots: absolute
 * folders, NULL-terminated, may be NULL. */
int check_input_read(struct check_input *ret, const json_t *params,
                     const struct check_wants *wants, const char *const *roots,
                     const struct check_places *places, struct check_refusal *refusal);
void check_input_finish(struct check_input *input);
/* Makes of it what the compiler gets: blanks host code and appends the instantiations.
 * Once, on a thread: there may be megabytes. */
void check_input_prepare(struct check_input *input);
/* Moves include folders from "options" to "include_roots" of a shallow copy of the
 * params. */
void check_input_move_folders(json_t *asked);
struct shared_bytes;
/* The worker request's params for pool_submit; a new reference. */
json_t *check_input_params(const struct check_input *input, unsigned wall_ms);
/* The prepared sources for pool_submit; a new reference. Call on a thread as well. NULL:
 * larger than a message may be. */
struct shared_bytes *check_input_sources(const struct check_input *input);
