#!/usr/bin/env python3
"""upskill's eval and upskillctl skill evaluate beside each other, on one scripted endpoint.

usage: bench_upskill.py BUILD_FOLDER     (exit status 77: upskill is not there)
The same skill, tests and model; one run per test and arm, with and without the skill. Prints the
start-up time (--version), wall time, requests and the most of them at a time. Figures only.
upskill (0.2 or newer) is $UPSKILL or on PATH; it needs Python 3.13. Its long options are used: the
library beneath it reads the command line, too, and takes -m for a message to send.
"""
import json, os, re, shutil, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from evaluate_support import Model, make_skill, make_tests

BUILD = os.path.abspath(sys.argv[1])
TESTS, DELAY_MS = 12, 200
UPSKILL = os.environ.get("UPSKILL") or shutil.which("upskill")
CTL = BUILD + "/clients/ctl/upskillctl"


class Home:
    def __init__(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="bench-upskill-"))
        os.makedirs(self.home + "/work")
        self.skill = make_skill(self)
        with open(self.home + "/work/tests.json", "w") as f:
            json.dump({"cases": [{k: t[k] for k in ("input", "expected")} for t in make_tests(TESTS)]}, f)
        delay = "delay=%d+answer=" % DELAY_MS
        self.model = Model([{"when": {"any": "marigold"}, "do": delay + "correct"}, {"when": {}, "do": delay + "wrong"}])
        self.env = {"PATH": os.environ["PATH"], "HOME": self.home, "GENERIC_BASE_URL": self.model.url,
                    "GENERIC_API_KEY": "none", "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none",
                    "XDG_STATE_HOME": self.home + "/state"}

    def run(self, words):
        """Wall time, the endpoint's statistics, the finished process."""
        self.model.reset()
        begun = time.perf_counter()
        done = subprocess.run(words, cwd=self.home + "/work", env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=300)
        return time.perf_counter() - begun, self.model.stats(), done

    def close(self):
        self.model.close()
        shutil.rmtree(self.home, ignore_errors=True)


def version():
    text = subprocess.run([UPSKILL, "--version"], capture_output=True, text=True).stdout
    return re.search(r"[\d.]+", text).group(0)


def start_up(program):
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        subprocess.run([program, "--version"], capture_output=True, check=True)
        times.append(time.perf_counter() - begun)
    return 1000 * statistics.median(times)


def upskill_words(home):
    return [UPSKILL, "eval", home.skill, "--tests", "tests.json", "--model", "generic.m",
            "--base-url", home.model.url, "--runs", "1"]


def our_words(home):
    return [CTL, "skill", "evaluate", home.skill, "--tests", "tests.json", "--students", "generic.m", "--runs", "1"]


def row(what, *figures):
    print("  %-36s %-26s %s" % (what, *figures), flush=True)


def main():
    if not UPSKILL:
        print("skipped: upskill is not on PATH and $UPSKILL names none (it needs Python 3.13)")
        return 77
    home = Home()
    ideal = 2 * TESTS * DELAY_MS / 1000
    print("evaluation of %d tests, 2 arms, 1 run, %d ms an answer (one after the other: %.1f s)" % (
        TESTS, DELAY_MS, ideal))
    row("", "upskill " + version(), "upskillctl")
    row("start-up (--version), median of 5", "%.0f ms" % start_up(UPSKILL), "%.1f ms" % start_up(CTL))
    theirs, ours = home.run(upskill_words(home)), home.run(our_words(home))
    again = [home.run(upskill_words(home)), home.run(our_words(home))]
    for what, pick in (("wall time", lambda r: "%.2f s" % r[0]), ("requests", lambda r: "%d" % r[1]["requests"]),
                       ("at a time", lambda r: "%d" % r[1]["peak"]), ("exit status", lambda r: "%d" % r[2].returncode)):
        row(what, pick(theirs), pick(ours))
    row("the same again: wall time", *("%.2f s" % r[0] for r in again))
    row("the same again: requests", *("%d" % r[1]["requests"] for r in again))
    for name, (_, _, done) in (("upskill", theirs), ("upskillctl", ours)):
        print("%s said: %s" % (name, " | ".join((done.stdout.strip() or done.stderr.strip()).splitlines()[-6:])))
    home.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
