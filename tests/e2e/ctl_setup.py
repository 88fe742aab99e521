#!/usr/bin/env python3
"""upskillctl setup: every agent's file gets its entry, keeps all else, and is as before afterwards.

usage: ctl_setup.py UPSKILLCTL UPSKILLD

The files are read by Python's own parsers: json without comments, tomllib; YAML as lines.
"""
import json, os, re, shutil, stat, sys

from evaluate_support import Tap
from setup_home import CODEX, CONTINUE, JSON, QUICK, Home, plain_json

Home.ctl, REAL = (os.path.abspath(p) for p in sys.argv[1:3])
# What people's files look like; OUTER stands for the member of servers.
SHAPES = [
    "", "\n\n", " ", "\ufeff", "// nothing yet\n", "/* nothing yet */", "\r\n", "{\n}\n", "{\n  // nothing\n}\n", '{"a": [1,], "OUTER": {"x": {},},}\n',
    "{}", "{ }\n", "{\n}", "{\r\n}\r\n", '{"a": 1}', '{ "a": 1 }\n', '{"OUTER": {}}',
    '{\n  "OUTER": {}\n}\n', '{\n  "OUTER": {\n  }\n}\n', '{\n\t"theme": "dark",\n\t"OUTER": {\n\t\t"x": {"command": "y"}\n\t}\n}\n',
    '{\n    "OUTER": {\n        "x": {"command": "y", "args": ["{", "\\"}", "//"]},\n    },\n    // a comment, "OUTER": {\n    "z": null, /* } */\n}\n',
    '// settings\n{ // first\n  "a": [1, 2], // "b"\n  "OUTER": { // servers\n    "x": {} // last\n  }\n}\n',
    '{"OUTER":{"x":{}},"b":2}', '\ufeff{\n  "a": "\u00e9\U0001f600"\n}\n', '{\r\n  "a": 1,\r\n  "OUTER": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    '{"a": {"OUTER": {"upskilld": 1}}}\n', '{\n  "a": 1, "b": 2,\n\n  "OUTER": {"x": {"command": "y"}}\n}',
]
BAD = ["{", '{"a" 1}', "[]", "null", '{"OUTER": []}', '{"OUTER": 1, "a": 2}', '{"a": 1, "a": 2}', "{'a': 1}", "{} x", "\0",
       "{} /* no end", "{,}", '{"a": [,]}', '{"OUTER": {"x": {},,}}',
       '{"OUTER": {"upskilld": {"command": "/opt/other"}}}']


def new_files_come_and_go():
    home = Home()
    for agent in [*JSON, "codex", "continue"]:
        file = {"codex": CODEX, "continue": CONTINUE}.get(agent) or JSON[agent][0]
        said = home.setup(agent)
        assert "new file:" in said and "2 tools" in said, said
        text = home.read(file)
        assert json.dumps(home.program) in text
        assert stat.S_IMODE(os.stat(os.path.join(home.path, file)).st_mode) == 0o600
        assert "has its entry in" in home.setup(agent) and home.read(file) == text
        assert "deleted:" in home.setup(agent, "--remove")
        assert not os.path.exists(os.path.join(home.path, file)) and "no agent was found" in home.setup(status=1), file


def the_daemon_works_as_an_agent_starts_it():
    home = Home()
    said = home.setup("cursor", env={"UPSKILLD": REAL})
    assert "An agent gets 12 tools." in said and "kernel_check" in said, said


def shapes_are_kept():
    home = Home()
    for agent, (file, _, outer) in JSON.items():
        shapes = SHAPES if agent in ("claude-code", "opencode") else SHAPES[18:23]
        for shape in shapes:
            before = shape.replace("OUTER", outer)
            old = plain_json(before)
            home.write(file, before, 0o640)
            home.setup("--yes", agent)
            text = home.read(file)
            new = plain_json(text)
            entry = new[outer].pop("upskilld")
            assert home.program in (entry["command"], *entry["command"]), entry
            if outer not in old:
                assert new.pop(outer) == {}, (agent, before, text)
            if agent in ("opencode", "kilo"):
                assert new.pop("lsp") == {"upskilld": {"command": [home.program], "extensions": [".cu", ".cuh"]}}
            assert new == old, (agent, before, text)
            assert re.findall(r"//.*|/\*.*\*/", text) == re.findall(r"//.*|/\*.*\*/", before), text
            assert stat.S_IMODE(os.stat(os.path.join(home.path, file)).st_mode) == 0o640
            home.setup(agent, "--remove")
            assert home.read(file) == before, (agent, before, text, home.read(file))


