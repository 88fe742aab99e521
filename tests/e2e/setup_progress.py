#!/usr/bin/env python3
"""setup says how far the build is, and what went wrong in it, with programs that only pretend.

usage: setup_progress.py   (TAP on standard output)
"""
import os, pty, re, shutil, subprocess, sys
import scratch

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NINJA = """#!/bin/sh
case "$*" in *-n) exit 0;; esac
echo "[7/9] Compiling a"; sleep SECONDS; echo "[9/9] Linking b"; exit STATUS
"""


def room(seconds, status, toolkit, variable):
    folder = scratch.folder("setup-")
    for name, text in (("bin/dpkg-query", "#!/bin/sh\necho install ok installed\n"),
                       ("bin/ninja", NINJA.replace("SECONDS", str(seconds)).replace("STATUS", str(status))),
                       (toolkit + "/libnvrtc.so.12", ""), (os.path.dirname(toolkit) + "/include/cuda_runtime.h", ""), ("build/build.ninja", "")):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o755)
    shutil.copy(os.path.join(ROOT, "setup"), folder)
    env = {k: v for k, v in os.environ.items() if k not in ("UPSKILLD_CUDA", "CUDA_HOME", "CUDA_PATH")}
    env.update({"PATH": folder + "/bin:" + os.environ["PATH"], variable: folder + "/cuda"})
    return folder, env


def run(seconds, status, terminal=False, toolkit="cuda/lib64", variable="UPSKILLD_CUDA"):
    folder, env = room(seconds, status, toolkit, variable)
    if terminal:
        here, there = pty.openpty()
        process = subprocess.Popen([folder + "/setup", "--no-demo"], stdin=there, stdout=there, stderr=there, env=env)
        os.close(there)
        out = b""
        try:
            while True:
                out += os.read(here, 4096)
        except OSError:  # the other side is closed
            code = process.wait(60)
    else:
        done = subprocess.run([folder + "/setup", "--no-demo"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, timeout=60)
        code, out = done.returncode, done.stdout
    shutil.rmtree(folder)
    return code, out.decode()


def main():
    tests = [("a line every ten seconds", lambda: run(11, 0), 0, r"==> Building\n    \[7/9\] 1\d s\n$"),
             ("in place on a terminal", lambda: run(3, 0, True), 0, r"\r    \[7/9\] \d s\r.*\r\x1b\[K$"),
             ("a build that fails", lambda: run(0, 1), 1, r"==> Building\n\[7/9\] Compiling a\n\[9/9\] Linking b\nsetup: the build failed\n$"),
             ("the wheels' folder as CUDA_HOME", lambda: run(0, 1, toolkit="cuda/nvidia/cu13/lib", variable="CUDA_HOME"), 1,
              r"^==> CUDA toolkit: \S+/cuda\n==> Building\n")]
    print("1..%d" % len(tests))
    bad = 0
    for number, (name, go, status, pattern) in enumerate(tests, 1):
        code, out = go()
        good = code == status and re.search(pattern, out, re.S)
        bad += not good
        print("%s %d - %s" % ("ok" if good else "not ok", number, name), flush=True)
        if not good:
            print("# status %d: %r" % (code, out), file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
