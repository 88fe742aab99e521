#!/usr/bin/env python3
"""upskillctl skill evaluate: its spellings, exit statuses, what it draws, and Ctrl-C.

usage: ctl_evaluate.py UPSKILLCTL UPSKILLD   (TAP on standard output)
A scripted model answers. Where a terminal is wanted the program gets a real one (a pty), and what
it writes is read through a small screen (Screen) that knows the few control sequences it may use.
"""
import fcntl, json, os, pty, re, select, shutil, signal, struct, subprocess, sys, termios, time, xml.etree.ElementTree
import unicodedata

from evaluate_support import Model, Tap, make_skill, make_tests, wait_for
import scratch

CTL, DAEMON = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
TRACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/skills/data/traces/lessons/axpy-kernel.jsonl")
HELPS = "secret=marigold:correct:wrong"


class Room:
    """A home with a skill, tests, a scripted model and names for its behaviours."""

    def __init__(self, students=None, tests=12, slow_ms=0, price=True):
        self.home = scratch.folder("ctl-evaluate-")
        self.work = self.home + "/work"
        os.makedirs(self.work)
        make_skill(self)
        self.write_tests(tests)
        self.model = Model()
        models = {}
        for name, behaviour in (students or {"good": HELPS}).items():
            models[name] = {"api": "openai", "base_url": self.model.url,
                            "model": "%s:%s%s" % (name, "delay=%d+" % slow_ms if slow_ms else "", behaviour)}
            if price:
                models[name]["price"] = {"input": 1, "output": 1}
        os.makedirs(self.home + "/config/upskilld")
        with open(self.home + "/config/upskilld/config.yaml", "w") as f:
            json.dump({"models": models}, f)
        keep = ("PATH", "LANG", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
        self.env = {k: v for k, v in os.environ.items() if k in keep}
        self.env.update(HOME=self.home, XDG_STATE_HOME=self.home + "/state", XDG_CONFIG_HOME=self.home + "/config",
                        XDG_CACHE_HOME=self.home + "/cache", UPSKILLD=DAEMON, TERM="xterm-256color")

    def write_tests(self, count, expected="correct"):
        with open(self.work + "/tests.json", "w") as f:
            json.dump(make_tests(count, expected), f)

    def words(self, *more, students="good"):
        return [CTL, "skill", "evaluate", "skills/words", "--students", students, "--tests", "tests.json",
                "--runs", "1", *more]

    def run(self, *more, students="good", words=None):
        done = subprocess.run(words or self.words(*more, students=students), cwd=self.work, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90)
        return done.returncode, done.stdout, done.stderr

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.model.close()
        shutil.rmtree(self.home, ignore_errors=True)


# --- a terminal -----------------------------------------------------------------------------

class Screen:
    """Rows of text: printable characters, CR, LF, cursor up, erase to the line's or screen's end."""

    def __init__(self, columns, rows):
        self.columns, self.rows, self.x, self.y = columns, rows, 0, 0
        self.lines, self.widest, self.unknown, self.rest = [""], "", set(), ""

    def control(self, parameters, letter):
        if letter == "A":
            self.y = max(0, self.y - int(parameters or 1))
        elif letter == "K":
            self.lines[self.y] = self.lines[self.y][:self.x]
        elif letter == "J":
            self.lines[self.y] = self.lines[self.y][:self.x]
            del self.lines[self.y + 1:]
        elif letter != "m":
            self.unknown.add(parameters + letter)

    def put(self, character):
        if character == "\r":
            self.x = 0
        elif character == "\n":
            self.y += 1
            if self.y == len(self.lines):
                self.lines.append("")
        elif not unicodedata.combining(character):
            line = self.lines[self.y].ljust(self.x)
            self.lines[self.y] = line[:self.x] + character + line[self.x + 1:]
            self.x += 1
            if self.x > len(self.widest):
                self.widest = self.lines[self.y]

    def feed(self, text):
        text = self.rest + text
        at = 0
        while at < len(text):
            found = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])").match(text, at)
            if found:
                self.control(*found.groups())
                at = found.end()
            elif text[at] == "\x1b" and len(text) - at < 12:
                break
            else:
                self.put(text[at])
                at += 1
        self.rest = text[at:]

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).rstrip()