def moved_entries_are_found():
    """What a person, or the agent itself, has written anew is taken out, and nothing else."""
    home = Home()
    file, _, outer = JSON["claude-code"]
    for left in ({"a": {"command": "b"}}, {}):
        for order in (lambda s: {**s, "upskilld": {"command": "/elsewhere/upskilld", "args": [], "disabled": False}},
                      lambda s: {**s, "upskilld": {"command": home.program, "env": {}}},
                      lambda s: {"upskilld": {"command": home.program}, **s}):
            for indent in (None, 2, "\t"):
                home.write(file, json.dumps({"x": 1, outer: order(left), "y": [2]}, indent=indent))
                home.setup("claude-code", "--remove")
                assert json.loads(home.read(file)) == {"x": 1, outer: left, "y": [2]}
    entry = '"upskilld": {"command": "/o/upskilld"}'
    for before, after in (('{"OUTER": {"a": {}, // a\n  ENTRY /* b */\n}, "c": [1,] // d\n}', '{"OUTER": {"a": {} // a\n   /* b */\n}, "c": [1,] // d\n}'),
                          ('{"OUTER": {// a\n  ENTRY,\n  "b": {}}}', '{"OUTER": {// a\n  "b": {}}}'),
                          ('{"OUTER": {"b": {},\n  ENTRY, // a\n}}', '{"OUTER": {"b": {}, // a\n}}')):
        home.write(file, before.replace("OUTER", outer).replace("ENTRY", entry))
        home.setup("claude-code", "--remove")
        assert home.read(file) == after.replace("OUTER", outer), home.read(file)


def another_programs_entry_stays():
    """Of our name and with somebody's wrapper: neither replaced nor taken out."""
    home = Home()
    file, _, outer = JSON["claude-code"]
    ours = {"type": "stdio", "command": home.program}
    for entry in (*({"command": c, "env": {"KEY": "v"}} for c in ("/my/wrapper", "uvx", ["/my/wrapper", "upskilld"])),
                  {**ours, "env": {"KEY": "v"}}, {**ours, "args": ["--worker", "x"]}, {**ours, "type": "local"}, {**ours, "cwd": "/x"},
                  {**ours, "env": {"CUDA_HOME": "/c", "KEY": "v"}}, {**ours, "disabled": True}, {"command": [home.program, "x"]}):
        before = json.dumps({outer: {"upskilld": entry, "b": {}}})
        home.write(file, before)
        for words in ((), ("--remove",)):
            said = home.setup("claude-code", *words, status=0 if words else 1)
            assert "left alone" in said and 'line 1 has an entry "upskilld" that is not as setup writes it' in said and "by hand" not in said, said
            assert ("delete it and run setup again" in said) == (not words), said
            assert home.read(file) == before, (entry, words)


def folders_of_others_stay():
    home = Home()
    home.write(".cursor/rules/a.md", "")
    os.mkdir(home.path + "/codex")
    os.makedirs(home.path + "/xdg/zed")
    env = {"CODEX_HOME": home.path + "/codex", "XDG_CONFIG_HOME": home.path + "/xdg/"}
    for words in ([], ["--remove"]):
        home.setup("cursor", "codex", "zed", *words, env=env)
    assert os.listdir(home.path + "/.cursor") == ["rules"] and os.listdir(home.path + "/codex") == []
    assert os.listdir(home.path + "/xdg") == ["zed"]


def skills_alone_are_no_agent():
    """Which skill/install puts there, for an agent that may come later."""
    home = Home()
    os.makedirs(home.path + "/.codex/skills")
    home.write(".cursor/skills/a/SKILL.md", "")
    assert "no agent was found" in home.setup("--print", status=1)
    home.write(".cursor/rules/a.md", "")
    assert re.findall("(?m)^(Codex|Cursor) ", home.setup("--print")) == ["Cursor"]


