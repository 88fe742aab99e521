#!/usr/bin/env python3
"""The tree is what docs/contributing.md says: includes and calls run one way, and a name means one thing.

usage: tree.py SOURCE_FOLDER BUILD_FOLDER NM [--figures]   (TAP on standard output; then figures as comments)

Folders: every file that git would show beneath the rooms. Who calls whom is read from the object files of the
build (`nm`): a file calls another when it needs a symbol that only the other one defines; static functions
and what the compiler has inlined are no calls between files.
"""
import collections, json, os, re, subprocess, sys

ROOMS = ["base", "protocol", "skills", "gpu", "daemon", "clients"]
MAX_LINES = 600
# Files that call each other in a circle, and why they may: reason, folder, names. Whatever else does is an error.
CIRCLES = [
    ("one running skill/generate: each step ends by beginning the next, and mending goes back", "skills/generation",
     "generate_fetch generate_flow generate_host generate_model generate_refine generate_save "
     "generate_tests"),
    ("one model_call: its state machine, a file for each side of it", "skills/models",
     "model_answer model_call model_client model_outcome"),
]


def plain(text):
    """C without comments, and with empty strings; lines stay where they are."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    return re.sub(r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'", '""', text)


def tree_files(source):
    found = []
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(source, room)):
            folders.sort()
            found += [os.path.relpath(os.path.join(folder, n), source) for n in sorted(names)
                      if n.endswith((".c", ".h", ".def"))]
    return found


def circles(graph):
    """Of a graph {name: set of names}: its strongly connected components of more than one name (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]
    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


class Tree:
    def __init__(self, source, build, nm):
        self.source, self.files = source, tree_files(source)
        self.texts = {f: open(os.path.join(source, f), encoding="utf-8").read() for f in self.files}
        self.includes = {f: {t for t in re.findall(r'^\s*#\s*include\s+"([^"]+)"', self.texts[f], re.M)
                             if t in self.texts} for f in self.files}
        self.defined, self.needed = self.symbols(build, nm)

    def symbols(self, build, nm):
        """{symbol: files that define it}, {file: symbols that it needs}, of the product's object files."""
        objects = {}
        for command in json.load(open(os.path.join(build, "compile_commands.json"))):
            path = os.path.join(command["directory"], command["file"])
            file = os.path.relpath(os.path.realpath(path), os.path.realpath(self.source))
            if file in self.texts:
                objects[os.path.join(command["directory"], command["output"])] = file
        missing = [o for o in objects if not os.path.exists(o)]
        if missing:
            sys.exit("%s is not built (%d more)" % (missing[0], len(missing) - 1))
        defined, needed = collections.defaultdict(set), collections.defaultdict(set)
        lines = subprocess.run([nm, "-A", "-P", *objects], check=True, capture_output=True, text=True).stdout
        for line in lines.splitlines():
            at, rest = line.split(": ", 1)
            symbol, kind = rest.split()[:2]
            if kind == "U":
                needed[objects[at]].add(symbol)
            elif kind in "TDBRC" and symbol != "main":
                defined[symbol].add(objects[at])
        return defined, needed

    def calls(self):
        graph = {}
        for file, symbols in self.needed.items():
            graph[file] = {next(iter(self.defined[s])) for s in symbols if len(self.defined.get(s, ())) == 1}
            graph[file].discard(file)
        return graph

    def folders(self):
        graph = collections.defaultdict(set)
        for file, targets in self.includes.items():
            graph[os.path.dirname(file)] |= {os.path.dirname(t) for t in targets} - {os.path.dirname(file)}
        return graph


# ---- what must hold: each gives the faults that it found ----

def arrows(tree):
    """The chains of docs/contributing.md: [[names of a stage], ...]."""
    text = open(os.path.join(tree.source, "docs/contributing.md"), encoding="utf-8").read()
    told = re.search(r"Includes go one way:(.*?)\n\n", text, re.S).group(1)
    chains = [re.sub(r"\s+", " ", c) for c in re.findall(r"`([^`]*→[^`]*)`", told)]
    beneath = re.search(r"a name stands for `([^`]*)NAME`", told).group(1)
    return [[[n if n in ROOMS else beneath + n for n in stage.split(", ")] for stage in chain.split(" → ")]
            for chain in chains]


