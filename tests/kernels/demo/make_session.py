#!/usr/bin/env python3
"""Writes session.jsonl: an agent's session that ends in rms_norm.cu, as Claude Code keeps it.

usage: make_session.py UPSKILLCTL   (its daemon and worker beside it, as in a build folder)
What the agent says and edits is written here; what its commands print is what they really
print now. The daemon's demonstration (./setup) makes a skill of it.
"""
import json, os, re, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CTL = os.path.abspath(sys.argv[1])
GOOD = open(HERE + "/rms_norm.cu").read()
CHECK = open(HERE + "/rms_norm.check.json").read()
CWD = "/home/kim/norms"
SHUFFLE = "__shfl_xor_sync(0xffffffffu, value, offset)"
BARRIER = "    __syncthreads();\n"


class Session:
    def __init__(self, folder):
        self.folder, self.lines = folder, []

    def add(self, kind, message):
        n = len(self.lines) + 1
        self.lines.append({"parentUuid": "u%d" % (n - 1) if n > 1 else None, "isSidechain": False, "userType": "external", "cwd": CWD,
                           "sessionId": "0f6ad9d6-9c1e-4f7e-8d52-6dd75a3e1128", "version": "2.1.0", "type": kind, "message": message,
                           "uuid": "u%d" % n, "timestamp": "2026-11-20T09:%02d:%02d.000Z" % (n // 6, n % 6 * 10)})

    def user(self, text):
        self.add("user", {"role": "user", "content": text})

    def say(self, text):
        self.add("assistant", {"role": "assistant", "model": "claude", "id": "m%d" % len(self.lines), "content": [{"type": "text", "text": text}]})

    def tool(self, name, args, out, error=False):
        call = "toolu_%02d" % len(self.lines)
        self.add("assistant", {"role": "assistant", "model": "claude", "id": "m%d" % len(self.lines),
                               "content": [{"type": "tool_use", "id": call, "name": name, "input": args}]})
        self.add("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": out, "is_error": error}]})

    def write(self, name, text):
        with open(self.folder + "/" + name, "w") as f:
            f.write(text)
        self.tool("Write", {"file_path": CWD + "/" + name, "content": text}, "File created successfully at: " + CWD + "/" + name)

    def edit(self, name, old, new):
        path = self.folder + "/" + name
        text = open(path).read()
        assert text.count(old) == 1
        with open(path, "w") as f:
            f.write(text.replace(old, new))
        self.tool("Edit", {"file_path": CWD + "/" + name, "old_string": old, "new_string": new},
                  "The file %s/%s has been updated." % (CWD, name))

    def run(self, *words):
        done = subprocess.run([CTL, *words], cwd=self.folder, capture_output=True, text=True)
        out = re.sub(r"%s" % re.escape(self.folder), CWD, done.stdout + done.stderr)
        self.tool("Bash", {"command": "upskillctl " + " ".join(words), "description": "x"},
                  ("Exit code %d\n" % done.returncode if done.returncode else "") + out, done.returncode != 0)
        return done.returncode


with tempfile.TemporaryDirectory() as folder:
    s = Session(folder)
    s.user("Write a bfloat16 RMSNorm kernel for the H100, one block per row, and make it pass rms_norm.check.json.")
    with open(folder + "/rms_norm.check.json", "w") as f:
        f.write(CHECK)
    s.say("I start with two values per load and a block-wide sum over warp shuffles.")
    s.write("rms_norm.cu", GOOD.replace(SHUFFLE, "__shfl_xor(value, offset)").replace(BARRIER, ""))
    assert s.run("kernel", "check", "rms_norm.cu") == 1
    s.say("Since Volta the lanes of a warp run independently, so a shuffle must name the lanes that take part: __shfl_xor_sync with a full mask.")
    s.edit("rms_norm.cu", "__shfl_xor(value, offset)", SHUFFLE)
    assert s.run("kernel", "check", "rms_norm.cu") == 0
    assert s.run("kernel", "validate", "rms_norm.cu") == 1
    s.say("Each warp's sum must be in shared memory before any thread adds them up, so a __syncthreads() is needed between the write and the loop.")
    s.edit("rms_norm.cu", "    float sum = 0;\n    for (int warp", BARRIER + "    float sum = 0;\n    for (int warp")
    assert s.run("kernel", "validate", "rms_norm.cu") == 0
    assert open(folder + "/rms_norm.cu").read() == GOOD
    s.say("It passes for both sizes, the odd one too.")

with open(HERE + "/session.jsonl", "w") as f:
    f.write("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in s.lines))
