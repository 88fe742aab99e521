#!/usr/bin/env python3
"""Make the terminal pictures of the documentation from what the programs really print.

usage: make-pictures.py UPSKILLCTL [PICTURE…]     (needs the Python package rich)

Each scene below is a folder's files and some commands. They run in a terminal of their own, and what
they print becomes docs/pictures/NAME.svg: text as text, no font or script from elsewhere.
"""
import fcntl, io, os, pty, re, shutil, struct, subprocess, sys, tempfile, termios

from rich.console import Console
from rich.text import Text

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "..", "tests", "kernels", "demo")
DATA = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
COLUMNS = 96

# The picture's name: its title, the files it starts from, and the commands. A command in a pair is shown
# and run as the first one, and only the lines that match the second are kept.
SCENES = {
    "race": ("a softmax that lacks one barrier, on a machine without a GPU", ["softmax.cu"], [
        "upskillctl kernel init softmax.cu",
        "upskillctl kernel validate softmax.cu --expect op=softmax"]),
    "check": ("what the compiler knows", ["rms_norm_broken.cu"], [
        "upskillctl kernel check rms_norm_broken.cu"]),
    "agents": ("upskillctl setup connects an agent and tries the connection", ["rms_norm.cu"], [
        "upskillctl setup claude-code codex --yes"]),
    "clean": ("registers, shared memory, occupancy", ["softmax.cu"], [
        "upskillctl kernel check softmax.cu"]),
}

# Plain colours on a dark ground; the title stands above. {lines} and the rest are filled in by rich.
FORMAT = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g></svg>
"""


def in_terminal(command, folder, path, home):
    """What a command prints on a terminal, with its colours."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 60, COLUMNS, 0, 0))
    environment = {**os.environ, "PATH": path, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "HOME": home}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(command, shell=True, cwd=folder, stdin=side, stdout=side, stderr=side,
                             env=environment)
    os.close(side)
    said = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        said += part
    child.wait()
    os.close(main)
    return said.decode()


def settled(said):
    """Without what was drawn over: progress is erased before the answer comes."""
    lines = []
    for line in said.replace("\r\n", "\n").split("\n"):
        line = re.sub(r".*\x1b\[2?K", "", line.split("\r")[-1])
        lines.append(re.sub(r"\x1b\[[0-9;]*[A-HJ-Zhl]|\x1b\[\?[0-9]*[hl]", "", line))
    return "\n".join(lines).rstrip("\n")


def picture(name, path):
    title, files, commands = SCENES[name]
    with tempfile.TemporaryDirectory() as home:
        folder = os.path.join(home, "kernels")
        os.mkdir(folder)
        os.mkdir(os.path.join(home, ".local"))  # where the compiler is found without a variable
        os.symlink(DATA, os.path.join(home, ".local", "share"))
        for file in files:
            shutil.copy(os.path.join(DEMO, file), folder)
        console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor",
                          force_terminal=True, legacy_windows=False)
        for command in commands:
            console.print(Text("$ ", "green") + Text(command, "bold"), overflow="fold")
            said = settled(in_terminal(command, folder, path, home)).replace(folder + "/", "").replace(home, "~")
            said = re.sub(r"/[^\s\"']*/(?=upskilld\b)", "~/.local/bin/", said)  # as it is installed
            console.print(Text.from_ansi(said), overflow="fold")
            console.print()
    target = os.path.join(HERE, "pictures", name + ".svg")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    console.save_svg(target, title=title, code_format=FORMAT, unique_id=name)
    print(target)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    path = os.path.dirname(os.path.abspath(sys.argv[1])) + os.pathsep + os.environ["PATH"]
    for name in sys.argv[2:] or SCENES:
        picture(name, path)


main()