def the_daemons_variables_go_with_the_entry():
    """Many agents start it without the shell's environment."""
    home = Home()
    env = {"UPSKILLD_CUDA": home.path + '/cu "da"'}
    seen = home.path + "/seen"
    home.write("bin/upskilld", QUICK.replace("import json, sys", f"import json, os, sys; open({seen!r}, 'w').write(os.environ.get('UPSKILLD_CUDA', ''))"),
               0o755)
    for agent, (file, _, outer) in JSON.items():
        home.setup(agent, env=env)
        member = "environment" if agent in ("opencode", "kilo") else "env"
        entries = [(json.loads(home.read(file))[outer]["upskilld"], member)]
        if member == "environment":
            entries.append((json.loads(home.read(file))["lsp"]["upskilld"], "env"))
        assert all(entry[name] == env for entry, name in entries), entries
        assert home.read("seen") == env["UPSKILLD_CUDA"]
        home.setup(agent, "--remove")
        assert not os.path.exists(os.path.join(home.path, file))
    home.setup("continue", env=env)
    assert home.read(CONTINUE).endswith("\n    env:\n      UPSKILLD_CUDA: %s\n" % json.dumps(env["UPSKILLD_CUDA"]))


def bad_files_are_left_alone():
    home = Home()
    file, _, outer = JSON["claude-code"]
    for bad in BAD:
        before = bad.replace("OUTER", outer)
        home.write(file, before)
        said = home.setup("claude-code", status=1)
        own = "upskilld" in bad
        assert "left alone" in said and ("by hand" in said and json.dumps(home.program) in said) == (not own), said
        assert home.read(file) == before


def what_would_be_another_file_is_left_alone():
    home = Home()
    home.write("dotfiles/claude.json", "{}\n")
    os.symlink(home.path + "/dotfiles/claude.json", home.path + "/.claude.json")
    assert "it is a link" in home.setup("claude-code", status=1)
    assert home.read("dotfiles/claude.json") == "{}\n" and os.path.islink(home.path + "/.claude.json")
    os.mkdir(home.path + "/.cursor")
    os.mkdir(home.path + "/.cursor/mcp.json")
    assert "left alone" in home.setup("cursor", status=1)
    home.write(".gemini/settings.json", "{}", 0o400)
    assert "it is read-only" in home.setup("gemini-cli", status=1) and home.read(".gemini/settings.json") == "{}"
    home.write(".qwen/settings.json", "{}")
    os.link(home.path + "/.qwen/settings.json", home.path + "/other")
    said = home.setup("qwen-code", status=1)
    assert "it has hard links" in said and "entry added" not in said and home.read("other") == "{}" and os.stat(home.path + "/other").st_nlink == 2


def what_is_not_written_is_looked_at():
    """A link, a hard link and a read-only file, with no entry, somebody's own, and setup's."""
    home = Home()
    file = JSON["cursor"][0]
    own = '{"x": 1,\n "mcpServers": {"a": {},\n  "upskilld": {"command": "/my/wrapper"}}}'
    home.write(file, '{"x": 1}\n')
    home.setup("cursor")
    ours = home.read(file)
    for make, why in ((lambda a, b: os.symlink(a, b), "it is a link"), (os.link, "it has hard links"), (lambda a, b: home.write(file, home.read("kept"), 0o400), "it is read-only")):
        for text, status, says in (('{"x": 1}\n', 0, "has no entry in"), ("", 0, "has no entry in"), (own, 0, "line 3 has an entry"),
                                   (ours, 1, why + '. Remove the entry "upskilld" on line 1 by hand.')):
            home.write("kept", text)
            os.remove(os.path.join(home.path, file))
            make(home.path + "/kept", os.path.join(home.path, file))
            said = home.setup("cursor", "--remove", status=status)
            assert says in said and home.read(file) == text, (why, text, said)
        assert "has its entry in" in home.setup("cursor")
        home.write("kept", '{"mcpServers": {"a": {}}}', 0o400)
        said = home.setup("cursor", status=1) if why != "it is read-only" else ""  # which is another file
        assert not said or 'by hand:\n    "mcpServers": { …, "upskilld": {"command": "%s"} }\n' % home.program in said, said
    os.remove(os.path.join(home.path, file))
    os.symlink("nowhere", os.path.join(home.path, file))
    assert "has no entry in" in home.setup("cursor", "--remove") and "it is a link" in home.setup("cursor", status=1)


