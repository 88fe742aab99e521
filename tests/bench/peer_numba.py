#!/usr/bin/env python3
"""What bench_peers.py asks of numba's CUDA simulator (NUMBA_ENABLE_CUDASIM=1): nanoseconds for an element as JSON.

The simulator changes the names of a kernel's module: kernels and what they name stand at its top."""
import json

import numpy
from numba import cuda, float32

from peer_time import best


@cuda.jit
def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def gemm(a, b, c):
    x = cuda.shared.array((16, 16), float32)  # the simulator knows an array by its line: one on each
    y = cuda.shared.array((16, 16), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = numpy.float32(0)
    for k in range(0, a.shape[0], 16):
        x[ty, tx], y[ty, tx] = a[row, k + tx], b[k + ty, column]
        cuda.syncthreads()
        for j in range(16):
            total += x[ty, j] * y[j, tx]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def reduction(a, c):
    part = cuda.shared.array(256, float32)
    t, d = cuda.threadIdx.x, 128
    part[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    while d:
        if t < d:
            part[t] += part[t + d]
        cuda.syncthreads()
        d //= 2
    if t == 0:
        c[cuda.blockIdx.x] = part[0]


def main():
    n, m = 2048, 32
    a, b, c = (numpy.random.rand(n).astype("float32") for _ in range(3))
    p, q, r = (numpy.random.rand(m, m).astype("float32") for _ in range(3))
    sums = numpy.zeros(n // 256, "float32")
    found = {"vector_add": best(n, lambda: vector_add[n // 256, 256](a, b, c)),
             "gemm": best(m ** 3, lambda: gemm[(m // 16, m // 16), (16, 16)](p, q, r)),
             "reduction": best(n, lambda: reduction[n // 256, 256](a, sums))}
    assert numpy.allclose(c, a + b) and numpy.allclose(r, p @ q, rtol=1e-4) and numpy.allclose(sums, a.reshape(-1, 256).sum(1), rtol=1e-4)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
