#!/usr/bin/env python3
"""What bench_peers.py asks of Triton's interpreter (TRITON_INTERPRET=1): nanoseconds for an element as JSON. Kernels must stand in a file."""
import json

import numpy
import triton
import triton.language as tl

from peer_time import best


class Tensor:
    """What the interpreter asks of PyTorch's tensors, of an array in the host's memory: it needs no PyTorch (3 GB) then."""
    dtype = "float32"

    def __init__(self, array):
        self.array = array

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
def gemm(a, b, c, n, SIZE: tl.constexpr):
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
def reduction(a, c, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(c + tl.program_id(0), tl.sum(tl.load(a + i), axis=0))


def main():
    n, m, random = 1 << 18, 128, numpy.random.default_rng(1)
    arrays = [random.random(shape, "float32") for shape in (n, n, n, n // 256, (m, m), (m, m), (m, m))]
    a, b, c, sums, p, q, r = map(Tensor, arrays)
    found = {"vector_add": best(n, lambda: vector_add[(n // 256,)](a, b, c, n, SIZE=256)),
             "gemm": best(m ** 3, lambda: gemm[(m // 16, m // 16)](p, q, r, m, SIZE=16)),
             "reduction": best(n, lambda: reduction[(n // 256,)](a, sums, SIZE=256))}
    a, b, c, sums, p, q, r = arrays
    assert numpy.allclose(c, a + b) and numpy.allclose(r, p @ q, rtol=1e-4) and numpy.allclose(sums, a.reshape(-1, 256).sum(1), rtol=1e-4)
    print(json.dumps(found))


main()
