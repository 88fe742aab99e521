#pragma once
/* steady: kernels that do the same whatever some of their memory contains.
 *
 * A kernel is steady in a parameter if the values that it loads through that pointer
 * decide neither where it goes nor what it accesses: they only reach values that it
 * stores. Then a launch with other contents there has the same accesses, and so the same
 * findings. It is read from the code, on the safe side. */
#include "gpu/device/module.h"

#define STEADY_PARAMS 62u

/* changed: bit n is parameter n. false also for what is not known, such as calls. The
 * queue's turn. */
bool kernel_is_steady(const struct kernel *k, uint64_t changed);
/* Whether it is steady whatever all memory contains, and stores only through its own
 * parameters: the bits of *ret_stores. */
bool kernel_is_plain(const struct kernel *k, uint64_t *ret_stores);
