#!/usr/bin/env python3
"""What bench_peers.py asks of Triton's interpreter (TRITON_INTERPRET=1): nanoseconds for an element as JSON. Kernels must stand in a file."""
import json

import torch
import triton
import triton.language as tl

from peer_time import best


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
    n, m = 1 << 18, 128
    a, b, c, sums = torch.rand(n), torch.rand(n), torch.zeros(n), torch.zeros(n // 256)
    p, q, r = torch.rand(m, m), torch.rand(m, m), torch.zeros(m, m)
    found = {"vector_add": best(n, lambda: vector_add[(n // 256,)](a, b, c, n, SIZE=256)),
             "gemm": best(m ** 3, lambda: gemm[(m // 16, m // 16)](p, q, r, m, SIZE=16)),
             "reduction": best(n, lambda: reduction[(n // 256,)](a, sums, SIZE=256))}
    assert torch.allclose(c, a + b) and torch.allclose(r, p @ q, rtol=1e-4) and torch.allclose(sums, a.view(-1, 256).sum(1), rtol=1e-4)
    print(json.dumps(found))


main()
