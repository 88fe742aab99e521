#pragma once
/* toolkit: where CUDA's compiler library and headers are on this machine.
 *
 * Looked for, first hit wins: $UPSKILLD_CUDA, $CUDA_HOME, $CUDA_PATH, the packages of the
 * Python environment that the program is in, the folder that set-up fills
 * ($XDG_DATA_HOME/upskilld/cuda), /usr/local/cuda, /usr/local/cuda-*, /opt/cuda, a CUDA
 * from Debian's packages (/usr/lib/cuda), and last the loader's own path. Both a
 * toolkit's layout (lib64/, include/) and the PyPI wheels' (nvidia/cu13/lib) are
 * understood. Looking opens folders and reads no library. */
#include <stddef.h>

struct toolkit {
    char *root;          /* "/usr/local/cuda-13.0" */
    char *nvrtc;         /* absolute path of libnvrtc.so.<major> */
    char *library_dir;   /* of nvrtc and its builtins */
    char **include_dirs; /* include, include/cccl; NULL-terminated */
    int major;           /* from the library's name */
};

#define TOOLKIT_HINT                                                                     \
    "install CUDA 12 or 13 and set CUDA_HOME if it is in an unusual place, or fetch "    \
    "NVIDIA's compiler wheels: pip install upskilld does, and ./setup of the sources"

/* " (UPSKILLD_CUDA is /opt/cuda)": what the environment names, for when nothing was
 * found; NULL: nothing. Freed by the caller. */
char *toolkit_named(void);
/* The compiler driver for whole programs, looked for as toolkits are, and last on $PATH:
 * an absolute path, freed by the caller; NULL: there is none. */
char *toolkit_nvcc(void);
#define NVCC_HINT                                                                        \
    "upskillctl setup programs fetches NVIDIA's compiler wheels (195 MB); a CUDA "       \
    "toolkit that is there is found by CUDA_HOME"
/* Every usable one, best first; count may be 0. Frees with toolkits_free. */
struct toolkit *toolkits_find(size_t *ret_count);
void toolkits_free(struct toolkit *t, size_t count);
