#!/usr/bin/env python3
"""Play a recorded conversation against a real program and compare every answer.

usage: converse.py PROGRAM FILE.talk|FOLDER …

A .talk file is read line by line; each file gets processes of its own.

  # text            a comment; the first one names the conversation
  @ --flag          arguments for the program (before anything is sent)
  % NAME=VALUE      an environment variable; {dir} is a fresh folder, also the working folder
  skip if PATH      skip the conversation where PATH exists
  + path text       write a file beneath {dir}; text is a JSON string, or <file: copy a file
                    of the repository
  +! path expr      the same from a Python expression of literals, range() and str.join()
  cd path           the working folder beneath {dir}
  +fifo path        make a FIFO
  +link path target make a symbolic link
  > {...}           send one line of JSON (framing: newline)
  >> {...}          send it with Content-Length headers
  >= expr           send one line of JSON made by a Python expression (a dict)
  >! expr           send raw bytes, made by a Python expression
  < {...}           the next message must match
  <~ {...}          some later message must match; what comes before it is skipped
  <* [{...}, ...]   so many messages must come next, in any order, each matching one of these
  <. 300            nothing may arrive for so many milliseconds
  never regex       from here on nothing that arrives may match
  on NAME           go on with another process of the program (the first is "main")
  pause MS          wait
  eof N             close standard input; the program must end with exit status N
  kill SIGNAL N     send a signal; the program must end with exit status N
  within MS         the step before must not have taken longer (only generous bounds)

Matching: objects match when every key of the pattern matches (key "!" lists keys that must be
absent); arrays match element by element, an element "..." stands for any number of them; a
string that starts with "~" is a regular expression to search for; "*" matches anything that is
there; "=name" any string, and keeps it for {name} in later lines.
"""
import glob, json, os, re, select, shutil, signal, subprocess, sys, time
import scratch

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
WAIT_S = float(os.environ.get("CONVERSE_WAIT", "60"))


class Mismatch(Exception):
    pass


def matches(pattern, value, kept):
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            all(k not in value for k in p) if key == "!" else key in value and matches(p, value[key], kept)
            for key, p in pattern.items())
    if isinstance(pattern, list):
        if not isinstance(value, list):
            return False
        return matches_list(pattern, value, kept)
    if isinstance(pattern, str) and pattern == "*":
        return True
    if isinstance(pattern, str) and pattern.startswith("=") and isinstance(value, str):
        kept[pattern[1:]] = value
        return True
    if isinstance(pattern, str) and pattern.startswith("~"):
        return isinstance(value, str) and re.search(pattern[1:], value, re.S) is not None
    return type(pattern) is type(value) and pattern == value


def matches_list(pattern, value, kept):
    if not pattern:
        return not value
    if pattern[0] == "...":
        return any(matches_list(pattern[1:], value[i:], kept) for i in range(len(value) + 1))
    return bool(value) and matches(pattern[0], value[0], kept) and \
        matches_list(pattern[1:], value[1:], kept)


def python_value(text):
    return eval(text, {"__builtins__": {"range": range, "str": str, "len": len}})


def of_a_slow_machine(message):
    """A check whose compiler takes seconds says so each second; that is no part of a conversation."""
    return isinstance(message, dict) and message.get("method") == "job/changed" and "compile_timeout_s" in json.dumps(message)


class Program:
    def __init__(self, argv, env, cwd, never):
        self.never, self.ended = never, False
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
            if message is not None and not of_a_slow_machine(message):
                return message
            if message is not None:
                continue
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return None
            self.received(data)

    def received(self, data):
        """What must never arrive is looked for in the bytes, so that no skipped part hides it."""
        for pattern in self.never:
            found = re.search(pattern, data.decode("utf-8", "replace"))
            if found:
                raise Mismatch("%r arrived: %r" % (pattern, data[:2000]))
        self.pending += data

    def last_words(self):
        """What it says when it ends by itself, or "" while it runs."""
        if self.process.poll() is None:
            return ""
        err = self.process.stderr.read().decode(errors="replace")
        return "; it ended with status %d: %s" % (self.process.returncode, err[-4000:])

    def finish(self, status):
        try:
            out, err = self.process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Mismatch("the program did not end within 10 s")
        if self.process.returncode != status:
            raise Mismatch("exit status %d, not %d: %s" %
                           (self.process.returncode, status, err.decode(errors="replace")[-4000:]))
        self.received(out)
        self.ended = True


