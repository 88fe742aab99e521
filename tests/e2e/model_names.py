#!/usr/bin/env python3
"""Bare names of models: looked up in the endpoints' own lists, or at the address that a call gives.

usage: model_names.py UPSKILLD
"""
import os, sys

from evaluate_support import Daemon, KEY, Model, Tap, make_skill, make_tests

ANTHROPIC = [{"id": "claude-haiku-4-5-20251001", "created_at": "2025-10-15T00:00:00Z"},
             {"id": "claude-haiku-5-5-20260801", "created_at": "2026-08-01T00:00:00Z"},
             {"id": "claude-opus-5-5", "created_at": "2026-09-01T00:00:00Z"}]
LOCAL = [{"id": "kimi-k3-instruct", "created": 5}, {"id": "kimi-k2", "created": 9}, {"id": "kimikaze", "created": 99},
         {"id": "my-opus", "created": 1}, {"id": "qwen3.5-4b", "created": 2}]


def with_models(program, run, anthropic=ANTHROPIC, local=LOCAL, env=None, config=""):
    one, other = Model(models=anthropic), Model(models=local)
    daemon = Daemon(program, config=config, env=env if env is not None else
                    {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": one.base, "GENERIC_BASE_URL": other.url})
    try:
        run(daemon, one, other)
        assert daemon.close() == 0, daemon.said
    finally:
        one.close()
        other.close()


def asked(daemon, **params):
    """Which model was asked, of those named; or the error."""
    folder = make_skill(daemon)
    result = daemon.evaluate(path=folder, tests=make_tests(1), runs=1, **params)
    return [s["model"] for s in result["students"]] if "students" in result else result


def name_is_the_newest_that_holds_it(program):
    def run(daemon, one, other):
        result = asked(daemon, students=["haiku"])
        assert one.stats()["last"]["model"] == "claude-haiku-5-5-20260801", (result, one.stats())
        asked(daemon, students=["kimi"])
        assert other.stats()["last"]["model"] == "kimi-k2", other.stats()
        asked(daemon, students=["qwen3.5-4b"])
        assert other.stats()["last"]["model"] == "qwen3.5-4b", other.stats()
        asked(daemon, students=["claude-haiku-4-5-20251001"])
        assert one.stats()["last"]["model"] == "claude-haiku-4-5-20251001", one.stats()
    with_models(program, run)


def configured_names_are_looked_up_too(program):
    def run(daemon, one, other):
        asked(daemon)
        assert other.stats()["last"]["model"] == "kimi-k2", other.stats()
    with_models(program, run, config="default_students: [kimi]\n")


def two_providers_are_told(program):
    def run(daemon, one, other):
        error = asked(daemon, students=["opus"])
        assert error["code"] == -32602 and error["data"]["path"] == "/students/0", error
        assert "claude-opus-5-5 of anthropic" in error["message"] and "my-opus of generic" in error["message"], error
        assert one.stats()["requests"] == other.stats()["requests"] == 0
    with_models(program, run)


def what_no_list_has_is_told_with_the_lists(program):
    def run(daemon, one, other):
        error = asked(daemon, students=["mimi"])
        assert 'no endpoint has a model "mimi"' in error["message"] and "claude-haiku" in error["message"], error
        assert KEY not in str(error)
    with_models(program, run)


def list_that_cannot_be_had_is_told(program):
    def run(daemon, one, other):
        error = asked(daemon, students=["mimi"])
        assert "status 404" in error["message"], error
    with_models(program, run, anthropic=None)


def nothing_can_be_asked_says_how_models_are_named(program):
    def run(daemon, one, other):
        error = asked(daemon, students=["haiku"])
        assert "ANTHROPIC_API_KEY" in error["message"] and "anthropic.MODEL" in error["message"], error
    with_models(program, run, env={})


def address_of_the_call_takes_a_bare_name(program):
    def run(daemon, one, other):
        asked(daemon, students=["unsloth/GLM:Q4_0"], base_url=one.url)
        stats = one.stats()
        assert stats["last"]["model"] == "unsloth/GLM:Q4_0", stats
        assert "authorization" not in [name.lower() for name in stats["last_headers"]], stats
        asked(daemon, students=["haiku:x"], base_url=one.url)
        assert one.stats()["last"]["model"] == "haiku:x"
    with_models(program, run)


def teacher_and_students_of_generate_have_addresses_of_their_own(program):
    def run(daemon, one, other):
        error = daemon.ask("skill/generate", {"task": "say the word", "teacher": "big", "base_url": one.url, "students": ["small"],
                                              "students_url": other.url, "wait": True})
        assert one.stats()["last"]["model"] == "big", (error, one.stats())
        error = daemon.ask("skill/generate", {"task": "say the word", "teacher": "mimi", "wait": True})
        assert error["error"]["data"]["path"] == "/teacher", error
    with_models(program, run)


def given_address_serves_a_generic_helper_too(program):
    """A judge, a teacher of descriptions or students "generic.NAME" have no other address than the one of the call."""
    def run(daemon, one, other):
        folder = make_skill(daemon)
        judged = daemon.evaluate(path=folder, tests=[dict(make_tests(1)[0], expected={"judge": "It is right."})], runs=1, students=["small"],
                                 base_url=one.url, judge="generic.big")
        assert {r["model"] for r in one.get("/requests")} == {"small", "big"}, judged
        queries = [{"query": "Say the %s." % word, "should_trigger": i < 3} for i, word in enumerate("word sign name time age way".split())]
        result = daemon.ask("skill/trigger", {"path": folder, "tests": queries, "students": ["small"], "base_url": one.url, "rounds": 1,
                                              "teacher": "generic.big", "wait": True})
        assert "result" in result, result
        daemon.ask("skill/generate", {"task": "say the word", "teacher": "big", "base_url": one.url, "students": ["generic.third"], "wait": True})
        asked = daemon.ask("skill/generate", {"task": "say the word", "teacher": "big", "base_url": one.url, "students": ["third"], "wait": True})
        assert asked["error"]["data"].get("path") != "/students/0", asked  # a bare name that nobody else can have
        for method, params, address in (("skill/generate", {"task": "say the word", "teacher": "generic.big", "base_url": one.url, "students": ["third", "openai.x"]}, "students_url"),
                                        ("skill/evaluate", {"path": folder, "tests": queries, "students": ["third"]}, "base_url")):
            refused = daemon.ask(method, dict(params, wait=True))["error"]["data"]
            assert refused["path"] == "/students/0" and "`%s` takes the address" % address in refused["hint"], refused
        assert other.stats()["requests"] == 0
    with_models(program, run, env={})


def main():
    tap, program = Tap(), os.path.abspath(sys.argv[1])
    for test in (name_is_the_newest_that_holds_it, configured_names_are_looked_up_too, two_providers_are_told, what_no_list_has_is_told_with_the_lists,
                 list_that_cannot_be_had_is_told, nothing_can_be_asked_says_how_models_are_named,
                 address_of_the_call_takes_a_bare_name, teacher_and_students_of_generate_have_addresses_of_their_own,
                 given_address_serves_a_generic_helper_too):
        tap.run(test.__name__.replace("_", " "), test, program)
    return tap.end()


sys.exit(main())
