#pragma once
/* python_strings: the CUDA in a Python file.
 *
 * torch.utils.cpp_extension.load_inline, cupy.RawKernel and pycuda's SourceModule take
 * kernels as text, mostly in triple-quoted strings of a script. What stands outside of
 * such strings is blanked, lengths and lines kept, so that findings are at the script's
 * own lines. */
#include <stddef.h>

/* Keep the triple-quoted strings that hold __global__ or __device__ and belong to a unit,
 * from 1 on (python_units.h); PYTHON_ALL_UNITS keeps all. "\\\\" becomes " \\",
 * as Python has it but for a blank; "{{" of an f-string likewise. Where load_inline is
 * called, which reads PyTorch's headers first, so does the text, if a line has room.
 * Returns how many units there are, at least 1. */
#define PYTHON_ALL_UNITS 0
size_t python_strings_keep_cuda(char *text, size_t len, size_t unit);
