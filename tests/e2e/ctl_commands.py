#!/usr/bin/env python3
"""upskillctl's commands around a check: help, completions, skills, tables, what a daemon cannot do.

usage: ctl_commands.py UPSKILLCTL UPSKILLD   (TAP on standard output)
"""
import csv, fcntl, json, os, pty, re, shlex, shutil, struct, subprocess, sys, termios, unicodedata

from ctl_room import holds, plain, play, same


def help_of_every_command(room):
    code, out, err = room.run("--help")
    same((code, err), (0, ""))
    plain(out)
    commands = re.findall(r"^  ([a-z]+ [a-z]+)  ", out, re.M)
    assert "kernel check" in commands and "daemon status" in commands, commands
    commands.remove("setup programs")  # upskillctl's own, on the page of setup
    for command in commands:
        pages = []
        for words in ([*command.split(), "--help"], ["--help", *command.split()], ["help", *command.split()]):
            code, out, err = room.run(*words)
            same((command, code, err), (command, 0, ""))
            holds(out, "^usage: upskillctl " + command, r"--json")
            assert max(map(len, out.split("\n"))) <= 100 or "\nexample: " in out, out
            pages.append(out)
        same(pages[0], pages[1])
        same(pages[0], pages[2])


def help_says_what_schemas_know(room):
    """The usage's words, choices, ranges and defaults are those of the daemon's table."""
    out = room.run("help", "skill", "install")[1]
    holds(out, r"--suppress VALUE")
    holds(out, r"^usage: upskillctl skill install NAME\|FOLDER --agents VALUE \[options\]",
          r"--scope project\|user .*\(default\s+project\)", r"--agents VALUE .*\(required;",
          r"\nexample: upskillctl skill install h100-cuda-kernels --agents claude-code --scope project\n")
    holds(room.run("help", "kernel", "validate")[1], r"--odd-sizes [^-]*\(on unless\s+--no-odd-sizes\)",
          r"--trials N .*\(1 to 16; default 3\)",
          r"--checks VALUE .*\(of\s+memory, initialized, race, barrier;")
    for command in "check", "validate":  # and each says what it is
        page = room.run("help", "kernel", command)[1]
        same(re.findall(r"^  (--\S+)(?: \S+)? *(?:\n  --|\s*\()", page, re.M), [])
    holds(room.run("help", "skill", "find")[1], r"^usage: upskillctl skill find TASK… \[options\]")


def a_group_lists_its_commands(room):
    listed = re.findall(r"^  (skill [a-z]+)  ", room.run("--help")[1], re.M)
    for words, status in ((["skill"], 2), (["help", "skill"], 0), (["skill", "--help"], 0)):
        code, out, err = room.run(*words)
        same((words, code, err), (words, status, ""))
        same(re.findall(r"^  (\S+ \S+)  ", out, re.M), listed)


def help_needs_no_compiler(room):
    nothing = {"HOME": room.dir, "XDG_DATA_HOME": room.dir, "CUDA_HOME": "", "UPSKILLD_CUDA": ""}
    for words in (["--help"], ["kernel", "check", "--help"], ["completion", "bash"], ["--version"],
                  ["status"], ["jobs"]):
        code, out, err = room.run(*words, env=nothing)
        same((words, code, err), (words, 0, ""))
    if not any(map(os.path.exists, ("/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda",
                                    "/usr/lib/x86_64-linux-gnu/libnvrtc.so"))):
        code, out, err = room.run("kernel", "check", "good.cu", env=nothing)
        same(code, 2)
        holds(err, r"NVRTC", r"hint: ")


def values_of(room, method, name):
    """What the daemon's table lets a parameter be."""
    method = next(m for m in json.loads(room.run("call", "rpc.discover")[1])["methods"] if m["name"] == method)
    return next(p["schema"]["enum"] for p in method["params"] if p["name"] == name)