class Talk:
    def __init__(self, program, path):
        self.argv, self.path = [program], path
        self.dir = scratch.folder("talk-")
        self.env = {k: os.environ[k] for k in ("PATH", "HOME", "CUDA_HOME", "UPSKILLD_CUDA",
                    "XDG_DATA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR") if k in os.environ}
        self.env.setdefault("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
        self.env.update(XDG_CONFIG_HOME=self.dir + "/config", XDG_STATE_HOME=self.dir + "/state",
                        XDG_CACHE_HOME=self.dir + "/cache")
        self.cwd = self.dir
        self.programs, self.on, self.step_ms = {}, "main", 0
        self.kept, self.never, self.skipped = {"dir": self.dir}, [], False

    def fill(self, text):
        for name, value in self.kept.items():
            text = text.replace("{%s}" % name, value)
        return text

    def running(self):
        if self.on not in self.programs:
            self.programs[self.on] = Program(self.argv, self.env, self.cwd, self.never)
        return self.programs[self.on]

    def expect(self, pattern, skip):
        end = time.monotonic() + WAIT_S
        seen = None
        while True:
            message = self.running().read(max(0, end - time.monotonic()))
            if message is None:
                raise Mismatch("nothing came; last: %s%s" % (json.dumps(seen)[:2000], self.running().last_words()))
            if matches(pattern, message, self.kept):
                return
            seen = message
            if not skip:
                raise Mismatch("got " + json.dumps(message, ensure_ascii=False)[:3000])

    def expect_all(self, patterns):
        end = time.monotonic() + WAIT_S
        while patterns:
            message = self.running().read(max(0, end - time.monotonic()))
            if message is None:
                raise Mismatch("nothing came for " + json.dumps(patterns)[:2000])
            fits = [p for p in patterns if matches(p, message, self.kept)]
            if not fits:
                raise Mismatch("got " + json.dumps(message, ensure_ascii=False)[:3000])
            patterns.remove(fits[0])

    def make_file(self, word, name, rest):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if word == "+fifo":
            os.mkfifo(path)
        elif word == "+link":
            os.symlink(self.fill(rest), path)
        elif word == "+" and rest.startswith("<"):
            shutil.copy(os.path.join(REPOSITORY, rest[1:].strip()), path)
        else:
            text = json.loads(rest) if word == "+" else python_value(rest)
            with open(path, "wb") as f:
                f.write(text.encode() if isinstance(text, str) else text)

    def step(self, word, rest):
        if word == "@":
            self.argv += self.fill(rest).split()
        elif word == "%":
            name, value = self.fill(rest).split("=", 1)
            self.env[name] = value
        elif word == "skip":
            self.skipped |= os.path.exists(self.fill(rest.split(" ", 1)[1]))
        elif word in ("+", "+!", "+fifo", "+link"):
            name, _, rest = rest.partition(" ")
            self.make_file(word, name, rest)
        elif word == ">":
            self.running().send(self.fill(rest).encode() + b"\n")
        elif word == ">>":
            body = self.fill(rest).encode()
            self.running().send(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        elif word == ">=":
            self.running().send(json.dumps(python_value(self.fill(rest))).encode() + b"\n")
        elif word == ">!":
            data = python_value(rest)
            self.running().send(data.encode("latin-1") if isinstance(data, str) else data)
        elif word in ("<", "<~"):
            self.expect(json.loads(self.fill(rest)), word == "<~")
        elif word == "<*":
            self.expect_all(json.loads(self.fill(rest)))
        elif word == "<.":
            message = self.running().read(int(rest) / 1000)
            if message is not None:
                raise Mismatch("something came: " + json.dumps(message)[:2000])
        elif word == "never":
            self.never.append(rest)
        elif word == "on":
            self.on = rest
        elif word == "cd":
            self.cwd = os.path.join(self.dir, rest)
        elif word == "pause":
            time.sleep(int(rest) / 1000)
        elif word == "eof":
            self.running().process.stdin.close()
            self.running().process.stdin = None
            self.running().finish(int(rest))
        elif word == "kill":
            name, status = rest.split()
            self.running().process.send_signal(getattr(signal, "SIG" + name))
            self.running().finish(int(status))
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
                    if self.skipped:
                        return None
            if not self.programs or not all(p.ended for p in self.programs.values()):
                raise Mismatch("a conversation ends with eof or kill, for every process")
            return None
        except Mismatch as why:
            return "%s:%d: %s" % (os.path.relpath(self.path, REPOSITORY), number, why)
        finally:
            for program in self.programs.values():
                if program.process.poll() is None:
                    program.process.kill()
                    program.process.wait()
            shutil.rmtree(self.dir, ignore_errors=True)


def main():
    program, files = os.path.abspath(sys.argv[1]), []
    for name in sys.argv[2:]:
        files += sorted(glob.glob(name + "/*.talk")) if os.path.isdir(name) else [name]
    print("1..%d" % len(files))
    bad = 0
    for number, path in enumerate(files, 1):
        talk = Talk(program, path)
        why = talk.play()
        name = os.path.splitext(os.path.basename(path))[0]
        skip = " # SKIP not on this machine" if talk.skipped else ""
        print("%s %d - %s%s" % ("not ok" if why else "ok", number, name, skip), flush=True)
        if why:
            bad += 1
            print("# " + why.replace("\n", "\n# "), file=sys.stderr, flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
