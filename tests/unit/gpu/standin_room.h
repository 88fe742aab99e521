#pragma once
/* A stand-in of libcuda with a conf of its own, loaded by this test's process. */
#include "gpu/driver/cuda_api.h"

struct standin_room {
    struct cuda_api api;
    void *library;
    char folder[64], path[128];
    cuda_stream_ref stream;
    cuda_module_ref module;
};

/* Loads the library (CUDA_STANDIN in the environment) with the lines of `conf`. */
struct standin_room *room_load(const char *conf);
/* The same of libnvidia-ml (NVML_STANDIN); only `library` is filled. */
struct standin_room *room_load_nvml(const char *conf);
/* The same, with a context, a stream and, unless NULL, a module of this PTX, to which the
 * head (version, target) is added where it has none. */
struct standin_room *room_start(const char *conf, const char *ptx);
cuda_function_ref room_function(struct standin_room *r, const char *name);
/* Waits until the stream is empty, by asking; the last answer. */
int room_wait(struct standin_room *r);
/* `blocks` x `threads`, params as cuLaunchKernelEx takes them. */
int room_launch(struct standin_room *r, const char *kernel, unsigned blocks,
                unsigned threads, void **params);
void room_end(struct standin_room *r); /* unloads it */
