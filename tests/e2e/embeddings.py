#!/usr/bin/env python3
"""skill/find with an endpoint for embeddings, or with a namer: what it is asked, what that changes, and what happens without it.

usage: embeddings.py UPSKILLD

The vectors are scripted: they prove how they are used, not how good a model's are.
"""
import json, os, shutil, sys, time

import scratch
from evaluate_support import Daemon, KEY, Model, Tap

SKILLS = {"bread-baking": "Bakes loaves of bread at home, step by step. Use for dough and ovens.",
          "log-reading": "Reads server logs of a home step by step. Use for errors in ovens of data.",
          "home-network": "Sets up the network of a home, step by step."}
TASK = "something for my home, step by step"
# The task and the skill for networks share a place; no other text has it.
VECTORS = [["something for", "home-network"], ["bread", "log"]]
# Beside sixty others a skill that shares neither a word nor a meaning with its task.
MANY = dict({"skill-%02d" % i: "Folds paper figure number %d. Use for folding." % i for i in range(60)},
            **{"qvx-zrt": "Wjk plm hbt."})
UNSAID = "purchase tomatoes"
CONFIG = """
embeddings: %s
models:
  near: {api: openai, base_url: "%s", model: tiny, key_env: NEAR_KEY}
  slow: {api: openai, base_url: "%s", model: slow}
  short: {api: openai, base_url: "%s", model: short}
  picky: {api: openai, base_url: "%s", model: picky}
  broken: {api: openai, base_url: "%s", model: down}
  wrong: {api: anthropic, base_url: "%s", model: tiny}
"""


def start(program, use, model, skills=SKILLS, home=None):
    config = CONFIG % ((use,) + (model.url,) * 6) if use else ""
    daemon = Daemon(program, home=home, config=config, env={"NEAR_KEY": KEY})
    for name, description in skills.items():
        folder = "%s/work/skills/%s" % (daemon.home, name)
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/SKILL.md", "w") as f:
            f.write("---\nname: %s\ndescription: %s\n---\n# %s\n\nDo it.\n" % (name, description, name))
    return daemon


def with_daemon(program, use, run, skills=SKILLS, vectors=VECTORS):
    model = Model(vectors=vectors)
    daemon = start(program, use, model, skills)
    try:
        run(daemon, model)
        assert daemon.close() == 0, daemon.said
    finally:
        model.close()


def find(daemon, task=TASK):
    return daemon.ask("skill/find", {"task": task, "scopes": ["project"]})["result"]


def order(result):
    return [m["name"] for m in result["matches"] + result["nearest"]]


def scores(result):
    return {m["name"]: m["score"] for m in result["matches"] + result["nearest"]}


def asks_for_the_task_and_every_skill_once(program):
    def run(daemon, model):
        result = find(daemon)
        assert "problem" not in result, result
        bodies = model.get("/requests")
        assert all(set(b) == {"model", "input"} and b["model"] == "tiny" for b in bodies), bodies
        texts = sorted(b["input"] for b in bodies if "h100-cuda-kernels" not in b["input"])
        assert texts == sorted([TASK] + ["%s: %s" % pair for pair in SKILLS.items()]), texts
        assert "authorization" in model.stats()["last_headers"]
        assert KEY not in repr(result)
        find(daemon)
        assert len(model.get("/requests")) == len(bodies), "all is kept"
        find(daemon, "a loaf of bread")
        assert len(model.get("/requests")) == len(bodies) + 1, "only the new task is asked for"
    with_daemon(program, "near", run)


def a_model_is_told_which_text_is_which(program):
    def run(daemon, model):
        find(daemon)
        texts = [b["input"] for b in model.get("/requests")]
        assert "query: " + TASK in texts, texts
        assert all(t.startswith("text: ") for t in texts if t != "query: " + TASK), texts
    with_daemon(program, 'near\nembeddings_query_prefix: "query: "\nembeddings_text_prefix: "text: "', run)


