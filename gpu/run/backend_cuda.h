#pragma once
/* backend_cuda: what the process that runs kernels tells its CUDA backend. */
struct cuda_context;

/* The device that is used from now on: opened, and never closed. Must be called before
 * backend_cuda is opened. */
void backend_cuda_use(struct cuda_context *c);
/* For a run under compute-sanitizer: buffers as cuda_memory_make_bare has them. */
void backend_cuda_make_bare(void);