def the_completion_is_bash(room):
    code, out, err = room.run("completion", "bash")
    same((code, err), (0, ""))
    same(subprocess.run(["bash", "-n"], input=out.encode(), timeout=10).returncode, 0)
    script = out + "\nCOMP_WORDS=(upskillctl kernel check --a); COMP_CWORD=3; _upskillctl\n" \
                   "echo \"${COMPREPLY[@]}\"\nCOMP_WORDS=(upskillctl ''); COMP_CWORD=1; _upskillctl\n" \
                   "echo \"${COMPREPLY[@]}\"\n"
    done = subprocess.run(["bash", "--norc"], input=script.encode(), stdout=subprocess.PIPE, timeout=10)
    first, second = done.stdout.decode().splitlines()
    same(first.split(), ["--arch"])
    script = out + "".join("COMP_WORDS=(%s); COMP_CWORD=%d; _upskillctl; echo \"${COMPREPLY[@]}\"\n" % (words, words.count(" "))
                           for words in ("upskillctl kernel validate k.cu --backend ''", "upskillctl kernel check k.cu --output-format s",
                                         "upskillctl kernel validate k.cu --checks ra"))
    done = subprocess.run(["bash", "--norc"], input=script.encode(), stdout=subprocess.PIPE, timeout=10)
    same(done.stdout.decode().splitlines(), [" ".join(values_of(room, "kernel/validate", "backend")), "sarif", "race"])
    assert "kernel" in second.split() and "shell" in second.split() and "validate" not in second.split(), second


# What is typed, and the words of which all and none must be offered.
TYPED = [("kernel ", "check validate init run", "list shell --arch"), ("help skill ", "find install", "validate"), ("skill ", "find evaluate generate", "validate"),
         ("explain glob", "global_race", "race"), ("setup claude-code co", "codex", "cursor"), ("worker ", "pack check", "shell"),
         ("kernel check --output-format=sa", "sarif", "json"), ("kernel check --output-format=", "sarif junit", "--fix"),
         ("completion ", "bash zsh fish", "kernel"), ("k", "kernel", "status"), ("explain race ", "", "kernel skill"), ("", "kernel setup generate eval help", "check pack")]


def words_behind_words(room):
    """A group's commands, codes, agents and an option's values, where each belongs; a folder is completed as one."""
    bash = room.run("completion", "bash")[1]
    os.makedirs(room.dir + "/src folder", exist_ok=True)
    script = "COMP_WORDBREAKS=$' =:'\n" + bash
    for typed, _, _ in TYPED:
        words = re.split(r"(=)| ", "upskillctl " + typed)
        words = [w for i, w in enumerate(words) if w or (w == "" and i == len(words) - 1 and words[-2] != "=")]
        script += "COMP_WORDS=(%s); COMP_CWORD=%d; _upskillctl; echo \"${COMPREPLY[@]}\"\n" % (
            " ".join(w or "''" for w in words), len(words) - 1)
    done = subprocess.run(["bash", "--norc"], input=script.encode(), capture_output=True, timeout=20, cwd=room.dir)
    for (typed, yes, no), said in zip(TYPED, done.stdout.decode().split("\n")):
        assert set(yes.split()) <= set(said.split()) and not set(no.split()) & set(said.split()), (typed, said)
    assert "-o filenames" in bash
    if shutil.which("fish"):
        for typed, yes, no in [t for t in TYPED if "=" not in t[0]]:
            done = subprocess.run(["fish", "--no-config", "-c", room.run("completion", "fish")[1] +
                                   "\ncomplete -C 'upskillctl %s'" % typed], capture_output=True, timeout=20, env=room.env, cwd=room.dir)
            said = done.stdout.decode().split()
            assert set(yes.split()) <= set(said) and not set(no.split()) & set(said), (typed, said)


def the_completions_of_other_shells(room):
    """Each shell reads its own, where it is installed; all of them know every command and option."""
    bash = room.run("completion", "bash")[1]
    options = set(re.findall(r"--[a-z][a-z-]+", bash))
    for shell in "zsh", "fish":
        code, out, err = room.run("completion", shell)
        same((code, err), (0, ""))
        same(set(re.findall(r"--[a-z][a-z-]+", out)), options)
        assert "COMP_WORDS" not in out and "kernel check" in out, out
        if shutil.which(shell):
            same((shell, subprocess.run([shell, "-n"], input=out.encode(), timeout=10).returncode), (shell, 0))
    if shutil.which("fish"):
        done = subprocess.run(["fish", "--no-config", "-c", room.run("completion", "fish")[1] +
                               "\ncomplete -C 'upskillctl kernel check --ar'\necho .\ncomplete -C 'upskillctl compl'"
                               "\necho .\ncomplete -C 'upskillctl kernel validate k.cu --backend '"],
                              stdout=subprocess.PIPE, timeout=10, env=room.env, cwd=room.dir + "/cache")
        said = done.stdout.decode().split()
        same(said[:4], ["--arch", ".", "completion", "."])
        assert set(values_of(room, "kernel/validate", "backend")) <= set(said[4:]), said
    if shutil.which("zsh"):  # with the functions that complete replaced by ones that say what they get
        script = "compdef() { : }\n_files() { : }\ncompadd() { shift; print -r -- $@ }\n" + room.run("completion", "zsh")[1] + \
            "words=(upskillctl kernel validate k.cu --backend ''); CURRENT=6; _upskillctl\n"
        done = subprocess.run(["zsh", "-f"], input=script.encode(), stdout=subprocess.PIPE, timeout=10)
        same(done.stdout.decode().split(), values_of(room, "kernel/validate", "backend"))
    code, out, err = room.run("completion", "tcsh")
    same((code, out), (2, ""))
    holds(err, "bash, zsh or fish")


