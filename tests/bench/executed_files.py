#!/usr/bin/env python3
"""Which files of the product one kernel/check executes, in the daemon, the supervisor, its parent and the child.

usage: executed_files.py BUILD_FOLDER [-v]     (-v: with the functions)

calls_back.py counts the calls back of the same check.

BUILD_FOLDER is one of its own:
  meson setup BUILD_FOLDER -Dtests=disabled -Doptimization=0 -Dc_args='-g1 -finstrument-functions'
  ninja -C BUILD_FOLDER daemon/upskilld gpu/upskilld-worker

Two checks of small kernels come first, so that what happens once (a worker's start, reading the schema) is not
counted; then a third kernel is checked. A file counts when a function that it defines was entered. The daemon looks
for toolkits again after two seconds, so gpu/compile/toolkit.c is there when the machine is slow.
"""
import collections, json, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = {"upskilld": "daemon/upskilld", "upskilld-worker": "gpu/upskilld-worker"}
KERNEL = """__global__ void scale%d(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
"""


def start(build, folder):
    """The daemon in a folder of kernels; its worker is started by a script, which preloads too."""
    library, seen, worker = (os.path.join(folder, n) for n in ("executed.so", "seen", "worker"))
    os.mkdir(seen)
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, os.path.join(HERE, "executed.c")], check=True)
    with open(worker, "w") as f:
        f.write("#!/bin/sh\nLD_PRELOAD=%s EXECUTED=%s exec %s \"$@\"\n"
                % (library, seen, os.path.join(build, PROGRAMS["upskilld-worker"])))
    os.chmod(worker, 0o755)
    for n in range(3):
        with open(os.path.join(folder, "k%d.cu" % n), "w") as f:
            f.write(KERNEL % n)
    env = dict(os.environ, LD_PRELOAD=library, EXECUTED=seen, UPSKILLD_WORKER=worker)
    return subprocess.Popen([os.path.join(build, PROGRAMS["upskilld"])], cwd=folder, env=env, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def check(daemon, n):
    request = {"jsonrpc": "2.0", "id": n, "method": "kernel/check", "params": {"path": "k%d.cu" % n}}
    daemon.stdin.write((json.dumps(request) + "\n").encode())
    daemon.stdin.flush()
    result = json.loads(daemon.stdout.readline())["result"]
    assert result["ok"] and not result["cached"], result


def take(folder, program):
    """The addresses since the last time."""
    with open(os.path.join(folder, "seen", program), "rb+") as f:
        data = f.read()
        f.seek(0)
        f.write(bytes(len(data)))
    found, at = [], data.find(1)
    while at >= 0:
        found.append(at)
        at = data.find(1, at + 1)
    return found


def places(program, addresses):
    """(file, function) of each."""
    told = subprocess.run(["addr2line", "-f", "-e", program], input="\n".join(map(hex, addresses)),
                          capture_output=True, text=True, check=True).stdout.splitlines()
    for function, place in zip(told[::2], told[1::2]):
        file = os.path.realpath(os.path.join(os.path.dirname(os.path.dirname(program)), place.rsplit(":", 1)[0]))
        yield os.path.relpath(file, ROOT), function


def main():
    build = os.path.abspath(sys.argv[1])
    functions = collections.defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        daemon = start(build, folder)
        check(daemon, 0)
        time.sleep(2.2)  # toolkits are looked for again with the next one
        check(daemon, 1)
        time.sleep(0.2)
        for program in PROGRAMS:
            take(folder, program)
        check(daemon, 2)
        time.sleep(0.2)  # the worker tidies up
        for program, path in PROGRAMS.items():
            for file, function in places(os.path.join(build, path), take(folder, program)):
                functions[file].add(function)
        daemon.stdin.close()
        daemon.wait()
    files = sorted(f for f in functions if f.endswith(".c") and not f.startswith(".."))
    for file in files:
        print(file + ("  " + " ".join(sorted(functions[file])) if "-v" in sys.argv else ""))
    print("%d files of C" % len(files))


if __name__ == "__main__":
    main()
