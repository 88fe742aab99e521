#pragma once
/* api_errors: calls of the library that failed, told once for each place and error. */
#include "gpu/runtime/cuda_types.h"

void api_error_note(const char *function, cudart_error code, const char *why);
/* The program has asked for this thread's last error. */
void api_error_looked_at(void);
void api_errors_tell(void); /* all of them with their counts, at the end */
/* "cudaErrorInvalidValue" and "invalid argument" of a code; of one unknown, words that
 * say so. */
const char *api_error_name(cudart_error code);
const char *api_error_words(cudart_error code);
