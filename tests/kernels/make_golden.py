#!/usr/bin/env python3
"""Write golden.json: what `ptxas -v` says of every kernel in this folder.

usage: make_golden.py CUDA_ROOT [> golden.json]

CUDA_ROOT holds bin/ptxas, include/ and lib/libnvrtc.so.13 of CUDA 13.0.88 (a toolkit, or the
wheels nvidia-cuda-nvcc, nvidia-cuda-nvrtc, nvidia-cuda-runtime and nvidia-cuda-cccl of that
version in one tree). NVRTC gives the PTX, because not every file suits nvcc's host headers;
the stand-alone ptxas gives the figures, in words that owe nothing to the code they test.
"""
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ARCH = "sm_90a"
FIGURES = {
    "registers": r"Used (\d+) registers",
    "barriers": r"used (\d+) barriers",
    "static_shared_bytes": r"(\d+) bytes smem",
    "stack_bytes": r"(\d+) bytes stack frame",
    "spill_store_bytes": r"(\d+) bytes spill stores",
    "spill_load_bytes": r"(\d+) bytes spill loads",
}


def compile_to_ptx(nvrtc, root, source):
    options = [f"-arch={ARCH.replace('sm', 'compute')}", "-std=c++17", "-default-device",
               f"-I{root}/include", f"-I{root}/include/cccl"]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.read_bytes(), source.name.encode(),
                             0, None, None)
    if nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(
            *(option.encode() for option in options))) != 0:
        sys.exit(f"{source.name} does not compile")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx.value


def assemble_verbosely(root, ptx):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "in.ptx")
        path.write_bytes(ptx)
        done = subprocess.run([f"{root}/bin/ptxas", f"-arch={ARCH}", "-v", "-o",
                               f"{folder}/out.cubin", str(path)],
                              capture_output=True, text=True, check=True)
    return done.stderr + done.stdout


def read_log(log):
    """Lines of `ptxas -v` as {symbol: figures}; functions that are no kernels are left out."""
    kernels, entries, current = {}, set(), None
    for line in log.splitlines():
        if found := re.search(r"Compiling entry function '([^']+)'", line):
            current = found[1]
            entries.add(current)
        elif found := re.search(r"Function properties for (\S+)", line):
            current = found[1]
        if current:
            for key, pattern in FIGURES.items():
                if found := re.search(pattern, line):
                    kernels.setdefault(current, dict.fromkeys(FIGURES, 0))[key] = int(found[1])
    return {symbol: kernels[symbol] for symbol in sorted(entries)}


def main():
    root = pathlib.Path(sys.argv[1])
    version = subprocess.run([f"{root}/bin/ptxas", "--version"], capture_output=True, text=True)
    here = pathlib.Path(__file__).parent
    for builtins in (root / "lib").glob("libnvrtc-builtins.so*"):
        ctypes.CDLL(str(builtins), ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(str(root / "lib" / "libnvrtc.so.13"))
    golden = {
        "arch": ARCH,
        "ptxas": re.search(r"V([\d.]+)", version.stdout)[1],
        "files": {source.name: read_log(assemble_verbosely(root, compile_to_ptx(nvrtc, root, source)))
                  for source in sorted(here.glob("*.cu"))},
    }
    json.dump(golden, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
