#!/usr/bin/env python3
"""Each kernel of emulator_kernels.cu on four machines in one run: this emulator (all default checks; one core, and all), plain
C, numba's CUDA simulator and Triton's interpreter.

usage: bench_peers.py BUILD_FOLDER [PYTHON]

PYTHON has the peers (`pip install numba triton` in an environment of its own); without it this one is asked. A peer that is
not installed is skipped with a word. Sizes differ, for simulators take a thread at a time: a figure is nanoseconds for one of
a kernel's parts, and in brackets how many times as long as here on one core. Each is the best of some runs."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernels"))
import read_ptx  # noqa: E402

MIB = 1 << 20
# What a figure is for, and how many of them bench_emulator.c's sizes have.
PARTS = {
    "vector_add": ("element", MIB), "saxpy4": ("element", MIB), "polynomial": ("multiply-add", MIB // 4 * 64),
    "collatz": ("element", 16384), "gather": ("load", MIB // 8 * 16), "transpose": ("element", MIB),
    "gemm_tiled": ("multiply-add", 256 ** 3), "gemm_tiled_32": ("multiply-add", 256 ** 3), "gemm_naive": ("multiply-add", 256 ** 3),
    "block_reduce": ("element", MIB), "empty_block": ("thread", MIB), "barrier_only": ("wait of a thread", 64 * 256 * 256),
}
NOT_IN_C = {"empty_block": "no blocks in C", "barrier_only": "no threads in C"}


def own_and_c(build):
    """(one core, all cores, plain C), each a kernel's nanoseconds for a part, of bench_emulator's table."""
    toolkit = read_ptx.find_toolkit()
    text = read_ptx.compile_ptx(read_ptx.load(toolkit), toolkit, HERE / "emulator_kernels.cu")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        table = subprocess.run([build + "/tests/bench/bench_emulator", f.name], check=True, capture_output=True, text=True).stdout
    one, every, plain = {}, {}, {}
    for row in table.splitlines()[2:]:
        _, kernel, _, checked, threads, _, _, ms, plain_ms, _ = row.split()
        each = 1e6 / PARTS[kernel][1]
        one[kernel], plain[kernel] = float(ms) * each, NOT_IN_C.get(kernel, float(plain_ms) * each)
        every[kernel] = one[kernel] * float(checked) / float(threads)
    return one, every, plain


def ask(python, peer):
    """A peer's figures; for each kernel why there are none, if it is not there."""
    environment = dict(os.environ, NUMBA_ENABLE_CUDASIM="1", TRITON_INTERPRET="1")
    done = subprocess.run([python, str(HERE / f"peer_{peer}.py")], capture_output=True, text=True, env=environment)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    print(f"  (no peer: {peer}: {(done.stderr.strip().splitlines() or ['it ended with %d' % done.returncode])[-1]})")
    return dict.fromkeys(PARTS, "not here")


def cell(figure, own):
    return figure if isinstance(figure, str) else f"{figure:.4g} ({figure / own:.3g} x)"


def main():
    build, python = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else sys.executable
    one, every, plain = own_and_c(build)
    numba, triton = ask(python, "numba"), ask(python, "triton")
    row = lambda *cells: print("  {:14} {:17} {:>9} {:>9}  {:<22} {:<24} {}".format(*cells))
    row("ns", "for a", "one core", "all cores", "plain C, one core", "numba's CUDA simulator", "Triton's interpreter")
    for kernel, (part, _) in PARTS.items():
        own = one[kernel]
        row(kernel, part, f"{own:.4g}", f"{every[kernel]:.4g}", *(cell(x[kernel], own) for x in (plain, numba, triton)))


if __name__ == "__main__":
    main()
