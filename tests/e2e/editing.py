#!/usr/bin/env python3
"""An editor types while the compiler runs: what is published belongs to the text it names.

usage: editing.py UPSKILLD   (TAP on standard output)

Every version of the document holds one undefined name of its own at a place of its own, so
that a diagnostic tells which text it was made of. All that is published is recorded.
"""
import json, os, random, re, select, shutil, subprocess, sys, time
import scratch

SLOW = "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n"
WAIT_S = 60.0


class Editor:
    def __init__(self, program, capabilities=None, config=""):
        self.dir = scratch.folder("editing-")
        os.makedirs(self.dir + "/config/upskilld")
        with open(self.dir + "/config/upskilld/config.yaml", "w") as f:
            f.write(config)
        env = dict(os.environ, XDG_STATE_HOME=self.dir + "/state", XDG_CONFIG_HOME=self.dir + "/config",
                   XDG_CACHE_HOME=self.dir + "/cache")
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        cwd=self.dir, env=env, bufsize=0)
        self.pending, self.last, self.published, self.answers = b"", 0, [], {}
        number = self.request("initialize", {
            "processId": os.getpid(), "rootUri": "file://" + self.dir,
            "capabilities": capabilities or {"textDocument": {"publishDiagnostics": {"versionSupport": True}}}})
        self.capabilities = self.answer(number)["result"]["capabilities"]
        self.notify("initialized", {})

    def send(self, message):
        message["jsonrpc"] = "2.0"
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def request(self, method, params):
        self.last += 1
        self.send({"id": self.last, "method": method, "params": params})
        return self.last

    def take(self):
        head, sep, rest = self.pending.partition(b"\r\n\r\n")
        size = int(re.search(rb"(\d+)", head).group(1)) if sep else 0
        if not sep or len(rest) < size:
            return None
        self.pending = rest[size:]
        return json.loads(rest[:size])

    def pump(self, seconds):
        """Take in what comes for so long."""
        end = time.monotonic() + seconds
        while True:
            message = self.take()
            if message:
                self.on_message(message)
                continue
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the daemon closed its output"
            self.pending += data

    def on_message(self, message):
        if message.get("method") == "textDocument/publishDiagnostics":
            self.published.append((time.monotonic(), message["params"]))
        elif "method" in message and "id" in message:
            self.send({"id": message["id"], "result": None})
        elif "id" in message:
            assert message["id"] not in self.answers, "answered twice: %s" % message
            self.answers[message["id"]] = message

    def until(self, what, condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < end, "waited in vain for " + what
            self.pump(0.02)

    def answer(self, number):
        self.until("answer %d" % number, lambda: number in self.answers)
        return self.answers[number]

    def uri(self, name):
        return "file://%s/%s" % (self.dir, name)

    def open(self, name, text, version):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(name), "languageId": "cuda-cpp", "version": version, "text": text}})

    def change(self, name, version, changes):
        self.notify("textDocument/didChange", {"textDocument": {"uri": self.uri(name), "version": version},
                                               "contentChanges": changes})

    def of(self, name):
        return [p for _, p in self.published if p["uri"] == self.uri(name)]

    def finish(self):
        self.answer(self.request("shutdown", None))
        self.notify("exit", None)
        status = self.process.wait(10)
        assert status == 0, "exit status %d" % status

    def drop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def text_of(version, head="", lines=3):
    """Version N uses the undefined name gone_N, on a line that depends on N."""
    filler = "".join("    x[%d] = %d;\n" % (i, i) for i in range(lines))
    return head + "\n" * (version % 7) + "__global__ void k(int *x) {\n" + filler + \
        "    x[0] = gone_%d;\n}\n" % version


def judge(published, texts):
    """Versions never go back, and each list is of the text of its version."""
    latest = 0
    for params in published:
        version = params["version"]
        assert version >= latest, "version %d after %d" % (version, latest)
        latest = version
        lines = texts[version].split("\n")
        for diagnostic in params["diagnostics"]:
            name = re.search(r"gone_\w+", diagnostic["message"])
            assert name, "not expected: %s" % json.dumps(diagnostic)
            start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
            at = lines[start["line"]].encode("utf-16-le")[2 * start["character"]:2 * end["character"]]
            assert name.group() == "gone_%d" % version, "%s in version %d" % (name.group(), version)
            assert at.decode("utf-16-le") == name.group(), "%s stands elsewhere: %s" % (
                name.group(), diagnostic["range"])


