#!/usr/bin/env python3
"""Public programs by kernel/run: which of them end as their authors mean, and what that costs.

usage: bench_programs.py BUILD_FOLDER SET CHECKOUT [PROGRAM …] [--seconds N] [--out FILE] [--list] [--again FILE]

SET: an entry of public_programs.json, which names the repository and the commit; CHECKOUT: a checkout of it.
--list: only the commands. --seconds: a run's time on two cores of its own (60). --out: appends the results, a JSON line each.
--again: runs nothing, judges such a file.

The rules, which hold before anything runs:
- A program is a folder that builds one executable (in llm.c a file). Sources, options and arguments are those of its own build and
  of its own `make run`; nobody adds options or smaller sizes. Where the list's entry has a seed, the folders are shuffled by it, and
  the first `count` that are in the set are drawn.
- Not in the set: what includes a header of a library or of graphics (LEFT_OUT), calls what `calls` matches, has no executable that nvcc
  builds, or is given files that the checkout lacks.
- A program ends as meant if its verdict is pass and it prints no word of FAILED outside of the list's `says`; or if it ends as the
  list's `meant` says, with the reason. What is found in it is printed; a person says of each finding whether it is true.
- In time: it would take at most so many seconds on two cores of its own (quiet_seconds), by the processor seconds of its threads. It is
  ended after SHARE processor seconds for each second allowed. So a count can be repeated beside other work.
"""
import argparse, itertools, json, os, pathlib, random, re, shlex, subprocess, sys, tempfile

from bench_sizes import timed

HERE = pathlib.Path(__file__).resolve().parent
LISTS = json.loads((HERE / "public_programs.json").read_text())
SHARE = 2
WALL = 60
LEFT_OUT = re.compile(r'^\s*#\s*include\s*[<"](?:[^">]*/)?(?:cublas|cufft|cusparse|cusolver|curand|cudnn|cutensor|cudss|nvgraph|nvjpeg|npp|nccl|'
                      r'nvshmem|mpi|nvrtc|nvJitLink|GL/|GLES|EGL|vulkan|GLFW|glew|glut|helper_gl|d3d|NvSci|nvsci|nvml|nvvm|FreeImage|'
                      r'boost/|hdf5|gdal|opencv|gsl/|cudla|cudaEGL|helper_cuda_drvapi)', re.M | re.I)
SOURCE = re.compile(r"\.(cu|cuh|h|hpp|hh|cpp|cc|cxx|c|inl)$")
UNIT = re.compile(r"\.(cu|cpp|cc|cxx|c)$")
FAILED = re.compile(r"\b(?:FAIL(?:ED|URE|S)?|fail(?:ed)?!|not (?:ok|match)|mismatch(?:es)? found|incorrect|wrong)\b")


def text_of(path):
    return path.read_text(encoding="latin-1")


def sources(folder):
    return [p for p in sorted(folder.rglob("*")) if SOURCE.search(p.name) and p.is_file()]


def code_of(paths):
    """Without comments."""
    return "\n".join(re.sub(r"/\*.*?\*/|//[^\n]*", " ", text_of(p), flags=re.S) for p in paths)


def is_in_set(entry, paths):
    text = code_of(paths)
    return not LEFT_OUT.search(text) and not re.search(entry.get("calls", r"(?!)"), text)


# --- what a program's own build says: (sources, options, arguments) ---

def nvcc_words(words):
    """(sources, options for kernel run) of a compiler's command."""
    units, options, words = [], [], list(words[1:])
    while words:
        word = words.pop(0)
        if word in ("-o", "-arch", "-gencode", "--generate-code", "-ccbin", "-MF", "-x", "--gpu-architecture"):
            words = words[1:]
        elif word in ("-Xcompiler", "-Xptxas", "-Xcudafe", "--compiler-options", "-diag-suppress"):
            options += [word, words.pop(0)] if "openmp" in words[0] else []
            words = words if options[-2:-1] == [word] else words[1:]
        elif UNIT.search(word):
            units.append(word)
        elif word in ("-I", "-D"):
            options.append(word + words.pop(0))
        elif re.match(r"-(O\d|std=|D|I|rdc|use_fast_math|-use_fast_math|maxrregcount|-extended-lambda|-expt|expt|fmad|ftz)", word):
            options.append(word)
    return units, options