def of_two_entries_one_may_be_somebodys():
    home = Home()
    home.write(JSON["opencode"][0], "{}")
    home.setup("opencode")
    said = json.loads(home.read(JSON["opencode"][0]))
    own = said["lsp"]["upskilld"] = {"command": ["other"]}
    home.write(JSON["opencode"][0], json.dumps(said))
    home.setup("opencode", "--remove")
    left = json.loads(home.read(JSON["opencode"][0]))
    assert left["lsp"] == {"upskilld": own} and not left.get("mcp"), left


def owner_and_mode_stay():
    home = Home()
    home.write(CODEX, "a = 1\n", 0o664)
    path = os.path.join(home.path, CODEX)
    mask = os.umask(0o077)
    if not os.getuid():
        os.chown(path, 1234, 2345)
    was = os.stat(path)
    for words in ([], ["--remove"]):
        home.setup("codex", *words)
        now = os.stat(path)
        assert (now.st_uid, now.st_gid, now.st_mode) == (was.st_uid, was.st_gid, was.st_mode), now
    os.umask(mask)


def what_cannot_be_written_is_not_told_as_done():
    home = Home()
    home.write(".cursor", "a file where the folder should be")
    home.write(CODEX, "a = 1\n")
    for agent in ("cursor", "codex", "qwen-code"):
        said = home.setup(agent, status=1, full=True)
        assert not re.search("new file:|entry added", said) and "left alone" in said and "Restart the agents" not in said, said
    home.setup("codex")
    before = home.read(CODEX)
    assert "taken out of" not in home.setup("codex", "--remove", status=1, full=True) and home.read(CODEX) == before
    assert os.listdir(home.path + "/.codex") == ["config.toml"] and os.listdir(home.path + "/.qwen") == []


def toml_is_kept():
    import tomllib
    home = Home()
    for before in ("", 'model = "o3"\n', 'model = "o3"', '[mcp_servers.x]\ncommand = "y"\n\n[tui]\ntheme = "z"\n', "a = 1\r\n",
                   'a = """\n[b]\n"""\n', 'mcp_servers.x.command = "y"\n'):
        home.write(CODEX, before)
        said = home.setup("codex", env={"CUDA_HOME": "/opt/cuda"})
        assert '    [mcp_servers.upskilld]\n    command = "%s"\n' % home.program in said, said  # shown, although not asked
        new = tomllib.loads(home.read(CODEX))
        assert new.pop("mcp_servers")["upskilld"] == {"command": home.program, "env": {"CUDA_HOME": "/opt/cuda"}}
        old = tomllib.loads(before)
        old.pop("mcp_servers", None)
        assert new == old
        home.setup("codex", "--remove", env={"CUDA_HOME": "/opt/cuda"})
        if before:
            assert home.read(CODEX) == before, (before, home.read(CODEX))
    before = 'a = 1\nmcp_servers = {x = {command = "y"}}\n'
    home.write(CODEX, before)
    said = home.setup("codex", status=1)
    assert '"mcp_servers" on line 2 is one inline table' in said and "[mcp_servers.upskilld]" not in said and home.read(CODEX) == before, said
    for before in ('[mcp_servers.x\ncommand = "a"\n', 'a = """\nb\n', "a = \n"):
        home.write(CODEX, before)
        said = home.setup("codex", status=1)
        assert "left alone" in said and "TOML: line " in said and home.read(CODEX) == before, (before, said)
        assert "Add this by hand" in said and "\n    [mcp_servers.upskilld]\n" in said, said
    for before, says in (('[mcp_servers.upskilld]\ncommand = "z"\n', "line 1 has an entry"), ('[mcp_servers]\n"upskilld" = {command = "z"}\n', "line 2 has an entry"),
                         ("[[mcp_servers]]\na = 1\n", "its other content would change"), ("mcp_servers = 1\n", "TOML: line ")):
        home.write(CODEX, before)
        said = home.setup("codex", status=1)
        assert says in said and home.read(CODEX) == before and ("by hand" in said) == ("has an entry" not in says), (before, said)


