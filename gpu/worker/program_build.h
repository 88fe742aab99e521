#pragma once
/* program_build: compiles a whole CUDA program with nvcc, in a stage that may only start
 * the compiler's own programs (program_stage.h).
 *
 * It is linked with our runtime library instead of NVIDIA's, so functions missing from
 * that are known before the program runs. Programs are cached by the digest of all their
 * inputs. */
#include "gpu/worker/program_log.h"

struct build_job {
    const char *folder;        /* the job's, absolute: empty */
    struct source_set sources; /* what may be included; files that are compiled: */
    const json_t *units;       /* paths in it: ["r0/a.cu"] */
    const json_t *include_dirs;
    const json_t *words; /* further arguments for nvcc, already checked */
    const char *nvcc;    /* absolute */
    const char *runtime; /* libcudart.so.13, absolute */
    bool lenient;        /* missing functions may be called; their address is null */
    unsigned wall_ms;
    size_t memory_bytes;
};

struct program_built {
    char *path; /* of the program; NULL: there is none */
    bool cached;
    const char *code;  /* then: "compile", "link", "compile_timeout", … */
    char message[256]; /* a sentence; "" if the findings say everything */
    const char *hint;  /* or NULL */
    struct program_log log;
    unsigned ms;
    unsigned confinement; /* bits; 0 for a cached program */
};
void program_build(const struct build_job *job, struct program_built *ret);
void program_built_finish(struct program_built *built);

/* Runs a tool confined like the compiler, on the contents of FOLDER: its standard output
 * is written to out. */
bool program_tool_run(const struct build_job *job, const char *const *argv,
                      const char *input, struct buf *out);
