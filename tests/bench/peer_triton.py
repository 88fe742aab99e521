#!/usr/bin/env python3
"""What bench_peers.py asks of Triton's interpreter (TRITON_INTERPRET=1): the kernels of emulator_kernels.cu. Kernels must stand in a file."""
import triton
import triton.language as tl

import peer_time


class Tensor:
    """What the interpreter asks of PyTorch's tensors, of an array in the host's memory: it needs no PyTorch (3 GB) then."""

    def __init__(self, array):
        self.array, self.dtype = array, str(array.dtype)

    def data_ptr(self):
        return self.array.ctypes.data

    def itself(self, *ignored, **also_ignored):
        return self

    untyped_storage = cpu = new_empty = itself
    set_ = copy_ = storage_offset = size = stride = itself


@triton.jit
def vector_add(a, b, c, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(c + i, tl.load(a + i, mask=i < n) + tl.load(b + i, mask=i < n), mask=i < n)


@triton.jit
def saxpy4(x, y, n, SIZE: tl.constexpr):
    for start in range(tl.program_id(0) * SIZE, n, tl.num_programs(0) * SIZE):
        i = start + tl.arange(0, SIZE)
        tl.store(y + i, 1.5 * tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def polynomial(x, y, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i, mask=i < n)
    s = tl.zeros((SIZE,), dtype=tl.float32)
    for _ in range(64):
        s = s * v + 0.25
    tl.store(y + i, s, mask=i < n)


@triton.jit
def collatz(x, length, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    v = tl.load(x + i, mask=i < n)
    k = tl.zeros((SIZE,), dtype=tl.int32)
    while tl.max(v, axis=0) > 1:
        k += (v > 1).to(tl.int32)
        v = tl.where(v > 1, tl.where(v % 2 == 1, 3 * v + 1, v // 2), v)
    tl.store(length + i, k, mask=i < n)


@triton.jit
def gather(x, index, y, n, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    s = tl.zeros((SIZE,), dtype=tl.float32)
    for k in range(16):
        s += tl.load(x + tl.load(index + (i + k * 977) % n, mask=i < n), mask=i < n)
    tl.store(y + i, s, mask=i < n)


@triton.jit
def transpose(a, out, w, SIZE: tl.constexpr):
    x = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    y = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    tl.store(out + x[:, None] * w + y[None, :], tl.trans(tl.load(a + y[:, None] * w + x[None, :])))


@triton.jit
def gemm_tiled(a, b, c, n, SIZE: tl.constexpr):
    row = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    column = tl.program_id(1) * SIZE + tl.arange(0, SIZE)
    depth = tl.arange(0, SIZE)
    total = tl.zeros((SIZE, SIZE), dtype=tl.float32)
    for k in range(0, n, SIZE):
        x = tl.load(a + row[:, None] * n + k + depth[None, :])
        y = tl.load(b + (k + depth)[:, None] * n + column[None, :])
        total += tl.dot(x, y)
    tl.store(c + row[:, None] * n + column[None, :], total)


@triton.jit
def gemm_naive(a, b, c, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(n):
        total += tl.load(a + row * n + k)[:, None] * tl.load(b + k * n + column)[None, :]
    tl.store(c + row[:, None] * n + column[None, :], total)


@triton.jit
def block_reduce(a, c, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(c + tl.program_id(0), tl.sum(tl.load(a + i), axis=0))


@triton.jit
def empty_block(y, n):
    if n < 0:
        tl.store(y, 1.0)


def main():
    n, m = 2048, 32
    v = peer_time.arrays(n, m)
    a, b, out, y, ints, length, index, sums, p, q, square = map(
        Tensor, (v.a, v.b, v.out, v.y, v.ints, v.length, v.index, v.sums, v.p, v.q, v.square))
    blocks, tiles = (n // 256,), (m // 16, m // 16)
    peer_time.report(v, {
        "vector_add": (n, lambda: vector_add[blocks](a, b, out, n, SIZE=256)),
        "saxpy4": (n, lambda: saxpy4[(1,)](a, y, n, SIZE=1024)),
        "polynomial": (n * 64, lambda: polynomial[blocks](a, out, n, SIZE=256)),
        "collatz": (n, lambda: collatz[blocks](ints, length, n, SIZE=256)),
        "gather": (n * 16, lambda: gather[blocks](a, index, out, n, SIZE=256)),
        "transpose": (m * m, lambda: transpose[(m // 32, m // 32)](p, square, m, SIZE=32)),
        "gemm_tiled": (m ** 3, lambda: gemm_tiled[tiles](p, q, square, m, SIZE=16)),
        "gemm_tiled_32": (m ** 3, lambda: gemm_tiled[(m // 32, m // 32)](p, q, square, m, SIZE=32)),
        "gemm_naive": (m ** 3, lambda: gemm_naive[(m // 32, m // 8)](p, q, square, m, ROWS=8, COLUMNS=32)),
        "block_reduce": (n, lambda: block_reduce[blocks](a, sums, SIZE=256)),
        "empty_block": (n, lambda: empty_block[blocks](out, 1)),
    }, {"barrier_only": "a program is one thread: no barrier"})


main()
