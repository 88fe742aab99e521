#!/usr/bin/env python3
"""What PyTorch computes on the CPU, in float64, for every operator and attribute of gpu/reference.

usage: make_reference_vectors.py     (needs torch; writes tests/unit/gpu/data/reference/*.json)

Inputs are made by formula, here and in test_reference.c alike, with values that are exact:
  ["wave", seed, scale, shift]  ((7919 i + 31 i^2 + 104729 seed) mod 2047 / 1024 - 1) * scale + shift
  ["apart", seed]               ((7919 i + 104729 seed) mod 2003) / 64 - 16, all different
  ["integers", seed, low, high] (7919 i + 31 i^2 + 104729 seed) mod (high - low) + low
  [value, …]                    written out
and then rounded to the input's type. What torch does not have (rope, GGUF blocks …) is written
here with its tensors from the definition.
"""
import decimal, fractions, json, math, os, struct

import torch
import torch.nn.functional as F

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "unit", "gpu", "data", "reference")
DTYPES = {"float64": torch.float64, "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16,
          "float8_e4m3": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2, "int64": torch.int64,
          "int32": torch.int32, "uint8": torch.uint8, "int8": torch.int8, "bool": torch.bool}
families = {}


def wave(shape, seed=1, scale=2.0, shift=0.0, type="float64"):
    return {"shape": list(shape), "type": type, "make": ["wave", seed, scale, shift]}


def apart(shape, seed=1, type="float64"):
    return {"shape": list(shape), "type": type, "make": ["apart", seed]}


def whole(shape, seed, low, high, type="int64"):
    return {"shape": list(shape), "type": type, "make": ["integers", seed, low, high]}


def given(values, shape=None, type="float64"):
    return {"shape": [len(values)] if shape is None else list(shape), "type": type, "make": values}


def numbers(spec):
    n = math.prod(spec["shape"])
    make = spec["make"]
    mixed = lambda i, seed: 7919 * i + 31 * i * i + 104729 * seed
    if make and make[0] == "wave":
        _, seed, scale, shift = make
        return [(mixed(i, seed) % 2047 / 1024 - 1) * scale + shift for i in range(n)]
    if make and make[0] == "apart":
        return [(7919 * i + 104729 * make[1]) % 2003 / 64 - 16 for i in range(n)]
    if make and make[0] == "integers":
        return [mixed(i, make[1]) % (make[3] - make[2]) + make[2] for i in range(n)]
    return list(make)


def tensor(spec):
    t = torch.tensor(numbers(spec), dtype=torch.float64)
    dtype = DTYPES[spec["type"]]
    t = t.to(torch.float32).to(dtype) if "float8" in spec["type"] else t.to(dtype)
    t = t.to(torch.float64) if spec["type"].startswith(("float", "bf")) else t
    return t.reshape(spec["shape"])


def plain(x):
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "Infinity" if x > 0 else "-Infinity"
    return int(x) if x == int(x) and abs(x) < 2**53 and not (x == 0 and math.copysign(1, x) < 0) else x


def spelled(values):
    return [plain(v) if isinstance(v, float) else v for v in values]


def case(family, op, inputs, outputs, rtol=None, **attributes):
    """outputs: a tensor, or one for each output; computed with what `inputs` make."""
    outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
    names = ["output", "indices"]
    record = {"op": op, "attributes": attributes,
              "inputs": {k: dict(v, make=spelled(v["make"])) for k, v in inputs.items()},
              "outputs": {name: {"shape": list(o.shape), "values": spelled(o.to(torch.float64).reshape(-1).tolist())}
                          for name, o in zip(names, outputs)}}
    if rtol:
        record["rtol"] = rtol
    families.setdefault(family, []).append(record)


def call(family, op, fn, inputs, rtol=None, **attributes):
    """fn(*tensors, **attributes) with torch's own names."""
    case(family, op, inputs, fn(*[tensor(s) for s in inputs.values()], **attributes), rtol=rtol, **attributes)


NAN, INF = float("nan"), float("inf")
SPECIAL = given([NAN, INF, -INF, 0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 6.0, 7.25, 0.001953125, 20.5, -30.25, 60.0])
EDGES = given([0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 3.0, -3.0, 6.0, 7.25, 0.001953125, 20.5, -30.25, 60.0])


def make_matmul():
    f = "matmul"
    mm = lambda a, b, x, y, **t: call(f, "matmul", torch.matmul, {"input": wave(a, x), "other": wave(b, y)})
    for a, b in [((3, 5), (5, 7)), ((1, 1), (1, 1)), ((5,), (5,)), ((5,), (5, 3)), ((3, 5), (5,)), ((2, 3, 5), (5, 4)), ((2, 1, 3, 5), (4, 5, 2)),
                 ((2, 3, 4, 5), (5, 3)), ((5,), (2, 5, 3)), ((2, 3, 5), (5,)), ((3, 0), (0, 2)), ((17, 33), (33, 9))]:
        mm(a, b, 1, 2)
    for ta, tb in [(True, False), (False, True), (True, True)]:
        a, b = wave((5, 3) if ta else (3, 5), 3), wave((7, 5) if tb else (5, 7), 4)
        x, y = tensor(a), tensor(b)
        case(f, "matmul", {"input": a, "other": b}, (x.T if ta else x) @ (y.T if tb else y), transpose_a=ta, transpose_b=tb)
    a, b = wave((2, 5, 3), 3), wave((2, 4, 5), 4)
    case(f, "matmul", {"input": a, "other": b}, tensor(a).mT @ tensor(b).mT, transpose_a=True, transpose_b=True)
    for t in ["float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2"]:
        call(f, "mm", torch.mm, {"input": wave((4, 3), 5, type=t), "mat2": wave((3, 4), 6, type=t)})
    a, b = whole((4, 3), 5, -128, 128, "int8"), whole((3, 4), 6, 0, 256, "uint8")
    case(f, "mm", {"input": a, "mat2": b}, tensor(a).to(torch.int64) @ tensor(b).to(torch.int64))
    call(f, "mm", torch.mm, {"input": wave((3, 70), 1), "mat2": wave((70, 2), 2)})
    call(f, "bmm", torch.bmm, {"input": wave((3, 2, 5), 1), "mat2": wave((3, 5, 4), 2)})
    call(f, "mv", torch.mv, {"input": wave((3, 5), 1), "vec": wave((5,), 2)})
    call(f, "dot", torch.dot, {"input": wave((31,), 1), "other": wave((31,), 2)})
    call(f, "outer", torch.outer, {"input": wave((3,), 1), "vec2": wave((5,), 2)})
    a, b = wave((3,), 1), wave((3, 5), 2)
    case(f, "diag_matmul", {"input": a, "other": b}, torch.diag(tensor(a)) @ tensor(b))
    for shape in [(3, 5), (2, 3, 5), (5,)]:
        call(f, "linear", F.linear, {"input": wave(shape, 1), "weight": wave((4, 5), 2), "bias": wave((4,), 3)})
    call(f, "linear", F.linear, {"input": wave((3, 5), 1), "weight": wave((4, 5), 2)})
    for bias in [(3, 4), (4,), (1, 4), (3, 1), ()]:
        call(f, "addmm", torch.addmm, {"input": wave(bias, 1), "mat1": wave((3, 5), 2), "mat2": wave((5, 4), 3)}, alpha=0.5, beta=-1.25)
    call(f, "addmm", torch.addmm, {"input": given([NAN] * 4), "mat1": wave((3, 5), 2), "mat2": wave((5, 4), 3)}, beta=0)
    call(f, "baddbmm", torch.baddbmm, {"input": wave((2, 3, 4), 1), "batch1": wave((2, 3, 5), 2), "batch2": wave((2, 5, 4), 3)}, alpha=2, beta=0.5)
    call(f, "addmv", torch.addmv, {"input": wave((3,), 1), "mat": wave((3, 5), 2), "vec": wave((5,), 3)}, alpha=-1, beta=0.75)


