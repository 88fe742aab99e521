#!/usr/bin/env python3
"""Compares the vectors of make_alu_vectors.py with what NVIDIA's assembler makes of them.

usage: LD_LIBRARY_PATH=TOOLKIT/lib check_alu_folds.py [rows of each spelling]

ptxas computes instructions whose operands are constants and leaves a store of the result. So
each spelling becomes a kernel of a few rows as inline PTX, compiled for sm_90a by NVRTC; when
no arithmetic is left in its machine code, every word of every expected result has to be among
the immediates. Nothing is written; the sum is printed, and each spelling that disagrees.
"""
import ctypes
import os
import struct
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/gpu/data")
LETTERS = {"h": ("h", "unsigned short", 2), "w": ("r", "unsigned", 4),
           "d": ("l", "unsigned long long", 8)}
SIZES = {"b": 1, "h": 2, "w": 4, "d": 8, "p": 1}
# Moves, constant loads, the store, exit, the loop at the end, nop, and byte shuffles of moves.
HARMLESS = {0xB82, 0x435, 0x802, 0xAB9, 0x986, 0x94D, 0x947, 0x918, 0x202, 0x882, 0x424, 0x902,
            0xC82, 0x9B82, 0x224}
IMMEDIATE = {0x435, 0x802, 0x882, 0x424}


def records(name):
    data, at = open(os.path.join(DATA, name), "rb").read(), 0

    def take(size):
        nonlocal at
        at += size
        return data[at - size:at]
    while at < len(data):
        spelling = take(take(1)[0]).decode()
        widths = take(take(1)[0]).decode()
        flags, count = take(1)[0], int.from_bytes(take(2), "little")
        order = [SIZES[w] for w in widths[1:]] + [1] * (flags >> 1) + [SIZES[widths[0]]]
        order += [1] * (flags & 1) + [1] * (flags >> 1)
        yield spelling, widths, flags, [[int.from_bytes(take(s), "little") for s in order]
                                        for _ in range(count)]


def kernel(spelling, widths, rows):
    text = 'extern "C" __global__ void k(unsigned long long *o) {\n'
    result = LETTERS[widths[0]]
    for k, row in enumerate(rows):
        arguments = ", ".join(f"%{i + 1}" for i in range(len(widths) - 1))
        inputs = ", ".join(f'"{"n" if spelling.startswith("lop3") and i == 3 else LETTERS[w][0]}"'
                           f'(({LETTERS[w][1]})0x{v:x}ull)'
                           for i, (w, v) in enumerate(zip(widths[1:], row)))
        text += (f'{{ {result[1]} d; asm("{spelling} %0, {arguments};" : "={result[0]}"(d)'
                 f' : {inputs}); o[{k}] = d; }}\n')
    return text + "}\n"


def cubin(nvrtc, source):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(b"-arch=sm_90a")
    image = None
    if nvrtc.nvrtcCompileProgram(program, 1, options) == 0:
        nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, image)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return image and image.raw


def code_of(image):
    at = struct.unpack_from("<Q", image, 40)[0]
    count, names = struct.unpack_from("<HH", image, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", image, at + 64 * i) for i in range(count)]
    for s in sections:
        name = image[sections[names][4] + s[0]:].split(b"\0")[0]
        if name.startswith(b".text."):
            return image[s[4]:s[4] + s[5]]
    return b""


def verdict(nvrtc, spelling, widths, rows):
    image = cubin(nvrtc, kernel(spelling, widths, rows))
    if image is None:
        return "refused by ptxas"
    code = code_of(image)
    words = [(struct.unpack_from("<Q", code, i)[0] & 0xFFF, struct.unpack_from("<I", code, i + 4)[0])
             for i in range(0, len(code), 16)]
    if {op for op, _ in words} - HARMLESS:
        return "not folded"
    known = {0} | {value for op, value in words if op in IMMEDIATE}
    known |= {v >> 16 for v in known} | {v & 0xFFFF for v in known if v < 1 << 32}
    for row in rows:
        value = row[len(widths) - 1]
        for part in range(max(1, SIZES[widths[0]] // 4)):
            if value >> 32 * part & 0xFFFFFFFF not in known:
                operands = ", ".join(hex(v) for v in row[:len(widths) - 1])
                return f"differs: ({operands}) is not {value:#x}"
    return "agrees"


def main():
    nvrtc = ctypes.CDLL("libnvrtc.so.13")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    sums = {}
    seen = set()
    for name in sorted(os.listdir(DATA)):
        if not (name.startswith("alu_") and name.endswith(".bin")):
            continue
        for spelling, widths, flags, rows in records(name):
            if flags or set(widths) - set(LETTERS) or spelling in seen:
                continue
            seen.add(spelling)
            step = max(1, len(rows) // count)
            answer = verdict(nvrtc, spelling, widths, rows[::step][:count])
            kind = answer.split(":")[0]
            if kind == "differs" and (".approx" in spelling or ".full" in spelling):
                kind = "approximation differs"
            sums[kind] = sums.get(kind, 0) + 1
            if kind not in ("agrees", "not folded"):
                print(spelling, answer, flush=True)
    print(", ".join(f"{k}: {v}" for k, v in sorted(sums.items())))


main()
