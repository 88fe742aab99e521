#!/usr/bin/env python3
"""Play a recorded conversation against a real program and compare every answer.

usage: converse.py PROGRAM FILE.talk|FOLDER …

A .talk file is read line by line; each file gets a process of its own.

  # text            a comment; the first one names the conversation
  @ --flag          arguments for the program (before anything is sent)
  % NAME=VALUE      an environment variable; {dir} is a fresh folder, also the working folder
  + path text       write a file beneath {dir}; text is a JSON string, or <file: copy a file
                    of the repository
  > {...}           send one line of JSON (framing: newline)
  >> {...}          send it with Content-Length headers
  >! "bytes"        send raw bytes, written as a Python string literal
  < {...}           the next message must match
  <~ {...}          some later message must match; what comes before it is skipped
  <. 300            nothing may arrive for so many milliseconds
  eof N             close standard input; the program must end with exit status N
  kill SIGNAL N     send a signal; the program must end with exit status N
  within MS         the step before must not have taken longer (only generous bounds)

Matching: objects match when every key of the pattern matches (key "!" lists keys that must be
absent); arrays match element by element, a last element "..." allows more; a string that
starts with "~" is a regular expression to search for; "*" matches anything that is there.
"""
import glob, json, os, re, select, shutil, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
WAIT_S = float(os.environ.get("CONVERSE_WAIT", "60"))


class Mismatch(Exception):
    pass


def matches(pattern, value):
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            all(k not in value for k in p) if key == "!" else key in value and matches(p, value[key])
            for key, p in pattern.items())
    if isinstance(pattern, list):
        if not isinstance(value, list):
            return False
        if pattern and pattern[-1] == "...":
            pattern = pattern[:-1]
            value = value[:len(pattern)]
        return len(pattern) == len(value) and all(map(matches, pattern, value))
    if isinstance(pattern, str) and pattern == "*":
        return True
    if isinstance(pattern, str) and pattern.startswith("~"):
        return isinstance(value, str) and re.search(pattern[1:], value, re.S) is not None
    return type(pattern) is type(value) and pattern == value


class Program:
    def __init__(self, argv, env, cwd):
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env, cwd=cwd, bufsize=0)
        self.pending = b""

    def send(self, data):
        try:
            self.process.stdin.write(data)
        except BrokenPipeError:
            raise Mismatch("the program no longer reads")

    def take(self):
        """One whole message from what has arrived, or None."""
        data = self.pending
        if data[:1] in (b"{", b"["):
            end = data.find(b"\n")
            if end >= 0:
                self.pending = data[end + 1:]
                return json.loads(data[:end].decode("utf-8"))
        head = data.find(b"\r\n\r\n")
        if data[:1] in (b"C", b"c") and head >= 0:
            size = int(re.search(rb"(?i)content-length: *(\d+)", data[:head]).group(1))
            if len(data) >= head + 4 + size:
                self.pending = data[head + 4 + size:]
                return json.loads(data[head + 4:head + 4 + size].decode("utf-8"))
        if data and data[:1] not in (b"{", b"[", b"C", b"c"):
            raise Mismatch("not a message: %r" % data[:200])
        return None

    def read(self, seconds):
        """The next message, or None when none comes in time."""
        end = time.monotonic() + seconds
        while True:
            message = self.take()
            if message is not None:
                return message
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.pending += data

    def finish(self, status):
        try:
            out, err = self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Mismatch("the program did not end within 10 s")
        if self.process.returncode != status:
            raise Mismatch("exit status %d, not %d: %s" %
                           (self.process.returncode, status, err.decode(errors="replace")[-4000:]))
        self.pending += out


