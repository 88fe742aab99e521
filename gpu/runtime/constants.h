#pragma once
/* constants: __constant__ variables that a launch reads and the host has not set. They are
 * zero, as C++ says, and the host has most likely forgotten them. Whether the source
 * initialises one with zero the device code does not tell: the reader of the report looks
 * (gpu/worker/constant_place.h). */
#include "gpu/device/module.h"
#include "gpu/runtime/host_site.h"

/* Of a module that was read: those without contents. */
void constants_add(struct module *m);
/* The program writes it, or has got its address. Any thread. */
void constant_set(const struct allocation *a);
/* The kernel's launch has ended; reports each once. The queue's turn. */
void constants_after(const struct kernel *k, const struct host_site *site);
