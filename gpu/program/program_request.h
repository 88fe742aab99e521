#pragma once
/* program_request: kernel/run's params as what a worker compiles and runs
 * (gpu/worker/program_child.h): sources with what they include, options as words for
 * nvcc, files. Read beneath the roots alone. For a thread: it reads the disk. */
#include "gpu/check/check_input.h"

struct buf;

/* What is attached to the request, into out. 0, or a negative errno with refusal filled:
 * a file that is not there or outside, an option that is not allowed, a finished binary,
 * more than out holds. roots, include_dirs: absolute, NULL-terminated. */
int program_request(const json_t *params, const char *const *roots,
                    const struct check_places *places, struct buf *out,
                    struct check_refusal *refusal);
/* The params beside it. compile_ms: what the compiler has. */
json_t *program_params(const json_t *params, unsigned compile_ms);
