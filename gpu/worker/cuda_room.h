#pragma once
/* cuda_room: the environment and the confinement of a process that uses a CUDA device.
 *
 * libcuda does not work under the confinement of compile children: it opens device files
 * and uses ioctl on them, starts threads, reads /proc and /sys, loads further libraries
 * of its own and reserves far more address space than there is memory. Its confinement
 * permits that and no more: other files cannot be opened, only the device and the folder
 * of device_lock.h can be written, there are no sockets (except Unix ones where MPS is
 * set up) and no new processes. */
#include "base/mem.h"

/* Whether a driver's library is in one of the usual places, the loader's path or
 * $UPSKILLD_LIBCUDA, or whether the kernel has its part of it. Cheap: nothing is
 * loaded. */
bool cuda_room_has_driver(void);
/* The needs of a driver change with its versions. The environment variable
 * UPSKILLD_CUDA_CONFINEMENT says how a process confines itself to use one: */
enum cuda_confinement {
    /* unset: as full, but report if the driver does not start, and the supervisor finds
     * out why (driver_trial.h) */
    CUDA_CONFINEMENT_TRY,
    CUDA_CONFINEMENT_FULL,  /* "full" */
    CUDA_CONFINEMENT_LIMITS /* "limits": only resource limits, as results say */
};
enum cuda_confinement cuda_room_confinement(void);
void cuda_room_set_confinement(enum cuda_confinement confinement);

/* For execve: CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER, CUDA_MPS_*, the folders of
 * LD_LIBRARY_PATH that contain a driver, $UPSKILLD_LIBCUDA, the confinement, and settings
 * that load modules at once, disable the disk cache and make the C library keep freed
 * memory. NULL-terminated; each freed with strings_free. */
char **cuda_room_environment(enum cuda_confinement confinement);

/* Without the device files cuInit runs the driver's setuid helper, which a confined
 * process cannot: if they are missing, calls it in a separate process. init: cuInit. */
void cuda_room_make_devices(int (*init)(unsigned flags));
/* Confines this process; returns enum confinement bits. library: the path of libcuda, may
 * be NULL. Call after the library was loaded and before cuInit: a thread keeps the
 * confinement that it was started with. */
unsigned cuda_room_enter(unsigned cpu_s, const char *library);

/* The wider confinement of a tool that starts a program which uses a device, and of that
 * program (sanitize_child.h). In addition to the above: processes, but only these
 * programs; Unix sockets, no others; pipes and files in one folder. */
struct cuda_room_tool {
    unsigned cpu_s;
    const char *library;           /* libcuda, may be NULL */
    const char *folder;            /* of the job */
    const char *const *exec_paths; /* files and folders; NULL-terminated */
    size_t file_bytes;             /* of a file that is written */
};
unsigned cuda_room_enter_tool(const struct cuda_room_tool *tool);
