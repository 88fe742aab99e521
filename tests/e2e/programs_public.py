#!/usr/bin/env python3
"""kernel/run finds faults in programs of others: thirty changes of one line each in ten of NVIDIA's cuda-samples.

usage: programs_public.py UPSKILLD SAMPLES [NAME...]   (TAP on standard output; ends with 77 where there is no nvcc)
SAMPLES: a checkout of https://github.com/NVIDIA/cuda-samples at c94ff366, which is not part of this tree.
A fault counts as found when it is told as what it is, at its line. Some minutes.
"""
import os, shutil, sys

from programs_mutants import CHECKS, NEEDED, told
from programs_nvcc import nvcc_of
from validate_support import Daemon, Tap

INTRO = "0_Introduction/"
# sample: units, arguments
PROGRAMS = {INTRO + "vectorAdd": (["vectorAdd.cu"], []), INTRO + "clock": (["clock.cu"], []),
            INTRO + "matrixMul": (["matrixMul.cu"], ["-wA=128", "-hA=128", "-wB=128", "-hB=128"]),
            INTRO + "template": (["template.cu", "template_cpu.cpp"], []),
            INTRO + "fp16ScalarProduct": (["fp16ScalarProduct.cu"], []), INTRO + "simpleZeroCopy": (["simpleZeroCopy.cu"], []),
            "2_Concepts_and_Techniques/scalarProd": (["scalarProd.cu", "scalarProd_cpu.cpp"], []),
            "5_Domain_Specific/dwtHaar1D": (["dwtHaar1D.cu"], []), INTRO + "asyncAPI": (["asyncAPI.cu"], []),
            INTRO + "simpleTemplates": (["simpleTemplates.cu"], [])}
SYNC, COOPERATIVE = "__syncthreads();", "cg::sync(cta);"
# file, line, what stands there, what stands there then; codes of which one is to be told, at one of these lines
MUTANTS = [
    ("vectorAdd.cu", 51, "<", "<=", "out_of_bounds", [52]),
    ("vectorAdd.cu", 128, ", size", ", size / 2", "uninitialized", [52]),
    ("vectorAdd.cu", 110, ", size", ", size - 4", "out_of_bounds", [52]),
    ("matrixMul.cu", 105, SYNC, "", "race uninitialized", [113]),
    ("matrixMul.cu", 119, SYNC, "", "race", [101, 102, 113]),
    ("matrixMul.cu", 101, "tx];", "tx + 1];", "out_of_bounds", [101]),
    ("clock.cu", 68, SYNC, "", "race", [71, 72, 75]),
    ("clock.cu", 64, "[tid + blockDim.x]", "[tid]", "uninitialized", [72]),
    ("clock.cu", 129, "NUM_BLOCKS", "NUM_BLOCKS / 2", "out_of_bounds", [82]),
    ("template.cu", 128, "mem_size", "mem_size / 2", "out_of_bounds", [69]),
    ("template.cu", 117, "mem_size", "mem_size / 2", "uninitialized", [69]),
    ("template.cu", 161, "cudaFree(d_idata)", "cudaSuccess", "leak", [115]),
    ("fp16ScalarProduct.cu", 126, SYNC, "", "race uninitialized", [66]),
    ("fp16ScalarProduct.cu", 176, "i < 2", "i < 1", "uninitialized", [122]),
    ("fp16ScalarProduct.cu", 66, "+ 64", "+ 65", "out_of_bounds", [66]),
    ("simpleZeroCopy.cu", 208, "cudaDeviceSynchronize()", "cudaSuccess", "missing_sync", [219]),
    ("simpleZeroCopy.cu", 49, "b[idx]", "b[idx + 1]", "out_of_bounds", [49]),
    ("simpleZeroCopy.cu", 245, "cudaFreeHost(c)", "cudaSuccess", "leak", [182]),
    ("scalarProd_kernel.cuh", 86, COOPERATIVE, "", "race", [89]),
    ("scalarProd_kernel.cuh", 88, "<", "<=", "out_of_bounds", [89]),
    ("scalarProd.cu", 119, "DATA_SZ", "DATA_SZ / 2", "uninitialized", [76]),
    ("dwtHaar1D_kernel.cuh", 148, COOPERATIVE, "", "race uninitialized", [153, 154]),
    ("dwtHaar1D_kernel.cuh", 147, "[tid + bdim]", "[tid]", "uninitialized", [153, 154]),
    ("dwtHaar1D.cu", 219, "smem_size", "1", "out_of_bounds", [242]),
    # It does not get to the read: the time between events that nobody has waited for ends it.
    ("asyncAPI.cu", 123, "== cudaErrorNotReady", "== cudaErrorUnknown", "missing_sync cudaEventElapsedTime", [57, 127]),
    ("asyncAPI.cu", 51, "[idx] +", "[idx + 1] +", "out_of_bounds", [51]),
    ("asyncAPI.cu", 141, "d_a", "a", "invalid_free", [141]),
    ("simpleTemplates.cu", 225, "mem_size", "mem_size / 2", "out_of_bounds", [73]),
    ("simpleTemplates.cu", 233, "cudaMemcpyDeviceToHost", "cudaMemcpyHostToDevice", "cudaMemcpy", [233]),
    ("simpleTemplates.cu", 218, "mem_size", "mem_size / 4", "out_of_bounds", [81]),
]