def every_help_has_an_example_that_is_understood(room):
    """Each page shows one, and no word of it is refused: what is missing here are files, skills and models."""
    own = ["status", "jobs", "runs", "generate", "explain", "hook", "call", "completion"]
    commands = re.findall(r"^  ([a-z]+ [a-z]+)  ", room.run("--help")[1], re.M)
    assert len(commands) > 14, commands
    room.write("session.jsonl", "{}\n")
    room.write("triggers.json", "[]\n")
    room.write("marks.json", "{}\n")
    for method in json.loads(room.run("call", "rpc.discover")[1])["methods"]:  # a source and its spec stand in files
        params = {p["name"]: p["value"] for e in method["examples"] for p in e["params"]}
        if method["name"] == "kernel/validate":
            room.write("kernel.cu", params.pop("source"))
            room.write("kernel.check.json", json.dumps(params))
    for command in commands + own + ["shell"]:
        page = room.run("help", *command.split())[1]
        examples = re.findall(r"^example: upskillctl (.+)$", page, re.M)
        same((command, len(examples)), (command, 1))
        code, out, err = room.run(*shlex.split(examples[0]))
        assert code in (0, 1, 2), (command, code)
        assert not re.search("upskillctl help|--help", err) or "GENERIC_BASE_URL" in err, (command, err)
    page = room.run("help", "skill", "evaluate")[1]
    holds(page, r"\nexample: upskillctl skill evaluate --skill h100-cuda-kernels .*--budget tokens=2000000,minutes=30\n")
    holds(room.run("help", "kernel", "check")[1], r"\nexample: upskillctl kernel check kernel.cu --launch block=256\n")


def call_asks_anything(room):
    code, out, _ = room.run("call", "daemon/status")
    same((code, json.loads(out)["roots"]), (0, [room.dir]))
    code, out, _ = room.run("call", "job/list", "-", stdin="{\"limit\":1}")
    same((code, json.loads(out)), (0, {"jobs": []}))
    code, out, _ = room.run("call", "no/such")
    same((code, json.loads(out)["code"]), (2, -32601))


def a_daemon_that_is_none_is_said(room):
    for program in (room.dir + "/no-such-program", "/bin/false", "/bin/true"):
        code, out, err = room.run("status", env={"UPSKILLD": program})
        same((program, code, out), (program, 2, ""))
        holds(err, r"^error: ")


def a_named_worker_is_the_one(room):
    """UPSKILLD_WORKER goes before the worker beside the daemon, and its failure is told."""
    for program in (room.dir + "/no-such-worker", "/bin/false"):
        code, out, err = room.run("kernel", "check", "good.cu", env={"UPSKILLD_WORKER": program})
        same((program, code, out), (program, 2, ""))
        holds(err, "^error: .*" + program)


def a_check_file_that_is_missing_is_named(room):
    code, out, err = room.run("kernel", "validate", "nosuch.check.json")
    same((code, out), (2, ""))
    holds(err, r"^error: .*nosuch\.check\.json.*No such file")


def a_last_line_needs_no_newline(room):
    """A message that the end of input ends is answered, alone and behind another."""
    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    for text, ids in ((ping % 1, [1]), (ping % 1 + b"\n" + ping % 2, [1, 2]), (ping % 1 + b"\n", [1])):
        done = subprocess.run([room.env["UPSKILLD"]], input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, cwd=room.dir, env=room.env, timeout=30)
        same((done.returncode, [json.loads(line)["id"] for line in done.stdout.splitlines()]), (0, ids))


