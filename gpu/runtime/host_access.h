#pragma once
/* host_access: finds host code that accesses shared memory before the device is done.
 *
 * Managed and pinned memory is mapped twice: kernels and copies use one mapping, the
 * host the other one, at the device's address. While the host has not waited for an
 * operation, memory that the operation writes is protected from the host, and memory
 * that a copy reads is write-protected. The first access faults: if it is to such a byte
 * it is reported, and the allocation stays open until the next operation. The bytes that
 * kernels wrote are known exactly (from their shadow).
 *
 * Not detected: memory of cudaHostRegister and __managed__ variables; host writes while
 * kernels read; kernels that communicate with the host (st.volatile, .sys). */
#include "gpu/device/module.h"
#include "gpu/runtime/order.h"

/* Call when an asynchronous copy that accesses [address, address + bytes) is requested.
 */
void host_access_copy(const struct moment *m, struct allocation *a, uint64_t address,
                      uint64_t bytes, bool writes, const struct host_site *site);
/* Call after a launch. The queue's turn. */
void host_access_launch(const struct moment *m, const struct kernel *k,
                        const struct host_site *site);
/* The host has waited for these (NULL: for all); removes their protection. */
void host_access_waited(const struct order_clock *c);
/* For a fault handler: whether the access may continue. Reports a finding. */
bool host_access_fault(uint64_t address, bool writes, const struct host_site *site);
/* Whether the kernel might wait for the host. */
bool host_access_waits(const struct kernel *k);
/* Whether the kernel might use memory that the host sees. Such a kernel is executed
 * before the call returns, unless it might wait for the host. */
bool host_access_may(const struct kernel *k, const void *params);