def whole(text):
    return [{"text": text}]


# --- tests ----------------------------------------------------------------------------------

def edits_during_a_slow_compile(editor):
    texts = {1: text_of(1, SLOW)}
    editor.open("k.cu", texts[1], 1)
    for version in range(2, 12):
        editor.pump(random.choice((0.05, 0.2, 0.5)))
        texts[version] = text_of(version, SLOW)
        editor.change("k.cu", version, whole(texts[version]))
        if version % 4 == 0:
            editor.notify("textDocument/didSave", {"textDocument": {"uri": editor.uri("k.cu")}})
    editor.until("version 11", lambda: any(p["version"] == 11 and p["diagnostics"] for p in editor.of("k.cu")))
    editor.pump(1.0)
    judge(editor.of("k.cu"), texts)
    return "%d lists published" % len(editor.of("k.cu"))


def a_burst_of_keystrokes(editor):
    texts, delays = {1: text_of(1, "", 300)}, []
    editor.open("k.cu", texts[1], 1)
    editor.until("version 1", lambda: editor.of("k.cu"))
    version = 1
    for _ in range(5):
        for _ in range(20):
            version += 1
            texts[version] = text_of(version, "", 300)
            editor.change("k.cu", version, whole(texts[version]))
            editor.pump(0.01)
        typed = time.monotonic()
        editor.until("version %d" % version,
                     lambda: any(p["version"] == version and p["diagnostics"] for p in editor.of("k.cu")))
        delays.append((next(t for t, p in editor.published if p["version"] == version and p["diagnostics"]) - typed) * 1000)
    judge(editor.of("k.cu"), texts)
    return "after the last keystroke: %s ms" % ", ".join("%.0f" % d for d in delays)


def small_changes_keep_both_texts_the_same(editor):
    """Random insertions and deletions by range, among characters of all widths."""
    rng = random.Random(7)
    comment = "// αβ 漢字 😀 é\u0301 end"
    lines = [comment, "__global__ void k(int *x) {", "    /* 😀😀 */ x[0] = gone_1; // 😀", "}", ""]
    texts = {1: "\n".join(lines)}
    editor.open("k.cu", texts[1], 1)
    for version in range(2, 40):
        lines = texts[version - 1].split("\n")
        changes = []
        for _ in range(rng.randint(1, 3)):  # within the first line, a comment
            line = lines[0]
            a, b = sorted((rng.randint(3, len(line)), rng.randint(3, len(line))))
            new = rng.choice(("", "x", "😀", "漢", "é")) * rng.randint(1, 3)
            def units(n):
                return len(line[:n].encode("utf-16-le")) // 2
            changes.append({"range": {"start": {"line": 0, "character": units(a)},
                                      "end": {"line": 0, "character": units(b)}}, "text": new})
            lines[0] = line[:a] + new + line[b:]
        at = lines[-3].index("gone_") + 5
        old = len(str(version - 1))
        start = len(lines[-3][:at].encode("utf-16-le")) // 2
        number = len(lines) - 3
        changes.append({"range": {"start": {"line": number, "character": start},
                                  "end": {"line": number, "character": start + old}}, "text": str(version)})
        lines[-3] = lines[-3][:at] + str(version) + lines[-3][at + old:]
        if version % 3 == 0:  # and a new line after it, sometimes
            changes.append({"range": {"start": {"line": 1, "character": 0},
                                      "end": {"line": 1, "character": 0}}, "text": "// 😀\r\n"})
            lines.insert(1, "// 😀\r")
        texts[version] = "\n".join(lines)
        editor.change("k.cu", version, changes)
        editor.pump(rng.choice((0, 0, 0.15)))
    editor.until("version 39", lambda: any(p["version"] == 39 and p["diagnostics"] for p in editor.of("k.cu")))
    judge(editor.of("k.cu"), texts)


def a_closed_file_is_silent(editor):
    editor.open("k.cu", text_of(1, SLOW), 1)
    editor.pump(0.4)
    editor.notify("textDocument/didClose", {"textDocument": {"uri": editor.uri("k.cu")}})
    editor.pump(3.0)
    assert not any(p["diagnostics"] for p in editor.of("k.cu")), editor.of("k.cu")
    # Opened again with other text, at a lower version: it is a new document.
    texts = {1: text_of(1)}
    del editor.published[:]
    editor.open("k.cu", texts[1], 1)
    editor.until("the new text", lambda: any(p["diagnostics"] for p in editor.of("k.cu")))
    judge(editor.of("k.cu"), texts)