def make_activations():
    f = "activations"
    quick = lambda x: x * torch.sigmoid(1.702 * x)
    for name, fn in [("relu", F.relu), ("relu6", F.relu6), ("sigmoid", torch.sigmoid), ("logsigmoid", F.logsigmoid), ("tanh", torch.tanh),
                     ("silu", F.silu), ("gelu", F.gelu), ("selu", F.selu), ("hardsigmoid", F.hardsigmoid), ("hardswish", F.hardswish),
                     ("softsign", F.softsign), ("mish", F.mish), ("tanhshrink", F.tanhshrink), ("elu", F.elu), ("celu", F.celu),
                     ("leaky_relu", F.leaky_relu), ("hardtanh", F.hardtanh), ("softplus", F.softplus), ("softshrink", F.softshrink),
                     ("hardshrink", F.hardshrink), ("quick_gelu", quick)]:
        # At infinities torch's own formulas give NaN here and there where the limit is finite: those are left out.
        odd = name in ("selu", "gelu", "silu", "hardswish", "softsign", "mish", "tanhshrink", "quick_gelu", "logsigmoid")
        call(f, name, fn, {"input": EDGES if odd else SPECIAL})
        call(f, name, fn, {"input": wave((3, 7), 2, 4)})
    x = {"input": wave((5, 3), 3, 4)}
    call(f, "gelu", F.gelu, x, approximate="tanh")
    call(f, "gelu", F.gelu, x, approximate="none")
    call(f, "leaky_relu", F.leaky_relu, x, negative_slope=0.25)
    call(f, "elu", F.elu, x, alpha=0.5)
    call(f, "celu", F.celu, x, alpha=0.5)
    call(f, "hardtanh", F.hardtanh, x, min_val=-0.5, max_val=2)
    call(f, "softplus", F.softplus, x, beta=2, threshold=3)
    call(f, "softshrink", F.softshrink, x, lambd=1.5)
    call(f, "hardshrink", F.hardshrink, x, lambd=1.5)
    call(f, "threshold", F.threshold, x, threshold=0.25, value=-7)
    call(f, "threshold", F.threshold, {"input": SPECIAL}, threshold=1, value=20)
    for shape, n in [((2, 3, 4), 3), ((2, 3), 3), ((5,), 1), ((2, 3, 2, 2), 1)]:
        call(f, "prelu", F.prelu, {"input": wave(shape, 1), "weight": wave((n,), 2)})
    for shape, dim in [((3, 4), -1), ((4, 3), 0), ((2, 4, 3), 1)]:
        call(f, "glu", F.glu, {"input": wave(shape, 1)}, dim=dim)
    for name, fn in [("softmax", F.softmax), ("log_softmax", F.log_softmax), ("softmin", F.softmin)]:
        for shape, dim in [((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -2), ((7,), 0), ((1, 1), 1)]:
            call(f, name, fn, {"input": wave(shape, 4, 8)}, dim=dim)
        call(f, name, fn, {"input": given([NAN, 1.0, 2.0, -INF, 0.0, 1.0, 700.0, 701.0, -700.0, INF, 1.0, 2.0, -INF, -INF, -INF], (5, 3))}, dim=1)
    call(f, "softmax", F.softmax, {"input": wave((3, 33), 5, 4, type="float16")}, dim=-1)


def make_elementwise():
    f = "elementwise"
    for name, fn in [(n, getattr(torch, n)) for n in
                     "abs neg exp exp2 expm1 sqrt rsqrt reciprocal square sign sin cos tan atan erf erfc floor ceil round trunc frac isnan isfinite logical_not".split()]:
        if name not in ("frac", "sin", "cos", "tan"):
            call(f, name, fn, {"input": SPECIAL})
        call(f, name, fn, {"input": wave((3, 5), 2, 2)})
    for name in ["log", "log2", "log10", "log1p"]:
        call(f, name, getattr(torch, name), {"input": SPECIAL})
        call(f, name, getattr(torch, name), {"input": wave((3, 5), 2, 4, 4.5)})
    for name in ["asin", "acos"]:
        call(f, name, getattr(torch, name), {"input": wave((3, 5), 2, 1)})
        call(f, name, getattr(torch, name), {"input": given([1.5, -1.5, NAN, 0.0])})
    for name in ["sinh", "cosh"]:
        call(f, name, getattr(torch, name), {"input": wave((3, 5), 2, 8)})
    pair = lambda a, b: {"input": wave(a, 1, 4), "other": wave(b, 2, 4)}
    shapes = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((2, 1, 3), (4, 1)), ((3, 4), ()), ((), (2,)), ((0, 3), (3,))]
    for name in "add sub mul div maximum minimum atan2 eq ne lt le gt ge logical_and logical_or logical_xor".split():
        for a, b in shapes if name in ("add", "mul") else shapes[:3]:
            call(f, name, getattr(torch, name), pair(a, b))
        call(f, name, getattr(torch, name), {"input": given([NAN, 1.0, INF, -INF, 0.0, 2.0, 3.0]), "other": given([1.0, NAN, INF, INF, 0.0, 2.0, -3.0])})
    call(f, "add", torch.add, pair((3, 4), (4,)), alpha=-0.5)
    call(f, "sub", torch.sub, pair((3, 4), (4,)), alpha=3)
    for mode in ["trunc", "floor"]:
        call(f, "div", torch.div, pair((3, 4), (4,)), rounding_mode=mode)
        call(f, "div", torch.div, {"input": given([7.0, -7.0, 7.0, -7.0, 0.0, 1.0, -1.0, 6.0]), "other": given([2.0, 2.0, -2.0, -2.0, 5.0, 0.0, 0.0, 0.1])}, rounding_mode=mode)
    case(f, "div", pair((2,), (2,)), tensor(wave((2,), 1, 4)) / tensor(wave((2,), 2, 4)), rounding_mode="none")
    call(f, "pow", torch.pow, {"input": wave((3, 4), 1, 2, 2.5), "other": wave((4,), 2, 4)})
    call(f, "pow", torch.pow, {"input": given([-2.0, -2.0, 0.0, 0.0, 2.0, NAN, INF]), "other": given([3.0, 0.5, 0.0, -1.0, INF, 0.0, -1.0])})
    for name in ["fmod", "remainder"]:
        call(f, name, getattr(torch, name), {"input": wave((3, 4), 1, 8), "other": given([1.5, -1.5, 0.25, 3.0])})
    call(f, "where", lambda c, a, b: torch.where(c != 0, a, b), {"condition": whole((3, 1), 1, 0, 2, "bool"), "input": wave((3, 4), 1), "other": wave((4,), 2)})
    call(f, "lerp", torch.lerp, {"input": wave((3, 4), 1), "end": wave((3, 4), 2), "weight": wave((3, 4), 3, 1)})
    for name in ["addcmul", "addcdiv"]:
        inputs = {"input": wave((3, 4), 1), "tensor1": wave((4,), 2), "tensor2": wave((3, 1), 3, 0.5, 1)}
        call(f, name, getattr(torch, name), inputs)
        call(f, name, getattr(torch, name), inputs, value=-0.75)
    call(f, "clamp", torch.clamp, {"input": SPECIAL}, min=-1, max=2.5)
    call(f, "clamp", torch.clamp, {"input": SPECIAL}, min=0.25)
    call(f, "clamp", torch.clamp, {"input": SPECIAL}, max=0.25)
    call(f, "clamp", torch.clamp, {"input": wave((3,), 1)}, min=2, max=1)