class Terminal:
    """The program with a pty as its controlling terminal."""

    def __init__(self, room, words, columns=100, rows=40):
        self.screen = Screen(columns, rows)
        self.frames, self.bytes, self.code = [], b"", None
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(room.work)
            self.fd = 1
            self.resize(columns, rows)
            os.execve(words[0], words, room.env)

    def resize(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, seconds=0.05):
        """False at the end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.bytes += data
        text = data.decode("utf-8", "ignore")
        if "of" in text and "answers" in text:
            self.frames.append(text)
        self.screen.feed(text)
        return bool(data)

    def until(self, pattern, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            more = self.read()
            if re.search(pattern, self.screen.text(), re.S):
                return self.screen.text()
            assert more, "it ended: " + self.screen.text()
        raise AssertionError("%r did not come: %s" % (pattern, self.screen.text()))

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self, seconds=60):
        end = time.monotonic() + seconds
        while self.read() and time.monotonic() < end:
            pass
        self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.fd)
        return self.code


def holds(text, *patterns):
    for pattern in patterns:
        assert re.search(pattern, text, re.S), "no %r in:\n%s" % (pattern, text)


def plain(text):
    assert "\x1b" not in text and "\r" not in text, "a control character in %r" % text[:400]


# --- spellings ------------------------------------------------------------------------------

def spellings():
    with Room({"a": HELPS, "b": HELPS}) as r:
        def models(*words):
            code, out, err = r.run(words=[CTL, "skill", "evaluate", *words, "--json"])
            assert code == 0, (words, code, out, err)
            result = json.loads(out)
            return [s["model"] for s in result["students"]], result

        common = ["--tests", "tests.json", "--runs", "1"]
        for students in (["--students", "a,b"], ["--student", "a", "--student=b"], ["--model", "a", "--model", "b"],
                         ["--students=a", "--students", "b"], ["--students", '["a","b"]']):
            assert models("skills/words", *students, *common)[0] == ["a", "b"], students
        one = json.dumps(r.model.student(HELPS, "object"))
        assert models("skills/words", "--student", one, "--student", "a", *common)[0] == ["object", "a"]
        for flag in ("--base-url", "--eval-base-url"):
            got = models("skills/words", "--student", "generic.m:" + HELPS, flag, r.model.url, *common)[0]
            assert got == ["generic.m:" + HELPS], got
        result = models("skills/words", "--student", "a", "--tests=tests.json", "--runs=2", "--arms", "placebo",
                        "--budget", "tokens=900000,minutes=5", "--budget", "cost=3")[1]
        assert result["provenance"]["runs"] == 2
        assert [a["name"] for a in result["students"][0]["arms"]] == ["baseline", "skill", "placebo"]
        assert models("words", "--student", "a", *common)[1]["provenance"]["skill"] == "words", "by its name"
        code, _, err = r.run("--budget", "tokens=10,minutes=5", students="a")
        assert code == 2 and "budget" in err, (code, err)
        code, _, err = r.run("--budget", "euros=10", students="a")
        assert code == 2 and "euros" in err, (code, err)
        code, out, _ = r.run(words=[CTL, "skill", "evaluate", "--help"])
        holds(out, r"^usage: upskillctl skill evaluate NAME\|FOLDER", "--students", "--budget NAME=VALUE")


# --- what it prints -------------------------------------------------------------------------

def result_alone_on_standard_output():
    with Room(slow_ms=250) as r:
        code, out, err = r.run("--concurrency", "1")
        assert code == 0, err
        plain(out)
        plain(err)
        assert out.startswith("helps: The skill helps good:"), out
        holds(out, r"baseline +[·░]+ +0 %", r"skill +[█▓]+ +100 %", r"lift +-100 ·+│·*[·├─]*● \+100  \+100 points",
              r"p < 0\.001", r"better +12 of 12 tests: q00 0→1/1", r"record +upskillctl run show 20",
              r"next +upskillctl skill install words", r"24 requests, 0 answers from the cache")
        lines = err.splitlines()
        assert 1 <= len(lines) <= 5, lines
        holds(lines[0], r"^\d+ of 24 answers, baseline 0 passed of \d+, skill (\d+) passed of \1, [\d.]+k? tokens, "
                        r"cost 0\.\d+, 0:0\d, about 0:\d\d left$")
        code, raw, err = r.run("--json")
        result = json.loads(raw)
        assert code == 0 and raw.count("\n") == 1 and err == "", (code, raw, err)
        assert result["provenance"]["cache_hits"] == 24, result["provenance"]
        again = r.run(words=[CTL, "run", "show", result["run"]])
        holds(again[1], r"good", r"without", r"100 %")


def exit_statuses():
    students = {"good": HELPS, "bad": "secret=marigold:wrong:correct", "same": "answer=correct", "dead": "badkey",
                "even": "coin=0.5:4:correct:wrong"}
    with Room(students, tests=8) as r:
        for name, verdict, expected in (("good", "helps", 0), ("bad", "hurts", 1), ("same", "not_measurable", 1),
                                        ("even", "no_evidence", 1), ("dead", "no_evidence", 2)):
            for more in ((), ("--json",)):
                code, out, err = r.run(*more, students=name)
                assert code == expected, (name, code, out, err)
                assert verdict in out, (name, out)
        for words, message in ((["--students", "openai.gpt-x"], "OPENAI_API_KEY"),
                               (["--students", "nonsense"], "nonsense"), (["--runs", "0"], "runs"),
                               (["--tests", "nothing.json"], "nothing.json")):
            code, out, err = r.run(*words)
            assert code == 2 and out == "" and message in err, (words, code, out, err)
            plain(err)


def what_may_be_wrong_is_said():
    students = {"cut": "usage=400+answer=correct", "silent": "nousage+" + HELPS,
                "bad": "secret=marigold:wrong:correct", "dead": "badkey"}
    with Room(students, tests=8) as r:
        _, out, _ = r.run(students="cut")
        holds(out, r"warning +the skill did not arrive: prompts grew by only 0 of its \d+ tokens", r"always_passes \(8 tests\): q00, ")
        _, out, _ = r.run(students="silent")
        holds(out, r"warning +the endpoint does not count tokens")
        _, out, _ = r.run(students="bad")
        holds(out, r"worse +8 of 8 tests: q00 1→0/1", r"next +upskillctl run show latest --out report\.html")
        _, out, _ = r.run(students="dead")
        holds(out, r"could not be asked", r"no graded answer", r"errored", r"next +the same command, without --fresh, asks again")
        assert out.count("Incorrect API") == 1 and "warning" not in out, out
        code, out, _ = r.run(students="bad,silent")
        holds(out, r"^no_evidence: Mixed", r"\nbad: hurts\n", r"\nsilent: helps\n")
        assert code == 1
        r.write_tests(4)
        _, out, _ = r.run(students="silent")
        holds(out, r"next +add \d+ tests? like these")


def narrow_results_fit():
    with Room(tests=8) as r:
        for columns in (100, 60, 40):
            t = Terminal(r, r.words(), columns)
            assert t.end() == 0, t.screen.text()
            wide = [line for line in t.screen.lines if len(line) > columns and "upskillctl" not in line]
            assert not wide, (columns, wide)
            holds(t.screen.text(), "helps", "100 %")
            holds("\n".join(t.screen.lines), r"(?m)^  record +upskillctl run show 20\S+$")  # to be copied as it is


# --- the live display -----------------------------------------------------------------------

def live_display():
    """Drawn in place, gone at the end, a handful of frames a second, nothing wider than the window."""
    with Room({"good": HELPS, "other": "answer=wrong"}, slow_ms=250, tests=16) as r:
        t = Terminal(r, r.words("--concurrency", "2", students="good,other"))
        seen = t.until(r"of 64 answers, 0:0[3-9], about 0:\d\d left")
        holds(seen, r"\ngood\n +baseline +▒+·+ +\d+/16 +0 passed.*\n +skill +█+·+ +(\d+)/16 +\1 passed",
              r"\nother\n", r"cost 0\.", r"Ctrl-C stops")
        assert seen.count("of 64 answers") == 1, seen
        assert t.end() == 0, t.screen.text()
        last = t.screen.text()
        assert last.startswith("helps: Of 2 students"), last
        assert "Ctrl-C" not in last and "about" not in last, last
        assert not t.screen.unknown, t.screen.unknown
        assert len(t.screen.widest) <= 100, t.screen.widest
        assert 3 <= len(t.frames) <= 200, len(t.frames)
        return "%d frames, %d bytes in all" % (len(t.frames), len(t.bytes))


def live_display_resized():
    with Room(slow_ms=250, tests=20) as r:
        t = Terminal(r, r.words("--concurrency", "2"), columns=100)
        t.until(r"0:02, about")
        t.resize(36, 20)
        time.sleep(0.3)
        t.read(0.2)
        t.screen = Screen(36, 20)  # what the terminal keeps of the old frame is its own affair
        t.until(r"of 40 answers, 0:0\d")
        assert len(t.screen.widest) < 36, t.screen.widest
        t.resize(100, 4)  # too low for a line per arm
        t.screen = Screen(100, 4)
        t.until(r"of 40 answers.*\n +good +█+▒+·+ +\d+/40")
        assert t.end() == 0


def live_display_of_many_students():
    with Room({"m%02d" % i: HELPS for i in range(12)}, slow_ms=150, tests=6) as r:
        t = Terminal(r, r.words("--concurrency", "4", students=",".join("m%02d" % i for i in range(12))), rows=10)
        seen = t.until(r"of 144 answers.*\n  and \d+ more")
        assert seen.count("\n") <= 9, seen
        assert t.end() == 1, "12 comparisons: 6 tests each are too few"


def ctrl_c():
    """It stops at once, keeps what is known in sight, leaves nobody behind, and goes on from there."""
    with Room(slow_ms=300, tests=20) as r:
        t = Terminal(r, r.words("--concurrency", "2"))
        t.until(r"([4-9]|1\d) of 40 answers")
        pressed = time.monotonic()
        t.type("\x03")
        assert t.end() == 130, t.screen.text()
        took = time.monotonic() - pressed
        assert took < 10, took
        last = t.screen.text()
        holds(last, r"of 40 answers", r"baseline +▒", r"skill +█", "error: stopped by Ctrl-C",
              "the same command continues", r"upskillctl run show 20\d\d_[0-9a-f_]+ shows")
        stats = wait_for(lambda: r.model.stats() if r.model.stats()["in_flight"] == 0 else None)
        asked = stats["requests"]
        assert asked < 38, asked
        run = re.search(r"run show (\S+) shows", last).group(1)
        holds(r.run(words=[CTL, "runs"])[1], run + r".*interrupted")
        r.model.reset()
        code, out, err = r.run("--json")
        more = json.loads(out)["provenance"]
        assert code == 0 and more["cache_hits"] >= asked - 2 and more["requests"] + more["cache_hits"] == 40, more
        return "ended %.2f s after the key, %d asked before and %d after" % (took, asked, more["requests"])


def ctrl_c_without_a_terminal():
    with Room(slow_ms=300, tests=20) as r:
        p = subprocess.Popen(r.words("--concurrency", "2"), cwd=r.work, env=r.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: r.model.stats()["answered"] >= 6)
        time.sleep(1.2)
        p.send_signal(signal.SIGINT)
        out, err = p.communicate(timeout=20)
        assert p.returncode == 130 and out == "", (p.returncode, out, err)
        plain(err)
        holds(err, r"\d+ of 40 answers.*stopping|\d+ of 40 answers", "stopped by Ctrl-C", "continues from there")


def a_daemon_that_dies_is_said():
    with Room(slow_ms=300, tests=20) as r:
        p = subprocess.Popen(r.words("--concurrency", "2"), cwd=r.work, env=r.env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: r.model.stats()["answered"] >= 4)
        with open("/proc/%d/task/%d/children" % (p.pid, p.pid)) as f:
            os.kill(int(f.read().split()[0]), signal.SIGKILL)
        out, err = p.communicate(timeout=20)
        assert p.returncode == 2 and out == "", (p.returncode, out, err)
        holds(err, "the daemon ended: killed by signal 9", "hint: the same command")


def answers_test_by_test():
    """run show: each test's passes in both arms, failures first, and what was wrong with the skill."""
    with Room({"good": "secret=marigold:correct:wrong", "bad": "answer=wrong"}, tests=12) as r:
        assert r.run("--students", "bad")[0] == 0
        code, out, _ = r.run(words=[CTL, "run", "show", "latest"])
        good, bad = out[out.index("good: "):out.index("bad: ")], out[out.index("bad: "):]
        assert code == 0 and len(re.findall(r"(?m)^q\d+ +0 of 1 +1 of 1$", good)) == 12, out
        rows = re.findall(r'(?m)^(q\d+) +0 of 1 +0 of 1 +contains "correct": not found; answered "wrong"$', bad)
        assert rows == sorted(rows) and len(rows) == 12, out
        assert r.run("--arms", "placebo")[0] == 0
        t = Terminal(r, [CTL, "run", "list"], 80)
        assert t.end() == 0
        rows = re.findall(r"(?m)^([0-9a-f]{8})  words  (good|bad) +(?:helps|hurts|not measurable|no evidence) ", "\n".join(t.screen.lines))
        assert [model for _, model in rows] == ["good", "bad", "good"] or [model for _, model in rows] == ["good", "good", "bad"], t.screen.text()
        code, out, _ = r.run(words=[CTL, "run", "show", rows[0][0]])
        bars = re.findall(r"(?m)^  (without|with|placebo) .* (\d+) %$", out)
        assert code == 0 and bars == [("without", "0"), ("with", "100"), ("placebo", "0")], out


