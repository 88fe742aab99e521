#!/usr/bin/env python3
"""skill/evaluate with agents' command lines as students, the skill installed for them.

usage: evaluate_agents.py UPSKILLD [NAME …]   (TAP on standard output)
"""
import glob, json, os, subprocess, sys, tempfile, time

from evaluate_support import HERE, KEY, Daemon, Tap, arm, make_skill, make_tests, wait_for
import scratch

PROGRAM = os.path.abspath(sys.argv[1])
CLIS = {"claude": "claude-code", "codex": "codex", "opencode": "opencode"}
BEHAVIOURS = ("writes", "good", "blind", "crash", "hang", "garbage", "fail", "leak")


class Room:
    """A daemon whose configuration names the fake agents "claude-good", "codex-crash", …"""

    def __init__(self):
        home = scratch.folder("evaluate-")
        self.log = home + "/agents.log"
        students = {"%s-%s" % (f, b): {"cli": cli, "timeout_s": 2 if b == "hang" else 60,
                                       "argv": [sys.executable, "-IS", HERE + "/fake_agent.py", f, self.log, b]}
                    for f, cli in CLIS.items() for b in BEHAVIOURS}
        students["absent"] = {"cli": "custom", "argv": ["/no/such/agent"]}
        self.daemon = Daemon(PROGRAM, home=home, config=json.dumps({"students": students}),
                             env={"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": "sk-other", "SECRET_OF_MINE": "x"})
        self.daemon.own = True
        self.skill = make_skill(self.daemon)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        assert self.daemon.close() in (0, None) or problem[0]

    def evaluate(self, *students, **params):
        return self.daemon.evaluate(**dict({"path": self.skill, "students": list(students), "mode": "installed",
                                            "tests": make_tests(6), "runs": 1}, **params))

    def entries(self):
        return [json.loads(line) for line in open(self.log)] if os.path.exists(self.log) else []


def left_behind():
    return glob.glob(os.environ["TMPDIR"] + "/upskilld-*")


def formats():
    with Room() as r:
        for name, cost in (("claude", 0.06), ("codex", None), ("opencode", 0.12)):
            tests = make_tests(6, files={"notes/context.txt": "Some context."})
            result = r.evaluate(name + "-good", tests=tests)
            student = result["students"][0]
            assert result["verdict"] == "helps", (name, result)
            assert student["activation"] == {"activated": 6, "of": 6} and student["injection"] is None, student
            skill = arm(student, "skill")
            assert skill["tokens"] == {"input": 720 if name == "claude" else 600, "output": 30,
                                       "total": 750 if name == "claude" else 630}, skill
            assert skill["cost"] == cost or abs(skill["cost"] - cost) < 1e-9, skill
            assert student["model"] == name + "-good"
        assert r.entries() and all("Question number" in e["question"] for e in r.entries())
        for e in r.entries():
            assert "notes/context.txt" in e["files"] and e["cwd"].endswith("/work"), e
            assert e["home"] != r.daemon.home and os.path.dirname(e["cwd"]) == os.path.dirname(e["home"]), e
            assert set(e["home_files"]) <= {".codex"}, e
            assert "SECRET_OF_MINE" not in e["env"], e["env"]
        claude = r.entries()[0]
        assert "ANTHROPIC_API_KEY" in claude["env"] and "OPENAI_API_KEY" not in claude["env"], claude["env"]
        assert {len([f for f in e["files"] if f.endswith("SKILL.md")]) for e in r.entries()} == {0, 1}
        assert len({e["cwd"] for e in r.entries()}) == len(r.entries()) == 36, "fresh folders"
    assert not left_behind(), left_behind()


