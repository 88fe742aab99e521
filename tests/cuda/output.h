#pragma once
/* output: what kernels print: a FIFO that loses its oldest text, written to the process's
 * standard output when the host waits for the device; and the lines of failed assertions.
 */
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

void output_limit(size_t bytes); /* of the FIFO: 1 MiB */
void output_add(const char *text, size_t len);
void output_flood(uint64_t bytes); /* so many more, at the next flush, over any limit */
void output_flush(void);
/* A finding "assert" of the machine as CUDA's line on standard error. */
void output_assertion(const json_t *finding);
void output_finish(void);
