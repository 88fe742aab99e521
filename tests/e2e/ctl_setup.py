#!/usr/bin/env python3
"""upskillctl setup: every agent's file gets its entry, keeps all else, and is as before afterwards.

usage: ctl_setup.py UPSKILLCTL UPSKILLD

The files are read by Python's own parsers: json without comments, tomllib; YAML as lines.
"""
import json, os, re, stat, subprocess, sys, tempfile

from evaluate_support import Tap

CTL, REAL = (os.path.abspath(p) for p in sys.argv[1:3])
# Answers at once; the real daemon, which compiles a kernel each time, is for the first test.
QUICK = """#!/usr/bin/env python3
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"tools": [1, 2]} if asked["method"] == "tools/list" else {"content": [{"type": "text", "text": "ok"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
JSON = {  # agent: file beneath the home folder, file in a project, member of servers
    "claude-code": (".claude.json", ".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json", "mcpServers"),
    "vscode": (".config/Code/User/mcp.json", ".vscode/mcp.json", "servers"),
    "copilot-cli": (".copilot/mcp-config.json", ".mcp.json", "mcpServers"),
    "gemini-cli": (".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "qwen-code": (".qwen/settings.json", ".qwen/settings.json", "mcpServers"),
    "opencode": (".config/opencode/opencode.json", "opencode.json", "mcp"),
    "kilo": (".config/kilo/kilo.json", "kilo.json", "mcp"),
    "zed": (".config/zed/settings.json", ".zed/settings.json", "context_servers"),
    "cline": (".cline/data/settings/cline_mcp_settings.json", None, "mcpServers"),
}
CODEX, CONTINUE = ".codex/config.toml", ".continue/config.yaml"
# What people's files look like; OUTER stands for the member of servers. Not "{\n}\n": with the entry it is what setup
# makes where there is no file, and goes with the entry.
SHAPES = [
    "{}", "{ }\n", "{\n}", "{\r\n}\r\n", '{"a": 1}', '{ "a": 1 }\n', '{"OUTER": {}}',
    '{\n  "OUTER": {}\n}\n', '{\n  "OUTER": {\n  }\n}\n', '{\n\t"theme": "dark",\n\t"OUTER": {\n\t\t"x": {"command": "y"}\n\t}\n}\n',
    '{\n    "OUTER": {\n        "x": {"command": "y", "args": ["{", "\\"}", "//"]},\n    },\n    // a comment, "OUTER": {\n    "z": null, /* } */\n}\n',
    '// settings\n{ // first\n  "a": [1, 2], // "b"\n  "OUTER": { // servers\n    "x": {} // last\n  }\n}\n',
    '{"OUTER":{"x":{}},"b":2}', '\ufeff{\n  "a": "\u00e9\U0001f600"\n}\n', '{\r\n  "a": 1,\r\n  "OUTER": {\r\n    "x": {}\r\n  }\r\n}\r\n',
    '{"a": {"OUTER": {"upskilld": 1}}}\n', '{\n  "a": 1, "b": 2,\n\n  "OUTER": {"x": {"command": "y"}}\n}',
]
BAD = ["{", '{"a" 1}', "[]", "null", '{"OUTER": []}', '{"OUTER": 1, "a": 2}', '{"a": 1, "a": 2}', "{'a': 1}", "{} x", "\0",
       '{"OUTER": {"upskilld": {"command": "/opt/other"}}}']


def plain_json(text):
    """Without comments and last commas, by a way of its own: one expression over tokens."""
    text = text.lstrip("\ufeff")
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text, flags=re.S)
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda m: m.group(1) or "", text))


class Home:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ctl-setup-")
        self.path = os.path.realpath(self.folder.name)
        os.mkdir(self.path + "/project")
        self.write("bin/upskilld", QUICK, 0o755)
        self.program = self.path + "/bin/upskilld"
        self.env = {"HOME": self.path, "PATH": "/usr/bin:/bin", "UPSKILLD": self.program}

    def write(self, name, text, mode=0o600):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(text.encode())
        os.chmod(path, mode)

    def read(self, name):
        with open(os.path.join(self.path, name), "rb") as f:
            return f.read().decode()

    def setup(self, *words, status=0, env={}):
        done = subprocess.run([CTL, "setup", *words], cwd=self.path + "/project", env={**self.env, **env},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr


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
        assert sorted(os.listdir(home.path)) == ["bin", "project"], file


def the_daemon_works_as_an_agent_starts_it():
    home = Home()
    said = home.setup("cursor", env={"UPSKILLD": REAL})
    assert "An agent gets 12 tools." in said and "kernel_check" in said, said


def shapes_are_kept():
    home = Home()
    for agent, (file, _, outer) in JSON.items():
        shapes = SHAPES if agent in ("claude-code", "opencode") else SHAPES[9:13]
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
        for order in (lambda s: {**s, "upskilld": {"command": home.program, "env": {}}},
                      lambda s: {"upskilld": {"command": home.program}, **s}):
            for indent in (None, 2, "\t"):
                home.write(file, json.dumps({"x": 1, outer: order(left), "y": [2]}, indent=indent))
                home.setup("claude-code", "--remove")
                assert json.loads(home.read(file)) == {"x": 1, outer: left, "y": [2]}


def another_programs_entry_stays():
    """Of our name and with somebody's wrapper: neither replaced nor taken out."""
    home = Home()
    file, _, outer = JSON["claude-code"]
    for command in ("/my/wrapper", "uvx", ["/my/wrapper", "upskilld"]):
        before = json.dumps({outer: {"upskilld": {"command": command, "env": {"KEY": "v"}}, "b": {}}})
        home.write(file, before)
        for words in ((), ("--remove",)):
            said = home.setup("claude-code", *words, status=1)
            assert "left alone" in said and 'has another "upskilld"' in said, said
            assert home.read(file) == before, (command, words)


