#!/usr/bin/env python3
"""Texts as C: embed.py OUT PREFIX FILE…; prefix and stem name each. In OUT.c they are arrays: page, kernels.md is
page_kernels. In OUT.h they are literals, that others can be put beside: shim, math.cuh is the macro SHIM_MATH."""
import pathlib
import sys


def literal(text):
    for line in text.splitlines():
        escaped = line.replace("\\", "\\\\").replace('"', '\\"')
        yield f'    "{escaped}\\n"'


with open(sys.argv[1], "w", encoding="utf-8") as out:
    for name in map(pathlib.Path, sys.argv[3:]):
        lines = literal(name.read_text(encoding="utf-8"))
        symbol = f"{sys.argv[2]}_{name.stem.replace('-', '_')}"
        if sys.argv[1].endswith(".h"):
            out.write(f"#define {symbol.upper()} \\\n" + " \\\n".join(lines) + "\n")
        else:
            out.write(f"\nextern const char {symbol}[];\nconst char {symbol}[] =\n" + "\n".join(lines) + ";\n")
