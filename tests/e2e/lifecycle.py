#!/usr/bin/env python3
"""How the daemon ends, and that nothing of it outlives it.

usage: lifecycle.py UPSKILLD   (TAP on standard output)

Every way to end a daemon is tried idle, with a compile running, and while a precompiled header
is being made. Each daemon carries a word of its own in its environment, which its workers and
their children inherit: two seconds after the end no process of this machine may carry it.
Bounds are generous, for busy machines and sanitizers; the measured times are printed.
"""
import json, os, resource, select, signal, subprocess, sys, time

from lifecycle_room import (ANSWER_S, COMPILE_TICKS, END_S, ENDLESS, HEAVY, Daemon, Report, descendants, processes,
                            status_of, ticks_of)


# --- ways to end a daemon -------------------------------------------------------------------

def end_eof(daemon):
    daemon.process.stdin.close()


def end_closed_output(daemon):
    """Nobody reads any more: the next answer finds a broken pipe."""
    daemon.process.stdout.close()
    daemon.request("job/list", {})


def end_by(name):
    return lambda daemon: daemon.process.send_signal(getattr(signal, name))


def end_lsp_exit(daemon):
    daemon.request("shutdown", None)
    daemon.notify("exit", None)


def end_parent(daemon):
    daemon.parent.kill()
    daemon.parent.wait()


# name, function, speaks LSP, exit statuses that are right
WAYS = [
    ("end of input", end_eof, False, (0,)),
    ("SIGINT", end_by("SIGINT"), False, (0,)),
    ("SIGTERM", end_by("SIGTERM"), False, (0,)),
    ("SIGHUP", end_by("SIGHUP"), False, (0,)),
    ("closed output", end_closed_output, False, (1,)),
    ("LSP exit", end_lsp_exit, True, (0,)),
    ("LSP end of input", end_eof, True, (1,)),
    ("death of LSP's processId", end_parent, True, (0, 1)),
]


def be_idle(daemon):
    """Idle, and with a worker: one check has been made."""
    check_of(daemon, "__global__ void k(int *x) { *x = 1; }\n")


def check_of(daemon, source):
    if not daemon.headers:
        return daemon.check(source)
    uri = "file://%s/a.cu" % daemon.dir
    daemon.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "cuda",
                                                            "version": 1, "text": source}})
    while daemon.message().get("method") != "textDocument/publishDiagnostics":
        pass


def start_check(daemon, source):
    if daemon.headers:
        uri = "file://%s/b.cu" % daemon.dir
        daemon.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "cuda",
                                                                "version": 1, "text": source}})
    else:
        daemon.request("kernel/check", {"source": source})


def start_compile(daemon, source):
    """Until a process below the worker has worked for a while: the compiler, nothing else does."""
    before = {p: ticks_of(p) for p in descendants(daemon.process.pid)}
    start_check(daemon, source)
    end = time.monotonic() + ANSWER_S

    def compiles(p):
        return status_of(p)[1] != daemon.process.pid and ticks_of(p) - before.get(p, 0) >= COMPILE_TICKS
    while not any(compiles(p) for p in descendants(daemon.process.pid)):
        assert time.monotonic() < end, "no compile is running"
        time.sleep(0.02)


def be_compiling(daemon):
    be_idle(daemon)
    start_compile(daemon, ENDLESS)


def be_precompiling(daemon):
    be_idle(daemon)
    start_compile(daemon, HEAVY)


def be_fresh(daemon):
    """Not one check: no worker yet. Signals are handled once it answers."""
    daemon.ask("rpc.discover", {})


def be_starting(daemon):
    """The worker is on its way."""
    be_fresh(daemon)
    start_check(daemon, ENDLESS)


STATES = [("fresh", be_fresh), ("idle", be_idle), ("starting a worker", be_starting),
          ("compiling", be_compiling), ("precompiling", be_precompiling)]
# Each way meets each state that matters to it; the signals share their code.
FEWER = {"SIGHUP": ("fresh", "compiling"), "SIGINT": ("fresh", "compiling"),
         "LSP end of input": ("fresh", "compiling")}


def is_instrumented(program):
    with open(program, "rb") as f:
        return b"AddressSanitizer" in f.read()


