#!/usr/bin/env python3
"""The bundled skill, evaluated on a real model: SmolLM2-135M behind llama.cpp's server, both local.

usage: real_model.py BUILD_FOLDER     (exit status 77: they could not be installed)
Prints the verdict, whatever it is, and checks only that the evaluation is sound: every question was
answered or its record says why, the skill reached the model, usage was counted, and a second
evaluation asks nothing. The model reads 8,192 tokens, less than the whole skill: SKILL.md and one
reference (occupancy) are measured, on eight short questions (questions.json).
"""
import json, os, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
BUNDLED = os.path.join(HERE, "..", "..", "skills", "bundled", "h100-cuda-kernels")
MINUTES = 8


def start_server():
    server = subprocess.Popen([sys.executable, HERE + "/serve.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    return server, server.stdout.readline().strip()


def make_home(url):
    home = os.path.realpath(tempfile.mkdtemp(prefix="real-model-"))
    skill = home + "/h100-cuda-kernels"
    os.makedirs(skill + "/references")
    shutil.copy(BUNDLED + "/SKILL.md", skill)
    shutil.copy(BUNDLED + "/references/occupancy.md", skill + "/references")
    shutil.copy(HERE + "/questions.json", home)
    os.makedirs(home + "/config/upskilld")
    with open(home + "/config/upskilld/config.yaml", "w") as f:
        json.dump({"models": {"smollm2-135m": {"api": "openai", "base_url": url, "model": "smollm2",
                                               "max_tokens": 40}}}, f)
    return home


def evaluate(home, *more):
    env = dict(os.environ, XDG_STATE_HOME=home + "/state", XDG_CONFIG_HOME=home + "/config")
    done = subprocess.run([BUILD + "/clients/ctl/upskillctl", "skill", "evaluate", "./h100-cuda-kernels", "--students",
                           "smollm2-135m", "--tests", "questions.json", "--runs", "1", "--concurrency", "2",
                           "--budget", "minutes=%d" % MINUTES, *more], cwd=home, env=env, stdout=subprocess.PIPE,
                          text=True, timeout=60 * MINUTES + 120)
    return done.returncode, done.stdout


def records(result, home):
    with open("%s/state/upskilld/runs/%s/cells.jsonl" % (home, result["run"])) as f:
        return [json.loads(line) for line in f]


def check(result, home):
    """What is not sound."""
    student = result["students"][0]
    cells = records(result, home)
    silent = [c["test"] for c in cells if c["outcome"] not in ("passed", "failed") and not c.get("error")]
    unsaid = student["error"] if "error" in student else None
    yield len(cells) == 16, "16 cells are on record: %d" % len(cells)
    yield not silent or unsaid, "every question was answered or says why: %s" % silent
    yield student["injection"]["ok"] is True, "the skill reached the model: %s" % student["injection"]
    for arm in student["arms"]:
        yield arm["tokens"]["input"] > 0 and arm["tokens"]["output"] > 0, "%s counts tokens: %s" % (
            arm["name"], arm["tokens"])
    yield result["verdict"] in ("helps", "hurts", "no_evidence", "not_measurable"), result["verdict"]


def check_again(result, again, home):
    """Only whole answers are kept: those that were cut at their length are asked for again."""
    cut = sum(c.get("stop_reason") in ("length", "max_tokens", "truncated") for c in records(result, home))
    asked = again["provenance"]["requests"]
    return asked <= cut or result["ended_by"] != "complete", "a second evaluation asks nothing but %d answers that " \
        "were cut: %d" % (cut, asked)


def main():
    server, url = start_server()
    if not url:
        print("skipped: llama.cpp's server or its model could not be installed")
        return 77
    home = make_home(url)
    try:
        begun = time.monotonic()
        code, text = evaluate(home, "--json")
        took = time.monotonic() - begun
        if code == 2:
            print("it could not be asked: " + text)
            return 1
        result = json.loads(text)
        print(evaluate(home)[1])
        again = json.loads(evaluate(home, "--json")[1])
        checks = list(check(result, home)) + [check_again(result, again, home)]
        for good, what in checks:
            print("%s  %s" % ("ok    " if good else "FAILED", what))
        print("%.0f s, %d requests" % (took, result["provenance"]["requests"]))
        return 0 if all(good for good, _ in checks) else 1
    finally:
        server.stdin.close()
        server.wait()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
