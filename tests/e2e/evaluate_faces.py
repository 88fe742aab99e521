#!/usr/bin/env python3
"""skill/evaluate through MCP (both eras) and LSP: job ids in time, progress, tasks, cancelling.

usage: evaluate_faces.py UPSKILLD   (TAP on standard output)
"""
import json, os, subprocess, sys, threading, time

from evaluate_support import Daemon, Model, Tap, make_skill, make_tests, wait_for

PROGRAM = os.path.abspath(sys.argv[1])
SECRET = "secret=marigold:correct:wrong"
TASKS = "io.modelcontextprotocol/tasks"
LATE = 10  # seconds by which a busy machine may be late


class Face(Daemon):
    """Messages with the time at which they came."""

    def __init__(self, slow_ms, tests=16, config="", **more):
        super().__init__(PROGRAM, config="structured_content: always\n" + config, **more)
        self.model = Model()
        self.skill = make_skill(self)
        with open(self.home + "/work/tests.json", "w") as f:
            json.dump(make_tests(tests), f)
        self.student = "generic.m:delay=%d+%s" % (slow_ms, SECRET)
        self.arguments = {"skill": "skills/words", "tests": "tests.json", "base_url": self.model.url, "runs": 1,
                          "students": [self.student]}
        self.inbox, self.changed = [], threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def read_message(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def write_message(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def listen(self):
        try:
            while True:
                message = self.read_message()
                with self.changed:
                    if message is None:
                        return
                    self.inbox.append((time.monotonic(), message))
                    self.changed.notify_all()
        except (ValueError, OSError):
            pass  # closed

    def tell(self, method, params):
        self.write_message({"jsonrpc": "2.0", "method": method, "params": params})

    def begin(self, method, params):
        self.last += 1
        self.write_message({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, fits, seconds=60):
        """The first message that fits, with its time."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                found = next(((at, m) for at, m in self.inbox if fits(m)), None)
                if found:
                    return found
                left = end - time.monotonic()
                assert left > 0, "nothing came of %s" % [m for _, m in self.inbox][-5:]
                self.changed.wait(left)

    def reply(self, number, seconds=60):
        return self.wait(lambda m: m.get("id") == number and "method" not in m, seconds)

    def request(self, method, params, seconds=60):
        return self.reply(self.begin(method, params), seconds)[1]

    def told(self, method):
        with self.changed:
            return [(at, m["params"]) for at, m in self.inbox if m.get("method") == method]

    def tool(self, name, arguments, **meta):
        params = {"name": name, "arguments": arguments}
        if meta:
            params["_meta"] = meta
        return self.begin("tools/call", params)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.model.close()
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(20)
        self.errors.close()
        subprocess.run(["rm", "-rf", self.home])


def legacy(face):
    face.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "t", "version": "1"}})
    face.tell("notifications/initialized", {})


def longest_gap(begun, times):
    return max(b - a for a, b in zip([begun] + times, times)) if times else float("inf")


def a_job_in_time():
    """No tool call takes longer than 20 s; what is known so far comes with the job's id."""
    with Face(slow_ms=12000, tests=60) as face:
        legacy(face)
        begun = time.monotonic()
        number = face.tool("skill_evaluate", dict(face.arguments, budget={"tokens": 10**7}), progressToken="p")
        at, answer = face.reply(number, 30)
        assert at - begun < 20 + LATE, at - begun
        result = answer["result"]
        job = result["structuredContent"]["job"]
        assert not result.get("isError") and len(job) == 32, result
        assert result["structuredContent"]["state"] == "running", result
        assert "job_status" in result["content"][0]["text"], result["content"]
        rows = result["structuredContent"]["partial"]["students"]
        assert [r["arm"] for r in rows] == ["baseline", "skill"] and rows[1]["total"] == 60, rows
        progress = face.told("notifications/progress")
        assert all(p["progressToken"] == "p" and p["total"] == 120 for _, p in progress), progress
        assert longest_gap(begun, [t for t, _ in progress]) < 5 + LATE, [t - begun for t, _ in progress]
        assert all(a[1]["progress"] <= b[1]["progress"] for a, b in zip(progress, progress[1:]))
        status = face.reply(face.tool("job_status", {"job": job}))[1]["result"]["structuredContent"]
        assert status["state"] == "running" and status["partial"]["students"][0]["total"] == 60, status
        face.reply(face.tool("job_cancel", {"job": job}), 10)
        over = wait_for(lambda: (lambda s: s if s["state"] != "running" else None)(
            face.reply(face.tool("job_status", {"job": job, "wait_s": 1}))[1]["result"]["structuredContent"]), 15)
        assert over["state"] == "cancelled", over
        wait_for(lambda: face.model.stats()["in_flight"] == 0, 10)
        return "answered after %.1f s, %d progress notifications" % (at - begun, len(progress))


def waiting_for_the_end():
    """wait_s holds the answer back until the job has ended, but no longer than a tool may take."""
    with Face(slow_ms=2600, tests=16, config="tool_wait_s: 2\n") as face:
        legacy(face)
        job = face.reply(face.tool("skill_evaluate", face.arguments))[1]["result"]["structuredContent"]["job"]
        begun = time.monotonic()
        first = face.reply(face.tool("job_status", {"job": job, "wait_s": 0}))[1]["result"]["structuredContent"]
        assert time.monotonic() - begun < LATE and first["state"] in ("running", "succeeded"), first
        while True:
            begun = time.monotonic()
            at, last = face.reply(face.tool("job_status", {"job": job, "wait_s": 30}), 30)
            last = last["result"]
            if last["structuredContent"]["state"] != "running":
                break
            # A second is left of tool_wait_s, lest the call itself be made a job.
            assert 0.9 < at - begun < 2 + LATE, "held back for %.1f s" % (at - begun)
        assert last["structuredContent"]["state"] == "succeeded", last
        assert last["structuredContent"]["result"]["verdict"] == "helps", last
        assert "helps" in last["content"][0]["text"], last["content"]
        again = face.reply(face.tool("skill_evaluate", face.arguments), 30)[1]["result"]["structuredContent"]
        got = again if "verdict" in again else face.reply(
            face.tool("job_status", {"job": again["job"], "wait_s": 20}))[1]["result"]["structuredContent"]["result"]
        assert got["provenance"]["requests"] == 0, "it is all in the cache"


def a_task_of_the_extension():
    """Modern: the call becomes a task with progress in words, then the tool's result."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}}}
    with Face(slow_ms=1500, tests=40, config="tool_wait_s: 2\n") as face:
        def task(method, **params):
            answer = face.request(method, dict(params, _meta=meta))
            assert "result" in answer, answer
            return answer["result"]

        number = face.tool("skill_evaluate", dict(face.arguments, students=[face.student]), **meta)
        made = face.reply(number, 30)[1]["result"]
        assert made.get("resultType") == "task" and made["status"] == "working", made
        def told():
            message = task("tasks/get", taskId=made["taskId"]).get("statusMessage", "")
            return message if "answers" in message else None

        words = wait_for(told, 10)
        done = wait_for(lambda: (lambda t: t if t["status"] != "working" else None)(
            task("tasks/get", taskId=made["taskId"])), 60)
        assert done["status"] == "completed", done
        assert done["result"]["structuredContent"]["verdict"] == "helps", done
        other = face.reply(face.tool("skill_evaluate", dict(face.arguments, students=["generic.n:delay=9000+" + SECRET]),
                                     **meta), 30)[1]["result"]
        task("tasks/cancel", taskId=other["taskId"])
        wait_for(lambda: task("tasks/get", taskId=other["taskId"])["status"] == "cancelled", 10)
        wait_for(lambda: face.model.stats()["in_flight"] == 0, 10)
        return words


class Editor(Face):
    def read_message(self):
        length = 0
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line in (b"\r\n", b"\n"):
                return json.loads(self.process.stdout.read(length))
            name, _, value = line.decode().partition(":")
            if name.lower() == "content-length":
                length = int(value)

    def write_message(self, message):
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def start_session(self):
        self.request("initialize", {"processId": None, "rootUri": "file://" + self.home + "/work",
                                    "capabilities": {"window": {"workDoneProgress": True}}})
        self.tell("initialized", {})

    def execute(self, **more):
        return self.begin("workspace/executeCommand", dict(
            {"command": "upskilld.skill.evaluate", "arguments": [self.arguments]}, **more))

    def values(self):
        return [(at, p["value"]) for at, p in self.told("$/progress")]


def an_editors_command():
    """The client's own token: begin, reports with percentage, end; and then the result."""
    with Editor(slow_ms=1200, tests=90) as face:
        face.start_session()
        begun = time.monotonic()
        at, answer = face.reply(face.execute(workDoneToken="bar"), 60)
        assert answer["result"]["verdict"] == "helps", answer
        values = face.values()
        kinds = [v["kind"] for _, v in values]
        assert kinds[0] == "begin" and kinds[-1] == "end" and set(kinds[1:-1]) == {"report"}, kinds
        assert values[0][1]["cancellable"] is True and "title" in values[0][1], values[0]
        reports = [v for _, v in values if v["kind"] == "report"]
        percent = [v["percentage"] for v in reports]
        assert percent == sorted(percent) and percent[-1] >= 50, percent
        assert any("answers" in v["message"] for v in reports), reports
        assert longest_gap(begun, [t for t, _ in values]) < 5 + LATE
        return "%d reports in %.1f s" % (len(reports), at - begun)


def a_bar_that_the_server_asks_for():
    """Without a token the server makes one, and cancelling the bar cancels the evaluation."""
    with Editor(slow_ms=5000, tests=60) as face:
        face.start_session()
        number = face.execute()
        create = face.wait(lambda m: m.get("method") == "window/workDoneProgress/create", 10)[1]
        face.write_message({"jsonrpc": "2.0", "id": create["id"], "result": None})
        token = create["params"]["token"]
        face.wait(lambda m: m.get("method") == "$/progress" and m["params"]["value"]["kind"] == "report", 20)
        face.tell("window/workDoneProgress/cancel", {"token": token})
        answer = face.reply(number, 10)[1]
        assert answer["error"]["code"] == -32800, answer
        wait_for(lambda: face.model.stats()["in_flight"] == 0, 10)
        assert face.values()[-1][1]["kind"] == "end", face.values()


def an_editors_mistake():
    with Editor(slow_ms=0) as face:
        face.start_session()
        face.arguments["students"] = ["nonsense"]
        face.arguments.pop("base_url", None)
        error = face.reply(face.execute(), 20)[1]["error"]
        assert error["data"]["path"] == "/students/0" and "anthropic" in error["message"], error


TESTS = [a_job_in_time, waiting_for_the_end, a_task_of_the_extension, an_editors_command,
         a_bar_that_the_server_asks_for, an_editors_mistake]

if __name__ == "__main__":
    tap = Tap()
    for test in TESTS:
        if len(sys.argv) < 3 or test.__name__ in sys.argv[2:]:
            tap.run(test.__name__.replace("_", " "), test)
    sys.exit(tap.end())