def a_broken_configuration_is_told(room):
    room.write("config/upskilld/config.yaml", "no_such_key: 1\n")
    try:
        code, _, err = room.run("status")
        same(code, 2)
        holds(err, r"config\.yaml", r"no_such_key")
    finally:
        os.unlink(room.dir + "/config/upskilld/config.yaml")


SKILL = "---\nname: pack-wheels\ndescription: %s\n---\n# Pack\nPack it.\n"
PACKS = SKILL % "Builds and packs Python wheels. Use when a Python project is to be packaged."


def a_task_needs_no_quotes_and_no_skill_is_status_1(room):
    code, out, _ = room.run("skill", "find", "tile", "a", "matrix", "multiply")
    same(code, 0)
    holds(out, "h100-cuda-kernels +█")
    assert "other names" not in out, out
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    code, out, _ = room.run("skill", "find", "pack", "a", "python", "wheel")
    same(code, 0)
    plain(out)
    holds(out, r"pack-wheels +█+.* [01]\.\d\d +this project")
    code, out, _ = room.run("skill", "find", "--json", "--", "--pack", "a", "python", "wheel", "--json")
    same((code, json.loads(out)["matches"][0]["name"]), (0, "pack-wheels"))
    code, out, _ = room.run("skill", "find", "translate", "a", "sonnet", "into", "Welsh")
    same(code, 1)
    holds(out, "no skill fits", "add other names")
    code, out, _ = room.run("--json", "skill", "find", "translate", "a", "sonnet", "into", "Welsh")
    same((code, json.loads(out)["matches"]), (1, []))


def skills_are_listed_and_read_by_name(room):
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    code, out, _ = room.run("skill", "list", "--scopes", "project")
    same(code, 0)
    holds(out, r"pack-wheels +this project +\S+/skills/pack-wheels")
    listed = json.loads(room.run("skill", "list", "--json")[1])["skills"]
    shown = re.search(r"^skills +(\d+) known", room.run("status")[1], re.M)
    same(shown and int(shown[1]), len(listed))
    code, out, _ = room.run("skill", "get", "pack-wheels")
    same(code, 0)
    holds(out, "^pack-wheels \(from this project, not trusted\)\n", "Builds and packs", r"SKILL\.md\n", "# Pack\nPack it")
    code, _, err = room.run("skill", "get", "no-such-skill")
    same(code, 2)
    holds(err, "^error: no skill is named no-such-skill")


def a_checked_skill_has_findings_at_their_lines(room):
    room.write("skills/Bad_Name/SKILL.md", SKILL % "d")
    code, out, _ = room.run("skill", "check", "skills/Bad_Name", "--strict")
    same(code, 1)
    plain(out)
    holds(out, r"skills/Bad_Name/SKILL\.md:2:\d+: error", r"2 \| name: pack-wheels", r"not ok, [1-9]\d* errors?[,\n ]")
    code, out, _ = room.run("skill", "check", "-", stdin=PACKS)
    same(code, 0)


def no_line_is_quoted_from_outside_a_skill(room):
    room.write("private.txt", "only for its owner\n")
    room.write("skills/linked/SKILL.md", PACKS)
    os.symlink("../../private.txt", room.dir + "/skills/linked/notes.md")
    os.symlink("..", room.dir + "/skills/linked/up")
    for words, cwd in ((["skills/linked"], "."), (["."], "skills/linked"), ([room.dir + "/skills/linked"], "/")):
        code, out, _ = room.run("skill", "check", *words, cwd=os.path.join(room.dir, cwd))
        same(code, 1)
        holds(out, r"notes\.md:1: error: Links are not followed", r"up:1: error: Links are not followed")
        assert "owner" not in out, out
    shutil.rmtree(room.dir + "/skills/linked")


def installing_says_the_outcome_for_each_agent(room):
    room.write("skills/pack-wheels/SKILL.md", PACKS)
    words = ("pack-wheels", "--agents", "claude-code", "--agents", "codex")
    code, out, _ = room.run("skill", "install", *words, "--scope", "project")
    same(code, 0)
    holds(out, r"claude-code +installed +this project +\S+/\.claude/skills/pack-wheels", r"codex +installed")
    assert os.path.exists(room.dir + "/.claude/skills/pack-wheels/SKILL.md")
    room.write(".claude/skills/pack-wheels/SKILL.md", PACKS + "Edited.\n")
    code, out, _ = room.run("skill", "uninstall", *words)
    same(code, 1)
    holds(out, r"claude-code +refused", r"codex +removed")
    assert os.path.exists(room.dir + "/.claude/skills/pack-wheels/SKILL.md")
    shutil.rmtree(room.dir + "/.claude")


