#!/usr/bin/env python3
"""Ask ptxas which instructions it takes, for the reader's table of forms.

Each line of legality.txt is "+ instruction" or "- instruction": whether ptxas, run by NVRTC for
sm_90a, accepts it inside BODY (which test_ptx_legality.c repeats). This prints the file anew, with
today's verdicts. Lines that ptxas refuses for other reasons than their operands do not belong here.

usage: LD_LIBRARY_PATH=TOOLKIT/lib legality.py < legality.txt > new.txt
"""
import ctypes
import sys

BODY = (".reg .pred p, q, p2; .reg .b16 h<4>; .reg .b32 r<8>; .reg .u32 u<4>; .reg .s32 s<4>; "
        ".reg .b64 rd<8>; .reg .f32 f<8>; .reg .f64 fd<4>; .reg .b128 x<3>; .reg .f16 hh<4>; "
        ".shared .align 16 .b8 sm[256];")


def accepted(nvrtc, line):
    text = line.replace('"', '\\"')
    source = 'extern "C" __global__ void k() { asm volatile("{ %s\\n%s }" ::); }' % (BODY, text)
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"k.cu", 0, None, None)
    options = (ctypes.c_char_p * 1)(b"-arch=sm_90a")
    result = nvrtc.nvrtcCompileProgram(program, 1, options)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return result == 0


def main():
    nvrtc = ctypes.CDLL("libnvrtc.so.13")
    for line in sys.stdin.read().splitlines():
        text = line[2:]
        print("+" if accepted(nvrtc, text) else "-", text, flush=True)


main()
