#pragma once
/* nvrtc_probe: the real compiler in a test's own process, for tests whose truth it is.
 *
 * Only tests load NVRTC like this; the daemon never does. */
#include <stdbool.h>
#include <stddef.h>

struct shim;

/* NULL when a compiler was found, else why there is none. Printed once, loudly. */
const char *nvrtc_probe_missing(void);

struct nvrtc_probe_result {
    bool ok;
    char *
        log; /* with -v of ptxas: the resources of each kernel. Anonymous namespaces,
                whose names hold the file's path, are called 12_GLOBAL__N_1 as gcc does */
};
/* Compile to a cubin for sm_90a. `headers` go in memory; `extra` options may be NULL. */
void nvrtc_probe_compile(const char *name, const char *source, const struct shim *headers,
                         size_t header_count, const char *const *extra,
                         struct nvrtc_probe_result *ret);
void nvrtc_probe_finish(struct nvrtc_probe_result *r);
/* The registers that the log gives for a kernel's symbol, -1 when it is not there. */
int nvrtc_probe_registers(const struct nvrtc_probe_result *r, const char *symbol);
/* How many kernels the log names. */
int nvrtc_probe_kernels(const struct nvrtc_probe_result *r);
