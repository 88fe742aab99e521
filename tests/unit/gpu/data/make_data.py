#!/usr/bin/env python3
"""Make the compiler's logs, PTX and cubins that the tests beside this folder read.

usage: make_data.py CUDA_ROOT [NVRTC_12]

CUDA_ROOT holds include/ and lib/libnvrtc.so.13 of CUDA 13.0.88, NVRTC_12 is libnvrtc.so.12
of CUDA 12.8.93 (cubins looked different then). The sources are r0/ and
cubins/*.cu; what is made goes to logs/ and cubins/. CUDA_ROOT becomes /cuda and this folder
/job in what is written and times 1 ms, so that the files are the same on every machine.
"""
import ctypes
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
# Name of the log, source, architecture, further options.
LOGS = [
    ("overloads", "overloads", "sm_90a", []),
    ("instantiated", "instantiated", "sm_90a", []),
    ("missing", "missing", "sm_90a", []),
    ("directive", "directive", "sm_90a", []),
    ("unterminated", "unterminated", "sm_90a", []),
    ("comment", "comment", "sm_90a", []),
    ("crlf", "crlf", "sm_90a", []),
    ("wgmma", "wgmma", "sm_90a", ["-lineinfo", "--ptxas-options=-v"]),
    ("wgmma_sm_90", "wgmma", "sm_90", ["-lineinfo"]),
    ("assembly", "assembly", "sm_90a", ["-lineinfo"]),
    ("inlined", "inlined", "sm_90a", ["-lineinfo"]),
    ("tabs", "tabs", "sm_90a", ["-lineinfo"]),
    ("shared", "shared", "sm_90a", []),
    ("shared_verbose", "shared", "sm_90a", ["--ptxas-options=-v"]),
    ("parameters", "parameters", "sm_90a", ["-lineinfo"]),
    ("groups", "groups", "sm_90a", []),
    ("reduce", "reduce", "sm_90a", []),
    ("renumbered", "renumbered", "sm_90a", []),
    ("macro", "macro", "sm_90a", []),
    ("several", "several", "sm_90a", []),
    ("header", "header", "sm_90a", []),
    ("warnings", "warnings", "sm_90a", ["--ptxas-options=-v"]),
    ("many", "many", "sm_90a", []),
    ("builtin", "builtin", "sm_90a", []),
    ("spill", "spill", "sm_90a", ["--ptxas-options=-v"]),
    ("option", "options", "sm_90a", ["--no-such-option"]),
    ("definition", "options", "sm_90a", ["-D1x=3"]),
]
PTX = ["wgmma_sm_90", "assembly", "inlined", "tabs"]
CUBINS = [("attributes", "sm_90a"), ("functions", "sm_90a"), ("functions", "sm_80")]


class Compiler:
    def __init__(self, root, library):
        self.root = root
        for builtins in sorted(pathlib.Path(library).parent.glob("libnvrtc-builtins.so*")):
            ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
        self.nvrtc = ctypes.CDLL(str(library))

    def compile(self, source, arch, options):
        """-> (log, output or None)"""
        n = self.nvrtc
        options = [f"-arch={arch}", "-std=c++17", f"-I{self.root}/include",
                   f"-I{self.root}/include/cccl", *options]
        program = ctypes.c_void_p()
        n.nvrtcCreateProgram(ctypes.byref(program), (HERE / source).read_bytes(),
                             source.encode(), 0, None, None)
        status = n.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(
            *(option.encode() for option in options)))
        log = self.take(program, n.nvrtcGetProgramLogSize, n.nvrtcGetProgramLog).rstrip(b"\0")
        output = None
        if status == 0 and arch.startswith("compute"):
            output = self.take(program, n.nvrtcGetPTXSize, n.nvrtcGetPTX).rstrip(b"\0")
        elif status == 0:
            output = self.take(program, n.nvrtcGetCUBINSize, n.nvrtcGetCUBIN)
        n.nvrtcDestroyProgram(ctypes.byref(program))
        return self.anonymous(log), output

    @staticmethod
    def take(program, size_of, copy):
        size = ctypes.c_size_t()
        size_of(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        copy(program, buffer)
        return buffer.raw

    def anonymous(self, text):
        text = text.replace(str(self.root).encode(), b"/cuda").replace(
            str(HERE).encode(), b"/job")
        return re.sub(rb"Compile time = [\d.]+ ms", b"Compile time = 1.000 ms", text)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    compiler = Compiler(root, root / "lib" / "libnvrtc.so.13")
    os.chdir(HERE)
    for name, source, arch, options in LOGS:
        path = f"r0/src/{source}.cu"
        log, _ = compiler.compile(path, arch, options)
        (HERE / "logs" / f"{name}.log").write_bytes(log)
        if name in PTX:
            _, ptx = compiler.compile(path, arch.replace("sm", "compute"), options)
            (HERE / "logs" / f"{name}.ptx").write_bytes(compiler.anonymous(ptx))
    for name, arch in CUBINS:
        log, cubin = compiler.compile(f"cubins/{name}.cu", arch,
                                      ["-default-device", "--ptxas-options=-v", "-w"])
        (HERE / "cubins" / f"{name}_{arch}.cubin").write_bytes(cubin)
    if len(sys.argv) > 2:
        _, cubin = Compiler(root, sys.argv[2]).compile("cubins/older.cu", "sm_90a", [])
        (HERE / "cubins" / "older_sm_90a.cubin").write_bytes(cubin)


if __name__ == "__main__":
    main()
