#!/usr/bin/env python3
"""upskillctl kernel init: a check spec is begun from a kernel's own host code, runs, and passes only when judged.

usage: ctl_init.py UPSKILLCTL UPSKILLD
"""
import json, os, subprocess, sys, tempfile

from evaluate_support import Tap

CTL, UPSKILLD = (os.path.abspath(p) for p in sys.argv[1:3])
HEADER = "inline int blocks_for(int n, int block) { return (n + block - 1) / block; }\n"
SCALE = """#include <cstdio>
#include "inc/blocks.h"
__global__ void scale(float *y, const float *x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
int main() {
    int n = 5000;
    float *x, *y, *h = (float *)malloc(n * sizeof(float));
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc((void **)&y, n * sizeof(float));
    cudaMemcpy(x, h, n * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<blocks_for(n, 128), 128>>>(y, x, 0.5f, n);
    cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);
}
"""
SPEC = {
    "sizes": {"n": 5000},
    "launch": {"grid": ["(n + 128 - 1) / 128"], "block": [128]},
    "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
             {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
             {"name": "a", "type": "float32", "value": 0.5}, {"name": "n", "type": "int32", "value": "n"}],
    "expect": None}
TWO = "__global__ void first(int *x) { *x = 1; }\nnamespace deep { __global__ void second(int *x) { *x = 2; } }\n"