def what_no_word_finds_is_found(program):
    def without(daemon, model):
        result = find(daemon, UNSAID)
        assert "qvx-zrt" not in order(result), result

    def near(daemon, model):
        result = find(daemon, UNSAID)
        assert order(result)[0] == "qvx-zrt", result
    with_daemon(program, None, without, MANY)
    with_daemon(program, "near", near, MANY, [["tomatoes", "qvx"]])


def a_first_look_that_takes_long_is_told_and_goes_on(program):
    def run(daemon, model):
        began = time.monotonic()
        result = find(daemon)
        assert "try again later" in result["problem"], result
        waited = time.monotonic() - began
        assert waited > 9, waited
        began, before = time.monotonic(), len(model.get("/requests"))
        result = find(daemon, "another task")
        assert "try again later" in result["problem"] and time.monotonic() - began < waited / 2, result
        deadline = time.monotonic() + 60
        while len(model.get("/requests")) < before + 3:
            assert time.monotonic() < deadline, "it stopped"
            time.sleep(0.2)
    with_daemon(program, "slow", run, MANY)


def what_stands_out_moves_up(program):
    found = {}

    def without(daemon, model):
        found.update(scores(find(daemon)))
        assert not model.get("/requests")

    def near(daemon, model):
        now = scores(find(daemon))
        assert now["home-network"] > found["home-network"], (found, now)
        assert all(now[n] < found[n] for n in now if n != "home-network"), (found, now)
    with_daemon(program, None, without)
    with_daemon(program, "near", near)


def an_endpoint_that_fails_is_told_and_words_decide(program):
    found = {}

    def without(daemon, model):
        found["words"] = find(daemon)

    def failing(daemon, model):
        result = find(daemon)
        assert "no embeddings here" in result.pop("problem"), result
        assert order(result) == order(found["words"]) and scores(result) == scores(found["words"])

    def wrong(daemon, model):
        result = find(daemon)
        assert "has no embeddings" in result["problem"], result
        assert not model.get("/requests")
    with_daemon(program, None, without)
    with_daemon(program, "broken", failing)
    with_daemon(program, "wrong", wrong)


def a_text_too_long_for_the_model_is_asked_in_part(program):
    long = "Cuts glass. Use for %s." % ("panes, bottles and mirrors of every size, " * 14)
    skills = dict(MANY, **{"glass-cutting": long})

    def run(daemon, model):
        result = find(daemon, UNSAID + " " + "and then some more of it " * 30)
        assert "problem" not in result, result
        assert order(result)[0] == "qvx-zrt", result
        texts = [b["input"] for b in model.get("/requests")]
        glass = [t for t in texts if t.startswith("glass-cutting: ")]
        assert len(glass[0]) > 600 and len(glass[-1]) <= 200 and glass[0].startswith(glass[-1]), glass
    with_daemon(program, "short", run, skills, [["tomatoes", "qvx"]])


def a_text_that_is_refused_costs_no_other_its_vector(program):
    skills = dict(MANY, **{"no-reading": "Folds unreadable figures."})

    def run(daemon, model):
        for _ in range(2):
            result = find(daemon, UNSAID)
            assert order(result)[0] == "qvx-zrt", result
            assert "refused 1 skill" in result["problem"] and "this text is refused" in result["problem"], result
        asked = [b["input"] for b in model.get("/requests")].count("no-reading: Folds unreadable figures.")
        assert asked == 1, asked
        result = find(daemon, "unreadable tomatoes")
        assert "were not used: " in result["problem"] and "this text is refused" in result["problem"], result
    with_daemon(program, "picky", run, skills, [["tomatoes", "qvx"]])


def another_model_under_the_same_name_is_told(program):
    """Whether its vectors are as long as the former's or not: those kept from before would compare with nothing."""
    model, home = Model(vectors=VECTORS), scratch.folder("embeddings-")
    others = [["log", "h100"], ["something for", "network"]], VECTORS + [["home"]]
    try:
        for vectors in (VECTORS, *others, VECTORS):
            model.post("/vectors", vectors)
            daemon = start(program, "near", model, home=home)
            for task in (TASK, "a loaf of bread"):
                problem = find(daemon, task).get("problem", "")
                assert ("serves another model now" in problem) == (vectors in others), (vectors, problem)
            assert daemon.close() == 0, daemon.said
    finally:
        model.close()
        shutil.rmtree(home, ignore_errors=True)


