#!/usr/bin/env python3
"""The daemon's project when a client starts it in a plugin's folder: plugin_folder.py UPSKILLD."""
import json, os, subprocess, sys, tempfile

UPSKILLD = os.path.abspath(sys.argv[1])


def project_of(client_folder, daemon_folder, plugin_root):
    """The first root of a daemon that a client in one folder starts in another."""
    os.chdir(client_folder)
    env = {k: v for k, v in os.environ.items() if k != "PLUGIN_ROOT"}
    env.update(XDG_CONFIG_HOME=client_folder, XDG_STATE_HOME=client_folder)
    if plugin_root is not None:
        env["PLUGIN_ROOT"] = plugin_root
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "daemon/status", "params": {}}) + "\n"
    done = subprocess.run([UPSKILLD], input=request, cwd=daemon_folder, env=env, capture_output=True, text=True,
                          timeout=60)
    return json.loads(done.stdout)["result"]["roots"][0]


with tempfile.TemporaryDirectory() as top:
    top = os.path.realpath(top)
    project, plugin, inner = top + "/project", top + "/plugin", top + "/plugin/servers"
    other, link = top + "/plugin-2", top + "/link"
    for folder in (project, inner, other):
        os.makedirs(folder)
    os.symlink(plugin, link)
    rows = [
        ("no plugin: the working directory", plugin, None, plugin),
        ("the plugin's folder: where the client works", plugin, plugin, project),
        ("a folder beneath it too", inner, plugin, project),
        ("named through a link", plugin, link, project),
        ("a neighbour of the plugin is a project", other, plugin, other),
        ("a plugin that is not there", plugin, top + "/gone", plugin),
    ]
    print("1..%d" % len(rows))
    for i, (name, daemon_folder, root, expected) in enumerate(rows, 1):
        found = project_of(project, daemon_folder, root)
        print("%s %d - %s" % ("ok" if found == expected else "not ok", i, name))
        if found != expected:
            print("# %s, not %s" % (found, expected))