def folders_of_others_stay():
    home = Home()
    home.write(".cursor/rules/a.md", "")
    os.mkdir(home.path + "/codex")
    os.makedirs(home.path + "/xdg/zed")
    env = {"CODEX_HOME": home.path + "/codex", "XDG_CONFIG_HOME": home.path + "/xdg/"}
    for words in ([], ["--remove"]):
        home.setup("cursor", "codex", "zed", *words, env=env)
    assert os.listdir(home.path + "/.cursor") == ["rules"] and os.listdir(home.path + "/codex") == []
    assert os.listdir(home.path + "/xdg") == []


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
        assert "left alone" in said and "by hand" in said and json.dumps(home.program) in said, said
        assert home.read(file) == before


def links_and_locked_files_are_left_alone():
    home = Home()
    home.write("dotfiles/claude.json", "{}\n")
    os.symlink(home.path + "/dotfiles/claude.json", home.path + "/.claude.json")
    assert "it is a link" in home.setup("claude-code", status=1)
    assert home.read("dotfiles/claude.json") == "{}\n" and os.path.islink(home.path + "/.claude.json")
    os.mkdir(home.path + "/.cursor")
    os.mkdir(home.path + "/.cursor/mcp.json")
    assert "left alone" in home.setup("cursor", status=1)
    if os.getuid():
        home.write(".gemini/settings.json", "{}", 0o400)
        assert "cannot be written" in home.setup("gemini-cli", status=1)


def toml_is_kept():
    import tomllib
    home = Home()
    for before in ("", 'model = "o3"\n', 'model = "o3"', '[mcp_servers.x]\ncommand = "y"\n\n[tui]\ntheme = "z"\n', "a = 1\r\n",
                   'a = """\n[b]\n"""\n', 'mcp_servers.x.command = "y"\n'):
        home.write(CODEX, before)
        said = home.setup("codex", env={"CUDA_HOME": "/opt/cuda"})
        assert '    [mcp_servers.upskilld]\n    command = "%s"\n' % home.program in said, said  # shown, although not asked
        new = tomllib.loads(home.read(CODEX))
        assert new.pop("mcp_servers")["upskilld"] == {"command": home.program, "env_vars": ["CUDA_HOME"]}
        old = tomllib.loads(before)
        old.pop("mcp_servers", None)
        assert new == old
        home.setup("codex", "--remove", env={"CUDA_HOME": "/opt/cuda"})
        if before:
            assert home.read(CODEX) == before, (before, home.read(CODEX))
    for before in ('mcp_servers = {x = {command = "y"}}\n', '[mcp_servers.upskilld]\ncommand = "z"\n',
                   '[mcp_servers]\n"upskilld" = {command = "z"}\n', '[mcp_servers.x\ncommand = "a"\n', 'a = """\nb\n', "a = \n"):
        home.write(CODEX, before)
        said = home.setup("codex", status=1)
        assert "left alone" in said and "TOML: line " in said and home.read(CODEX) == before, (before, said)
        assert "Add this by hand" in said and "\n    [mcp_servers.upskilld]\n" in said, said


