#!/usr/bin/env python3
"""Golden vectors of an H100's tensor cores, bit for bit: golden.py PTX_RUN

vectors/ and its README.md say whose answers they are. Every file is run with each vector
extension of this machine."""
import json
import pathlib
import sys

from case_kernels import BITS, Form, Runner, extensions, hex_elements

VECTORS = pathlib.Path(__file__).parent / "vectors"


def forms_of(name):
    """The instructions that a file is about."""
    name = name.removeprefix("h100.")
    if name.startswith("wmma-mma."):
        mma = name.removeprefix("wmma-")
        return [mma] + ([mma.replace("mma.m16n8k16", "wmma.m16n16k16")])
    return [name]


def cases_of(form, rows):
    """c zero fills what of k a recording leaves out."""
    out = []
    for a, b, c in rows:
        x, y = hex_elements(a, BITS[form.a]), hex_elements(b, BITS[form.b])
        rest = [0] * (form.k - len(x))
        out.append((x + rest, y + rest, int(c, 16)))
    return out


def check(runner, name, rows, expected):
    form = Form(name)
    got = runner.run(form, cases_of(form, rows))
    wrong = [(r, g, e) for r, g, e in zip(rows, got, expected) if g != int(e, 16)]
    for (a, b, c), g, e in wrong[:3]:
        print(f"{runner.extension} {name}: a {a} b {b} c {c} gives {g:x}, not {e}")
    return len(wrong)


def main(ptx_run):
    wrong = count = 0
    files = sorted(p for p in VECTORS.glob("*.json") if p.name != "DISPUTED.json")
    assert len(files) == 46, len(files)
    disputed = json.loads((VECTORS / "DISPUTED.json").read_text())
    for extension in extensions(ptx_run):
        runner = Runner(ptx_run, extension)
        for path in files:
            cases = json.loads(path.read_text())["cases"]
            assert len(cases) == 256 or path.name.startswith("h100."), path.name
            for name in forms_of(path.name.removesuffix(".json")):
                wrong += check(runner, name, [c[1:4] for c in cases], [c[4] for c in cases])
                count += len(cases)
        for case in disputed:
            wrong += check(runner, case["instruction"], [(case["a"], case["b"], case["c"])],
                           [case["toolbox_rule"]])
            count += 1
    print(f"{count} cases, {wrong} differ")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
