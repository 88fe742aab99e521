#pragma once
/* cuda_room: what a process that uses a CUDA device finds and may do.
 *
 * libcuda cannot live in the room of compile children: it opens device files and speaks
 * ioctl with them, starts threads, reads /proc and /sys, loads more of its own libraries
 * and reserves far more address space than there is memory. It gets that and no more:
 * files other than those cannot be opened, nothing can be written but the device and the
 * folder of device_lock.h, there are no sockets (Unix ones where MPS is set up) and no
 * new processes. */
#include <stdbool.h>
#include <stddef.h>

/* Cheap: is there a driver's library in one of the usual places, the loader's path or
 * $UPSKILLD_LIBCUDA, or the kernel's part of it? Nothing is loaded. */
bool cuda_room_has_driver(void);
/* What a driver needs changes with its versions. The environment variable
 * UPSKILLD_CUDA_CONFINEMENT says how a process is to use one: */
enum cuda_confinement {
    CUDA_CONFINEMENT_TRY,   /* unset: as full, but say when the driver does not start, and
                               the supervisor finds out why (driver_trial.h) */
    CUDA_CONFINEMENT_FULL,  /* "full" */
    CUDA_CONFINEMENT_LIMITS /* "limits": nothing but resource limits, as results say */
};
enum cuda_confinement cuda_room_confinement(void);
void cuda_room_set_confinement(enum cuda_confinement confinement);

/* For execve: CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, CUDA_MPS_*, those folders of
 * LD_LIBRARY_PATH that hold a driver, $UPSKILLD_LIBCUDA, the confinement, that modules
 * are loaded at once and nothing is kept on disk, and that the C library keeps memory
 * that was freed. NULL-terminated; each freed with strings_free. */
char **cuda_room_environment(enum cuda_confinement confinement);

/* Without the device files cuInit runs the driver's setuid helper, which a confined
 * process cannot: where they are missing, let a process of its own do it. init: cuInit.
 */
void cuda_room_make_devices(int (*init)(unsigned flags));
/* Confines this process; enum confinement bits. library: where libcuda came from, may be
 * NULL. After the library was loaded and before cuInit: a thread keeps the confinement
 * that it was started with. */
unsigned cuda_room_enter(unsigned cpu_s, const char *library);

/* The wider room of a tool that starts a program which uses a device, and of that program
 * (sanitize_child.h). Beside the above: processes, but no programs other than these; Unix
 * sockets, as the only ones; pipes and files in one folder. */
struct cuda_room_tool {
    unsigned cpu_s;
    const char *library;           /* libcuda, may be NULL */
    const char *folder;            /* of the job */
    const char *const *exec_paths; /* files and folders; NULL-terminated */
    size_t file_bytes;             /* of a file that is written */
};
unsigned cuda_room_enter_tool(const struct cuda_room_tool *tool);