def words_of(line):
    """Of a shell's line, up to its first pipe or redirection."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:  # an open quote
        return []
    end = next((n for n, w in enumerate(words) if re.fullmatch(r"[|>;&<()]+", w)), len(words))
    return words[:end]


def by_make(folder):
    """What `make run` would do."""
    makefile = next((m for m in ("Makefile", "makefile") if (folder / m).is_file()), None)
    done = subprocess.run(["make", "-nB", "-f", makefile or "none", "run"], cwd=folder, capture_output=True, text=True)
    units, options, arguments = [], [], []
    for line in re.sub(r"\\\n", " ", done.stdout).split("\n"):
        words = words_of(line)
        if re.search(r"(^|&&|;)\s*make\b", line):
            return [], [], []  # it needs a library of its own
        if words and re.search(r"nvcc|g\+\+|gcc|\bcc\b", words[0]):
            more = nvcc_words(words)
            units += [u for u in more[0] if u not in units]
            options += [o for o in more[1] if o not in options]
        elif words and words[0].startswith("./") and not arguments:
            arguments = words[1:]
    return units, options, arguments


def by_cmake(folder):
    """The first executable of its CMakeLists.txt."""
    text = text_of(folder / "CMakeLists.txt") if (folder / "CMakeLists.txt").is_file() else ""
    found = re.search(r"add_executable\(\s*\S+([^)]*)\)", text)
    units = [w for w in found.group(1).split() if UNIT.search(w)] if found else []
    options = ["-O3", "-std=c++17"]
    options += ["-rdc=true"] if re.search(r"CUDA_SEPARABLE_COMPILATION\s+ON", text) else []
    options += ["--extended-lambda"] if "extended-lambda" in text else []
    options += ["-Xcompiler", "-fopenmp"] if "OpenMP" in text else []
    return units, options, []


# --- the programs of a set ---

BUILDS = {"make": by_make, "cmake": by_cmake}


def folders(entry, checkout):
    found = sorted(p for p in checkout.glob(entry["folders"]) if p.is_dir())
    if "seed" in entry:
        random.Random(entry["seed"]).shuffle(found)
    return found


def by_files(entry, checkout):
    for p in sorted(checkout.glob(entry["files"])):
        if "main(" in text_of(p) and not re.search(entry["calls"], code_of([p])):
            yield {"name": p.stem, "folder": p.parent, "units": [p.name], "options": entry["options"], "arguments": []}


def by_folders(entry, checkout):
    for folder in folders(entry, checkout):
        has_data = not list(folder.glob("*.dvc"))  # which stand for data that is elsewhere
        in_set = has_data and is_in_set(entry, sources(folder))
        units, options, arguments = BUILDS[entry["build"]](folder) if in_set else ([], [], [])
        named = [a for a in arguments if re.search(r"^\.?\.?/|\.[a-z]\w*$", a) and not re.match(r"[-\d]", a)]
        there = all((folder / a).is_file() for a in named[:-1] or named)  # the last of several may be written
        if units and there:
            yield {"name": folder.name.replace("-cuda", ""), "folder": folder, "units": units, "options": options,
                   "arguments": entry.get("arguments", {}).get(folder.name, arguments)}


def programs(entry, checkout):
    found = by_files(entry, checkout) if "files" in entry else by_folders(entry, checkout)
    return list(itertools.islice(found, entry.get("count")))


def command(build, entry, checkout, p, seconds):
    """From the checkout's top, so that all of it is in the workspace."""
    at = p["folder"].relative_to(checkout)
    words = [f"{build}/clients/ctl/upskillctl", "kernel", "run", *(str(at / u) for u in p["units"]), "--json", "--timeout-s", str(seconds)]
    roots = [str(p["folder"] / o[2:]) for o in p["options"] if o.startswith("-I")] + [str(checkout / i) for i in entry.get("include", [])]
    for option in [o for o in p["options"] if not o.startswith("-I")] + ["-I" + os.path.normpath(r) for r in roots]:
        words += ["--option", option]
    for name in (a for a in p["arguments"] if a.startswith("../")):  # a copy of it lies in the program's folder
        words += ["--file", os.path.normpath(at / name)]
    return words + ["--"] + [os.path.basename(a) if a.startswith("../") else a for a in p["arguments"]]


# --- what came of it ---

def instructions(result, which="instructions"):
    return sum(c.get(which, 0) for c in result.get("counters") or [])


def quiet_seconds(cost):
    """At most what the run would take on two cores of its own: the host's thread and the device's go one after the other, and what
    threads a launch has are taken for one of the two if they live long."""
    least = 0
    for pid, threads in cost.threads.items():
        others = [s for tid, s in threads.items() if tid != pid]
        whole = max((s for (p, _), s in cost.seconds.items() if p == pid), default=0)
        least = max(least, threads.get(pid, 0) + max(others, default=0), whole / 2)
    return least


