#pragma once
/* program_lines: translates addresses in a program's host code to lines of its sources,
 * with addr2line from the binutils of the host's compiler. */
#include "gpu/worker/program_build.h"

#define PROGRAM_LINES_MAX 4096 /* addresses; further ones have no line */

/* offsets: of FOLDER/out/program, an object whose names are decimal numbers. Each gets
 * {"file", "line"}: of the innermost source of the job that was inlined there, or stays
 * null. */
void program_lines_find(const struct build_job *job, json_t *offsets);
