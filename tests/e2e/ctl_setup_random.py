#!/usr/bin/env python3
"""upskillctl setup on random files: put in and taken out gives the same bytes; of what a person changes meanwhile nothing is lost.

usage: ctl_setup_random.py UPSKILLCTL [--seed N] [--count N]   (by default the day, and 40 files of each format)

Python's own json, tomllib and, where it is there, PyYAML say what a file says; without PyYAML its lines are compared.
"""
import argparse, json, os, random, re, subprocess, sys, tomllib

from evaluate_support import Tap
from setup_home import CODEX, CONTINUE, Home, plain_json
try:
    import yaml
except ImportError:
    yaml = None

WORDS = ["a", "b-c", "model", "tui", "Ünï", "upskilld", "x y", "command", "mcp_servers", "mcpServers", "lsp"]
TEXTS = ["", "x", "upskilld", "// no comment", "/* { */", "# no", "}", "]", '"', "\\", "é😀", "a, b", "{[", "name: upskilld", "[mcp_servers.upskilld]"]
COMMENTS = ["", " x", ' "mcpServers": {', " [mcp_servers.upskilld]", " mcpServers:", " }", " é", '"']
BLOCK = {"toml": '[mcp_servers.upskilld]\ncommand = "%s"\n', "yaml": 'mcpServers:\n  - name: upskilld\n    command: "%s"\n'}


class Texts:
    """Random texts of one format, in one style."""

    def __init__(self, r):
        self.r = r
        self.newline = r.choice(["\n", "\n", "\r\n"])
        self.indent = r.choice(["  ", "    ", "\t", " ", ""])

    def some(self, most=3):
        return range(self.r.randint(0, most))

    def ended(self, text, bom=True):
        """With or without an end of its last line, blank lines, a byte order mark."""
        text = text.rstrip("\n") + self.r.choice(["\n", "\n", "", "\n\n", "\n \n"])
        return (self.r.choice(["", "", "", "\ufeff"]) if bom else "") + text.replace("\n", self.newline)


class Json(Texts):
    def gap(self, lines=True):
        kinds = [" ", "", "", "", "\n", self.indent, "/*%s*/" % self.r.choice(COMMENTS), " //%s\n" % self.r.choice(COMMENTS)]
        return self.r.choice(kinds if lines else kinds[:4])

    def value(self, depth):
        if depth < 3 and self.r.random() < 0.4:
            return self.object([(self.r.choice(WORDS), None) for _ in self.some()], depth + 1)
        if depth < 3 and self.r.random() < 0.3:
            return "[" + self.closed([self.gap() + self.value(depth + 1) + self.gap() for _ in self.some()]) + "]"
        return json.dumps(self.r.choice([*TEXTS, 1, -2.5, 1e300, True, None]), ensure_ascii=self.r.random() < 0.5)

    def closed(self, items):
        return ",".join(items) + ("," + self.gap() if items and self.r.random() < 0.15 else "" if items else self.gap())

    def object(self, members, depth=0):
        lines, seen, items = self.r.random() < 0.6, set(), []
        for key, value in members:
            if key not in seen:
                seen.add(key)
                before = "\n" + self.indent * (depth + 1) if lines else self.gap()
                items.append(before + json.dumps(key) + self.gap(False) + ":" + self.gap(False) + (value or self.value(depth)) + self.gap())
        return "{" + self.closed(items) + ("\n" + self.indent * depth if lines else "") + "}"

    def text(self):
        if self.r.random() < 0.1:
            return self.ended(self.r.choice(["", " ", "//x\n", "/* y */\n"]))
        members = [(self.r.choice(WORDS[:9]), None) for _ in self.some()]
        servers = [(self.r.choice(["a", "x", "upskill", "upskilld2"]), self.object([("command", '"y"')], 2)) for _ in self.some(2)]
        members = [m for m in members if m[0] != "mcpServers"]
        if self.r.random() < 0.7:
            members.insert(self.r.randint(0, len(members)), ("mcpServers", self.object(servers, 1)))
        return self.ended(self.gap() + self.object(members) + self.gap())


