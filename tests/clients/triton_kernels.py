#!/usr/bin/env python3
"""upskilld.triton: Triton's kernels, compiled here for the H100, against numpy; mistakes at their lines of Python.

usage: triton_kernels.py UPSKILLD   (TAP on standard output; triton and numpy are needed, torch is used where it is installed)"""
import importlib.util, os, sys, tempfile, warnings

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["UPSKILLD"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(REPOSITORY, "clients/python"))
sys.dont_write_bytecode = True
warnings.simplefilter("ignore")
import numpy  # noqa: E402
import upskilld  # noqa: E402

KERNELS = """
import triton
import triton.language as tl

@triton.jit
def softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + column, mask=column < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * n + column, e / tl.sum(e, axis=0), mask=column < n)

@triton.autotune([triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4), triton.Config({"BM": 1, "BN": 1, "BK": 1})], key=["M"])
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(c + m[:, None] * N + n[None, :], total.to(tl.float16), mask=(m[:, None] < M) & (n[None, :] < N))

@triton.jit
def attention(q, k, v, o, T, scale, BT: tl.constexpr, BS: tl.constexpr, D: tl.constexpr):
    base = tl.program_id(1) * T * D
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    d = tl.arange(0, D)
    query = tl.load(q + base + t[:, None] * D + d[None, :], mask=t[:, None] < T, other=0.0)
    top = tl.full((BT,), -float("inf"), tl.float32)
    weight = tl.zeros((BT,), tl.float32)
    total = tl.zeros((BT, D), tl.float32)
    for start in range(0, T, BS):
        s = start + tl.arange(0, BS)
        key = tl.load(k + base + s[None, :] * D + d[:, None], mask=s[None, :] < T, other=0.0)
        score = tl.where(s[None, :] < T, tl.dot(query, key) * scale, -float("inf"))
        newer = tl.maximum(top, tl.max(score, 1))
        p = tl.exp(score - newer[:, None])
        shrunk = tl.exp(top - newer)
        weight = weight * shrunk + tl.sum(p, 1)
        value = tl.load(v + base + s[:, None] * D + d[None, :], mask=s[:, None] < T, other=0.0)
        total = tl.dot(p.to(tl.float16), value, total * shrunk[:, None])
        top = newer
    tl.store(o + base + t[:, None] * D + d[None, :], (total / weight[:, None]).to(tl.float16), mask=t[:, None] < T)

@triton.jit
def transpose(x, y, M, N, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[B, B])
    target = tl.make_tensor_descriptor(y, shape=[N, M], strides=[M, 1], block_shape=[B, B])
    m, n = tl.program_id(0) * B, tl.program_id(1) * B
    target.store([n, m], source.load([m, n]).T)

@triton.jit
def scale(x, y, factor, n: tl.int64, one, missing, BLOCK: tl.constexpr = 128):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if missing is None:
        tl.store(y + i * one, tl.load(x + i, mask=i < n, other=0) * factor, mask=i < n)
"""
RANDOM = numpy.random.default_rng(20261123)


def random(*shape):
    return RANDOM.standard_normal(shape).astype("float16")


