#!/usr/bin/env python3
"""upskillctl kernel run as a person sees it, its exit statuses, and `setup programs` with a pip that fetches nothing.

usage: ctl_programs.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import os, pty, re, shutil, signal, subprocess, sys

from programs_support import NVCC, Tap, kernel
import scratch

PIP = """#!/bin/sh
# Stands for python3 -m pip: keeps its words, and makes what the wheels would have.
echo "$@" >"$ROOM/pip-words"
while [ $# -gt 0 ]; do case $1 in --target) target=$2; shift ;; -r) cat "$2" >>"$ROOM/pip-lists"; shift ;; esac; shift; done
[ -z "$PIP_FAILS" ] || exit 1
mkdir -p "$target/nvidia/cu13/bin" && cp "$ROOM/nvcc" "$target/nvidia/cu13/bin/nvcc"
"""


class Room:
    def __init__(self, ctl, daemon):
        self.ctl = ctl
        self.dir = scratch.folder("ctl-programs-")
        for folder in ("/bin", "/toolkit/bin"):
            os.makedirs(self.dir + folder)
        for path, text in (("/bin/python3", PIP), ("/nvcc", NVCC), ("/toolkit/bin/nvcc", NVCC)):
            with open(self.dir + path, "w") as f:
                f.write(text)
            os.chmod(self.dir + path, 0o755)
        self.env = {"HOME": self.dir, "PATH": self.dir + "/bin:/usr/bin:/bin", "ROOM": self.dir, "UPSKILLD": daemon,
                    "XDG_DATA_HOME": self.dir + "/data", "XDG_CACHE_HOME": self.dir + "/cache",
                    "XDG_STATE_HOME": self.dir + "/state", "XDG_CONFIG_HOME": self.dir + "/config"}
        with open(self.dir + "/count.cu", "w") as f:
            f.write(kernel())

    def run(self, *words, toolkit=True, stdin=subprocess.DEVNULL, **env):
        more = dict(env, CUDA_HOME=self.dir + "/toolkit") if toolkit else env
        done = subprocess.run([self.ctl, *words], cwd=self.dir, env=dict(self.env, **more), stdin=stdin,
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr


def passes(room):
    status, out, _ = room.run("kernel", "run", "count.cu", "--", "4")
    assert status == 0 and "stdout:\n0 wrong\nlaunched count<<<1,1,1 / 4,1,1>>>  count.cu:5\n" in out, out
    assert re.search(r"^pass: exit status 0, 1 launch; not checked: races \(--checks all\); kernels ran on the CPU, so times say nothing about a GPU$", out, re.M), out


def finds(room):
    status, out, _ = room.run("kernel", "run", "count.cu", "--", "6")
    assert status == 1 and re.search(r"^count\.cu:7: error: .*\[run out_of_bounds\]", out, re.M), out
    assert "count.cu:5: note: the host's call" in out and out.splitlines()[-1].startswith("fail: exit status 0"), out
    assert "\nwith an example and how to fix it: upskillctl explain out_of_bounds\n" in out, out
    assert "explain" not in room.run("kernel", "run", "count.cu", "--", "4")[1]


def says_what_all_leaks_of_a_line_take(room):
    with open(room.dir + "/leak.cu", "w") as f:
        f.write("int cudaMalloc(void **, long);\nint main(void) { void *p; for (volatile int k = 1; k < 3; k++) cudaMalloc(&p, 8 * k); return 0; }\n")
    status, out, _ = room.run("kernel", "run", "leak.cu")
    assert status == 0 and "not freed at the end: 24 bytes of device memory in 2 allocations  leak.cu:2\n" in out, out


def says_no(room):
    with open(room.dir + "/bad.cu", "w") as f:
        f.write("int main(void) { return nothing; }\n")
    status, out, _ = room.run("kernel", "run", "bad.cu")
    assert status == 1 and "bad.cu:1:" in out and "\nerror: the program does not compile" in out and out.count("does not compile") == 1, out
    assert out.endswith("\nerror: the program does not compile, 1 error\n"), out
    with open(room.dir + "/usage.cu", "w") as f:
        f.write("int cudaFree(void *);\nint main(int argc, char **argv) { cudaFree(0); return argc < 2; }\n")
    status, out, _ = room.run("kernel", "run", "usage.cu")
    assert status == 1 and "if it wants arguments, give them as words after --\n" in out, out
    with open(room.dir + "/missing.cu", "w") as f:
        f.write("int cublasX(void), cudaY(void);\nint main(void) { return cublasX() + cudaY(); }\n")
    status, out, _ = room.run("kernel", "run", "missing.cu")
    assert status == 2 and "  cublasX  missing.cu:2\n  cudaY  missing.cu:2\n" in out and "\nunsupported: the program calls" in out, out
    status, out, _ = room.run("kernel", "run", "none.cu")
    assert status == 2, out


def hands_on_its_input(room):
    """... if that is a file from its beginning on; a pipe where `-` asks for it, for it may stay open."""
    with open(room.dir + "/repeats.cu", "w") as f:
        f.write("#include <stdio.h>\nint cudaFree(void *);\nint main(void) {\n    char line[64];\n    cudaFree(0);\n"
                "    while (fgets(line, sizeof line, stdin)) printf(\"read %s\", line);\n}\n")
    with open(room.dir + "/numbers", "w") as f:
        f.write("17\n4\n")
    def read(*words, stdin):
        return re.findall(r"^read (\d+)$", room.run("kernel", "run", "repeats.cu", *words, stdin=stdin)[1], re.M)
    with open(room.dir + "/numbers") as numbers:
        assert read(stdin=numbers) == ["17", "4"]
    with open(room.dir + "/numbers", "rb", buffering=0) as numbers:
        numbers.read(3)
        assert read(stdin=numbers) == [] and numbers.read() == b"4\n"
        numbers.seek(0)
        assert read("--stdin", "5\n", stdin=numbers) == ["5"]
    end, start = os.pipe()
    os.write(start, b"23\n")
    assert read(stdin=end) == []
    os.close(start)
    assert read("--stdin", "-", stdin=end) == ["23"]
    os.close(end)


def says_that_it_still_runs(room):
    """Where nobody draws in place: a line now and then, without control sequences."""
    with open(room.dir + "/idle.cu", "w") as f:
        f.write("#include <unistd.h>\nint main(void) { return sleep(100); }\n")
    ours, its = pty.openpty()
    dumb = subprocess.Popen([room.ctl, "kernel", "run", "idle.cu"], cwd=room.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=its, env=dict(room.env, CUDA_HOME=room.dir + "/toolkit", TERM="dumb"))
    os.close(its)
    line = os.read(ours, 1000).decode()
    dumb.send_signal(signal.SIGINT)
    dumb.wait()
    os.close(ours)
    assert re.fullmatch(r"(compiling \(0|running \(1) of 2, [1-9]\d s\)\r\n", line), line


def sets_up(room):
    status, out, _ = room.run("kernel", "run", "count.cu", toolkit=False)
    assert status == 2 and "there is no nvcc here" in out and "upskillctl setup programs" in out, out
    status, out, err = room.run("setup", "programs", toolkit=False)
    assert status == 1 and "give --yes" in err and not os.path.exists(room.dir + "/pip-words"), (out, err)
    status, out, err = room.run("setup", "programs", "--yes", toolkit=False, PIP_FAILS="1")
    assert status == 1 and "pip ended with 1" in err and os.listdir(room.dir + "/data/upskilld") == [], (out, err)
    os.remove(room.dir + "/pip-lists")
    status, out, err = room.run("setup", "programs", "--yes", toolkit=False)
    assert status == 0 and "nvcc is in %s/data/upskilld/cuda." % room.dir in out, (out, err)
    with open(room.dir + "/pip-words") as f:
        words = f.read()
    assert "--require-hashes" in words and "--only-binary=:all:" in words, words
    with open(room.dir + "/pip-lists") as f:
        pins = dict(re.findall(r"^(nvidia-\S+)==(\S+) \\$", f.read(), re.M))
    assert {"nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime"} <= set(pins), pins
    assert os.listdir(room.dir + "/data/upskilld") == ["cuda"]
    status, out, _ = room.run("kernel", "run", "count.cu", "--", "4", toolkit=False)
    assert status == 0, out
    status, _, err = room.run("setup", "programs", "--now", toolkit=False)
    assert status == 2 and "--now" in err, err


def main():
    tap, room = Tap(), Room(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    for function in (passes, finds, says_what_all_leaks_of_a_line_take, says_no, hands_on_its_input, says_that_it_still_runs, sets_up):
        tap.run(function.__name__.replace("_", " "), function, room)
    shutil.rmtree(room.dir)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
