#pragma once
/* program_stage: one confined process of kernel/run, the compiler or the program itself:
 * started, fed, listened to and ended in time.
 *
 * For the keeper (program_child.h), which has one stage at a time. What the process
 * starts is in its group and ends with it; so does everything when the keeper gets
 * SIGTERM. */
#include "gpu/worker/confine.h"

struct buf;

struct program_stage {
    const char *const *argv; /* [0] is an absolute path */
    const char *const *environment;
    const char *folder; /* it starts in */
    const struct confine_rules *rules;
    const char *input; /* its standard input; NULL: empty */
    size_t input_len;
    struct buf *out, *error; /* up to their limits; what is more is counted and dropped */
    unsigned wall_ms;
    const char *quota_folder; /* NULL, or what may hold quota_bytes in all */
    size_t quota_bytes;
    size_t resident_bytes; /* memory that it may have in use; 0: as much as it likes */
};

struct program_end {
    int failure; /* 0, or a negative errno: it did not start */
    int status;  /* as waitpid gives it */
    bool timed_out, over_quota, over_memory; /* why it was ended */
    size_t out_bytes, error_bytes;           /* all that it wrote */
    unsigned ms;
    unsigned confinement; /* bits in force */
};

/* First thing in the keeper: SIGTERM ends the stage that runs, then the keeper. */
void program_stages_init(void);
void program_stage_run(const struct program_stage *stage, struct program_end *ret);
