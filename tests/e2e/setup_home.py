"""A home folder of its own for upskillctl setup, and JSON with comments read by a way of its own."""
import json, os, re, resource, subprocess, tempfile

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


def plain_json(text):
    """Without comments and last commas, by a way of its own: one expression over tokens."""
    text = text.lstrip("\ufeff")
    text = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda m: m.group(1) or " ", text, flags=re.S)
    return json.loads(re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda m: m.group(1) or "", text).strip() or "{}")


class Home:
    ctl = None  # the program, of all

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

    def setup(self, *words, status=0, env={}, full=False):
        """full: as on a disk without room, where no file gets a byte."""
        done = subprocess.run([self.ctl, "setup", *words], cwd=self.path + "/project", env={**self.env, **env},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, restore_signals=not full,
                              preexec_fn=full and (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))) or None)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr
