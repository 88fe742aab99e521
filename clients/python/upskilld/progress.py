"""How far a request is: a line on standard error where a person sees it, a terminal or a notebook."""
import sys
import time

QUIET_S = 1.0  # what takes less needs no line


class Line:
    def __init__(self):
        self.begun = time.monotonic()
        self.shown = 0
        self.seen = "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())

    def show(self, progress):
        """`progress` of job/changed"""
        if self.seen and progress.get("message") and time.monotonic() - self.begun >= QUIET_S:
            done, total = progress.get("done"), progress.get("total")
            self.write((f"{done / total:4.0%} " if done is not None and total else "") + progress["message"])

    def write(self, text):
        text = text[:79]
        sys.stderr.write("\r" + text.ljust(self.shown) + ("" if text else "\r"))
        sys.stderr.flush()
        self.shown = len(text)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.shown:
            self.write("")
