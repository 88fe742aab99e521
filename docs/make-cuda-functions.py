#!/usr/bin/env python3
"""Write docs/guide/cuda-functions.md: what our CUDA runtime library exports, by the file that has it.

usage: make-cuda-functions.py BUILD_FOLDER [--check]

--check compares instead of writing: exit status 1 when the page is out of date.
"""
import pathlib, re, subprocess, sys

PAGE = pathlib.Path(__file__).parent / "guide/cuda-functions.md"
HEAD = """# CUDA functions that run

[Programs](programs.md) may call these CUDA functions. The library itself is the source of this page (`docs/make-cuda-functions.py`).
A program that calls any other function gets the verdict `unsupported` before it runs, with all such functions and their lines.

The list includes functions that only return an error, as they do on a machine without the feature (peers, IPC). The functions that a program
calls if it was built with `--default-stream per-thread` work too. The driver functions (`cu…`) are those listed. If a driver function does the
same as a runtime function, its failures are reported under the runtime function's name, and no call fails for lack of a context. For cuBLAS
there are handles and their settings, with headers if the toolkit has none, but nothing that computes. NVIDIA's other libraries (cuFFT, NVRTC …)
are not available.

"""


def names(path, *options):
    text = subprocess.run(["nm", *options, path], capture_output=True, text=True, check=True).stdout
    return {re.split("@", line.split()[-1])[0] for line in text.splitlines() if " T " in line or " W " in line}


def page(build):
    library = build / "gpu/runtime/libcudart.so.13"
    exported = {name for name in names(library, "-D", "--defined-only") if re.match(r"(cuda|cublas|cu[A-Z])(?!.*_pt(sz|ds)$)", name)}
    out, seen = HEAD + "%d functions.\n" % len(exported), set()
    for path in sorted((build / "gpu/runtime/libcudart.so.13.p").glob("*.o")):
        own = sorted((names(path, "--defined-only") & exported) - seen)
        seen |= set(own)
        if own:
            out += "\n## %s\n\n%s\n" % (path.name.split(".")[0].replace("_", " ").capitalize(),
                                       ", ".join("`%s`" % name for name in own))
    with open(pathlib.Path(__file__).parent.parent / "gpu/runtime/driver_twins.txt", encoding="utf-8") as f:
        twins = sorted(line.split()[0] for line in f)
    assert seen | set(twins) == exported, exported ^ (seen | set(twins))
    return out + "\n## Driver, by functions of the runtime\n\n%s\n" % ", ".join("`%s`" % name for name in twins)


def main():
    text = page(pathlib.Path(sys.argv[1]))
    if "--check" in sys.argv:
        if PAGE.read_text(encoding="utf-8") != text:
            print("docs/guide/cuda-functions.md is out of date: docs/make-cuda-functions.py BUILD_FOLDER", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
