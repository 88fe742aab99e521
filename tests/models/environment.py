"""A virtual environment of a script's own, with the pinned packages that it needs, in $XDG_CACHE_HOME."""
import os, subprocess, sys


def enter(name, requirements):
    """Go on in the environment `name`: install what the file `requirements` lists if it is not there yet, and run this
    script again with that Python. Returns there, and only there. If pip fails, its message is the last thing shown."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), name)
    if sys.prefix == cache:
        return
    python, mark = os.path.join(cache, "bin", "python"), os.path.join(cache, "installed.txt")
    with open(requirements) as f:
        wanted = f.read()
    if not os.path.exists(mark) or open(mark).read() != wanted:
        print("installing %s into %s" % (os.path.basename(requirements), cache), file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", cache], check=True, stdout=sys.stderr)
        subprocess.run([python, "-m", "pip", "-q", "install", "--no-deps", "--only-binary", ":all:", "-r", requirements],
                       check=True, stdout=sys.stderr)
        with open(mark, "w") as f:
            f.write(wanted)
    os.execv(python, [python, os.path.abspath(sys.argv[0]), *sys.argv[1:]])