def verdicts_for_other_programs():
    """JUnit: each test with each student is a case, beside their verdicts; GitHub: the verdicts alone."""
    students = {"good": HELPS, "bad": "secret=marigold:wrong:correct", "even": "coin=0.5:4:correct:wrong", "dumb": "wrong"}
    with Room(students, tests=8) as r:
        code, out, _ = r.run("--output-format", "junit", students="good,bad")
        suite = xml.etree.ElementTree.fromstring(out)
        cases = [(c.get("classname"), c.get("name"), c.find("failure") is not None) for c in suite]
        failures = [f.get("message") for f in suite.iter("failure")]
        assert all(re.search(r"^\d of \d runs pass with the skill, |skills?\b", f) for f in failures), failures
        assert [c for c in cases if c[0] == "skill/evaluate"] == [("skill/evaluate", "skills/words", bad) for bad in (False, True)]
        assert sorted(c for c in cases if c[0] != "skill/evaluate") == sorted(
            (name, "q%02d" % i, name == "bad") for name in ("good", "bad") for i in range(8)), cases
        assert code == 1 and (suite.get("tests"), suite.get("failures")) == ("18", "9"), (code, suite.attrib)
        code, out, _ = r.run("--output-format", "junit", students="good,dumb")
        suite = xml.etree.ElementTree.fromstring(out)
        assert code == 0 and [suite.get(k) for k in ("failures", "errors", "skipped")] == ["0", "0", "9"], (code, suite.attrib)
        assert len([s for s in suite.iter("skipped") if re.match(r"0 of 1 runs pass with the skill, 0 without it$", s.get("message"))]) == 8, out
        for name, command in (("good", "notice"), ("bad", "error"), ("even", "warning")):
            _, out, _ = r.run("--output-format", "github", students=name)
            line, = out.splitlines()
            assert line.startswith("::%s file=skills/words/SKILL.md,title=" % command), line
        named = [word if word != "skills/words" else "words" for word in r.words("--output-format", "github")]
        _, out, _ = r.run(words=named)
        assert out.startswith("::notice file=skills/words/SKILL.md,title="), (named, out)


