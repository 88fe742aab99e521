"""The daemon as a child process: one JSON text a line, one request at a time."""
import importlib.metadata
import json
import os
import shutil
import subprocess
import threading

from .errors import DaemonError, RequestError

NAME = "upskilld"


def program():
    """UPSKILLD, else the program that was installed with this package, else the one on PATH."""
    named = os.environ.get("UPSKILLD")
    if named:
        return named
    try:
        files = importlib.metadata.files(NAME) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    installed = [str(file.locate()) for file in files if file.name == NAME and file.parent.name == "bin"]
    found = next((path for path in installed if os.access(path, os.X_OK)), None) or shutil.which(NAME)
    if not found:
        raise DaemonError("the program upskilld was not found: install the wheel, or set UPSKILLD to its path")
    return found


class Daemon:
    """Reads files beneath `roots` only; relative paths mean the first. Any thread may ask."""

    def __init__(self, roots):
        words = [program()]
        for root in roots:
            words += ["--root", str(root)]
        self.lock = threading.Lock()
        self.last = 0
        try:
            self.process = subprocess.Popen(words, cwd=roots[0], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        except OSError as e:
            raise DaemonError(f"{words[0]} cannot be started: {e.strerror}") from e

    def ask(self, method, params):
        with self.lock:
            self.last += 1
            request = {"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}
            try:
                self.process.stdin.write(json.dumps(request).encode() + b"\n")
                self.process.stdin.flush()
                answer = self.answer(self.last)
            except OSError as e:
                raise DaemonError(f"upskilld ended during {method}") from e
        if "error" in answer:
            raise RequestError(answer["error"])
        return answer["result"]

    def answer(self, number):
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                return message
        raise DaemonError(f"upskilld ended, with exit status {self.process.wait()}")

    def close(self):
        """The end of its input ends the daemon, and what it started."""
        with self.lock:
            try:
                self.process.stdin.close()
            except OSError:  # it has ended, and part of a request was still to be written
                pass
            self.process.stdout.close()
            self.process.wait()
