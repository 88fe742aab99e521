#pragma once
/* api_errors: failed calls of the library, reported once per place and error. */
#include "gpu/runtime/cuda_types.h"
#include "gpu/runtime/host_site.h"

/* lasts: a kernel's fault left this error; all such calls are reported as one. */
void api_error_note(const char *function, cudart_error code, const char *why, bool lasts);
/* Sets the place of this thread's next error, in place of the library call's. */
void api_error_place(const struct host_site *site);
/* The program has read this thread's last error. */
void api_error_looked_at(void);
void api_errors_tell(void); /* reports all of them with their counts, at the end */
/* "cudaErrorInvalidValue" and "invalid argument" of a code; an unknown code gives a text
 * that says so. */
const char *api_error_name(cudart_error code);
