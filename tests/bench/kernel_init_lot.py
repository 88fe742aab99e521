#!/usr/bin/env python3
"""kernel/init on public kernels drawn by lot: how many specs are whole and run with no edit but `expect`.

usage: kernel_init_lot.py CHECKOUTS SEED COUNT            draws, and prints the lot as JSON
       kernel_init_lot.py run UPSKILLCTL LOT.json [N...]  runs it (or its entries N), prints a line for each and the count
CHECKOUTS has a folder for each repository, of those in kernel_init_lot.txt; --not LOT.json, as often as wanted, leaves out what
other lots have.

The rules, which hold before anything runs:
- A program is a .cu file with main() that launches, by name, a kernel defined in it or in what it includes with "...". One kernel
  of each is drawn. Every second one comes from the repositories of MANY, each repository as likely as another.
- Left out before: programs that include a header which `nvcc -M` finds neither in the repository nor in CUDA's compiler wheels nor on
  the system (GL, MPI, cuFFT, HIP ...), those whose Makefile gives them a file that the repository lacks, and those that nvcc does not
  compile (exercises with holes), except where cuBLAS is what it misses.
- The command is `kernel init FILE --kernel NAME`, with -I for headers elsewhere in the repository, the other sources of the folder
  where it has no second main(), and the arguments of the Makefile's `run`. Nobody adds options or smaller sizes.
- It counts if nothing but `expect` is null and `kernel validate` runs to its end, unjudged, within LIMIT_S of processor time each.
  Where the kernel writes no memory, nothing can be expected: it passes, which counts, and is printed as `silent`.
- What validate finds is printed. A person says of each finding whether it is true; a false one does not count and is told.
"""
import json, os, random, re, resource, shlex, subprocess, sys

MANY = ("cuda-samples", "HeCBench", "llm.c")
LIMIT_S = 120  # of processor time: a minute on two cores
WALL_S = 600
LAUNCH = re.compile(r"\b(\w+)\s*(?:<[^<>;{}]*>)?\s*<<<")
KERNEL = re.compile(r"__global__[^;{}()]*?(?:__launch_bounds__\s*\([^)]*\)[^;{}()]*?)?\b(\w+)\s*\(")
MAIN = re.compile(r"\bmain\s*\(")
NVCC = os.path.expanduser("~/.local/share/upskilld/cuda/nvidia/cu13/bin/nvcc")
HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../gpu/worker/headers")


def read(path):
    with open(path, encoding="latin-1") as f:
        return re.sub(r"/\*.*?\*/|//[^\n]*", " ", f.read(), flags=re.S)


class Repository:
    def __init__(self, path):
        self.path = path
        self.by_name = {}
        for folder, _, names in os.walk(path):
            for name in names:
                self.by_name.setdefault(name, []).append(os.path.join(folder, name))
        self.programs = sorted(p for name, paths in self.by_name.items() if name.endswith(".cu") for p in paths
                               if self.is_program(read(p)))

    @staticmethod
    def is_program(text):
        return bool(MAIN.search(text)) and "<<<" in text

    def find(self, name, near):
        """The folder for -I of a header that lies elsewhere in the repository, nearest first."""
        all_ = [p for p in self.by_name.get(os.path.basename(name), ()) if p.endswith("/" + name)]
        best = min(all_, key=lambda p: (-len(os.path.commonpath([p, near])), len(p), p), default=None)
        return best and best[:-len(name) - 1]

    def folders(self, path):
        """The folders for -I with which nvcc finds all headers, and the repository's files among them; None: one is missing."""
        folders = []
        while True:
            words = [NVCC, "-M", "-arch=sm_90a", "-I", HEADERS, *(w for f in folders for w in ("-I", f)), path]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace")
            missing = re.search(r"fatal error: (\S+): No such file", done.stderr)
            if not missing:
                own = [w.replace("\\ ", " ") for w in re.split(r"(?<!\\)\s+", done.stdout.partition(":")[2])]
                return (folders, [w for w in own if w.startswith(self.path + "/")]) if done.returncode == 0 else None
            found = self.find(missing.group(1), path)
            if not found or found in folders:
                return None
            folders.append(found)


def compiles(path, folders):
    """Whether nvcc compiles it, or would with cuBLAS, of which we have a header with less in it."""
    older = ["-include", "before_cuda13.h", "-DUPSKILLD_OLDER_PROPERTIES"]
    words = [NVCC, "-cuda", "-arch=sm_90a", "-o", os.devnull, "-I", HEADERS, *older, *(w for f in folders for w in ("-I", f)), path]
    errors = [line for line in subprocess.run(words, capture_output=True, text=True, errors="replace").stderr.split("\n")
              if "error" in line]
    return not errors or "cublas" in "".join(errors).lower()


