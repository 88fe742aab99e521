#pragma once
/* host_joint: what a unit asks of the kernels and host templates in the headers that it
 * includes. Part of host_code.
 *
 * "template void run<float>(float *);" in a .cu asks for the kernels that run<T> in a
 * header launches. The headers that hold kernels or launches and the unit are read as if
 * they were one file; what only they know together is instantiated behind the unit's last
 * line, where no place moves. */
struct source_set;
struct space_macros;
struct host_macros;
struct buf;

/* Adds that text. The sources' texts are still whole; the macros are those of all of
 * them. Headers beyond HOST_JOINT_BYTES in all and instantiations beyond HOST_JOINT_MAX
 * are left out, of each kernel one before others, and so is what stands beneath an #if of
 * the unit. */
void host_joint_read(const struct source_set *sources, const struct space_macros *spaces,
                     const struct host_macros *macros, struct buf *out);
#define HOST_JOINT_BYTES (512u << 10)
#define HOST_JOINT_MAX 16      /* each costs the compiler time */
#define HOST_JOINT_LARGE_MAX 2 /* with CuTe or CUTLASS: up to a minute */