def inside(file, name):
    return file.startswith(name + "/")


def check_arrows(tree):
    allowed = collections.defaultdict(set)
    for chain in arrows(tree):
        for k, stage in enumerate(chain):
            for name in stage:
                allowed[name].update(*chain[k + 1:])
    if not set(ROOMS) <= set(allowed):
        return ["docs/contributing.md has no arrow for %s" % (set(ROOMS) - set(allowed))]
    return ["%s includes %s, which is not behind %s in docs/contributing.md" % (file, target, name)
            for file in tree.files for name in allowed if inside(file, name) for target in sorted(tree.includes[file])
            if not any(inside(target, n) for n in allowed[name] | {name})]


def check_include_circles(tree):
    return ["includes go round: " + " ".join(c) for c in circles(tree.folders())]


def check_include_files(tree):
    return ["headers include each other: " + " ".join(c) for c in circles(tree.includes)]


def listed():
    return [{"%s/%s.c" % (folder, name) for name in names.split()} for _, folder, names in CIRCLES]


def check_call_circles(tree):
    return ["files call each other: " + " ".join(c) for c in circles(tree.calls())
            if not any(set(c) <= one for one in listed())]


# One opaque struct of a header, with a definition for each of its implementations.
IMPLEMENTATIONS = {"backend": {"gpu/run/backend_cuda.c", "gpu/run/backend_emulator.c"}}


def check_tags(tree):
    """Tags, enumerators and typedefs of headers; and a tag that a header names is nobody else's."""
    where, named, defined = collections.defaultdict(set), set(), collections.defaultdict(set)
    for file in tree.files:
        text = plain(tree.texts[file])
        names = re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", text)
        for name in names:
            defined[name].add(file)
        if not file.endswith(".h"):
            continue
        named.update(re.findall(r"\b(?:struct|union|enum)\s+(\w+)", text))
        for body in re.findall(r"\benum\b[^{};()]*\{([^}]*)\}", text):
            names += re.findall(r"(?:^|,)\s*(\w+)", body)
        names += re.findall(r"\btypedef\b[^;{]*?(\w+)(?:\[[^;]*)?;", text)
        for name in names:
            where[name].add(file)
    for name in named:
        where[name] |= defined[name]
    return ["%s is defined in %s" % (n, ", ".join(sorted(f))) for n, f in sorted(where.items())
            if len(f) > 1 and f != IMPLEMENTATIONS.get(n)]


def check_functions(tree):
    return ["%s is defined in %s" % (n, ", ".join(sorted(f))) for n, f in sorted(tree.defined.items()) if len(f) > 1]


def check_lines(tree):
    lines = {f: t.count("\n") for f, t in tree.texts.items()}
    return ["%s has %d lines" % (f, n) for f, n in lines.items() if n > MAX_LINES]


def check_internal(tree):
    """A header that a folder keeps to itself is called _internal.h, and nobody else includes it."""
    users = collections.defaultdict(set)
    for file in tree.files:
        for target in tree.includes[file]:
            users[target].add(os.path.dirname(file))
    private = [f for f in tree.files if f.endswith(".h") and users[f] <= {os.path.dirname(f)}]
    faults = ["%s: private headers are called _internal.h" % f for f in private
              if f.endswith(("_state.h", "_private.h")) and f[:-2] + ".c" not in tree.texts]
    return faults + ["%s includes %s, which is private" % (f, t) for f in tree.files for t in sorted(tree.includes[f])
                     if t.endswith("_internal.h") and os.path.dirname(t) != os.path.dirname(f)]