class Toml(Texts):
    def text(self):
        lines, seen = [], set()
        for table in ["", *(self.r.choice(["[a%d]", "[mcp_servers.s%d]", "[[list]]", '["q.%d".b]', "[ c%d . d ]  # c"]) for _ in self.some(4))]:
            table = table % len(lines) if "%" in table else table
            lines += [table] if table else []
            for n in self.some():
                key = "k%d%s" % (n, self.r.choice(["", ".x", '."y z"', ".'upskilld'"]))
                lines += [self.comment() + key + " = " + self.value() + self.r.choice(["", "  # " + self.r.choice(COMMENTS[1:])])]
            lines += [self.r.choice(["", "\t", "# c", "   "]) for _ in self.some(2)]
        return self.ended("\n".join(lines))

    def comment(self):
        return self.r.choice(["", "", "#%s\n" % self.r.choice(COMMENTS), self.indent, "\n"])

    def value(self):
        block = BLOCK["toml"] % "upskilld"
        return self.r.choice(["1", "-0.5", "true", "1979-05-27T07:32:00Z", json.dumps(self.r.choice(TEXTS[:10])), "'lit # x'", "{a = 1, b = {c = 2}}", "[1,\n 2, # x\n]",
                              '"""\n%s"""' % block.replace('"', "'"), "'''\n%s'''" % block, '"""a\n\n"""'])


class Yaml(Texts):
    def text(self):
        lines = [self.r.choice(["# c", "", "---"]) for _ in self.some(1)]
        if self.r.random() < 0.9:
            lines += ["name: mine", self.r.choice(["version: 1.0.0", 'version: "1.0"  # v']), "schema: v1"]
        for n in self.some(4) if lines and lines[-1] == "schema: v1" else ():
            lines += self.servers() if n == 2 else []
            lines += self.pair(n).split("\n") + [self.r.choice(["", "# c", "  # mcpServers:"]) for _ in self.some(1)]
        return self.ended("\n".join(lines))

    def servers(self):
        """A list of other servers, with comments and blanks where YAML allows them."""
        lines, indent = ["mcpServers:" + self.r.choice(["", "  # mine"])], self.r.choice(["", "  ", "    "])
        for n in range(1 + len(list(self.some(2)))):
            lines += [self.r.choice(["", "# c", indent + "# - name: upskilld"]) for _ in self.some(1)]
            lines += [indent + "- " + self.r.choice(["name: s%d", "command: s%d\n%s  name: t" % (0, indent) + " # %d"]) % n, indent + "  args: [a]"]
        return "\n".join(lines).split("\n")

    def pair(self, n):
        block = (BLOCK["yaml"] % "upskilld").strip().replace("\n", "\n  ")
        return "k%d: " % n + self.r.choice(["1", "x y", '"q: #"', "'s'", "[a, b]", "{a: 1}", "null", "\n  - m: 1\n    n: [2]\n  - o", "\n  a:\n    b: c",
                                         "|\n  %s" % block, ">-\n  a\n\n  b", "|-\n  a\n   b\n", "a\n  folded"])


def says(kind, text):
    """None where it is not of its format; {} where it says nothing."""
    try:
        if kind == "json":
            return plain_json(text)
        if kind == "toml":
            return tomllib.loads(text.removeprefix("\ufeff"))
        if yaml:
            return yaml.safe_load(text.removeprefix("\ufeff")) or {}
        return {"lines": [line for line in lines_of(kind, text) if line != "---"]}
    except (ValueError, yaml.YAMLError if yaml else ValueError):
        return None


OUTER = {"json": "mcpServers", "toml": "mcp_servers", "yaml": "mcpServers"}
FILES = {"json": ("cursor", ".cursor/mcp.json", Json), "toml": ("codex", CODEX, Toml), "yaml": ("continue", CONTINUE, Yaml)}


def entry_of(kind, said):
    servers = said.get(OUTER[kind]) if isinstance(said, dict) else None
    if isinstance(servers, list):
        return next((one for one in servers if isinstance(one, dict) and one.get("name") == "upskilld"), None)
    return servers.get("upskilld") if isinstance(servers, dict) else None


