#!/usr/bin/env python3
"""vector_add, gemm and a reduction on four machines in one run: this emulator (all checks, all cores), plain C (gcc -O3,
one core), numba's CUDA simulator and Triton's interpreter.

usage: bench_peers.py BUILD_FOLDER [PYTHON]

PYTHON has the peers (`pip install numba triton` in an environment of its own); without it this one is asked. A peer
that is not installed is skipped with a word. Sizes differ, for simulators take a thread at a time: what is printed is nanoseconds for an
element, or a multiply-add of gemm, and how many times as long as here. Each figure is the best of three."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from peer_time import RUNS

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = ("vector_add", "gemm", "reduction")

PLAIN_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
__attribute__((noinline)) static void vector_add(const float *a, const float *b, float *c, long n) {
    for (long i = 0; i < n; i++) c[i] = a[i] + b[i];
}
__attribute__((noinline)) static void gemm(const float *a, const float *b, float *c, long n) {
    for (long i = 0; i < n; i++)
        for (long k = 0; k < n; k++)
            for (long j = 0; j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
}
__attribute__((noinline)) static float reduction(const float *a, long n) {
    float s = 0;
    for (long i = 0; i < n; i++) s += a[i];
    return s;
}
int main(void) {
    long n = 1 << 24, m = 768;
    float *a = malloc(4 * n), *b = malloc(4 * n), *c = calloc(n, 4), sum = 0;
    double best[3] = {1e9, 1e9, 1e9};
    for (long i = 0; i < n; i++) a[i] = b[i] = c[i] = (float)(i % 7);
    for (int k = 0; k < 3; k++) {
        double t[4];
        t[0] = now(); vector_add(a, b, c, n); t[1] = now(); gemm(a, b, c, m); t[2] = now(); sum += reduction(a, n); t[3] = now();
        double per[3] = {(t[1] - t[0]) / n, (t[2] - t[1]) / m / m / m, (t[3] - t[2]) / n};
        for (int j = 0; j < 3; j++) best[j] = per[j] < best[j] ? per[j] : best[j];
    }
    fprintf(stderr, "%g\n", sum + c[5]); /* so that nothing is left out */
    printf("{\"vector_add\": %g, \"gemm\": %g, \"reduction\": %g}\n", 1e9 * best[0], 1e9 * best[1], 1e9 * best[2]);
}
"""

SOURCE = r"""
extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}
extern "C" __global__ void gemm(const float *a, const float *b, float *c, int n) {
    __shared__ float x[16][16], y[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += x[threadIdx.y][j] * y[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
extern "C" __global__ void reduction(const float *a, float *c, int n) {
    __shared__ float part[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
    for (int d = 128; d; d /= 2) {
        if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) c[blockIdx.x] = part[0];
}
"""


def plain_c():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "plain.c")
        path.write_text(PLAIN_C)
        subprocess.run(["gcc", "-O3", "-march=native", "-o", folder + "/plain", path], check=True)
        return json.loads(subprocess.run([folder + "/plain"], check=True, capture_output=True, text=True).stdout)


def spec_of(kernel):
    array = lambda name, count, **more: dict({"name": name, "type": "float32", "shape": [count]}, **(more or {"init": {"uniform": [0, 1]}}))
    size = {"name": "n", "type": "int32", "value": "n"}
    if kernel == "gemm":
        square = lambda name, **more: dict(array(name, "n", **more), shape=["n", "n"])
        return 512 ** 3, {"sizes": {"n": 512}, "launch": {"grid": ["n / 16", "n / 16"], "block": [16, 16]},
                          "args": [square("a"), square("b"), square("c", output=True), size],
                          "expect": {"op": "matmul", "inputs": {"input": "a", "other": "b"}}}
    blocks = {"grid": ["ceil_div(n, 256)"], "block": [256]}
    if kernel == "reduction":
        return 1 << 24, {"sizes": {"n": 1 << 24}, "launch": blocks, "args": [array("a", "n"), array("c", "n / 256", output=True), size],
                         "expect": {"op": "reshape", "inputs": {"input": "a"}, "shape": ["n / 256", 256], "then": [{"op": "sum", "dim": 1}]}}
    return 1 << 24, {"sizes": {"n": 1 << 24}, "launch": blocks, "args": [array("a", "n"), array("b", "n"), array("c", "n", output=True), size],
                     "expect": {"op": "add", "inputs": {"input": "a", "other": "b"}}}


def here(build):
    """The kernel alone, as the phases tell it: the rest of a validation has no peer."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "k.cu").write_text(SOURCE)
        for kernel in KERNELS:
            count, spec = spec_of(kernel)
            seconds = []
            for _ in range(RUNS):
                pathlib.Path(folder, "k.check.json").write_text(json.dumps(dict(spec, kernel=kernel, trials=1, odd_sizes=False, timeout_s=120)))
                out = subprocess.run([build + "/clients/ctl/upskillctl", "kernel", "validate", "k.cu", "--json"],
                                     cwd=folder, capture_output=True, text=True).stdout
                result = json.loads(out)
                assert result["verdict"] == "pass", result
                seconds.append(next(x["ms"] for x in result["phases"] if x["phase"] == "run") / 1000)
            found[kernel] = 1e9 * min(seconds) / count
    return found


def ask(python, peer):
    """A peer's figures, or why there are none."""
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", TRITON_INTERPRET="1")
    done = subprocess.run([python, str(HERE / f"peer_{peer}.py")], capture_output=True, text=True, env=environment)
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if done.returncode == 0 and lines else (done.stderr.strip().splitlines() or ["it ended with %d" % done.returncode])[-1]


def main():
    build, python = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else sys.executable
    own = here(build)
    peers = {"plain C, one core": plain_c(), "numba's CUDA simulator": ask(python, "numba"), "Triton's interpreter": ask(python, "triton")}
    print("  nanoseconds for an element (gemm: a multiply-add)" + "".join(f"{k:>24}" for k in KERNELS))
    print(f"  {'here, all checks, all cores':49}" + "".join(f"{own[k]:24.3f}" for k in KERNELS))
    for name, figures in peers.items():
        if isinstance(figures, str):
            print(f"  {name:49} skipped: {figures}")
        else:
            print(f"  {name:49}" + "".join(f"{figures[k]:14.3f} = {figures[k] / own[k]:6.4g} x" for k in KERNELS))


if __name__ == "__main__":
    main()