def make_norms():
    f = "norms"

    def batch(names):
        def fn(x, *rest, **attributes):
            more = dict({"running_mean": None, "running_var": None}, **{n: v.clone() for n, v in zip(names, rest)})
            return F.batch_norm(x, **more, **attributes)
        return fn
    for shape in [(4, 3), (2, 3, 5), (2, 3, 2, 3), (2, 3, 2, 1, 3)]:
        stats = {"running_mean": wave((3,), 2), "running_var": wave((3,), 3, 0.5, 1)}
        affine = {"weight": wave((3,), 4), "bias": wave((3,), 5)}
        x = {"input": wave(shape, 1)}
        for inputs, training in [(dict(x, **stats, **affine), False), (dict(x, **affine), True), (x, True), (dict(x, **stats), False), (dict(x, **stats), True)]:
            call(f, "batch_norm", batch(list(inputs)[1:]), inputs, training=training, **({"eps": 0.25} if len(shape) == 3 else {}))
    for shape in [(2, 3, 5), (2, 3, 3, 2), (1, 3, 2, 2, 2)]:
        x = {"input": wave(shape, 1)}
        affine = dict(x, weight=wave((3,), 4), bias=wave((3,), 5))
        call(f, "instance_norm", lambda x: F.instance_norm(x), x)
        case(f, "instance_norm", affine, F.instance_norm(tensor(affine["input"]), weight=tensor(affine["weight"]), bias=tensor(affine["bias"]), eps=0.01), eps=0.01)
    for shape, groups in [((2, 6, 3), 2), ((2, 6, 2, 2), 3), ((3, 6), 6), ((1, 6, 5), 1)]:
        x = wave(shape, 1)
        affine = {"input": x, "weight": wave((6,), 4), "bias": wave((6,), 5)}
        case(f, "group_norm", {"input": x}, F.group_norm(tensor(x), groups), num_groups=groups)
        case(f, "group_norm", affine, F.group_norm(tensor(x), groups, tensor(affine["weight"]), tensor(affine["bias"]), eps=0.01), num_groups=groups, eps=0.01)
    for shape, n in [((3, 5), 1), ((2, 3, 5), 2), ((2, 3, 5), 1), ((7,), 1), ((2, 2, 3, 2), 3)]:
        last = shape[len(shape) - n:]
        x = wave(shape, 1)
        affine = {"input": x, "weight": wave(last, 4), "bias": wave(last, 5)}
        case(f, "layer_norm", {"input": x}, F.layer_norm(tensor(x), last), normalized_shape=list(last))
        case(f, "layer_norm", affine, F.layer_norm(tensor(x), last, tensor(affine["weight"]), tensor(affine["bias"]), eps=0.5), eps=0.5)
        case(f, "rms_norm", {"input": x}, F.rms_norm(tensor(x), last), normalized_shape=list(last))
        case(f, "rms_norm", {"input": x, "weight": affine["weight"]}, F.rms_norm(tensor(x), last, tensor(affine["weight"]), eps=0.5), eps=0.5)
    # A mean that is large beside the deviation: torch itself is 1e-13 off there, so by exact arithmetic.
    x = wave((2, 65), 6, 4, 1024)
    rows = [[fractions.Fraction(v) for v in numbers(x)[i:i + 65]] for i in (0, 65)]
    exact = []
    for row in rows:
        mean = sum(row) / 65
        var = sum((v - mean) ** 2 for v in row) / 65 + fractions.Fraction(1e-5)
        with decimal.localcontext(decimal.Context(prec=50)):
            root = (decimal.Decimal(var.numerator) / var.denominator).sqrt()
            exact += [float(decimal.Decimal((v - mean).numerator) / (v - mean).denominator / root) for v in row]
    case(f, "layer_norm", {"input": x}, torch.tensor(exact, dtype=torch.float64).reshape(2, 65))
    x, w = wave((2, 3, 4, 2), 1), wave((3,), 2)
    t = tensor(x)
    case(f, "rms_norm", {"input": x}, t / torch.sqrt((t * t).mean(dim=1, keepdim=True) + 1e-5), dim=1, eps=1e-5)
    case(f, "rms_norm", {"input": x, "weight": w}, t / torch.sqrt((t * t).mean(dim=1, keepdim=True) + 1e-5) * tensor(w)[:, None, None], dim=-3, eps=1e-5)
    for p in [1, 2, 3.5, INF]:
        case(f, "normalize", {"input": wave((3, 4, 2), 1)}, F.normalize(tensor(wave((3, 4, 2), 1)), p=p, dim=1), p=plain(float(p)))
    case(f, "normalize", {"input": wave((3, 4), 1)}, F.normalize(tensor(wave((3, 4), 1)), dim=(0, 1)), dim=[0, 1])
    t = tensor(wave((3, 4), 1))
    case(f, "normalize", {"input": wave((3, 4), 1)}, t / torch.norm(t, p="fro"), dim=None)
    case(f, "normalize", {"input": wave((3, 4), 1)}, F.normalize(t, dim=-1, eps=4.0), dim=-1, eps=4.0)
    for shape, size in [((2, 5, 3), 3), ((1, 4, 2, 2), 2), ((1, 6, 2), 5)]:
        call(f, "local_response_norm", F.local_response_norm, {"input": wave(shape, 1)}, size=size)
    call(f, "local_response_norm", F.local_response_norm, {"input": wave((2, 5, 3), 1)}, size=3, alpha=0.5, beta=0.5, k=2)


