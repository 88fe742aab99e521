#!/usr/bin/env python3
"""skill/evaluate against a scripted model: verdicts, errors, budgets, kills, records.

usage: evaluate.py UPSKILLD [NAME …]   (TAP on standard output)
"""
import glob, json, os, resource, shutil, signal, subprocess, sys, time

from evaluate_support import KEY, Daemon, Model, Tap, arm, check_shape, make_skill, make_tests, wait_for

PROGRAM = os.path.abspath(sys.argv[1])
SECRET = "secret=marigold:correct:wrong"


class Room:
    """A daemon, a model and a skill."""

    def __init__(self, rules=None, **more):
        self.model = Model(rules)
        self.daemon = Daemon(PROGRAM, **more)
        self.skill = make_skill(self.daemon)

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        code = self.daemon.close()
        self.model.close()
        assert code in (0, None) or problem[0], "the daemon ended with %s: %s" % (code, self.daemon.said)

    def evaluate(self, behaviour=SECRET, **params):
        params = dict({"path": self.skill, "students": [self.model.student(behaviour)],
                       "tests": make_tests(12), "runs": 2}, **params)
        return self.daemon.evaluate(**params)


def helps():
    with Room() as r:
        result = r.evaluate(arms=["baseline", "skill", "placebo"])
        check_shape(result)
        student = result["students"][0]
        assert result["verdict"] == student["verdict"] == "helps", result["sentence"]
        assert student["lift"]["estimate"] == 1 and student["lift"]["n_tests"] == 12
        assert arm(student, "baseline")["passed"] == 0 and arm(student, "skill")["passed"] == 24
        injection = student["injection"]
        assert injection["ok"] and injection["seen_tokens"] >= 0.5 * injection["expected_tokens"] > 100
        assert result["provenance"]["requests"] == 72 == r.model.stats()["requests"]
        lifts = {(l["arm"], l["vs"]): l for l in student["lifts"]}
        assert lifts[("placebo", "baseline")]["estimate"] == 0 and lifts[("skill", "placebo")]["estimate"] == 1
        sizes = {p["arm"]: p["added_tokens"] for p in result["provenance"]["prompts"]}
        assert abs(sizes["placebo"] - sizes["skill"]) < 0.15 * sizes["skill"], sizes
        assert {m["id"] for m in result["marks"]} == set()
        for test in student["tests"]:
            assert test["pairs"] == [{"run": n, "baseline": False, "skill": True, "placebo": False} for n in (1, 2)]
        folder = glob.glob(r.daemon.home + "/state/upskilld/runs/" + result["run"])[0]
        cells = [json.loads(line) for line in open(folder + "/cells.jsonl")]
        assert len(cells) == 72 and {c["outcome"] for c in cells} == {"passed", "failed"}
        assert json.load(open(folder + "/evaluation.json"))["verdict"] == "helps"
        systems = {b["messages"][0]["content"] for b in r.model.get("/requests")}
        assert len(systems) == 3 and sum("marigold" in s for s in systems) == 1


def forty_to_eighty_five():
    """Draws by hash of the request: the lift must be the one that the pairs show."""
    with Room() as r:
        result = r.evaluate("secretcoin=marigold:0.85:0.4:7", tests=make_tests(40, "yes"), runs=1)
        student = result["students"][0]
        rates = [sum(p[a] for t in student["tests"] for p in t["pairs"]) / 40 for a in ("baseline", "skill")]
        assert abs(arm(student, "baseline")["pass_rate"] - rates[0]) < 1e-9
        assert abs(student["lift"]["estimate"] - (rates[1] - rates[0])) < 1e-9
        assert 0.2 < rates[0] < 0.6 and 0.7 < rates[1] < 1, rates
        assert result["verdict"] == "helps" and student["lift"]["low"] > 0, result["sentence"]
        return "%.0f %% -> %.0f %%, p = %.4f" % (100 * rates[0], 100 * rates[1], student["lift"]["p"])