def toml_entries_are_where_toml_says():
    """Not in comments and texts; and however a person writes the table's name."""
    home = Home()
    block = '[mcp_servers.upskilld]\ncommand = "%s"\n' % home.program
    for before in ("# " + block.replace("\n", "\n# ") + "\n", 'a = """\n%s"""\n' % block.replace('"', "'"), "a = '''\n%s'''\n" % block,
                   'name = "upskilld"\n', "[a]\n[b.mcp_servers.upskilld]\ncommand = 1\n"):
        home.write(CODEX, before)
        assert "has no entry" in home.setup("codex", "--remove") and home.read(CODEX) == before, before
        assert "entry added to" in home.setup("codex") and home.read(CODEX) == before + "\n" + block, before
        assert "entry removed" in home.setup("codex", "--remove") and home.read(CODEX) == before, before
    value = '{command = "%s"}\n' % home.program
    for before in ('["mcp_servers"."upskilld"]\ncommand = "%s"\n' % home.program, "[mcp_servers . 'upskilld']\ncommand = '%s'\n" % home.program,
                   "mcp_servers = {upskilld = %s}\n" % value.strip(), "[mcp_servers]\nupskilld = " + value, "mcp_servers.upskilld = " + value,
                   'mcp_servers.upskilld.command = "%s"\n' % home.program):
        home.write(CODEX, before)
        assert "has its entry in" in home.setup("codex") and home.read(CODEX) == before, before
        said = home.setup("codex", "--remove", status=1)
        assert "not as, or not where, setup writes it. Remove the entry" in said and "by hand" in said and home.read(CODEX) == before, (before, said)


def variables_go_with_the_entry_they_came_with():
    """Set when it was put in, and not, or otherwise, when it is taken out."""
    home = Home()
    for agent, file, before in (("codex", CODEX, "a = 1\n"), ("continue", CONTINUE, "name: a\n"), ("claude-code", ".claude.json", "{}\n")):
        home.write(file, before)
        for now in ({}, {"CUDA_HOME": "/b", "UPSKILLD_WORKER": "w"}):
            home.setup(agent, env={"CUDA_HOME": "/a"})
            assert "CUDA_HOME" in home.read(file)
            home.setup(agent, "--remove", env=now)
            assert home.read(file) == before, home.read(file)


def empty_files_stay():
    home = Home()
    for agent, file in (("codex", CODEX), ("continue", CONTINUE)):
        for before in ("", "\n", "\n\n", "\r\n", "# nothing yet\n", "# nothing yet", "\ufeff"):
            home.write(file, before)
            assert "entry added to" in home.setup(agent), before
            if agent == "continue":
                assert "\nname: upskilld\n" in home.read(file).replace("\r", ""), home.read(file)
            assert "entry removed from" in home.setup(agent, "--remove") and home.read(file) == before, (before, home.read(file))


def what_was_added_to_the_entry_stays():
    home = Home()
    for agent, name, before, more in (("codex", CODEX, "a = 1\n", "startup_timeout_sec = 30\n"), ("codex", CODEX, "a = 1\n", "\nb = 2\n"),
                                      ("codex", CODEX, "a = 1\n", '\n[mcp_servers.upskilld.tools.x]\napproval_mode = "approve"\n'),
                                      ("continue", CONTINUE, "name: a\n", "    args: []\n")):
        home.write(name, before)
        home.setup(agent)
        changed = home.read(name) + more
        home.write(name, changed)
        apart = agent == "continue"  # the entry says what it said, and something follows it
        said = home.setup(agent, "--remove", status=int(apart))
        assert "left alone" in said and ("on line 4 by hand" if apart else "has an entry") in said and home.read(name) == changed, (more, said)
    home.write(CONTINUE, "name: a\n")
    home.setup("continue")
    home.write(CONTINUE, home.read(CONTINUE) + '  - name: other\n    command: "o"\n')
    home.setup("continue", "--remove")
    assert home.read(CONTINUE) == 'name: a\n\nmcpServers:\n  - name: other\n    command: "o"\n'
    for more in ('\n[projects."/x"]\ntrust_level = "trusted"\n', ""):  # ours is what the file begins with
        os.remove(os.path.join(home.path, CODEX))
        home.setup("codex")
        home.write(CODEX, home.read(CODEX) + more)
        home.setup("codex", "--remove")
        assert not more or home.read(CODEX) == more
        home.write(CODEX, more)


