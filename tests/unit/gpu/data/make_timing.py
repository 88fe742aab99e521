#!/usr/bin/env python3
"""Expected values of test_roofline.c and of the statistics of samples, as timing.json.

Statistics: Python's own module. Rooflines: plain arithmetic on NVIDIA's printed figures (data
sheets of the H100, the H200 and the A100: bandwidth; rates of the tensor cores, halved where they
are printed with sparsity).

    python3 make_timing.py > timing.json
"""
import json
import random
import statistics
from fractions import Fraction


def samples():
    rng = random.Random(20)
    lists = [[3.5], [1, 2], [5, 1, 4, 2, 3], [7.25] * 6, [0, 0, 1e9]]
    lists += [[rng.lognormvariate(3, 1) for _ in range(n)] for n in (10, 11, 50, 1001)]
    for values in lists:
        many = len(values) > 1
        yield {
            "values": values,
            "median": statistics.median(values),
            "min": min(values),
            "mean": statistics.fmean(values),
            "p90": statistics.quantiles(values, n=10, method="inclusive")[8] if many else values[0],
            "std": statistics.stdev(values) if many else 0,
        }


# name as CUDA tells it: bytes/s, and FLOP/s of float32 (TF32), float16, float64
DEVICES = {
    "NVIDIA H100 80GB HBM3": ("H100 SXM", 3350e9, 494.7e12, 989.4e12, 66.9e12),
    "NVIDIA H100 PCIe": ("H100 PCIe", 2000e9, 378e12, 756e12, 51e12),
    "NVIDIA H100 NVL": ("H100 NVL", 3900e9, 417.5e12, 835.5e12, 60e12),
    "NVIDIA H200": ("H200 SXM", 4800e9, 494.7e12, 989.4e12, 66.9e12),
    "NVIDIA A100-SXM4-80GB": ("A100 SXM 80 GB", 2039e9, 156e12, 312e12, 19.5e12),
    "NVIDIA A100-SXM4-40GB": ("A100 SXM 40 GB", 1555e9, 156e12, 312e12, 19.5e12),
    "NVIDIA A100 80GB PCIe": ("A100 PCIe 80 GB", 1935e9, 156e12, 312e12, 19.5e12),
}
# m, n, k of a product: the inputs once, the output once; 2 m n k operations
SHAPES = [(1, 1, 1), (64, 64, 64), (4096, 4096, 4096), (4096, 4096, 16), (1, 8192, 8192)]
TYPES = {"float32": (4, 2), "float16": (2, 3), "float64": (8, 4)}


def products():
    for device, row in DEVICES.items():
        for m, n, k in SHAPES:
            for name, (size, rate) in TYPES.items():
                bytes_ = size * (m * k + k * n + m * n)
                memory = Fraction(bytes_) / Fraction(row[1])
                compute = Fraction(2 * m * n * k) / Fraction(row[rate])
                yield {
                    "device": device, "name": row[0], "type": name, "m": m, "n": n, "k": k,
                    "bytes": bytes_, "flops": 2 * m * n * k,
                    "bound": "compute" if compute > memory else "memory",
                    "limit_us": float(max(memory, compute) * 10**6),
                }


print(json.dumps({"samples": list(samples()), "products": list(products())}, indent=0))