def change(path, line, old, new):
    lines = open(path, encoding="latin-1").read().split("\n")
    assert old in lines[line - 1], "%s:%d is not that of the commit" % (path, line)
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    with open(path, "w", encoding="latin-1") as f:
        f.write("\n".join(lines))


def run(d, samples, name, mutant=None):
    work = d.home + "/work/"
    shutil.rmtree(work + "it", ignore_errors=True)
    shutil.copytree(os.path.join(samples, "Samples", name), work + "it")
    if mutant:
        change(work + "it/" + mutant[0], *mutant[1:4])
    units, args = PROGRAMS[name]
    data = ["it/data/" + f for f in sorted(os.listdir(work + "it/data"))] if os.path.isdir(work + "it/data") else []
    params = {"path": "it/" + units[0], "args": args, "files": data, "checks": CHECKS, "include_roots": ["Common", "it"],
              "timeout_s": 120}
    if units[1:]:
        params["paths"] = ["it/" + u for u in units[1:]]
    answer = d.ask("kernel/run", params)
    assert "result" in answer, answer
    return answer["result"]


def passes(d, samples, name):
    r = run(d, samples, name)
    assert r["verdict"] == "pass" and not r["findings"], (r["verdict"], r.get("error"), r.get("findings"))


def main():
    upskilld, samples, only = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
    if not nvcc_of(upskilld):
        print("there is no nvcc here: upskillctl setup programs downloads it", file=sys.stderr)
        return 77
    tap, d, found, tried = Tap(), Daemon(upskilld), 0, 0
    shutil.copytree(os.path.join(samples, "Common"), d.home + "/work/Common")
    for name in PROGRAMS:
        short = name.split("/")[1]
        if only and short not in only:
            continue
        tap.run("%s has no fault" % short, passes, d, samples, name)
        for m in (m for m in MUTANTS if m[0].split(".")[0].split("_kernel")[0] == short):
            here = told(run(d, samples, name, m))
            is_found = any((code, line) in here for code in m[4].split() for line in m[5])
            found, tried = found + is_found, tried + 1
            print("# %s:%d %s: %s" % (m[0], m[1], m[4], "found" if is_found else "missed, told: %s" % here), flush=True)

    def enough():
        assert found >= tried - (len(MUTANTS) - NEEDED), found
        return "%d of %d" % (found, tried)
    tap.run("faults found", enough)
    d.close()
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