def check_trace_rules(tree):
    """What a row of trace_rules.txt takes is known, and is there for every reader that comes to it."""
    folder = os.path.join(sys.argv[1], "skills", "traces")
    def raw(name):
        return open(os.path.join(folder, name), encoding="utf-8").read()
    rows, rules, sniff = collections.defaultdict(list), raw("trace_rules.txt"), raw("trace_sniff.txt")
    for line in re.sub(r"\n +", " ", rules).splitlines():
        if line.count(" | ") == 2 and not line.startswith("#"):
            group, _, taken = line.split(" | ")
            rows[group].append(taken.split())
    takers = set(re.findall(r'\{"(\w+)", take_\w+\}', raw("trace_rules.c")))
    odd = {hooks: set(re.findall(r'\{"([\w-]+)", \w+\}', text)) for text in map(raw, os.listdir(folder))
           for hooks in re.findall(r"^const struct trace_hooks (\w+)", text, re.M)}
    readers = re.findall(r"^([\w-]+) \| [\w-]+ \| ([\w-]*) ?\| (?:&(\w+)|NULL), ", sniff, re.M)
    faults = ["%s: nothing is called %s" % (g, t[0]) for g in rows for t in rows[g] if t[0] not in takers]
    for first, rest, hooks in readers:
        reached = {first, rest} - {""}
        while not reached >= (more := {t[2] for g in reached for t in rows[g] if t[0] in ("each", "with")}):
            reached |= more
        faults += ["%s: there is no group %s" % (first, g) for g in sorted(reached) if not rows[g]]
        faults += ["%s: %s has no odd %s" % (g, hooks, t[1]) for g in reached for t in rows[g]
                   if t[0] == "odd" and t[1] not in odd.get(hooks, ())]
    known = {first for first, _, _ in readers}
    told = set(re.findall(r"^[^|#]* \| ([\w-]+)$", sniff, re.M))
    return faults + ["trace_sniff.txt: no reader has the group %s" % g for g in sorted(told - known)] + \
        ["trace_sniff.txt: nothing is recognised as %s" % g for g in sorted(known - told)]


PROPERTIES = [
    ("includes follow the arrows of docs/contributing.md", check_arrows),
    ("no folders include each other in a circle", check_include_circles),
    ("no headers include each other in a circle", check_include_files),
    ("no files call each other in a circle that is not listed", check_call_circles),
    ("a name that a header gives to a type or an enumerator means one thing", check_tags),
    ("no function or variable that is not static has a namesake", check_functions),
    ("private headers are called so and stay in their folders", check_internal),
    ("no file is longer than %d lines" % MAX_LINES, check_lines),
    ("rows of trace rules name groups and functions that are there", check_trace_rules),
]


# ---- figures ----

def functions(text):
    """(lines, name) of each function: in our style it begins and ends at a line's first column."""
    lines, start, found = plain(text).split("\n"), 0, []
    for number, line in enumerate(lines):
        if re.match(r"[A-Za-z_]", line):
            start = number
        elif line == "}":
            called = re.search(r"(\w+)\(", " ".join(lines[start:number]))
            found.append((number - start + 1, called.group(1) if called else "?"))
    return found


def print_figures(tree):
    sources = [f for f in tree.files if f.endswith((".c", ".h"))]
    every = sorted((n, name, f) for f in sources if f.endswith(".c") for n, name in functions(tree.texts[f]))
    rings = circles(tree.calls())
    print("# %d files of C, %d headers, %d lines" % (sum(f.endswith(".c") for f in sources),
          sum(f.endswith(".h") for f in sources), sum(tree.texts[f].count("\n") for f in sources)))
    print("# %d functions, median %d lines, longest %d (%s, %s)" % (
        len(every), every[len(every) // 2][0], *every[-1]))
    print("# longest file: %d lines, %s" % max((t.count("\n"), f) for f, t in tree.texts.items()))
    print("# %d circles of files that call each other: %s" % (len(rings), "; ".join(" ".join(r) for r in rings)))


def main():
    tree = Tree(*sys.argv[1:4])
    print("1..%d" % len(PROPERTIES))
    failed = False
    for number, (words, check) in enumerate(PROPERTIES, 1):
        faults = check(tree)
        failed = failed or bool(faults)
        print("%s %d - %s" % ("not ok" if faults else "ok", number, words))
        for fault in faults:
            print("# " + fault)
    if "--figures" in sys.argv:
        print_figures(tree)
    sys.exit(1 if failed else 0)


main()
