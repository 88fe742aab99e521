#!/usr/bin/env python3
"""Compare nvcc on full .cu files with NVRTC on the same files, host code blanked.

Every kernel that nvcc makes of a full file must come out of the stripped text with the same
symbol, registers, stack, spills, shared memory and barriers. With --save nvcc's figures go to
full/golden.json, which the core tests compare without an nvcc.

usage: check_stripping.py STRIP_HOST [NVCC_FOLDER] [--save]
  STRIP_HOST   the built tests/kernels tool: prints what NVRTC makes of a file, as JSON
  NVCC_FOLDER  a folder with bin/nvcc (a toolkit, or the nvcc wheels' nvidia/cu13 together
               with the compiler wheels' include/cccl); else $UPSKILLD_TEST_NVCC
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def options(path):
    """-std as the file's first lines ask for it."""
    match = re.search(r"-std=c\+\+\d+", path.read_text(errors="replace")[:300])
    return [match.group(0)] if match else ["-std=c++17"]


def resources(log):
    """{symbol: {registers, stack, spill_stores, spill_loads, shared, barriers}} from ptxas -v."""
    kernels, name = {}, None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            # an anonymous namespace's name holds the file's path; call it as gcc does
            name = re.sub(r"\d+_GLOBAL__N__[0-9a-f]{8}_\w+?_cu_[0-9a-f]{8}", "12_GLOBAL__N_1",
                          match.group(1))
            kernels[name] = {}
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, "
                                r"(\d+) bytes spill loads", line):
            if name and "stack" not in kernels[name]:
                kernels[name].update(zip(("stack", "spill_stores", "spill_loads"),
                                         map(int, match.groups())))
        elif match := re.search(r"Used (\d+) registers", line):
            shared = re.search(r"(\d+) bytes smem", line)
            barriers = re.search(r"used (\d+) barriers", line)
            kernels[name].update(registers=int(match.group(1)),
                                 shared=int(shared.group(1)) if shared else 0,
                                 barriers=int(barriers.group(1)) if barriers else 0)
            name = None
    return kernels


def with_nvcc(folder, path):
    with tempfile.TemporaryDirectory() as out:
        run = subprocess.run(
            [str(folder / "bin/nvcc"), "-cubin", "-arch=sm_90a", "-Xptxas=-v", *options(path),
             f"-I{folder}/include", f"-I{folder}/include/cccl", "-o", f"{out}/x.cubin", str(path)],
            capture_output=True, text=True)
    if run.returncode != 0:
        print(f"nvcc does not take {path.name}:\n{run.stderr}")
        return None
    return resources(run.stdout + run.stderr)


def with_nvrtc(strip_host, path):
    run = subprocess.run([strip_host, str(path), *options(path)], capture_output=True, text=True)
    return resources(run.stdout), run.returncode, run.stdout + run.stderr


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("-")]
    arguments += [os.environ.get("UPSKILLD_TEST_NVCC", "no-nvcc-given")] * (len(arguments) == 1)
    if len(arguments) != 2:
        raise SystemExit(__doc__)
    strip_host, folder = arguments[0], pathlib.Path(arguments[1])
    if not (folder / "bin/nvcc").exists():
        print(f"SKIPPED: no nvcc in {folder}; stripping is only compared with saved figures")
        return 77
    golden, bad = {}, 0
    for path in sorted((HERE / "full").glob("*.cu")):
        want = golden[path.name] = with_nvcc(folder, path)
        if want is None:
            bad += 1
            continue
        got, code, log = with_nvrtc(strip_host, path)
        same = got == want and code == 0
        print(f"{'ok      ' if same else 'DIFFERS '}{path.name}: {len(want)} kernels")
        if not same:
            bad += 1
            for symbol in sorted(want.keys() | got.keys()):
                if want.get(symbol) != got.get(symbol):
                    print(f"    {symbol}\n      nvcc  {want.get(symbol)}\n      nvrtc {got.get(symbol)}")
            print(re.sub(r"(?m)^ptxas.*\n?", "", log))
    if "--save" in sys.argv:
        (HERE / "full/golden.json").write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
