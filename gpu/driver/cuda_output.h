#pragma once
/* cuda_output: what kernels print, and what the driver says of their asserts.
 *
 * The driver writes printf's text to this process's standard output and asserts to its
 * standard error. Both become pipes that a thread of ours empties, so that nothing ever
 * blocks however much a kernel prints; the first CUDA_OUTPUT_KEPT bytes of each are kept,
 * the rest is counted. One per process, until that ends. */
#include "base/buf.h"
#include "base/json.h"

#include <stdint.h>

struct err;

#define CUDA_OUTPUT_KEPT ((64u << 10) - 64) /* a result keeps 64 KiB with the note */

int cuda_output_start(struct err *err);
/* All that was written until now, appended; what is known is then forgotten. ret_lost:
 * bytes that were not kept. Empty while nothing was started. */
void cuda_output_take(struct buf *printed, uint64_t *ret_lost, struct buf *said);

/* What the driver says when a kernel ended in CUDA_ASSERT, as one finding, appended to
 * the array: "r0/k.cu:12: void k(float *): block: [0,0,0], thread: [3,0,0] Assertion `x >
 * 0` failed.", a line for each thread. File, function and expression are the kernel's own
 * words and may hold whatever it likes, newlines and lines like this one too. So the
 * first line that can be read is the finding (the driver's own comes first), the same
 * place's further lines are its count, and no other line is believed. Returns the count:
 * 0 when there is no such line and nothing was appended. The job's folder is taken off
 * the file's name. */
size_t cuda_assert_read(const char *text, size_t len, json_t *findings);
/* The name that a client knows: "sub/k.cu" of "/dev/shm/job-7/r0/sub/k.cu", for line
 * information has the job's folder. Points into file. */
const char *cuda_file_display(const char *file, size_t len);