def two_files_at_once(editor):
    texts = {"a.cu": {1: text_of(1, SLOW)}, "b.cu": {1: text_of(1)}}
    for name in texts:
        editor.open(name, texts[name][1], 1)
    for version in range(2, 8):
        for name in texts:
            texts[name][version] = text_of(version, SLOW if name == "a.cu" else "")
            editor.change(name, version, whole(texts[name][version]))
        editor.pump(0.2)
    for name in texts:
        editor.until("version 7 of " + name,
                     lambda: any(p["version"] == 7 and p["diagnostics"] for p in editor.of(name)))
        judge(editor.of(name), texts[name])


def undo_finds_the_old_answer_at_the_new_version(editor):
    """The text of version 1 again, from the cache: published as version 3."""
    first, second = text_of(1), text_of(2)
    editor.open("k.cu", first, 1)
    editor.until("version 1", lambda: any(p["diagnostics"] for p in editor.of("k.cu")))
    editor.change("k.cu", 2, whole(second))
    editor.until("version 2", lambda: any(p["version"] == 2 and p["diagnostics"] for p in editor.of("k.cu")))
    editor.change("k.cu", 3, whole(first))
    editor.until("version 3", lambda: any(p["version"] == 3 and p["diagnostics"] for p in editor.of("k.cu")))
    latest = [p for p in editor.of("k.cu") if p["version"] == 3][-1]
    assert "gone_1" in latest["diagnostics"][0]["message"], latest


def a_pulling_editor_is_never_pushed_to(editor):
    assert editor.capabilities.get("diagnosticProvider"), editor.capabilities
    editor.open("k.cu", text_of(1, SLOW), 1)
    early = editor.request("textDocument/diagnostic", {"textDocument": {"uri": editor.uri("k.cu")}})
    editor.pump(0.3)
    editor.change("k.cu", 2, whole(text_of(2, SLOW)))
    stale = editor.answer(early)
    assert stale.get("error", {}).get("data", {}).get("retriggerRequest") is True, stale
    late = editor.answer(editor.request("textDocument/diagnostic", {"textDocument": {"uri": editor.uri("k.cu")}}))
    messages = [d["message"] for d in late["result"]["items"]]
    assert len(messages) == 1 and "gone_2" in messages[0], late
    same = editor.answer(editor.request("textDocument/diagnostic", {
        "textDocument": {"uri": editor.uri("k.cu")}, "previousResultId": late["result"]["resultId"]}))
    assert same["result"]["kind"] == "unchanged", same
    assert not editor.published, editor.published


PUSH = None
PULL = {"textDocument": {"diagnostic": {"dynamicRegistration": False}}}
TESTS = [(edits_during_a_slow_compile, PUSH), (a_burst_of_keystrokes, PUSH),
         (small_changes_keep_both_texts_the_same, PUSH), (a_closed_file_is_silent, PUSH),
         (two_files_at_once, PUSH), (undo_finds_the_old_answer_at_the_new_version, PUSH),
         (a_pulling_editor_is_never_pushed_to, PULL)]


def has_compiler(program):
    editor = Editor(program)
    try:
        status = editor.answer(editor.request("daemon/status", {}))
        return bool(status["result"]["kernels"]["toolkits"])
    finally:
        editor.drop()


def main():
    program, bad = os.path.abspath(sys.argv[1]), 0
    if not has_compiler(program):
        print("1..0 # SKIP no CUDA compiler")
        return 0
    print("1..%d" % len(TESTS))
    for number, (function, capabilities) in enumerate(TESTS, 1):
        name, figures = function.__name__.replace("_", " "), None
        editor = Editor(program, capabilities)
        try:
            figures = function(editor)
            editor.finish()
            print("ok %d - %s%s" % (number, name, " (%s)" % figures if figures else ""), flush=True)
        except (AssertionError, OSError, KeyError, IndexError, subprocess.TimeoutExpired) as why:
            bad += 1
            print("not ok %d - %s" % (number, name), flush=True)
            print("# %s: %s: %s" % (name, type(why).__name__, str(why)[:3000]), file=sys.stderr, flush=True)
        finally:
            editor.drop()
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