def past_evaluations_are_a_table_and_a_report(room):
    for number, kind, passed in ((1, "baseline", 2), (2, "with_skill", 4)):
        room.write("runs/2026_01_22_13_10/run_%d/run_result.json" % number, json.dumps({
            "metadata": {"model": "haiku", "task": "a PR", "batch_id": "2026_01_22_13_10", "run_number": number,
                         "timestamp": "2026-01-22T13:10:00"},
            "assertions_passed": passed, "assertions_total": 5, "run_type": kind, "skill_name": "good-pr"}))
    code, out, _ = room.run("runs", "--dir", "runs")
    same(code, 0)
    plain(out)
    holds(out, r"2026_01_22_13_10 +good-pr +haiku +not judged +40 → 80 % +\+40")
    code, out, _ = room.run("run", "show", "latest", "--dir", "runs")
    same(code, 0)
    holds(out, r"haiku: not judged, \+40 points\n  without .* 40 %\n  with .* 80 %")
    code, out, _ = room.run("run", "show", "latest", "--dir", "runs", "--out", "report.html")
    same((code, out), (0, "wrote %s/report.html\n" % room.dir))
    shutil.copytree(room.dir + "/runs/2026_01_22_13_10", room.dir + "/runs/2026_01_22_13_11")
    same(room.run("run", "show", "all", "--dir", "runs", "--out", "all.csv")[0], 0)
    with open(room.dir + "/all.csv", newline="") as f:
        rows = list(csv.DictReader(f))
    same(sorted((row["run_type"], row["assertions_passed"]) for row in rows), [("baseline", "2")] * 2 + [("with_skill", "4")] * 2)
    same(room.run("run", "show", "all", "--dir", "runs")[0], 2)
    with open(room.dir + "/report.html") as f:
        holds(f.read(), r"^<!DOCTYPE html>.*good-pr.*</html>\n$")
    same(room.run("run", "show", "none", "--dir", "runs")[0], 2)
    same(room.run("runs")[1], "no evaluations on record\n")


def a_job_is_shown_to_a_person(room):
    """A started command's job: its state in words, and what came of it as the command itself shows it."""
    code, out, err = room.run("skill", "generate", "--task", "Explain the zip tests.", "--teacher", "host")
    same((code, err), (1, ""))
    job = json.loads(room.run("jobs", "--json")[1])["jobs"][0]["job"]
    code, out, err = room.run("job", "status", job)
    same((code, err), (0, ""))
    holds(out, r"\Askill/generate: interrupted \(%s, started [0-9-]+ [0-9:]+ UTC\)\nerror: the daemon that waited .* has ended: none is taken\n"
          r"hint: start it again\n\Z" % job)
    code, out, err = room.run("job", "cancel", job)
    same((code, out, err), (0, "job %s: interrupted\n" % job, ""))


