#!/usr/bin/env python3
"""Wrong invocations of upskillctl: each says what is wrong, where, and what to do next, and has its exit status.

usage: ctl_wrong.py UPSKILLCTL UPSKILLD   (TAP on standard output)

A row is a command line, what its answer must name (the wrong word or the missing one), and, where it is not 2, the
exit status. The next step is a line "hint: …", a suggestion ("did you mean …?"), or in the message itself a list of what
there is.
"""
import os, re, shlex, shutil, subprocess, sys
import scratch

CTL, DAEMON = map(os.path.abspath, sys.argv[1:3])
GOOD = "__global__ void scale(float *y, const float *x, int n) { int i = blockIdx.x * 64 + threadIdx.x; if (i < n) y[i] = x[i]; }\n"
SPEC = """{"sizes": {"n": 100}, "launch": {"grid": [2], "block": [64]}, "args": [
 {"name": "y", "type": "float32", "shape": ["n"], "output": true},
 {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
 {"name": "n", "type": "int32", "value": "n"}], "expect": {"expression": {"y": "x[i]"}}, "trials": 1}"""
FILES = {"good.cu": GOOD, "good.check.json": SPEC, "two.cu": GOOD + GOOD.replace("scale", "other"), "empty.cu": "",
         "host.cu": "int main() { return 0; }\n", "text.txt": "words\n",
         "syntax.cu": GOOD, "syntax.check.json": SPEC.replace('"launch"', 'launch'),
         "list.cu": GOOD, "list.check.json": "[1, 2]", "twice.cu": GOOD,
         "twice.check.json": SPEC.replace('"trials": 1', '"trials": 1, "trials": 2'),
         "member.cu": GOOD, "member.check.json": SPEC.replace('"trials"', '"trails"'),
         "type.cu": GOOD, "type.check.json": SPEC.replace('"float32", "shape": ["n"], "output"', '"float23", "shape": ["n"], "output"'),
         "shape.cu": GOOD, "shape.check.json": SPEC.replace('["n"], "output"', '["m"], "output"'),
         "grid.cu": GOOD, "grid.check.json": SPEC.replace('"grid": [2]', '"grid": [0]'),
         "block.cu": GOOD, "block.check.json": SPEC.replace('"block": [64]', '"block": [2048]'),
         "op.cu": GOOD, "op.check.json": SPEC.replace('{"expression": {"y": "x[i]"}}', '{"op": "sofmax"}'),
         "name.cu": GOOD, "name.check.json": SPEC.replace('"x[i]"', '"z[i]"'),
         "output.cu": GOOD, "output.check.json": SPEC.replace('{"y": "x[i]"}', '{"z": "x[i]"}'),
         "count.cu": GOOD, "count.check.json": SPEC.replace(', {"name": "n", "type": "int32", "value": "n"}', '').replace(
             ',\n {"name": "n", "type": "int32", "value": "n"}', ''),
         "init.cu": GOOD, "init.check.json": SPEC.replace('"normal"', '"randn"'),
         "cut.cu": GOOD, "cut.check.json": SPEC[:90], "comma.cu": GOOD, "comma.check.json": SPEC.replace('"trials": 1}', '"trials": 1,}'),
         "void.cu": GOOD, "void.check.json": "", "alone.check.json": SPEC,
         "both.cu": GOOD, "both.check.json": SPEC.replace('"x[i]"}}', '"x[i]"}, "op": "relu"}'),
         "product.cu": GOOD, "product.check.json": SPEC.replace('{"expression": {"y": "x[i]"}}', '{"op": "matmul"}'),
         "other.cu": GOOD.replace("scale", "shift"), "other.check.json": SPEC.replace('{"sizes"', '{"kernel": "scale", "sizes"'),
         "real.cu": GOOD, "real.check.json": SPEC.replace('"name": "n", "type": "int32"', '"name": "n", "type": "float32"'),
         "blank.cu": GOOD, "blank.check.json": SPEC.replace('["n"], "init"', 'null, "init"'),
         "brace.cu": GOOD, "brace.check.json": SPEC.replace('"grid": [2]', '"grid": ["ceil_div(n, 64"]'),
         "zero.cu": GOOD, "zero.check.json": SPEC.replace('"grid": [2]', '"grid": ["n / (n - 100)"]'),
         "npy.cu": GOOD, "npy.check.json": SPEC.replace('{"normal": [0, 1]}', '{"file": "x.npy"}'),
         "half.ptx": ".version 8.7\n.target sm_90\n.visible .entry k(\n",
         "session.jsonl": "not json\n", "SKILL.md": "---\nname: Bad Name\ndescription: x\n---\n"}
