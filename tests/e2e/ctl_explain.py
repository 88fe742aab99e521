#!/usr/bin/env python3
"""upskillctl explain: every code that a finding can have has a page, and every page a code.

usage: ctl_explain.py UPSKILLCTL SOURCE_TREE

The codes are read from the sources, where a finding is made: a literal in front of a severity, in a call that makes a
finding or ends a course, and in the tables of names. So a new code without a page fails here.
"""
import json, os, pathlib, re, subprocess, sys

from evaluate_support import Tap

CTL, TREE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
SEVERITY = r"(?:FINDING_(?:ERROR|WARNING|INFO)\b|BLOCK\b|WARN\b|INFO\b)"
MADE = [
    r'"([a-z][a-z0-9_]*)",\s*' + SEVERITY,                          # "code", FINDING_ERROR
    SEVERITY + r',\s*"([a-z][a-z0-9_]*)",',                         # FINDING_ERROR, "code",
    r'note\([^;"]+,\s*"([a-z][a-z0-9_]*)",\s*"(?:error|warning|info)"',
    r'lint_report\(\s*k,\s*"([a-z][a-z0-9_]*)"',
    r'"code",\s*"([a-z][a-z0-9_]*)",\s*"severity"',
    r'finding_new\(\s*"[a-z]+",\s*"([a-z][a-z0-9_]*)"',
    r'include_note\([^;"]*"([a-z][a-z0-9_]*)"',
    r'problem_set\(\w+,\s*"[a-z]+",\s*"([a-z][a-z0-9_]*)"',
    r'course_end\(\w+,\s*"[a-z]+",\s*"[a-z]+",\s*"([a-z][a-z0-9_]*)"',
    r'"((?:build_toml|kernel_project)_[a-z0-9_]*[a-z0-9])"',
    r'\[FINDING_[A-Z_0-9]+\]\s*=\s*"([a-z][a-z0-9_]*)"',
    r'finding_at\([^;]*?"gcc",\s*"([a-z]+)"',
    r'report_finding\([^;]*?"([a-z][a-z0-9_]*)",\s*&?site',
    r'report_finding\([^;"]*\?\s*"([a-z][a-z0-9_]*)"\s*:',
    r'"code",\s*json_string\("([a-z][a-z0-9_]*)"\)',
]
RULES = re.compile(r"^([a-z][a-z0-9_]*)(?: +\||$)", re.M)  # a table of rules: "code | what is told | …", or the code alone
NONE = {"error", "warning", "info"}


def emitted():
    found = {}
    for room in ("gpu", "skills/check", "skills/format", "skills/kernel_project"):
        for path in (TREE / room).rglob("*.c"):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
            for pattern in MADE:
                for code in re.findall(pattern, text):
                    if code not in NONE:
                        found.setdefault(code, path.name)
    for code in RULES.findall((TREE / "skills/check/safety_patterns.txt").read_text()):
        found.setdefault(code, "safety_patterns.txt")
    for row in re.findall(r"^\| (`.*?) \| \w+ \| \w+ \|", (TREE / "docs/codes/skills.md").read_text(), re.M):
        for code in re.findall(r"`(\w+)`", row):
            found.setdefault(code, "docs/codes/skills.md")
    return found


def explain(*words, status=0):
    done = subprocess.run([CTL, "explain", *words], capture_output=True, text=True, timeout=30)
    assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def listed():
    return json.loads(explain("--json")[0])["codes"]


def every_code_has_a_page():
    codes, pages = emitted(), set(listed())
    assert len(codes) > 150, len(codes)
    missing = {c: f for c, f in codes.items() if c not in pages}
    assert not missing, missing
    return "%d codes" % len(codes)


def every_page_has_a_code():
    text = "".join(p.read_text() for room in ("gpu", "skills") for p in (TREE / room).rglob("*.[ch]"))
    known = emitted()
    unknown = [c for c in listed() if c != "numbers" and c not in known and '"%s"' % c not in text]
    assert not unknown, unknown


def recorded_codes_have_pages():
    pages = set(listed())
    for path in (TREE / "tests/e2e").rglob("*.talk"):
        for code in re.findall(r'"severity":[^{}]*"code":"([a-z_]+)"', path.read_text()):
            assert code in pages, (path, code)


def every_page_has_a_meaning_an_example_and_a_fix():
    for code in listed():
        text = json.loads(explain(code, "--json")[0])["text"]
        meaning, example, fix = text.split("\n\n")
        assert meaning.endswith(".") and example.startswith("Example: ") and fix.startswith("Fix: "), (code, text)


def the_number_of_a_compilers_message_is_explained():
    assert "NVIDIA's compiler" in explain("177")[0]


def an_unknown_code_is_told_with_the_nearest():
    _, err = explain("race_", status=2)
    assert "did you mean race?" in err, err
    assert explain("Race") == explain("race")
    _, err = explain("", status=2)
    assert "no finding has the code" in err, err


def the_list_tells_what_each_code_means():
    """the first sentence of its page, whole"""
    out = explain()[0]
    words = " ".join(out.split())
    assert re.search(r"^race {26}Two threads of a block access the same shared memory,", out, re.M), out
    assert all(re.search(r"(^|, )%s(,|  |\n)" % code, out, re.M) for code in listed())
    for page in ("kernels", "skills"):
        for section in (TREE / "docs/codes" / (page + ".md")).read_text().split("\n## ")[1:]:
            codes, _, text = section.partition("\n")
            sentence = re.match(r".*?\.(?=\s|$)", " ".join(text.split("\n\n")[0].split())).group()
            assert codes + " " + sentence in words, (codes, sentence)


tap = Tap()
for test in (every_code_has_a_page, every_page_has_a_code, recorded_codes_have_pages,
             every_page_has_a_meaning_an_example_and_a_fix, the_number_of_a_compilers_message_is_explained,
             the_list_tells_what_each_code_means,
             an_unknown_code_is_told_with_the_nearest):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
