#!/usr/bin/env python3
"""Texts as C arrays: embed.py OUT.c FILE…; FILE's stem names the array: torch.cuh is shim_torch."""
import pathlib
import sys


def literal(text):
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'    "{escaped}"\n'


with open(sys.argv[1], "w", encoding="utf-8") as out:
    out.write('#include "gpu/source/shims.h"\n')
    for name in map(pathlib.Path, sys.argv[2:]):
        text = name.read_text(encoding="utf-8")
        out.write(f"\nconst char shim_{name.stem}[] =\n{''.join(literal(text))};\n")
