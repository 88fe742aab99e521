"""Arrays to and from the daemon: as .npy files in a folder of our own, never as text."""
import importlib.util
import os
import re
import struct
import sys

from .errors import ArgumentError

# The check spec's types, by numpy's names and by the formats of the buffer protocol.
BY_DTYPE = {name: name for name in ["float32", "float16", "float64", "int8", "int16", "int32", "int64", "uint8",
                                    "uint16", "uint32", "uint64", "bool", "bfloat16", "float8_e5m2"]}
BY_DTYPE["float8_e4m3fn"] = "float8_e4m3"
BY_FORMAT = {"f": "float32", "d": "float64", "e": "float16", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16",
             "i": "int32", "I": "uint32", "q": "int64", "Q": "uint64", "l": "int64", "L": "uint64", "?": "bool"}
DESCRIPTIONS = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "int8": "|i1", "uint8": "|u1", "int16": "<i2",
                "uint16": "<u2", "int32": "<i4", "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "bool": "|b1"}


def is_number(value):
    """Python's numbers, and numpy's scalars."""
    numpy = sys.modules.get("numpy")
    return isinstance(value, (bool, int, float)) or bool(numpy) and isinstance(value, numpy.generic)


def is_array(value):
    """A numpy array or a PyTorch tensor, or what shows its elements as memory (array.array)."""
    if isinstance(value, (str, bytes, bytearray)) or is_number(value):
        return False
    if hasattr(value, "detach") or hasattr(value, "__array_interface__"):
        return True
    try:
        return memoryview(value).format in BY_FORMAT
    except TypeError:
        return False


def plain(value):
    """A tensor as an array and the spec's type; numpy has no bfloat16, so its bits."""
    value = value.detach().cpu().contiguous()
    name = str(value.dtype).split(".")[-1]
    if name == "bfloat16" or name.startswith("float8"):
        import torch
        array = value.view(torch.int16 if name == "bfloat16" else torch.uint8).numpy()
        return array.view(f"uint{8 * array.itemsize}"), type_named(name)
    return value.numpy(), type_named(name)


def type_named(dtype):
    """The spec's type by its name, or as numpy's or PyTorch's."""
    name = getattr(dtype, "__name__", getattr(dtype, "name", str(dtype))).split(".")[-1]
    if name in BY_DTYPE.values():
        return name
    if name not in BY_DTYPE:
        raise ArgumentError(f"no type of kernels is called {name}; there are {', '.join(sorted(set(BY_DTYPE.values())))}")
    return BY_DTYPE[name]


def described(value):
    """(array, the spec's type, shape)"""
    if hasattr(value, "mask") and hasattr(value, "filled"):
        raise ArgumentError("a masked array has elements without a value: give x.filled(0), or what they are to hold")
    if hasattr(value, "detach"):
        array, type_name = plain(value)
        return array, type_name, list(array.shape)
    if hasattr(value, "dtype"):
        return value, type_named(value.dtype.name), list(value.shape)
    view = memoryview(value)
    return view, BY_FORMAT[view.format], list(view.shape)


def save(path, value):
    """Write an array as numpy.save does."""
    array, type_name, shape = described(value)
    if hasattr(array, "dtype"):
        import numpy
        numpy.save(path, array, allow_pickle=False)
        return
    if sys.byteorder != "little" or type_name not in DESCRIPTIONS:
        raise ArgumentError("without numpy only plain numbers of a little-endian machine can be sent")
    extents = "".join(f"{n}, " for n in shape)
    head = f"{{'descr': '{DESCRIPTIONS[type_name]}', 'fortran_order': False, 'shape': ({extents}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode("latin1") + array.tobytes())


class Folder:
    """Numbered files; the daemon is told their absolute paths."""

    def __init__(self, path):
        self.path = path
        self.count = 0

    def add(self, value):
        self.count += 1
        path = os.path.join(self.path, f"{self.count}.npy")
        save(path, value)
        return path

    def unnamed(self, text):
        """A message of the daemon without the files' names, which mean nothing to the caller."""
        return re.sub(f" ?(['\"]?){re.escape(self.path)}/\\d+\\.npy\\1", "", text)

    def for_outputs(self):
        """Where the daemon puts what the kernel writes, of every case and trial."""
        if not importlib.util.find_spec("numpy"):
            raise ArgumentError("save=True gives numpy arrays, and numpy is not installed")
        return {"dir": os.path.join(self.path, "outputs"), "what": ["outputs"], "cases": "all"}


def load(file):
    """The elements of a saved file as the caller's memory, which stays when the file is gone; None without a file or numpy.
    What numpy has no type for becomes float32, which holds each value of bfloat16 and FP8."""
    if not file or not importlib.util.find_spec("numpy"):
        return None
    import numpy
    array = numpy.load(file["path"], mmap_mode="c")
    if file["type"] == "bfloat16":
        return (array.astype("uint32") << 16).view("float32")
    return float8(array, file["type"]) if file["type"].startswith("float8") else array


def float8(bits, type_name):
    """E5M2 is float16 without its last byte. E4M3 has no infinities: all ones, but for the sign, is NaN."""
    if type_name == "float8_e5m2":
        return (bits.astype("uint16") << 8).view("float16").astype("float32")
    import numpy
    exponent, fraction = (bits >> 3 & 15).astype("int32"), (bits & 7).astype("float32")
    size = numpy.ldexp(numpy.where(exponent == 0, fraction, fraction + 8), numpy.maximum(exponent, 1) - 10)
    return numpy.copysign(numpy.where(bits & 127 == 127, numpy.nan, size), (bits < 128) - numpy.float32(0.5)).astype("float32")
