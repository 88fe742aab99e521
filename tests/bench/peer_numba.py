#!/usr/bin/env python3
"""What bench_peers.py asks of numba's CUDA simulator (NUMBA_ENABLE_CUDASIM=1): the kernels of emulator_kernels.cu.

The simulator changes the names of a kernel's module: kernels and what they name stand at its top. It knows a shared array by
its line: one on each."""
import numpy
from numba import cuda, float32

import peer_time


@cuda.jit
def vector_add(a, b, c):
    i = cuda.grid(1)
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def saxpy4(x, y):
    for i in range(cuda.grid(1), y.shape[0], cuda.gridsize(1)):
        for k in range(4):
            y[i, k] = numpy.float32(1.5) * x[i, k] + y[i, k]


@cuda.jit
def polynomial(x, y):
    i = cuda.grid(1)
    if i >= y.size:
        return
    v, s = x[i], numpy.float32(0)
    for _ in range(64):
        s = s * v + numpy.float32(0.25)
    y[i] = s


@cuda.jit
def collatz(x, length):
    i = cuda.grid(1)
    if i >= length.size:
        return
    k, v = 0, int(x[i])
    while v > 1:
        v = 3 * v + 1 if v % 2 else v // 2
        k += 1
    length[i] = k


@cuda.jit
def gather(x, index, y):
    i = cuda.grid(1)
    if i >= y.size:
        return
    s = numpy.float32(0)
    for k in range(16):
        s += x[index[(i + k * 977) % y.size]]
    y[i] = s


@cuda.jit
def transpose(a, out):
    tile = cuda.shared.array((32, 33), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    left, top = cuda.blockIdx.x * 32, cuda.blockIdx.y * 32
    for j in range(0, 32, 8):
        tile[ty + j, tx] = a[top + ty + j, left + tx]
    cuda.syncthreads()
    for j in range(0, 32, 8):
        out[left + ty + j, top + tx] = tile[tx, ty + j]


@cuda.jit
def gemm_tiled(a, b, c):
    x = cuda.shared.array((16, 16), float32)
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
def gemm_tiled_32(a, b, c):
    x = cuda.shared.array((32, 32), float32)
    y = cuda.shared.array((32, 32), float32)
    column, row = cuda.grid(2)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    total = numpy.float32(0)
    for k in range(0, a.shape[0], 32):
        x[ty, tx], y[ty, tx] = a[row, k + tx], b[k + ty, column]
        cuda.syncthreads()
        for j in range(32):
            total += x[ty, j] * y[j, tx]
        cuda.syncthreads()
    c[row, column] = total


@cuda.jit
def gemm_naive(a, b, c):
    column, row = cuda.grid(2)
    total = numpy.float32(0)
    for k in range(a.shape[0]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


@cuda.jit
def block_reduce(a, c):
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


@cuda.jit
def empty_block(y, n):
    if n < 0:
        y[0] = 1


@cuda.jit
def barrier_only(y, n):
    for _ in range(n):
        cuda.syncthreads()
    y[cuda.grid(1)] = n


def main():
    n, m = 2048, 32
    v = peer_time.arrays(n, m)
    peer_time.report(v, {
        "vector_add": (n, lambda: vector_add[n // 256, 256](v.a, v.b, v.out)),
        "saxpy4": (n, lambda: saxpy4[1, 256](v.a.reshape(-1, 4), v.y.reshape(-1, 4))),
        "polynomial": (n * 64, lambda: polynomial[n // 256, 256](v.a, v.out)),
        "collatz": (n, lambda: collatz[n // 256, 256](v.ints, v.length)),
        "gather": (n * 16, lambda: gather[n // 256, 256](v.a, v.index, v.out)),
        "transpose": (m * m, lambda: transpose[(m // 32, m // 32), (32, 8)](v.p, v.square)),
        "gemm_tiled": (m ** 3, lambda: gemm_tiled[(m // 16, m // 16), (16, 16)](v.p, v.q, v.square)),
        "gemm_tiled_32": (m ** 3, lambda: gemm_tiled_32[(m // 32, m // 32), (32, 32)](v.p, v.q, v.square)),
        "gemm_naive": (m ** 3, lambda: gemm_naive[(m // 32, m // 8), (32, 8)](v.p, v.q, v.square)),
        "block_reduce": (n, lambda: block_reduce[n // 256, 256](v.a, v.sums)),
        "empty_block": (n, lambda: empty_block[n // 256, 256](v.out, 1)),
        "barrier_only": (256 * 16, lambda: barrier_only[1, 256](v.out, 16)),
    }, {})


if __name__ == "__main__":
    main()