def yaml_is_kept():
    home = Home()
    for before in ("name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: m\n", "name: mine\nschema: v1"):
        home.write(CONTINUE, before)
        assert "version:" not in home.setup("continue")  # shown is what is written
        assert re.search(r"\nmcpServers:\n  - name: upskilld\n    command: \"%s\"" % re.escape(home.program), home.read(CONTINUE))
        home.setup("continue", "--remove")
        assert home.read(CONTINUE) == before
    for before in ("name: mine\nmcpServers: [{name: x, command: y}]\n", "name: mine\nmcpServers:\n"):
        home.write(CONTINUE, before)
        said = home.setup("continue", status=1)
        assert home.read(CONTINUE) == before and '"mcpServers" on line 2 does not have each entry on lines of its own. Add this by hand:\n      - name: upskilld\n' in said, (before, said)
        assert not re.search("(?m)^ *(version|schema|mcpServers):", said), said
    own = "name: a\nmcpServers:\n- name: upskilld2\n  command: y\n- command: z\n  name: \"upskilld\"\n"
    home.write(CONTINUE, own)
    assert "line 6 has an entry" in home.setup("continue", "--remove") and "line 6 has an entry" in home.setup("continue", status=1)
    assert home.read(CONTINUE) == own
    for before in ("name: [\n", "{name: mine}\n", "- name\n"):
        home.write(CONTINUE, before)
        said = home.setup("continue", status=1)
        assert "left alone" in said and "YAML: line " in said and home.read(CONTINUE) == before, (before, said)
    for before in ("name: a\nprompt: |+\n  text\n", "name: a\nprompt: >+\n  text\n\n", "name: a\nprompt: |\n  text"):
        home.write(CONTINUE, before)
        said = home.setup("continue", status=1)
        assert "its other content would change" in said and home.read(CONTINUE) == before, (before, said)
    home.write(CONTINUE, "name: a\nversion: 1.0.0\nschema: v2\n")
    assert "its schema is v2" in home.setup("continue", status=1) and home.read(CONTINUE).endswith("schema: v2\n")
    block = '\nmcpServers:\n  - name: upskilld\n    command: "%s"\n' % home.program
    for before in ("name: a\nprompt: |\n  name: upskilld%s" % block.replace("\n", "\n  "), "name: a\n#" + block.replace("\n", "\n#") + "\n"):
        home.write(CONTINUE, before)
        assert "has no entry" in home.setup("continue", "--remove") and home.read(CONTINUE) == before, before


def a_yaml_list_gets_an_item():
    home = Home()
    for before in ("name: mine\nmcpServers:\n  - name: x\n    command: y\n", "mcpServers:  # mine\n\n# first\n- name: x\n  command: y\nname: mine",
                   "mcpServers:\r\n    - command: y\r\n      name: x\r\n\r\nname: mine\r\n", "mcpServers:\n  - name: x\n    command: |\n      - name: upskilld\nname: m\n"):
        home.write(CONTINUE, before)
        assert "      - name: upskilld\n" in home.setup("continue")
        after = home.read(CONTINUE)
        newline = "\r\n" if "\r" in before else "\n"
        at = next(m for m in re.finditer(r"(?m)^( *)- ", before))
        assert after == before[:at.start()] + "%s- name: upskilld%s%s  command: %s%s" % (
            at[1], newline, at[1], json.dumps(home.program), newline) + before[at.start():], after
        assert "has its entry in" in home.setup("continue")
        for moved in (after, after + (newline if after[-1] != "\n" else "") + "tail: 1" + newline):
            home.write(CONTINUE, moved)
            home.setup("continue", "--remove")
            assert home.read(CONTINUE) == before + moved[len(after):], (before, home.read(CONTINUE))


