#pragma once
/* backend_cuda: settings of the CUDA backend, made by the process that runs kernels. */
struct cuda_context;

/* Sets the device to use from now on: it is open, and will never be closed. Call it
 * before opening backend_cuda. */
void backend_cuda_use(struct cuda_context *c);
/* For a run under compute-sanitizer: creates buffers with cuda_memory_make_bare. */
void backend_cuda_make_bare(void);
