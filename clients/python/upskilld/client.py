"""check, validate and find, on a daemon that lives as long as its client."""
import inspect
import json
import math
import operator
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence, Union

from . import arrays
from . import kernelbench as bench
from . import triton_kernel
from .daemon import Daemon
from .errors import ArgumentError, DaemonError, RequestError, about
from .results import Check, Skill, Validation


@dataclass(frozen=True)
class output:
    """An argument that the kernel writes: output((rows, cols), "float32")."""
    shape: Union[int, Sequence[int]]
    dtype: str = "float32"

    def __post_init__(self):
        try:
            if arrays.is_array(self.shape):
                raise TypeError
            extents = [operator.index(n) for n in (self.shape if hasattr(self.shape, "__iter__") else [self.shape])]
        except TypeError:
            raise ArgumentError(f"output: a shape is an integer or several, not {_said(self.shape)}; for an array y: "
                                "output(y.shape, y.dtype)") from None
        object.__setattr__(self, "shape", extents)
        object.__setattr__(self, "dtype", arrays.type_named(self.dtype))

    def buffer(self):
        return {"type": self.dtype, "shape": self.shape, "output": True}


def _said(value):
    return f"the function {value.__name__}" if callable(value) else type(value).__name__


def _kernel(kernel):
    """What names the kernel in a request: a text with more than one line is a source, all else a path."""
    if isinstance(kernel, str) and ("\n" in kernel or "{" in kernel):
        return {"source": kernel}
    try:
        return {"path": os.path.abspath(os.fsdecode(kernel))}
    except TypeError:
        raise ArgumentError(f"kernel: a path or CUDA's text is wanted, not {_said(kernel)}") from None


def _named(what, value):
    if value is not None and not isinstance(value, dict):
        raise ArgumentError(f"{what}: a dict by name is wanted, not {_said(value)}")
    return value


def _scalar(value):
    """A number of Python has the type of the kernel's parameter, one of numpy its own."""
    number = value.item() if hasattr(value, "dtype") else value
    own = {"type": arrays.type_named(value.dtype)} if hasattr(value, "dtype") else {"type": "bool"} if isinstance(value, bool) else {}
    finite = not isinstance(number, float) or math.isfinite(number)
    return {**own, "value": number if finite else json.dumps(number)}  # as words: JSON itself has none


def _entry(value, folder):
    """What the spec's `args` say of a Python value but for its name; None: nothing."""
    if isinstance(value, output):
        return value.buffer()
    if arrays.is_number(value):
        return _scalar(value)
    if arrays.is_array(value):
        _, type_name, shape = arrays.described(value)
        return {"type": type_name, "shape": shape, "init": {"file": folder.add(value)}}
    return dict(value) if isinstance(value, dict) else None


def _argument(name, value, folder):
    """An entry of the spec's `args`."""
    with about(name):
        entry = _entry(value, folder)
    if entry is None:
        raise ArgumentError(f"{name}: an array, a number, output(shape, dtype) for what the kernel writes, or an entry of a "
                            f"check spec is wanted, not {_said(value)}")
    return {"name": name, **entry}


def _with_arguments(spec, args, folder):
    """The spec with args: in their order where it has none, else over its own of the same name."""
    entries = [_argument(name, value, folder) for name, value in args.items()]
    if not spec.get("args"):
        return {**spec, "args": entries}
    given = {entry["name"]: entry for entry in entries}
    names = [entry.get("name") if isinstance(entry, dict) else entry for entry in spec["args"]]
    unknown = [name for name in given if name not in names]
    if unknown:
        raise ArgumentError(f"the spec has no argument called {unknown[0]}; it has {', '.join(map(str, names))}")
    for own in spec["args"]:  # an array for an output is what that holds at first
        if isinstance(own, dict) and arrays.is_array(args.get(own.get("name"), 0)):
            given[own["name"]].update({role: own[role] for role in ("output", "scratch") if role in own})
    return {**spec, "args": [given.get(name, entry) for name, entry in zip(names, spec["args"])]}


