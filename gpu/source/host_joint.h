#pragma once
/* host_joint: the kernels and host templates of included headers that a unit
 * instantiates. Part of host_code.
 *
 * "template void run<float>(float *);" in a .cu instantiates the kernels that run<T> in a
 * header launches. The unit and the headers that contain kernels or launches are read as
 * one file; instantiations found only by reading them together are written after the
 * unit's last line, where they move no places. */
struct source_set;
struct space_macros;
struct host_macros;
struct buf;

/* Adds that text. The sources' texts must not be blanked yet; the macros are those of all
 * of them. Left out are headers beyond HOST_JOINT_BYTES in all, instantiations beyond
 * HOST_JOINT_MAX (one of each kernel is kept first), and those inside an #if of the
 * unit. */
void host_joint_read(const struct source_set *sources, const struct space_macros *spaces,
                     const struct host_macros *macros, struct buf *out);
#define HOST_JOINT_BYTES (512u << 10)
#define HOST_JOINT_MAX 16      /* each adds to the compile time */
#define HOST_JOINT_LARGE_MAX 2 /* with CuTe or CUTLASS: up to a minute */
