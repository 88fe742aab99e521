"""A kernel against a problem in KernelBench's form: a Python file with Model, get_inputs and get_init_inputs."""
import importlib.util
import inspect
import os
import sys

from . import arrays
from .errors import ArgumentError


def _load(path):
    """The problem as a module. It is Python of the caller's, and runs in the caller's process."""
    spec = importlib.util.spec_from_file_location("kernelbench_problem", os.fspath(path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    missing = [name for name in ("Model", "get_inputs") if not hasattr(module, name)]
    if missing:
        raise ArgumentError(f"{path}: {missing[0]} is missing; a problem defines Model, get_inputs and get_init_inputs")
    return module


class Problem:
    """Its arrays by name: the inputs as forward calls them, parameters and buffers with _ for . ("conv_weight"),
    and in `outputs` what the model made of them."""

    def __init__(self, path, seed):
        module = _load(path)
        torch = sys.modules.get("torch")  # where the problem uses it
        if torch:
            torch.manual_seed(seed)
        model = module.Model(*getattr(module, "get_init_inputs", list)())
        if hasattr(model, "eval"):
            model.eval()
        inputs = module.get_inputs()
        names = list(inspect.signature(model.forward).parameters)
        state = getattr(model, "state_dict", dict)()
        self.values = {name.replace(".", "_"): value for name, value in state.items()}
        self.values.update(zip(names, [getattr(value, "clone", lambda value=value: value)() for value in inputs]))
        if torch:
            with torch.no_grad():
                outputs = model(*inputs)
        else:
            outputs = model.forward(*inputs)
        self.outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]

    def named(self, name, meant):
        if meant not in self.values:
            raise ArgumentError(f"{name}: the problem has no {meant}; it has {', '.join(self.values)}")
        return self.values[meant]


def _sizes(entries, values):
    """The sizes that follow from the arrays: an extent that is a size's name is that of the array."""
    sizes = {}
    for entry in entries:
        shape = entry.get("shape")
        if entry["name"] not in values or not isinstance(shape, list):
            continue
        extents = arrays.described(values[entry["name"]])[2]
        for said, extent in zip(shape, extents if len(extents) == len(shape) else []):
            if isinstance(said, str) and said.isidentifier() and sizes.setdefault(said, extent) != extent:
                raise ArgumentError(f"{entry['name']}: its extent {said} is {extent}, and {sizes[said]} elsewhere")
    return sizes


def sized(spec, args, expect):
    """The spec with one case, whose sizes are those of the arrays that are given; the spec itself where none follows."""
    entries = [entry for entry in spec.get("args", []) if isinstance(entry, dict)]
    given = {**(args or {}), **(expect if isinstance(expect, dict) else {})}
    sizes = _sizes(entries, {name: value for name, value in given.items() if arrays.is_array(value)})
    known = spec.get("sizes", {})
    known = known[0] if isinstance(known, list) else known
    return dict(spec, sizes={**known, **sizes}, odd_sizes=False) if sizes else spec


def request(problem, spec, args):
    """(spec, args, expect) for Client.validate. In args, a text is the name of a value of the problem."""
    args = {name: problem.named(name, value) if isinstance(value, str) else value for name, value in (args or {}).items()}
    entries = [entry for entry in spec.get("args", []) if isinstance(entry, dict)]
    for entry in entries:
        if entry["name"] in problem.values and not entry.get("output"):
            args.setdefault(entry["name"], problem.values[entry["name"]])
    inputs = [entry["name"] for entry in entries if "init" in entry and not entry.get("output")]
    unknown = [name for name in inputs if name not in args]
    if unknown:
        raise ArgumentError(f"{unknown[0]}: the problem has no value of this name; say which it is, for example "
                         f"args={{{unknown[0]!r}: {next(iter(problem.values), 'x')!r}}}")
    outputs = [entry["name"] for entry in entries if entry.get("output")]
    outputs += [name for name, value in args.items() if hasattr(value, "buffer")]
    if len(outputs) != len(problem.outputs):
        count = len(problem.outputs)
        raise ArgumentError(f"the model returns {count} array{'s'[:count != 1]}; the kernel's outputs are "
                            f"{', '.join(outputs) or 'none'}")
    for name, value in zip(outputs, problem.outputs):
        if not arrays.is_array(value):
            raise ArgumentError(f"the model gives {type(value).__name__} for {name}, and an array is wanted")
    return spec, args, dict(zip(outputs, problem.outputs))
