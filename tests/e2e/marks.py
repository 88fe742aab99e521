#!/usr/bin/env python3
"""A person's marks: run/show's page with `mark`, in a browser where there is one, and run/marks.

usage: marks.py UPSKILLD   (TAP on standard output)
"""
import base64, hashlib, html, json, math, os, re, shutil, subprocess, sys, urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from evaluate_support import Daemon, Model, Tap, make_skill, make_tests, wait_for, with_us

PROGRAM = os.path.abspath(sys.argv[1])
WITH, WITHOUT = "It is marigold, correct.", "</pre><script>alert(1)</script> correct"
RULES = [{"when": {"model": ":deaf$"}, "answer": "I do not know."}, {"when": {"system": "marigold"}, "answer": WITH}, {"when": {}, "answer": WITHOUT}]


class Room:
    def __init__(self, tests=8, ids=None, model="x"):
        self.model = Model(RULES)
        self.daemon = Daemon(PROGRAM)
        make_skill(self.daemon)
        suite = make_tests(tests)
        for i, test in enumerate(suite if ids else []):
            test["id"] = ids % i
        result = self.daemon.evaluate(path="skills/words", tests=suite, students=[self.model.student(model, "stu")], runs=2)
        self.run = result["run"]

    def page(self, mark, name="page.html"):
        answer = self.daemon.ask("run/show", {"run": self.run, "mark": mark, "out": name})
        assert "result" in answer, answer
        with open("%s/work/%s" % (self.daemon.home, name), encoding="utf-8") as f:
            return f.read()

    def marks(self, marks, **params):
        answer = self.daemon.ask("run/marks", dict({"run": self.run, "marks": marks}, **params))
        return answer.get("result", answer.get("error"))

    def file(self, choices, order="open", **more):
        """choices: {(test, run): choice}"""
        return {"run": self.run, "order": order, "marks": [dict({"model": "stu", "test": t, "run": n, "choice": c}, **more)
                                                            for (t, n), c in choices.items()]}

    def __enter__(self):
        return self

    def __exit__(self, *error):
        code = self.daemon.close()
        self.model.close()
        assert error[0] or (code == 0 and "runtime error" not in self.daemon.said and "ERROR:" not in self.daemon.said), self.daemon.said


def pairs_of(page):
    """[(test, run, text of A, text of B)] as they stand in the page."""
    ret = []
    for part in page.split('<section class="test">')[1:]:
        texts = [html.unescape(t) for t in re.findall(r"<pre>(.*?)</pre>", part, re.S)]
        assert len(texts) == 2, part
        ret.append((re.search(r'data-test="([^"]*)"', part)[1], int(re.search(r'data-turn="(\d+)"', part)[1]), *texts))
    return ret


