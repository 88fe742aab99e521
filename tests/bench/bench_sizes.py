#!/usr/bin/env python3
"""Whole validations at the sizes that users have: wall and processor seconds, memory, and where the time goes.

usage: bench_sizes.py BUILD_FOLDER [NAME …]
names: relu add add_expression softmax layernorm matmul512 matmul1024 matmul4096 attention1 attention16

The kernels are plain ones. Processor seconds are those of the daemon and all that it starts: on a machine that
others use, they tell more than the clock."""
import collections
import contextlib
import json
import os
import pathlib
import resource
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
    """Of root and all that it started: process to its name and the fields of /proc/PID/stat behind it."""
    all_, children = {}, collections.defaultdict(list)
    for entry in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):  # it has ended
            name, _, rest = pathlib.Path(f"/proc/{entry}/stat").read_text().partition("(")[2].rpartition(")")
            all_[entry] = (name, rest.split())
            children[int(all_[entry][1][1])].append(entry)
    found, ahead = {}, [root]
    while ahead:
        pid = ahead.pop()
        if pid in all_:
            found[pid] = all_[pid]
            ahead += children[pid]
    return found


Cost = collections.namedtuple("Cost", "wall seconds threads resident")


def ticks(fields):
    return (int(fields[11]) + int(fields[12])) / TICKS


def thread_seconds(pid):
    """Processor seconds of a process's threads, by number; its own number is the first one's."""
    found = {}
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            found[int(path.parent.name)] = ticks(path.read_text().rpartition(")")[2].split())
    return found


def timed(command, folder, limit=(None, 0)):
    """(its JSON output, its Cost): wall seconds, processor seconds by process and name, the largest resident bytes of a process.
    limit: the processes of that name get so many processor seconds; the Cost has those of their threads."""
    seconds, threads, resident, start = {}, {}, {0: 0}, time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            for pid, (name, fields) in processes(process.pid).items():
                if name == limit[0]:
                    threads.setdefault(pid, {}).update(thread_seconds(pid))
                    if (pid, name) not in seconds:
                        with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
                            resource.prlimit(pid, resource.RLIMIT_CPU, (limit[1], limit[1] + 1))
                seconds[pid, name] = ticks(fields)
                resident[pid] = max(resident.get(pid, 0), int(fields[21]) * PAGE)
            time.sleep(min(0.2, 0.02 + (time.perf_counter() - start) / 50))  # a look takes some ms
        wall = time.perf_counter() - start
        out.seek(0)
        return json.load(out), Cost(wall, seconds, threads, max(resident.values()))


def run_timed(build, folder, spec, source):
    """(result, wall seconds, processor seconds, largest resident bytes of a process) of one validation."""
    pathlib.Path(folder, "sizes.cu").write_text(source)
    pathlib.Path(folder, "sizes.check.json").write_text(json.dumps(spec))
    command = [f"{build}/clients/ctl/upskillctl", "kernel", "validate", "sizes.cu", "--json"]
    result, cost = timed(command, folder)
    return result, cost.wall, sum(cost.seconds.values()), cost.resident


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
