#pragma once
/* device_memory: one address space for all modules.
 *
 * The machine of gpu/ptx has memory of its own; a device's is shared by all modules of a
 * context. So this library brings its own functions of gpu/ptx/state/memory.h, over one
 * table for the process: those here win over the archive's. Addresses only rise and are
 * never given twice. What is freed lends its bytes, unwiped, to the next allocation of
 * the same size, so that a kernel that writes nothing finds what another one left. */
#include "gpu/ptx/state/memory.h"

/* Of a kind that machines do not give: cuMemAlloc's. NULL when there is no room. */
struct allocation *device_memory_new(uint64_t bytes);
/* The host's bytes of [address, address + len), NULL when that is not inside one
 * allocation. */
uint8_t *device_memory_at(uint64_t address, uint64_t len);
uint64_t device_memory_used(void);
/* By its first address; -EINVAL. Nothing may run. */
int device_memory_free(uint64_t address);
void device_memory_finish(void);
