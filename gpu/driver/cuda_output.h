#pragma once
/* cuda_output: collects what kernels print, and the driver's messages about asserts. The
 * driver writes printf's text to this process's standard output and asserts to its
 * standard error. Both become pipes that a thread empties, so that output never blocks;
 * the first CUDA_OUTPUT_KEPT bytes of each are kept, the rest is counted. One per
 * process, until the process ends. */
#include "base/buf.h"
#include "base/json.h"

/* A result keeps 64 KiB including the note. */
#define CUDA_OUTPUT_KEPT ((64u << 10) - 64)

int cuda_output_start(struct err *err);
/* Appends everything written since the last call, and resets. ret_lost: bytes that were
 * not kept. Empty before cuda_output_start. */
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
/* The client's name of a file: "sub/k.cu" for "/dev/shm/job-7/r0/sub/k.cu", because line
 * information contains the job's folder. Points into file. */
const char *cuda_file_display(const char *file, size_t len);
