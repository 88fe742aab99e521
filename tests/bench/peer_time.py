"""How bench_peers.py times a peer: the best of three runs."""
import time

RUNS = 3


def best(count, function):
    """Nanoseconds for each of the count elements that function works on."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e9 * min(times) / count
