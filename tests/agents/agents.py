#!/usr/bin/env python3
"""Agents as people start them, told of the daemon by upskillctl setup, each with a scripted model.

usage: agents.py BUILD_FOLDER [AGENT …]   (TAP on standard output; exit status 77: nothing could be run)
Installs the agents (package.json) into BUILD_FOLDER/agents once. No key, no account.
"""
import filecmp, json, os, shutil, subprocess, sys, tempfile

from scripted_model import ScriptedModel

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1])
KERNELS = os.path.join(HERE, "..", "kernels", "demo")
DAEMON, CTL = BUILD + "/daemon/upskilld", BUILD + "/clients/ctl/upskillctl"
BIN = BUILD + "/agents/node_modules/.bin/"
ROOT = os.path.realpath(HERE + "/../..")
WORDS = "Writes, binds and checks CUDA kernels"  # of the bundled skill's description
PROMPT = "Check the kernel."


def claude_code(room, model):
    room.env.update(ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none", DISABLE_AUTOUPDATER="1", IS_SANDBOX="1",
                    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
    return ["claude", "-p", PROMPT, "--permission-mode", "bypassPermissions"]


def codex(room, model):
    room.write(".codex/config.toml", "\n".join((
        'model = "scripted"', 'model_provider = "scripted"', "[model_providers.scripted]", 'name = "scripted"',
        'base_url = "%s/v1"' % model.url, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', "")))
    room.env.update(OPENAI_API_KEY="none")
    return ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT]


def gemini_cli(room, model):
    room.write(".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}}})
    room.env.update(GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model.url)
    return ["gemini", "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-p", PROMPT]


def opencode(room, model):
    room.write(".config/opencode/opencode.json", {
        "provider": {"anthropic": {"options": {"baseURL": model.url + "/v1", "apiKey": "none"}}},
        "model": "anthropic/claude-sonnet-4-5", "autoupdate": False})
    return ["opencode", "run", PROMPT]


def copilot_cli(room, model):
    room.env.update(COPILOT_PROVIDER_BASE_URL=model.url, COPILOT_PROVIDER_TYPE="anthropic", COPILOT_PROVIDER_API_KEY="none",
                    COPILOT_MODEL="claude-sonnet-4", COPILOT_AUTO_UPDATE="false")
    return ["copilot", "-p", PROMPT, "--allow-all-tools"]


def qwen_code(room, model):
    room.write(".qwen/settings.json", {"general": {"enableAutoUpdate": False}, "tools": {"toolSearch": {"enabled": False}}})
    room.env.update(ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none", ANTHROPIC_MODEL="claude-sonnet-4-5")
    return ["qwen", "--auth-type", "anthropic", "--yolo", "-p", PROMPT]


def cline(room, model):
    done = room.run(["cline", "auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", model.url + "/v1"])
    assert done.returncode == 0, done.stdout
    return ["cline", PROMPT]


def continue_cli(room, model):
    room.write(".continue/config.yaml", "name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n  - name: scripted\n    provider: anthropic\n"
               "    model: claude-sonnet-4-5\n    apiKey: none\n    apiBase: %s/v1/\n    roles: [chat]\n" % model.url)
    return ["cn", "-p", PROMPT, "--auto", "--config", room.home + "/.continue/config.yaml"]


AGENTS = {"claude-code": claude_code, "codex": codex, "gemini-cli": gemini_cli, "opencode": opencode,
          "copilot-cli": copilot_cli, "qwen-code": qwen_code, "cline": cline, "continue": continue_cli}
SET_UP_ALONE = {"cursor": "no registry has it", "goose": "set up from its documentation", "zed": "no registry has it", "vscode": "tests/clients/vscode.test drives it",
                "kilo": "without its maker's servers version 7.7.7 stops before the first turn"}
UNWRAPPED = {"cline": lambda text: json.loads(text)["content"][0]["text"],  # these hand their model JSON of their own
             "continue": lambda text: json.loads(text)[0]["text"]}
SKILL_WORDS = {"cline": "Available skills: h100-cuda-kernels"}  # names alone
SKILL_NAMES = {"copilot-cli": "github-copilot"}  # among the agents that skills are installed for


class Room:
    """A home and a project of one's own; NVIDIA's compiler stays where it is."""

    def __init__(self):
        self.home = os.path.realpath(tempfile.mkdtemp(prefix="upskilld-agent-"))
        self.project = self.home + "/project"
        os.mkdir(self.project)
        shutil.copy(KERNELS + "/rms_norm_broken.cu", self.project + "/k.cu")
        for name in ("rms_norm.cu", "rms_norm.check.json"):
            shutil.copy(KERNELS + "/" + name, self.project)
        data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        os.makedirs(self.home + "/.local/share/upskilld")
        os.symlink(data + "/upskilld/cuda", self.home + "/.local/share/upskilld/cuda")
        self.env = dict(os.environ, HOME=self.home, UPSKILLD=DAEMON, PATH=BIN + os.pathsep + os.environ["PATH"],
                        PWD=self.project)  # opencode believes it
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "ANTHROPIC_AUTH_TOKEN", "OPENAI_BASE_URL"):
            self.env.pop(name, None)

    def write(self, name, content):
        path = self.home + "/" + name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(content if isinstance(content, str) else json.dumps(content))

    def files(self):
        """What is in the home folder, but for what programs keep for themselves."""
        kept = {}
        for folder, inner, names in os.walk(self.home):
            inner[:] = [name for name in inner if name not in (".local", ".cache")]
            for name in names:
                with open(os.path.join(folder, name), "rb") as f:
                    kept[os.path.join(folder, name)] = f.read()
        return kept

    def ask(self, requests):
        """What the daemon answers without an agent between, one after the other."""
        first = ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        answers = []
        with subprocess.Popen([DAEMON], cwd=self.project, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True) as daemon:
            for method, params in (first, *requests):
                daemon.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
                daemon.stdin.flush()
                answers.append(next(m for m in map(json.loads, daemon.stdout) if "result" in m)["result"])
            daemon.stdin.close()
        return answers[1:]

    def setup(self, *words):
        done = self.run([CTL, "setup", *words])
        assert done.returncode == 0, done.stdout
        return done.stdout

    def run(self, argv, seconds=240):
        return subprocess.run(argv, cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, timeout=seconds,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)


def set_up_and_removed(room, agent):
    """Verified with the daemon that the agent will start; afterwards every file is as before."""
    before = room.files()
    said = room.setup("--yes", agent)
    assert " tools. kernel_check compiled a kernel." in said and room.files() != before, said
    room.setup("--yes", agent, "--remove")
    after = room.files()
    assert after == before, [path for path in {**before, **after} if before.get(path) != after.get(path)]


def converse(agent, calls, prepare=None):
    """The model, after the agent has run to its end. calls: the model's, or a model."""
    model = calls if isinstance(calls, ScriptedModel) else ScriptedModel(calls)
    with Room() as room:
        argv = AGENTS[agent](room, model)
        set_up_and_removed(room, agent)
        room.setup("--yes", agent)
        if prepare:
            prepare(room)
        done = room.run(argv)
        model.close()
        assert done.returncode == 0 and not model.calls, "exit status %d, %d calls left\n%s" % (
            done.returncode, len(model.calls), done.stdout[-2000:])
    return model


def the_model_reads_the_tools_texts(agent):
    """Within a tenth of the text alone: its JSON is up to seventeen times as long and says no more."""
    calls = [("kernel_check", {"path": "k.cu"}), ("kernel_validate", {"path": "rms_norm.cu"}),
             ("skill_find", {"task": "write a CUDA kernel for the H100"}), ("skill_get", {"name": "h100-cuda-kernels"})]
    alone = []

    def ask_alone(room):
        for answer in room.ask([("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]):
            alone.append("".join(part["text"] for part in answer["content"]))
    model = converse(agent, list(calls), ask_alone)
    texts = list(map(UNWRAPPED.get(agent, str), model.results))
    for text, own, words in zip(texts, alone, ("k.cu:14:5: error: ", "pass (2 cases", "h100-cuda-kernels (",
                                                       "# CUDA kernels for the H100")):
        assert words in text and words in own and '"structuredContent"' not in text and '{"' not in text[:80], text[:300]
        assert len(text) <= 1.1 * len(own), "%d characters instead of %d: %s" % (len(text), len(own), text)
    return "%s characters; the texts alone %s" % tuple(", ".join(map(str, map(len, all))) for all in (model.results, alone))


def an_installed_skill_is_offered(agent):
    """By the agent itself, at its next start, for the project and for the user."""
    for scope in ("project", "user"):
        def install(room):
            done = room.run([CTL, "skill", "install", "h100-cuda-kernels", "--agents", SKILL_NAMES.get(agent, agent),
                             "--scope", scope])
            assert done.returncode == 0, done.stdout
        model = converse(agent, [], install)
        assert SKILL_WORDS.get(agent, WORDS) in model.first, "%s: the model was not told of it" % scope


def with_the_plugin(agent, model, calls, commands):
    """The agent runs with no entry but the plugin's, installed by its own commands. calls: of a kernel's path."""
    def install(room):
        room.setup("--yes", agent, "--remove")
        room.env["PATH"] = os.pathsep.join((os.path.dirname(DAEMON), os.path.dirname(CTL), room.env["PATH"]))
        for words in commands:
            done = room.run(words)
            assert done.returncode == 0 and "warning" not in done.stdout, done.stdout
        model.calls[:] = [*calls(room.project + "/rms_norm.cu"), ("kernel_check", {"path": "rms_norm.cu"})]
    converse(agent, model, install)
    assert "__syncthread" in model.results[-1] and "error" in model.results[-1], model.results[-1]


def plugin_gives_tools_and_compiler_errors(agent):
    """Claude Code's plugin: the tools, and after an edit the errors without a call."""
    model = ScriptedModel([])
    with_the_plugin(agent, model, lambda path: [
        ("Read", {"file_path": path}),
        ("Edit", {"file_path": path, "old_string": "__syncthreads", "new_string": "__syncthread", "replace_all": True}),
        ("Bash", {"command": "sleep 3"})],
        [["claude", "plugin", *words] for words in (["validate", ROOT], ["marketplace", "add", ROOT],
                                                    ["install", "upskilld@upskilld"])])
    assert "new-diagnostics" in model.last and "identifier \\\"__syncthread\\\" is undefined" in model.last, model.last[-3000:]


def plugin_adds_errors_to_an_edits_answer(agent):
    """Copilot CLI's: its hook. An edit after which the kernel compiles is answered as without it."""
    model = ScriptedModel([])
    with_the_plugin(agent, model, lambda path: [
        ("edit", {"path": path, "old_str": "    float sum = 0;", "new_str": "    float sum = 0.f;"}),
        ("edit", {"path": path, "old_str": "    __syncthreads();", "new_str": "    __syncthread();"})],
        [["copilot", "plugin", *words] for words in (["marketplace", "add", ROOT], ["install", "upskilld@upskilld"])])
    right, wrong = model.results[:2]
    assert "updated with changes" in right and "hook" not in right, right
    assert 'rms_norm.cu:14:5: error: identifier "__syncthread" is undefined' in wrong, wrong


def an_edit_is_answered_with_compiler_errors(agent):
    """By the language server that setup wrote beside the tools (opencode)."""
    model = ScriptedModel([])

    def edit(room):
        path = room.project + "/rms_norm.cu"
        model.calls[:] = [("read", {"filePath": path}),
                          ("edit", {"filePath": path, "oldString": "__syncthreads();", "newString": "__syncthread();"})]
    converse(agent, model, edit)
    assert 'identifier "__syncthread" is undefined' in model.results[1], model.results[1]


def the_list_of_tools_is_short(_):
    """In tokens of o200k, titles and hints with them: every session pays for it."""
    with Room() as room:
        listed = room.ask([("tools/list", {})])[0]
        room.write("listed", json.dumps(listed, separators=(",", ":"), ensure_ascii=False))
        done = room.run(["node", "-e", "const {getEncoding} = require('%s/agents/node_modules/js-tiktoken'); "
                         "console.log(getEncoding('o200k_base').encode(require('fs').readFileSync('%s', 'utf8')).length)"
                         % (BUILD, room.home + "/listed")])
    tokens = int(done.stdout)
    assert len(listed["tools"]) == 12 and tokens < 2000, tokens
    return "%d tokens for %d tools" % (tokens, len(listed["tools"]))


def its_file_is_as_before(agent):
    """Of an agent that is not run here."""
    with Room() as room:
        set_up_and_removed(room, agent)
    return "the agent itself is not run: " + SET_UP_ALONE[agent]


def install_agents():
    installed = BUILD + "/agents/package.json"
    if os.path.exists(installed) and filecmp.cmp(HERE + "/package.json", installed, False):
        return True
    os.makedirs(BUILD + "/agents", exist_ok=True)
    print("# installing the agents into %s/agents" % BUILD, flush=True)
    shutil.copy(HERE + "/package.json", installed)
    if subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=BUILD + "/agents").returncode == 0:
        return True
    os.remove(installed)
    return False


def plugin_is_taken(agent):
    """By the agent's own commands, which then show the server or find nothing to mend."""
    with Room() as room:
        for words, shown in PLUGIN_COMMANDS[agent]:
            done = room.run(list(words))
            assert done.returncode == 0 and shown in done.stdout, done.stdout


PLUGIN_COMMANDS = {
    "codex": [(["codex", "plugin", "marketplace", "add", ROOT], "Added"),
              (["codex", "plugin", "add", "upskilld@upskilld"], "Added"), (["codex", "mcp", "list"], "upskilld")],
    "gemini-cli": [(["gemini", "extensions", "validate", ROOT + "/clients/plugin"], "successfully validated")],
}
MORE = {"claude-code": (plugin_gives_tools_and_compiler_errors,), "codex": (plugin_is_taken,),
        "gemini-cli": (plugin_is_taken,), "copilot-cli": (plugin_adds_errors_to_an_edits_answer,),
        "opencode": (an_edit_is_answered_with_compiler_errors,)}


def main():
    if not shutil.which("npm") or not install_agents():
        print("1..0 # SKIP the agents could not be installed: npm and node 20 or newer are needed")
        return 77
    failed = number = 0
    for agent in sys.argv[2:] or ["upskilld", *AGENTS, *SET_UP_ALONE]:
        tests = (the_list_of_tools_is_short,) if agent == "upskilld" else \
            (the_model_reads_the_tools_texts, an_installed_skill_is_offered) if agent in AGENTS else (its_file_is_as_before,)
        for test in tests + MORE.get(agent, ()):
            number += 1
            try:
                note = test(agent)
                print("ok %d - %s: %s%s" % (number, agent, test.__name__.replace("_", " "), " # " + note if note else ""),
                      flush=True)
            except (AssertionError, subprocess.TimeoutExpired, StopIteration) as error:
                failed += 1
                print("not ok %d - %s: %s\n# %s" % (number, agent, test.__name__.replace("_", " "),
                                                   str(error).replace("\n", "\n# ")), flush=True)
    print("1..%d" % number)
    return 1 if failed else 0


sys.exit(main())
