"""The daemon as a child process: one JSON text a line, one request at a time."""
import contextlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import threading

from .errors import ArgumentError, DaemonError, RequestError
from .progress import Line

NAME = "upskilld"


def beside():
    """Where this package's own program may be: a wheel's, or what ./setup builds in a clone of the source."""
    here = os.path.dirname(os.path.abspath(__file__))
    if here.endswith("/clients/python/" + NAME):
        return [os.path.abspath(os.path.join(here, "../../../build/daemon", NAME))]
    try:
        files = importlib.metadata.files(NAME) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    return [str(file.locate()) for file in files if file.name == NAME and file.parent.name == "bin"]


def program():
    """UPSKILLD, else the program that belongs to this package, else the one on PATH."""
    named = os.environ.get("UPSKILLD")
    found = named or next((path for path in beside() if os.access(path, os.X_OK)), None) or shutil.which(NAME)
    if not found:
        raise DaemonError("the program upskilld was not found: install the wheel, run ./setup in a clone, or set UPSKILLD to its path")
    return found


def too_large(value, place=""):
    """Where an integer stands that the daemon's numbers do not hold, "sizes.n", and its value; None where there is none."""
    if isinstance(value, int):
        return None if -2**63 <= value < 2**63 else (place[1:], value)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    named = ((item.get("name", key) if isinstance(item, dict) else key, item) for key, item in items)
    return next(filter(None, (too_large(item, f"{place}.{key}") for key, item in named)), None)


def encoded(method, params):
    try:
        text, wrong = json.dumps(params, allow_nan=False), too_large(params)
    except (TypeError, ValueError, RecursionError) as e:
        raise ArgumentError(f"{method}: the parameters have no form in JSON: {e}") from None
    if wrong:
        raise ArgumentError("%s: %d is out of range: integers have 64 bits, one of them the sign" % wrong)
    return text


class Daemon:
    """Reads files beneath `roots` only; relative paths mean the first. Any thread may ask."""

    def __init__(self, roots):
        words = [program()]
        for root in roots:
            words += ["--root", str(root)]
        self.lock = threading.Lock()
        self.last = 0
        self.unsure = False  # whether part of a request or of an answer is still on its way
        self.owner = os.getpid()
        try:
            # In a session of its own: a Ctrl-C that ends a function of the caller's does not end the daemon.
            self.process = subprocess.Popen(words, cwd=roots[0], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, start_new_session=True)
        except OSError as e:
            raise DaemonError(f"{words[0]} cannot be started: {e.strerror}") from e

    def is_ours(self):
        """False in a process that was forked from the one that started it."""
        return os.getpid() == self.owner

    def lives(self):
        return self.is_ours() and self.process.poll() is None

    def ask(self, method, params):
        if not self.is_ours():
            raise DaemonError("this Client belongs to the process that this one was forked from: make another here")
        if self.process.stdin.closed:
            raise DaemonError("this Client is closed")
        text = encoded(method, params)
        with self.lock:
            try:
                if self.unsure:
                    self.settle()
                answer = self.exchange(method, text)
            except OSError as e:
                raise DaemonError(f"upskilld ended before it answered {method}, with exit status {self.process.wait()}: "
                                  "make another Client") from e
            except BaseException:  # Ctrl-C, or a test that took too long: nobody waits for the answer
                self.unsure = True
                with contextlib.suppress(OSError):
                    self.tell("$/cancelRequest", '{"id": %d}' % self.last)
                raise
        if "error" in answer:
            raise RequestError(answer["error"])
        return answer["result"]

    def exchange(self, method, params):
        self.last += 1
        self.tell(method, params, f'"id": {self.last}, ')
        return self.answer(self.last)

    def settle(self):
        """What the daemon says of a torn request has no number; it comes before the answer to the next request."""
        self.process.stdin.write(b"\n")
        self.exchange("$/settle", "{}")
        self.unsure = False

    def tell(self, method, params, number=""):
        """params: JSON"""
        self.process.stdin.write(f'{{"jsonrpc": "2.0", {number}"method": "{method}", "params": {params}}}\n'.encode())
        self.process.stdin.flush()

    def answer(self, number):
        with Line() as progress:
            return self.read_until(number, progress)

    def read_until(self, number, progress):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:  # the rest of an answer whose reading was interrupted
                continue
            if message.get("method") == "job/changed" and message["params"].get("request") == number:
                progress.show(message["params"].get("progress", {}))
            if message.get("id") == number and "method" not in message:
                return message
            if "error" in message and message.get("id", 0) is None and not self.unsure:  # a NaN, or nested too deep
                return message
        raise BrokenPipeError

    def close(self):
        """The end of its input ends the daemon, and what it started."""
        with self.lock:
            try:
                self.process.stdin.close()
            except OSError:  # it has ended, and part of a request was still to be written
                pass
            self.process.stdout.close()
            self.process.wait()
