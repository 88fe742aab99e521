"""What bench_peers.py's peers share: data as in bench_emulator.c, the best of three runs, and whether results are right."""
import json
import time
import types

import numpy

RUNS = 3
VALUES = 16384  # collatz: below this, as there


def best(count, function):
    """Nanoseconds for each of the count parts that function works on."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e9 * min(times) / count


def arrays(n, m):
    """n: of what has one dimension; m: rows and columns of what has two."""
    random = numpy.random.default_rng(1)
    floats = lambda *shape: random.random(shape, "float32")
    return types.SimpleNamespace(
        a=floats(n), b=floats(n), y=floats(n), out=floats(n), sums=floats(n // 256), p=floats(m, m), q=floats(m, m), square=floats(m, m),
        ints=random.integers(0, VALUES, n, "int32"), index=random.integers(0, n, n, "int32"), length=numpy.zeros(n, "int32"))


def collatz(value):
    steps = 0
    while value > 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


def expected(name, v):
    """(What the kernel left, what it should have), or None where it makes nothing."""
    places = numpy.arange(v.a.size)
    power = numpy.zeros_like(v.a)
    for _ in range(64):
        power = power * v.a + numpy.float32(0.25)
    return {"vector_add": lambda: (v.out, v.a + v.b),
            "saxpy4": lambda: (v.y, v.before + 1.5 * RUNS * v.a),
            "polynomial": lambda: (v.out, power),
            "collatz": lambda: (v.length, numpy.array([collatz(int(x)) for x in v.ints])),
            "gather": lambda: (v.out, sum(v.a[v.index[(places + k * 977) % v.a.size]] for k in range(16))),
            "transpose": lambda: (v.square, v.p.T),
            "block_reduce": lambda: (v.sums, v.a.reshape(-1, 256).sum(1)),
            "barrier_only": lambda: (v.out[:256], 16),
            "empty_block": lambda: (0, 0)}.get(name, lambda: (v.square, v.p @ v.q))()


def report(v, kernels, missing):
    """Prints nanoseconds of each kernel's part (bench_peers.py's PARTS), and why others are missing, as JSON."""
    found = dict(missing)
    v.before = v.y.copy()
    for name, (count, function) in kernels.items():
        found[name] = best(count, function)
        left, right = expected(name, v)
        assert numpy.allclose(left, right, rtol=1e-3, atol=1e-5), name
    print(json.dumps(found))