def files_that_it_wrote():
    """Tests may look at what lies in the working directory afterwards; links and devices are not looked at."""
    checks = [{"src/out.json": {"json_schema": {"type": "object", "properties": {"word": {"const": "correct"}}}}},
              {"notes/context.txt": {"equals": "Some context. More of it."}}, {"picture": True}, {"large.txt": {"contains": "x"}},
              {"stolen": True}, {"stolen": False}, {"src/root/etc/passwd": False}, {"pipe": False}, {"notes/context.txt": False},
              {".claude/skills/words/SKILL.md": False}]
    with Room() as r:
        for name in CLIS:
            result = r.evaluate(name + "-writes", tests=[
                {"id": "t%d" % i, "input": "Question number %d: write it." % i, "expected": {"files": files},
                 "files": {"notes/context.txt": "Some context."}} for i, files in enumerate(checks)])
            passed = [all(p["skill"] for p in t["pairs"]) for t in result["students"][0]["tests"]]
            assert passed == [True, True, True, False, False, True, True, True, False, True], (name, passed)
            shown = r.daemon.ask("run/show", {"run": result["run"]})["result"]["cells"]
            with_skill = [c for c in shown if c["arm"] == "skill"][0]
            assert with_skill["files"] == {"src/out.json": 19, "notes/context.txt": 25, "picture": None, "large.txt": None}, with_skill["files"]
            first = [c for c in shown if c["test"] == "t0" and c["arm"] == "baseline"][0]
            assert first["outcome"] == "failed" and first["assertions"][0]["check"] == "src/out.json: json_schema", first
    assert not left_behind(), left_behind()


def older_version():
    with Room() as r:
        older = make_skill(r.daemon, "older", word="rue")
        student = r.evaluate("codex-good", previous=older)["students"][0]
        lifts = {(l["arm"], l["vs"]): l["estimate"] for l in student["lifts"]}
        assert lifts == {("previous", "baseline"): 0, ("skill", "previous"): 1}, lifts
        refused = r.evaluate("codex-good", arms=["placebo"])
        assert refused["data"]["path"] == "/arms", refused


def no_answers_on_their_disk():
    """The tests beside a skill hold what is expected: an agent finds the skill without them."""
    with Room() as r:
        make_skill(r.daemon, meta={"metadata": {}, "tests": make_tests(6)})
        os.makedirs(r.skill + "/evals")
        with open(r.skill + "/evals/evals.json", "w") as f:
            json.dump({"evals": [{"id": 1, "prompt": "?", "expected_output": "correct"}]}, f)
        result = r.daemon.evaluate(path=r.skill, students=["claude-good"], mode="installed", runs=1)
        assert result["verdict"] == "helps", result
        found = {os.path.basename(f) for e in r.entries() for f in e["files"]}
        assert "SKILL.md" in found and not {f for f in found if f.endswith(".json") and "lock" not in f}, found


def never_opened():
    with Room() as r:
        result = r.evaluate("claude-blind")
        assert result["students"][0]["activation"] == {"activated": 0, "of": 6}
        assert "opened the skill in 0 of 6" in result["sentence"], result["sentence"]


def broken_ones():
    with Room() as r:
        for name in CLIS:
            for behaviour, word in (("crash", "signal"), ("garbage", "closing record"), ("fail", "")):
                result = r.evaluate("%s-%s" % (name, behaviour))
                student = result["students"][0]
                assert all(a["errored"] == 6 and a["passed"] == 0 for a in student["arms"]), student["arms"]
                assert result["verdict"] == "no_evidence" and word in student["error"]["message"], student["error"]
        crash = r.evaluate("codex-crash")["students"][0]["error"]["message"]
        assert "out of coffee" in crash, crash
        absent = r.evaluate("absent")
        assert "/no/such/agent" in absent["sentence"] and absent["verdict"] == "no_evidence", absent["sentence"]
    assert not left_behind(), left_behind()


def sleepers():
    out = ""
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as f:
                out += f.read().replace(b"\0", b" ").decode("utf-8", "replace") + "\n"
        except OSError:
            pass  # not a process, or gone
    return out.count("sleep 600") + out.count("fake_agent.py")


