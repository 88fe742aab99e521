#!/usr/bin/env python3
"""skill/generate with the real daemon: from traces and from the calling agent's drafts.

usage: generate.py UPSKILLD   (TAP on standard output)

The traces are those of tests/unit/skills/data/traces/lessons; expected.json there lists the
secrets planted in them.
"""
import json, os, re, shutil, subprocess, sys, time
import scratch

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "../unit/skills/data/traces/lessons")
EXPECTED = json.load(open(os.path.join(TRACES, "expected.json")))
GOOD = ("---\nname: zip-tests\ndescription: Runs the zip tests. Use when make check fails in the zip project.\n---\n\n"
        "# Zip tests\n\nRun `make check`, which runs pytest, first [t1 e4].\n")


class Daemon:
    def __init__(self, program, **env):
        self.dir = scratch.folder("generate-")
        self.work = self.dir + "/work"
        os.makedirs(self.work)
        for name in os.listdir(TRACES):
            shutil.copy(os.path.join(TRACES, name), self.work)
        env = dict(os.environ, HOME=self.dir + "/home", XDG_STATE_HOME=self.dir + "/state",
                   XDG_CONFIG_HOME=self.dir + "/config", XDG_CACHE_HOME=self.dir + "/cache", **env)
        os.makedirs(self.dir + "/home")
        self.log = open(self.dir + "/log", "w+")
        self.process = subprocess.Popen([os.path.abspath(program), "--root", self.work], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, cwd=self.work, env=env, text=True)
        self.last = 0

    def send(self, method, **params):
        self.last += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}) + "\n")
        self.process.stdin.flush()
        return self.last

    def receive(self, *numbers):
        """The first answer to one of them."""
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") in numbers:
                return message

    def call(self, method, **params):
        return self.receive(self.send(method, **params))

    def generate(self, **params):
        return self.call("skill/generate", wait=True, **params)

    def leftovers(self):
        """Whatever lies in skills/ that is no skill's folder."""
        folder = self.work + "/skills"
        return [n for n in (os.listdir(folder) if os.path.isdir(folder) else []) if n.startswith(".")]

    def close(self):
        self.process.stdin.close()
        code = self.process.wait(10)
        shutil.rmtree(self.dir)
        return code


done = 0
failed = 0


def check(good, what):
    global done, failed
    done += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", done, what), flush=True)


def texts_beneath(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(at, name), errors="replace") as f:
                yield os.path.join(at, name), f.read()


def from_traces(d):
    tested = 0
    for one in EXPECTED["traces"]:
        answer = d.generate(traces=[one["file"]])
        result = answer.get("result", {})
        if one["nothing"]:
            check(result.get("outcome") == "nothing_to_teach" and result.get("reason"), one["file"] + " teaches nothing")
            continue
        check(result.get("outcome") == "saved" and result["check"]["ok"], one["file"] + " is saved and passes the strict check: %s" % answer.get("error", ""))
        if result.get("outcome") != "saved":
            continue
        path = result["skill"]["path"]
        text = open(path + "/SKILL.md").read()
        meta = json.load(open(path + "/skill_meta.json"))
        lines = text.split("\n")
        check(all(f["error"] in text and f["change"] in text and f.get("cause", "") in text for f in one["fixes"]), one["file"] + ": every fix with its cause")
        check(all(0 < e["line"] <= len(lines) and lines[e["line"] - 1].strip() and re.fullmatch(r"t1 e\d+", e["event"])
                  for e in result["evidence"]) and result["evidence"], one["file"] + ": every line of evidence has words")
        tested += bool(meta["tests"])
        check(len(meta["tests"]) == result["tests"]["count"], one["file"] + ": %d tests are saved" % len(meta["tests"]))
        check(all(t.get("split") in ("refine", "gate", "report") for t in meta["tests"]), one["file"] + ": tests are split")
        check(meta["provenance"]["traces"][0]["digest"].startswith("sha256:") and meta["provenance"]["teacher"] == "builtin", one["file"] + ": provenance")
        again = d.generate(traces=[one["file"]])["result"]
        check(open(path + "/SKILL.md").read() == text and again["skill"]["path"] == path, one["file"] + ": again gives the same")
    check(tested >= 11, "lessons that a short answer shows get tests: %d traces" % tested)
    d.log.seek(0)
    found = [(name, s) for name, text in list(texts_beneath(d.work + "/skills")) + [("log", d.log.read())]
             for s in EXPECTED["secrets"] if s in text]
    check(not found, "no planted secret anywhere: %s" % found)
    check(not d.leftovers(), "nothing is left in the folder of skills")


