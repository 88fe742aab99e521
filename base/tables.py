#!/usr/bin/env python3
"""Tables that are kept as text, as C: tables.py IN.txt OUT.h, once for each build.

A line `[name kind]` begins a table, `#` a comment; blank lines part. OUT.h defines a `static const`
array of that name for each. Kinds:
  words            each word is a `char *const`, sorted, so that bsearch finds it; ARRAY_LEN counts them
  rows             each line is a `char *const`; the last one is NULL
  fields STRUCT    each line is a `struct STRUCT` of texts parted by " | ", NULL where one is empty;
                   the last one is all NULL
"""
import sys


def literal(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if text else "NULL"


def entries(kind, lines):
    if kind == "words":
        return [literal(word) for word in sorted({word for line in lines for word in line.split()})]
    if kind == "rows":
        return [literal(line) for line in lines] + ["NULL"]
    if kind == "fields":
        fields = [[literal(field.strip()) for field in (line + " ").split(" | ")] for line in lines]
        return ["{" + ", ".join(entry) + "}" for entry in fields] + ["{NULL}"]
    sys.exit(f"tables.py: there is no kind {kind!r}")


def read(path):
    tables = {}
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if line.startswith("["):
            name, *kind = line[1:-1].split()
            tables[name] = (kind, [])
        elif line and not line.startswith("#"):
            tables[name][1].append(line)
    return tables


with open(sys.argv[2], "w", encoding="utf-8") as out:
    for name, (kind, lines) in read(sys.argv[1]).items():
        of = f"struct {kind[1]}" if kind[0] == "fields" else "char *const"
        out.write(f"static const {of} {name}[] = {{\n")
        out.write("".join(f"    {entry},\n" for entry in entries(kind[0], lines)) + "};\n")