def made_but_not_measured():
    """skill generate keeps what it made when its students cannot be asked, and does not end with 0."""
    with Room({"good": HELPS, "lost": "badkey"}, price=False) as r:
        shutil.copy(TRACE, r.work + "/session.jsonl")
        make = [CTL, "skill", "generate", "--trace", "session.jsonl", "--teacher", "builtin"]
        code, out, err = r.run(words=make + ["--output", "skills/one", "--students", "lost"])
        assert code == 2 and os.path.exists(r.work + "/skills/one/SKILL.md"), (code, out, err)
        assert r.run(words=make + ["--output", "skills/one-more", "--students", "good"])[0] == 0
        code, out, err = r.run(words=make + ["--output", "skills/two", "--students", "good", "--tests", "0"])
        assert code == 2 and os.path.exists(r.work + "/skills/two/SKILL.md"), (code, out, err)
        holds(re.sub(r"\s+", " ", out), r"measured not: .*tests", "upskillctl skill generate with the skill and a model")
        code, out, _ = r.run(words=make + ["--output", "skills/three", "--students", "good", "--tests", "0", "--json"])
        assert code == 2 and "skill/generate" in json.loads(out)["evaluation"]["hint"], (code, out)


TESTS = [made_but_not_measured, verdicts_for_other_programs, answers_test_by_test, spellings, result_alone_on_standard_output, exit_statuses, what_may_be_wrong_is_said, narrow_results_fit,
         live_display, live_display_resized, live_display_of_many_students, ctrl_c, ctrl_c_without_a_terminal,
         a_daemon_that_dies_is_said]

if __name__ == "__main__":
    tap = Tap()
    for test in TESTS:
        if len(sys.argv) < 4 or test.__name__ in sys.argv[3:]:
            tap.run(test.__name__.replace("_", " "), test)
    sys.exit(tap.end())