def what_was_added_to_the_entry_stays():
    home = Home()
    for agent, name, before, more in (("codex", CODEX, "a = 1\n", "startup_timeout_sec = 30\n"), ("codex", CODEX, "a = 1\n", "\nb = 2\n"),
                                      ("codex", CODEX, "a = 1\n", '\n[mcp_servers.upskilld.tools.x]\napproval_mode = "approve"\n'),
                                      ("continue", CONTINUE, "name: a\n", '  - name: other\n    command: "o"\n'),
                                      ("continue", CONTINUE, "name: a\n", "    args: []\n")):
        home.write(name, before)
        home.setup(agent)
        changed = home.read(name) + more
        home.write(name, changed)
        assert "left alone" in home.setup(agent, "--remove", status=1) and home.read(name) == changed, more
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
        home.setup("continue")
        assert re.search(r"\nmcpServers:\n  - name: upskilld\n    command: \"%s\"" % re.escape(home.program), home.read(CONTINUE))
        home.setup("continue", "--remove")
        assert home.read(CONTINUE) == before
    for before in ("mcpServers:\n  - name: x\n    command: y\n", "name: [\n", "{name: mine}\n", "- name\n"):
        home.write(CONTINUE, before)
        said = home.setup("continue", status=1)
        assert "left alone" in said and "YAML: line " in said and home.read(CONTINUE) == before, (before, said)


def a_project_has_files_of_its_own():
    home = Home()
    for agent in [*JSON, "codex", "continue"]:
        file = {"codex": ".codex/config.toml", "continue": ".continue/mcpServers/upskilld.yaml"}.get(agent) or JSON[agent][1]
        said = home.setup(agent, "--scope", "project")
        if file is None:
            assert "no file of a project" in said, said
            continue
        assert json.dumps(home.program) in home.read("project/" + file), said
        home.setup(agent, "--scope", "project", "--remove")
        assert not os.path.exists(os.path.join(home.path, "project", file))


def nothing_is_written_unasked():
    home = Home()
    assert "no agent was found" in home.setup(status=1)
    os.mkdir(home.path + "/.cursor")
    home.write(JSON["gemini-cli"][0], "{}")
    for words in ([], ["--print"], ["cursor", "--print"]):
        said = home.setup(*words, status=0 if words else 1)
        assert "Cursor" in said and '"upskilld"' in said and "would be a new file:" in said, said
        assert "entry is" not in said and (words == ["cursor", "--print"] or "entry would be put into" in said), said
        assert not os.listdir(home.path + "/.cursor") and home.read(JSON["gemini-cli"][0]) == "{}"
    home.setup("--yes")
    assert sorted(os.listdir(home.path + "/.cursor")) == ["mcp.json"]
    said = home.setup("--remove", status=1)
    assert "would be deleted:" in said and "entry would be taken out of" in said and "nothing was written" in said, said
    assert "upskilld" in home.read(JSON["gemini-cli"][0]) and not os.path.exists(home.path + "/.qwen")


def wrong_words_say_what_is_right():
    home = Home()
    for words, says in ((["emacs"], 'no agent "emacs"'), (["claud-code"], 'no agent "claud-code"; did you mean claude-code?'),
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


tap = Tap()
for test in (the_daemon_works_as_an_agent_starts_it, new_files_come_and_go, shapes_are_kept, moved_entries_are_found, another_programs_entry_stays,
             folders_of_others_stay,
             the_daemons_variables_go_with_the_entry, bad_files_are_left_alone,
             links_and_locked_files_are_left_alone, toml_is_kept, what_was_added_to_the_entry_stays, yaml_is_kept, a_project_has_files_of_its_own,
             nothing_is_written_unasked, wrong_words_say_what_is_right, a_program_that_does_not_answer_is_told):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
