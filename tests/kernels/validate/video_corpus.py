#!/usr/bin/env python3
"""Writes video.cu and video.json: a quarter of the forms of ptx/make_video.py, on words of 16 threads.

usage: video_corpus.py        writes them beside itself
"""
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../ptx"))
import make_video  # noqa: E402

THREADS = 16
HEAD = """// Video instructions, each on the words of its thread. Written by video_corpus.py.
#define FORM(number, text)                                                               \\
    {                                                                                    \\
        unsigned r;                                                                      \\
        asm("{ .reg .b32 a, b, c, d; mov.u32 a, %1; mov.u32 b, %2; mov.u32 c, %3; " text \\
            "; mov.u32 %0, d; }"                                                         \\
            : "=r"(r)                                                                    \\
            : "r"(a[threadIdx.x]), "r"(b[threadIdx.x]), "r"(c[threadIdx.x]));            \\
        d[(number) * blockDim.x + threadIdx.x] = r;                                      \\
    }
extern "C" __global__ void video(const unsigned *a, const unsigned *b, const unsigned *c,
                                 unsigned *d) {
"""


def words(rng):
    return [rng.choice((rng.choice(make_video.WORDS), rng.getrandbits(32))) for _ in range(THREADS)]


def main():
    rng = random.Random(7)
    forms = list(dict.fromkeys(make_video.spellings()))
    forms = [forms[k] for k in sorted(rng.sample(range(len(forms)), len(forms) // 4))]
    held = {name: words(rng) for name in "abc"}
    expected = [make_video.result(f, *of) for f in forms for of in zip(*held.values())]
    args = [{"name": n, "type": "uint32", "shape": [THREADS], "init": {"values": v}} for n, v in held.items()]
    args.append({"name": "d", "type": "uint32", "shape": [len(forms), THREADS], "output": True})
    spec = {"trials": 1, "kernel": "video", "launch": {"grid": [1], "block": [THREADS]}, "args": args,
            "compare": "exact", "expect": {"values": {"d": expected}}}
    with open(os.path.join(HERE, "video.cu"), "w") as f:
        f.write(HEAD + "".join(f'    FORM({k}, "{form}")\n' for k, form in enumerate(forms)) + "}\n")
    with open(os.path.join(HERE, "video.json"), "w") as f:
        check = json.dumps({"name": "forms", "spec": spec}, separators=(",", ":"))
        f.write(f'{{"source": "video.cu", "checks": [\n  {check}\n]}}\n')


main()
