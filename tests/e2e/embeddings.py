#!/usr/bin/env python3
"""skill/find with an endpoint for embeddings: what it is asked, what its vectors change, and what happens without it.

usage: embeddings.py UPSKILLD

The vectors are scripted: they prove how they are used, not how good a model's are.
"""
import os, sys, time

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
  broken: {api: openai, base_url: "%s", model: down}
  wrong: {api: anthropic, base_url: "%s", model: tiny}
"""


def with_daemon(program, use, run, skills=SKILLS, vectors=VECTORS):
    model = Model(vectors=vectors)
    config = CONFIG % ((use,) + (model.url,) * 4) if use else ""
    daemon = Daemon(program, config=config, env={"NEAR_KEY": KEY})
    for name, description in skills.items():
        folder = "%s/work/skills/%s" % (daemon.home, name)
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/SKILL.md", "w") as f:
            f.write("---\nname: %s\ndescription: %s\n---\n# %s\n\nDo it.\n" % (name, description, name))
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


def main():
    tap, program = Tap(), os.path.abspath(sys.argv[1])
    for test in (asks_for_the_task_and_every_skill_once, a_model_is_told_which_text_is_which,
                 what_stands_out_moves_up, what_no_word_finds_is_found,
                 a_first_look_that_takes_long_is_told_and_goes_on,
                 an_endpoint_that_fails_is_told_and_words_decide):
        tap.run(test.__name__.replace("_", " "), test, program)
    return tap.end()


sys.exit(main())