def hanging_ones():
    with Room() as r:
        before = sleepers()
        result = r.evaluate("claude-hang", tests=make_tests(2), concurrency=4)
        assert "longer than 2 s" in result["students"][0]["error"]["message"], result
        wait_for(lambda: sleepers() <= before, 5)
        job = r.daemon.start(path=r.skill, students=["codex-hang"], mode="installed", tests=make_tests(6), runs=1)
        wait_for(lambda: len(r.entries()) >= 12, 20)
        begun = time.monotonic()
        r.daemon.ask("job/cancel", {"job": job})
        state = r.daemon.ask("job/status", {"job": job, "wait_s": 10})["result"]["state"]
        took = time.monotonic() - begun
        assert state == "cancelled", state
        wait_for(lambda: sleepers() <= before, 5)
    assert not left_behind(), left_behind()
    return "cancelled after %.0f ms" % (1000 * took)


def no_key_in_any_file():
    with Room() as r:
        r.evaluate("claude-good")
        r.evaluate("claude-crash")
        leak = r.evaluate("claude-leak", tests=make_tests(12))
        assert KEY not in json.dumps(leak) and KEY in json.dumps(r.entries()), leak["students"][0]
        assert "****" in leak["students"][0]["error"]["message"], leak["students"][0]["error"]
        r.daemon.process.stdin.close()
        r.daemon.process.wait(20)
        for folder, _, files in os.walk(r.daemon.home):
            for name in files:
                path = os.path.join(folder, name)
                if path != r.log:
                    assert KEY.encode() not in open(path, "rb").read(), path


def everyone_has_limits_of_its_own():
    """What was tried with the real programs (docs/architecture/evaluation.md) is what is started."""
    with tempfile.TemporaryDirectory() as programs:
        before = os.environ["PATH"]
        os.environ["PATH"] = programs + ":" + before
        try:
            with Room() as r:
                for name, cli in CLIS.items():
                    with open(programs + "/" + cli.split("-")[0], "w") as f:
                        f.write('#!/bin/sh\nexec "%s" -IS "%s" %s "%s" good "$@"\n' % (
                            sys.executable, HERE + "/fake_agent.py", name, r.log))
                    os.chmod(f.name, 0o755)
                    r.evaluate({"cli": cli, "model": "m"}, tests=make_tests(1))
                claude, codex, opencode = (e for e in r.entries() if not [f for f in e["files"] if "SKILL" in f])
        finally:
            os.environ["PATH"] = before
    tools = claude["argv"][claude["argv"].index("--tools") + 1].split(",")
    assert set(tools) == {"Skill", "Read", "Glob", "Grep", "Write", "Edit"}, tools
    assert claude["argv"][claude["argv"].index("--allowedTools") + 1] == "Skill", claude["argv"]
    assert json.loads(claude["argv"][claude["argv"].index("--settings") + 1])["disableAllHooks"], claude["argv"]
    assert "workspace-write" in codex["argv"], codex["argv"]
    assert {"sandbox_workspace_write.exclude_slash_tmp=true",
            "sandbox_workspace_write.exclude_tmpdir_env_var=true"} <= set(codex["argv"]), codex["argv"]
    permission = json.loads(opencode["permission"])
    allowed = {name for name, what in permission.items() if what != "deny"}
    assert list(permission)[0] == "*" and allowed == {"read", "glob", "grep", "list", "edit", "skill"}, permission
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" in opencode["env"] and "--pure" in opencode["argv"], opencode


tap = Tap()
with tempfile.TemporaryDirectory(prefix="agents-") as own:
    os.environ["TMPDIR"] = own  # where no other daemon leaves anything
    for test in [formats, files_that_it_wrote, older_version, no_answers_on_their_disk, never_opened, broken_ones, hanging_ones,
                 no_key_in_any_file, everyone_has_limits_of_its_own]:
        if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]:
            tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
