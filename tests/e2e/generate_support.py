"""What the tests of skill/generate with a model as teacher share."""
import hashlib, http.server, json, os, re, threading

from evaluate_support import Daemon, Model

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(HERE, "../unit/skills/data/traces/lessons")
EXPECTED = json.load(open(os.path.join(TRACES, "expected.json")))
# The compiler that this user has, for daemons whose home is elsewhere.
CUDA = {k: os.environ[k] for k in ("CUDA_HOME", "UPSKILLD_CUDA") if k in os.environ}
CUDA["XDG_DATA_HOME"] = os.environ.get("XDG_DATA_HOME", os.path.expanduser("~/.local/share"))
SKILL = ("---\nname: zip-tests\ndescription: Runs the zip tests. Use when make check fails in the zip project.\n---\n\n"
         "# Zip tests\n\nRun `make check`, which runs pytest, first [t1 e4].\n")
WORDS = "alder birch cedar maple rowan aspen hazel larch linden poplar spruce willow juniper laurel olive walnut".split()


def good_test(i):
    """Only somebody who answers with the word passes; the skill, the question and silence fail."""
    return {"input": "Project %s%d: which step comes first there? Answer with its name alone." % (WORDS[i % len(WORDS)], i),
            "checks": [{"kind": "contains", "value": "step-%03d-x" % i},
                       {"kind": "regex", "value": "\\A[^\\n]{1,200}\\s*\\z"}]}


def batch(first, count=8):
    return {"tests": [good_test(i) for i in range(first, first + count)]}


def rule(name, draft=None, tests=None, do="", drafts=None, batches=None, tests_do=""):
    """The rules of one teacher, chosen by its model's name."""
    return [{"when": {"model": "^%s$" % name, "schema": False}, "do": do, "answers": drafts or [draft or SKILL]},
            {"when": {"model": "^%s$" % name, "schema": True}, "do": tests_do,
             "answers": batches or ([tests] if tests else [batch(0), batch(8), batch(16)])}]


class Teachers:
    """A scripted endpoint and daemons that know it."""

    def __init__(self, program, rules):
        self.program, self.model = program, Model(rules)

    def daemon(self, config="", **more):
        d = Daemon(self.program, config=config, **more)
        for name in os.listdir(TRACES):
            target = d.home + "/work/" + name
            if not os.path.exists(target):
                with open(os.path.join(TRACES, name), "rb") as f, open(target, "wb") as to:
                    to.write(f.read())
        d.skills = d.home + "/work/skills"
        return d

    def teacher(self, name, **more):
        return dict({"api": "openai", "base_url": self.model.url, "model": name}, **more)

    def bodies(self):
        return self.model.get("/requests")

    def close(self):
        self.model.close()


def generate(d, **params):
    """The result, or the error."""
    answer = d.ask("skill/generate", dict(params, wait=True))
    return answer.get("result", answer.get("error"))


def leftovers(d):
    return [n for n in (os.listdir(d.skills) if os.path.isdir(d.skills) else []) if n.startswith(".upskilld-stage")]


def marked(text):
    """Every block of data in a prompt, its markers checked: [(kind, text)]."""
    blocks, at = [], 0
    while True:
        begin = re.compile(r"<<<([A-Z]+)-DATA-([0-9a-f]{16})\n").search(text, at)
        if not begin:
            return blocks
        end = "\n%s-DATA-%s>>>\n" % begin.groups()
        close = text.index(end, begin.end())
        inner = text[begin.end():close]
        assert hashlib.sha256(inner.encode()).hexdigest()[:16] == begin.group(2), "the digest is of what it surrounds"
        blocks.append((begin.group(1), inner))
        at = close + len(end)


class Site:
    """Pages on this machine: {path: (status, headers, body)}; what was asked stands in .seen."""

    def __init__(self, pages):
        site = self
        self.pages, self.seen, self.gone = pages, [], threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.seen.append(self.path)
                if self.path == "/hang":
                    site.gone.wait(120)
                status, headers, body = site.pages.get(self.path.split("?")[0], (404, {}, b"no"))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    pass  # the daemon had enough

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *args: None  # a client that went away
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.gone.set()
        self.server.shutdown()
        self.server.server_close()