def a_yaml_mapping_gets_a_member():
    home, file = Home(), ".config/goose/config.yaml"
    for before in ("a: b\nextensions:\n  x:\n    cmd: y\n\n# end\nz: 1\n", "extensions:\n    x: {}\nz: 1", "extensions:\r\n  x:\r\n    cmd: y\r\n"):
        home.write(file, before)
        assert "      upskilld:\n" in home.setup("goose", env={"CUDA_HOME": '/c "d"'})
        newline, at = "\r\n" if "\r" in before else "\n", re.search("(?m)^( +)x", before)
        lines = ["upskilld:", "  enabled: true", "  type: stdio", "  name: upskilld", "  cmd: " + json.dumps(home.program), "  args: []",
                 "  timeout: 300", "  envs:", "    CUDA_HOME: " + json.dumps('/c "d"')]
        assert home.read(file) == before[:at.start()] + "".join(at[1] + line + newline for line in lines) + before[at.start():], home.read(file)
        home.setup("goose", "--remove")
        assert home.read(file) == before
    for before in ("extensions: {x: {}}\n", "extensions:\n- x\n", "extensions: []\n"):
        home.write(file, before)
        assert "does not have each entry" in home.setup("goose", status=1) and home.read(file) == before


def a_killed_setups_file_goes_next_time():
    home = Home()
    old, new, others = (".cursor/.upskilld-%s.tmp" % (32 * "a"), ".cursor/.upskilld-%s.tmp" % (32 * "b"), ".cursor/.upskilld-notes.tmp")
    for name in (old, new, others):
        home.write(name, "half a file")
    for name in (old, others):
        os.utime(os.path.join(home.path, name), (1, 1))
    home.setup("cursor")
    assert sorted(os.listdir(home.path + "/.cursor")) == sorted([os.path.basename(new), os.path.basename(others), "mcp.json"])


def a_project_has_files_of_its_own():
    home = Home()
    for agent in [*JSON, "codex", "continue"]:
        file = {"codex": ".codex/config.toml", "continue": ".continue/mcpServers/upskilld.yaml"}.get(agent) or JSON[agent][1]
        said = home.setup(agent, "--scope", "project")
        if file is None:
            assert "no file in a project" in said, said
            continue
        assert json.dumps(home.program) in home.read("project/" + file), said
        home.setup(agent, "--scope", "project", "--remove")
        assert not os.path.exists(os.path.join(home.path, "project", file))


def two_agents_may_share_a_file():
    """Claude Code and Copilot CLI, whose entries are the same: Claude Code refuses a file with Copilot's type "local"."""
    home = Home()
    for words in (["claude-code", "copilot-cli"], ["copilot-cli", "claude-code"], ["copilot-cli"]):
        said = home.setup(*words, "--scope", "project")
        assert ".mcp.json, which " in said and json.loads(home.read("project/.mcp.json")) == {
            "mcpServers": {"upskilld": {"type": "stdio", "command": home.program}}}, said
        for agent in ("claude-code", "copilot-cli"):
            assert "has its entry in" in home.setup(agent, "--scope", "project")
        said = home.setup(*words, "--scope", "project", "--remove")
        assert re.search(r"deleted: .mcp.json, which (Claude Code|Copilot CLI) reads too\n", said), said
        assert not os.path.exists(home.path + "/project/.mcp.json")
    home.setup("claude-code", "--scope", "project")
    assert "deleted: .mcp.json, which Claude Code reads too" in home.setup("copilot-cli", "--scope", "project", "--remove")


def both_files_of_an_agent_count():
    """opencode reads opencode.json and opencode.jsonc."""
    home = Home()
    names = [".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"]
    for having in (0, 1):
        for name in names:
            home.write(name, '{"a": 1}')
        os.remove(os.path.join(home.path, names[1 - having]))
        home.setup("opencode")
        home.write(names[1 - having], '{"b": 1}')
        assert "has its entry in %s/%s\n" % (home.path, names[having]) in home.setup("opencode")
        home.write(names[1 - having], home.read(names[having]))
        assert home.setup("opencode", "--remove").count("entry removed from") == 2
        assert [home.read(name) for name in names] == ['{"a": 1}'] * 2
    home.write(names[1], '{"mcp": {"upskilld": {"command": ["other"]}}}')
    assert "line 1 has an entry" in home.setup("opencode", status=1) and home.read(names[0]) == '{"a": 1}'


