#pragma once
/* toolkit: finds CUDA's compiler library and headers on this machine.
 *
 * Places, of which the first hit wins: $UPSKILLD_CUDA, $CUDA_HOME, $CUDA_PATH, the
 * packages of the Python environment that the program is in, the folder that set-up
 * fills ($XDG_DATA_HOME/upskilld/cuda), /usr/local/cuda, /usr/local/cuda-*, /opt/cuda, a
 * CUDA from Debian's packages (/usr/lib/cuda), and last the loader's own path. It knows
 * the layouts of toolkits (lib64/, include/) and of the PyPI wheels (nvidia/cu13/lib).
 * Searching opens folders but reads no library. */
#include <stddef.h>

struct toolkit {
    char *root;          /* "/usr/local/cuda-13.0" */
    char *nvrtc;         /* absolute path of libnvrtc.so.<major> */
    char *library_dir;   /* of nvrtc and its builtins */
    char **include_dirs; /* include, include/cccl; NULL-terminated */
    int major;           /* from the library's name */
};

#define TOOLKIT_HINT                                                                     \
    "install CUDA 12 or 13 and set CUDA_HOME if it is in an unusual place, or get "      \
    "NVIDIA's compiler wheels with pip install upskilld or with ./setup in the sources"

/* " (UPSKILLD_CUDA is /opt/cuda)": the environment's setting, for a message that nothing
 * was found; NULL: no setting. Freed by the caller. */
char *toolkit_named(void);
/* nvcc, searched in the same places and last on $PATH: an absolute path, freed by the
 * caller; NULL: there is none. */
char *toolkit_nvcc(void);
#define NVCC_HINT                                                                        \
    "upskillctl setup programs downloads NVIDIA's compiler wheels (195 MB); or set "     \
    "CUDA_HOME to an installed CUDA toolkit"
/* All usable toolkits, best first; the count may be 0. Free with toolkits_free. */
struct toolkit *toolkits_find(size_t *ret_count);
void toolkits_free(struct toolkit *t, size_t count);
