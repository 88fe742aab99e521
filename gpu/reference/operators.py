#!/usr/bin/env python3
"""The operators' table as C, from operators.txt, which says what stands there: operators.py FOLDER_OF_TABLES_PY IN.txt OUT…

Each OUT, operators_FILE.h, is the array of a family; FILE.c includes it behind the functions that it names.
"""
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from tables import PART, literal, whole_lines  # noqa: E402: it lies in base/

ROW = re.compile(r"(?P<name>\w+)\((?P<inputs>[^;]*)(; (?P<attributes>.*))?\)( -> (?P<outputs>.*))?")
ROLE = re.compile(r"(?P<name>\w+)(?P<repeat>…)?(?P<optional>\?)?(?P<whole> whole)?")
ATTRIBUTE = re.compile(r"(?P<name>\w+): (?P<kind>[\w|-]+)( (?P<low>\S+)\.\.(?P<high>\S+))?(?P<nullable> or null)?( = (?P<fallback>\S+))?")
FUNCTIONS = re.compile(r"(?P<infer>\w+) (?P<compute>\w+)( (?P<member>unary|parametric|broadcast|fold|number)=(?P<what>\w+))?")


def read(pattern, text):
    match = pattern.fullmatch(text.strip())
    return match or sys.exit(f"operators.txt: this is not in the form that its head describes: {text!r}")


def limit(text):
    return "INFINITY" if text == "inf" else text


def role(text):
    r = read(ROLE, text)
    flags = [f".{flag} = true" for flag in ("optional", "whole", "repeat") if r[flag]]
    return "{" + ", ".join([f".name = {literal(r['name'])}"] + flags) + "}"


def attribute(text):
    a = read(ATTRIBUTE, text)
    choices, fallback = "|" in a["kind"], a["fallback"]
    members = [f".name = {literal(a['name'])}", f".kind = ATTRIBUTE_{'CHOICE' if choices else a['kind'].upper()}"]
    if fallback:
        members.append(f".fallback = {literal(json.dumps(fallback) if choices else fallback)}")
    if a["low"]:
        members.append(f".low = {limit(a['low'])}, .high = {limit(a['high'])}")
    members += [f".choices = {literal(a['kind'])}"] * choices + [".nullable = true"] * bool(a["nullable"])
    return "{" + ", ".join(members) + "}"


def listed(one, texts):
    return "{" + ", ".join(map(one, texts.split(","))) + "}"


def row(line, family):
    signature, functions, summary = line.split(" | ", 2)
    r, f = read(ROW, signature), read(FUNCTIONS, functions)
    members = [f".name = {literal(r['name'])}", f".family = {literal(family)}", f".summary = {literal(summary)}",
               f".inputs = {listed(role, r['inputs'])}", f".outputs = {listed(role, r['outputs'] or 'output')}"]
    if r["attributes"]:
        members.append(f".attributes = {listed(attribute, r['attributes'])}")
    members.append(f".infer = {f['infer']}, .compute = {f['compute']}")
    if f["member"]:
        members.append(f".u.{f['member']} = {f['what']}")
    return "    {" + ",\n     ".join(members) + "},\n"


def main():
    parts, families = {}, {}
    for line in whole_lines(sys.argv[2]):
        part = re.fullmatch(PART.pattern + " = (.*)", line)
        if part:
            parts[part[1]] = part[2]
        elif line.startswith("["):
            name, *family = line[1:-1].split()
            rows = families[name] = []
        else:
            rows.append(row(PART.sub(lambda m: parts[m[1]], line), (family or [name])[0]))
    for out in map(pathlib.Path, sys.argv[3:]):
        name = out.stem.removeprefix("operators_")
        out.write_text(f"const struct operator {out.stem}[] = {{\n{''.join(families[name])}    {{0}},\n}};\n", encoding="utf-8")


main()