def namesakes(d):
    """Another session of the same lessons does not take the first one's place; both together do, and so does a longer session."""
    first = d.generate(traces=["axpy-kernel.jsonl"])["result"]["skill"]
    text = open(first["path"] + "/SKILL.md").read()
    shutil.copy(d.work + "/axpy-kernel.jsonl", d.work + "/other.jsonl")
    with open(d.work + "/other.jsonl", "a") as f:
        f.write("\n")
    second = d.generate(traces=["other.jsonl"])["result"]["skill"]
    check(second["name"] == first["name"] + "-2" and open(first["path"] + "/SKILL.md").read() == text, "another session's skill has another name")
    refused = d.generate(traces=["other.jsonl"], name=first["name"])["error"]
    check(refused["data"]["reason"] == "exists" and "made from other sources" in refused["message"], "a given name is refused, with the reason")
    with open(d.work + "/axpy-kernel.jsonl", "a") as f:
        f.write("\n")
    longer = d.generate(traces=["axpy-kernel.jsonl"])["result"]["skill"]
    both = d.generate(traces=["axpy-kernel.jsonl", "other.jsonl"])["result"]["skill"]
    check(longer["name"] == first["name"] and both["name"] == first["name"], "the session that went on, and both: %s %s" % (longer["name"], both["name"]))


def cut_recordings(d):
    """That the file ends within a record is told, of lines as of one JSON text; that of a whole one is not."""
    whole = open(d.work + "/axpy-kernel.jsonl").read()
    with open(d.work + "/cut.jsonl", "w") as f:
        f.write(whole[:-40])
    notes = [d.generate(traces=[name])["result"]["provenance"]["traces"][0] for name in ("axpy-kernel.jsonl", "cut.jsonl")]
    check([note.get("truncated") for note in notes] == [None, True], "a recording that is cut off: %s" % notes)


def demonstration(d):
    """What `./setup` shows: the skill of that session holds the kernel, which it then checks and runs."""
    demo = os.path.join(HERE, "../kernels/demo")
    shutil.copy(demo + "/session.jsonl", d.work + "/demo.jsonl")
    path = d.generate(traces=["demo.jsonl"], name="h100-rms-norm")["result"]["skill"]["path"]
    blocks = re.findall(r"```cuda\n(.*?)```", open(path + "/SKILL.md").read(), re.S)
    check(blocks == [open(demo + "/rms_norm.cu").read()], "the demonstration's skill holds its kernel: %s" % blocks)


def refusals(d):
    def error(**params):
        return d.generate(**params).get("error", {})
    check("/traces" in str(error()), "nothing given is a bad request")
    check("OPENAI_API_KEY" in str(error(traces=["axpy-kernel.jsonl"], teacher="openai.gpt")), "a model without its key is refused clearly")
    check(error(traces=["axpy-kernel.jsonl"], teacher="model").get("data", {}).get("reason") == "no_teacher", "no model is configured as teacher")
    check(error(traces=["/etc/passwd"]).get("data", {}).get("reason") == "outside_roots", "a trace elsewhere is refused")
    check("not a name for a skill" in str(error(traces=["axpy-kernel.jsonl"], name="Not A Name")), "a bad name is refused")
    check("there is no missing.jsonl" in str(error(traces=["missing.jsonl"])), "a missing trace is named")
    check("belong together" in str(error(draft="x")), "a draft without its job")
    check("unknown_job" in str(error(job="0" * 32, draft=GOOD)), "an unknown job")
    os.makedirs(d.work + "/skills/mine")
    with open(d.work + "/skills/mine/SKILL.md", "w") as f:
        f.write(GOOD.replace("zip-tests", "mine"))
    check(error(traces=["axpy-kernel.jsonl"], name="mine").get("data", {}).get("reason") == "exists", "another's skill is not replaced")
    check(error(traces=["axpy-kernel.jsonl"], name="mine", teacher="host").get("data", {}).get("reason") == "exists", "and no host is asked to write it")
    check(open(d.work + "/skills/mine/SKILL.md").read() == GOOD.replace("zip-tests", "mine"), "and is as it was")
    check(d.generate(task="Explain monads.")["result"]["outcome"] == "nothing_to_teach", "a task alone is nothing for builtin")
    alone = d.generate(documents=[{"name": "style.md", "text": "# Style\n\nShort names.\n"}], name="style")["result"]
    check(alone["outcome"] == "nothing_to_teach" and "a document alone" in alone["reason"], "nor is a document")


