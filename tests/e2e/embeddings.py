#!/usr/bin/env python3
"""skill/find with an endpoint for embeddings: what it is asked, what its vectors change, and what happens without it.

usage: embeddings.py UPSKILLD

The vectors are scripted: they prove how they are used, not how good a model's are.
"""
import os, sys

from evaluate_support import Daemon, KEY, Model, Tap

SKILLS = {"bread-baking": "Bakes loaves of bread at home, step by step. Use for dough and ovens.",
          "log-reading": "Reads server logs of a home step by step. Use for errors in ovens of data.",
          "home-network": "Sets up the network of a home, step by step."}
TASK = "something for my home, step by step"
# The task and the skill for networks share a place; no other text has it.
VECTORS = [["something for", "home-network"], ["bread", "log"]]
CONFIG = """
embeddings: %s
models:
  near: {api: openai, base_url: "%s", model: tiny, key_env: NEAR_KEY}
  broken: {api: openai, base_url: "%s", model: down}
  wrong: {api: anthropic, base_url: "%s", model: tiny}
"""


def with_daemon(program, use, run, home=None):
    model = Model(vectors=VECTORS)
    config = CONFIG % ((use,) + (model.url,) * 3) if use else ""
    daemon = Daemon(program, home=home, config=config, env={"NEAR_KEY": KEY})
    for name, description in SKILLS.items():
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


def asks_for_the_task_and_what_the_words_found(program):
    def run(daemon, model):
        result = find(daemon)
        assert "problem" not in result, result
        bodies = model.get("/requests")
        assert all(set(b) == {"model", "input"} and b["model"] == "tiny" for b in bodies), bodies
        texts = sorted(b["input"] for b in bodies)
        assert texts == sorted([TASK] + ["%s: %s" % pair for pair in SKILLS.items()]), texts
        assert "authorization" in model.stats()["last_headers"]
        assert KEY not in repr(result)
        find(daemon)
        assert len(model.get("/requests")) == len(bodies), "all is kept"
        find(daemon, "a loaf of bread")
        assert len(model.get("/requests")) == len(bodies) + 1, "only the new task is asked for"
    with_daemon(program, "near", run)


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
    for test in (asks_for_the_task_and_what_the_words_found, what_stands_out_moves_up,
                 an_endpoint_that_fails_is_told_and_words_decide):
        tap.run(test.__name__.replace("_", " "), test, program)
    return tap.end()


sys.exit(main())
