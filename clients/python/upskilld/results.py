"""What comes back, typed. `raw` is the daemon's whole answer, as `upskillctl help METHOD` describes it."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from . import arrays
from .errors import KernelFailed


def _said(raw, severity):
    place = ":".join(str(raw[part]) for part in ("file", "line", "column") if raw.get(part))
    return f"{place + ': ' if place else ''}{severity}: {raw['message']}"


@dataclass(frozen=True)
class Finding:
    severity: str  # error, warning, info
    code: str
    message: str
    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw):
        return cls(raw["severity"], raw.get("code", ""), raw["message"], raw.get("file"), raw.get("line"),
                   raw.get("column"), raw)

    def __str__(self):
        """Like a compiler's message, with its notes: of a race the other access."""
        return "\n".join([_said(self.raw, self.severity), *(_said(note, "note") for note in self.raw.get("related") or [])])


@dataclass(frozen=True)
class Kernel:
    name: str
    line: Optional[int]
    registers: int
    spill_bytes: int
    static_shared_bytes: int
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw):
        return cls(raw["name"], raw.get("line"), raw.get("registers", 0),
                   raw.get("spill_store_bytes", 0) + raw.get("spill_load_bytes", 0),
                   raw.get("static_shared_bytes", 0), raw)


class _Result:
    def raise_for_findings(self):
        """KernelFailed, with the findings and their lines, unless `ok`; returns itself."""
        if not self.ok:
            raise KernelFailed(self)
        return self


@dataclass(frozen=True)
class Check(_Result):
    ok: bool
    summary: str
    findings: List[Finding]
    kernels: List[Kernel]
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw):
        return cls(raw["ok"], raw["summary"], [Finding.read(f) for f in raw["diagnostics"]],
                   [Kernel.read(k) for k in raw.get("kernels") or []], raw)

    def text(self):
        return "\n".join([*map(str, self.findings), self.summary])


@dataclass(frozen=True)
class Output:
    """An output in one case and trial."""
    name: str
    verdict: str
    elements: int
    mismatches: int
    max_abs_error: Optional[float]
    first_mismatch: Optional[Dict[str, Any]]  # index, expected, actual
    sizes: Dict[str, int]
    trial: int = 0
    array: Optional[Any] = field(default=None, repr=False, compare=False)  # with save=True: what the kernel wrote, as numpy's

    @classmethod
    def read(cls, raw, case):
        files = {file["name"]: file for file in case.get("files") or []
                 if file["what"] == "output" and file.get("path")}
        return cls(raw["name"], raw["verdict"], raw.get("elements", 0), raw.get("mismatches", 0), raw.get("max_abs_error"),
                   raw.get("first_mismatch"), case.get("sizes") or {}, case.get("trial", 0), arrays.load(files.get(raw["name"])))

    def __str__(self):
        sizes = " ".join(f"{name}={value}" for name, value in self.sizes.items())
        text = f"{self.name}: {self.verdict}, {self.mismatches} of {self.elements} elements are wrong"
        first = self.first_mismatch
        if first:
            state = f" ({first['state']})" if "state" in first else ""
            text += f"; at {first['index']} {first['actual']}{state} instead of {first['expected']}"
        return f"{text} ({sizes})" if sizes else text


@dataclass(frozen=True)
class Validation(_Result):
    verdict: str  # pass, fail, unjudged, error, timeout, unsupported
    findings: List[Finding]
    outputs: List[Output]
    seed: Optional[str]
    raw: Dict[str, Any] = field(repr=False)

    @property
    def ok(self):
        return self.verdict == "pass"

    @classmethod
    def read(cls, raw):
        check = raw.get("check") or {}
        outputs = [Output.read(o, case) for case in raw.get("cases") or [] for o in case.get("outputs") or []]
        return cls(raw["verdict"], [Finding.read(f) for f in (check.get("diagnostics") or []) + raw["findings"]],
                   outputs, raw.get("seed"), raw)

    def text(self):
        error = self.raw.get("error") or {}
        lines = [str(f) for f in self.findings] + [str(o) for o in self.outputs if o.verdict != "pass"]
        lines += [error[key] for key in ("message", "hint") if error.get(key)]
        return "\n".join([*dict.fromkeys(lines), self.raw.get("summary", self.verdict)])  # trials with one input say the same


@dataclass(frozen=True)
class Skill:
    name: str
    description: str
    path: Optional[str]
    uri: str
    score: float
    why: str
    trusted: bool
    raw: Dict[str, Any] = field(repr=False)

    @classmethod
    def read(cls, raw):
        return cls(raw["name"], raw["description"], raw.get("path"), raw["uri"], raw["score"], raw["why"],
                   raw.get("trusted", False), raw)