def _by_output(given, outputs):
    if isinstance(given, dict):
        return given
    given = list(given) if isinstance(given, (tuple, list)) else [given]
    if len(given) != len(outputs):
        raise ArgumentError(f"expect returned {len(given)} array{'s'[:len(given) != 1]}, and the outputs are "
                            f"{', '.join(outputs) or 'none: give what the kernel writes as output(shape, dtype)'}")
    return dict(zip(outputs, given))


def _call(function, args, outputs):
    """What the function gives for the arguments that it names; one array, several, or a dict by output."""
    inputs = {name: value for name, value in args.items() if not isinstance(value, (output, dict))}
    try:
        wanted = inspect.signature(function).parameters.values()
    except ValueError:  # some functions of C, such as torch.relu, which can only mean the one array
        given = [value for value in inputs.values() if arrays.is_array(value)]
        if len(given) != 1:
            raise ArgumentError(f"expect: {_said(function)} does not tell what its arguments are called; write lambda x: …") from None
        return _by_output(function(given[0]), outputs)
    if not any(p.kind is p.VAR_KEYWORD for p in wanted):
        missing = [p.name for p in wanted if p.name not in inputs and p.default is p.empty]
        if missing:
            raise ArgumentError(f"expect asks for {missing[0]}, and args has no such array or number")
        inputs = {p.name: inputs[p.name] for p in wanted if p.name in inputs}
    return _by_output(function(**inputs), outputs)


def _look_at(name, value, shapes, verb):
    """What is given for an output: an array, of its shape where that is told; the daemon ignores extents of 1."""
    if name not in shapes:
        raise ArgumentError(f"expect {verb} something for {name}, and the outputs are {', '.join(shapes)}")
    if not arrays.is_array(value):
        raise ArgumentError(f"expect {verb} {_said(value)} for {name}, and an array is wanted")
    with about(f"expect of {name}"):
        shape, wanted = arrays.described(value)[2], shapes[name]
    if all(isinstance(n, int) for n in wanted) and [n for n in shape if n != 1] != [n for n in wanted if n != 1]:
        raise ArgumentError(f"expect {verb} an array of shape {shape} for {name}, whose shape is {list(wanted)}")


def _saved(name, value, folder):
    with about(f"expect of {name}"):
        return folder.add(value)


def _outputs(spec):
    """The shapes of what is judged, by name."""
    entries = [*spec.get("args", []), *spec.get("buffers", []), *({"name": name, **entry} for name, entry in spec.get("globals", {}).items())]
    return {entry["name"]: entry.get("shape", [""]) for entry in entries
            if isinstance(entry, dict) and "name" in entry and entry.get("output") and entry.get("judge") is not False}


def _expectation(expect, args, spec, folder):
    """The spec's `expect` for arrays by output's name, or for a function of the inputs."""
    shapes = _outputs(spec)
    returned = callable(expect)
    if returned:
        expect = _call(expect, args, list(shapes))
    if returned or (isinstance(expect, dict) and any(arrays.is_array(value) for value in expect.values())):
        for name, value in expect.items():
            _look_at(name, value, shapes, "returned" if returned else "has")
        return {"files": {name: _saved(name, value, folder) for name, value in expect.items()}}
    return expect


NOTES = ("$schema", "comment")  # of a file, for its readers; no parameters of kernel/validate


def _spec_of(request):
    """The check spec beside a source file, as the daemon would take it; none for a text."""
    path = request.get("path")
    beside = path and Path(path).with_suffix(".check.json")
    return json.loads(beside.read_text()) if beside and beside.exists() else {}


