#!/usr/bin/env python3
"""Writes npy/*.npy as numpy.save and numpy.lib.format write them, and npy/expected.json: what each holds.

Needs numpy and ml_dtypes (numpy 2.4.6 and ml_dtypes 0.6.0 wrote what stands here). "bytes" are the elements row by row and
little-endian, in hexadecimal, by numpy itself.
"""
import json, pathlib
import ml_dtypes, numpy as np

HERE = pathlib.Path(__file__).parent / "npy"
TYPES = {"float32": "<f4", "float16": "<f2", "float64": "<f8", "int8": "|i1", "int16": "<i2", "int32": "<i4", "int64": "<i8",
         "uint8": "|u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "bool": "|b1",
         "bfloat16": ml_dtypes.bfloat16, "float8_e4m3": ml_dtypes.float8_e4m3fn, "float8_e5m2": ml_dtypes.float8_e5m2}
expected = {}


def save(name, array, kind, version=None):
    with open(HERE / (name + ".npy"), "wb") as f:
        np.lib.format.write_array(f, array, version=version) if version else np.save(f, array)
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"))
    expected[name] = {"type": kind, "shape": list(array.shape), "bytes": little.tobytes().hex()}


def main():
    HERE.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    for kind, dtype in TYPES.items():
        values = rng.integers(0, 2 if kind == "bool" else 100, (3, 4)).astype(dtype)
        save(kind, values, kind)
    floats = rng.standard_normal((2, 3, 5)).astype("<f4")
    save("fortran", np.asfortranarray(floats), "float32")
    save("fortran_big", np.asfortranarray(floats.astype(">f8")), "float64")
    save("big", rng.integers(-9, 9, (7,)).astype(">i2"), "int16")
    save("scalar", np.array(2.5, "<f8"), "float64")
    save("empty", np.zeros((0, 3), "<f4"), "float32")
    save("version2", floats, "float32", (2, 0))
    save("version3", floats, "float32", (3, 0))
    save("deep", rng.integers(0, 9, (1, 2, 1, 2, 1, 2, 1, 2)).astype("|i1"), "int8")
    (HERE / "expected.json").write_text(json.dumps(expected, indent=0) + "\n")


main()
