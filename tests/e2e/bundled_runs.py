"""What the kernels of the bundled skills do: for bundled.py.

tests/kernels/bundled has a .json for each text with kernels, at the same place: the kernel's name to
"checks", check specs of kernel/validate without a source, and "faults", texts to put in the block's stead
with what the run must then tell: a finding's code, or "outputs" for wrong elements.
"""
import json, os, re

SPECS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "kernels", "bundled"))
LOOKED_FOR = ["memory", "initialized", "barrier", "race"]
LIMIT_S = 120  # for a loaded machine; each takes less than a second
ATTRIBUTE = re.compile(r"__(?:launch_bounds|cluster_dims|maxnreg|block_size)__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)")
KERNEL = re.compile(r"__global__\b[^;{}()]*?(\w+)\s*\(")


def kernels_of(block):
    """Names of the kernels that a block of code defines."""
    plain = re.sub(r"//[^\n]*|/\*.*?\*/", " ", block, flags=re.S)
    return KERNEL.findall(ATTRIBUTE.sub(" ", plain))


def gaps(blocks, known):
    """Kernels of a text's blocks that nothing is expected of, and expectations that no kernel meets."""
    kernels = [kernel for block in blocks for kernel in kernels_of(block)]
    if len(kernels) != sum(len(re.findall(r"__global__", re.sub(r"//[^\n]*", "", block))) for block in blocks):
        yield "a kernel whose name this does not find"
    for kernel in sorted(set(kernels) | set(known)):
        if kernel not in known or not known[kernel].get("checks"):
            yield "nothing is expected of %s" % kernel
        elif kernels.count(kernel) != 1:
            yield "%s is defined %d times" % (kernel, kernels.count(kernel))


def load(short):
    """What is known of the kernels of a text, by name; `short` is its path beneath the skills."""
    path = os.path.join(SPECS, os.path.splitext(short)[0] + ".json")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def paths():
    """The texts, beneath the skills, that have specs."""
    for at, _, files in os.walk(SPECS):
        for name in files:
            if name.endswith(".json"):
                yield os.path.relpath(os.path.join(at, name), SPECS)[:-len(".json")] + ".md"


def validate(daemon, kernel, source, spec, trials):
    """The result; a dict with only "error" where there is none."""
    answer = daemon.call("kernel/validate", **dict(spec, kernel=kernel, source=source, name="block.cu", trials=trials,
                                                   backend="emulator", checks=LOOKED_FOR, timeout_s=LIMIT_S))
    return answer["result"] if "result" in answer else {"error": answer["error"]}


def problems(result):
    """Why a run is none that shows a kernel to be right."""
    if result.get("verdict") != "pass":
        yield "verdict %s: %s" % (result.get("verdict"), json.dumps(result.get("error")))
    for finding in result.get("findings", []):
        yield "%(line)s: %(severity)s: %(code)s: %(message)s" % dict({"line": 0, "message": ""}, **finding)
    for case in result.get("cases", []):
        for output in case.get("outputs", []):
            if output.get("mismatches"):
                yield "%s: %s of %s elements of %s are wrong, first %s" % (
                    case["sizes"], output["mismatches"], output["elements"], output["name"], output.get("first_mismatch"))
    if set(result.get("checks", [])) != set(LOOKED_FOR) or result.get("unchecked"):
        yield "looked for %s alone" % result.get("checks")


def told(result):
    codes = {finding["code"] for finding in result.get("findings", [])}
    if any(output.get("mismatches") for case in result.get("cases", []) for output in case.get("outputs", [])):
        codes.add("outputs")
    return codes


def fault_problems(daemon, kernel, source, known, fault):
    """A fault must be where it says, and some check must tell it."""
    if source.count(fault["find"]) != 1:
        return ["%d times in the block: %r" % (source.count(fault["find"]), fault["find"])]
    codes = set()
    for spec in known["checks"]:
        codes |= told(validate(daemon, kernel, source.replace(fault["find"], fault["put"]), spec, 1))
    return [] if fault["tells"] in codes else ["told %s, not %s" % (sorted(codes), fault["tells"])]
