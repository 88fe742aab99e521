#!/usr/bin/env python3
"""Values and roundings of the tensor types, by numpy and ml_dtypes.

usage: make_tensor_types.py > tensor_types.json   (numpy 2, ml_dtypes 0.5)
"""
import json
import struct

import ml_dtypes
import numpy as np

TYPES = {
    "float16": (np.float16, 2),
    "bfloat16": (ml_dtypes.bfloat16, 2),
    "float8_e4m3": (ml_dtypes.float8_e4m3fn, 1),
    "float8_e5m2": (ml_dtypes.float8_e5m2, 1),
}


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def inputs():
    rng = np.random.default_rng(7)
    fixed = [0.0, -0.0, 1.0, 65504.0, 65519.999, 65520.0, 448.0, 463.9, 464.0, 464.1, 57344.0,
             61439.9, 61440.0, 3.4e38, 1e300, 5e-324, 2.0**-24, 2.0**-25, 2.0**-25 * 1.0001,
             2.0**-9, 2.0**-10, 2.0**-16, 2.0**-17, 2.0**-133, 2.0**-134, float("inf"),
             float("-inf"), float("nan")]
    spread = rng.standard_normal(500) * np.exp2(rng.uniform(-30, 18, 500))
    ties = [1 + k * 2.0**-11 for k in range(16)] + [1 + k * 2.0**-4 for k in range(16)] + \
           [1 + k * 2.0**-3 for k in range(8)] + [1 + k * 2.0**-8 for k in range(16)]
    return fixed + [float(x) for x in spread] + ties


def rounded(kind, size, value):
    # Through the widest type that each of them rounds from correctly: numpy and ml_dtypes
    # round float64 to float16 directly; the others are rounded from float64 too.
    with np.errstate(all="ignore"):
        out = np.array([value], dtype=np.float64).astype(kind)
    return int.from_bytes(out.tobytes()[:size], "little")


def main():
    data = {"values": {}, "inputs": [f"{bits(x):016x}" for x in inputs()], "rounded": {}}
    for name, (kind, size) in TYPES.items():
        if size == 1:
            every = np.arange(256, dtype=np.uint8).view(kind).astype(np.float64)
        else:
            some = np.concatenate([np.arange(0, 65536, 257), [1, 0x3FF, 0x400, 0x7BFF, 0x7F7F]])
            data["values"][name + "_at"] = [int(x) for x in some]
            every = some.astype(np.uint16).view(kind).astype(np.float64)
        data["values"][name] = [f"{bits(float(x)):016x}" for x in every]
        data["rounded"][name] = [rounded(kind, size, x) for x in inputs()]
    print(json.dumps(data, separators=(",", ":")))


main()
