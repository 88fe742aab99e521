"""A daemon whose processes are known by a word in their environment, and what tests tell of it."""
import json, os, shutil, signal, subprocess, sys, time
import scratch

END_S = 2.0       # a daemon may take so long to end
LEFT_S = 2.0      # after that nothing of it may be alive
ANSWER_S = 60.0
COMPILE_TICKS = 15  # of processor time, and a compile is under way

ENDLESS = ("template <int N, int M> struct X { static const long v = X<N - 1, M>::v + "
           "X<N - 1, M + (1 << N)>::v; };\ntemplate <int M> struct X<0, M> "
           "{ static const long v = M; };\n__global__ void k(long *o) { *o = X<27, 0>::v; }\n")
HEAVY = ("#include <cooperative_groups.h>\n#include <cuda/barrier>\n"
         "__global__ void k(int *x) { *x = cooperative_groups::this_thread_block().size(); }\n")


def processes(word):
    """Ids of the processes that carry the word, and of those among them that are zombies."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/environ" % pid, "rb") as f:
                if word.encode() in f.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def status_of(pid):
    """(state, parent) from /proc, or (None, 0)."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
        return fields[0], int(fields[1])
    except OSError:
        return None, 0


def ticks_of(pid):
    """Processor time of a process so far; clock ticks, a hundredth of a second each."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            fields = f.read().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])
    except OSError:
        return 0


def all_pids():
    return [int(p) for p in os.listdir("/proc") if p.isdigit()]


def descendants(pid):
    """Every process below one; zombies too, whose environment is gone."""
    children = {}
    for p in all_pids():
        children.setdefault(status_of(p)[1], []).append(p)
    found, left = [], [pid]
    while left:
        left += children.get(left[0], [])
        found += children.get(left.pop(0), [])
    return found


class Daemon:
    count = 0

    def __init__(self, program, headers=False, process_id=None, config="", preexec=None):
        Daemon.count += 1
        self.word = "UPSKILLD_TEST_MARK=%d-%d-%d" % (os.getpid(), Daemon.count, time.monotonic_ns())
        self.dir = scratch.folder("lifecycle-")
        os.makedirs(self.dir + "/config/upskilld")
        with open(self.dir + "/config/upskilld/config.yaml", "w") as f:
            f.write(config)
        env = dict(os.environ, XDG_STATE_HOME=self.dir + "/state", XDG_CONFIG_HOME=self.dir + "/config",
                   XDG_CACHE_HOME=self.dir + "/cache")
        name, value = self.word.split("=")
        env[name] = value
        self.headers, self.last, self.pending = headers, 0, b""
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=self.dir, env=env, bufsize=0,
                                        preexec_fn=preexec)
        if headers:
            answer = self.ask("initialize", {"processId": process_id, "rootUri": "file://" + self.dir,
                                             "capabilities": {}})
            assert "result" in answer, answer
            self.notify("initialized", {})

    def send(self, message):
        message["jsonrpc"] = "2.0"
        body = json.dumps(message).encode()
        head = b"Content-Length: %d\r\n\r\n" % len(body) if self.headers else b""
        self.process.stdin.write(head + body + (b"" if self.headers else b"\n"))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def message(self):
        while True:
            if self.headers:
                head, sep, rest = self.pending.partition(b"\r\n\r\n")
                size = int(head.split(b":")[1]) if sep else 0
                if sep and len(rest) >= size:
                    self.pending = rest[size:]
                    return json.loads(rest[:size])
            else:
                line, sep, rest = self.pending.partition(b"\n")
                if sep:
                    self.pending = rest
                    return json.loads(line)
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                raise AssertionError("the daemon closed its output")
            self.pending += data

    def answer(self):
        """The next message that is no report of how long a compile takes."""
        while True:
            message = self.message()
            if "method" not in message:
                return message

    def ask(self, method, params):
        number = self.request(method, params)
        while True:
            message = self.answer()
            if message.get("id") == number:
                return message

    def check(self, source):
        return self.ask("kernel/check", {"source": source})

    def await_exit(self):
        """Milliseconds until it ended, and its status; None when it did not."""
        started = time.monotonic()
        try:
            status = self.process.wait(END_S)
        except subprocess.TimeoutExpired:
            return None, None
        return (time.monotonic() - started) * 1000, status

    def survivors(self):
        end = time.monotonic() + LEFT_S
        while processes(self.word) and time.monotonic() < end:
            time.sleep(0.02)
        return processes(self.word)

    def finish(self):
        """Whatever is left of it goes, so that one failed test does not disturb the next."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pid in processes(self.word):
            os.kill(pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream and not stream.closed:
                stream.close()
        shutil.rmtree(self.dir, ignore_errors=True)


class Report:
    def __init__(self):
        self.number, self.bad = 0, 0

    def tell(self, name, problems, figures=""):
        self.number += 1
        self.bad += bool(problems)
        print("%s %d - %s%s" % ("not ok" if problems else "ok", self.number, name,
                                " (%s)" % figures if figures else ""), flush=True)
        for line in problems:
            print("# %s: %s" % (name, line), file=sys.stderr, flush=True)

    def skip(self, name, why):
        self.number += 1
        print("ok %d - %s # SKIP %s" % (self.number, name, why), flush=True)
