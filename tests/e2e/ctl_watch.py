#!/usr/bin/env python3
"""upskillctl kernel check --watch: a check after each change of a file or of what it includes, until Ctrl-C.

usage: ctl_watch.py UPSKILLCTL UPSKILLD
"""
import json, os, queue, signal, subprocess, sys, tempfile, threading

from evaluate_support import Tap

CTL, UPSKILLD = (os.path.abspath(p) for p in sys.argv[1:3])
GOOD = '#include "inc/a.h"\n#include "b.h"\n__global__ void k(int *x) { *x = A + B; }\n'
SECONDS = 60


class Watch:
    """A project and the program that watches it; its lines come from a thread."""

    def __init__(self, *words, term="dumb", files={}):
        self.folder = tempfile.TemporaryDirectory(prefix="ctl-watch-")
        self.dir = os.path.realpath(self.folder.name)
        self.write("k.cu", GOOD)
        self.write("inc/a.h", '#include "../far/c.h"\n#define A C\n')
        self.write("far/c.h", "#define C 1\n")
        self.write("roots/b.h", "#define B 2\n")
        self.write("other.txt", "")
        for name, text in files.items():
            self.write(name, text)
        env = {**os.environ, "UPSKILLD": UPSKILLD, "TERM": term,
               **{"XDG_%s_HOME" % k: self.dir + "/home" for k in ("CONFIG", "STATE", "CACHE")}}
        self.process = subprocess.Popen([CTL, "kernel", "check", *words], cwd=self.dir, env=env, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines, self.seen = queue.Queue(), []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def write(self, name, text, replace=False):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + (".new" if replace else ""), "w") as f:
            f.write(text)
        if replace:  # as editors save
            os.rename(path + ".new", path)

    def until(self, text):
        """The lines up to the one that has the text."""
        lines = []
        while not lines or text not in lines[-1]:
            line = self.lines.get(timeout=SECONDS)
            assert line is not None, (text, self.seen, self.process.stderr.read())
            lines.append(line)
            self.seen.append(line)
        return "".join(lines)

    def nothing_more(self):
        try:
            raise AssertionError(self.lines.get(timeout=0.5))
        except queue.Empty:
            pass

    def end(self, status):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(SECONDS)
        error = self.process.stderr.read()
        assert self.process.returncode == status, (self.process.returncode, error, self.seen)
        return error


def each_change_is_checked_and_ctrl_c_ends_with_the_last_status():
    w = Watch("k.cu", "-I", "roots", "--watch")
    w.until("ok: 1 kernel")
    w.write("k.cu", GOOD.replace("A + B", "A + C + D"))
    assert "k.cu was changed" in w.until("not ok: 1 error")
    w.write("k.cu", GOOD, replace=True)
    assert "k.cu was changed" in w.until("ok: 1 kernel")
    w.write("other.txt", "no source")
    w.nothing_more()
    w.write("k.cu", "?")
    w.until("not ok")
    error = w.end(1)
    assert "\x1b" not in "".join(w.seen) + error, w.seen


def what_it_includes_is_watched_too():
    w = Watch("k.cu", "--include-root", "roots", "--watch")
    w.until("ok: 1 kernel")
    for name, bad, good in (("inc/a.h", "#define A a\n", "#define A 3\n"), ("roots/b.h", "#define B b\n", "#define B 4\n")):
        w.write(name, bad)
        assert name + " was changed" in w.until("not ok")
        w.write(name, good, replace=True)
        assert name + " was changed" in w.until("ok: 1 kernel")
    w.end(0)


def a_header_of_a_header_and_one_that_comes_later():
    w = Watch("k.cu", "-Iroots", "--watch")
    w.until("ok: 1 kernel")
    w.write("far/c.h", "#define C c\n")
    assert "far/c.h was changed" in w.until("not ok")
    os.unlink(os.path.join(w.dir, "far/c.h"))
    w.until("not ok")
    w.write("far/c.h", "#define C 7\n")
    w.until("ok: 1 kernel")
    w.end(0)


def only_what_changed_is_shown_again():
    w = Watch("k.cu", "two.cu", "-Iroots", "--watch", files={"two.cu": '#include "roots/b.h"\n__global__ void two(int *x) { *x = B; }\n'})
    w.until("2 files: 2 ok")
    w.write("k.cu", GOOD.replace("A + B", "A + D"))
    again = w.until("2 files: 1 ok, 1 not ok")
    assert "k.cu was changed" in again and "\nk.cu\n" in again and "two.cu" not in again, again
    w.write("two.cu", "__global__ void two(int *x) { *x = 1; }\n")
    again = w.until("2 files: 1 ok, 1 not ok")
    assert "\ntwo.cu\n" in again and "k.cu" not in again, again
    w.write("k.cu", GOOD)
    w.until("2 files: 2 ok")
    w.write("two.cu", '#include "roots/b.h"\n__global__ void two(int *x) { *x = B; }\n')
    w.until("2 files: 2 ok")
    w.write("roots/b.h", "#define B b\n")  # both include it
    again = w.until("2 files: 0 ok, 2 not ok")
    assert "\nk.cu\n" in again and "\ntwo.cu\n" in again, again
    w.end(1)


def json_is_a_line_for_each_check():
    w = Watch("k.cu", "-Iroots", "--watch", "--json")
    assert json.loads(w.until("\n"))["ok"] is True
    w.write("k.cu", "?")
    assert json.loads(w.until("\n"))["ok"] is False
    w.end(1)


def only_files_of_kernel_check_can_be_watched():
    for words in (["k.cu", "--watch", "--output-format", "sarif"], ["--source", "int x;", "--watch"]):
        w = Watch(*words)
        assert w.process.wait(SECONDS) == 2
        assert "--watch works with kernel check alone" in w.process.stderr.read()
    done = subprocess.run([CTL, "skill", "list", "--watch"], env={**os.environ, "UPSKILLD": UPSKILLD},
                          capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2 and "--watch works with kernel check alone" in done.stderr, done


tap = Tap()
for test in (each_change_is_checked_and_ctrl_c_ends_with_the_last_status, what_it_includes_is_watched_too,
             a_header_of_a_header_and_one_that_comes_later, only_what_changed_is_shown_again, json_is_a_line_for_each_check,
             only_files_of_kernel_check_can_be_watched):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