class Client:
    """A daemon of one's own. `roots` are the folders whose files it may read, by default the working folder.

    The programs are C; this only writes requests, sends arrays as .npy files and reads answers. Any thread may use it.
    """

    def __init__(self, *roots):
        self.roots = [os.path.abspath(os.fspath(root)) for root in roots or ["."]]
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="upskilld-python-"))  # the daemon follows no links
        self.daemon = Daemon([*self.roots, self.folder])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        if not self.daemon.is_ours():  # a forked process leaves them to the one that made them
            return
        self.daemon.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def check(self, kernel, **params):
        """Compile a kernel for the H100. `kernel` is a path or CUDA's text; params are those of kernel/check."""
        return Check.read(self.daemon.ask("kernel/check", {**_kernel(kernel), **params}))

    def validate(self, kernel, spec=None, args=None, expect=None, **params):
        """Run a kernel and compare what it writes.

        spec     a check spec (`upskillctl help kernel validate` has its members); by default the one beside the file, k.check.json
        args     the kernel's arguments by name, in its order: arrays, numbers, output(shape, dtype); where the spec
                 has `args`, these stand in for its own of the same name
        expect   the expected arrays by output's name; or a function, called here with the arguments that it names,
                 that returns them (one array where there is one output); or the spec's own forms
        save     True: each of the result's outputs has its elements as a numpy array, `array` (bfloat16 and FP8 as float32)
        params   more of kernel/validate: launch, sizes, kernel, trials, tolerance, backend, …
        """
        request = _kernel(kernel)
        spec, args = _named("spec", spec), _named("args", args)
        if not os.path.isdir(self.folder):
            raise DaemonError("this Client is closed")
        folder = arrays.Folder(tempfile.mkdtemp(dir=self.folder))
        try:
            if params.get("save") is True:
                params["save"] = folder.for_outputs()
            if spec is not None or args or expect is not None:
                spec = dict(_spec_of(request) if spec is None else spec, **params)
                spec = {name: value for name, value in spec.items() if name not in NOTES}
                spec = _with_arguments(bench.sized(spec, args, expect), args, folder) if args else spec
                if expect is not None:
                    spec["expect"] = _expectation(expect, args or {}, spec, folder)
                params = spec
            return Validation.read(self.daemon.ask("kernel/validate", {**request, **params}))
        except RequestError as e:
            e.args = (folder.unnamed(str(e)),)
            raise
        finally:
            if self.daemon.is_ours():  # not where `expect` forked and its child returned as well
                shutil.rmtree(folder.path, ignore_errors=True)

    def kernelbench(self, problem, kernel, spec=None, args=None, seed=0, **params):
        """Run a kernel on the inputs of a KernelBench problem and compare it with the problem's Model.

        problem  a Python file with Model, get_inputs and get_init_inputs; it runs here, in your process
        spec     a check spec, by default the one beside the kernel. Its arguments get the problem's values of the same
                 name: inputs as forward calls them, parameters with _ for . ("conv_weight"); its sizes follow from them
        args     other values: arrays, numbers, output(shape, dtype), or the name of a value of the problem
        params   more of kernel/validate: launch, kernel, trials (1 by default), tolerance, …
        """
        spec, args = _named("spec", _spec_of(_kernel(kernel)) if spec is None else spec), _named("args", args)
        if not spec and not args:
            raise ArgumentError(f"{_kernel(kernel).get('path', 'the text')} has no check spec beside it, NAME.check.json: `upskillctl kernel init` writes "
                                "one; or give spec or args")
        spec, args, expect = bench.request(bench.Problem(problem, seed), spec, args)
        return self.validate(kernel, dict({"trials": 1}, **spec), args, expect, **params)

    def triton(self, kernel, grid, *args, expect=None, **params):
        """Compile a @triton.jit function for the H100, without a GPU, run its PTX and compare what it writes.

        grid     as in kernel[grid](…): a tuple, or a function of the arguments
        args     the function's arguments in its order, by name in params: arrays, numbers, output(shape, dtype)
        expect   as for validate; a function is called with the arguments that it names
        params   constants of the kernel (BLOCK=128), options of Triton (num_warps, num_stages, …), and more of
                 kernel/validate: trials, tolerance, checks, …

        Findings stand at lines of the Python source. Of triton.autotune the first configuration is taken, where params
        do not say another.
        """
        ptx, given, spec = triton_kernel.request(kernel, grid, args, params)
        return self.validate(ptx, spec, given, expect)

    def find(self, task, **params):
        """The agent skills that fit a task, best first; none when none fits."""
        return [Skill.read(match) for match in self.daemon.ask("skill/find", {"task": task, **params})["matches"]]