def improving(d):
    os.makedirs(d.work + "/skills/mine/references", exist_ok=True)
    with open(d.work + "/skills/mine/references/notes.txt", "w") as f:
        f.write("kept\n")
    with open(d.work + "/skills/mine/SKILL.md", "w") as f:
        f.write("---\nname: mine\ndescription: Builds axpy. Use for axpy.\nlicense: MIT\n---\n\n# Mine\n\nOld words. See references/notes.txt.\n")
    with open(d.work + "/skills/mine/skill_meta.json", "w") as f:
        json.dump({"tests": [{"id": "old", "input": "Which?", "expected": {"contains": ["that"]}}]}, f)
    result = d.generate(skill="skills/mine", traces=["axpy-kernel.jsonl"])["result"]
    text = open(d.work + "/skills/mine/SKILL.md").read()
    check(result["skill"]["path"].endswith("/skills/mine") and "Old words" in text and "blockidx" in text and "license: MIT" in text,
          "an improved skill keeps its words and fields")
    check("notes.txt.\n\n## " in text and "\n\n\n" not in re.sub(r"```.*?```", "x", text, flags=re.S) and not text.endswith("\n\n"), "one blank line stands before each new section: %r" % text)
    check("description: Builds axpy. Use for axpy. Use when " in text.replace('"', ""), "its description says when the new lessons help")
    check(open(d.work + "/skills/mine/references/notes.txt").read() == "kept\n", "and its files")
    copy = d.generate(skill="skills/mine", traces=["cmake-zlib.jsonl"], output="skills/mine-too").get("result", {}).get("skill", {})
    check(copy.get("name") == "mine-too" and "name: mine-too\n" in open(copy["path"] + "/SKILL.md").read() and "name: mine\n" in open(d.work + "/skills/mine/SKILL.md").read(),
          "an improved copy in another folder is named after that: %s" % copy)
    tests = json.load(open(d.work + "/skills/mine/skill_meta.json"))["tests"]
    check(tests[0]["id"] == "old" and len(tests) > 1, "and its tests")