ROWS = [
    ("", "COMMAND"), ("kernl", "kernl"), ("kernel", "kernel check"), ("kernel chek good.cu", "kernel check"),
    ("check good.cu", "kernel check"), ("--jsn status", "--json"), ("kernel --help", "kernel validate", 0),
    ("kernel check", "FILE"), ("kernel check good.cu --", "", 0), ("kernel check nosuch.cu", "nosuch.cu"),
    ("kernel check goood.cu", "good.cu"), ("kernel check nodir/good.cu", "nodir/good.cu"),
    ("kernel check ../nosuch/a.cu", "No such file"), ("kernel check /nosuch/a.cu", "/nosuch/a.cu does not exist"),
    ("kernel validate ../nosuch/a.cu", "No such file"), ("kernel init ../nosuch/a.cu", "No such file"),
    ("skill check ../nosuch", "../nosuch does not exist"), ("skill generate --trace ../nosuch.jsonl", "../nosuch.jsonl does not exist"),
    ("kernel check good.cu --fastmath", "--fast-math"), ("kernel check good.cu --std", "--std"),
    ("kernel check good.cu --std c++99", "c++99"), ("kernel check good.cu --arch", "--arch"),
    ("kernel check good.cu --arch sm_20", "sm_20"), ("kernel check good.cu --arch hopper", "hopper"),
    ("kernel check good.cu -D", "-D"), ("kernel check good.cu -I nosuch", "nosuch", 0),
    ("kernel check good.cu -D 9X=1", "9X"), ("kernel check good.cu --option -lcublas", "-lcublas"),
    ("kernel check good.cu --options=-include=/etc/passwd", "not allowed"),
    ("kernel check good.cu --define 1A=2", "1A"), ("kernel check good.cu --launch blok=32", "block"),
    ("kernel check good.cu --launch block=0", "block"), ("kernel check good.cu --launch block=x", "block"),
    ("kernel check good.cu --launch '{\"block\": [32'", "--launch"), ("kernel check good.cu --launch 7", "launch"),
    ("kernel check good.cu --quick=maybe", "quick"), ("kernel check good.cu --output-format xml", "sarif"),
    ("kernel check good.cu --output-format", "--output-format"), ("kernel check good.cu --log loud", "--log"),
    ("kernel check good.check.json", "check spec"), ("kernel check empty.cu", "no kernel", 0),
    ("kernel check text.txt", "text.txt", None), ("kernel check host.cu", "no device code", 0),
    ("kernel check good.cu nosuch.cu", "nosuch.cu"), ("kernel check emptydir", "no .cu file"),
    ("kernel check good.cu --name a.cu --nme b", "--name"), ("kernel check good.cu --include-root", "--include-root"),
    ("kernel validate", "FILE"), ("kernel validate nosuch.cu", "nosuch.cu"), ("kernel validate host.cu", "host.check.json"),
    ("kernel validate two.cu", "two.check.json"), ("kernel validate goof.cu", "good.cu"),
    ("kernel validate good.cu bad.cu", "bad.cu"), ("kernel validate good.cu --size", "--size"),
    ("kernel validate good.cu --size n", "NAME=VALUE"), ("kernel validate good.cu --size n=x", "sizes.n"),
    ("kernel validate good.cu --size n=0", "nothing was compared", None), ("kernel validate good.cu --size n=-5", "n"),
    ("kernel validate good.cu --size m=5", "it has n"), ("kernel validate good.cu --size n=99999999999", "n"),
    ("kernel validate good.cu --trials 0", "trials"), ("kernel validate good.cu --trials many", "--trials"),
    ("kernel validate good.cu --trials 1000000", "trials"), ("kernel validate good.cu --timeout-s 0", "--timeout-s: must be"),
    ("kernel validate good.cu --timeout-s 1e9", "--timeout-s: expected an integer"), ("kernel validate good.cu --seed 0xzz", "seed"),
    ("kernel validate good.cu --backend gpu", "emulator"), ("kernel validate good.cu --checks races", "race"),
    ("kernel validate good.cu --kernel nosuch", "scale"), ("kernel validate good.cu --compare nearly", "elementwise"),
    ("kernel validate good.cu --tolerance rtol=x", "rtol"), ("kernel validate good.cu --tolerance rtoll=1", "rtol"),
    ("kernel validate good.cu --numerics exact", "ideal"), ("kernel validate good.cu --expect '{\"op\": \"sofmax\"}'", "softmax"),
    ("kernel validate good.cu --expect y", "expect"), ("kernel validate good.cu --save", "--save"),
    ("kernel validate good.cu --roofline flop=1", "flops"), ("kernel validate good.cu --launch grid=2", "block"),
    ("kernel validate syntax.cu", "syntax.check.json"), ("kernel validate list.cu", "list.check.json"),
    ("kernel validate twice.cu", "trials"), ("kernel validate member.cu", "trials"),
    ("kernel validate type.cu", "float32"), ("kernel validate shape.cu", "m"), ("kernel validate grid.cu", "grid"),
    ("kernel validate block.cu", "2048"), ("kernel validate op.cu", "softmax"), ("kernel validate name.cu", "z"),
    ("kernel validate output.cu", "z"), ("kernel validate count.cu", "n", None), ("kernel validate init.cu", "normal"),
    ("kernel validate good.cu --expect '{\"op\": \"sum\"}'", "makes shape [], 'y' has [100]: give \"dim\""),
    ("kernel validate good.cu --expect '{\"op\": \"sum\", \"dim\": 1}'", "operators use the shapes of the check spec"),
    ("kernel validate good.cu --expect '{\"op\": \"softmax\", \"axis\": 0}'", "'softmax' has no attribute 'axis'; it has dim"),
    ("kernel validate good.cu --args n=5", "called 'n=5'; a size belongs in --sizes"),
    ("kernel validate good.cu --checks race,memroy", "memroy"), ("kernel validate good.cu --checks race,memory", "pass", 0),
    ("kernel run host.cu --args 5 7", "7: there is no such file; put the program's own arguments after --"),
    ("kernel init", "FILE"), ("kernel init nosuch.cu", "nosuch.cu"), ("kernel init host.cu", "__global__"),
    ("kernel init two.cu", "--kernel"), ("kernel init two.cu --kernel thrid", "other"), ("kernel init good.cu", "--force"),
    ("kernel init good.cu --pint", "--print"),
    ("skill find", "TASK"), ("skill find zzzz qqqq", "no skill fits", 1), ("skill find x --limit 0", "limit"),
    ("skill get", "NAME"), ("skill get nosuch", "nosuch"), ("skill get h100-cuda-kernel", "h100-cuda-kernels"),
    ("skill check", "NAME"), ("skill check nosuch", "nosuch"), ("skill check text.txt", "SKILL.md"),
    ("skill check .", "Bad Name", 1), ("skill install", "NAME"), ("skill install h100-cuda-kernels", "--agents"),
    ("skill install h100-cuda-kernels --agents claud-code", "claude-code"), ("skill install nosuch --agents codex", "nosuch"),
    ("skill install h100-cuda-kernels --agents codex --scope world", "project"),
    ("skill uninstall nosuch --agents codex", "nosuch", None), ("skill generate", "traces"),
    ("skill generate --trace nosuch.jsonl", "nosuch.jsonl"), ("skill generate --trace session.jsonl", "nothing to teach: session.jsonl is not a session in a known format", 1),
    ("skill generate --from text.txt", "codex-rollout", 1), ("skill generate --from text.txt", "next      --teacher anthropic.NAME", 1),
    ("skill generate task", "next      --trace SESSION.jsonl", 1),
    ("skill generate task --model haiku", "haiku"), ("skill generate task --model other.m", "other"),
    ("skill evaluate", "NAME"), ("skill evaluate h100-cuda-kernels", "students"),
    ("skill evaluate h100-cuda-kernels --students haiku", "haiku"), ("skill evaluate nosuch --students generic.x --base-url http://127.0.0.1:1", "nosuch"),
    ("skill evaluate h100-cuda-kernels --students generic.x", "--base-url"), ("run show", "RUN"), ("run show nosuch", "no evaluation"),
    ("run list --limit x", "--limit"), ("job status", "JOB"), ("job status xyz", "xyz"), ("job cancel xyz", "xyz"),
    ("setup nosuch", "nosuch"), ("setup claude-cod", "claude-code"), ("setup claude-code --scope world", "world"),
    ("setup --prnt", "--print"), ("explain nosuch", "nosuch"), ("explain racee", "race"), ("completion tcsh", "fish"),
    ("call", "METHOD"), ("call nosuch/method", "nosuch/method"), ("call kernel/check '{'", "JSON"),
    ("call kernel/check '{}'", "path"), ("worker", "pack", None), ("worker check", "give a name"), ("worker check nosuch", "nosuch"),
    ("worker pack --output", "--output"), ("shel", "shell"), ("list --nosuch", "--nosuch"), ("status --nosuch", "--nosuch"),
    ("help nosuch", "nosuch"), ("help kernel chek", "kernel check"),
    ("kernel check .odd/wide.cu", "wide.cu is UTF-16: save it as UTF-8"), ("kernel init .odd/wide.cu", "UTF-16"),
    ("kernel check .odd/link.cu", "hint: .odd/link.cu is a link that leads to nothing"), ("kernel check /dev/null", "/dev/null: not a regular file"),
    ("kernel validate good.cu --trials 0", "--trials: must be at least 1"), ("kernel validate good.cu --timeout-s x", "--timeout-s x"),
    ("kernel validate good.cu --expect softmax", "or a JSON object"),
    ("kernel check .odd/binary.cu", "binary.cu is a binary file, not CUDA source"), ("kernel init .odd/binary.cu", "binary file"),
    ("kernel validate cut.cu", "cut.check.json: line 2 column 18"), ("kernel validate comma.cu", "comma.check.json: line 4 column 102"),
    ("kernel validate void.cu", "void.check.json: the file is empty"), ("kernel validate alone.check.json", "alone.check.json is for alone.cu, which is not there"),
    ("kernel validate both.cu", '"op" and "expression" both say what is expected'), ("kernel validate product.cu", '"inputs": {"input": "…", "other": "…"}'),
    ("kernel validate other.cu", "there is no kernel scale; the source has: shift"), ("kernel validate real.cu", "the kernel's parameter is int32: give int32", 1),
    ("kernel validate blank.cu", "args[1].shape"), ("kernel validate brace.cu", "a closing parenthesis is missing"),
    ("kernel validate zero.cu", "division by zero"), ("kernel validate npy.cu", "x.npy: No such file"),
    ("kernel validate emptydir", "emptydir is a folder, not a file"), ("kernel init emptydir", "is a folder"), ("kernel run emptydir", "is a folder"),
    ("kernel validate good.cu --size n=5 --size n=6", "n is given twice"), ("kernel validate good.cu --size N=5", "it has n"),
    ("kernel validate good.cu --sizes '[{\"n\": 5}, {\"m\": 5}]'", "case 1: cannot evaluate 'n'"),
    ("kernel check good.cu --json --output-format sarif", "--json and --output-format"), ("kernel check - --fix", "--fix edits files"),
    ("kernel check good.cu -I", "-I: a folder is needed"), ("kernel run host.cu -I", "-I: a folder is needed"),
    ("kernel check good.cu --extended-lambda --expt-relaxed-constexpr", "ok", 0), ("kernel check good.cu --nosuchthing", 'the option "--nosuchthing" is not allowed'),
("kernel run host.cu --file gone.txt -- gone.txt", "gone.txt: No such file"),
    ("kernel init half.ptx", "line 4"), ("kernel init half.ptx --kernel k", "line 4"), ("kernel init text.txt", "no kernel"),
]
# Raw answers of `call` are the daemon's own, what was compiled or run has findings instead, and some messages say it
# themselves.
NEXT = re.compile(r"^hint: \S|did you mean|lists them|known are|it has |has --|^usage: |^next  |^\{\"code\":|: error: |"
                  r"No such file|does not exist|the kernel takes 3 arguments|\(column 1\)|: give |can name another|Say \{\"op\"|: keep one", re.M)


