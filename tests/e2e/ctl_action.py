#!/usr/bin/env python3
"""The GitHub Action's own script, as a runner would run it, with upskillctl on PATH.

usage: ctl_action.py UPSKILLD UPSKILLCTL SOURCE_FOLDER   (TAP on standard output)
"""
import json, os, shutil, subprocess, sys, tempfile, textwrap

upskilld, upskillctl, source = map(os.path.abspath, sys.argv[1:4])
DEMO = os.path.join(source, "tests", "kernels", "demo")
INPUTS = ["PATHS", "VALIDATE", "OPTIONS", "SARIF"]


def script():
    """The last step's `run: |`."""
    lines = open(os.path.join(source, "clients", "action", "action.yml")).read().split("\n")
    start = max(i for i, line in enumerate(lines) if line.strip() == "run: |")
    return textwrap.dedent("\n".join(lines[start + 1:]))


def run(**inputs):
    folder = tempfile.mkdtemp(dir=room)
    for name in os.listdir(DEMO):
        shutil.copy(os.path.join(DEMO, name), folder)
    environment = dict(os.environ, UPSKILLD=upskilld, XDG_STATE_HOME=room,
                       PATH=os.path.dirname(upskillctl) + os.pathsep + os.environ["PATH"])
    environment.update({name: inputs.get(name, "") for name in INPUTS})
    # As a runner starts it.
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script()], cwd=folder,
                          env=environment, capture_output=True, text=True, timeout=120)
    return folder, done


def a_good_kernel_passes():
    _, done = run(PATHS="softmax.cu")
    return done.returncode == 0 and "::error" not in done.stdout, done


def a_bad_one_is_marked_at_its_line():
    _, done = run(PATHS="softmax.cu\nrms_norm_broken.cu")
    return done.returncode == 1 and "::error file=rms_norm_broken.cu,line=14" in done.stdout, done


def options_and_sarif():
    folder, done = run(PATHS="rms_norm_broken.cu", OPTIONS="--std c++20", SARIF="out.sarif")
    found = json.load(open(os.path.join(folder, "out.sarif")))["runs"][0]["results"]
    return done.returncode == 1 and len(found) >= 6, done


def specs_are_run():
    _, done = run(PATHS="rms_norm.cu", VALIDATE="rms_norm.cu")
    _, none = run(PATHS="rms_norm.cu", VALIDATE="softmax.cu")  # has no spec
    return done.returncode == 0 and none.returncode == 2, done


def inputs_are_words_and_never_run():
    folder, done = run(PATHS="$(touch made) `touch made` ;touch made softmax.cu")
    return done.returncode == 2 and not os.path.exists(os.path.join(folder, "made")), done


def what_cannot_be_done_fails_the_step():
    """An open quote, a report that cannot be written, options that would check nothing: none is a green step."""
    for inputs, said in (({"PATHS": 'softmax.cu "rms_norm_broken.cu'}, "paths: "),
                         ({"PATHS": "softmax.cu", "VALIDATE": "it's"}, "validate: "),
                         ({"PATHS": "softmax.cu", "OPTIONS": "-DA=it's"}, "options: "),
                         ({"PATHS": "softmax.cu", "SARIF": "nodir/x.sarif"}, "sarif: "),
                         ({"PATHS": "softmax.cu", "OPTIONS": "--help"}, "options: --help"),
                         ({"PATHS": "softmax.cu", "OPTIONS": "--fix"}, "options: --fix"),
                         ({"PATHS": "--help softmax.cu"}, "--help"), ({"PATHS": "--fix rms_norm_broken.cu"}, "--fix"),
                         ({"PATHS": "softmax.cu", "VALIDATE": "--help"}, "--help")):
        folder, done = run(**inputs)
        if done.returncode != 2 or said not in done.stdout + done.stderr:
            return False, done
        with open(os.path.join(folder, "rms_norm_broken.cu")) as now, open(DEMO + "/rms_norm_broken.cu") as before:
            if now.read() != before.read():
                return False, done
    return True, done


TESTS = [a_good_kernel_passes, a_bad_one_is_marked_at_its_line, options_and_sarif, specs_are_run,
         inputs_are_words_and_never_run, what_cannot_be_done_fails_the_step]
print("1..%d" % len(TESTS))
failed = False
with tempfile.TemporaryDirectory() as room:
    for number, test in enumerate(TESTS, 1):
        good, done = test()
        failed = failed or not good
        print("%s %d - %s" % ("ok" if good else "not ok", number, test.__name__.replace("_", " ")))
        if not good:
            print("\n".join("# " + line for line in
                            ("status %d\n%s\n%s" % (done.returncode, done.stdout, done.stderr)).split("\n")))
sys.exit(1 if failed else 0)