def row(p, answer, cost):
    result = answer.get("result", answer)
    phases = {x["phase"]: x["ms"] / 1000 for x in result.get("phases", [])}
    own = max((s for (_, name), s in cost.seconds.items() if name == "program"), default=0)
    said = [x for x in (result.get("stdout", "") + "\n" + result.get("stderr", "")).split("\n") if FAILED.search(x)]
    return {"name": p["name"], "verdict": result.get("verdict"), "exit_status": result.get("exit_status"), "signal": result.get("signal"),
            "wall_s": round(cost.wall, 1), "run_s": round(phases.get("run", 0), 1), "compile_s": round(phases.get("compile", 0), 1),
            "processor_s": round(own, 1), "quiet_s": round(min(quiet_seconds(cost), phases.get("run", 0)), 1), "resident_gb": round(cost.resident / 1e9, 2),
            "instructions": instructions(result), "lane_instructions": instructions(result, "lane_instructions"),
            "launches": sum(x.get("times", 0) for x in result.get("launches") or []),
            "skipped": (result.get("skipped_launches") or {}).get("launches", 0),
            **{name: ["%s %s:%s" % (f.get("code"), f.get("file"), f.get("line")) for f in result.get("findings", [])
                      if f.get("severity") == severity] for name, severity in (("findings", "error"), ("warnings", "warning"))},
            "says": said[:4], "error": (result.get("error") or {}).get("message"),
            "unsupported": [x.get("function") or x.get("what") for x in result.get("unsupported") or []]}


def judge(entry, r, seconds):
    """As meant, in time; a word on it."""
    meant = entry.get("meant", {}).get(r["name"])
    said = [x for x in r["says"] if not re.search(entry.get("says", r"(?!)"), x)]
    right = (r["verdict"] == "pass" and not said) or bool(meant and r["verdict"] == meant["verdict"])
    late = r["verdict"] == "timeout" or r["quiet_s"] > seconds
    return right and not late, meant["why"] if meant and right else "late" if late else "" if right else "not as meant"


def show(entry, r, seconds):
    right, word = judge(entry, r, seconds)
    rate = r["lane_instructions"] / r["processor_s"] / 1e9 if r["processor_s"] else 0
    print("%s %-28s %-11s exit %-4s compile %5.1f run %5.1f processor %6.1f quiet %5.1f s, %.2e instructions %.2e lanes %.2f G/s, %d launches %d skipped%s"
          % ("+" if right else "-", r["name"], r["verdict"], r["exit_status"] if r["signal"] is None else r["signal"], r["compile_s"], r["run_s"],
             r["processor_s"], r["quiet_s"], r["instructions"], r["lane_instructions"], rate, r["launches"], r["skipped"], " " + word if word else ""))
    for x in sorted(set(r["findings"] + r.get("warnings", []))) + r["says"] + [y for y in (r["error"], ", ".join(r["unsupported"])) if y]:
        print("      " + x[:200])
    sys.stdout.flush()
    return right


def main():
    ap = argparse.ArgumentParser()
    for word in ("build", "set", "checkout"):
        ap.add_argument(word)
    ap.add_argument("names", nargs="*")
    ap.add_argument("--seconds", type=int, default=60)
    for word in ("--out", "--again"):
        ap.add_argument(word)
    ap.add_argument("--list", action="store_true")
    a = ap.parse_args()
    entry, build, checkout = LISTS[a.set], os.path.abspath(a.build), pathlib.Path(a.checkout).resolve()
    if a.again:
        rows = [json.loads(line) for line in open(a.again)]
        print("%d of %d" % (sum(show(entry, r, a.seconds) for r in rows), len(rows)))
        return
    chosen = [p for p in programs(entry, checkout) if not a.names or p["name"] in a.names]
    good = 0
    for p in chosen:
        words = command(build, entry, checkout, p, min(WALL * a.seconds, 3000))
        if a.list:
            print(p["name"], shlex.join(words[3:]))
            continue
        r = row(p, *timed(words, checkout, ("program", SHARE * a.seconds)))
        if a.out:
            with open(a.out, "a") as f:
                f.write(json.dumps(r) + "\n")
        good += show(entry, r, a.seconds)
    print("%d of %d" % (good, len(chosen)))


if __name__ == "__main__":
    main()
