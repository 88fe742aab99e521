#pragma once
/* host_access: host code that touches shared memory before the device is done with it.
 *
 * Managed and pinned memory is mapped twice: kernels and copies use one mapping, the host
 * the other one, at the device's address. What an operation that the host has not waited
 * for writes is closed for the host, what a copy reads is closed for writing. The first
 * touch is a fault: if it was of such a byte it is told, and the allocation is open until
 * the next operation. Which bytes kernels wrote is exact (their shadow).
 *
 * Not seen: memory of cudaHostRegister and __managed__ variables; what the host writes
 * while kernels read it; kernels that talk to the host themselves (st.volatile, .sys). */
#include "gpu/device/module.h"
#include "gpu/runtime/order.h"

/* What a copy that the host does not wait for does to [address, address + bytes). When
 * it is asked for. */
void host_access_copy(const struct moment *m, struct allocation *a, uint64_t address,
                      uint64_t bytes, bool writes, const struct host_site *site);
/* A launch has ended: what it wrote. The queue's turn. */
void host_access_launch(const struct moment *m, const struct kernel *k,
                        const struct host_site *site);
/* The host has waited for these: NULL: for all. What that closed is open. */
void host_access_waited(const struct order_clock *c);
/* In a handler of a fault: may it go on? Tells what was found. */
bool host_access_fault(uint64_t address, bool writes, const struct host_site *site);
/* Might the kernel use memory that the host sees? Then it is carried out before the call
 * returns, if it does not wait for the host. */
bool host_access_waits(const struct kernel *k); /* might it wait for the host? */
bool host_access_may(const struct kernel *k, const void *params);