def ask(words, folder):
    env = dict(os.environ, UPSKILLD=DAEMON, XDG_STATE_HOME=folder + "/state", XDG_CONFIG_HOME=folder + "/config",
               HOME=folder + "/home", NO_COLOR="1", XDG_DATA_HOME=os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"))
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        env.pop(name, None)
    done = subprocess.run([CTL, *shlex.split(words)], cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def fault(words, named, status, folder):
    code, said = ask(words, folder)
    if status is not None and code != status or code not in (0, 1, 2):
        return "exit status %d" % code
    if named not in said:
        return "it does not name %r" % named
    if code == 2 and not NEXT.search(said):
        return "no next step"
    return None


def main():
    print("1..%d" % len(ROWS))
    failed = 0
    folder = scratch.folder("ctl-wrong-")
    for name, text in FILES.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    os.mkdir(folder + "/emptydir")
    os.mkdir(folder + "/.odd")
    with open(folder + "/.odd/wide.cu", "wb") as file:
        file.write(GOOD.encode("utf-16"))
    with open(folder + "/.odd/binary.cu", "wb") as file:
        file.write(b"\x7fELF\2\1\1\0" + bytes(range(256)))
    os.symlink("gone.cu", folder + "/.odd/link.cu")
    os.mkdir(folder + "/home")
    for number, (words, named, *status) in enumerate(ROWS, 1):
        problem = fault(words, named, status[0] if status else 2, folder)
        failed += problem is not None
        print("%s %d - upskillctl %s" % ("not ok" if problem else "ok", number, words.replace("#", " ")), flush=True)
        if problem:
            print("\n".join("# " + line for line in [problem, *ask(words, folder)[1].split("\n")[:8]]), flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failed else 0)


main()