def on_terminal(room, width, *words):
    """The lines on a terminal of so many columns, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 40, width, 0, 0))
    child = subprocess.Popen([room.ctl, *words], stdin=subprocess.DEVNULL, stdout=theirs,
                             stderr=subprocess.DEVNULL, cwd=room.dir, env=room.env)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:  # EIO: the other end is closed
        pass
    os.close(ours)
    child.wait(60)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode()).replace("\r\n", "\n").split("\n")


def a_refused_installs_path_is_whole(room):
    text = "---\nname: mine\ndescription: Use this when an installation is to be refused.\n---\n# Mine\nText.\n"
    room.write("new/mine/SKILL.md", text)
    room.write(".claude/skills/mine/SKILL.md", text + "By hand.\n")
    lines = on_terminal(room, 80, "skill", "install", "./new/mine", "--agents", "claude-code", "--scope", "project")
    same(sum(room.dir + "/.claude/skills/mine" in line for line in lines), 2)  # with the reason and above the diff
    holds(" ".join(" ".join(lines).split()), "claude-code: conflict: .*; --force replaces it: /")
    for folder in ("new", ".claude/skills/mine"):
        shutil.rmtree(os.path.join(room.dir, folder))


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


LONG = "a-skill-whose-name-is-as-long-as-the-rules-allow-it-to-be-ever"


def tables_fit_the_terminal(room):
    """Nothing runs over the edge and nothing is lost: the words are those of the wide table."""
    for name in (LONG, "表を作る技能とても長い名前"):
        room.write("skills/%s/SKILL.md" % name, "---\nname: %s\ndescription: Fits wide tables, also 広い表. Use "
                   "when a wide table is to fit a narrow terminal.\n---\n# Fit\nFit it.\n" % name)
    commands = [("skill", "list"), ("skill", "find", "fit", "a", "wide", "table"), ("status",)]
    commands += [("kernel", "check", "rms_norm.cu")] if room.compiler else []
    for words in commands:
        wide, narrow = on_terminal(room, 250, *words), on_terminal(room, 80, *words)
        assert max(map(columns_of, narrow)) <= 80, narrow
        if words[0] == "kernel":  # its columns are numbers, so each row is a record where they do not fit
            for columns in (40, 60):
                lines = on_terminal(room, columns, *words)
                assert max(map(columns_of, lines)) <= columns, lines
                holds("\n".join(lines), r"^rms_norm\n  line \d+  registers \d+  ")
                if columns == 40:  # what limits it would have room for two words beside the bar
                    holds("\n".join(lines), r"\n +\S+ threads █+ +[0-9.]+ %\n    \d+ (to \d+ )?blocks an SM, ")
        assert not any(line != line.rstrip() for line in narrow), narrow
        if "skill" in words:
            assert any(LONG in line for line in wide), wide
            same(sorted(re.findall(r"[\w\"]", "".join(wide))), sorted(re.findall(r"[\w\"]", "".join(narrow))))
    for columns in (40, 80):
        lines = on_terminal(room, columns, "help")
        assert max(map(columns_of, lines)) <= columns, lines
    for name in (LONG, "表を作る技能とても長い名前"):
        shutil.rmtree(os.path.join(room.dir, "skills", name))


def a_daemon_started_by_hand_says_what_it_is(room):
    """On standard error, and only where a person sits: what a client reads stays the protocol's."""
    ours, theirs = pty.openpty()
    daemon = room.env["UPSKILLD"]
    child = subprocess.Popen([daemon], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, cwd=room.dir,
                             env=room.env)
    os.write(ours, b'{"id":1,"method":"job/list"}\n')
    same(json.loads(child.stdout.readline())["result"], {"jobs": []})
    os.write(ours, b"\x04")  # Ctrl-D
    same((child.wait(60), child.stdout.read()), (0, b""))
    holds(os.read(ours, 65536).decode(), "people use upskillctl")
    os.close(ours)
    os.close(theirs)
    done = subprocess.run([daemon], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, cwd=room.dir, env=room.env)
    same((done.returncode, done.stdout, done.stderr), (0, b"", b""))


def all_tools_together_are_short(room):
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}}
    code, out, _ = room.run("call", "tools/list", json.dumps({"_meta": meta}))
    same(code, 0)
    tools = json.loads(out)["tools"]
    assert {"kernel_check", "skill_find", "skill_get", "skill_check", "skill_install"} <= {
        tool["name"] for tool in tools}
    size = len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())
    assert size < 12000, "%d bytes" % size
    # A list of types is warned of by Gemini CLI and refused by some models' own servers.
    assert '"type": [' not in json.dumps(tools), "anyOf instead"


NEED_COMPILER = {a_named_worker_is_the_one}
TESTS = [help_of_every_command, help_says_what_schemas_know, a_group_lists_its_commands, help_needs_no_compiler,
         the_completion_is_bash, words_behind_words, the_completions_of_other_shells, every_help_has_an_example_that_is_understood,
         call_asks_anything, a_daemon_that_is_none_is_said, a_named_worker_is_the_one,
         a_check_file_that_is_missing_is_named, a_last_line_needs_no_newline, a_broken_configuration_is_told,
         a_task_needs_no_quotes_and_no_skill_is_status_1, skills_are_listed_and_read_by_name,
         a_checked_skill_has_findings_at_their_lines, no_line_is_quoted_from_outside_a_skill,
         installing_says_the_outcome_for_each_agent, past_evaluations_are_a_table_and_a_report,
         a_refused_installs_path_is_whole, tables_fit_the_terminal, a_daemon_started_by_hand_says_what_it_is,
         a_job_is_shown_to_a_person, all_tools_together_are_short]


if __name__ == "__main__":
    sys.exit(play(TESTS, NEED_COMPILER))
