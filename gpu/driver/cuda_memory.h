#pragma once
/* cuda_memory: the device memory of one trial, and the detection of writes outside its
 * buffers.
 *
 * Each buffer is a separate allocation: a front zone, the buffer, and a rear zone that
 * begins with the next byte. The zones contain random bytes; after a launch they are read
 * back, so a write within ZONE bytes of a buffer is found with its offset. Reads, and
 * writes further away, are not found: the device faults, or the access goes unnoticed. A
 * buffer never has the address of its predecessor in the trial before, so that results
 * cached by address are wrong. A poisoned buffer contains bytes that a kernel would
 * hardly write: see cuda_memory_unwritten. Nothing is freed in a lost context. */
#include "gpu/driver/cuda_context.h"

struct cuda_memory;

#define CUDA_MEMORY_ZONE (64u << 10) /* bytes, at least */

/* limit: bytes of all buffers; seed determines the zones' contents. */
struct cuda_memory *cuda_memory_new(struct cuda_context *c, uint64_t limit,
                                    uint64_t seed);
void cuda_memory_free(struct cuda_memory *m); /* NULL is fine */
/* From now on buffers are allocations of exactly their size, without zones, and are not
 * poisoned: for compute-sanitizer, which checks the bounds of allocations and which bytes
 * were written. */
void cuda_memory_make_bare(struct cuda_memory *m);
/* Aligned to 256. -ENOMEM over the limit or if the device has no more memory, -EIO. */
int cuda_memory_alloc(struct cuda_memory *m, const char *name, uint64_t bytes,
                      bool poisoned, cuda_address *ret, struct err *err);
/* Registers memory allocated elsewhere (a module's variable), so that it can be read and
 * written. */
void cuda_memory_add(struct cuda_memory *m, const char *name, cuda_address address,
                     uint64_t bytes);
/* Within one buffer; -EFAULT otherwise. Waits for the copy. */
int cuda_memory_write(struct cuda_memory *m, cuda_address address, const void *bytes,
                      uint64_t len, struct err *err);
int cuda_memory_read(struct cuda_memory *m, cuda_address address, void *bytes,
                     uint64_t len, struct err *err);
/* Appends findings (out_of_bounds, with buffer, offset and count) for changed zones to
 * the array, and refills the zones. kernel: the name of the kernel for people. */
int cuda_memory_check(struct cuda_memory *m, const char *kernel, json_t *findings,
                      struct err *err);
/* The number of bytes of a poisoned buffer that still hold its poison, in runs of at
 * least 8, and the first one's offset. A GPU does not record writes; single unwritten
 * elements can therefore be missed, but not a row of them. 0 for one-byte floats and for
 * buffers that were not poisoned. */
uint64_t cuda_memory_unwritten(struct cuda_memory *m, cuda_address address,
                               uint64_t *ret_first);