def make_reductions():
    f = "reductions"
    many = [("sum", torch.sum), ("mean", torch.mean), ("amax", torch.amax), ("amin", torch.amin), ("var", torch.var), ("std", torch.std),
            ("logsumexp", torch.logsumexp), ("count_nonzero", torch.count_nonzero), ("any", torch.any), ("all", torch.all),
            ("norm", lambda x, dim=None, keepdim=False, p=2.0: torch.linalg.vector_norm(x, ord=p, dim=dim, keepdim=keepdim))]
    for name, fn in many:
        x = {"input": whole((2, 3, 4), 1, 0, 3) if name in ("any", "all", "count_nonzero") else wave((2, 3, 4), 1)}
        for dim in [0, 1, -1, [0, 2], [2, 1], [0, 1, 2]]:
            if name == "count_nonzero":
                case(f, name, x, torch.count_nonzero(tensor(x["input"]), dim=dim), dim=dim)
            else:
                call(f, name, fn, x, dim=dim)
                call(f, name, fn, x, dim=dim, keepdim=True) if dim in (1, [0, 2]) else None
        case(f, name, x, fn(tensor(x["input"]), dim=(0, 1, 2)) if name != "count_nonzero" else torch.count_nonzero(tensor(x["input"])))
    t = tensor(whole((2, 3), 1, 0, 3))
    case(f, "count_nonzero", {"input": whole((2, 3), 1, 0, 3)}, torch.count_nonzero(t, dim=1).reshape(2, 1), dim=1, keepdim=True)
    for name in ["var", "std"]:
        for correction in [0, 1, 2.5]:
            call(f, name, getattr(torch, name), {"input": wave((3, 5), 2, 2, 8)}, dim=1, correction=correction)
        call(f, name, getattr(torch, name), {"input": wave((3, 1), 2)}, dim=1)
    for p in [0, 1, 2, 3, 0.5, INF, -INF]:
        x = wave((3, 5), 3)
        case(f, "norm", {"input": x}, torch.linalg.vector_norm(tensor(x), ord=p, dim=1), p=plain(float(p)), dim=1)
    for dim in [0, 1, -1]:
        x = apart((3, 2, 5))
        for name in ["max", "min"]:
            for keepdim in [False, True]:
                call(f, name, getattr(torch, name), {"input": x}, dim=dim, keepdim=keepdim)
        for name in ["argmax", "argmin"]:
            call(f, name, getattr(torch, name), {"input": x}, dim=dim)
            call(f, name, getattr(torch, name), {"input": x}, dim=dim, keepdim=True)
        call(f, "prod", torch.prod, {"input": x}, dim=dim)
        call(f, "prod", torch.prod, {"input": x}, dim=dim, keepdim=True)
    call(f, "prod", torch.prod, {"input": wave((3, 2), 1)})
    for name in ["argmax", "argmin"]:
        call(f, name, getattr(torch, name), {"input": apart((3, 4), 2)})
    for name in ["max", "min", "argmax", "argmin", "amax", "amin", "logsumexp", "sum"]:
        call(f, name, getattr(torch, name), {"input": given([1.0, NAN, 3.0, 2.0, 2.0, 1.0, INF, -INF, 0.0, -INF, -INF, -INF], (4, 3))}, dim=1)
    for name in ["argmax", "argmin"]:
        call(f, name, getattr(torch, name), {"input": given([2.0, 5.0, 5.0, 1.0, 1.0])}, dim=0)
    call(f, "sum", torch.sum, {"input": wave((3, 0), 1)}, dim=1)
    call(f, "sum", torch.sum, {"input": wave((), 1)})
    call(f, "mean", torch.mean, {"input": wave((5, 7), 1, type="bfloat16")}, dim=0)


