#pragma once
/* fatbin: the PTX texts in a program's section .nv_fatbin, which nvcc writes. Layout:
 * docs/architecture/runtime.md. */
#include "base/buf.h"

/* Adds to ret the text for the newest architecture up to sm_90a; if the program was
 * device-linked (-rdc), the joined texts of its parts. wrapper: the argument of
 * __cudaRegisterFatBinary, or the fat binary itself. -ENOENT: it contains no PTX;
 * -ENOTSUP: it is compressed; -EINVAL: it is not a fat binary. */
int fatbin_ptx(const void *wrapper, struct buf *ret, struct err *err);
