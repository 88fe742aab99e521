#pragma once
/* safety_download: whether a file that was just fetched is run. */
#include <stdbool.h>
#include <stddef.h>

/* A later command is the file, or an interpreter with it, and none before compares its
 * digest or signature. name: without folders; rest: what stands behind the fetch, in a
 * script, a code block or a list of steps. */
bool download_runs(const char *name, size_t len, const char *rest, size_t rest_len);
/* The same, only where it is the interpreter's, or only where it is run itself. */
bool download_is_interpreted(const char *name, size_t len, const char *rest,
                             size_t rest_len);
bool download_is_program(const char *name, size_t len, const char *rest, size_t rest_len);
