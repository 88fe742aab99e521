#pragma once
/* check_input: kernel/check's params as something that can be compiled.
 *
 * Reads the options, gathers the source and what it includes beneath the roots, blanks
 * host code, and names all of it by one digest. */
#include "gpu/check/kernel_check.h"
#include "gpu/check/project_flags.h"
#include "gpu/compile/compile_options.h"
#include "gpu/source/host_code.h"
#include "gpu/source/host_guesses.h"
#include "gpu/source/include_closure.h"

struct check_input {
    struct compile_options options;
    struct include_closure closure; /* host parts blanked */
    bool is_ptx;                    /* PTX that somebody else made: nothing is blanked */
    bool host_stripped;             /* something had to be blanked */
    bool host_left_out;             /* and not only includes */
    bool has_device_code;           /* host_code.h's */
    bool may_hide_device_code;      /* or a define of the request does */
    struct host_guesses guesses;    /* the first choice is written */
    json_t *flags;  /* the project's own that were taken (project_flags.h), or NULL */
    json_t *launch; /* {"block": [x,y,z], "dynamic_shared_bytes", "cluster": [x,y,z]?} or
                       NULL */
    char key[65];   /* digest of all that decides the answer, launch excepted */
};

/* Where files may come from, beside the request's own roots. */
struct check_places {
    const char *const *include_dirs; /* absolute, NULL-terminated; may be NULL */
    const char *default_arch;
    const char *compiler; /* what tells one compiler from another, for the key */
    struct compile_commands *commands; /* of the thread that reads; NULL: a project's own
                                          flags are not looked for */
    const json_t *settings, *known_keys; /* project_flags.h's; may be NULL */
};

/* What a caller inside the daemon wants besides. */
struct check_wants {
    bool ptx;   /* result "ptx", with line information */
    bool cubin; /* result "cubin", where it is not too large: compile.h */
    const char *const *instantiate; /* kernels' template-ids, NULL-terminated; or NULL */
    const char *const *kernels;     /* those it is about; NULL: all */
    size_t script_unit;             /* of a Python file, from 1 on; 0: all together */
};

/* 0, or a negative errno with `refusal` filled. wants may be NULL. roots: absolute
 * folders, NULL-terminated, may be NULL. */
int check_input_read(struct check_input *ret, const json_t *params,
                     const struct check_wants *wants, const char *const *roots,
                     const struct check_places *places, struct check_refusal *refusal);
void check_input_finish(struct check_input *input);
struct shared_bytes;
/* What a worker is asked: params for pool_submit, a new reference. */
json_t *check_input_params(const struct check_input *input, unsigned wall_ms);
/* The sources, for pool_submit: one holder; megabytes, a thread's work. NULL: more than a
 * message holds. */
struct shared_bytes *check_input_sources(const struct check_input *input);