def more(d):
    result = d.generate(traces=["rust-borrow.jsonl"], name="rust-lines", install=["claude-code"],
                        documents=[{"name": "style.md", "text": "# Style\n\nShort names.\n"}], tests=3)["result"]
    check(result["install"][0]["outcome"] == "installed" and os.path.exists(d.work + "/.claude/skills/rust-lines/SKILL.md"), "it is installed when asked")
    check(open(d.work + "/skills/rust-lines/references/style.md").read().startswith("# Style"), "a document becomes a reference")
    check("](references/style.md): Style\n" in open(d.work + "/skills/rust-lines/SKILL.md").read(), "and its heading says what for")
    check(result["tests"]["count"] <= 3, "no more tests than asked for")
    found = d.call("skill/find", task="the rust borrow checker refuses to borrow self.lines as mutable in the parser crate")["result"]
    check([m["name"] for m in found["matches"]][:2].count("rust-lines") == 1, "skill/find finds it")
    taken = d.generate(traces=["rust-borrow.jsonl"], name="h100-cuda-kernels")["result"]
    check([h["source"] for h in taken.get("hides", [])] == ["bundled"] and "hides" not in result, "a name that a bundled skill has is told, and only that")
    again = d.generate(skill="skills/h100-cuda-kernels", traces=["axpy-kernel.jsonl"])["result"]
    check([h["source"] for h in again.get("hides", [])] == ["bundled"], "also of one that is improved")
    shutil.rmtree(d.work + "/skills/h100-cuda-kernels")
    both = d.generate(traces=["axpy-kernel.jsonl", "wgmma-target.jsonl"], output="out/two-kernels",
                      students=[{"api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "nobody"}])["result"]
    check(os.path.exists(d.work + "/out/two-kernels/SKILL.md") and any(e["event"].startswith("t2 ") for e in both["evidence"]), "two traces, and the folder that was asked for")
    many = d.generate(traces=["axpy-kernel.jsonl"], name="in-many", output="fresh/skills")["result"]
    check(many["skill"]["path"] == os.path.realpath(d.work) + "/fresh/skills/in-many", "a folder called skills is for many")
    early = d.generate(traces=["axpy-kernel.jsonl"], output="out/early", students=["generic.nobody"])
    check("GENERIC_BASE_URL" in early["error"]["message"] and not os.path.exists(d.work + "/out/early"), "a student that cannot be is found before anything is made")
    early = d.generate(traces=["axpy-kernel.jsonl"], output="out/early", install=["claude-cod"])
    check('did you mean "claude-code"' in early["error"]["message"] and not os.path.exists(d.work + "/out/early"), "and so is an agent")
    titled = "Compile the kernels for the H100 with nvcc, look at their registers and at what they spill, and tell which of them fit into a block"
    d.generate(traces=["wgmma-target.jsonl"], task=titled, output="out/titled")
    check("\n# Compile the kernels for the H100 with nvcc\n" in open(d.work + "/out/titled/SKILL.md").read(), "a long task's first part is the heading")
    under = d.generate(traces=["cmake-zlib.jsonl"], output="gen/cmake_arch")["result"]
    check(under["outcome"] == "saved" and len(os.listdir(d.work + "/gen/cmake_arch")) == 1 and not os.path.exists(d.work + "/gen/cmake_arch/SKILL.md"), "a folder that is no name for a skill gets one beneath it: %s" % under)
    check(bool(both["evaluation"].get("error") or both["evaluation"].get("verdict")), "an evaluation that cannot be made does not lose the skill")


def host(d):
    started = d.call("skill/generate", traces=["fastapi-tests.jsonl"], teacher="host")["result"]
    job = started["job"]
    status = d.call("job/status", job=job, wait_s=20)["result"]
    order = status["work_order"]
    check(status["state"] == "input_required" and set(order) == {"instructions", "format", "tests", "reply_with"}, "the host gets a work order")
    check(order["reply_with"]["params"]["job"] == job and "httpx" in order["instructions"] and "<<<TRACE-DATA-" in order["instructions"],
          "with what happened, as data")
    check(not any(s in json.dumps(order) for s in EXPECTED["secrets"]), "and without secrets")
    check("A good skill" in order["instructions"] and "does not copy answers to tests" in order["instructions"], "and with what a model is told of a good skill")
    again = d.generate(job=job, draft="I am sorry, I cannot.")["result"]
    check(again["state"] == "input_required" and "not a SKILL.md" in again["work_order"]["instructions"], "an apology is asked again")
    proof = d.generate(job=job, draft=GOOD + "\nSee `references/none.md`. [t1 e9999]\n")["result"]
    said = proof.get("work_order", {}).get("instructions", "")
    check(proof.get("state") == "input_required" and "prove it" in said and re.search(r"(?m)^t1 e4 ", said) and "A good skill" not in said
          and not any(s in said for s in EXPECTED["secrets"]), "the draft comes back with what it cites: %r" % said[:200])
    check("Mend, too: SKILL.md line " in said and "references/none.md" in said and "cites t1 e9999, which says nothing of it" in said, "with what the check warns of, and false citations: %r" % said[-600:])
    check(not os.path.exists(d.work + "/skills/zip-tests"), "and is not saved before")
    bad = d.generate(job=job, draft=GOOD.replace("---\n\n#", "hooks: x\n---\n\n#"))["result"]
    check(bad.get("state") == "input_required" and "hooks" in bad["work_order"]["instructions"], "forbidden frontmatter is refused with the reason")
    check(not os.path.exists(d.work + "/skills/zip-tests"), "nothing is half-saved")
    saved = d.generate(job=job, draft="Here it is:\n\n```markdown\n" + GOOD + "```\n")["result"]
    check(saved.get("outcome") == "saved" and saved["check"]["ok"], "a wrapped draft is saved: %s" % saved.get("state", ""))
    text = open(d.work + "/skills/zip-tests/SKILL.md").read()
    check("[t1" not in text and saved["evidence"] == [{"line": 8, "event": "t1 e4"}], "its citations are evidence")
    check(d.call("job/status", job=job)["result"]["state"] == "succeeded", "the job has ended")
    started = d.call("skill/generate", traces=["fastapi-tests.jsonl"], teacher="host", name="never")["result"]
    d.call("job/status", job=started["job"], wait_s=20)
    for _ in range(2):
        d.generate(job=started["job"], draft=GOOD + "\nRun !`id` now.\n")
    last = d.generate(job=started["job"], draft=GOOD + "\nRun !`id` now.\n")
    check("error" in last and not os.path.exists(d.work + "/skills/never"), "after three drafts it ends, and nothing is saved")
    kept = last["error"]["data"]["hint"].split("kept in ")[1]
    check(open(kept).read() == GOOD.replace("zip-tests", "never").replace(" [t1 e4]", "") + "\nRun !`id` now.\n" and "SKILL.md line" in last["error"]["message"], "but the last draft is kept")
    started = d.call("skill/generate", traces=["fastapi-tests.jsonl"], teacher="host", name="none")["result"]
    d.call("job/status", job=started["job"], wait_s=20)
    none = d.generate(job=started["job"], draft="NOTHING: the session only installs what it lacks.\n")["result"]
    check(none.get("outcome") == "nothing_to_teach" and none["reason"].endswith("the session only installs what it lacks.") and not os.path.exists(d.work + "/skills/none"),
          "a teacher may find nothing to teach, and says why: %s" % none)
    started = d.call("skill/generate", task="Explain the zip tests.", teacher="host")["result"]
    d.call("job/status", job=started["job"], wait_s=20)
    again = d.generate(job=started["job"], draft="NOTHING: no.")["result"]
    check(again.get("state") == "input_required", "but not where a person wants a skill for a task")
    d.call("job/cancel", job=started["job"])
    check(d.call("job/status", job=started["job"])["result"]["state"] == "cancelled", "waiting can be cancelled")
    job = d.generate(traces=["fastapi-tests.jsonl"], teacher="host", name="slips")["result"]["job"]
    d.generate(job=job, draft=GOOD)
    for _ in range(2):
        d.generate(job=job, draft="I cannot.")
    first = d.generate(job=job, draft=GOOD + "\nRun !`id` now.\n").get("result", {})
    check(first.get("outcome") == "saved" and first["teacher"]["reviewed"] is False and
          open(d.work + "/skills/slips/SKILL.md").read() == GOOD.replace("zip-tests", "slips").replace(" [t1 e4]", ""), "a good draft is not lost to a bad one behind its proof: %s" % first)
    check(not d.leftovers(), "no stage is left")


def long_session(path, failures):
    """A session of Claude Code in which every command fails with an error of its own."""
    last = [None]
    def record(f, kind, content):
        uuid = "u%d" % (int((last[0] or "u0")[1:]) + 1)
        print(json.dumps({"type": kind, "sessionId": "s", "cwd": "/w", "uuid": uuid, "parentUuid": last[0],
                          "message": {"role": kind, "content": content}}), file=f)
        last[0] = uuid
    with open(path, "w") as f:
        record(f, "user", "Build every target.")
        for i in range(failures):
            name = "".join(chr(97 + i // 26 ** k % 26) for k in range(3))
            record(f, "assistant", [{"type": "tool_use", "id": "c%d" % i, "name": "Bash", "input": {"command": "make %s" % name}}])
            record(f, "user", [{"type": "tool_result", "tool_use_id": "c%d" % i, "is_error": True,
                                "content": "error: undefined reference to `%s_init'" % name + " in a line of its own" * 4}])


def host_parts(d):
    long_session(d.work + "/long.jsonl", 400)
    job = d.call("skill/generate", traces=["long.jsonl"], teacher="host", name="many-parts")["result"]["job"]
    order = d.call("job/status", job=job, wait_s=20)["result"]["work_order"]["instructions"]
    count = int(re.search(r"This is part 1 of (\d+) ", order).group(1))
    events = []
    for part in range(count):
        check("This is part %d of %d " % (part + 1, count) in order and ("now write" in order) == (part + 1 == count) and len(order) < 40000,
              "part %d of what happened, small enough for an agent: %d bytes" % (part + 1, len(order)))
        events += [int(n) for n in re.findall(r"(?m)^t1 e(\d+) ", order)]
        if part + 1 < count:
            if not part:
                early = d.generate(job=job, draft="I cannot.")["result"]["work_order"]
                check("not a SKILL.md" in early["instructions"] and early.get("next_part") == 2 and "next part" in early["instructions"],
                      "a draft that comes too early and is no good does not end the parts: %r" % early["instructions"])
            order = d.generate(job=job)["result"]["work_order"]["instructions"]
    check(count > 1 and events == sorted(set(events)) and events[0] == 1 and events[-1] > 780, "no event is in two parts, and none of the ends is missing")
    again = d.generate(job=job).get("error", {})
    check("belong together" in json.dumps(again), "behind the last part a draft is wanted: %s" % again)
    begun = time.monotonic()
    draft = GOOD.replace("zip-tests", "many-parts").replace("[t1 e4]", "[%s]" % ", ".join("t1 e%d" % n for n in range(1, 800)))
    order = d.generate(job=job, draft=draft)["result"]["work_order"]
    check("part 1 of 3 of what your draft cites" in order["instructions"] and order.get("next_part") == 2 and len(order["instructions"]) < 40000, "a draft that cites much is proven in parts: %r" % order["instructions"][:200])
    d.call("job/cancel", job=d.generate(job=d.generate(traces=["long.jsonl"], teacher="host", name="one-line")["result"]["job"],
                                        draft=GOOD + "target " * 100000 + "[%s]\n" % ", ".join(["t1 e4"] * 1999))["result"]["job"])
    check(time.monotonic() - begun < 25, "a line of 700 kB that cites 1,999 events is compared with them in a moment: %.0f s" % (time.monotonic() - begun))
    asked = "What is the word of number 1? Answer with it alone."
    d.generate(job=job, tests=[{"input": asked, "expected": {"contains": ["word-1-x"], "regex": "\\A[^\\n]{1,100}\\z"}}])
    order = d.generate(job=job)["result"]["work_order"]
    check("part 3 of 3 of what your draft cites" in order["instructions"] and "prove it" not in order["instructions"] and "next_part" not in order, "up to the last: %r" % order["instructions"][:200])
    saved = d.generate(job=job, draft=draft)["result"]
    check(saved.get("outcome") == "saved" and saved["teacher"]["reviewed"] and
          asked in open(saved["skill"]["path"] + "/skill_meta.json").read(), "and it is saved, with the test that was given between two parts: %s" % saved)


def host_order_waits_its_turn(program):
    """With one thread: what waits for it is answered before the parts of a long order are made."""
    d = Daemon(program, UV_THREADPOOL_SIZE="1")
    long_session(d.work + "/long.jsonl", 4000)
    job = d.call("skill/generate", traces=["long.jsonl"], teacher="host", name="long-order")["result"]["job"]
    while d.call("job/status", job=job)["result"]["progress"].get("message") != "reading":
        pass
    asked = d.send("skill/check", text=GOOD)
    order = d.send("job/status", job=job, wait_s=45)
    first = d.receive(asked, order)
    second = d.receive(asked, order)
    check((first["id"], second["id"]) == (asked, order) and first["result"]["ok"] and second["result"]["state"] == "input_required",
          "another call is answered while the parts of an order are made")
    check(d.close() == 0, "and the daemon ends well")


def host_many(d):
    def start(i):
        return d.generate(task="Explain the zip tests.", teacher="host", name="many-%d" % i)
    jobs = [start(i)["result"]["job"] for i in range(16)]
    d.generate(job=jobs[0], draft="no draft")  # asked again: it waits since now
    refused = start(16).get("error", {})
    check("16 jobs wait" in refused.get("message", "") and refused["data"]["reason"] == "too_many_jobs" and jobs[1] in refused["data"]["hint"],
          "as many jobs as may wait for drafts, and which has waited longest: %s" % refused)
    d.call("job/cancel", job=jobs[1])
    started = start(17)
    check("result" in started, "where one was ended, another begins")
    for job in jobs + [started["result"]["job"]]:
        d.call("job/cancel", job=job)


def host_tests(d):
    def test(i, expected="word-%d-x"):
        return {"input": "What is the word of number %d? Answer with it alone." % i,
                "expected": {"contains": [expected % i if "%" in expected else expected], "regex": "\\A[^\\n]{1,100}\\z"}}
    def start(**more):
        job = d.call("skill/generate", task="Explain the zip tests.", teacher="host", **more)["result"]["job"]
        d.call("job/status", job=job, wait_s=20)
        return job
    job = start(name="with-tests", tests=3)
    order = d.call("job/status", job=job)["result"]["work_order"]
    check("contains" in order["tests"] and "up to 3 tests" in order["instructions"], "the order offers tests")
    bad = d.generate(job=job, draft=GOOD, tests=[test(1), test(2), test(3, "What is")])["result"]
    check(bad.get("state") == "input_required" and "repeating the question passes" in bad["work_order"]["instructions"]
          and "number 3" in bad["work_order"]["instructions"] and "number 1" not in bad["work_order"]["instructions"], "a test that is no good comes back with the reason")
    check(not os.path.exists(d.work + "/skills/with-tests"), "and the skill waits for it")
    saved = d.generate(job=job, tests=[test(1), test(4)])["result"]
    meta = json.load(open(d.work + "/skills/with-tests/skill_meta.json"))
    inputs = [t["input"] for t in meta["tests"]]
    check(saved.get("outcome") == "saved" and sorted(inputs) == sorted(test(i)["input"] for i in (1, 2, 4)), "another takes its place, and the skill is saved")
    check(all(t["split"] for t in meta["tests"]) and saved["tests"]["marked"] == 1 and saved["tests"]["repeated"] == 1, "with what was left out counted")
    job = start(name="few-tests", tests=3)
    d.generate(job=job, draft=GOOD, tests=[test(1), {"input": "x"}])
    saved = d.generate(job=job, tests=[])["result"]
    check(saved.get("outcome") == "saved" and saved["tests"]["count"] == 1 and saved["tests"]["reason"], "an empty list is enough: %s" % saved)
    job = start(name="last-tests", tests=3)
    for _ in range(2):
        d.generate(job=job, draft="no draft")
    saved = d.generate(job=job, draft=GOOD, tests=[test(1), test(2, "What is")])["result"]
    check('tests rejected: 1 of the 2 that the teacher wrote, such as "What is the word of number 2?' in saved["tests"]["reason"], "which tests are rejected: %s" % saved["tests"])
    job = start(name="no-tests", tests=0)
    saved = d.generate(job=job, draft=GOOD)["result"]
    check(saved.get("outcome") == "saved" and saved["tests"]["count"] == 0 and "reason" not in saved["tests"], "none when none are wanted")
    long = GOOD + "\n".join("Step %d: build with -arch=sm_90a and look at what it printed before the next." % i for i in range(20)) + "\n"
    job = start(name="quotes", tests=1)
    saved = d.generate(job=job, draft=long, tests=[{"input": "Which -arch has wgmma on the H100?", "expected": {"contains": ["sm_90a"]}}])["result"]
    kept = json.load(open(d.work + "/skills/quotes/skill_meta.json"))["tests"] if saved.get("outcome") == "saved" else []
    check(len(kept) == 1 and kept[0]["expected"]["contains"] == ["sm_90a"] and re.search(kept[0]["expected"]["regex"][0]["pattern"].replace("z", "Z"), "-arch=sm_90a")
          and not re.search(kept[0]["expected"]["regex"][0]["pattern"].replace("z", "Z"), long), "a test that asks for what the skill says is kept, and the whole skill does not pass it")
    job = start(name="waiting", tests=3)
    d.generate(job=job, draft=GOOD, tests=[{"input": "x"}])
    d.call("job/cancel", job=job)
    end = time.monotonic() + 60  # its stage is removed on another thread first
    while d.call("job/status", job=job)["result"]["state"] != "cancelled" and time.monotonic() < end:
        time.sleep(0.02)
    check(d.call("job/status", job=job)["result"]["state"] == "cancelled" and not d.leftovers(), "waiting for tests can be cancelled")


def main():
    d = Daemon(sys.argv[1])
    from_traces(d)
    namesakes(d)
    cut_recordings(d)
    demonstration(d)
    refusals(d)
    improving(d)
    more(d)
    host(d)
    host_parts(d)
    host_order_waits_its_turn(sys.argv[1])
    host_many(d)
    host_tests(d)
    check(d.close() == 0, "the daemon ends well")
    print("1..%d" % done)
    return failed != 0


sys.exit(main())
