#pragma once
/* program_log: the words of nvcc, of the host's compiler and of the linker as findings.
 *
 * The front end's lines are read by compiler_log.h; here come the host compiler's
 * (k.cu:3:5: error: …) and the linker's, whose missing functions of CUDA's libraries are
 * what this machine cannot run, and no mistake of the program. */
#include "gpu/source/source_set.h"

struct program_log {
    json_t *findings; /* array, tidied */
    json_t *missing;  /* [{"function", "file"?, "line"?}], each function once */
    size_t errors;    /* but for those that the missing functions explain */
};
/* Never fails. */
void program_log_read(struct program_log *ret, const char *log, size_t len,
                      const struct source_set *sources);
void program_log_finish(struct program_log *l);

/* A path that a compiler or a debugger wrote as people know the file: a source's name as
 * it was given, <header> for one beneath an include folder, else the last component.
 * Freed by the caller. */
char *program_file_name(const char *path, const struct source_set *sources);
/* The source that is meant, wherever its folder was when it was compiled; NULL: none. */
const struct source_file *program_source(const char *path,
                                         const struct source_set *sources);
