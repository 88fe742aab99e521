"""upskilld from Python: check CUDA kernels for the H100, run them against a reference, find agent skills.

    import numpy, upskilld
    upskilld.check("k.cu").raise_for_findings()
    x = numpy.random.rand(1000).astype("float32")
    upskilld.validate("k.cu", launch={"grid": [4], "block": [256]},
                      args={"x": x, "y": upskilld.output(1000), "n": 1000},
                      expect=lambda x: numpy.maximum(x, 0)).raise_for_findings()

triton(kernel, grid, …) does so with a kernel of Triton. These functions share one daemon whose files are those beneath
the working folder; Client has one of its own.
"""
import atexit
import threading

from .client import Client, output
from .errors import ArgumentError, DaemonError, KernelFailed, RequestError, UpskilldError
from .results import Check, Finding, Kernel, Output, Skill, Validation

__all__ = ["ArgumentError", "Check", "Client", "DaemonError", "Finding", "Kernel", "KernelFailed", "Output", "RequestError", "Skill",
           "UpskilldError", "Validation", "check", "find", "kernelbench", "output", "triton", "validate"]

_lock = threading.Lock()
_shared = None


def _client():
    global _shared
    with _lock:
        if _shared is None or not _shared.daemon.lives():
            _shared = Client()
            atexit.register(_shared.close)
        return _shared


def check(kernel, **params):
    return _client().check(kernel, **params)


def validate(kernel, spec=None, args=None, expect=None, **params):
    return _client().validate(kernel, spec, args, expect, **params)


def kernelbench(problem, kernel, spec=None, args=None, seed=0, **params):
    return _client().kernelbench(problem, kernel, spec, args, seed, **params)


def triton(kernel, grid, *args, expect=None, **params):
    return _client().triton(kernel, grid, *args, expect=expect, **params)


def find(task, **params):
    return _client().find(task, **params)


for _function in (check, validate, kernelbench, triton, find):
    _function.__doc__ = getattr(Client, _function.__name__).__doc__
