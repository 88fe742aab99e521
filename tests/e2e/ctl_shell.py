#!/usr/bin/env python3
"""upskillctl's shell: a prompt on a live daemon, over a pipe and at a terminal.

usage: ctl_shell.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import ctypes, os, pty, re, select, shutil, subprocess, sys, time
import scratch

CTL, DAEMON = map(os.path.abspath, sys.argv[1:3])


def environment(folder):
    return dict(os.environ, UPSKILLD=DAEMON, XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder, TERM="xterm")


def takes_a_pipe(folder):
    """each line is a request or a message; the answers are waited for, what stands behind .quit is not asked"""
    def ask(text):
        done = subprocess.run([CTL, "shell"], input=text, capture_output=True, text=True, cwd=folder,
                              env=environment(folder), timeout=60)
        assert done.returncode == 0 and "\x1b" not in done.stdout and "\r" not in done.stdout, done
        return done.stdout
    said = ask('job/list\n{"id":9,"method":"no/such"}\njob/list {bad\n\n')
    for pattern in (r"→ .*job/list", r'← .*"jobs":\[\]', r'← .*"id":9,"error"', r"← .*-32700"):
        assert re.search(pattern, said), said
    assert "jobs" not in ask(".help\n.quit\njob/list\n")


class Terminal:
    """The shell at a terminal of its own."""

    def __init__(self, folder):
        self.child, self.side = pty.fork()
        if not self.child:
            os.chdir(folder)
            os.execve(CTL, [CTL, "shell"], environment(folder))
        self.said = ""
        self.until("> ")

    def until(self, words):
        end = time.monotonic() + 30
        while words not in self.said and time.monotonic() < end:
            if select.select([self.side], [], [], 0.2)[0]:
                self.said += os.read(self.side, 65536).decode(errors="replace")
        assert words in self.said, self.said

    def type(self, text, shown):
        os.write(self.side, text.encode())
        self.until(shown)

    def leave(self):
        os.write(self.side, b"quit\r")
        status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])
        os.close(self.side)
        assert status == 0, (status, self.said)


def has_help_and_quit(folder):
    """at a terminal, with and without the dot"""
    terminal = Terminal(folder)
    terminal.type("help\r", "leave (or end of input)")
    terminal.type("job/list\r", '"id":1,"result"')
    terminal.leave()


def has_a_history(folder):
    """arrow up and return ask the same again; a line can be edited"""
    try:
        ctypes.CDLL("libedit.so.2")
    except OSError:
        return "libedit is not installed"
    terminal = Terminal(folder)
    terminal.type('job/list {"limit": 1}\r', '"id":1,"result"')
    terminal.type("\x1b[A\r", '"id":2,"result"')
    assert terminal.said.count('"method":"job/list","params":{"limit": 1}') == 2, terminal.said
    terminal.type("no/such\x15job/list\r", '"id":3,"result"')
    terminal.leave()


def survives_a_long_line(folder):
    """5,000 characters are cut, with a bell, and the next line is a request again"""
    terminal = Terminal(folder)
    for _ in range(10):
        os.write(terminal.side, b"x" * 500)
        terminal.until("x" * 20)
    terminal.type("\r", '"error"')
    terminal.type("job/list\r", '"jobs"')
    terminal.leave()


def survives_keys_that_insert_much(folder):
    """a word copied again and again, a key repeated by a count, and what was cut put back"""
    terminal = Terminal(folder)
    for keys in (["a" * 100] + ["\x1b\x1f"] * 24, ["\x1b9"] * 4 + ["a"], ["a" * 400, "\x15"] + ["\x19"] * 12 + ["b" * 300]):
        for key in keys:
            os.write(terminal.side, key.encode())
            time.sleep(0.02)
        terminal.said = ""
        terminal.type("\x15no/such\r", '"error"')
    terminal.said = ""
    terminal.type("job/list\x1bbx\r", "job/xlist")  # a word back
    terminal.leave()


def main():
    tests, failed = [takes_a_pipe, has_help_and_quit, has_a_history, survives_a_long_line, survives_keys_that_insert_much], 0
    print("1..%d" % len(tests))
    for number, test in enumerate(tests, 1):
        folder = scratch.folder("ctl-shell-")
        try:
            skipped = test(folder)
            print("ok %d - %s" % (number, test.__doc__) + (" # SKIP " + skipped if skipped else ""), flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as why:
            failed += 1
            print("not ok %d - %s\n# %s" % (number, test.__doc__, str(why).replace("\n", "\n# ")), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
