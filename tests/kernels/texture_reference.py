"""What texture fetches give: the formulas of NVIDIA's CUDA C++ Programming Guide, "Texture
Fetching", written down as they stand there and computed in binary64 with numpy.

Nearest-point sampling is T[floor(x)]; linear filtering goes between floor(xB) and the next texel,
xB = x - 0.5, with weights of 8 bits of fraction (rounded to the nearest: the guide does not say
how); address modes change x, or the texel's number. Arrays are T[z, y, x, channel] with as many
dimensions as there are; coordinates and modes go from x on.

Cubes are T[face, y, x, channel]; "Cubemap Textures" of the same guide says which face a direction
meets and where. Behind a face's edge is, of all texels of the other faces, the one whose middle is
nearest to where the face's next texel would have its own.
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


# The guide's table: what is largest, m, s, t.
FACES = [(lambda x, y, z: (x, -z, -y)), (lambda x, y, z: (-x, z, -y)), (lambda x, y, z: (y, x, z)),
         (lambda x, y, z: (-y, x, -z)), (lambda x, y, z: (z, x, -y)), (lambda x, y, z: (-z, -x, -y))]


def face_of(direction):
    """Of a direction that has one largest coordinate."""
    axis = int(np.argmax(np.abs(direction)))
    return 2 * axis + (direction[axis] < 0)


def cube_coordinates(direction):
    face = face_of(direction)
    m, s, t = FACES[face](*(float(v) for v in direction))
    return face, ((s / m + 1) / 2, (t / m + 1) / 2)


def middles(n):
    """Of all texels, in space: [face, y, x, 3], on a cube from -1 to 1."""
    at = np.zeros((6, n, n, 3))
    for face in range(6):
        for point in itertools.product(np.linspace(-1 + 1 / n, 1 - 1 / n, n), repeat=2):
            for axis, sign in itertools.product(range(3), (1, -1)):
                p = np.insert(np.array(point), axis, sign)
                if face_of(p) == face:
                    _, s, t = FACES[face](*p)
                    at[face, int((t + 1) / 2 * n), int((s + 1) / 2 * n)] = p
    return at


def behind_edge(at, face, y, x):
    n = at.shape[1]
    edge = [min(max(i, 0), n - 1) for i in (y, x)]
    inner = [2 * e - i for e, i in zip(edge, (y, x))]  # as far from the edge on the other side
    far = np.linalg.norm(at - (2 * at[(face, *edge)] - at[(face, *inner)]), axis=-1)
    far[face] = np.inf
    return np.unravel_index(np.argmin(far), far.shape)


def fetch_cube(t, direction, modes, linear):
    face, place = cube_coordinates(direction)
    return fetch(t[face], place, modes, linear, True)


def fetch_seamless(t, direction):
    """None at a corner, of which no words say what it gives."""
    n = t.shape[1]
    at = middles(n)
    face, place = cube_coordinates(direction)
    low = [int(np.floor(p * n - 0.5)) for p in place]
    alpha = [np.rint((p * n - 0.5 - i) * 256) / 256 for p, i in zip(place, low)]
    total = np.zeros(t.shape[-1])
    for dx, dy in itertools.product((0, 1), repeat=2):
        x, y = low[0] + dx, low[1] + dy
        weight = (alpha[0] if dx else 1 - alpha[0]) * (alpha[1] if dy else 1 - alpha[1])
        out = (not 0 <= x < n) + (not 0 <= y < n)
        if weight and out == 2:
            return None
        if weight:
            total += weight * t[behind_edge(at, face, y, x) if out else (face, y, x)]
    return total