def test_end(report, program, way, state):
    name, end, headers, statuses = way
    parent = subprocess.Popen(["sleep", "600"]) if end is end_parent else None
    daemon = Daemon(program, headers, parent.pid if parent else None)
    daemon.parent = parent
    problems, figures = [], ""
    try:
        state[1](daemon)
        end(daemon)
        ms, status = daemon.await_exit()
        if ms is None:
            problems.append("did not end within %.0f s" % END_S)
        else:
            figures = "%.0f ms" % ms
            if status not in statuses:
                problems.append("exit status %d: %s" % (status, daemon.process.stderr.read()[-3000:]))
            left = daemon.survivors()
            if left:
                problems.append("still alive: %s" % [open("/proc/%d/cmdline" % p).read() for p in left])
    except (AssertionError, OSError) as why:
        problems.append("%s: %s" % (type(why).__name__, why))
    finally:
        daemon.finish()
        if parent:
            parent.kill()
            parent.wait()
    report.tell("%s, %s" % (name, state[0]), problems, figures)


# --- while it runs --------------------------------------------------------------------------

def resources(pid):
    with open("/proc/%d/status" % pid) as f:
        rss = next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))
    return len(os.listdir("/proc/%d/fd" % pid)), rss


def test_steady(report, program):
    """Checks leave no zombie, no descriptor and no memory behind, in daemon or worker."""
    rounds = 50 if is_instrumented(program) else 300  # there a leak is found by itself
    daemon = Daemon(program, config="cache_mb: 1\n")
    problems = []
    try:
        def many(first, count):
            for i in range(first, first + count):
                answer = daemon.check("__global__ void k(int *x) { *x = %d; }\n" % i)
                if not answer.get("result", {}).get("ok"):
                    problems.append("check %d: %s" % (i, json.dumps(answer)[:500]))
                    return
        many(0, 30)
        time.sleep(0.3)
        zombies = [p for p in descendants(daemon.process.pid) if status_of(p)[0] == "Z"]
        if zombies:
            problems.append("zombies after 30 checks: %s" % zombies)
        worker = next(p for p in descendants(daemon.process.pid)
                      if status_of(p)[1] == daemon.process.pid)
        before, before_worker = resources(daemon.process.pid), resources(worker)
        processes_before = len(descendants(daemon.process.pid))
        many(1000, rounds)
        time.sleep(0.3)
        after, after_worker = resources(daemon.process.pid), resources(worker)
        grown, grown_worker = after[1] - before[1], after_worker[1] - before_worker[1]
        # The cache may fill: 1 MiB of it; the rest is the allocator's, which under
        # AddressSanitizer keeps what was freed.
        bound = 262144 if is_instrumented(program) else 4096
        if after[0] != before[0] or after_worker[0] > before_worker[0] + 2:
            problems.append("descriptors: daemon %d to %d, worker %d to %d" %
                            (before[0], after[0], before_worker[0], after_worker[0]))
        if grown > bound or grown_worker > bound:
            problems.append("memory grew by %d KiB, the worker's by %d KiB" % (grown, grown_worker))
        if len(descendants(daemon.process.pid)) > processes_before + 1:
            problems.append("processes: %d, then %d" % (processes_before,
                                                        len(descendants(daemon.process.pid))))
        figures = "daemon %+d KiB of %d, %+d descriptors; worker %+d KiB, %+d" % (
            grown, before[1], after[0] - before[0], grown_worker, after_worker[0] - before_worker[0])
    finally:
        daemon.finish()
    report.tell("%d checks leave nothing behind" % rounds, problems, figures)


def busy_children(daemon):
    """The compiles: what stands below the worker and runs."""
    return {p for p in descendants(daemon.process.pid) if status_of(p)[0] == "R"}


def is_busy(process):
    """Does it run in one of ten looks? A compile does; the process that waits for the next one has just been made."""
    return any(status_of(process)[0] == "R" or time.sleep(0.002) for _ in range(10))


