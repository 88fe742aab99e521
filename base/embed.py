#!/usr/bin/env python3
"""Texts as C arrays: embed.py OUT.c PREFIX FILE…; prefix and stem name the array: shim, torch.cuh is shim_torch."""
import pathlib
import sys


def literal(text):
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        yield f'    "{escaped}"\n'


with open(sys.argv[1], "w", encoding="utf-8") as out:
    for name in map(pathlib.Path, sys.argv[3:]):
        text = name.read_text(encoding="utf-8")
        symbol = f"{sys.argv[2]}_{name.stem}"
        out.write(f"\nextern const char {symbol}[];\nconst char {symbol}[] =\n{''.join(literal(text))};\n")
