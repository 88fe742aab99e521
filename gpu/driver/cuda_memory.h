#pragma once
/* cuda_memory: the device memory of one trial, and what was written where it must not be.
 *
 * Each buffer is an allocation of its own: a front zone, the buffer, a rear zone that
 * begins with the very next byte. The zones hold random bytes of the trial; after a
 * launch they are read back, so a write within ZONE bytes of a buffer is found with its
 * offset. Reads, and writes further away, are not: the device faults there or nobody
 * notices. A buffer never has the address that the buffer in its place had in the trial
 * before, so that what a kernel remembers of an address is wrong.
 *
 * A poisoned buffer holds bytes that a kernel would hardly write: see
 * cuda_memory_unwritten. Nothing is freed on a context that is lost. */
#include "base/json.h"
#include "gpu/driver/cuda_context.h"

struct cuda_memory;

#define CUDA_MEMORY_ZONE (64u << 10) /* bytes, at least */

/* limit: bytes of all buffers; seed decides the zones' contents. */
struct cuda_memory *cuda_memory_new(struct cuda_context *c, uint64_t limit,
                                    uint64_t seed);
void cuda_memory_free(struct cuda_memory *m); /* NULL is fine */
/* From now on buffers are allocations of exactly their size, without zones, and what
 * would be poisoned is left as the driver gave it: for compute-sanitizer, which knows the
 * bounds of allocations and what was written to them, and sees no further than that. */
void cuda_memory_make_bare(struct cuda_memory *m);
/* Aligned to 256. -ENOMEM over the limit or when the device has no more, -EIO. */
int cuda_memory_alloc(struct cuda_memory *m, const char *name, uint64_t bytes,
                      bool poisoned, cuda_address *ret, struct err *err);
/* Make memory known that is not ours (a module's variable), so that it can be read and
 * written. */
void cuda_memory_add(struct cuda_memory *m, const char *name, cuda_address address,
                     uint64_t bytes);
/* Within one buffer; -EFAULT otherwise. Waits until it is done. */
int cuda_memory_write(struct cuda_memory *m, cuda_address address, const void *bytes,
                      uint64_t len, struct err *err);
int cuda_memory_read(struct cuda_memory *m, cuda_address address, void *bytes,
                     uint64_t len, struct err *err);
/* Findings (out_of_bounds, with buffer, offset and count) for zones that changed,
 * appended to the array; the zones are filled anew. kernel: what people call the one that
 * ran. */
int cuda_memory_check(struct cuda_memory *m, const char *kernel, json_t *findings,
                      struct err *err);
/* Bytes of a poisoned buffer that still hold its poison, in runs of at least 8, and the
 * first one's offset. A GPU does not tell who wrote what; a kernel can therefore hide
 * single elements that it left alone, never a row of them. 0 for one-byte floats and for
 * buffers that were not poisoned. */
uint64_t cuda_memory_unwritten(struct cuda_memory *m, cuda_address address,
                               uint64_t *ret_first);