def same_twice():
    """A/A asks twice (the second arm is not served from the first one's answers)."""
    with Room() as r:
        result = r.evaluate("coin=0.5:fresh:correct:wrong", tests=make_tests(20), runs=2, aa=True)
        assert result["aa"] and "noise" in result["sentence"], result["sentence"]
        assert result["provenance"]["requests"] == 80 == r.model.stats()["requests"], result["provenance"]
        assert result["verdict"] in ("no_evidence", "helps", "hurts")
        steady = r.evaluate("coin=0.5:5:correct:wrong", tests=make_tests(20), aa=True, fresh=True)
        assert steady["verdict"] == "no_evidence" and steady["students"][0]["lift"]["estimate"] == 0


def false_alarms():
    """20 A/A evaluations of a fair coin: a 5 % test says something in few of them."""
    alarms = 0
    with Room() as r:
        for seed in range(20):
            result = r.evaluate("coin=0.5:x%d:correct:wrong" % seed, tests=make_tests(12, id_seed=seed), runs=1,
                                seed=seed, students=[r.model.student("coin=0.5:fresh:correct:wrong", "s%d" % seed)],
                                aa=True)
            alarms += result["verdict"] in ("helps", "hurts")
    assert alarms <= 4, alarms  # P(more than 4 of 20 at 5 %) = 0.3 %
    return "%d of 20" % alarms


def hurts():
    with Room() as r:
        result = r.evaluate("secret=marigold:wrong:correct")
        assert result["verdict"] == "hurts" and result["students"][0]["lift"]["estimate"] == -1


def ceiling_and_floor():
    with Room() as r:
        high = r.evaluate("answer=correct")
        assert high["verdict"] == "not_measurable"
        assert {m["id"] for m in high["marks"] if "always_passes" in m["marks"]} == {"q%02d" % i for i in range(12)}
        low = r.evaluate("answer=wrong")
        assert low["verdict"] == "not_measurable"
        assert all("never_passes" in m["marks"] for m in low["marks"]) and len(low["marks"]) == 12


def few_tests():
    with Room() as r:
        result = r.evaluate(tests=make_tests(5))
        assert result["verdict"] == "no_evidence" and "6" in result["sentence"], result["sentence"]


def mixed_students():
    with Room() as r:
        both = [r.model.student(SECRET, "a"), r.model.student("secret=marigold:wrong:correct", "b")]
        result = r.evaluate(students=both)
        assert [s["verdict"] for s in result["students"]] == ["helps", "hurts"]
        assert result["verdict"] == "no_evidence" and "Mixed" in result["sentence"]
        assert all(s["lift"]["p_adjusted"] >= s["lift"]["p"] for s in result["students"])
        one = r.evaluate(students=[r.model.student(SECRET, "a"), r.model.student("answer=correct", "c")])
        assert one["verdict"] == "helps"
        twice = r.evaluate(students=[r.model.student(SECRET, "a")] * 2)
        assert "twice" in twice["message"], twice


def storm():
    """30 of the requests get 429, others 500: nothing errs, nothing counts against a student."""
    with Room() as r:
        result = r.evaluate("429x30=0.01+" + SECRET)
        student = result["students"][0]
        assert result["verdict"] == "helps", result["sentence"]
        assert all(a["errored"] == 0 for a in student["arms"])
        assert result["provenance"]["requests"] == r.model.stats()["requests"] > 48
        return "%d requests for 48 answers" % result["provenance"]["requests"]


def errors_are_no_failures():
    rules = [{"when": {"user": "number 3:"}, "do": "422"},
             {"when": {"user": "number 7:"}, "do": "delay=200+403"},
             {"when": {"user": "number 5:", "system": "marigold"}, "do": "refuse"}]
    with Room(rules) as r:
        result = r.evaluate()
        student = result["students"][0]
        assert arm(student, "baseline")["errored"] == 4 and arm(student, "skill")["errored"] == 4
        assert arm(student, "skill")["refused"] == 2 and arm(student, "baseline")["refused"] == 0
        assert student["lift"]["n_tests"] == 9 and student["lift"]["estimate"] == 1
        assert result["verdict"] == "helps" and "errored" in result["sentence"] and "refused" in result["sentence"]
        pairs = {t["id"]: t["pairs"] for t in student["tests"]}
        assert pairs["q03"][0] == {"run": 1, "baseline": None, "skill": None}
        assert pairs["q05"][0] == {"run": 1, "baseline": False, "skill": None}