class Room:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="ctl-init-")
        self.dir = os.path.realpath(self.folder.name)
        self.env = {**os.environ, "UPSKILLD": UPSKILLD,
                    **{"XDG_%s_HOME" % k: self.dir + "/home" for k in ("CONFIG", "STATE", "CACHE")}}
        self.write("scale.cu", SCALE)
        self.write("inc/blocks.h", HEADER)
        self.write("two.cu", TWO)
        self.write("odd.cuh", TWO)
        self.write("none.cu", "int main() {}\n")

    def path(self, name):
        return os.path.join(self.dir, "work", name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name)) as f:
            return json.load(f)

    def run(self, *words, status=0):
        done = subprocess.run([CTL, "kernel", *words], cwd=os.path.join(self.dir, "work"), env=self.env,
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == status, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr


def a_spec_is_written_and_what_is_not_known_is_said():
    r = Room()
    out, _ = r.run("init", "scale.cu")
    assert r.read("scale.check.json") == SPEC, r.read("scale.check.json")
    assert out.splitlines() == ["wrote " + r.path("scale.check.json"), "left to fill in:",
                                '  expect: the expected outputs, such as {"op": "softmax"}: without them, nothing is judged',
                                "then run: upskillctl kernel validate scale.cu"], out


def include_folders_are_kept_for_the_validation():
    """relative to the spec; the command that is told names those that it could not read otherwise"""
    r = Room()
    source = SCALE.replace("inc/blocks.h", "blocks.h").replace("a * x[i]", "a * x[i] * (blocks_for(1, 1) + 0)").replace("inline", "")
    r.write("src/deep.cu", source)
    r.write("lib/blocks.h", HEADER.replace("inline", "__host__ __device__ inline"))
    r.write("inc/blocks.h", "#error another\n")
    out, _ = r.run("init", "src/deep.cu", "-I", "lib")
    assert r.read("src/deep.check.json")["include_roots"] == ["../lib"], r.read("src/deep.check.json")
    assert out.splitlines()[-1] == "then run: upskillctl kernel validate src/deep.cu", out
    _, err = r.run("validate", "src/deep.cu", status=1)
    assert "cannot open" not in err and "outside" not in err, err
    os.makedirs(r.dir + "/away")
    with open(r.dir + "/away/blocks.h", "w") as f:
        f.write(HEADER.replace("inline", "__host__ __device__ inline"))
    out, _ = r.run("init", "src/deep.cu", "-I" + r.dir + "/away", "--force")
    words = out.splitlines()[-1].removeprefix("then run: upskillctl kernel ").split()
    assert words == ["validate", "src/deep.cu", "-I", r.dir + "/away"], out
    out, _ = r.run(*words, status=1)  # it runs, and nothing is judged
    assert "not judged" in out and "cannot open" not in out, out


def a_large_launch_of_fixed_extents_gets_time():
    r = Room()
    wide = SCALE.replace("int n = 5000", "const int n = 1 << 23").replace("blocks_for(n, 128)", "65536")
    r.write("wide.cu", wide.replace(", 0.5f, n);", ", 0.5f, 8388608);").replace("n * sizeof", "8388608 * sizeof"))
    r.run("init", "wide.cu")
    spec = r.read("wide.check.json")
    assert spec["launch"] == {"grid": [65536], "block": [128]}, spec
    assert (spec["trials"], spec["timeout_s"], list(spec)[-1]) == (1, 600, "expect"), spec
    r.run("init", "scale.cu")
    assert "trials" not in r.read("scale.check.json")


def a_file_that_is_there_is_kept():
    r = Room()
    r.write("scale.check.json", "{}\n")
    _, err = r.run("init", "scale.cu", status=2)
    assert "scale.check.json exists" in err and r.read("scale.check.json") == {}, err
    os.chmod(r.path("scale.check.json"), 0o640)
    r.run("init", "scale.cu", "--force")
    assert r.read("scale.check.json") == SPEC
    assert os.stat(r.path("scale.check.json")).st_mode & 0o777 == 0o640
    r.write("other.cu", SCALE)
    os.symlink("/etc", r.path("away"))
    _, err = r.run("init", "away/hosts.cu", status=2)
    assert not os.path.exists("/etc/hosts.check.json"), err


def of_several_at_once_one_writes():
    r = Room()
    all_ = [subprocess.Popen([CTL, "kernel", "init", "scale.cu"], cwd=os.path.join(r.dir, "work"), env=r.env,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    said = [(p.communicate(timeout=120), p.returncode) for p in all_]
    assert sorted(status for _, status in said) == [0] + [2] * 5, said
    assert all("scale.check.json exists" in err for (_, err), status in said if status), said
    assert r.read("scale.check.json") == SPEC and os.listdir(r.dir + "/work").count("scale.check.json") == 1
    assert not [n for n in os.listdir(r.dir + "/work") if n.startswith(".")], os.listdir(r.dir + "/work")


def print_writes_nothing():
    r = Room()
    out, err = r.run("init", "scale.cu", "--print")
    assert json.loads(out) == SPEC and "left to fill in" in err, (out, err)
    assert not os.path.exists(r.path("scale.check.json"))
    out, _ = r.run("init", "scale.cu", "--print", "--json")
    assert json.loads(out)["spec"] == SPEC and json.loads(out)["kernel"] == "scale"


def one_of_several_kernels_is_named():
    r = Room()
    _, err = r.run("init", "two.cu", status=2)
    assert "2 kernels: first, deep::second" in err, err
    _, err = r.run("init", "two.cu", "--kernel", "third", status=2)
    assert "no kernel is called third" in err, err
    _, err = r.run("init", "none.cu", status=2)
    assert "error: none.cu has no kernel\nhint: name a file that has a __global__" in err, err
    _, err = r.run("init", "none.cu", "two.cu", status=2)
    assert "error: none.cu has no kernel\nhint: put the file that has the kernel first: two.cu none.cu\n" in err, err
    r.run("init", "two.cu", "--kernel", "second")
    assert r.read("two.check.json")["kernel"] == "deep::second"
    r.run("init", "odd.cuh", "--kernel", "first")
    assert r.read("odd.check.json")["path"] == "odd.cuh"


def nothing_passes_before_somebody_says_what_is_right():
    r = Room()
    r.run("init", "scale.cu")
    out, _ = r.run("validate", "scale.cu", status=1)
    assert "unjudged" in out and "not judged" in out, out
    spec = r.read("scale.check.json")
    r.write("scale.check.json", json.dumps({**spec, "expect": {"expression": {"y": "a * x[i]"}}}))
    r.run("validate", "scale.cu")  # a is a scalar argument
    r.write("scale.check.json", json.dumps({**spec, "expect": {"expression": {"y": "0.5 * x[i]"}}}))
    r.run("validate", "scale.cu")
    r.write("scale.check.json", json.dumps({**spec, "expect": {"expression": {"y": "0.25 * x[i]"}}}))
    r.run("validate", "scale.cu", status=1)


def without_host_code_it_must_be_filled_in_first():
    r = Room()
    r.run("init", "two.cu", "--kernel", "first")
    spec = r.read("two.check.json")
    assert spec["launch"] == {"grid": None, "block": None} and spec["args"][0]["shape"] is None, spec
    for word in ("two.cu", "two.check.json"):
        out, err = r.run("validate", word, status=2)
        assert ("error: two.check.json: left to fill in: " in err and "launch.grid (blocks in x, y, z)" in err and
                "launch.block (threads in x, y, z)" in err and "args[0].shape (extents in row-major order)" in err), (out, err)
        assert err.endswith("\nhint: write what belongs there in place of each null\n"), err


def what_is_missing_or_wrong_is_told_where_it_is():
    r = Room()
    r.write("wrong.cu", SCALE)
    for word, says in (("nofile.cu", "nofile.cu: No such file"), ("bad.check.jso", "bad.check.jso: No such file"),
                       (".", "error: . is a folder"), ("no.check.json", "no.check.json: No such file")):
        _, err = r.run("validate", word, status=2)
        assert says in err and "launch" not in err, err
    _, err = r.run("validate", "scale.cu", status=2)
    assert "give --args and --launch, or write them to scale.check.json" in err, err
    assert "hint: upskillctl kernel init scale.cu begins" in err, err
    for change, says in (({"lunch": {}}, 'wrong.check.json: lunch: unknown; did you mean "launch"?'),
                         ({"seed": -1}, "wrong.check.json: seed: a number below 2^64, \"0x…\" or decimal; it is -1\n"),
                         ({"args": [{"name": "y", "type": "flot", "shape": [4]}]}, 'or bool; it is "flot"\n')):
        r.write("wrong.check.json", json.dumps({**SPEC, **change}))
        _, err = r.run("validate", "wrong.cu", status=2)
        assert says in err and "hint: a check spec takes the parameters of upskillctl kernel validate\n" in err, err
    r.write("wrong.check.json", json.dumps(SPEC))
    _, err = r.run("validate", "wrong.cu", "--seed", "x", status=2)
    assert "error: --seed: " in err and 'it is "x"\n' in err and "wrong.check.json" not in err, err


def hints_name_options():
    r = Room()
    r.run("init", "scale.cu")
    _, err = r.run("init", "scale.cu", status=2)
    assert "hint: --force replaces it, --print shows the new one\n" in err, err
    _, err = r.run("init", "two.cu", status=2)
    assert "name one of them as --kernel" in err, err
    asked = subprocess.run([CTL, "kernel", "init", "scale.cu", "--json"], cwd=r.dir + "/work", env=r.env, capture_output=True, text=True)
    assert json.loads(asked.stdout)["data"]["hint"].startswith("`force` replaces it"), asked.stdout


def a_refused_install_names_the_option():
    r = Room()
    skill = "---\nname: demo\ndescription: Use this when a demonstration of an installation is needed.\n---\n# Demo\nText.\n"
    for name in ("new/demo/SKILL.md", ".claude/skills/demo/SKILL.md"):
        r.write(name, skill if name[0] == "n" else skill + "By hand.\n")
    done = subprocess.run([CTL, "skill", "install", "./new/demo", "--agents", "claude-code", "--scope", "project"], cwd=r.dir + "/work",
                          env=r.env, capture_output=True, text=True)
    assert "--force replaces it" in " ".join(done.stdout.split()), (done.stdout, done.stderr)


tap = Tap()
for test in (a_spec_is_written_and_what_is_not_known_is_said, include_folders_are_kept_for_the_validation,
             a_large_launch_of_fixed_extents_gets_time, a_file_that_is_there_is_kept,
             of_several_at_once_one_writes, print_writes_nothing, one_of_several_kernels_is_named, nothing_passes_before_somebody_says_what_is_right,
             without_host_code_it_must_be_filled_in_first, what_is_missing_or_wrong_is_told_where_it_is, hints_name_options,
             a_refused_install_names_the_option):
    tap.run(test.__name__.replace("_", " "), test)
sys.exit(tap.end())
