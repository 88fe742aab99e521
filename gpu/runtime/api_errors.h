#pragma once
/* api_errors: calls of the library that failed, told once for each place and error. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

#include <stdbool.h>

/* lasts: it is what a kernel's fault left; all of those are one. */
void api_error_note(const char *function, cudart_error code, const char *why, bool lasts);
/* The next one of this thread stands there, not where the library was called. */
void api_error_place(const struct host_site *site);
/* The program has asked for this thread's last error. */
void api_error_looked_at(void);
void api_errors_tell(void); /* all of them with their counts, at the end */
/* "cudaErrorInvalidValue" and "invalid argument" of a code; of one unknown, words that
 * say so. */
const char *api_error_name(cudart_error code);
