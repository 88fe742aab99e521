#pragma once
/* compile_child: one compilation in its own forked process.
 *
 * The child inherits a loaded compiler (see zygote.h), reads its job from a socket,
 * writes the files, confines itself, compiles, writes the answer of compile.h to the
 * same socket and exits. */
#include <stddef.h>

struct compile_job;
struct nvrtc;
struct nvrtc_output;
struct toolkit;

/* What a child inherits in its memory. */
struct compile_room {
    const struct nvrtc *nvrtc;
    const struct toolkit *toolkit;
    const char *version;     /* "13.0.88" */
    const char *precompiled; /* file for -use-pch, or NULL */
};

enum {
    /* The exit status of a child that reached its address-space limit. */
    COMPILE_CHILD_OUT_OF_MEMORY = 91,
    COMPILE_CHILD_BAD_JOB = 92,
};

/* The job's head (child_io.h): {"folder": "/…", "job": compile.h's params}. The folder is
 * empty and the job's alone; it becomes the working directory, and all files of the job
 * are written there. */
_Noreturn void compile_child_run(const struct compile_room *room, int supervisor,
                                 int socket);

/* Compile the text as the job's options say, with `extra` (may be NULL) added. */
void compile_unit(const struct compile_room *room, const struct compile_job *job,
                  const char *text, const char *const *extra, struct nvrtc_output *ret);
