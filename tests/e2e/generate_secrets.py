#!/usr/bin/env python3
"""Secrets in traces and documents: none in a skill, a request to a model, an order to the host, a job or a log.

usage: generate_secrets.py UPSKILLD   (TAP on standard output)

The ways to write one are those of tests/unit/skills/data/secrets.json: as commands that fail and then succeed, as
files that are printed and written, as what a person says.
"""
import json, os, sys

from evaluate_support import Tap
from generate_support import SKILL, Teachers, generate, rule

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = json.load(open(os.path.join(HERE, "../unit/skills/data/secrets.json")))
SECRETS = sorted({c["secret"] for c in CASES})
PART = 15  # cases of one trace


def call(i, command, output):
    arguments = json.dumps({"command": command})
    return [{"role": "assistant", "content": "I run it.", "tool_calls": [
                {"id": "c%d" % i, "type": "function", "function": {"name": "bash", "arguments": arguments}}]},
            {"role": "tool", "tool_call_id": "c%d" % i, "content": output}]


def turns(i, case):
    """A failure whose words and fix hold the secret."""
    text = case["text"].replace("{}", case["secret"])
    tool = "deploy%d" % i
    if case["kind"] == "command":
        return (call(2 * i, text, "error: %s: cannot reach the host, and may not retry\n$ %s\nExit code 1" % (tool, text)) +
                call(2 * i + 1, text + " --retry %d" % i, "done\n"))
    if case["kind"] == "file":
        write = "cat > conf%d.txt <<'EOT'\n%s\nEOT"
        return (call(4 * i, write % (i, "old"), "") + call(4 * i + 1, tool + " --all", "error: conf%d.txt: bad line\nExit code 1" % i) +
                call(4 * i + 2, write % (i, text), "") + call(4 * i + 3, tool + " --all", "done\n"))
    return ([{"role": "user", "content": "No, don't do that. You must use check-all%d, and remember: %s" % (i, text)}] +
            call(2 * i, "check-all%d" % i, text + "\nok\n"))


def write_traces(d):
    names = []
    for first in range(0, len(CASES), PART):
        messages = [{"role": "user", "content": "Deploy part %d of the shop with the deploy tool." % first}]
        for i, case in enumerate(CASES[first:first + PART], first):
            messages += turns(i, case)
        names.append("part%d.json" % first)
        with open(d.home + "/work/" + names[-1], "w") as f:
            json.dump({"messages": messages}, f)
    with open(d.home + "/work/notes.md", "w") as f:
        f.write("# Notes\n\n" + "\n\n".join(c["text"].replace("{}", c["secret"]) for c in CASES) + "\n")
    return names


def seen_in(text):
    return [s for s in SECRETS if s in text]


def seen_beneath(d, given):
    """Everything in the daemon's home: skills, jobs, caches, logs; but not what was given."""
    found = []
    for folder, _, files in os.walk(d.home):
        for name in files:
            if name not in given:
                with open(os.path.join(folder, name), "rb") as f:
                    found += [(name, s) for s in seen_in(f.read().decode(errors="replace"))]
    return found


def job_of(d, **params):
    """As a job, so that it is stored."""
    answer = d.ask("skill/generate", params)["result"]
    while answer.get("state") in ("queued", "running"):
        answer = d.ask("job/status", {"job": answer["job"], "wait_s": 20})["result"]
    return answer


def builtin(t, d, given):
    saved = 0
    for name in given[:-1]:
        r = job_of(d, traces=[name], teacher="builtin", name="skill-" + name[:-5])
        assert r["state"] == "succeeded", r
        saved += r["result"]["outcome"] == "saved"
        assert not seen_in(json.dumps(r)), (name, seen_in(json.dumps(r)))
    r = job_of(d, traces=given[:-1], documents=["notes.md"], task="Deploy; the password is %s." % SECRETS[0],
               examples=["docker login -u me -p " + SECRETS[0]], teacher="builtin", name="everything")
    assert r["result"]["outcome"] == "saved" and saved >= len(given) // 2, (saved, r)
    text = open(d.skills + "/everything/SKILL.md").read()
    assert "docker login" in text and "<secret>" in text, text  # the lesson stays readable


