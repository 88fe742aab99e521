#pragma once
/* nvrtc: CUDA's run-time compiler, loaded if it is installed.
 *
 * The functions are looked up by name, so building needs no CUDA header and running needs
 * no particular version: 12.x and 13.x have all functions used here. A loaded library
 * stays loaded. Used only in the worker's children and their parents. */
#include "base/mem.h"

struct nvrtc;
struct toolkit;

enum nvrtc_code { /* the nvrtcResult values that are handled differently */
                  NVRTC_OK = 0,
                  NVRTC_OUT_OF_MEMORY = 1,
                  NVRTC_INVALID_OPTION = 5,
                  NVRTC_COMPILATION_ERROR = 6,
};

/* -ENOENT when the library (or its builtins beside it) cannot be loaded, -EINVAL when it
 * lacks a function; err says which. */
int nvrtc_open(const struct toolkit *toolkit, struct nvrtc **ret, struct err *err);
void nvrtc_version(const struct nvrtc *n, int *ret_major, int *ret_minor);

struct nvrtc_input {
    const char *text; /* NUL-terminated */
    const char *name; /* of the unit; quoted includes are relative to its folder */
    const char *const *argv;
    int argc;
    const char *const *header_names; /* in-memory headers, for <name> and "name" */
    const char *const *header_texts;
    int header_count;
};

struct nvrtc_output {
    int code;            /* enum nvrtc_code or another nvrtcResult */
    const char *message; /* the code in NVRTC's words; static */
    char *log;           /* NUL-terminated, cut at a line over NVRTC_MAX_LOG */
    size_t log_len;
    char *cubin; /* NULL when there is none */
    size_t cubin_len;
    char *ptx; /* likewise; also there when only ptxas failed */
    size_t ptx_len;
    bool precompiled; /* -create-pch made its file */
    double ms;        /* inside the compiler */
};
#define NVRTC_MAX_LOG (4u << 20)
#define NVRTC_MAX_OUTPUT (256u << 20)

void nvrtc_compile(const struct nvrtc *n, const struct nvrtc_input *in,
                   struct nvrtc_output *ret);
void nvrtc_output_finish(struct nvrtc_output *o);
