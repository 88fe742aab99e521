#!/usr/bin/env python3
"""Write the tables of docs/guide/operators.md from the operators that are built in.

usage: make-operators.py OPERATOR_TABLE [--check]     (BUILD/tests/unit/gpu/operator_table)

Everything before the line MARK is written by hand. --check compares instead of writing: exit
status 1 when the page is out of date.
"""
import json, os, subprocess, sys

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guide", "operators.md")
MARK = "<!-- Everything below is made by docs/make-operators.py; do not edit. -->\n"


def words(text):
    return text.replace("|", "\\|")


def role(r):
    note = " (whole numbers)" if r["whole"] else ""
    return "`%s`%s%s" % (r["name"], "…" if r["repeat"] else "?" if r["optional"] else "", note)


def attribute(a):
    kind = " or ".join("`%s`" % c for c in a["choices"].split("|")) if a["choices"] else {"integers": "integers"}.get(a["kind"], a["kind"])
    text = "`%s`: %s" % (a["name"], kind)
    if a["low"] or a["high"]:
        text += " from %s to %s" % tuple(("%g" % v) if isinstance(v, (int, float)) else v for v in (a["low"], a["high"]))
    text += " or null" if a["nullable"] else ""
    return text + (", must be given" if a["fallback"] is None else "" if a["fallback"] == "null" else " = " + a["fallback"].strip('"'))


def table(operators):
    families = {}
    for op in operators:
        families.setdefault(op["family"], []).append(op)
    out = ["", "%d operators." % len(operators)]
    for family, rows in families.items():
        out += ["", "## " + family.capitalize(), "", "| operator | inputs | outputs | attributes |", "|---|---|---|---|"]
        for op in rows:
            out.append("| `%s` %s | %s | %s | %s |" % (
                op["name"], words(op["summary"]), ", ".join(map(role, op["inputs"])), ", ".join(map(role, op["outputs"])),
                "; ".join(words(attribute(a)) for a in op["attributes"])))
    return "\n".join(out) + "\n"


def main():
    operators = json.loads(subprocess.run([sys.argv[1]], stdout=subprocess.PIPE, check=True).stdout)
    with open(PAGE) as f:
        old = f.read()
    assert old.count(MARK) == 1, "the page has no mark"
    new = old.split(MARK)[0] + MARK + table(operators)
    if "--check" in sys.argv:
        if new != old:
            print("docs/guide/operators.md is out of date: run docs/make-operators.py")
        return new != old
    with open(PAGE, "w") as f:
        f.write(new)
    return 0


sys.exit(main())