def make_scans():
    f = "scans"
    for name in ["cumsum", "cumprod"]:
        fn = getattr(torch, name)
        for shape, dim in [((7,), 0), ((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -2)]:
            call(f, name, fn, {"input": wave(shape, 1)}, dim=dim)
        x = wave((3, 5), 2)
        t = tensor(x)
        case(f, name, {"input": x}, fn(t.flip(1), dim=1).flip(1), dim=1, reverse=True)
        unit = torch.zeros(3, 1, dtype=torch.float64) if name == "cumsum" else torch.ones(3, 1, dtype=torch.float64)
        case(f, name, {"input": x}, fn(torch.cat([unit, t], 1), dim=1)[:, :-1], dim=1, exclusive=True)
        case(f, name, {"input": x}, fn(torch.cat([unit, t.flip(1)], 1), dim=1)[:, :-1].flip(1), dim=1, exclusive=True, reverse=True)
        call(f, name, fn, {"input": given([1.0, INF, 2.0, -INF, 1.0, NAN])}, dim=0)
    x, m = wave((3, 5), 1), whole((3, 5), 2, 0, 2, "bool")
    t = tensor(x) * tensor(m)
    case(f, "masked_cumsum", {"input": x, "mask": m}, torch.cumsum(t, 1), dim=1)
    case(f, "masked_cumsum", {"input": x, "mask": m}, torch.cumsum(t.flip(0), 0).flip(0), dim=0, reverse=True)
    case(f, "masked_cumsum", {"input": x, "mask": m}, torch.cumsum(t, 1) - t, dim=1, exclusive=True)
    for name in ["cummax", "cummin"]:
        for shape, dim in [((7,), 0), ((3, 5), 1), ((3, 5), 0)]:
            call(f, name, getattr(torch, name), {"input": wave(shape, 3)}, dim=dim)
        call(f, name, getattr(torch, name), {"input": given([1.0, 1.0, 0.0, 2.0, 2.0, NAN, 5.0, -1.0])}, dim=0)
    call(f, "logcumsumexp", torch.logcumsumexp, {"input": wave((3, 5), 3, 8)}, dim=1)
    call(f, "logcumsumexp", torch.logcumsumexp, {"input": given([-INF, -INF, 1.0, -900.0, 900.0])}, dim=0)


def make_pooling():
    f = "pooling"
    spatial = {1: (9,), 2: (7, 5), 3: (5, 4, 6)}
    for n in (1, 2, 3):
        x = {"input": apart((2, 2) + spatial[n], n)}
        single = {"input": wave((2,) + spatial[n], n)}
        maxp, avg = getattr(F, "max_pool%dd" % n), getattr(F, "avg_pool%dd" % n)
        with_indices = lambda t, **k: maxp(t, return_indices=True, **k)
        for k in [dict(kernel_size=2), dict(kernel_size=3, stride=2, padding=1), dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
                  dict(kernel_size=2, stride=1, dilation=2), dict(kernel_size=2, stride=3, ceil_mode=True)]:
            call(f, "max_pool%dd" % n, with_indices, x, **k)
        for k in [dict(kernel_size=2), dict(kernel_size=3, stride=2, padding=1), dict(kernel_size=3, stride=2, padding=1, ceil_mode=True),
                  dict(kernel_size=3, stride=2, padding=1, count_include_pad=False), dict(kernel_size=2, stride=3, ceil_mode=True),
                  dict(kernel_size=3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)]:
            call(f, "avg_pool%dd" % n, avg, single, **k)
        if n == 1:
            t = tensor(single["input"])
            case(f, "avg_pool1d", single, F.avg_pool2d(t[:, None, :], (1, 3), (1, 2), divisor_override=4)[:, 0], kernel_size=3, stride=2, divisor_override=4)
        else:
            call(f, "avg_pool%dd" % n, avg, single, kernel_size=3, stride=2, divisor_override=5)
            several = dict(kernel_size=list(range(2, 2 + n)), stride=list(range(1, 1 + n)), padding=[1] * n)
            call(f, "max_pool%dd" % n, with_indices, single, **several)
            call(f, "avg_pool%dd" % n, avg, single, **several)
        for size in [1, 3, [4, 2, 5][:n], [10, 9, 8][:n]]:
            call(f, "adaptive_avg_pool%dd" % n, getattr(F, "adaptive_avg_pool%dd" % n), single, output_size=size)
            call(f, "adaptive_max_pool%dd" % n, getattr(F, "adaptive_max_pool%dd" % n), single, output_size=size) if size != 1 else None
    call(f, "max_pool1d", lambda t, **k: F.max_pool1d(t, return_indices=True, **k), {"input": given([1.0, NAN, 3.0, 3.0, 2.0, -INF], (1, 6))}, kernel_size=2)


def make_convolutions():
    f = "convolutions"
    for n, space, kernel in [(1, (9,), (3,)), (2, (6, 5), (3, 2)), (3, (4, 5, 3), (2, 3, 2))]:
        conv, transposed = getattr(F, "conv%dd" % n), getattr(F, "conv_transpose%dd" % n)
        several = [2, 1, 2][:n]
        for groups, k in [(1, {}), (2, {}), (4, {}), (1, dict(stride=2)), (1, dict(padding=1)), (1, dict(stride=several, padding=[1, 0, 1][:n])),
                          (2, dict(stride=several, padding=1, groups=2)), (1, dict(padding=2, dilation=[2, 1, 1][:n]))]:
            k = dict(k, groups=groups) if groups > 1 else k
            inputs = {"input": wave((2, 4) + space, 1), "weight": wave((4, 4 // groups) + kernel, 2), "bias": wave((4,), 3)}
            inputs = inputs if not k or n < 3 else {n_: v for n_, v in inputs.items() if n_ != "bias"}
            call(f, "conv%dd" % n, conv, inputs, **k)
        for groups, k in [(1, {}), (2, {}), (1, dict(stride=2)), (1, dict(stride=2, output_padding=1)), (1, dict(stride=several, padding=1)),
                          (2, dict(stride=2, padding=1, groups=2, output_padding=[1, 0, 1][:n])), (1, dict(padding=1, dilation=2)),
                          (1, dict(stride=3, dilation=2, padding=[1, 0, 0][:n]))]:
            k = dict(k, groups=groups) if groups > 1 else k
            small = tuple((s + 1) // 2 for s in space)
            inputs = {"input": wave((1, 4) + small, 1), "weight": wave((4, 4 // (2 * groups)) + kernel, 2), "bias": wave((2,), 3)}
            inputs = inputs if n < 3 or not k else {n_: v for n_, v in inputs.items() if n_ != "bias"}
            call(f, "conv_transpose%dd" % n, transposed, inputs, **k)
        call(f, "conv%dd" % n, conv, {"input": wave((4,) + space, 1), "weight": wave((2, 4) + (1,) * n, 2)})
        call(f, "conv_transpose%dd" % n, transposed, {"input": wave((4,) + kernel, 1), "weight": wave((4, 2) + kernel, 2)})


def make_losses():
    f = "losses"
    reductions = ["mean", "sum", "none"]
    x, y = wave((3, 5), 1), wave((3, 5), 2)
    for r in reductions:
        for name in ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"]:
            call(f, name, getattr(F, name), {"input": x, "target": y}, reduction=r)
        call(f, "smooth_l1_loss", F.smooth_l1_loss, {"input": x, "target": y}, reduction=r, beta=0.5)
        call(f, "huber_loss", F.huber_loss, {"input": x, "target": y}, reduction=r, delta=0.75)
        p, q = wave((3, 5), 1, 0.25, 0.5), wave((3, 5), 2, 0.25, 0.5)
        bce = lambda p, q, w=None, **k: F.binary_cross_entropy(p, q, weight=w, **k)
        call(f, "binary_cross_entropy", bce, {"input": p, "target": q}, reduction=r)
        call(f, "binary_cross_entropy", bce, {"input": p, "target": q, "weight": wave((5,), 3, 0.5, 1)}, reduction=r)
        logits = lambda p, q, w=None, pw=None, **k: F.binary_cross_entropy_with_logits(p, q, weight=w, pos_weight=pw, **k)
        wide = wave((3, 5), 1, 32)
        call(f, "binary_cross_entropy_with_logits", logits, {"input": wide, "target": q}, reduction=r)
        call(f, "binary_cross_entropy_with_logits", logits, {"input": wide, "target": q, "weight": wave((3, 5), 3, 0.5, 1), "pos_weight": wave((5,), 4, 0.5, 1)}, reduction=r)
        labels = given([1, -1, 1, 1, -1, -1, 1, -1, -1, 1, 1, -1, 1, 1, -1], (3, 5), "int32")
        call(f, "hinge_embedding_loss", lambda a, b, **k: F.hinge_embedding_loss(a, b.to(a.dtype), **k), {"input": x, "target": labels}, reduction=r)
        call(f, "hinge_embedding_loss", lambda a, b, **k: F.hinge_embedding_loss(a, b.to(a.dtype), **k), {"input": x, "target": labels}, reduction=r, margin=0.5)
        call(f, "soft_margin_loss", lambda a, b, **k: F.soft_margin_loss(a, b.to(a.dtype), **k), {"input": x, "target": labels}, reduction=r)
        hinge = torch.clamp(1 - tensor(x) * tensor(labels), min=0)
        case(f, "hinge_loss", {"input": x, "target": labels}, {"mean": hinge.mean(), "sum": hinge.sum(), "none": hinge}[r], reduction=r)
    for r in reductions + ["batchmean"]:
        logs, p = wave((3, 5), 1, 1, -2), wave((3, 5), 2, 0.25, 0.25)
        call(f, "kl_div", F.kl_div, {"input": logs, "target": p}, reduction=r)
        call(f, "kl_div", F.kl_div, {"input": logs, "target": wave((3, 5), 2, 1, -2)}, reduction=r, log_target=True)
    call(f, "binary_cross_entropy", lambda p, q: F.binary_cross_entropy(p, q), {"input": given([0.0, 1.0, 0.5]), "target": given([1.0, 0.0, 1.0])})
    call(f, "mse_loss", F.mse_loss, {"input": wave((3, 5), 1), "target": wave((3, 5), 2)})
    call(f, "smooth_l1_loss", F.smooth_l1_loss, {"input": wave((3, 5), 1), "target": wave((3, 5), 2)}, beta=0.0)

    def ce(fn):
        return lambda a, b, w=None, **k: fn(a, b, weight=w, **k)
    for r in reductions:
        for shape in [(4, 3), (2, 3, 2), (2, 3, 2, 2), (3,)]:
            places = [s for i, s in enumerate(shape) if i != (1 if len(shape) > 1 else 0)]
            t = whole(places, 2, 0, 3)
            a = {"input": wave(shape, 1, 4), "target": t}
            call(f, "cross_entropy", ce(F.cross_entropy), a, reduction=r)
            call(f, "nll_loss", ce(F.nll_loss), a, reduction=r)
        a = {"input": wave((4, 3), 1, 4), "target": given([2, 0, 1, 0], type="int32")}
        w = dict(a, weight=wave((3,), 3, 0.5, 1))
        fix = lambda fn: lambda x, t, w=None, **k: fn(x, t.to(torch.int64), weight=w, **k)
        for inputs in (a, w):
            call(f, "cross_entropy", fix(F.cross_entropy), inputs, reduction=r, label_smoothing=0.25)
            call(f, "cross_entropy", fix(F.cross_entropy), inputs, reduction=r, ignore_index=0)
            call(f, "cross_entropy", fix(F.cross_entropy), inputs, reduction=r, ignore_index=0, label_smoothing=0.1)
            call(f, "nll_loss", fix(F.nll_loss), inputs, reduction=r, ignore_index=0)
        soft = {"input": wave((4, 3), 1, 4), "target": wave((4, 3), 2, 0.25, 0.25)}
        call(f, "cross_entropy", ce(F.cross_entropy), soft, reduction=r)
        call(f, "cross_entropy", ce(F.cross_entropy), dict(soft, weight=wave((3,), 3, 0.5, 1)), reduction=r, label_smoothing=0.25)
        soft3 = {"input": wave((2, 3, 2), 1, 4), "target": wave((2, 3, 2), 2, 0.25, 0.25)}
        call(f, "cross_entropy", ce(F.cross_entropy), soft3, reduction=r)
    for shape, dim in [((3, 5), 1), ((3, 5), 0), ((2, 3, 4), -1), ((5,), 0)]:
        call(f, "cosine_similarity", F.cosine_similarity, {"x1": wave(shape, 1), "x2": wave(shape, 2)}, dim=dim)
    call(f, "cosine_similarity", F.cosine_similarity, {"x1": given([0.0] * 3, (1, 3)), "x2": wave((1, 3), 2)}, dim=1, eps=0.5)
    signs = given([1, -1, 1], type="int32")
    for r in reductions:
        sides = {"input1": wave((3, 5), 1), "input2": wave((3, 5), 2), "target": signs}
        call(f, "cosine_embedding_loss", F.cosine_embedding_loss, sides, reduction=r)
        call(f, "cosine_embedding_loss", F.cosine_embedding_loss, sides, reduction=r, margin=-0.5)
        ranks = {"input1": wave((3,), 1), "input2": wave((3,), 2), "target": signs}
        call(f, "margin_ranking_loss", F.margin_ranking_loss, ranks, reduction=r)
        call(f, "margin_ranking_loss", F.margin_ranking_loss, ranks, reduction=r, margin=0.75)
        three = {"anchor": wave((3, 5), 1), "positive": wave((3, 5), 2), "negative": wave((3, 5), 3)}
        call(f, "triplet_margin_loss", F.triplet_margin_loss, three, reduction=r)
        call(f, "triplet_margin_loss", F.triplet_margin_loss, three, reduction=r, margin=2.5, p=3, eps=0.001, swap=True)
    both = {"x1": wave((3, 5), 1), "x2": wave((3, 5), 2)}
    call(f, "pairwise_distance", F.pairwise_distance, both)
    call(f, "pairwise_distance", F.pairwise_distance, both, p=1, keepdim=True, eps=0.25)
    for p in [1, 2, 3]:
        case(f, "cdist", {"x1": wave((3, 5), 1), "x2": wave((4, 5), 2)},
             torch.cdist(tensor(wave((3, 5), 1)), tensor(wave((4, 5), 2)), p=p, compute_mode="donot_use_mm_for_euclid_dist"), p=p)


def make_attention():
    f = "attention"
    sdpa = lambda q, k, v, m=None, **a: F.scaled_dot_product_attention(q, k, v, attn_mask=m, **a)
    qkv = lambda h=2, g=2, l=5, s=7, e=4, ev=3: {"query": wave((2, h, l, e), 1), "key": wave((2, g, s, e), 2), "value": wave((2, g, s, ev), 3)}
    call(f, "scaled_dot_product_attention", sdpa, qkv())
    call(f, "scaled_dot_product_attention", sdpa, qkv(), scale=0.25)
    call(f, "scaled_dot_product_attention", sdpa, qkv(), is_causal=True)
    call(f, "scaled_dot_product_attention", sdpa, qkv(l=7, s=5), is_causal=True)
    call(f, "scaled_dot_product_attention", sdpa, qkv(h=4, g=2), enable_gqa=True)
    call(f, "scaled_dot_product_attention", sdpa, qkv(h=6, g=2), enable_gqa=True, is_causal=True)
    for shape in [(5, 7), (2, 2, 5, 7), (2, 1, 1, 7), (2, 1, 5, 7)]:
        call(f, "scaled_dot_product_attention", sdpa, dict(qkv(), attn_mask=wave(shape, 4)))
        call(f, "scaled_dot_product_attention", sdpa, dict(qkv(), attn_mask=whole(shape, 5, 0, 2, "bool")))
    call(f, "scaled_dot_product_attention", sdpa, dict(qkv(), attn_mask=given([0] * 7 + [1] * 28, (5, 7), "bool")))
    two = {"query": wave((5, 4), 1), "key": wave((7, 4), 2), "value": wave((7, 3), 3)}
    call(f, "scaled_dot_product_attention", sdpa, two)
    call(f, "scaled_dot_product_attention", sdpa, {"query": wave((3, 5, 4), 1), "key": wave((3, 7, 4), 2), "value": wave((3, 7, 3), 3)}, is_causal=True)

    def rope(x, positions, d, layout, dim, base=10000.0, cos=None, sin=None):
        t = tensor(x)
        turned = t[..., :d].movedim(dim, -2)
        if cos is None:
            angles = positions[:, None] * base ** (-2 * torch.arange(d // 2, dtype=torch.float64) / d)
            cos, sin = torch.cos(angles), torch.sin(angles)
        if layout == "half":
            a, b = turned[..., : d // 2], turned[..., d // 2:]
            new = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
        else:
            a, b = turned[..., 0::2], turned[..., 1::2]
            new = torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)
        return torch.cat([new.movedim(-2, dim), t[..., d:]], -1)
    x = wave((2, 3, 5, 6), 1)
    at = torch.arange(5, dtype=torch.float64)
    for layout in ["half", "interleaved"]:
        case(f, "rope", {"input": x}, rope(x, at, 6, layout, -2), layout=layout)
        case(f, "rope", {"input": x}, rope(x, at, 4, layout, -2, 500.0), layout=layout, rotary_dim=4, base=500)
        case(f, "rope", {"input": x}, rope(x, torch.arange(3, dtype=torch.float64) + 7, 6, layout, 1), layout=layout, position_dim=1, offset=7)
        where = given([4, 0, 9, 2, 1], type="int64")
        case(f, "rope", {"input": x, "positions": where}, rope(x, tensor(where).to(torch.float64), 6, layout, -2), layout=layout)
        cos, sin = wave((10, 3), 5, 1), wave((10, 3), 6, 1)
        case(f, "rope", {"input": x, "cos": cos, "sin": sin}, rope(x, at, 6, layout, -2, cos=tensor(cos)[:5], sin=tensor(sin)[:5]), layout=layout)
        rows = tensor(where)
        case(f, "rope", {"input": x, "positions": where, "cos": cos, "sin": sin},
             rope(x, at, 6, layout, -2, cos=tensor(cos)[rows], sin=tensor(sin)[rows]), layout=layout)
    for name, gate in [("swiglu", F.silu), ("geglu", F.gelu), ("reglu", F.relu)]:
        x, y = wave((3, 4), 1), wave((3, 4), 2)
        case(f, name, {"input": x, "up": y}, gate(tensor(x)) * tensor(y))
        a, b = tensor(wave((2, 6, 3), 1)).chunk(2, 1)
        case(f, name, {"input": wave((2, 6, 3), 1)}, gate(a) * b, dim=1)
        case(f, name, {"input": wave((2, 6, 3), 1)}, a * gate(b), dim=1, gate="second")
    a, b = tensor(wave((3, 4), 1)).chunk(2, -1)
    case(f, "geglu", {"input": wave((3, 4), 1)}, F.gelu(a, approximate="tanh") * b, approximate="tanh")


def make_indexing():
    f = "indexing"
    call(f, "embedding", F.embedding, {"input": whole((2, 3), 1, 0, 5), "weight": wave((5, 4), 2)})
    call(f, "embedding", F.embedding, {"input": given([4, 0, 4], type="int32"), "weight": wave((5, 3), 2, type="float16")})
    for dim, shape, n in [(0, (4, 3), 5), (1, (2, 6), 3), (-1, (3, 2), 3)]:
        call(f, "gather", lambda a, i, dim: torch.gather(a, dim, i), {"input": wave((5, 3) if dim == 0 else (3, n), 1), "index": whole(shape, 2, 0, n if dim else 5)}, dim=dim)
    for dim in (0, 1):
        base, index = wave((4, 5), 1), given([0, 1, 2, 3, 0, 1, 2, 3, 1], (3, 3), "int64") if dim == 0 else given([0, 4, 1, 3, 2, 0], (2, 3), "int64")
        src = wave(index["shape"], 3)
        call(f, "scatter_add", lambda a, i, s, dim: torch.scatter_add(a, dim, i, s), {"input": base, "index": index, "src": src}, dim=dim)
        call(f, "scatter", lambda a, i, s, dim: torch.scatter(a, dim, i, s), {"input": base, "index": given([0, 1, 2, 3, 0, 1, 2, 3, 0], (3, 3), "int64") if dim == 0 else index, "src": src}, dim=dim)
        call(f, "index_select", lambda a, i, dim: torch.index_select(a, dim, i), {"input": base, "index": given([3, 0, 0, 2], type="int64")}, dim=dim)
        rows = given([3, 0, 3], type="int64")
        source = wave((3, 5) if dim == 0 else (4, 3), 4)
        call(f, "index_add", lambda a, i, s, dim, alpha=1: torch.index_add(a, dim, i, s, alpha=alpha), {"input": base, "index": rows, "source": source}, dim=dim)
        call(f, "index_add", lambda a, i, s, dim, alpha=1: torch.index_add(a, dim, i, s, alpha=alpha), {"input": base, "index": rows, "source": source}, dim=dim, alpha=0.5)
    case(f, "masked_fill", {"input": wave((3, 4), 1), "mask": whole((4,), 1, 0, 2, "bool")}, tensor(wave((3, 4), 1)).masked_fill(tensor(whole((4,), 1, 0, 2, "bool")), -INF), value="-Infinity")
    call(f, "masked_fill", lambda a, m, value: a.masked_fill(m, value), {"input": wave((3, 4), 1), "mask": whole((3, 4), 1, 0, 2, "bool")}, value=2.5)
    call(f, "one_hot", F.one_hot, {"input": whole((2, 3), 1, 0, 4)}, num_classes=5)


def make_ordering():
    f = "ordering"
    nans = given([2.0, NAN, 1.0, INF, -INF, 1.0, 0.5])
    for descending in (False, True):
        stable = lambda t, **k: torch.sort(t, stable=True, **k)
        for shape, dim in [((7,), 0), ((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1)]:
            call(f, "sort", stable, {"input": wave(shape, 2)}, dim=dim, descending=descending)
            call(f, "argsort", lambda t, **k: torch.argsort(t, stable=True, **k), {"input": wave(shape, 2)}, dim=dim, descending=descending)
        call(f, "sort", stable, {"input": nans}, dim=0, descending=descending)
    for largest in (False, True):
        for shape, dim, k in [((7,), 0, 3), ((3, 5), 1, 5), ((5, 3), 0, 2), ((2, 3), 1, 1)]:
            call(f, "topk", torch.topk, {"input": apart(shape, 2)}, k=k, dim=dim, largest=largest)
    call(f, "topk", torch.topk, {"input": given([2.0, NAN, 1.0, INF])}, k=2)
    a = whole((40,), 1, 0, 7)
    case(f, "bincount", {"input": a}, torch.bincount(tensor(a), minlength=9), bins=9)
    case(f, "bincount", {"input": a, "weights": wave((40,), 2)}, torch.bincount(tensor(a), tensor(wave((40,), 2)), minlength=7), bins=7)
    call(f, "histc", torch.histc, {"input": wave((40,), 1)}, bins=8, min=-1, max=1.5)
    call(f, "histc", torch.histc, {"input": wave((40,), 1)}, bins=5)
    call(f, "histc", torch.histc, {"input": given([3.0] * 4)}, bins=4)
    for right in (False, True):
        call(f, "searchsorted", torch.searchsorted, {"sorted_sequence": given([-1.0, 0.0, 0.0, 0.5, 2.0]), "input": given([0.0, -3.0, 0.25, 2.0, 9.0, 0.5], (2, 3))}, right=right)


def make_shapes():
    f = "shapes"
    x = {"input": wave((2, 3, 4), 1)}
    t = tensor(x["input"])
    for a, b in [(0, 1), (-1, 0), (1, 1)]:
        call(f, "transpose", lambda t, dim0, dim1: t.transpose(dim0, dim1), x, dim0=a, dim1=b)
    case(f, "transpose", x, t.mT)
    for dims in [[2, 0, 1], [0, 1, 2], [-1, 1, 0]]:
        call(f, "permute", torch.permute, x, dims=dims)
    for shape in [[6, 4], [-1], [2, -1, 2], [1, 24, 1]]:
        call(f, "reshape", torch.reshape, x, shape=shape)
    call(f, "expand", lambda t, shape: t.expand(shape), {"input": wave((3, 1), 1)}, shape=[2, -1, 4])
    call(f, "repeat", lambda t, repeats: t.repeat(repeats), {"input": wave((2, 3), 1)}, repeats=[2, 1, 3])
    call(f, "repeat_interleave", torch.repeat_interleave, x, repeats=2, dim=1)
    call(f, "narrow", torch.narrow, x, dim=2, start=1, length=2)
    call(f, "narrow", torch.narrow, x, dim=0, start=-1, length=1)
    for dim in (0, 1, -1):
        shapes = [[2, 3, 4] for _ in range(3)]
        parts = [tensor(wave(s, i + 1)) for i, s in enumerate(shapes)]
        record = {"tensors%d" % i: wave(s, i + 1) for i, s in enumerate(shapes)}
        case(f, "stack", record, torch.stack(parts, dim), dim=dim)
        shapes[1][dim] += 2
        parts = [tensor(wave(s, i + 1)) for i, s in enumerate(shapes)]
        record = {"tensors%d" % i: wave(s, i + 1) for i, s in enumerate(shapes)}
        case(f, "cat", record, torch.cat(parts, dim), dim=dim)
    for pad in [[1, 2], [0, 1, 2, 0], [1, 1, -1, 0, 0, 2]]:
        call(f, "pad", F.pad, x, pad=pad)
        call(f, "pad", F.pad, x, pad=pad, value=1.5)
    for mode, pad in [("reflect", [3, 2]), ("reflect", [3, 1, 2, 2]), ("replicate", [5, 1]), ("replicate", [1, 2, 3, 0]), ("circular", [4, 3]), ("circular", [1, 2, 3, 0])]:
        shape = (2, 3, 4) if len(pad) == 2 else (1, 2, 3, 4)
        call(f, "pad", F.pad, {"input": wave(shape, 1)}, pad=pad, mode=mode)
    for dims in [[0], [1, 2], [-1]]:
        call(f, "flip", torch.flip, x, dims=dims)
    call(f, "roll", torch.roll, x, shifts=[1, -6], dims=[0, 2])
    call(f, "roll", torch.roll, x, shifts=2, dims=1)
    for d in (0, 1, -2):
        call(f, "tril", torch.tril, x, diagonal=d)
        call(f, "triu", torch.triu, x, diagonal=d)
    call(f, "pixel_shuffle", F.pixel_shuffle, {"input": wave((1, 8, 2, 3), 1)}, upscale_factor=2)
    call(f, "pixel_unshuffle", F.pixel_unshuffle, {"input": wave((1, 2, 4, 6), 1)}, downscale_factor=2)
    call(f, "dropout", lambda t, p: F.dropout(t, p, training=False), x, p=0.25)
    call(f, "identity", lambda t: t, x)


def make_quantization():
    f = "quantization"
    limits = {"int8": (-128, 127), "uint8": (0, 255), "int4": (-8, 7), "uint4": (0, 15), "int16": (-32768, 32767), "int32": (-2**31, 2**31 - 1)}
    x = wave((3, 8), 1, 64)
    t = tensor(x)

    def affine(scale, zero, kind):
        q = torch.clamp(torch.round(t / scale) + zero, *limits[kind])
        return q, (q - zero) * scale
    for kind in limits:
        s, z = given([0.3125], ()), given([3], (), "int32")
        q, d = affine(tensor(s), 3, kind)
        case(f, "quantize", {"input": x, "scale": s, "zero_point": z}, q, type=kind)
        case(f, "fake_quantize", {"input": x, "scale": s, "zero_point": z}, d, type=kind)
    case(f, "quantize", {"input": x, "scale": given([0.5], (1,))}, affine(0.5, 0, "int8")[0])
    # An independent check of the rounding: torch's own operator, in float32.
    fake = torch.fake_quantize_per_tensor_affine(t.to(torch.float32), 0.5, 3, -128, 127)
    case(f, "fake_quantize", {"input": x, "scale": given([0.5], ()), "zero_point": given([3], (), "int32")}, fake)
    s, z = given([0.5, 0.25, 2.0]), given([0, 10, -10], type="int32")
    fake = torch.fake_quantize_per_channel_affine(t.to(torch.float32), tensor(s).to(torch.float32), tensor(z), 0, -128, 127)
    case(f, "fake_quantize", {"input": x, "scale": s, "zero_point": z}, fake, dim=0)
    q, d = affine(tensor(s)[:, None], tensor(z)[:, None], "int8")
    case(f, "quantize", {"input": x, "scale": s, "zero_point": z}, q, dim=0)
    per_group = wave((3, 2), 3, 0.25, 0.5)
    spread = tensor(per_group).repeat_interleave(4, 1)
    q, d = affine(spread, 0, "int8")
    case(f, "quantize", {"input": x, "scale": per_group}, q, group_size=4)
    case(f, "fake_quantize", {"input": x, "scale": per_group}, d, group_size=4)
    ints = whole((3, 8), 4, -128, 128, "int8")
    case(f, "dequantize", {"input": ints, "scale": per_group, "zero_point": whole((3, 2), 1, -3, 4, "int8")},
         (tensor(ints).to(torch.int64) - tensor(whole((3, 2), 1, -3, 4, "int8")).repeat_interleave(4, 1)) * spread, group_size=4)
    eight = wave((8,), 3, 0.25, 0.5)
    case(f, "dequantize", {"input": ints, "scale": eight}, tensor(ints) * tensor(eight), dim=1)
    values = given([0.0, 1.0, -1.0625, 0.0171875, 300.0, 447.0, -448.0, 459.0, 463.0, 0.001, 0.0019, 17.3, 1e-5, 57000.0, -60000.0, 3.14159, 65000.0, NAN], type="float64")
    t = tensor(values)
    for name, dtype in [("float8_e4m3", torch.float8_e4m3fn), ("float8_e5m2", torch.float8_e5m2), ("float16", torch.float16), ("bfloat16", torch.bfloat16), ("float32", torch.float32)]:
        rounded = (t.to(torch.float32) if "8" in name else t).to(dtype).to(torch.float64)
        if name == "float8_e4m3":
            rounded[t.abs() > 464] = NAN  # as OCP's specification has it; torch saturates since some version
        case(f, "to", {"input": values}, rounded, dtype=name)
        limit = torch.finfo(dtype).max
        case(f, "to", {"input": values}, torch.clamp(t / 4, -limit, limit).to(dtype).to(torch.float64) * 4, dtype=name, saturate=True, scale=4)
    blocks, nums = [], []
    for b in range(3):
        bits = struct.unpack("<H", struct.pack("<e", [0.5, -0.0625, 3.140625][b]))[0]
        qs = [(37 * i + 11 * b) % 256 for i in range(16)]
        blocks += [bits & 255, bits >> 8] + qs
        d = struct.unpack("<e", struct.pack("<H", bits))[0]
        nums += [((q & 15) - 8) * d for q in qs] + [((q >> 4) - 8) * d for q in qs]
    case(f, "dequantize_q4_0", {"input": given(blocks, (1, 54), "uint8")}, torch.tensor(nums, dtype=torch.float64).reshape(1, 96))
    blocks, nums = [], []
    for b in range(2):
        bits = struct.unpack("<H", struct.pack("<e", [0.5, -0.0625][b]))[0]
        qs = [(37 * i + 11 * b) % 256 for i in range(32)]
        blocks += [bits & 255, bits >> 8] + qs
        nums += [(q - 256 if q > 127 else q) * struct.unpack("<e", struct.pack("<H", bits))[0] for q in qs]
    case(f, "dequantize_q8_0", {"input": given(blocks, (2, 34), "uint8")}, torch.tensor(nums, dtype=torch.float64).reshape(2, 32))


def make_interpolation():
    f = "interpolation"
    shapes = {1: (2, 1, 5), 2: (1, 2, 4, 3), 3: (1, 1, 3, 2, 4)}
    for n, shape in shapes.items():
        x = {"input": wave(shape, 1)}
        linear = {1: "linear", 2: "bilinear", 3: "trilinear"}[n]
        for size in [7, 2, [3, 8, 5][:n]]:
            for mode in ["nearest", "nearest-exact", linear]:
                call(f, "interpolate", F.interpolate, x, size=size, mode=mode)
            call(f, "interpolate", F.interpolate, x, size=size, mode=linear, align_corners=True)
        for factor in [2, 0.5, 1.5]:
            for mode in ["nearest", "nearest-exact", linear]:
                call(f, "interpolate", F.interpolate, x, scale_factor=factor, mode=mode)
    call(f, "interpolate", F.interpolate, {"input": wave((1, 1, 4, 4), 1)}, size=1, mode="bilinear", align_corners=True)


def main():
    for name, make in sorted(globals().items()):
        if name.startswith("make_") and callable(make):
            make()
    os.makedirs(OUT, exist_ok=True)
    for family, cases in families.items():
        with open(os.path.join(OUT, family + ".json"), "w") as f:
            f.write('{"made_by": "tests/kernels/make_reference_vectors.py", "torch": "%s", "cases": [\n' % torch.__version__.split("+")[0])
            f.write(",\n".join(json.dumps(c, separators=(",", ":"), allow_nan=False) for c in cases))
            f.write("\n]}\n")
        print(family, len(cases), "cases")


if __name__ == "__main__":
    main()