def module(text=KERNELS, name="kernels"):
    """Its functions; Triton reads them from a file."""
    with open(f"{name}.py", "w") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location(name, os.path.abspath(f"{name}.py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def of_softmax(x):
    e = numpy.exp(x.astype("float64") - x.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)).astype("float32")


def of_attention(q, k, v):
    score = q.astype("float64") @ k.astype("float64").swapaxes(1, 2) / 8
    return (of_softmax(score.reshape(-1, score.shape[2])).reshape(score.shape) @ v.astype("float64")).astype("float16")


def run_softmax(client, kernels, **more):
    x = RANDOM.standard_normal((7, 1000)).astype("float32")
    return client.triton(kernels.softmax, (7,), x, upskilld.output((7, 1000)), 1000, BLOCK=1024, expect=of_softmax, **more)


def run_matmul(client, kernels, **more):
    def grid(meta):
        return -(-meta["M"] // meta["BM"]), -(-meta["N"] // meta["BN"])
    return client.triton(kernels.matmul, grid, random(130, 100), random(100, 70), upskilld.output((130, 70), "float16"), 130,
                         70, 100, expect=lambda a, b: (a.astype("float64") @ b.astype("float64")).astype("float16"), **more)


def run_attention(client, kernels, **more):
    q, k, v = (random(2, 100, 64) for _ in range(3))
    return client.triton(kernels.attention, (2, 2), q, k, v, upskilld.output((2, 100, 64), "float16"), 100, 0.125, BT=64,
                         BS=32, D=64, expect=of_attention, **more)


def softmax(client):
    """softmax: one program a row"""
    result = run_softmax(client, module())
    said = [f for f in result.findings if f.code != "ptx_version"]  # Triton's assembler may be newer than the compiler here
    assert result.ok and not said and result.outputs[0].elements == 7000, result.text()


def matmul(client):
    """matmul: tensor cores, sizes that are no multiple of the block's; the first configuration of autotune, and another"""
    kernels = module()
    for more in ({}, {"BM": 128, "BN": 64, "BK": 64, "num_warps": 8, "num_stages": 2}):
        result = run_matmul(client, kernels, trials=1, **more)
        assert result.ok, result.text()
        counted = result.raw["check"]["kernels"][0]
        assert counted["required_block"][0] == 32 * more.get("num_warps", 4), counted


def attention(client):
    """attention with an online softmax"""
    result = run_attention(client, module())
    assert result.ok, result.text()


def descriptors(client):
    """tensor descriptors that the kernel makes: TMA, and memory for them behind the kernel's own parameters"""
    x = numpy.arange(96 * 64, dtype="float32").reshape(96, 64)
    result = client.triton(module().transpose, (3, 2), x, upskilld.output((64, 96)), 96, 64, B=32,
                           expect=lambda x: numpy.ascontiguousarray(x.T))
    assert result.ok, result.text()


def arguments(client):
    """numbers of each kind, None, a default, arguments by name; what is missing or strange is refused"""
    kernels = module()
    x = numpy.arange(300, dtype="int32")
    given = {"y": upskilld.output(300, "int32"), "factor": numpy.int16(-3), "n": 300, "one": 1, "missing": None}
    result = client.triton(kernels.scale, (3,), x, **given, expect=lambda x: x * -3)
    assert result.ok, result.text()
    for changed, kind, words in (({"factor": "three"}, TypeError, "factor"), ({"surprise": 1}, upskilld.RequestError, "surprise")):
        try:
            client.triton(kernels.scale, (3,), x, **{**given, **changed}, expect=lambda x: x)
        except kind as e:
            assert words in str(e), e
        else:
            raise AssertionError(f"{words} was taken")
    del given["n"]
    try:
        client.triton(kernels.scale, (3,), x, **given, expect=lambda x: x)
    except TypeError as e:
        assert "n is missing" in str(e), e
    else:
        raise AssertionError("n was not missed")


def mistakes(client):
    """a mistake in each fails, at its line of Python"""
    for run, right, wrong in [
            (run_softmax, "e / tl.sum(e, axis=0), mask=column < n)", "e / tl.sum(e, axis=0))"),
            (run_matmul, "mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)", "mask=k[None, :] < K, other=0.0)"),
            (run_attention, "d[None, :], mask=s[:, None] < T, other=0.0)", "d[None, :])")]:
        assert KERNELS.count(right) == 1, right
        line = KERNELS[:KERNELS.index(right)].count("\n") + 1
        result = run(client, module(KERNELS.replace(right, wrong), "mistaken"), trials=1)
        places = {(os.path.basename(f.file), f.line) for f in result.findings if f.code == "out_of_bounds"}
        assert result.verdict == "fail" and places == {("mistaken.py", line)}, (line, result.text())
    result = run_attention(client, module(KERNELS.replace(", total * shrunk[:, None])", ", total)"), "mistaken"), trials=1)
    assert result.verdict == "fail" and result.outputs[0].mismatches > 100, result.text()


def torch_tensors(client):
    """tensors of PyTorch, bfloat16 among them, and its functions as references of all three"""
    if not importlib.util.find_spec("torch"):
        return "torch is not installed"
    import torch
    x = torch.randn(5, 333, dtype=torch.bfloat16)
    result = client.triton(module().softmax, (5,), x, upskilld.output((5, 333), "bfloat16"), 333, BLOCK=512,
                           expect=lambda x: torch.softmax(x.float(), 1).bfloat16())
    assert result.ok, result.text()
    a, b = torch.randn(130, 100).half(), torch.randn(100, 70).half()
    result = client.triton(module().matmul, lambda meta: (-(-130 // meta["BM"]), -(-70 // meta["BN"])), a, b,
                           upskilld.output((130, 70), "float16"), 130, 70, 100, expect=lambda a, b: (a.float() @ b.float()).half())
    assert result.ok, result.text()
    q, k, v = (torch.randn(2, 100, 64).half() for _ in range(3))
    result = client.triton(module().attention, (2, 2), q, k, v, upskilld.output((2, 100, 64), "float16"), 100, 0.125, BT=64,
                           BS=32, D=64, expect=lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(
                               q.float(), k.float(), v.float()).half())
    assert result.ok, result.text()


def main():
    tests = [softmax, matmul, attention, descriptors, arguments, mistakes, torch_tensors]
    if not importlib.util.find_spec("triton"):
        sys.exit("triton is not installed: pip install triton")
    print(f"1..{len(tests)}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="triton-kernels-") as folder:
        os.chdir(folder)
        os.environ.update(XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder, TRITON_CACHE_DIR=folder + "/cache")
        with upskilld.Client() as client:
            for number, test in enumerate(tests, 1):
                try:
                    skipped = test(client)
                    print(f"ok {number} - {test.__doc__}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
                except Exception as e:
                    failed += 1
                    text = str(e).replace("\n", "\n# ")
                    print(f"not ok {number} - {test.__doc__}\n# {type(e).__name__}: {text}", flush=True)
        os.chdir("/")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