def test_cancelled(report, program):
    """A cancelled compile is dead soon after, and no other process with it."""
    daemon = Daemon(program)
    problems, ms = [], 0
    try:
        be_compiling(daemon)
        running = busy_children(daemon)
        if not running:
            problems.append("no compile is running")
        cancelled = daemon.last
        started = time.monotonic()
        daemon.notify("$/cancelRequest", {"id": cancelled})
        answer = daemon.answer()
        if answer.get("id") != cancelled or answer.get("error", {}).get("code") != -32800:
            problems.append("answered %s" % answer)
        while any(map(is_busy, running)) and time.monotonic() - started < 5:
            pass
        ms = (time.monotonic() - started) * 1000
        if ms > 1000:
            problems.append("the compile was alive %.0f ms later" % ms)
        if not daemon.check("__global__ void k(int *x) { *x = 3; }\n").get("result", {}).get("ok"):
            problems.append("the next check failed")
    finally:
        daemon.finish()
    report.tell("a cancelled compile dies", problems, "%.0f ms" % ms)


def test_flood(report, program):
    """More requests than can be compiled at once wait: each is answered, none refused, and it goes on."""
    daemon = Daemon(program)
    problems, count = [], 400
    try:
        for i in range(count):
            daemon.request("kernel/check", {"source": ENDLESS + "// %d\n" % i})
        numbers = list(range(1, count + 1))
        for number in numbers:
            daemon.notify("$/cancelRequest", {"id": number})
        answers = {}
        while len(answers) < count:
            message = daemon.answer()
            if message["id"] in answers:
                problems.append("answered twice: %s" % message)
            answers[message["id"]] = message.get("error", {}).get("code")
        codes = {code: list(answers.values()).count(code) for code in set(answers.values())}
        if set(codes) != {-32800}:
            problems.append("answers: %s" % codes)
        if not daemon.check("__global__ void k(int *x) { *x = 4; }\n").get("result", {}).get("ok"):
            problems.append("the next check failed")
        daemon.process.stdin.close()
        if daemon.await_exit()[1] != 0 or daemon.survivors():
            problems.append("it did not end well")
    finally:
        daemon.finish()
    report.tell("a flood of %d checks is answered" % count, problems, str(codes))


def requests(count, method, params):
    return b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"%s","params":%s}\n'
                    % (i, method.encode(), json.dumps(params).encode()) for i in range(count))


# Name, requests, method, seconds for which the reader reads nothing and those between two reads. Of the last
# the answers are 160 KiB each.
PIPED = [("to a reader that takes its time", 20000, "job/status", 0, 0.01),
         ("to a reader that sleeps", 20000, "job/status", 3, 0),
         ("though they are large", 500, "rpc.discover", 2, 0)]
PIPED_MIB = 64


def test_piped(report, program, name, count, method, sleep, pause):
    """All requests at once, then the end of input: every answer comes, and those that wait fill no memory. A
    client may write all of them before it reads (the pipe would hold 700)."""
    daemon = Daemon(program)
    problems, rest, ids = [], b"", []
    try:
        daemon.process.stdin.write(requests(count, method, {"job": "none"}))
        daemon.process.stdin.close()
        time.sleep(sleep)
        most = peak_mib(daemon.process.pid)
        while data := os.read(daemon.process.stdout.fileno(), 1 << 16):
            *lines, rest = (rest + data).split(b"\n")
            ids += [int(line[15:60].partition(b'"id":')[2].partition(b",")[0]) for line in lines]
            most = peak_mib(daemon.process.pid) or most
            time.sleep(pause)
        if ids != list(range(count)):
            problems.append("%d of %d answers" % (len(ids), count))
        if daemon.await_exit()[1] != 0:
            problems.append("it did not end well: %s" % daemon.process.stderr.read())
        if most > PIPED_MIB and not is_instrumented(program):
            problems.append("it took %d MiB" % most)
    finally:
        daemon.finish()
    report.tell("%d piped requests are answered %s" % (count, name), problems, "%d MiB" % most)