def run_words(folder):
    """The arguments that `make run` gives."""
    for name in ("Makefile", "makefile"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            with open(path, encoding="latin-1") as f:
                found = re.search(r"^run:[^\n]*\n\t(?:[^\n]*\s)?\./\S+([^\n]*)", f.read(), re.M)
            words = re.split(r"[|>;&]", found.group(1))[0] if found else ""
            return shlex.split(words)
    return []


def entry(repo, path, rng):
    folder = os.path.dirname(path)
    units = sorted(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith((".cu", ".cpp", ".cc", ".c")))
    others = [u for u in units if u != path]
    if any(MAIN.search(read(u)) for u in others):
        others = []
    others = [u for u in others if not re.search(r'include\s*"%s"' % re.escape(os.path.basename(u)), read(path))]
    found = [repo.folders(p) for p in [path] + others]
    if not all(found):
        return "header"
    if not compiles(path, found[0][0]):
        return "not compiled"
    text = "\n".join(map(read, found[0][1]))
    kernels = sorted(set(LAUNCH.findall(text)) & set(KERNEL.findall(text)))
    if not kernels:
        return "kernel"
    words = run_words(folder)
    if any("$" in w for w in words):
        return "arguments"
    files = [w for w in words if "/" in w or re.search(r"\.[a-z]\w*$", w)]
    if not all(os.path.isfile(os.path.join(folder, f)) for f in files):
        return "input"
    return {"file": path, "kernel": rng.choice(kernels), "sources": others, "include": sorted({f for folders, _ in found for f in folders}), "args": words, "files": files}


def draw(checkouts, seed, count, taken):
    rng, lot, left_out = random.Random(seed), [], {}
    repos = {name: Repository(os.path.join(checkouts, name)) for name in sorted(os.listdir(checkouts))
             if os.path.isdir(os.path.join(checkouts, name))}
    while len(lot) < count:
        left = {name: [p for p in repo.programs if p not in taken] for name, repo in repos.items()}
        names = sorted(name for name in left if left[name] and (name in MANY) == (len(lot) % 2 == 0))
        if not names:
            raise SystemExit("the repositories have too few programs that were not drawn yet")
        name = rng.choice(names)
        repo, path = repos[name], rng.choice(left[name])
        taken.add(path)
        one = entry(repo, path, rng)
        if isinstance(one, str):
            left_out[one] = left_out.get(one, 0) + 1
        else:
            lot.append(one)
    return {"seed": seed, "left_out": left_out, "lot": lot}


def timed(words, cwd):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=WALL_S, errors="replace")
        status, out, err = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired:
        status, out, err = 124, "", "over %d s" % WALL_S
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, out, err, sum(getattr(after, k) - getattr(before, k) for k in ("ru_utime", "ru_stime"))


def nulls(value, at=""):
    if value is None:
        yield at
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from nulls(one, "%s.%s" % (at, key))


def try_one(ctl, one):
    """(why it does not count, or None; notes)"""
    folder, name = os.path.split(one["file"])
    words = [ctl, "kernel", "init", name, *map(os.path.basename, one["sources"]), "--kernel", one["kernel"], "--force", "--json"]
    folders = [w for f in one["include"] for w in ("-I", f)]
    words += folders + [w for f in one["files"] for w in ("--file", f)]
    status, out, err, init_s = timed(words + (["--"] + one["args"] if one["args"] else []), folder)
    if status:
        return "init: " + " | ".join((err or out).split("\n"))[:600], {"init_s": init_s}
    answer = json.loads(out)
    notes = {"init_s": init_s, "from": answer.get("from"), "unknown": ["%(member)s: %(why)s" % u for u in answer["unknown"]
                                                                       if u["member"] != "expect"]}
    open_ = [n[1:] for n in nulls(answer["spec"]) if n != ".expect"]
    if open_:
        return "null: " + " ".join(open_), notes
    status, out, err, run_s = timed([ctl, "kernel", "validate", os.path.basename(answer["path"]), "--json", *folders], folder)
    notes["run_s"] = run_s
    try:
        result = json.loads(out)
    except ValueError:
        return "validate: " + " | ".join((err or out).split("\n"))[:600], notes
    if "verdict" not in result:
        return "validate: " + json.dumps(result)[:600], notes
    notes["findings"] = ["%s %s:%s %s" % (f.get("code"), f.get("file", ""), f.get("line"), f["message"][:200])
                         for f in result["findings"] if f["severity"] in ("error", "warning")]
    notes["silent"] = result["verdict"] == "pass" and not any(a.get("output") for a in answer["spec"]["args"] if isinstance(a, dict))
    if result["verdict"] not in ("unjudged", "fail") and not notes["silent"]:
        return "%s: %s" % (result["verdict"], json.dumps(result.get("error"))), notes
    if init_s > LIMIT_S or run_s > LIMIT_S:
        return "time: init %.0f s, validate %.0f s of processor time" % (init_s, run_s), notes
    return None, notes


def main():
    if sys.argv[1] != "run":
        others = [path for word, path in zip(sys.argv, sys.argv[1:]) if word == "--not"]
        taken = {e["file"] for path in others for e in json.load(open(path))["lot"]}
        print(json.dumps(draw(os.path.realpath(sys.argv[1]), sys.argv[2], int(sys.argv[3]), taken), indent=1))
        return
    lot = json.load(open(sys.argv[3]))["lot"]
    good, which = 0, [int(n) for n in sys.argv[4:]] or range(len(lot))
    for n in which:
        why, notes = try_one(os.path.abspath(sys.argv[2]), lot[n])
        good += not why
        print(json.dumps({"n": n, "file": lot[n]["file"], "kernel": lot[n]["kernel"], "counts": not why, "why": why, **notes}), flush=True)
    print("%d of %d" % (good, len(which)))


main()
