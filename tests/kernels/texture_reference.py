"""What texture fetches give: the formulas of NVIDIA's CUDA C++ Programming Guide, "Texture
Fetching", written down as they stand there and computed in binary64 with numpy.

Nearest-point sampling is T[floor(x)]; linear filtering goes between floor(xB) and the next texel,
xB = x - 0.5, with weights of 8 bits of fraction (rounded to the nearest: the guide does not say
how); address modes change x, or the texel's number. Arrays are T[z, y, x, channel] with as many
dimensions as there are; coordinates and modes go from x on.
"""
import itertools

import numpy as np


def as_floats(t):
    """Integers read as normalized floats."""
    return np.maximum(t.astype(np.float64) / float(np.iinfo(t.dtype).max), -1.0)


def to_texels(x, n, mode, normalized):
    """The guide's frac(x) for wrap, and frac(x) or 1 - frac(x) for mirror, then times N."""
    if not normalized:
        return x
    whole = np.floor(x)
    if mode == "wrap":
        x = x - whole
    elif mode == "mirror":
        x = x - whole if whole % 2 == 0 else 1 - (x - whole)
    return x * n


def texel(t, index, modes):
    place = []
    for d, i in enumerate(index):
        n = t.shape[len(index) - 1 - d]
        if modes[d] == "border" and not 0 <= i < n:
            return np.zeros(t.shape[-1])
        place.append(i % n if modes[d] == "wrap" else min(max(i, 0), n - 1))
    return t[tuple(reversed(place))]


def fetch(t, coords, modes, linear, normalized):
    xs = [to_texels(float(c), t.shape[len(coords) - 1 - d], modes[d], normalized)
          for d, c in enumerate(coords)]
    if not linear:
        return texel(t, [int(np.floor(x)) for x in xs], modes)
    low = [int(np.floor(x - 0.5)) for x in xs]
    alpha = [np.rint(((x - 0.5) - np.floor(x - 0.5)) * 256) / 256 for x in xs]
    total = np.zeros(t.shape[-1])
    for corner in itertools.product((0, 1), repeat=len(xs)):
        weight = np.prod([a if c else 1 - a for a, c in zip(alpha, corner)])
        total = total + weight * texel(t, [i + c for i, c in zip(low, corner)], modes)
    return total
