"""Mutants by rule: a correct kernel with one thing made wrong, as people get it wrong.

    bound       a comparison that guards something lets one more through: a < b becomes a <= b
    init        a variable or a shared element keeps no first value
    barrier     __syncthreads() is left out
    branch      __syncthreads() stands in a branch that every other thread takes
    store       one lane skips a store to an output

A rule knows nothing of what a kernel means, so some mutants are as right as the original;
mutants_equivalent.json says which and why.
"""
import dataclasses, re

TYPES = r"(?:float|double|int|unsigned|unsigned long long|long long|size_t|bool|char)"
ENTRY = re.compile(r"__global__\s+(?:void|__launch_bounds__\([^)]*\)\s*void)\s+(\w+)\s*\(([^)]*)\)\s*\{")


@dataclasses.dataclass
class Mutant:
    rule: str
    line: int      # of the change, from 1
    column: int
    was: str
    source: str
    kernel: str    # "" in a function that several may call

    def key(self, name):
        return "%s:%s:%d:%d" % (name, self.rule, self.line, self.column)


def without_comments(text):
    """The same text with blanks where comments and preprocessor lines stand."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"//[^\n]*|/\*.*?\*/", blank, text, flags=re.S)
    return re.sub(r"^[ \t]*#[^\n]*", blank, text, flags=re.M)


def closing(text, start):
    """Behind the brace that closes the one before `start`."""
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return at + 1
    return len(text)


def kernels_of(code):
    """(name, parameters, first, end) of every kernel's body."""
    return [(m.group(1), m.group(2), m.end(), closing(code, m.end())) for m in ENTRY.finditer(code)]


def written_by(parameters):
    """Names of parameters that point to what may be written."""
    names = []
    for one in parameters.split(","):
        pointer = re.search(r"\*\s*(?:__restrict__\s*)?(\w+)\s*$", one)
        if pointer and "const" not in one:
            names.append(pointer.group(1))
    return names


def bounds(code, first, end):
    for m in re.finditer(r"(?<=[\w\])]) (<|>=) (?=[\w(-])", code[first:end]):
        yield first + m.start(1), m.group(1), "<=" if m.group(1) == "<" else ">"


def inits(code, first, end, shared):
    for m in re.finditer(r"\b%s ((?:\w+(?: = [^,;(){}]+)?, )*)(\w+)( = [-\w.]+)(?=[,;])" % TYPES, code[first:end]):
        yield first + m.start(3), m.group(3), ""
    for name in shared:
        for m in re.finditer(r"(?<=[;{})\s])%s((?:\[[^;=]*\])+) = [^;]+;" % re.escape(name), code[first:end]):
            yield first + m.start(), m.group(0), ";"


def barriers(code, first, end):
    for m in re.finditer(r"__syncthreads\(\);", code[first:end]):
        yield first + m.start(), m.group(0), ";"


def branches(code, first, end):
    for m in re.finditer(r"__syncthreads\(\);", code[first:end]):
        yield first + m.start(), m.group(0), "if (threadIdx.x % 2 == 0) __syncthreads();"


def stores(code, first, end, outputs):
    for name in outputs:
        for m in re.finditer(r"(?<=[;{})\s])(?:\*%s|%s\[[^;=]*\])(?:\.\w+)? [-+*|&^]?= [^;]+;" % ((re.escape(name),) * 2), code[first:end]):
            yield first + m.start(), m.group(0), "if (threadIdx.x != 0) " + m.group(0)
        for m in re.finditer(r"atomic\w+\(&?%s\b[^;]*\);" % re.escape(name), code[first:end]):
            before = code[:first + m.start()].rstrip()
            if before[-1] in ";{})":
                yield first + m.start(), m.group(0), "if (threadIdx.x != 0) " + m.group(0)


def mutants(text):
    """Every mutant of a source, in the order of rules and places."""
    code = without_comments(text)
    kernels = kernels_of(code)
    shared = set(re.findall(r"__shared__[^;]*?\b(\w+)\s*\[", code))
    shared |= {n for d in re.findall(r"__shared__ ([^;]*);", code) for n in re.findall(r"(\w+)\[", d)}
    bodies = [(k, f, e, written_by(p)) for k, p, f, e in kernels]
    for m in re.finditer(r"__device__[^;{(]*\([^)]*\)[^;{]*\{", code):
        bodies.append(("", m.end(), closing(code, m.end()), []))
    for kernel, first, end, outputs in bodies:
        found = [("bound", c) for c in bounds(code, first, end)]
        found += [("init", c) for c in inits(code, first, end, sorted(shared))]
        found += [("barrier", c) for c in barriers(code, first, end)]
        found += [("branch", c) for c in branches(code, first, end)]
        found += [("store", c) for c in stores(code, first, end, outputs)]
        for rule, (at, was, now) in found:
            yield Mutant(rule, text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at), was.strip(),
                         text[:at] + now + text[at + len(was):], kernel)
