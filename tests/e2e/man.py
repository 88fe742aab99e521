#!/usr/bin/env python3
"""The manual pages: every command and option of --help is in them, and groff has nothing to say.

usage: man.py UPSKILLD UPSKILLCTL PAGE…   (TAP on standard output)
"""
import json, os, shutil, subprocess, sys

upskilld, upskillctl = map(os.path.abspath, sys.argv[1:3])
PAGES = {os.path.basename(path): open(path).read() for path in sys.argv[3:]}


def methods():
    done = subprocess.run([upskillctl, "call", "rpc.discover"], env=dict(os.environ, UPSKILLD=upskilld), check=True,
                          capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout)["methods"]


def every_command_has_a_section():
    page = PAGES["upskillctl.1"]
    commands = [m["name"].replace("/", " ") for m in methods() if "x-params" in m and "/" in m["name"]]
    return ["no section of " + c for c in commands + ["setup", "shell", "explain"] if "\n.SS %s\n" % c not in page]


def the_programs_own_options_are_there():
    faults = []
    for program, words in (("upskilld.1", ["root", "include-dir", "stdio", "log-level"]),
                           ("upskillctl.1", ["json", "watch", "fix", "output-format"])):
        faults += ["%s lacks --%s" % (program, w) for w in words
                   if "\\fB\\-\\-%s" % w.replace("-", "\\-") not in PAGES[program]]
    return faults


def no_path_of_this_machine():
    return [name for name, text in PAGES.items()
            if os.path.expanduser("~") in text or os.path.dirname(os.path.dirname(upskilld)) in text]


def groff_is_content():
    if not shutil.which("groff"):
        return []
    faults = []
    for name, text in PAGES.items():
        done = subprocess.run(["groff", "-ww", "-man", "-Tutf8", "-z"], input=text, capture_output=True, text=True)
        faults += ["%s: %s" % (name, line) for line in done.stderr.split("\n") if line]
    return faults


TESTS = [every_command_has_a_section, the_programs_own_options_are_there, no_path_of_this_machine, groff_is_content]
print("1..%d" % len(TESTS))
failed = False
for number, test in enumerate(TESTS, 1):
    faults = test()
    failed = failed or bool(faults)
    print("%s %d - %s" % ("not ok" if faults else "ok", number, test.__name__.replace("_", " ")))
    for fault in faults:
        print("# " + fault)
sys.exit(1 if failed else 0)
