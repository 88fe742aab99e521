#!/usr/bin/env python3
"""Write the manifests by which agents install upskilld as a plugin: clients/plugin and the marketplaces' files.

usage: plugins.py [--check]     (--check compares instead: exit status 1 when a file is out of date)

Each agent reads a file of its own, and they disagree about names: Claude Code's language servers have
extensionToLanguage, Copilot's have fileExtensions and each refuses the other's; Cursor's manifests allow no member that it
does not know. No plugin.json stands at the plugin's root, because Codex would then start the server there and not
in the project. What they say is said once, here.
"""
import json
import os
import sys

import package

PLUGIN = "clients/plugin"
SERVER = {package.NAME: {"command": package.NAME}}
LANGUAGES = {".cu": "cuda", ".cuh": "cuda"}
ABOUT = {"name": package.NAME, "version": package.version(), "description": package.SUMMARY}
CREDIT = {"author": {"name": package.AUTHOR}, "license": "Apache-2.0"}


def language_server(extensions):
    return {package.NAME: {"command": package.NAME, "args": [], extensions: LANGUAGES}}


def edited(command):
    """Copilot shows its model no diagnostics of language servers: a hook adds them to the answers of its edits."""
    return {"version": 1, "hooks": {"postToolUse": [{"type": "command", "matcher": "edit|create", "bash": command,
                                                     "timeoutSec": 60}]}}


def marketplace(**plugin):
    return {"name": package.NAME, "owner": {"name": package.AUTHOR}, "metadata": {"description": package.TAGLINE},
            "plugins": [{"name": package.NAME, "description": package.SUMMARY, **plugin}]}


def files():
    """Path: what stands there."""
    return {
        ".claude-plugin/marketplace.json": marketplace(source=f"./{PLUGIN}", category="development",
                                                       keywords=["cuda", "gpu", "h100", "kernel", "skills"]),
        ".cursor-plugin/marketplace.json": marketplace(source=f"./{PLUGIN}"),
        ".agents/plugins/marketplace.json": {
            "name": package.NAME, "interface": {"displayName": package.NAME},
            "plugins": [{"name": package.NAME, "source": {"source": "local", "path": f"./{PLUGIN}"},
                         "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                         "category": "Developer Tools"}]},
        f"{PLUGIN}/.claude-plugin/plugin.json": {**ABOUT, **CREDIT, "mcpServers": SERVER,
                                                 "lspServers": language_server("extensionToLanguage")},
        f"{PLUGIN}/.plugin/plugin.json": {**ABOUT, **CREDIT, "mcpServers": SERVER,
                                          "lspServers": language_server("fileExtensions"),
                                          "hooks": ".plugin/hooks.json"},
        f"{PLUGIN}/.plugin/hooks.json": edited("upskillctl hook"),
        f"{PLUGIN}/.codex-plugin/plugin.json": {
            **ABOUT, **CREDIT, "mcpServers": "./.mcp.json",
            "interface": {"displayName": package.NAME, "shortDescription": package.TAGLINE,
                          "category": "Developer Tools"}},
        f"{PLUGIN}/.cursor-plugin/plugin.json": {**ABOUT, "displayName": package.NAME, **CREDIT, "mcpServers": SERVER},
        f"{PLUGIN}/.mcp.json": {"mcpServers": SERVER},
        f"{PLUGIN}/gemini-extension.json": {**ABOUT, "mcpServers": SERVER},
    }


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    late = []
    for name, content in files().items():
        path, text = os.path.join(package.REPOSITORY, name), json.dumps(content, indent=2) + "\n"
        if sys.argv[1:]:
            with open(path, encoding="utf-8") as file:
                late += [] if file.read() == text else [name]
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    if late:
        sys.exit(f"out of date, run clients/packaging/plugins.py: {', '.join(late)}")


if __name__ == "__main__":
    main()
