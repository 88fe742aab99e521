#pragma once
/* program_log: turns the output of nvcc, the host's compiler and the linker into
 * findings.
 *
 * compiler_log.h reads the front end's lines; this module reads the host compiler's
 * (k.cu:3:5: error: …) and the linker's. Functions of CUDA's libraries that the linker
 * misses are functions that this machine cannot run, not errors of the program. */
#include "gpu/source/source_set.h"

struct program_log {
    json_t *findings; /* array, tidied */
    json_t *missing;  /* [{"function", "file"?, "line"?}], each function once */
    size_t errors;    /* except those that the missing functions explain */
    char *last;       /* the last line, cleaned; NULL: the log is empty */
};
/* Never fails. nvcc: its path, beside whose folder CUDA's headers lie. What is said of
 * other files outside of the job is withheld. */
void program_log_read(struct program_log *ret, const char *log, size_t len,
                      const struct source_set *sources, const char *nvcc);
void program_log_finish(struct program_log *l);

/* A path in the output of a compiler or debugger, as the user knows the file: a source's
 * name as it was given, <header> for a file beneath an include folder, else the last
 * component. Freed by the caller. */
char *program_file_name(const char *path, const struct source_set *sources);
/* The source at this path, wherever its folder was when it was compiled; NULL: none. */
const struct source_file *program_source(const char *path,
                                         const struct source_set *sources);
