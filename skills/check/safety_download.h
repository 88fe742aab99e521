#pragma once
/* safety_download: whether a file that was just downloaded is executed. */
#include "base/mem.h"

/* A later command is the file, or an interpreter with it, and no command before it
 * verifies its digest or signature. name: without folders; rest: the text after the
 * download, in a script, a code block or a list of steps. */
bool download_runs(const char *name, size_t len, const char *rest, size_t rest_len);
/* The same, only for the interpreter, or only for the file itself. */
bool download_is_interpreted(const char *name, size_t len, const char *rest,
                             size_t rest_len);
bool download_is_program(const char *name, size_t len, const char *rest, size_t rest_len);