def nothing_is_written_unasked():
    home = Home()
    assert "no agent was found" in home.setup(status=1) and "No agent here has a file" in home.setup("--remove")
    home.write("project/.mcp.json", '{"mcpServers": {"upskilld": {"command": "other"}}}')  # of a team; no agent is here
    assert "left alone" in home.setup("--remove", "--scope", "project", "--yes")
    home.write("project/.mcp.json", "{}")
    assert "has no entry in" in home.setup("--remove", "--scope", "project")
    home.write(".cursor/rules", "")
    home.write(JSON["gemini-cli"][0], "{}")
    for words in ([], ["--print"], ["cursor", "--print"]):
        said = home.setup(*words, status=0 if words else 1)
        assert "Cursor" in said and '"upskilld"' in said and "would be a new file:" in said, said
        assert "entry added" not in said and (words == ["cursor", "--print"] or "entry would be added to" in said), said
        assert os.listdir(home.path + "/.cursor") == ["rules"] and home.read(JSON["gemini-cli"][0]) == "{}"
    home.setup("--yes")
    assert sorted(os.listdir(home.path + "/.cursor")) == ["mcp.json", "rules"]
    said = home.setup("--remove", status=1)
    assert "would be deleted:" in said and "entry would be removed from" in said and "nothing was written" in said, said
    assert "upskilld" in home.read(JSON["gemini-cli"][0]) and not os.path.exists(home.path + "/.qwen")


def wrong_words_say_what_is_right():
    home = Home()
    for words, says in ((["emacs"], 'no agent "emacs"'), (["claud-code"], 'no agent "claud-code"; did you mean claude-code?'),
                        (["claude"], "did you mean claude-code?"), (["co"], "did you mean co"), (["--scope", "claude"], 'not "claude"\n'),
                        (["--scop"], "did you mean --scope?"), (["--scope"], "user or project"), (["--scope", "all"], "user or project"),
                        (["--dry-run"], 'no option "--dry-run"')):
        said = home.setup(*words, status=2)
        assert says in said and "upskillctl setup --help" in said, said
    said = home.setup("--help")
    assert all(agent in said for agent in [*JSON, "codex", "continue"]) and "example:" in said


def a_program_that_does_not_answer_is_told():
    home = Home()
    said = home.setup("cursor", status=1, env={"UPSKILLD": "/bin/false"})
    assert "error:" in said and "the daemon ended" in said, said


def what_no_agent_could_start_is_not_written():
    home = Home()
    for env in ({"UPSKILLD": "upskilld"}, {"UPSKILLD": home.path + "/none"}):
        for words in (["cursor"], ["cursor", "--print"]):
            assert "upskilld was not found" in home.setup(*words, status=1, env=env), env
    home.write(".cache/uv/archive-v0/hHdDEUn9/bin/upskilld", QUICK, 0o755)  # as uvx has it
    assert "in uv's cache" in home.setup("cursor", status=1, env={"UPSKILLD": home.path + "/.cache/uv/archive-v0/hHdDEUn9/bin/upskilld"})
    shutil.rmtree(home.path + "/.cache")
    for directory in ("", "relative"):
        said = home.setup("cursor", status=1, env={"HOME": directory})
        assert "left alone" in said and "HOME is not an absolute path" in said and json.dumps(home.program) in said, said
    assert sorted(os.listdir(home.path)) == ["bin", "project"] and not os.listdir(home.path + "/project")
    home.setup("cursor")
    assert "deleted:" in home.setup("cursor", "--remove", env={"UPSKILLD": home.path + "/none"})


tap = Tap()
for test in (the_daemon_works_as_an_agent_starts_it, new_files_come_and_go, shapes_are_kept, moved_entries_are_found, another_programs_entry_stays,
             folders_of_others_stay, skills_alone_are_no_agent, the_daemons_variables_go_with_the_entry, variables_go_with_the_entry_they_came_with, bad_files_are_left_alone,
             what_would_be_another_file_is_left_alone, what_is_not_written_is_looked_at,
             of_two_entries_one_may_be_somebodys, owner_and_mode_stay, what_cannot_be_written_is_not_told_as_done, toml_is_kept,
             toml_entries_are_where_toml_says, empty_files_stay, what_was_added_to_the_entry_stays, yaml_is_kept, a_yaml_list_gets_an_item, a_yaml_mapping_gets_a_member,
             a_killed_setups_file_goes_next_time, a_project_has_files_of_its_own,
             two_agents_may_share_a_file, both_files_of_an_agent_count, nothing_is_written_unasked, wrong_words_say_what_is_right,
             a_program_that_does_not_answer_is_told, what_no_agent_could_start_is_not_written):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