def test_full_disk(report, program):
    """No file may grow: what has to write says so or does without, and the daemon lives."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    daemon, problems = Daemon(program, preexec=limit), []
    try:
        with open(daemon.dir + "/SKILL.md", "w") as f:
            f.write("---\nname: %s\ndescription: D.\n---\nx\n" % os.path.basename(daemon.dir))
        for method, params in (("skill/list", {}), ("job/list", {}),
                               ("skill/install", {"path": daemon.dir, "agents": ["claude-code"]})):
            answer = daemon.ask(method, params)
            told = answer.get("error") or answer["result"].get("results", [{}])[0].get("outcome") == "refused"
            if method == "skill/install" and not told:
                problems.append("installing went well: %s" % answer)
        daemon.process.stdin.close()
        if daemon.await_exit()[1] != 0:
            problems.append("it did not end well: %s" % daemon.process.stderr.read())
    except (AssertionError, OSError) as why:
        problems.append("%s, signal %s" % (why, daemon.process.poll()))
    finally:
        daemon.finish()
    report.tell("a limit on files kills nothing", problems)


def peak_mib(pid):
    with open("/proc/%d/status" % pid) as f:
        return next((int(line.split()[1]) >> 10 for line in f if line.startswith("VmHWM")), 0)


def fill_output(daemon):
    """A reader that takes nothing: answers of 160 KiB wait, and requests behind them."""
    daemon.process.stdin.write(requests(100, "rpc.discover", {}))
    if not select.select([daemon.process.stdout], [], [], ANSWER_S)[0]:
        raise AssertionError("no answer came")
    time.sleep(0.2)


def test_reader(report, program):
    """With answers waiting: a signal ends it although nobody reads, and so does a reader that goes away.
    Both is said, since answers were lost."""
    def goes(daemon):
        daemon.process.stdout.close()

    def goes_after_input(daemon):
        daemon.process.stdin.close()
        time.sleep(0.2)
        if daemon.process.poll() is not None:
            raise AssertionError("it did not wait for the reader")
        daemon.process.stdout.close()

    def signal_after_input(daemon):
        daemon.process.stdin.close()
        time.sleep(0.2)
        daemon.process.send_signal(signal.SIGTERM)

    for name, end in (("a reader goes", goes), ("a reader goes after the end of input", goes_after_input),
                      ("SIGTERM to one that nobody reads", end_by("SIGTERM")),
                      ("SIGTERM to one that waits for its reader", signal_after_input)):
        daemon, problems, figures = Daemon(program), [], ""
        try:
            fill_output(daemon)
            end(daemon)
            ms, status = daemon.await_exit()
            said = daemon.process.stderr.read() if ms is not None else b""
            if ms is None:
                problems.append("did not end within %.0f s" % END_S)
            elif status != 1 or b"answers were lost" not in said:
                problems.append("exit status %d: %s" % (status, said))
            else:
                figures = "%.0f ms" % ms
        except (AssertionError, OSError) as why:
            problems.append("%s: %s" % (type(why).__name__, why))
        finally:
            daemon.finish()
        report.tell(name, problems, figures)


def test_idle_worker(report, program):
    """A worker ends after worker_idle_s, and a later check starts another."""
    daemon = Daemon(program, config="worker_idle_s: 1\n")
    problems = []
    try:
        daemon.check("__global__ void k(int *x) { *x = 1; }\n")
        started = time.monotonic()
        while len(processes(daemon.word)) > 1 and time.monotonic() - started < 10:
            time.sleep(0.05)
        took = time.monotonic() - started
        if len(processes(daemon.word)) != 1:
            problems.append("the worker is still there")
        if took < 0.5:
            problems.append("it ended after %.1f s already" % took)
        time.sleep(0.1)
        left = descendants(daemon.process.pid)
        if left:
            problems.append("left below the daemon: %s" % [status_of(p) for p in left])
        if not daemon.check("__global__ void k(int *x) { *x = 2; }\n").get("result", {}).get("ok"):
            problems.append("the next check failed")
    finally:
        daemon.finish()
    report.tell("a worker ends when it has idled", problems, "%.1f s" % took)


def test_killed_daemon(report, program):
    """SIGKILL leaves the daemon no time; its worker and compiles end by themselves."""
    daemon = Daemon(program)
    problems = []
    try:
        be_compiling(daemon)
        if len(processes(daemon.word)) < 3:
            problems.append("no compile was running: %s" % processes(daemon.word))
        daemon.process.kill()
        daemon.process.wait()
        left = daemon.survivors()
        if left:
            problems.append("still alive: %s" % [open("/proc/%d/cmdline" % p).read() for p in left])
    finally:
        daemon.finish()
    report.tell("a killed daemon takes everything with it", problems)


def test_killed_worker(report, program):
    """A worker that is killed in a compile is replaced and the check answered."""
    daemon = Daemon(program, config="compile_timeout_s: 3\n")
    problems = []
    try:
        be_compiling(daemon)
        worker = next(p for p in descendants(daemon.process.pid)
                      if status_of(p)[1] == daemon.process.pid)
        os.kill(worker, signal.SIGKILL)
        while True:
            message = daemon.answer()
            if message.get("id") == daemon.last:
                break
        if "timeout" not in json.dumps(message):
            problems.append("the check after its worker's death: %s" % json.dumps(message)[:500])
        if not daemon.check("__global__ void k(int *x) { *x = 2; }\n").get("result", {}).get("ok"):
            problems.append("the next check failed")
        os.kill(daemon.process.pid, signal.SIGTERM)
        ms, status = daemon.await_exit()
        if status != 0:
            problems.append("exit status %s" % status)
        if daemon.survivors():
            problems.append("something is still alive")
    finally:
        daemon.finish()
    report.tell("a killed worker is replaced", problems)


def folders_of(pids):
    """The job folders of workers with these process ids."""
    found = set()
    for parent in {"/dev/shm", os.environ.get("TMPDIR", "/tmp"), "/tmp"}:
        for pid in pids if os.path.isdir(parent) else ():
            found |= {parent + "/" + n for n in os.listdir(parent)
                      if n.startswith("upskilld-worker-%d-" % pid)}
    return found


def test_folders(report, program):
    """Job folders do not pile up: the next worker sweeps those of killed daemons."""
    problems, workers = [], set()
    for _ in range(3):
        daemon = Daemon(program)
        try:
            be_compiling(daemon)
            workers.update(processes(daemon.word))
            daemon.process.kill()
            daemon.process.wait()
            daemon.survivors()
        finally:
            daemon.finish()
    daemon = Daemon(program)
    try:
        be_idle(daemon)
        left = folders_of(workers)
        if left:
            problems.append("of killed daemons: %s" % sorted(left))
        workers.update(processes(daemon.word))
        daemon.process.stdin.close()
        daemon.await_exit()
        daemon.survivors()
    finally:
        daemon.finish()
    left = folders_of(workers)
    if left:
        problems.append("left: %s" % sorted(left))
    report.tell("folders of ended workers are swept", problems, "%d left" % len(left))


def has_compiler(program):
    daemon = Daemon(program)
    try:
        status = daemon.ask("daemon/status", {})
        return bool(status["result"]["kernels"]["toolkits"])
    finally:
        daemon.finish()


def main():
    program = os.path.abspath(sys.argv[1])
    report = Report()
    compiler = has_compiler(program)
    for way in WAYS:
        for state in STATES:
            if state[0] not in FEWER.get(way[0], [s[0] for s in STATES]):
                continue
            if state[0] == "fresh" or compiler:
                test_end(report, program, way, state)
            else:
                report.skip("%s, %s" % (way[0], state[0]), "no CUDA compiler")
    for piped in PIPED:
        test_piped(report, program, *piped)
    test_reader(report, program)
    test_full_disk(report, program)
    for name, test in (("checks leave nothing behind", test_steady),
                       ("a cancelled compile dies", test_cancelled),
                       ("a flood of checks is answered", test_flood),
                       ("a worker ends when it has idled", test_idle_worker),
                       ("a killed daemon takes everything with it", test_killed_daemon),
                       ("a killed worker is replaced", test_killed_worker),
                       ("folders of ended workers are swept", test_folders)):
        if not compiler:
            report.skip(name, "no CUDA compiler")
            continue
        try:
            test(report, program)
        except (AssertionError, OSError, KeyError, StopIteration) as why:
            report.tell(name, ["%s: %s" % (type(why).__name__, why)])
    print("1..%d" % report.number)
    return 1 if report.bad else 0


if __name__ == "__main__":
    sys.exit(main())
