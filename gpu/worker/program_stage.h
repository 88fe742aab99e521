#pragma once
/* program_stage: runs one confined process of kernel/run, the compiler or the program:
 * with an input, captured outputs and a time limit.
 *
 * For the keeper (program_child.h), which runs one stage at a time. Subprocesses belong
 * to the process's group and end with it. SIGTERM to the keeper ends everything. */
#include "gpu/worker/confine.h"

struct program_stage {
    const char *const *argv; /* [0] is an absolute path */
    const char *const *environment;
    const char *folder; /* its working directory */
    const struct confine_rules *rules;
    const char *input; /* its standard input; NULL: empty */
    size_t input_len;
    struct buf *out, *error; /* up to their limits; the rest is counted and dropped */
    const char *report_path; /* NULL, or where to make a named pipe that it may write to, */
    struct buf *report;      /* and what comes of it, up to its limit */
    unsigned wall_ms;
    unsigned grace_ms; /* after SIGTERM at the end of wall_ms, before SIGKILL */
    const char *quota_folder; /* NULL, or a folder limited to quota_bytes in all */
    size_t quota_bytes;
    size_t resident_bytes; /* limit of resident memory; 0: none */
    long threads;          /* limit of its first process; 0: none */
};

enum stage_limit { /* why it was killed */
    LIMIT_NONE,
    LIMIT_TIME,
    LIMIT_FOLDER,
    LIMIT_MEMORY,
    LIMIT_THREADS,
};

struct program_end {
    int failure; /* 0, or a negative errno: it did not start */
    int status;  /* as waitpid gives it */
    enum stage_limit over;
    size_t out_bytes, error_bytes; /* total output */
    unsigned ms;
    unsigned confinement; /* bits in force */
};

bool program_killed_by(const struct program_end *end, int sig);

/* Call first in the keeper: makes SIGTERM end the current stage and then the keeper. */
void program_stages_init(void);
void program_stage_run(const struct program_stage *stage, struct program_end *ret);