def the_page_stands_alone():
    with Room(12, "t%d") as r:
        page = r.page("open")
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
        script = re.search(r"<script>(.*?)</script>", page, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy == "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'" % digest, policy
        assert page.count("<script") == 1 and not re.search(r"https?:|src=\"|@import|url\(|onclick|onerror", page)
        pairs = pairs_of(page)
        assert [p[0] for p in pairs] == ["t%d" % i for i in range(12)] and all(p[2:] == (WITHOUT, WITH) for p in pairs), pairs
        assert "Not shown: 12 pairs of answers" in page, "the second run gave the same"
        assert "A: without the skill" in page and "B: with the skill" in page
    with Room(model="deaf") as r:
        refused = r.daemon.ask("run/show", {"run": r.run, "mark": "open", "out": "page.html"})["error"]
        assert "nothing to mark" in refused["message"], refused


def a_blind_page_does_not_tell():
    with Room(16) as r:
        blind = r.page("blind")
        assert not re.search(r"with the skill|without the skill|baseline|passed|assert", re.sub(r"<p class=\"lead\">.*?</p>|<script>.*?</script>|<style>.*?</style>", "", blind, flags=re.S))
        turned = {(t, n): a == WITH for t, n, a, _ in pairs_of(blind)}
        assert 2 <= sum(turned.values()) <= 14, turned  # by chance 8 of 16; less is 1 of 2000
        # Somebody who always likes what the skill gave, blind:
        result = r.marks(r.file({pair: "a" if first else "b" for pair, first in turned.items()}, "blind"))
        one = result["preference"][0]
        assert (one["skill"], one["baseline"], one["same"], one["tests"]) == (16, 0, 0, 16) and one["blind"] == 16, one
        assert "marked blind." in one["sentence"] and abs(one["p"] - 2 / 2 ** 16) < 1e-12, one


def marks_are_counted_by_tests():
    with Room() as r:
        # Five tests for the skill, one against it, one that is undecided between its runs, one the same.
        choices = {}
        for i, (first, second) in enumerate([("b", "b")] * 4 + [("b", "same"), ("a", "a"), ("a", "b"), ("same", "same")]):
            choices.update({("q%02d" % i, 1): first, ("q%02d" % i, 2): second})
        one = r.marks(r.file(choices))["preference"][0]
        assert (one["skill"], one["baseline"], one["same"]) == (5, 1, 2), one
        p = 2 * sum(math.comb(6, k) for k in (5, 6)) / 2 ** 6  # the two-sided sign test
        assert abs(one["p"] - p) < 1e-12, (one["p"], p)
        z, n, k = 1.959963984540054, 6, 5
        middle, half = (k / n + z * z / 2 / n) / (1 + z * z / n), z / (1 + z * z / n) * math.sqrt(k / n * (1 - k / n) / n + z * z / 4 / n / n)
        assert abs(one["share"]["low"] - middle + half) < 1e-9 and abs(one["share"]["high"] - middle - half) < 1e-9
        # A later mark stands in place of the earlier one; the others stay.
        again = r.marks(r.file({("q05", 1): "b", ("q05", 2): "b"}, note="<b>why</b>"))
        assert again["marks"] == 16 and again["preference"][0]["skill"] == 6, again
        shown = r.daemon.ask("run/show", {"run": r.run})["result"]
        assert shown["preference"] == again["preference"] and len(shown["marks"]) == 16
        report = r.daemon.ask("run/show", {"run": r.run, "format": "html"})["result"]["text"]
        assert "A person&#39;s marks" in report or "A person's marks" in report
        assert "&lt;b&gt;why&lt;/b&gt;" in report and "<b>why" not in report and "<script" not in report


def what_is_wrong_is_named():
    with Room() as r:
        good = {("q00", 1): "a"}
        for given, words in (({}, "not a file of marks: the page that upskillctl run show --mark makes saves one"), (dict(r.file(good), run="other"), "are of the run other"),
                             (dict(r.file(good), order="sideways"), "not a file of marks"), (r.file({("q99", 1): "a"}), "marks[0]: the run has no pair"),
                             (r.file({("q00", 7): "a"}), "no pair"), (r.file({("q00", 1): "c"}), "choice: expected a, b or same"),
                             (r.file(good, note="x" * 2001), "2000 bytes"), (r.file(good, note=7), "note"),
                             (dict(r.file(good), marks=r.file(good)["marks"] * 2), "twice"), (dict(r.file(good), marks=[1]), "no pair"),
                             (dict(r.file(good), marks=r.file(good)["marks"] * 5001), "not a file of marks"), ("nosuch.json", "nosuch.json"), ("/etc/passwd", "workspace")):
            problem = r.marks(given)
            assert problem.get("code") and words in problem["message"], (words, problem)
        with open(r.daemon.home + "/work/bad.json", "w") as f:
            f.write('{"run": ')
        assert r.marks("bad.json")["code"] == -32602
        assert r.marks(r.file(good), run="all")["code"] == -32602
        shown = r.daemon.ask("run/show", {"run": r.run})["result"]
        assert "marks" not in shown and "preference" not in shown, "something wrong was kept"
        for params in ({"mark": "open"}, {"mark": "open", "out": "x.csv"}, {"mark": "blind", "format": "json"}):
            assert r.daemon.ask("run/show", dict(params, run=r.run))["error"]["code"] == -32602, params
        # A marks.json that somebody else wrote is data, too.
        with open("%s/state/upskilld/runs/%s/marks.json" % (r.daemon.home, r.run), "w") as f:
            json.dump({"marks": [1, {"model": 7}, {"model": "<i>", "better": "skill", "test": "\x1b[2J"}]}, f)
        hostile = r.daemon.ask("run/show", {"run": r.run, "format": "html"})["result"]["text"]
        assert "<i>" not in hostile and "\x1b" not in hostile


class Browser:
    """Chromium, spoken to through its pipe."""

    def __init__(self, program, home):
        to, self.write = os.pipe()
        self.read, back = os.pipe()

        def prepare():
            with_us()
            os.dup2(to, 103), os.dup2(back, 104)
            os.dup2(103, 3), os.dup2(104, 4)
        self.process = subprocess.Popen([program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
                                         "--user-data-dir=" + home], pass_fds=(3, 4), preexec_fn=prepare, stderr=subprocess.DEVNULL)
        os.close(to), os.close(back)
        self.rest, self.number, self.session = b"", 0, None

    def ask(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                piece = os.read(self.read, 65536)
                assert piece, "the browser is gone"
                self.rest += piece
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                return answer.get("result", {})  # none while a page gives way to the next

    def open(self, path):
        self.session = None
        target = self.ask("Target.createTarget", url="file://" + path)["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        # A new page is an empty one first, and complete as such.
        wait_for(lambda: self.run("location.protocol === 'file:' && document.readyState === 'complete'"))

    def run(self, script):
        answer = self.ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer.get("result", {}).get("value")

    def close(self):
        self.process.kill()
        self.process.wait()


def a_person_marks_in_a_browser():
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if not program:
        return "SKIP no chromium"
    with Room(16) as r:
        pairs = pairs_of(r.page("blind"))
        browser = Browser(program, r.daemon.home + "/browser")
        try:
            browser.open(r.daemon.home + "/work/page.html")
            assert browser.run("document.getElementById('count').textContent") == "0 of 16 marked"
            for i, (_, _, a, _) in enumerate(pairs[:6]):
                browser.run("document.querySelectorAll('fieldset')[%d].querySelector('input[value=%s]').click()" % (i, "a" if a == WITH else "b"))
            browser.run("{const t = document.querySelector('fieldset textarea'); t.value = 'plain & \"short\"'; t.dispatchEvent(new Event('input', {bubbles: true}))}")
            assert browser.run("document.getElementById('count').textContent") == "6 of 16 marked"
            link = browser.run("document.getElementById('save').href")
            assert link.startswith("data:application/json"), link[:80]
            saved = json.loads(urllib.parse.unquote(link.split(",", 1)[1]))
            assert saved == json.loads(browser.run("document.getElementById('out').value"))
            assert saved["marks"][0]["note"] == 'plain & "short"', saved["marks"][0]
        finally:
            browser.close()
        with open(r.daemon.home + "/work/marks.json", "w") as f:
            json.dump(saved, f)
        result = r.marks("marks.json")
        assert result["marks"] == 6 and result["preference"][0]["skill"] == 6 and result["preference"][0]["baseline"] == 0, result


def main():
    tap = Tap()
    for test in (the_page_stands_alone, a_blind_page_does_not_tell, marks_are_counted_by_tests, what_is_wrong_is_named,
                 a_person_marks_in_a_browser):
        tap.run(test.__name__.replace("_", " "), test)
    print("1..%d" % tap.number)
    return 1 if tap.failed else 0


sys.exit(main())
