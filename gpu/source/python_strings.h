#pragma once
/* python_strings: the CUDA in a Python file. torch.utils.cpp_extension.load_inline,
 * cupy.RawKernel and pycuda's SourceModule take kernels as text, mostly in triple-quoted
 * strings of a script. Everything outside such strings is blanked, keeping lengths and
 * lines, so that findings are at the script's own lines. */
#include <stddef.h>

/* Keeps the triple-quoted strings that contain __global__ or __device__ and belong to a
 * unit, from 1 on (python_units.h); PYTHON_ALL_UNITS keeps all. "\\\\" becomes " \\",
 * which is Python's value apart from the blank; "{{" of an f-string likewise. If the
 * script calls load_inline, which includes PyTorch's headers first, the text includes
 * them too, if a line has room. Returns the number of units, at least 1. */
#define PYTHON_ALL_UNITS 0
size_t python_strings_keep_cuda(char *text, size_t len, size_t unit);