def errored_ones_are_asked_again():
    """A fault that outlives a call's own retries is gone at the second attempt, at the end."""
    with Room([{"when": {"user": "number 4:"}, "do": ["garbage"] * 24 + ["answer=correct"]}]) as r:
        result = r.evaluate("answer=correct", runs=1)
        student = result["students"][0]
        record = r.daemon.home + "/state/upskilld/runs/" + result["run"] + "/cells.jsonl"
        cells = [json.loads(line) for line in open(record)]
        assert len(cells) == 24, len(cells)
        again = [c for c in cells if c["test"] == "q04"]
        assert {c["attempts"] for c in again} == {2}, again
        return "errored at last: %d" % sum(a["errored"] for a in student["arms"])


def a_student_that_cannot_be_asked():
    with Room() as r:
        result = r.evaluate("badkey", tests=make_tests(100), runs=3)
        assert result["verdict"] == "no_evidence" and "could not be asked" in result["sentence"], result["sentence"]
        assert r.model.stats()["requests"] <= 128, r.model.stats()["requests"]
        gone = r.daemon.evaluate(path=r.skill, tests=make_tests(12), runs=1, students=[
            {"name": "nobody", "api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "x"}])
        assert gone["verdict"] == "no_evidence" and gone["students"][0]["error"], gone
        return "%d requests of 600" % r.model.stats()["requests"]


def never_injected():
    """The endpoint counts the same prompt in both arms."""
    with Room() as r:
        result = r.evaluate("usage=400+answer=correct")
        student = result["students"][0]
        assert student["injection"]["ok"] is False and student["injection"]["seen_tokens"] == 0, student["injection"]
        assert result["verdict"] == "no_evidence" and "never reached" in result["sentence"]
        silent = r.evaluate("nousage+" + SECRET)
        assert silent["students"][0]["injection"]["ok"] is None and silent["verdict"] == "helps"


def context_cut():
    with Room() as r:
        big = make_skill(r.daemon, "big", lines=2000)
        result = r.evaluate("cutcontext=600+" + SECRET, path=big, tests=make_tests(6), runs=1)
        student = result["students"][0]
        assert arm(student, "skill")["errored"] == 6, student["arms"]
        assert result["verdict"] == "no_evidence" and "OLLAMA_CONTEXT_LENGTH" in student["error"]["hint"], student
        assert r.model.stats()["requests"] == 12, "the cut ones are not asked again"


def judge_of_the_wrong_form():
    tests = make_tests(6)
    for test in tests:
        test["expected"]["judge"] = ["It is polite."]
    with Room() as r:
        result = r.evaluate("answer=correct", tests=tests, runs=1, judge=r.model.student("wrongschema", "j"))
        student = result["students"][0]
        assert all(a["errored"] == 6 and a["passed"] == 0 for a in student["arms"]), student["arms"]
        assert result["verdict"] == "no_evidence"
        assert "errored and do not count: the judge" in result["sentence"], result["sentence"]


def answers_cut_off():
    with Room() as r:
        result = r.evaluate("truncate", tests=make_tests(6), runs=1)
        assert "12 answers were cut off at their length limit" in result["sentence"], result["sentence"]
        silent = r.evaluate("never", tests=make_tests(6), runs=1, budget={"minutes": 0.03})
        assert silent["ended_by"] == "time" and 0 < silent["provenance"]["requests"] <= 12, silent["provenance"]
        busy = r.evaluate("429", tests=make_tests(6), runs=1, budget={"minutes": 0.03})
        assert "The last message was: " in busy["sentence"] and "HTTP 429" in busy["sentence"], busy["sentence"]


def one_arm_loses_answers():
    """What a pair lacks does not count, and the sentence says which arm lost it."""
    with Room([{"when": {"system": "marigold", "user": "number [123]:"}, "do": "refuse"},
               {"when": {"system": "marigold"}, "do": "answer=correct"}, {"when": {}, "do": "answer=wrong"}]) as r:
        result = r.evaluate("any", tests=make_tests(12), runs=1)
        assert "3 were refused (3 of them with the skill) and do not count." in result["sentence"], result["sentence"]
        assert result["verdict"] == "helps" and result["students"][0]["lift"]["n_tests"] == 9, result


def flooded():
    """Endless streams, faster than anybody reads: others are answered, and the time is kept."""
    with Room() as r:
        job = r.daemon.start(path=r.skill, students=[r.model.student("endlessping")], tests=make_tests(6), runs=1,
                             budget={"minutes": 0.03})
        answers = 0
        while r.daemon.ask("job/status", {"job": job})["result"]["state"] == "running":
            answers += 1
            time.sleep(0.01)
        assert answers >= 20, answers
        return "%d answers meanwhile" % answers


def killed_and_resumed():
    """After kill -9 a second daemon asks only what was not answered; a third one nothing."""
    with Room() as r:
        student = r.model.student("delay=150+" + SECRET)
        params = dict(path=r.skill, students=[student], tests=make_tests(40), runs=2, concurrency=8)
        r.daemon.start(**params)
        wait_for(lambda: r.model.stats()["answered"] >= 60)
        r.daemon.process.send_signal(signal.SIGKILL)
        r.daemon.process.wait()
        time.sleep(0.5)
        before = r.model.stats()
        lines = open(glob.glob(r.daemon.home + "/state/upskilld/runs/*/cells.jsonl")[0]).read().splitlines()
        kept = [json.loads(line) for line in lines]
        assert len(kept) >= 60 - 8, len(kept)
        second = Daemon(PROGRAM, home=r.daemon.home)
        result = second.evaluate(**params)
        assert result["verdict"] == "helps" and result["provenance"]["cache_hits"] >= len(kept), result["provenance"]
        after = r.model.stats()
        assert after["requests"] <= 160 + 8, (before, after)
        assert after["requests"] - before["requests"] == 160 - result["provenance"]["cache_hits"]
        second.close()
        third = Daemon(PROGRAM, home=r.daemon.home)
        again = third.evaluate(**params)
        assert again["provenance"]["requests"] == 0 and again["provenance"]["cache_hits"] == 160
        assert r.model.stats()["requests"] == after["requests"]
        assert [s["tests"] for s in again["students"]] == [s["tests"] for s in result["students"]]
        third.close()
        return "%d kept at the kill, %d asked again" % (len(kept), after["requests"] - before["requests"])


def cancelled():
    with Room([{"when": {}, "do": "slow=50", "answer": "word " * 2000}]) as r:
        job = r.daemon.start(path=r.skill, students=[r.model.student("any")], tests=make_tests(30))
        wait_for(lambda: r.model.stats()["in_flight"] >= 2)
        begun = time.monotonic()
        r.daemon.ask("job/cancel", {"job": job})
        state = r.daemon.ask("job/status", {"job": job, "wait_s": 10})["result"]["state"]
        ended = time.monotonic() - begun
        assert state == "cancelled", state
        wait_for(lambda: r.model.stats()["in_flight"] == 0, 5)
        closed = time.monotonic() - begun
        assert r.daemon.ask("skill/list")["result"]
        return "ended after %.0f ms, last connection seen closed after %.0f ms" % (1000 * ended, 1000 * closed)


def progress_and_partial():
    with Room() as r:
        job = r.daemon.start(path=r.skill, students=[r.model.student("delay=100+" + SECRET)], tests=make_tests(30),
                             runs=2, concurrency=4)
        seen = []

        def status():
            one = r.daemon.ask("job/status", {"job": job})["result"]
            if "partial" in one:
                seen.append((one["progress"]["done"], one["partial"]))
            return one["state"] == "succeeded" and one
        last = wait_for(status, 60)
        done = [d for d, _ in seen]
        assert len(set(done)) > 2 and done == sorted(done), done
        table = seen[len(seen) // 2][1]["students"]
        assert [(row["student"], row["arm"]) for row in table] == [("s", "baseline"), ("s", "skill")]
        assert all(set(row) >= {"done", "passed", "failed", "errored", "tokens", "cost", "eta_s"} for row in table)
        assert last["result"]["verdict"] == "helps"
        told = [n["params"].get("progress", {}).get("message", "") for n in r.daemon.notes]
        assert "120 answers" in told[0] and "estimated" in told[0], told[:3]
        return told[0]


def budgets():
    with Room() as r:
        tests = make_tests(40)
        small = r.evaluate(tests=tests, budget={"tokens": 1000})
        assert small["data"]["reason"] == "budget_too_small" and "6 tests" in small["message"], small
        part = r.evaluate("delay=30+" + SECRET, tests=tests, runs=3, budget={"tokens": 30000}, concurrency=4)
        student = part["students"][0]
        assert part["ended_by"] == "budget" and "ended early" in part["sentence"], part["sentence"]
        spent = sum(a["tokens"]["total"] for a in student["arms"])
        assert spent < 36000 and arm(student, "skill")["skipped"] > 0, spent
        assert part["verdict"] == "helps" and 6 <= student["lift"]["n_tests"] <= 40
        unpriced = r.evaluate(budget={"cost": 1})
        assert unpriced["data"]["path"] == "/budget/cost", unpriced
        slow = r.evaluate("delay=300+" + SECRET, tests=tests, runs=3, budget={"minutes": 0.05}, concurrency=8)
        assert slow["ended_by"] == "time" and slow["students"][0]["lift"]["n_tests"] >= 6, slow["sentence"]
        priced = dict(r.model.student(SECRET, "p"), price={"input": 1, "output": 5})
        paid = r.evaluate(students=[priced])
        cost = arm(paid["students"][0], "skill")["cost"]
        tokens = arm(paid["students"][0], "skill")["tokens"]
        assert abs(cost - (tokens["input"] + 5 * tokens["output"]) / 1e6) < 1e-9, (cost, tokens)
        return "%d of 30000 tokens" % spent


def no_key_in_any_file():
    """The key reaches the endpoint, which echoes it, and lies in no file afterwards."""
    model = Model()
    daemon = Daemon(PROGRAM, env={"GENERIC_API_KEY": KEY, "GENERIC_BASE_URL": model.url}, config="log_level: debug\n")
    skill = make_skill(daemon)
    for behaviour in ("echokey", "badkey", "echokeyhtml", SECRET):
        result = daemon.evaluate(path=skill, students=["generic.m:" + behaviour], tests=make_tests(6), runs=1,
                                 budget={"minutes": 0.2})
        assert KEY not in json.dumps(result)
        assert "authorization" in model.stats()["last_headers"], model.stats()["last_headers"]
    daemon.own, looked, found = False, 0, []
    daemon.close()
    for folder, _, files in os.walk(daemon.home):
        for name in files:
            looked += 1
            with open(os.path.join(folder, name), "rb") as f:
                if KEY.encode() in f.read():
                    found.append(os.path.join(folder, name))
    model.close()
    shutil.rmtree(daemon.home)
    assert not found and looked > 20, (looked, found)
    return "%d files" % looked


def reused_baseline():
    with Room() as r:
        first = r.evaluate()
        asked = r.model.stats()["requests"]
        make_skill(r.daemon, word="marigold and rue")
        second = r.evaluate(baseline_from=first["run"], fresh=True)
        assert r.model.stats()["requests"] - asked == 24, "the skill's arm alone"
        assert arm(second["students"][0], "baseline")["reused"] == 24 and second["verdict"] == "helps"
        other = r.evaluate(baseline_from=first["run"], tests=make_tests(13))
        assert other["data"]["path"] == "/baseline_from" and "other tests" in other["message"], other
        runs = r.evaluate(baseline_from=first["run"], runs=3)
        assert "runs" in runs["message"], runs
        none = r.evaluate(baseline_from="2020_01_01_00_00_00_000_00000000")
        assert none["data"]["path"] == "/baseline_from", none


def older_and_trace():
    with Room() as r:
        older = make_skill(r.daemon, "older", word="rue")
        trace = r.daemon.home + "/work/trace.txt"
        with open(trace, "w") as f:
            f.write("Once somebody said marigold.\n" * 5000)
        result = r.evaluate(previous=older, trace="trace.txt")
        student = result["students"][0]
        lifts = {(l["arm"], l["vs"]): l["estimate"] for l in student["lifts"]}
        assert lifts[("skill", "previous")] == 1 and lifts[("previous", "baseline")] == 0, lifts
        assert ("trace", "baseline") in lifts
        assert max(len(json.dumps(b)) for b in r.model.get("/requests")) < 60000, "the trace is cut"


def splits():
    tests = make_tests(9)
    for i, test in enumerate(tests):
        test["split"] = ("refine", "gate", "report")[i % 3]
    with Room() as r:
        plain = make_skill(r.daemon, "plain", meta={"metadata": {}, "tests": tests})
        refined = make_skill(r.daemon, "refined", meta={"metadata": {}, "tests": tests,
                                                        "provenance": {"refinement": {"rounds": 2}}})
        ids = lambda result: [t["id"] for t in result["students"][0]["tests"]]
        students = [r.model.student(SECRET)]
        ask = lambda **more: r.daemon.evaluate(students=students, runs=1, **more)
        assert len(ids(ask(path=plain))) == 9
        assert ids(ask(path=refined)) == ["q02", "q05", "q08"]
        assert ids(ask(path=refined, split="gate")) == ["q01", "q04", "q07"]
        assert len(ids(ask(path=refined, split="all"))) == 9
        got = r.daemon.ask("skill/get", {"path": plain})["result"]
        assert got["test_count"] == 9 and "tests" not in got, got.keys()
        assert len(r.daemon.ask("skill/get", {"path": plain, "tests": True})["result"]["tests"]) == 9
        none = ask(path=r.skill)
        assert "no tests" in none["message"], none


def two_at_once_and_a_skill_that_goes():
    with Room() as r:
        student = r.model.student("delay=100+" + SECRET)
        a, b = (r.daemon.start(path=r.skill, students=[student], tests=make_tests(n), runs=2, concurrency=8)
                for n in (20, 21))
        wait_for(lambda: r.model.stats()["answered"] > 5)
        shutil.rmtree(r.skill)
        results = []
        for job in (a, b):
            status = wait_for(lambda: (lambda s: s if s["state"] != "running" else None)(
                r.daemon.ask("job/status", {"job": job, "wait_s": 20})["result"]), 60)
            results.append(status["result"])
        assert [x["verdict"] for x in results] == ["helps", "helps"]
        assert [x["students"][0]["lift"]["n_tests"] for x in results] == [20, 21]
        assert results[0]["provenance"]["skill_digest"] == results[1]["provenance"]["skill_digest"]


def full_disk():
    """Files may not grow over 4 MiB, which the record would: a verdict all the same."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, 4 << 20))
    long = "x" * 60000
    with Room([{"when": {"system": "marigold"}, "do": "", "answer": "correct " + long},
               {"when": {}, "do": "", "answer": "wrong " + long}], before=limit) as r:
        result = r.evaluate("any", tests=make_tests(40))
        assert result.get("verdict") == "helps" and result["record_problem"], result
        assert "record" in result["sentence"], result["sentence"]
    with Room(env={"XDG_STATE_HOME": "/proc/none"}) as r:
        result = r.evaluate()
        assert result["verdict"] == "helps" and result["run"] is None and result["record_problem"], result
        assert "The record is incomplete: /proc/none" in result["sentence"], result["sentence"]
        return result["record_problem"]


def record_in_the_skill():
    with Room() as r:
        result = r.evaluate(record=True)
        meta = json.load(open(r.skill + "/skill_meta.json"))
        assert meta["evaluations"][-1]["run"] == result["run"], meta
        again = r.evaluate(record=True)
        assert again["provenance"]["skill_digest"] == result["provenance"]["skill_digest"], "a record changes no skill"
        got = r.daemon.ask("skill/get", {"path": r.skill})["result"]
        assert len(got["evaluations"]) == 2, got
        silent = r.evaluate(record=False)
        assert silent["run"] is None and len(json.load(open(r.skill + "/skill_meta.json"))["evaluations"]) == 2
        elsewhere = r.evaluate(runs_dir="results")
        assert os.path.exists(r.daemon.home + "/work/results/" + elsewhere["run"] + "/evaluation.json")


def configured_students():
    """default_students and judge of the configuration; an alias keeps its price."""
    model = Model()
    config = {"models": {"small": dict(model.student(SECRET), price={"input": 1, "output": 1}),
                         "strict": model.student("json={\"a\":1}", "j")},
              "default_students": ["small"], "judge": "strict"}
    for one in config["models"].values():
        del one["name"]
    daemon = Daemon(PROGRAM, config=json.dumps(config))
    result = daemon.evaluate(path=make_skill(daemon), tests=make_tests(6), runs=1)
    daemon.close()
    model.close()
    assert result["verdict"] == "helps" and result["students"][0]["model"] == "small", result
    assert arm(result["students"][0], "skill")["cost"] > 0


def on_a_terminal():
    """upskillctl draws it; a skill that was not seen to help is the answer no."""
    program = os.path.join(os.path.dirname(PROGRAM), "..", "clients", "ctl", "upskillctl")
    with Room() as r:
        with open(r.daemon.home + "/work/tests.json", "w") as f:
            json.dump(make_tests(8), f)
        env = {"PATH": os.environ["PATH"], "HOME": r.daemon.home, "XDG_STATE_HOME": r.daemon.home + "/state",
               "XDG_CACHE_HOME": r.daemon.home + "/cache2", "UPSKILLD": PROGRAM}
        for behaviour, code, words in ((SECRET, 0, ["helps: ", "baseline", "100 %", "run show"]),
                                       ("answer=correct", 1, ["not_measurable: ", "always_passes"])):
            done = subprocess.run([program, "skill", "evaluate", "skills/words", "--students",
                                   "generic.m:" + behaviour, "--base-url", r.model.url, "--tests", "tests.json",
                                   "--runs", "1", "--arms", "placebo"], cwd=r.daemon.home + "/work", env=env,
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
            assert all(word in done.stdout for word in words), done.stdout


def bad_requests():
    with Room() as r:
        student = r.model.student(SECRET)
        cases = [({"students": []}, "/students"), ({"students": ["nonsense"]}, "/students/0"),
                 ({"runs": 0}, "/runs"), ({"arms": ["other"]}, "/arms/0"), ({"arms": ["previous"]}, "/arms"),
                 ({"tests": [{"input": "x", "expected": {"wishes": 1}}]}, "/tests"), ({"mode": "other"}, "/mode"),
                 ({"students": [student], "mode": "installed"}, "/students/0"),
                 ({"students": [{"cli": "codex"}]}, "/students/0"), ({"aa": True, "arms": ["placebo"]}, "/aa"),
                 ({"budget": {"euros": 1}}, "/budget"), ({"nonsense": 1}, "")]
        for params, path in cases:
            error = r.evaluate(**params)
            assert error.get("code") == -32602, (params, error)
            assert error["data"].get("path", "").startswith(path), (params, error)
        for params in ({"trace": "/etc/passwd"}, {"path": "/etc"}, {"runs_dir": "/etc/x"}):
            assert r.evaluate(**params)["data"]["reason"] in ("outside_roots",), (params, r.evaluate(**params))
        missing = r.daemon.evaluate(skill="no-such-skill", students=[student])
        assert missing["data"]["reason"] == "unknown_skill", missing
        program = r.evaluate(students=[{"cli": "custom", "argv": ["sh"]}], mode="installed")
        assert program["data"]["reason"] == "untrusted", program
        keyless = r.daemon.evaluate(path=r.skill, tests=make_tests(6), students=["openai.gpt-x"])
        assert keyless["data"]["reason"] == "no_key" and "OPENAI_API_KEY" in keyless["message"], keyless
        huge = r.evaluate(tests=make_tests(1000), runs=50)
        assert "fewer" in huge["message"], huge
        assert r.model.stats()["requests"] == 0


def cancelled_at_any_moment():
    """From before anything is read to while the record is written; and the daemon ended so."""
    states = {}
    with Room() as r:
        student = r.model.student("delay=1+" + SECRET)
        for i in range(40):
            job = r.daemon.start(path=r.skill, students=[student], tests=make_tests(12), runs=1, fresh=True)
            time.sleep(0.003 * i)
            r.daemon.ask("job/cancel", {"job": job})
            state = r.daemon.ask("job/status", {"job": job, "wait_s": 10})["result"]["state"]
            assert state in ("cancelled", "succeeded"), state
            states[state] = states.get(state, 0) + 1
        for i in range(8):
            other = Daemon(PROGRAM, home=r.daemon.home)
            other.send("skill/evaluate", dict(path=r.skill, students=[student], tests=make_tests(12), fresh=True))
            time.sleep(0.02 * i)
            assert other.close() == 0, open(r.daemon.home + "/stderr").read()
    return str(states)


def through_mcp():
    """An agent's view: the tool, a job to poll, and a mistake that it can mend."""
    with Room(config="structured_content: always\n") as r:
        def call(name, **arguments):
            return r.daemon.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        r.daemon.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "t", "version": "1"}})
        with open(r.daemon.home + "/work/tests.json", "w") as f:
            json.dump(make_tests(8), f)
        ask = dict(skill="skills/words", tests="tests.json", base_url=r.model.url, runs=1)
        good = call("skill_evaluate", students=["generic.m:" + SECRET], **ask)
        assert not good.get("isError") and good["structuredContent"]["verdict"] == "helps", good
        assert "helps" in good["content"][0]["text"] and len(good["content"][0]["text"]) < 4000
        del ask["base_url"]
        bad = call("skill_evaluate", students=["m"], **ask)
        assert bad["isError"] and "anthropic" in bad["content"][0]["text"], bad


def ended_in_the_middle():
    """EOF while it runs: the daemon goes at once, its job is interrupted, no handle is left."""
    with Room() as r:
        job = r.daemon.start(path=r.skill, students=[r.model.student("delay=60000+answer=x")], tests=make_tests(30))
        wait_for(lambda: r.model.stats()["in_flight"] >= 2)
        begun = time.monotonic()
        r.daemon.process.stdin.close()
        assert r.daemon.process.wait(20) == 0, open(r.daemon.home + "/stderr").read()
        took = time.monotonic() - begun
        second = Daemon(PROGRAM, home=r.daemon.home)
        state = second.ask("job/status", {"job": job})["result"]["state"]
        second.close()
        assert state == "interrupted", state
        return "%.0f ms" % (1000 * took)


TESTS = [helps, forty_to_eighty_five, same_twice, false_alarms, hurts, ceiling_and_floor, few_tests,
         mixed_students, storm, errors_are_no_failures, errored_ones_are_asked_again,
         a_student_that_cannot_be_asked, never_injected, context_cut, judge_of_the_wrong_form, answers_cut_off,
         one_arm_loses_answers, flooded, killed_and_resumed, cancelled, progress_and_partial, budgets, no_key_in_any_file,
         reused_baseline, older_and_trace, splits, two_at_once_and_a_skill_that_goes, full_disk,
         record_in_the_skill, configured_students, on_a_terminal, bad_requests, cancelled_at_any_moment,
         through_mcp, ended_in_the_middle]
tap = Tap()
for test in TESTS:
    if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]:
        tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