def without(kind, said):
    """All but the entry, and but for what holds nothing then."""
    said = json.loads(json.dumps(said, default=str))
    servers = said.get(OUTER[kind])
    if isinstance(servers, list):
        servers[:] = [one for one in servers if one.get("name") != "upskilld"]
    elif isinstance(servers, dict):
        servers.pop("upskilld", None)
    if not servers:
        said.pop(OUTER[kind], None)
    return said


def lines_of(kind, text):
    """What a person has written: lines; of JSON, its comments."""
    if kind == "json":
        tokens = re.findall(r'"(?:\\.|[^"\\])*"|//[^\r\n]*|/\*.*?\*/', text, flags=re.S)
        return sorted(token for token in tokens if token[0] == "/")
    return sorted(line.strip() for line in text.removeprefix("\ufeff").split("\n") if line.strip())


class Room:
    """One file of one agent; the daemon is not asked, so the status is 1 either way."""

    def __init__(self, kind):
        self.home, self.kind = Home(), kind
        self.home.write("bin/upskilld", "#!/bin/sh\nexit 1\n", 0o755)
        self.agent, self.file, _ = FILES[kind]

    def setup(self, *words):
        done = subprocess.run([Home.ctl, "setup", self.agent, *words], cwd=self.home.path, env=self.home.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode in (0, 1) and not (done.returncode and words and "left alone" not in done.stdout), (done.stdout, done.stderr)
        return done.stdout

    def write(self, text):
        self.home.write(self.file, text)

    def read(self):
        path = os.path.join(self.home.path, self.file)
        return self.home.read(self.file) if os.path.exists(path) else None

    def put(self, before):
        """The text with the entry; None where setup left it alone, as it was."""
        self.write(before)
        said, now = self.setup(), self.read()
        if "left alone" in said:
            assert now == before, (before, now, said)
            return None
        old, new = says(self.kind, before), says(self.kind, now)
        assert old is not None and new is not None and self.home.program in json.dumps(entry_of(self.kind, new), default=str), (before, now)
        if self.kind != "yaml" or old:  # an empty one of Continue's also gets its head
            assert without(self.kind, new) == without(self.kind, old), (before, now)
        return now


def bytes_are_as_before(kind, r, count):
    room, alone = Room(kind), 0
    for _ in range(count):
        before = FILES[kind][2](r).text()
        now = room.put(before)
        if now is None:
            alone += 1
            continue
        assert "has its entry in" in room.setup() and room.read() == now, (before, now)
        room.setup("--remove")
        assert room.read() == before, (before, now, room.read())
    assert alone < count / 4, "%d of %d were left alone" % (alone, count)
    return "%d of %d were left alone" % (alone, count)


def change_lines(kind, r, now, program):
    """A person's edit of TOML or YAML."""
    newline = "\r\n" if "\r\n" in now else "\n"
    block = (BLOCK[kind] % program).replace("\n", newline)
    ours = now.find(block)
    more = {"toml": ["startup_timeout_sec = 30\n", "[z]\nb = 1\n", "\n[z]\nb = 1\n", "[mcp_servers.upskilld.env]\nA = 'b'\n", "[mcp_servers.zz]\ncommand = 'c'\n",
                     "# a comment\n", "z = 1\n", "[[zz]]\n"],
            "yaml": ["    args: []\n", "  - name: other\n    command: o\n", "# a comment\n", "    # a comment\n", "zz: 1\n", "\nzz:\n  - 1\n"]}[kind]
    piece = r.choice(more).replace("\n", newline)
    places = [m.start() for m in re.finditer(r"(?m)^", now)]
    how = r.randrange(7)
    if how == 0 and ours >= 0:  # behind ours
        return now[:ours + len(block)] + piece + now[ours + len(block):]
    if how == 1 and ours >= 0:  # ours is moved
        rest = now[:ours] + now[ours + len(block):]
        at = r.choice([m.start() for m in re.finditer(r"(?m)^(?=\S|\Z)", rest)] or [0])
        return rest[:at] + block + rest[at:]
    if how == 2:
        return now.replace("\r\n", "\n") if newline == "\r\n" else now.replace("\n", "\r\n")
    if how == 3:
        return now.rstrip("\r\n") + r.choice(["", newline, newline * 3])
    if how == 4:
        return now.replace(r.choice(["command", "upskilld", "[mcp_servers", "  - "]), r.choice(['"command"', " upskilld", "[ mcp_servers", "  -  "]), 1)
    at = len(now) if how == 5 else r.choice(places)
    return now[:at] + ("" if not at or now[at - 1] == "\n" else newline) + piece + now[at:]


def change_json(kind, r, now, program):
    how = r.randrange(6)
    value = says(kind, now)
    if how == 0:
        return json.dumps(value, indent=r.choice([None, 1, 2, "\t"]), ensure_ascii=r.random() < 0.5)
    if how == 1:
        value["mcpServers"] = dict(sorted(value["mcpServers"].items(), key=lambda _: r.random()), **{"z": {"command": "upskilld"}})
        return json.dumps(value, indent=2)
    if how == 2:
        value["mcpServers"]["upskilld"].update(r.choice([{"env": {"A": "b"}}, {"args": ["x"]}, {"args": []}, {"disabled": False}, {"command": "/o/upskilld"}]))
        return json.dumps(value, indent=r.choice([None, 2]))
    if how == 3:
        return now.replace("\r\n", "\n") if "\r\n" in now else now.replace("\n", "\r\n")
    entry = re.search(r'"upskilld": \{"command": "[^"]*"\}', now)
    at = r.choice(entry.span()) if entry else 0
    return now[:at] + r.choice([" /* mine */ ", "\n// mine\n", "\n", "\t"]) + now[at:]


def edits_stay(kind, r, count):
    room, taken, alone = Room(kind), 0, 0
    for _ in range(count):
        now = room.put(FILES[kind][2](r).text())
        if now is None:
            continue
        mark = "\ufeff" * now.startswith("\ufeff")  # an editor keeps it where it is
        changed = mark + (change_json if kind == "json" else change_lines)(kind, r, now.removeprefix(mark), room.home.program)
        room.write(changed)
        said, after = room.setup("--remove"), room.read()
        old = says(kind, changed)
        story = (now, changed, after, said)
        if "left alone" in said or "has no entry" in said:
            alone += 1
            assert after == changed and ("left alone" in said or old is None or entry_of(kind, old) is None), story
            continue
        taken += 1
        assert old is not None, story
        if after is None:
            assert not set(without(kind, old)) - {"name", "version", "schema"} and not [c for c in lines_of("json", changed) if kind == "json"], story
            continue
        new = says(kind, after)
        left, kept = without(kind, old), without(kind, new) if new is not None else None
        assert kept == left or (kind == "yaml" and not kept and left == {"name": "upskilld", "version": "1.0.0", "schema": "v1"}), story
        assert entry_of(kind, new) is None and entry_of(kind, old).get("args", []) == [], story
        gone = lines_of(kind, changed)
        for line in lines_of(kind, after):
            assert line in gone, (line, story)
            gone.remove(line)
        ours = lines_of(kind, (BLOCK.get(kind, "") and BLOCK[kind] % room.home.program)) + ["name: upskilld", "version: 1.0.0", "schema: v1"]
        assert all(line in ours for line in gone), (gone, story)
    assert taken > count / 4, (taken, alone)
    return "%d taken out, %d left alone" % (taken, alone)


parser = argparse.ArgumentParser()
parser.add_argument("ctl", type=os.path.abspath)
parser.add_argument("--seed", type=int, default=int(os.environ.get("TEST_DRAW", "1")))
parser.add_argument("--count", type=int, default=40)
given = parser.parse_args()
Home.ctl = given.ctl
print("# seed %d%s" % (given.seed, "" if yaml else "; no PyYAML: YAML's lines are compared"))
tap = Tap()
for kind in FILES:
    for test in (bytes_are_as_before, edits_stay):
        tap.run("%s: %s" % (kind, test.__name__.replace("_", " ")), test, kind, random.Random("%d %s" % (given.seed, kind)), given.count)
sys.exit(tap.end())
