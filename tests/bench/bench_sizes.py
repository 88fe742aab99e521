#!/usr/bin/env python3
"""Whole validations at the sizes that users have: wall and processor seconds, memory, and where the time goes.

usage: bench_sizes.py BUILD_FOLDER [NAME …]
names: relu add add_expression softmax layernorm matmul512 matmul1024 matmul4096 attention1 attention16

The kernels are plain ones. Processor seconds are those of the daemon and all that it starts: on a machine that
others use, they tell more than the clock."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
TICKS, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGESIZE")


def buffer(name, *shape, output=False):
    return dict({"name": name, "type": "float32", "shape": list(shape)},
                **({"output": True} if output else {"init": {"normal": [0, 1]}}))


def integer(name, value):
    return {"name": name, "type": "int32", "value": value}


def flat(kernel, *inputs, expect):
    return {"kernel": kernel, "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]}, "sizes": {"n": 1 << 24},
            "args": [buffer(x, "n") for x in inputs] + [buffer("y", "n", output=True), integer("n", "n")], "expect": expect}


def rows(kernel, *more, expect):
    return {"kernel": kernel, "launch": {"grid": ["rows"], "block": [256]}, "sizes": {"rows": 4096, "cols": 4096},
            "args": [buffer("x", "rows", "cols"), *more, buffer("y", "rows", "cols", output=True), integer("cols", "cols")],
            "expect": expect}


def matmul(n, trials):
    return {"kernel": "matmul", "launch": {"grid": ["n / 32", "n / 32"], "block": [32, 32]}, "sizes": {"n": n}, "trials": trials,
            "args": [buffer("a", "n", "n"), buffer("b", "n", "n"), buffer("c", "n", "n", output=True), integer("n", "n")],
            "expect": {"op": "matmul", "inputs": {"input": "a", "other": "b"}}}


def attention(batch):
    shape = ["z", 16, "s", 64]
    return {"kernel": "attention", "launch": {"grid": ["s / 128", "z * 16"], "block": [128]}, "sizes": {"z": batch, "s": 1024},
            "args": [*(buffer(x, *shape) for x in "qkv"), buffer("o", *shape, output=True), integer("s", "s")], "trials": 1,
            "expect": {"op": "scaled_dot_product_attention", "inputs": {"query": "q", "key": "k", "value": "v"}}}


CASES = {
    "relu": flat("relu", "x", expect={"op": "relu"}),
    "add": flat("add", "a", "b", expect={"op": "add", "inputs": {"input": "a", "other": "b"}}),
    "add_expression": flat("add", "a", "b", expect={"expression": {"y": "a[i] + b[i]"}}),
    "softmax": rows("softmax", expect={"op": "softmax", "dim": 1}),
    "layernorm": rows("layernorm", buffer("w", "cols"), buffer("b", "cols"), expect={
        "op": "layer_norm", "inputs": {"input": "x", "weight": "w", "bias": "b"}, "normalized_shape": ["cols"]}),
    "matmul512": matmul(512, 3), "matmul1024": matmul(1024, 3), "matmul4096": matmul(4096, 1),
    "attention1": attention(1), "attention16": attention(16),
}


def processes(root):
    """Of root and all that it started: process to its fields of /proc/PID/stat behind the name."""
    fields = {}
    for entry in os.listdir("/proc"):
        try:
            fields[int(entry)] = pathlib.Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()
        except (ValueError, OSError):
            pass  # no process, or none any more
    found = {root}
    for pid in sorted(fields):
        if int(fields[pid][1]) in found:
            found.add(pid)
    return {pid: fields[pid] for pid in found if pid in fields}


def run_timed(build, folder, spec, source):
    """(result, wall seconds, processor seconds, largest resident bytes of a process) of one validation."""
    pathlib.Path(folder, "sizes.cu").write_text(source)
    pathlib.Path(folder, "sizes.check.json").write_text(json.dumps(spec))
    seconds, resident, start = {}, {0: 0}, time.perf_counter()
    command = [f"{build}/clients/ctl/upskillctl", "kernel", "validate", "sizes.cu", "--json"]
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            for pid, field in processes(process.pid).items():
                seconds[pid] = (int(field[11]) + int(field[12])) / TICKS
                resident[pid] = max(resident.get(pid, 0), int(field[21]) * PAGE)
            time.sleep(min(0.2, 0.02 + (time.perf_counter() - start) / 50))  # a look takes some ms
        wall = time.perf_counter() - start
        out.seek(0)
        return json.load(out), wall, sum(seconds.values()), max(resident.values())


def measure(build, folder, name):
    spec = dict({"trials": 3, "timeout_s": 600}, **CASES[name])
    result, wall, processor, resident = run_timed(build, folder, spec, (HERE / "size_kernels.cu").read_text())
    phases = ", ".join(f"{x['phase']} {x['ms'] / 1000:.2f}" for x in result.get("phases", []))
    print(f"  {name:16} {result.get('verdict'):8} {wall:7.2f} s, processor {processor:7.2f} s, "
          f"{resident / 1e9:.1f} GB: {phases}", flush=True)


def main():
    build, names = os.path.abspath(sys.argv[1]), sys.argv[2:] or list(CASES)
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            measure(build, folder, name)


if __name__ == "__main__":
    main()