def model(t, d, given):
    t.model.reset()
    r = job_of(d, traces=given[:-1], documents=["notes.md"], teacher=t.teacher("good"), name="zip-tests", tests=8)
    assert r["result"]["outcome"] == "saved", r
    r = job_of(d, traces=given[:4], documents=["notes.md"], teacher=t.teacher("leaks"), name="leaks", tests=0)
    assert r["result"]["outcome"] == "saved" and r["result"]["teacher"]["drafts"] == 2, r
    r = job_of(d, traces=given[:4], teacher=t.teacher("stubborn"), name="stubborn", tests=0)
    assert r["state"] == "failed" and "SKILL.md, line 8" in r["error"]["message"], r
    r = job_of(d, traces=given[:4], teacher=t.teacher("badtests"), name="badtests", tests=8)
    assert LEAKED not in json.dumps(r) + open(d.skills + "/badtests/skill_meta.json").read(), r
    bodies = json.dumps(t.bodies())
    assert t.model.stats()["requests"] >= 5 and not seen_in(bodies) and LEAKED not in bodies, seen_in(bodies)
    assert not os.path.exists(d.skills + "/stubborn")


def host(t, d, given):
    r = d.ask("skill/generate", {"traces": given[:-1], "documents": ["notes.md"], "teacher": "host", "name": "hosted", "wait": True})
    order = r["result"]["work_order"]
    assert not seen_in(json.dumps(r)), seen_in(json.dumps(r))
    job = r["result"]["job"]
    draft = SKILL.replace("zip-tests", "hosted") + "\nThen " + SECRETS[0] + " opens it.\n"
    proof = d.ask("skill/generate", {"job": job, "draft": SKILL, "wait": True})["result"]
    assert "prove it" in proof["work_order"]["instructions"] and not seen_in(json.dumps(proof)), proof
    r = d.ask("skill/generate", {"job": job, "draft": draft, "wait": True})["result"]
    assert r["state"] == "input_required" and "line 10" in r["work_order"]["instructions"], r
    assert not seen_in(json.dumps(r)) and not os.path.exists(d.skills + "/hosted"), order["format"]
    r = d.ask("skill/generate", {"job": job, "draft": SKILL.replace("zip-tests", "hosted"), "tests": [], "wait": True})
    assert r["result"].get("outcome") == "saved", r


LEAKED = "Zq9-teacher-Pw7x"  # the scripted teacher's own, which its cached answer holds
LEAK = SKILL.replace("Run `make check`, which runs pytest, first [t1 e4].", "Run `docker login -u me -p %s`." % LEAKED)
LEAKY = {"tests": [{"input": "Log in with docker login -u me -p %s%d. Which command?" % (LEAKED, i),
                    "checks": [{"kind": "contains", "value": "docker login %d" % i}]} for i in range(8)]}


def main(program):
    rules = sum([rule("good"), rule("leaks", drafts=[LEAK, SKILL.replace("zip-tests", "leaks")]), rule("stubborn", LEAK),
                 rule("badtests", SKILL.replace("zip-tests", "badtests"), batches=[LEAKY, LEAKY, {"tests": []}])], [])
    t, tap = Teachers(program, rules), Tap()
    d = t.daemon()
    given = write_traces(d) + ["notes.md"]
    tap.run("the builtin teacher keeps none of %d" % len(CASES), lambda: builtin(t, d, given))
    tap.run("a model is sent none and saves none", lambda: model(t, d, given))
    tap.run("the host is sent none and saves none", lambda: host(t, d, given))

    def nowhere():
        found = seen_beneath(d, given)
        assert os.path.exists(d.home + "/state/upskilld/jobs.db") and not found, found
    tap.run("nor does a file, a job or a log hold one", nowhere)
    d.close()
    t.close()
    return tap.end()


sys.exit(main(os.path.abspath(sys.argv[1])))
