#!/usr/bin/env python3
"""Tables that are kept as text, as C: tables.py IN.txt OUT.h, once for each build.

A line `[name kind]` begins a table, `#` a comment; blank lines part. A line that begins with a blank goes
on with the one before: a new field where it begins with `|`, else the same text, without a blank between.
`{NAME} = text` before the tables names a part of texts: `{NAME}` stands for it, or for a macro of C where the
file has no such line. OUT.h defines a `static const` array for each table. Kinds:
  words            each word is a `char *const`, sorted, so that bsearch finds it; ARRAY_LEN counts them
  list             each word is a `char *const`, in this order; the last one is NULL
  rows             each line is a `char *const`; the last one is NULL
  fields STRUCT    each line is a `struct STRUCT` of texts parted by " | ", NULL where one is empty;
                   the last one is all NULL
  texts STRUCT     the same, but an empty one is ""
  rules STRUCT     the same as texts, but the last field is C as it stands
  text             no table but one text, of `char`: its lines, nothing between them
A last word, `extern`, takes the `static` away.

IN.md is prose: `rows extern` with the file's name, a heading and its paragraph in each. Where it has a table of codes
(| code | lenient | strict | …), that is read instead: `spec_rules`, a `struct spec_rule` for each code.

IN.json is an object of texts: each member is a `text` of its name. Where it is a list of texts, a blank or a newline
is between two; anything else stays JSON. One with a name in capitals is a part of those behind it, {NAME}.
"""
import json
import re
import sys

PART = re.compile(r"\{([A-Z][A-Z0-9_]{2,})\}")
parts = {}


def literal(text, empty="NULL"):
    escaped = PART.sub(lambda m: parts.get(m[1], m[0]), text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return PART.sub(r'" \1 "', f'"{escaped}"') if text else empty


def fields(kind, line):
    *texts, last = [field.strip() for field in (line + " ").split(" | ")]
    empty = "NULL" if kind == "fields" else '""'
    return [literal(text, empty) for text in texts] + [last if kind == "rules" else literal(last, empty)]


def entries(kind, lines):
    if kind == "words":
        return [literal(word) for word in sorted({word for line in lines for word in line.split()})]
    if kind == "list":
        return [literal(word) for line in lines for word in line.split()] + ["NULL"]
    if kind == "rows":
        return [literal(line) for line in lines] + ["NULL"]
    if kind in ("fields", "texts", "rules"):
        return ["{" + ", ".join(fields(kind, line)) + "}" for line in lines] + ["{NULL}"]
    sys.exit(f"tables.py: there is no kind {kind!r}")


def whole_lines(path):
    """Without comments, and with those that go on joined."""
    lines = []
    for line in open(path, encoding="utf-8"):
        text = line.strip()
        if not text or line.startswith("#"):
            continue
        if line[0] == " ":
            lines[-1] += " " + text if text.startswith("| ") else text
        else:
            lines.append(text)
    return lines


def severities(text):
    """| `a`, `b` | error | warning | …: for each code both severities."""
    rows = re.findall(r"^\| (`.*?) \| (\w+) \| (\w+) \|", text, re.M)
    return {"spec_rules": (["rules", "spec_rule"], [f"{code} | FINDING_{lenient.upper()}, FINDING_{strict.upper()}"
                           for codes, lenient, strict in rows for code in re.findall(r"`(\w+)`", codes)])}


def prose(path):
    text = re.sub(r"<!--.*?-->", "", open(path, encoding="utf-8").read(), flags=re.S).strip()
    if "\n| code | lenient | strict |" in text:
        return severities(text)
    sections = [section.partition("\n\n") for section in re.split(r"\n+(?=#)", text)]
    name = path.rpartition("/")[2].removesuffix(".md")
    return {name: (["rows", "extern"], [head + "\n\n" + " ".join(words.split()) for head, _, words in sections])}


def texts(path):
    def text(value):
        if isinstance(value, list) and isinstance(value[0], str):
            return " ".join(value).replace("\n ", "\n")
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    members = {name: text(value) for name, value in json.load(open(path, encoding="utf-8")).items()}
    parts.update({name: value for name, value in members.items() if name.isupper()})
    return {name: (["text"], [value]) for name, value in members.items() if not name.isupper()}


def read(path):
    if path.endswith(".md"):
        return prose(path)
    if path.endswith(".json"):
        return texts(path)
    tables = {}
    for line in whole_lines(path):
        part = re.match(PART.pattern + r" = (.*)", line)
        if part:
            parts[part[1]] = PART.sub(lambda m: parts.get(m[1], m[0]), part[2])
        elif line.startswith("["):
            name, *kind = line[1:-1].split()
            tables[name] = (kind, [])
        else:
            tables[name][1].append(line)
    return tables


def main():
    with open(sys.argv[2], "w", encoding="utf-8") as out:
        for name, (kind, lines) in read(sys.argv[1]).items():
            scope = "" if "extern" in kind else "static "
            if kind[0] == "text":
                out.write(f"{scope}const char {name}[] = {literal(''.join(lines))};\n")
                continue
            of = "char *const" if kind[0] in ("words", "list", "rows") else f"struct {kind[1]}"
            out.write(f"{scope}const {of} {name}[] = {{\n")
            out.write("".join(f"    {entry},\n" for entry in entries(kind[0], lines)) + "};\n")


if __name__ == "__main__":
    main()
