#pragma once
/* watch: waiting until one of some CUDA files, or of the files that they include with
 * "…", is written, made or replaced. */
#include "base/json.h"

struct watch;

/* From now on. paths: absolute files. params: kernel/check's, for its folders of includes
 * (include_roots, and -I among the options). Includes that a macro computes are not
 * found; a file that is not there is waited for. NULL: nothing can be watched here. */
struct watch *watch_new(const json_t *paths, const json_t *params);
/* The path of a file that was changed since watch_new, the first of them, borrowed; NULL:
 * Ctrl-C. */
const char *watch_wait(struct watch *w);
/* After it: was this file changed, or one that it includes as it is now? */
bool watch_touches(const struct watch *w, const char *path);
void watch_free(struct watch *w); /* NULL is fine */
