#pragma once
/* program_lines: addresses in a program's host code as lines of its sources, by
 * addr2line of the binutils that the host's compiler brings. */
#include "gpu/worker/program_build.h"

#define PROGRAM_LINES_MAX 4096 /* addresses; those behind have no line */

/* offsets: of FOLDER/out/program, an object whose names are decimal numbers. Each gets
 * {"file", "line"}: of the innermost source of the job that was inlined there, or stays
 * null. */
void program_lines_find(const struct program_job *job, json_t *offsets);
