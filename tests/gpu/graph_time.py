#!/usr/bin/env python3
"""How long a vector addition takes, by the driver's API alone: graphs of 100 launches between two events.

usage: graph_time.py SOURCE N [LIBCUDA]   prints {"median_us": …, "samples": …}; the kernel is `add(c, a, b, n)`
"""
import ctypes, glob, json, os, statistics, sys
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

LAUNCHES, SAMPLES, THREADS = 100, 30, 256


class Launch(ctypes.Structure):
    _fields_ = [("grid", c_uint * 3), ("block", c_uint * 3), ("shared", c_uint), ("stream", c_void_p), ("attributes", c_void_p), ("count", c_uint)]


def good(code):
    if code:
        raise SystemExit("the driver or the compiler says %d" % code)


def compiled(source):
    """PTX, by whatever NVRTC there is."""
    home = os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
    roots = [os.environ.get("CUDA_HOME", ""), home + "/upskilld/cuda/nvidia/cu13", "/usr/local/cuda"]
    found = [p for r in roots for pattern in ("/lib/libnvrtc.so.1?", "/lib64/libnvrtc.so.1?") for p in glob.glob(r + pattern)]
    for builtins in glob.glob(os.path.dirname(found[0]) + "/libnvrtc-builtins.so.*"):
        ctypes.CDLL(builtins, ctypes.RTLD_GLOBAL)
    nvrtc, program, size = ctypes.CDLL(found[0]), c_void_p(), c_size_t()
    good(nvrtc.nvrtcCreateProgram(byref(program), source.encode(), b"add.cu", 0, None, None))
    good(nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-arch=compute_90a")))
    good(nvrtc.nvrtcGetPTXSize(program, byref(size)))
    text = ctypes.create_string_buffer(size.value)
    good(nvrtc.nvrtcGetPTX(program, text))
    return text


def main():
    source, n, library = sys.argv[1], int(sys.argv[2]), (sys.argv[3:] or ["libcuda.so.1"])[0]
    text, cuda = compiled(source), ctypes.CDLL(library)
    context, stream, module, function = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    good(cuda.cuInit(0))
    good(cuda.cuDevicePrimaryCtxRetain(byref(context), 0))
    good(cuda.cuCtxSetCurrent(context))
    good(cuda.cuStreamCreate(byref(stream), 1))
    good(cuda.cuModuleLoadDataEx(byref(module), text, 0, None, None))
    good(cuda.cuModuleGetFunction(byref(function), module, b"add"))
    buffers, count = [c_uint64() for _ in range(3)], c_int(n)
    for b in buffers:
        good(cuda.cuMemAlloc_v2(byref(b), c_size_t(4 * n)))
        good(cuda.cuMemsetD32Async(b, 0, c_size_t(n), stream))
    params = (c_void_p * 4)(*[ctypes.addressof(p) for p in buffers + [count]])
    launch = Launch((c_uint * 3)(-(-n // THREADS), 1, 1), (c_uint * 3)(THREADS, 1, 1), 0, stream, None, 0)
    graph, ready, begin, end = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    good(cuda.cuStreamBeginCapture_v2(stream, 1))
    for _ in range(LAUNCHES):
        good(cuda.cuLaunchKernelEx(byref(launch), function, params, None))
    good(cuda.cuStreamEndCapture(stream, byref(graph)))
    good(cuda.cuGraphInstantiateWithFlags(byref(ready), graph, ctypes.c_ulonglong(0)))
    good(cuda.cuEventCreate(byref(begin), 0))
    good(cuda.cuEventCreate(byref(end), 0))
    samples = []
    for k in range(SAMPLES + 5):
        good(cuda.cuEventRecord(begin, stream))
        good(cuda.cuGraphLaunch(ready, stream))
        good(cuda.cuEventRecord(end, stream))
        good(cuda.cuCtxSynchronize())
        ms = c_float()
        good(cuda.cuEventElapsedTime(byref(ms), begin, end))
        if k >= 5:  # the first ones warm the device up
            samples.append(ms.value * 1000 / LAUNCHES)
    print(json.dumps({"median_us": statistics.median(samples), "samples": len(samples)}))
    sys.stdout.flush()
    os._exit(0)


main()
