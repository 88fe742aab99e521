#pragma once
/* program_build: a whole CUDA program compiled by nvcc, in a stage that may start the
 * compiler's own programs and nothing else (program_stage.h).
 *
 * It is linked with our runtime library in the place of NVIDIA's, so what that lacks is
 * known before the program runs. Programs are kept by the digest of all that they are
 * made of. */
#include "gpu/source/source_set.h"
#include "gpu/worker/program_log.h"

struct program_job {
    const char *folder;        /* the job's, absolute: empty */
    struct source_set sources; /* what may be included; files that are compiled: */
    const json_t *units;       /* paths in it: ["r0/a.cu"] */
    const json_t *include_dirs;
    const json_t *words; /* further ones for nvcc, checked already */
    const char *nvcc;    /* absolute */
    const char *runtime; /* libcudart.so.13, absolute */
    bool lenient;        /* what is not there may be called; its address is null */
    unsigned wall_ms;
    size_t memory_bytes;
};

struct program_built {
    char *path; /* of the program; NULL: there is none */
    bool cached;
    const char *code;  /* then: "compile", "link", "compile_timeout", … */
    char message[256]; /* a sentence; "" where the findings say all */
    const char *hint;  /* or NULL */
    struct program_log log;
    unsigned ms;
    unsigned confinement; /* bits; of a cached one none are told */
};
void program_build(const struct program_job *job, struct program_built *ret);
void program_built_finish(struct program_built *built);

/* A tool of the compiler's room, on what FOLDER holds: its standard output into out. */
bool program_tool_run(const struct program_job *job, const char *const *argv,
                      const char *input, struct buf *out);
