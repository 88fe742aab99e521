#!/usr/bin/env python3
"""Writes word_vectors.txt: pairs of stems with their cosine, and the first one's length and
what it says, read from skills/catalog/word_vectors.bin by numpy."""
import pathlib
import numpy as np

HERE = pathlib.Path(__file__).parent
raw = (HERE / "../../../../skills/catalog/word_vectors.bin").read_bytes()
assert raw[:4] == b"UPWV"
_, count, size = np.frombuffer(raw, "<u4", 3, 4)
hashes = np.frombuffer(raw, "<u4", count, 16)
lengths, says = np.frombuffer(raw, np.uint8, 2 * count, 16 + 4 * count).reshape(2, count)
packed = np.frombuffer(raw, np.uint8, count * size // 2, 16 + 6 * count).reshape(count, -1)
vectors = np.stack([packed & 15, packed >> 4], 2).reshape(count, size).astype(float) - 8


def place(stem):
    h = 2166136261
    for byte in stem.encode():
        h = (h ^ byte) * 16777619 % 2**32
    return int(np.flatnonzero(hashes == h)[0])


STEMS = "game player music tax invoic kernel gpu doctor hospit patient".split()
with open(HERE / "word_vectors.txt", "w") as out:
    for i, a in enumerate(STEMS):
        for b in STEMS[i:]:
            x, y = vectors[place(a)], vectors[place(b)]
            cosine = x @ y / np.sqrt(x @ x * (y @ y))
            print(a, b, f"{cosine:.7f} {lengths[place(a)] / 64:.6f} {says[place(a)] / 24:.6f}", file=out)
