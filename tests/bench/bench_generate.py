#!/usr/bin/env python3
"""skill/generate on long traces: how fast, in how much memory, how soon it stops.

usage: bench_generate.py BUILD_FOLDER [MEGABYTES]      (500 by default)
Writes traces into a folder of its own beneath TMPDIR: sessions of Claude Code of 70 KB, of 12 MB and
of MEGABYTES (with failures that were fixed among long outputs), one of few giant records, a plain log,
and one JSON document. Each goes through a daemon of its own. Prints seconds, the daemon's peak
memory (VmHWM), and how long it took from job/cancel until the job was over. Then what a work order costs:
its characters by four, some tokens, for a task alone, for tasks that bring hardware's numbers and build.toml's keys, and for
sessions: what happened, and the proof of a draft that cites each event of it, in all their parts.
Nothing is asserted.
"""
import json, os, re, shutil, subprocess, sys, tempfile, time

from sessions import Session

BUILD = os.path.abspath(sys.argv[1])
SIZE = int(sys.argv[2]) if len(sys.argv) > 2 else 500
MB = 1 << 20


def output_of(i, size):
    line = "src/kernel_%d.cu(%%d): note: in instantiation of tile<%d>\n" % (i, i % 97)
    return "".join(line % n for n in range(size // len(line)))


def claude(path, size, output):
    s = Session(path)
    s.add("user", {"content": "Make the reduction kernels build with nvcc for the H100 and pass their tests."})
    i = 0
    while s.size < size:
        i += 1
        if i % 40 == 7:
            s.run("nvcc -arch=sm_90 -c k%d.cu" % i, 1, "k%d.cu(%d): error: identifier \"warp_sum_%d\" is undefined\n" % (i, i, i % 60))
            s.edit("k%d.cu" % i, "warp_sum_%d(x)" % (i % 60), "warp_reduce_%d(x)" % (i % 60))
            s.run("nvcc -arch=sm_90 -c k%d.cu" % i, 0, "")
        else:
            s.run("make k%d" % i, 0, output_of(i, output))
    s.file.close()


def giants(path, size):
    s = Session(path)
    s.add("user", {"content": "Find out why the build fails."})
    while s.size < size:
        s.run("make all", 0, output_of(s.n, 40 * MB))
    s.file.close()


def log(path, size):
    with open(path, "w") as f:
        f.write("Please make the build pass.\n\n")
        n = written = 0
        while written < size:
            n += 1
            written += f.write("$ make k%d\n%s\n" % (n, output_of(n, 20000)))


def document(path, size):
    with open(path, "w") as f:
        f.write('{"messages": [{"role": "user", "content": "Make the build pass."}')
        n = written = 0
        while written < size:
            n += 1
            written += f.write(", " + json.dumps({"role": "assistant", "content": None, "tool_calls": [{"id": "c%d" % n, "type": "function",
                               "function": {"name": "bash", "arguments": json.dumps({"command": "make k%d" % n})}}]}))
            written += f.write(", " + json.dumps({"role": "tool", "tool_call_id": "c%d" % n, "content": output_of(n, 20000)}))
        f.write("]}")


class Daemon:
    def __init__(self, home):
        self.home = home
        env = dict(os.environ, HOME=home, XDG_STATE_HOME=home + "/state", XDG_CONFIG_HOME=home + "/config")
        self.process = subprocess.Popen([BUILD + "/daemon/upskilld", "--root", home], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=home, env=env, text=True)
        self.last = 0

    def send(self, method, **params):
        self.last += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return self.last

    def call(self, method, **params):
        number = self.send(method, **params)
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == number:
                return message

    def peak(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(next(line for line in f if line.startswith("VmHWM")).split()[1]) / 1024

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def generate(home, name):
    d = Daemon(home)
    d.call("daemon/status")
    begun = time.perf_counter()
    answer = d.call("skill/generate", traces=[name], output="out/" + name.replace(".", "-").replace("_", "-"), wait=True)
    took, peak = time.perf_counter() - begun, d.peak()
    d.close()
    result = answer.get("result", answer.get("error"))
    told = result.get("lessons", {}).get("fixes", 0), result.get("tests", {}).get("count", 0)
    return took, peak, result.get("outcome", result.get("message")), told


def stop(home, name, after):
    """Seconds from asking to cancel until the job has ended."""
    d = Daemon(home)
    job = d.call("skill/generate", traces=[name], output="out/cancelled")["result"]["job"]
    time.sleep(after)
    begun = time.perf_counter()
    d.call("job/cancel", job=job)
    while d.call("job/status", job=job)["result"]["state"] == "running":
        time.sleep(0.001)
    took = time.perf_counter() - begun
    state = d.call("job/status", job=job)["result"]["state"]
    d.close()
    return took, state


TASKS = ("review SQL", "a CUDA softmax", "a CUDA softmax for the H100 and the A100", "a CUDA softmax for the H100 with build.toml")


def orders(home):
    """(task, characters of the order that the calling agent gets)"""
    d = Daemon(home)
    for task in TASKS:
        order = d.call("skill/generate", task=task, teacher="host", wait=True)["result"]["work_order"]
        yield task, sum(len(v if isinstance(v, str) else json.dumps(v)) for v in order.values())
    d.close()


def session_orders(home, name):
    """Characters of all parts of the order and of the draft's proof."""
    d = Daemon(home)
    more = {"traces": [name], "teacher": "host"}
    events, sizes = [], []
    for _ in range(2):
        sizes.append(0)
        while True:
            order = d.call("skill/generate", **more, wait=True)["result"]
            more = {"job": order["job"]}
            sizes[-1] += len(order["work_order"]["instructions"])
            events += re.findall(r"(?m)^(t1 e\d+) ", order["work_order"]["instructions"])
            if "next_part" not in order["work_order"]:
                break
        more["draft"] = "---\nname: all-of-it\ndescription: What is there. Use when it is.\n---\n\n# All\n\nIt fails. [%s]\n" % ", ".join(events)
    d.close()
    return sizes


def main():
    home = tempfile.mkdtemp(prefix="bench-generate-")
    print("%-14s %8s %9s %10s  %s" % ("trace", "MB", "seconds", "peak MiB", "outcome, fixes told, tests"))
    try:
        makers = [("small.jsonl", lambda p: claude(p, 70000, 400)), ("middle.jsonl", lambda p: claude(p, 12 * MB, 400)),
                  ("long.jsonl", lambda p: claude(p, SIZE * MB, 3000)), ("giants.jsonl", lambda p: giants(p, SIZE * MB)),
                  ("log.txt", lambda p: log(p, SIZE * MB)), ("document.json", lambda p: document(p, SIZE * MB))]
        for name, make in makers:
            make(home + "/" + name)
            size = os.path.getsize(home + "/" + name) / MB
            took, peak, outcome, told = generate(home, name)
            print("%-14s %8.2f %9.2f %10.0f  %s, %d, %d" % (name, size, took, peak, outcome, *told), flush=True)
            if size > 1:
                times = [stop(home, name, took * share) for share in (0.1, 0.3, 0.5, 0.7, 0.9, 0.97)]
                print("  cancelled after " + ", ".join("%.0f ms%s" % (1000 * t, "" if s == "cancelled" else " (%s)" % s) for t, s in times), flush=True)
            os.unlink(home + "/" + name)
        for size in (70000, 12 * MB):
            claude(home + "/session.jsonl", size, 400)
            print("a session of %.1f MB: what happened about %d tokens, its draft's proof %d" % (
                size / MB, *[n / 4 for n in session_orders(home, "session.jsonl")]), flush=True)
        for task, size in orders(home):
            print("a work order of about %d tokens: %s" % (size / 4, task))
    finally:
        shutil.rmtree(home)


main()
