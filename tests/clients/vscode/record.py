#!/usr/bin/env python3
"""Records answers of kernel/validate for the unit tests of the VS Code extension: record.py BUILD_FOLDER

The kernels stand here; the answers are the real program's. Run it again when the result's shape changes.
"""
import json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = "__global__ void scale(float *y, const float *x, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (%s) y[i] = x[i] * 0.5f;\n}\n"
SPEC = {"sizes": [{"n": 1000}, {"n": 1}], "launch": {"grid": ["ceil_div(n, 256)"], "block": [256]}, "seed": "7",
        "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
                 {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
                 {"name": "n", "type": "int32", "value": "n"}],
        "expect": {"expression": {"y": "x[i] * 0.5"}}, "backend": "emulator"}
REQUESTS = {"pass": (SCALE % "i < n", {"benchmark": True}), "fail": ((SCALE % "i < n - 1").replace("0.5f", "(i % 4 ? 0.5f : 0.51f)"), {}),
            "out_of_bounds": (SCALE % "i <= n", {}), "not_compiled": (SCALE % "i < missing", {}), "unjudged": (SCALE % "i < n", {"expect": None})}


def record(program, name, source, more):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.cu"), "w") as f:
            f.write(source)
        request = {"jsonrpc": "2.0", "id": 1, "method": "kernel/validate", "params": dict(SPEC, path="k.cu", wait=True, **more)}
        daemon = subprocess.Popen([program], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  env=dict(os.environ, XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder))
        daemon.stdin.write(json.dumps(request) + "\n")
        daemon.stdin.flush()
        answer = next(m for m in map(json.loads, daemon.stdout) if m.get("id") == 1)
        daemon.stdin.close()
        daemon.wait()
    with open(os.path.join(HERE, "answers", name + ".json"), "w") as f:
        json.dump(answer["result"], f, indent=1)
        f.write("\n")


for name, (source, more) in REQUESTS.items():
    record(os.path.join(os.path.abspath(sys.argv[1]), "daemon", "upskilld"), name, source, more)