class Talk:
    def __init__(self, program, path):
        self.argv, self.path = [program], path
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="talk-"))
        self.env = {k: os.environ[k] for k in ("PATH", "HOME", "CUDA_HOME", "UPSKILLD_CUDA",
                    "XDG_DATA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR") if k in os.environ}
        self.env.setdefault("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
        self.env.update(XDG_CONFIG_HOME=self.dir + "/config", XDG_STATE_HOME=self.dir + "/state")
        self.program, self.ended, self.step_ms = None, False, 0

    def fill(self, text):
        return text.replace("{dir}", self.dir)

    def running(self):
        if self.program is None:
            self.program = Program(self.argv, self.env, self.dir)
        return self.program

    def expect(self, pattern, skip):
        end = time.monotonic() + WAIT_S
        seen = None
        while True:
            message = self.running().read(max(0, end - time.monotonic()))
            if message is None:
                raise Mismatch("nothing came; last: %s" % json.dumps(seen)[:2000])
            if matches(pattern, message):
                return
            seen = message
            if not skip:
                raise Mismatch("got " + json.dumps(message, ensure_ascii=False)[:3000])

    def write_file(self, name, text):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if text.startswith("<"):
            shutil.copy(os.path.join(REPOSITORY, text[1:].strip()), path)
        else:
            with open(path, "w") as f:
                f.write(json.loads(text))

    def step(self, word, rest):
        if word == "@":
            self.argv += self.fill(rest).split()
        elif word == "%":
            name, value = self.fill(rest).split("=", 1)
            self.env[name] = value
        elif word == "+":
            self.write_file(*rest.split(" ", 1))
        elif word == ">":
            self.running().send(self.fill(rest).encode() + b"\n")
        elif word == ">>":
            body = self.fill(rest).encode()
            self.running().send(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        elif word == ">!":
            data = eval(rest, {"__builtins__": {}})
            self.running().send(data.encode("latin-1") if isinstance(data, str) else data)
        elif word in ("<", "<~"):
            self.expect(json.loads(self.fill(rest)), word == "<~")
        elif word == "<.":
            message = self.running().read(int(rest) / 1000)
            if message is not None:
                raise Mismatch("something came: " + json.dumps(message)[:2000])
        elif word == "eof":
            self.running().process.stdin.close()
            self.running().process.stdin = None
            self.running().finish(int(rest))
            self.ended = True
        elif word == "kill":
            name, status = rest.split()
            self.running().process.send_signal(getattr(signal, "SIG" + name))
            self.running().finish(int(status))
            self.ended = True
        elif word == "within":
            if self.step_ms > float(rest):
                raise Mismatch("took %.0f ms" % self.step_ms)
        else:
            raise Mismatch("unknown step " + word)

    def play(self):
        number = 0
        try:
            with open(self.path) as f:
                for number, line in enumerate(f, 1):
                    line = line.rstrip("\n")
                    if not line.strip() or line.startswith("#"):
                        continue
                    word, _, rest = line.partition(" ")
                    started = time.monotonic()
                    self.step(word, rest)
                    if word != "within":
                        self.step_ms = (time.monotonic() - started) * 1000
            if not self.ended:
                raise Mismatch("a conversation ends with eof or kill")
            return None
        except Mismatch as why:
            return "%s:%d: %s" % (os.path.relpath(self.path, REPOSITORY), number, why)
        finally:
            if self.program and self.program.process.poll() is None:
                self.program.process.kill()
                self.program.process.wait()
            shutil.rmtree(self.dir, ignore_errors=True)


def main():
    program, files = os.path.abspath(sys.argv[1]), []
    for name in sys.argv[2:]:
        files += sorted(glob.glob(name + "/*.talk")) if os.path.isdir(name) else [name]
    print("1..%d" % len(files))
    bad = 0
    for number, path in enumerate(files, 1):
        why = Talk(program, path).play()
        name = os.path.splitext(os.path.basename(path))[0]
        print("%s %d - %s" % ("not ok" if why else "ok", number, name), flush=True)
        if why:
            bad += 1
            print("# " + why.replace("\n", "\n# "), file=sys.stderr, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
