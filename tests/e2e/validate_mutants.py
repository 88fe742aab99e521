#!/usr/bin/env python3
"""Mutants of the corpus are reported, each by a finding or a mismatch.

usage: validate_mutants.py UPSKILLD [--all] [--seed N] [--count N] [WORD …]
Without --all a seeded sample is run (TAP on standard output). With --all every mutant (of sources whose name
has a WORD), and a table by rule: killed, how, equivalent, missed; one line for each that is missed.
"""
import collections, json, os, random, re, sys

from validate_support import CORPUS, KERNELS, Daemon, Tap, corpus, params_of

sys.path.insert(0, KERNELS)
import mutate  # noqa: E402

BUDGET = 20_000_000  # lane-instructions: far more than any original needs
AT_ONCE = 4
LOOSE = ("race_free.cu",)  # about the order of accesses: not all of its results are expected
WITH_RACES = ["memory", "initialized", "barrier", "race"]  # what a missing barrier is looked for with
SLOW = ("cub_", "cg_", "atomics", "grid_sum", "41_grid", "20_", "21_")  # C++ headers: seconds to compile


def load():
    """{source: [checks that pass, with nothing to tell]}"""
    by_source = collections.OrderedDict()
    for _, source, check in corpus():
        right = check.get("verdict", "pass") == "pass" and not check.get("codes")
        if right and os.path.basename(source) not in LOOSE:
            by_source.setdefault(source, []).append(check)
    return by_source


def kernels_named(check):
    spec = check["spec"]
    return {re.sub("<.*", "", l.get("kernel", "")) for l in spec.get("launches", [spec])}


ENTRIES = [check for _, _, check in corpus()]


def checks_for(mutant, checks):
    """Those that launch the mutant's kernel: none for one that is there to be wrong. All for what several may call."""
    chosen = [c for c in checks if mutant.kernel in kernels_named(c)]
    return chosen or ([] if any(mutant.kernel in kernels_named(c) for c in ENTRIES) else checks)


class Trial:
    """One mutant against its checks, one after the other, until one sees it."""

    def __init__(self, source, mutant, checks):
        self.source, self.mutant = source, mutant
        self.checks = list(checks_for(mutant, checks))
        self.verdict, self.codes, self.lines, self.result = None, set(), set(), None

    def name(self):
        return self.mutant.key(os.path.basename(self.source))

    def params(self):
        check = self.checks.pop(0)
        spec = dict(check["spec"], instructions=BUDGET, seed="0x1234")
        spec["trials"] = 2
        if self.mutant.rule == "barrier":
            spec["checks"] = WITH_RACES
        return dict(spec, source=self.mutant.source)

    def told(self, answer):
        """True when no further check is needed."""
        result = answer.get("result", {"verdict": "refused"})
        self.result = answer
        self.verdict = result["verdict"]
        self.codes = {f["code"] for f in result.get("findings", [])}
        self.lines = {f["line"] for f in result.get("findings", []) if "line" in f}
        if self.verdict == "error" and (result.get("error") or {}).get("code") == "not_compiled":
            self.verdict = "not_compiled"
            return True
        return self.verdict != "pass" or bool(self.codes) or not self.checks

    def killed(self):
        return self.verdict not in ("pass", "not_compiled", "refused") or bool(self.codes)

    def how(self):
        if not self.killed():
            return self.verdict
        return "finding" if self.codes - {"unwritten_output"} else "mismatch"

    def right_line(self):
        """Findings stand where the mutant's fault shows: at its line, or behind it where what it guards is used.
        What a macro holds stands at the lines that use it."""
        in_macro = self.mutant.source.split("\n")[self.mutant.line - 1].rstrip().endswith("\\")
        if self.mutant.rule == "branch" and not in_macro:
            return self.mutant.line in self.lines
        return any(l >= self.mutant.line for l in self.lines)


def run(daemon, trials, done):
    waiting, trials = {}, iter(trials)

    def send(trial):
        waiting[daemon.send("kernel/validate", trial.params())] = trial
    for trial in trials:
        send(trial)
        if len(waiting) < AT_ONCE:
            continue
        turn(daemon, waiting, send, done)
    while waiting:
        turn(daemon, waiting, send, done)


def turn(daemon, waiting, send, done):
    """Until one of those under way has ended."""
    while True:
        number = min(waiting)
        trial = waiting.pop(number)
        if trial.told(daemon.receive(number)):
            done(trial)
            return
        send(trial)


def everything(words):
    for source, checks in load().items():
        if not words or any(w in os.path.basename(source) for w in words):
            with open(source) as f:
                for mutant in mutate.mutants(f.read()):
                    if checks_for(mutant, checks):
                        yield Trial(source, mutant, checks)


def equivalents():
    with open(os.path.join(KERNELS, "mutants_equivalent.json")) as f:
        return json.load(f)


def whole(program, words):
    daemon, known, table = Daemon(program), equivalents(), collections.defaultdict(collections.Counter)
    wrong_line = []

    def done(trial):
        row = table[trial.mutant.rule]
        row["mutants"] += 1
        if trial.killed():
            row["killed"] += 1
            row[trial.how()] += 1
            if trial.how() == "finding":
                row["line"] += trial.right_line()
                if not trial.right_line():
                    wrong_line.append((trial.name(), sorted(trial.lines), sorted(trial.codes)))
            if trial.name() in known:
                print("known as equivalent, yet reported: " + trial.name())
        elif trial.verdict == "not_compiled":
            row["not compiled"] += 1
        elif trial.name() in known:
            row["equivalent"] += 1
        else:
            row["missed"] += 1
            print("missed %s %s [%s]" % (trial.name(), trial.mutant.was[:60], trial.verdict), flush=True)
            if trial.verdict == "refused":
                print("   " + json.dumps(trial.result)[:300])
    run(daemon, everything(words), done)
    daemon.close()
    for name in wrong_line:
        print("another line: %s %s %s" % name)
    columns = ("mutants", "killed", "finding", "line", "mismatch", "equivalent", "missed", "not compiled")
    print("%-8s" % "rule" + "".join("%13s" % c for c in columns))
    for rule, row in table.items():
        print("%-8s" % rule + "".join("%13d" % row[c] for c in columns))
    return 1 if any(r["missed"] for r in table.values()) else 0


def sample(program, seed, count):
    tap, daemon, known = Tap(), Daemon(program), equivalents()
    pool = [t for t in everything([]) if t.name() not in known and not os.path.basename(t.source).startswith(SLOW)]
    chosen = random.Random(seed).sample(pool, min(count, len(pool)))
    print("# seed %d: %d of %d mutants" % (seed, len(chosen), len(pool)))

    def done(trial):
        def look():
            assert trial.killed() or trial.verdict == "not_compiled", \
                "%s: not reported (was: %s)" % (trial.verdict, trial.mutant.was)
            if trial.mutant.rule == "branch":
                assert trial.right_line(), "findings %s at lines %s" % (trial.codes, trial.lines)
        tap.run("%s: %s" % (trial.name(), trial.how()), look)
    run(daemon, chosen, done)
    tap.run("the daemon ends", lambda: daemon.close())
    return tap.end()


def main(argv):
    program, words, everything_too, seed, count = os.path.abspath(argv[0]), [], False, 1, 60
    rest = iter(argv[1:])
    for word in rest:
        if word == "--all":
            everything_too = True
        elif word == "--seed":
            seed = int(next(rest))
        elif word == "--count":
            count = int(next(rest))
        else:
            words.append(word)
    return whole(program, words) if everything_too else sample(program, seed, count)


sys.exit(main(sys.argv[1:]))
