#pragma once
/* fatbin: the PTX texts in what nvcc puts into a program's section .nv_fatbin.
 *
 * Layout: docs/architecture/runtime.md. */
#include "base/buf.h"

struct err;

/* wrapper: what __cudaRegisterFatBinary is given, or the fat binary itself. The text of
 * the entry for the newest architecture up to sm_90a is added to ret; of a program that
 * was device-linked (-rdc) the texts of its parts are joined. -ENOENT: there is no PTX
 * inside, -ENOTSUP: it is packed, -EINVAL: it is no fat binary. */
int fatbin_ptx(const void *wrapper, struct buf *ret, struct err *err);