NAMER = """
namer: %s
models:
  calls: {api: openai, base_url: "%s", model: calls}
  broken: {api: openai, base_url: "http://127.0.0.1:9/v1", model: calls}
  silent: {api: openai, base_url: "%s", model: silent}
"""
UNNAMED = "why did our box fall over last night"
RULES = [{"when": {"model": "^calls$"}, "answer": "Let me see.\n\nreading server logs, errors of ovens\u202e\n"},
         {"when": {"model": "^silent$"}, "do": "never"}]


def with_namer(program, use, run):
    model = Model(rules=RULES)
    daemon = Daemon(program, config=NAMER % (use, model.url, model.url))
    for name, description in SKILLS.items():
        os.makedirs("%s/work/skills/%s" % (daemon.home, name))
        with open("%s/work/skills/%s/SKILL.md" % (daemon.home, name), "w") as f:
            f.write("---\nname: %s\ndescription: %s\n---\n# %s\n\nDo it.\n" % (name, description, name))
    try:
        run(daemon, model)
        assert daemon.close() == 0, daemon.said
    finally:
        model.close()


def a_namer_is_asked_where_no_match_is_sure(program):
    def run(daemon, model):
        result = find(daemon, UNNAMED)
        assert result["names"] == "reading server logs, errors of ovens" and order(result)[0] == "log-reading", result
        assert not result["unsure"] and "problem" not in result, result
        (body,) = model.get("/requests")
        assert [m["role"] for m in body["messages"]] == ["system", "user"] and body["messages"][1]["content"] == UNNAMED, body
        assert find(daemon, UNNAMED) == result and len(model.get("/requests")) == 1, "the answer is kept"
        sure = find(daemon, "read server logs: log reading, errors")
        assert "names" not in sure and not sure["unsure"] and len(model.get("/requests")) == 1, sure
        told = daemon.ask("skill/find", {"task": UNNAMED, "scopes": ["project"]})["result"]
        assert told == result
    with_namer(program, "calls", run)


def without_the_namers_answer_words_decide(program):
    def run(daemon, model):
        result = find(daemon, UNNAMED)
        assert "the namer was not used" in result["problem"] and "names" not in result and result["unsure"], result
    with_namer(program, "broken", run)
    with_namer(program, "nobody", run)


def who_waits_for_a_namer_can_go(program):
    def run(daemon, model):
        number = daemon.send("skill/find", {"task": UNNAMED, "scopes": ["project"]})
        deadline = time.time() + 20
        while model.stats()["requests"] == 0 and time.time() < deadline:
            time.sleep(0.02)
        assert model.stats()["requests"] == 1
        assert daemon.ask("daemon/status")["result"], "others are answered meanwhile"
        daemon.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}}).encode() + b"\n")
        daemon.process.stdin.flush()
        assert "error" in daemon.receive(number)
        daemon.send("skill/find", {"task": UNNAMED + " again", "scopes": ["project"]})  # and the daemon ends while this one waits
    with_namer(program, "silent", run)


def main():
    tap, program = Tap(), os.path.abspath(sys.argv[1])
    for test in (asks_for_the_task_and_every_skill_once, a_model_is_told_which_text_is_which,
                 what_stands_out_moves_up, what_no_word_finds_is_found,
                 a_first_look_that_takes_long_is_told_and_goes_on,
                 an_endpoint_that_fails_is_told_and_words_decide,
                 a_text_too_long_for_the_model_is_asked_in_part,
                 a_text_that_is_refused_costs_no_other_its_vector,
                 another_model_under_the_same_name_is_told,
                 a_namer_is_asked_where_no_match_is_sure, without_the_namers_answer_words_decide, who_waits_for_a_namer_can_go):
        tap.run(test.__name__.replace("_", " "), test, program)
    return tap.end()


sys.exit(main())
