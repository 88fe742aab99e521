#pragma once
/* hook: what an agent is told after its edits. Copilot CLI runs it after a tool call and
 * adds the answer to what the model reads. */
#include "base/mem.h"

/* Reads the tool call from standard input and makes the agent's folder the working
 * directory. *ret: the CUDA file that the tool wrote, a new string; NULL: none. */
int hook_read(char **ret, struct err *err);

/* Keeps what is written to standard output from then on. *ret: where it went before. */
int hook_keep_output(int *ret, struct err *err);
/* Ends it, and answers with what was kept if `tell` is set and there are errors in it. */
int hook_answer(int output, bool tell, struct err *err);
