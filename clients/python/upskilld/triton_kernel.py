"""A Triton kernel as PTX for the H100 and a check spec. Triton compiles it here, in the caller's process, without a GPU."""
import dataclasses
import math
import re

from . import arrays
from .errors import ArgumentError

THREADS = 32  # of a warp
TYPES = {"float32": "fp32", "float16": "fp16", "float64": "fp64", "bfloat16": "bf16", "float8_e4m3": "fp8e4nv",
         "float8_e5m2": "fp8e5", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
         "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
SPEC_TYPES = {name: spec for spec, name in TYPES.items()}
ALIGNED = [["tt.divisibility", 16]]


def _unwrapped(kernel, values):
    """The function beneath triton.autotune, of which the first configuration is taken, and triton.heuristics."""
    while not hasattr(kernel, "params"):
        if hasattr(kernel, "configs"):
            values.update({name: value for name, value in kernel.configs[0].all_kwargs().items()
                           if value is not None and name not in values})
        else:
            values.update({name: function(values) for name, function in kernel.values.items()})
        kernel = kernel.fn
    return kernel


def _bind(kernel, values):
    """Every parameter's value, in the kernel's order."""
    for parameter in kernel.params:
        if parameter.name not in values:
            if not parameter.has_default:
                raise ArgumentError(f"{kernel.__name__}: {parameter.name} is missing")
            values[parameter.name] = parameter.default
    return {parameter.name: values[parameter.name] for parameter in kernel.params}


def _integer(value):
    return "i32" if -2**31 <= value < 2**31 else "i64" if value < 2**63 else "u64"


def _type_of(name, value):
    """As Triton writes it, and whether the address or number is a multiple of 16."""
    if isinstance(value, dict):
        return "*" + TYPES[arrays.type_named(value["type"])], True
    if hasattr(value, "buffer"):
        return "*" + TYPES[arrays.type_named(value.dtype)], True
    if arrays.is_array(value):
        return "*" + TYPES[arrays.described(value)[1]], True
    if hasattr(value, "dtype"):
        return TYPES[arrays.type_named(value.dtype.name)], False
    if isinstance(value, bool):
        return "i1", False
    if isinstance(value, int):
        return _integer(value), value % 16 == 0
    if isinstance(value, float):
        return "fp32", False
    raise ArgumentError(f"{name}: Triton kernels take arrays and numbers here, not {type(value).__name__}")


def _signature(kernel, bound):
    """(signature, constants, attributes) as the call `kernel[grid](…)` would specialise them."""
    signature, constants, attributes = {}, {}, {}
    for place, parameter in enumerate(kernel.params):
        value = bound[parameter.name]
        one = type(value) is int and value == 1 and not parameter.do_not_specialize
        if parameter.is_constexpr or value is None or one and not parameter.annotation_type:
            signature[parameter.name] = "constexpr"
            constants[(place,)] = value
            continue
        name, aligned = _type_of(parameter.name, value)
        signature[parameter.name] = parameter.annotation_type or name
        if aligned and not parameter.do_not_specialize and not parameter.do_not_specialize_on_alignment:
            attributes[(place,)] = ALIGNED
    return signature, constants, attributes


def _entry(name, value, type_name):
    """A parameter's entry in the check spec; arrays stay what they are."""
    if type_name.startswith("*"):
        return value
    return {"type": SPEC_TYPES[{"u1": "i1"}.get(type_name, type_name)], "value": getattr(value, "item", lambda: value)()}


def _added_parameters(ptx, count, metadata, programs):
    """Entries for the pointers behind the kernel's own: memory for all programs, where they ask for some."""
    head = ptx[ptx.index(".entry"):]
    total = head[:head.index(")")].count(".param")
    sizes = [getattr(metadata, "global_scratch_size", 0), getattr(metadata, "profile_scratch_size", 0)]
    entries = {}
    for place in range(total - count):
        size = sizes[place] if place < len(sizes) else 0
        name = f"triton_scratch_{place}"
        entries[name] = ({"type": "uint8", "shape": [size * programs], "init": {"fill": 0}, "output": True, "judge": False}
                         if size else {"type": "uint64", "value": 0})
    return entries


def _block(ptx, metadata):
    required = re.search(r"\.(?:reqntid|maxntid)\s+(\d+)", ptx)
    return int(required[1]) if required else metadata.num_warps * THREADS


def request(kernel, grid, given, named):
    """(PTX, args, what goes into the spec) for Client.validate."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.backends.nvidia.compiler import CUDAOptions
    from triton.compiler import ASTSource

    options = {field.name for field in dataclasses.fields(CUDAOptions)}
    own = options.union(kernel.arg_names)
    values = {**dict(zip(kernel.arg_names, given)), **{name: value for name, value in named.items() if name in own}}
    rest = {name: value for name, value in named.items() if name not in own}
    kernel = _unwrapped(kernel, values)
    bound = _bind(kernel, values)
    signature, constants, attributes = _signature(kernel, bound)
    compiled = triton.compile(ASTSource(kernel, signature, constants, attributes), target=GPUTarget("cuda", 90, THREADS),
                              options={name: value for name, value in values.items() if name in options})
    ptx, metadata = compiled.asm["ptx"], compiled.metadata
    grid = list(grid(values) if callable(grid) else grid)
    args = {name: _entry(name, bound[name], type_name) for name, type_name in signature.items() if type_name != "constexpr"}
    added = _added_parameters(ptx, len(args), metadata, math.prod(grid) * metadata.num_ctas)
    launch = {"grid": [grid[0] * metadata.num_ctas, *grid[1:]], "block": [_block(ptx, metadata)],
              "shared_bytes": metadata.shared}
    if metadata.num_ctas > 1:
        launch["cluster"] = [metadata.num_ctas]
    if getattr(metadata, "launch_cooperative_grid", False):
        launch["cooperative"] = True
    return ptx, {**args, **added}, {"launch": launch, **rest}
