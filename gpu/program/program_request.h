#pragma once
/* program_request: turns kernel/run's params into the worker's request
 * (gpu/worker/program_child.h): sources with their includes, options as arguments for
 * nvcc, files. Reads only beneath the roots. Call on a thread: it reads the disk. */
#include "gpu/check/check_input.h"

/* What was sent, and why other includes were not: errors at their lines. */
struct program_sources {
    struct source_set set;
    json_t *refused;
};
void program_sources_finish(struct program_sources *s);

/* Appends the request's attachment to out. 0, or a negative errno with refusal filled:
 * a file that is missing or outside the roots, a forbidden option, a compiled binary,
 * more than out holds. roots, include_dirs: absolute, NULL-terminated. ret_sources:
 * finish it whatever is returned. */
int program_request(const json_t *params, const char *const *roots,
                    const struct check_places *places, struct buf *out,
                    struct program_sources *ret_sources, struct check_refusal *refusal);
/* By its name: one that nvcc compiles. */
bool program_is_source(const char *path);
/* The request's params. compile_ms: the compiler's time limit. */
json_t *program_params(const json_t *params, unsigned compile_ms);
