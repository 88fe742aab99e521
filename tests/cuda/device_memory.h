#pragma once
/* device_memory: gpu/device's memory as this driver lends it.
 *
 * All modules of a context share it. Addresses only rise and are never given twice. What
 * is freed lends its bytes, unwiped, to the next allocation of the same size, so that a
 * kernel that writes nothing finds what another one left. */
#include "gpu/device/device.h"

/* Made at the first call, gone with device_memory_finish. */
struct device *device(void);
struct allocation *device_buffer_new(uint64_t bytes); /* NULL: no room */
/* The host's bytes of [address, address + len), NULL when that is not inside one
 * allocation. */
uint8_t *device_bytes_at(uint64_t address, uint64_t len);
void device_memory_finish(void);
