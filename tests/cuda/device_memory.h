#pragma once
/* device_memory: one address space for all modules.
 *
 * All modules of a context share it (gpu/ptx, struct machine_space). Addresses only rise
 * and are never given twice. What is freed lends its bytes, unwiped, to the next
 * allocation of the same size, so that a kernel that writes nothing finds what another
 * one left. */
#include "gpu/ptx/machine/machine.h"
#include "gpu/ptx/state/memory.h"

/* Made at the first call, gone with device_memory_finish. */
const struct machine_space *device_space(void);
/* Of a kind that machines do not give: cuMemAlloc's. NULL when there is no room. */
struct allocation *device_memory_new(uint64_t bytes);
/* The host's bytes of [address, address + len), NULL when that is not inside one
 * allocation. */
uint8_t *device_memory_at(uint64_t address, uint64_t len);
uint64_t device_memory_used(void);
/* By its first address; -EINVAL. Nothing may run. */
int device_memory_free(uint64_t address);
void device_memory_finish(void);
