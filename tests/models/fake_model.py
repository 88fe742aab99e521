#!/usr/bin/env python3
"""fake_model.py: a scripted model endpoint for tests and benchmarks.

    fake_model.py [--port N] [--script FILE] [--key KEY] [--delay MS] [--context TOKENS]

Speaks Anthropic Messages (POST /v1/messages) and OpenAI chat completions
(POST /v1/chat/completions, /chat/completions), streamed or not, keep-alive, any number of
connections at once. Prints its port on standard output, one line, then serves until killed.
Python's standard library alone. For the daemon: GENERIC_BASE_URL=http://127.0.0.1:PORT/v1 and
ANTHROPIC_BASE_URL=http://127.0.0.1:PORT, models "generic.m:answer=pong", "anthropic.m:429x2".

GET /stats    {"requests", "answered", "peak", "in_flight", "by_behaviour": {name: n},
               "cancelled": connections the client closed before the answer's end,
               "bodies_bytes", "last": the last request's body, "last_headers": their names,
               "headers": {name: value} without the key}
GET /requests every body so far (the last 2000), in order
POST /reset   zeroes all of it
GET /health   200
GET /v1/models the script's "models", where it has some: {"data": […]}

What it does is chosen by the first rule of the script whose conditions hold, else by the model
name: "+"-separated behaviours after a colon, each with an optional "=value":
    "any-name:delay=200+answer=pong"       "m:429x2=0.05"       "m:cut"

Script (JSON): {"rules": [{"when": {...}, "do": "behaviours as above" or [list of them, the n-th
request that matches gets the n-th, the last one stays]}, …]}. Conditions, all must hold:
    model, system, user, any   a regular expression that is searched in that text ("any": all
                               messages and the system prompt)
    no_system                  a regular expression that must not be found in the system prompt
    api                        "messages" or "chat"
    schema                     true: structured output or a forced tool was asked for

Behaviours
    answer=TEXT        the answer; "{user}", "{system}", "{n}" (request number) are replaced.
                       A rule may give "answer": "TEXT" beside "do" for texts with + or =, or
                       "answers": [the n-th request that matches gets the n-th, the last stays]
    json=TEXT          the same (JSON needs no escaping there: use the rule's "answer")
    echo               answers with the last user message
    secret=WORD:YES:NO YES when WORD stands in the system prompt, else NO (YES, NO: "yes", "no")
    coin=P[:SEED[:YES[:NO]]]  YES with probability P, by hash of seed and the whole request: the
                       same request gets the same answer, another run another draw only if the
                       request (or the seed) differs; "coin=P:fresh" draws anew for each request
    secretcoin=WORD:P1:P0[:SEED]  coin with P1 when WORD stands in the system prompt, else P0
    delay=MS           before the first byte          slow=MS  between the stream's pieces
    429xN[=S]          the first N requests of this model get 429 (with Retry-After S); 429 alone:
                       always. So 500xN, 503xN, 529xN, 408xN, 409xN, 502xN and any 4xx, 5xx
    retryafter=S       Retry-After of the above        nokeep    closes the connection afterwards
    noretry / retry    x-should-retry: false / true on errors
    limit=N            429 while more than N requests are in flight
    quota              429 insufficient_quota          billing   400 "credit balance is too low"
    spend              429 enforced_spend_limit_reached
    badkey             401; echoes the key it got in the message
    echokey            the answer's text holds the key; echokeyhtml: a 500 HTML page does
    missing            404 model not found             context   400 exceed_context_size_error
    cut                closes after half of the stream cutxN: the first N times
    dead               closes without a byte           deadxN
    nostop             leaves out message_stop, [DONE] bigerror=MB  500 with a long HTML page
    never              never answers                   stall     stops after half of the stream
    garbage            200 with HTML                   garbagejson  events that are no JSON
    nochoice           an answer of the API without any choice or content
    endless            text without end                endlessping  events without text, no end
    longline           one line without end            huge=MB   an answer of so many megabytes
    errorevent=TYPE    an error event after half of the answer (overloaded_error …); errorxN=TYPE
    refuse             a refusal                       truncate  stops by length
    full               model_context_window_exceeded   empty     an answer without text
    think              reasoning before the answer     usage=N   claims N prompt tokens
    nousage            no usage                        cutcontext=N  usage says N: drops the rest,
                       the system prompt first, and answers without it
    whole              one JSON answer although a stream was asked for
    wrongschema        JSON that fits no schema        wrongonce the first time only
    prose              the right JSON within prose and a code fence
    noschema noschemasilent notool noeffort nolength nocompletion nostreamoptions nosystem
    nostream version=V     refuses that feature with a 400 (noschemasilent ignores it)
    unknown            sends events and fields nobody knows, in between
    keyneeded          401 without the right key (--key)
    loads[=N]          a tool is offered, or told of in words, that loads one of a list of skills
                       ("- name: description"): calls it with the skill that shares most words of
                       five letters and more with the question, N at least (2)
    loadsall=NAME      calls it with that name whatever is asked

When a schema is asked for and no answer is given, an instance of it is made up.
"""
import argparse
import asyncio
import hashlib
import json
import re
import sys

from model_answers import chat_events, error_body, failure, messages_events, whole_answer


class State:
    def __init__(self, args):
        self.args = args
        script = json.load(open(args.script)) if args.script else {}
        self.script, self.models = script.get("rules", []), script.get("models")
        self.vectors = script.get("vectors", [])
        self.reset()

    def reset(self):
        self.requests = self.answered = self.peak = self.cancelled = self.bytes = 0
        self.in_flight = getattr(self, "in_flight", 0)
        self.by_behaviour = {}
        self.bodies = []
        self.headers = {}
        self.counts = {}
        self.rule_hits = {}

    def count(self, key):
        self.counts[key] = self.counts.get(key, 0) + 1
        return self.counts[key]

    def stats(self):
        return {"requests": self.requests, "answered": self.answered, "peak": self.peak,
                "in_flight": self.in_flight, "cancelled": self.cancelled,
                "by_behaviour": self.by_behaviour, "bodies_bytes": self.bytes,
                "last": self.bodies[-1] if self.bodies else None,
                "headers": {k: v for k, v in self.headers.items()
                            if k not in ("authorization", "x-api-key")},
                "last_headers": sorted(self.headers)}


class Request:
    """One question, read out of either API's body."""

    def __init__(self, state, api, body, headers):
        self.state, self.api, self.body, self.headers = state, api, body, headers
        self.model = str(body.get("model", ""))
        self.name = api + " " + self.model  # what "the first N requests" are counted by
        messages = body.get("messages") or []
        text = lambda c: c if isinstance(c, str) else "".join(
            p.get("text", "") for p in c or [] if isinstance(p, dict))
        self.system = text(body.get("system", "")) if api == "messages" else "\n".join(
            text(m.get("content")) for m in messages if m.get("role") == "system")
        turns = [text(m.get("content")) for m in messages if m.get("role") != "system"]
        self.user = turns[-1] if turns else ""
        self.all = "\n".join([self.system] + turns)
        self.stream = bool(body.get("stream"))
        form = body.get("response_format") or (body.get("output_config") or {}).get("format")
        self.schema = None
        if form and form.get("type") == "json_schema":
            self.schema = form.get("schema") or form.get("json_schema", {}).get("schema")
        self.native = self.schema is not None
        tools = body.get("tools") or []
        self.tool = self.offered = None
        function = (tools[0].get("function") or tools[0]) if tools else {}
        if tools and not body.get("tool_choice"):
            self.offered = function
        elif tools:
            self.tool = function.get("name")
            self.schema = function.get("parameters") or function.get("input_schema")
        auth = headers.get("authorization", "")
        self.key = headers.get("x-api-key") or (auth[7:] if auth.startswith("Bearer ") else "")
        self.prompt_tokens = max(1, len(self.all.encode()) // 4 + 8)


def instance(schema):
    """Some value that fits an ordinary schema."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return instance(schema[key][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        names = schema.get("required", list(schema.get("properties", {})))
        return {n: instance(schema.get("properties", {}).get(n, {"type": "string"})) for n in names}
    if kind == "array":
        return [instance(schema.get("items", {"type": "string"}))
                for _ in range(schema.get("minItems", 1))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"string": "x" * max(1, schema.get("minLength", 1)), "boolean": True, "null": None}[kind]


def share(*parts):
    """A number in [0, 1) that these parts decide."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2 ** 64


def choose(state, request):
    """(behaviours {name: value}, answer or None) for a request."""
    fields = {"model": request.model, "system": request.system, "user": request.user,
              "any": request.all}
    for i, rule in enumerate(state.script):
        when = rule.get("when", {})
        if when.get("api", request.api) != request.api:
            continue
        if "schema" in when and bool(request.schema) != when["schema"]:
            continue
        if any(k in when and not re.search(when[k], v, re.S) for k, v in fields.items()):
            continue
        if "no_system" in when and re.search(when["no_system"], request.system, re.S):
            continue
        do, answers = rule.get("do", ""), rule.get("answers") or [rule.get("answer")]
        hit = state.rule_hits.get(i, 0)
        state.rule_hits[i] = hit + 1
        if isinstance(do, list):
            do = do[min(hit, len(do) - 1)]
        return parse(do), answers[min(hit, len(answers) - 1)]
    name, _, marks = request.model.partition(":")
    return parse(marks), None


def parse(text):
    ret = {}
    for part in filter(None, text.split("+")):
        name, _, value = part.partition("=")
        ret[name] = value
    return ret


def coin(request, p, seed, yes="yes", no="no"):
    salt = request.state.requests if seed == "fresh" else json.dumps(request.body, sort_keys=True)
    return yes if share(seed, salt) < float(p) else no


def skill_for(request, do):
    """The name that a student loads, or None: by the words of the list that it is shown."""
    if "loadsall" in do:
        return do["loadsall"]
    shown = request.offered["description"] if request.offered else request.system
    asked = set(re.findall(r"[a-z]{5,}", request.user.lower()))
    shared = [(len(asked & set(re.findall(r"[a-z]{5,}", words.lower()))), name)
              for name, words in re.findall(r"^- ([^:\n]+): (.*)$", shown, re.M)]
    most = max(shared, default=(0, None))
    return most[1] if most[0] >= int(do["loads"] or 2) else None


def answer_text(request, do, given):
    if given is None and ("loads" in do or "loadsall" in do):
        name = skill_for(request, do)
        if name and request.offered:
            request.tool = request.offered["name"]
        text = json.dumps({"skill": name}) if name else "Here you are."
    elif given is not None:
        text = given if isinstance(given, str) else json.dumps(given)
    elif "echo" in do:
        text = request.user
    elif "secret" in do:
        word, yes, no = (do["secret"].split(":") + ["yes", "no"])[:3] \
            if do["secret"].count(":") >= 2 else (do["secret"], "yes", "no")
        text = yes if word in request.system else no
    elif "secretcoin" in do:
        word, p1, p0, *seed = do["secretcoin"].split(":")
        text = coin(request, p1 if word in request.system else p0, seed[0] if seed else "0")
    elif "coin" in do:
        p, *rest = do["coin"].split(":")
        text = coin(request, p, *(rest or ["0"]))
    elif "answer" in do or "json" in do:
        text = do.get("answer", do.get("json"))
    elif request.schema is not None and "noschemasilent" not in do:
        text = json.dumps(instance(request.schema))
    else:
        text = "pong"
    if given is not None or "answer" in do:
        for name, value in (("user", request.user), ("system", request.system),
                            ("n", str(request.state.requests))):
            text = text.replace("{" + name + "}", value)
    if "wrongschema" in do or ("wrongonce" in do and request.state.count(request.name) == 1):
        text = '{"wrong": [1, 2]}'
    if "prose" in do:
        text = f"Sure [1], here you are:\n\n```json\n{text}\n```\nDoes this help?"
    if "echokey" in do:
        text = f"your key is {request.key} indeed"
    if "empty" in do:
        text = ""
    if "huge" in do:
        text = "huge " * (int(float(do["huge"] or 1) * 1e6) // 5)
    return text


class Gone(Exception):
    """The connection is to be closed without more."""


class Connection:
    def __init__(self, state, reader, writer):
        self.state, self.reader, self.writer = state, reader, writer

    async def read(self):
        """(method, path, headers, body) or None at the end."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, path, _ = lines[0].split(" ", 2)
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        body = await self.reader.readexactly(int(headers.get("content-length", 0) or 0))
        return method, path.split("?")[0], headers, body

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def reply(self, status, body, headers=None, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n"
        for name, value in (headers or {}).items():
            head += f"{name}: {value}\r\n"
        await self.send(head.encode() + b"\r\n" + data)

    async def begin(self):
        await self.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                        b"Transfer-Encoding: chunked\r\n\r\n")

    async def chunk(self, data):
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def event(self, name, value):
        data = value if isinstance(value, str) else json.dumps(value)
        await self.chunk((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())

    async def silence(self):
        """Until the client has had enough."""
        while await self.reader.read(65536):
            pass
        raise Gone

    async def odd_stream(self, request, do):
        """Streams that never end well. True when there was one."""
        if "garbagejson" in do:
            await self.begin()
            await self.event("", "{this is no JSON")
            await self.chunk(b"")
            return True
        if "nochoice" in do:
            usage = {"prompt_tokens": 9, "completion_tokens": 0}
            await self.begin()
            await self.event("", {"id": "x", "object": "chat.completion.chunk", "choices": [], "usage": usage})
            await self.event("", "[DONE]")
            await self.chunk(b"")
            return True
        if "longline" in do:
            await self.begin()
            await self.chunk(b"data: ")
            while True:
                await self.chunk(b"x" * 65536)
        if "endlessping" in do:
            await self.begin()
            while True:
                await self.chunk(b"event: ping\ndata: {\"type\": \"ping\"}\n\n" * 500)
        if "endless" in do:
            make = messages_events if request.api == "messages" else chat_events
            events = list(make(request, {}, "on and on and on " * 400))
            await self.begin()
            at = next(i for i, e in enumerate(events) if "on and" in json.dumps(e[1]))
            for event in events[:at]:
                await self.event(*event)
            while True:
                await self.event(*events[at])
        return False

    async def stream(self, request, do, text):
        make = messages_events if request.api == "messages" else chat_events
        events = list(make(request, do, text))
        half = len(events) // 2
        cut = any(m == "cut" or (m.startswith("cutx") and request.state.count(request.name + m)
                                 <= int(m[4:])) for m in do)
        broken = do.get("errorevent")
        for mark, value in do.items():
            if mark.startswith("errorx") and request.state.count(request.name + mark) <= int(mark[6:]):
                broken = value
        await self.begin()
        for i, (name, value) in enumerate(events):
            if i == half and cut:
                raise Gone
            if i == half and "stall" in do:
                await self.silence()
            if i == half and broken:
                await self.event("error", error_body(request, broken, "scripted, in the stream"))
                break
            await self.event(name, value)
            if do.get("slow"):
                await asyncio.sleep(float(do["slow"]) / 1000)
        await self.chunk(b"")

    async def answer(self, request):
        state = self.state
        do, given = choose(state, request)
        for name in do or {"plain": ""}:
            state.by_behaviour[name] = state.by_behaviour.get(name, 0) + 1
        delay = float(do.get("delay") or state.args.delay)
        if delay:
            await asyncio.sleep(delay / 1000)
        if "never" in do:
            await self.silence()
        if any(m == "dead" or (m.startswith("deadx") and state.count(request.name + m)
                               <= int(m[5:])) for m in do):
            raise Gone
        failed = failure(request, do)
        if failed:
            await self.reply(*failed)
            return
        if "echokeyhtml" in do:
            await self.reply(500, f"<html>{'.' * 200}{request.key}</html>".encode(), kind="text/html")
            return
        if "bigerror" in do:
            await self.reply(500, b"<p>so sorry</p>" * 70000 * int(do["bigerror"] or 1), kind="text/html")
            return
        if "garbage" in do:
            await self.reply(200, b"<html><body>It works!</body></html>", kind="text/html")
            return
        if "nochoice" in do and "whole" in do:
            await self.reply(200, {"id": "x", "object": "chat.completion", "choices": []})
            return
        limit = state.args.context or (int(do["cutcontext"]) if do.get("cutcontext") else 0)
        if limit and request.prompt_tokens > limit:
            do = {**do, "cutcontext": str(limit)}
            request.system = ""
        text = answer_text(request, do, given)
        if await self.odd_stream(request, do):
            return
        if request.stream and "whole" not in do:
            await self.stream(request, do, text)
        else:
            await self.reply(200, whole_answer(request, do, text))
        state.answered += 1
        if "nokeep" in do:
            raise Gone

    async def question(self, api, headers, body):
        state = self.state
        state.requests += 1
        state.bytes += len(body)
        state.headers = headers
        try:
            parsed = json.loads(body)
        except ValueError:
            await self.reply(400, {"error": {"type": "invalid_request_error", "message": "not JSON"}})
            return
        state.bodies = state.bodies[-1999:] + [parsed]
        state.in_flight += 1
        state.peak = max(state.peak, state.in_flight)
        try:
            await self.answer(Request(state, api, parsed, headers))
        finally:
            state.in_flight -= 1

    async def embed(self, headers, body):
        """A vector of ones at the places whose words are in the text; `vectors` of the script are
        lists of such words. Model "down" fails, "slow" takes five seconds, "short" reads 200 characters at most
        and says it as llama-server does, "picky" refuses texts with "unreadable" in them."""
        state = self.state
        state.requests += 1
        state.headers = headers
        state.bodies = state.bodies[-1999:] + [body]
        if body["model"] == "down":
            await self.reply(400, {"error": {"type": "invalid_request_error", "message": "no embeddings here"}})
            return
        await asyncio.sleep(5 * (body["model"] == "slow"))
        text = body["input"].lower()
        if body["model"] == "short" and len(text) > 200:
            await self.reply(500, {"error": {"code": 500, "type": "server_error", "message":
                                   "input (%d tokens) is too large to process. increase the physical batch size "
                                   "(current batch size: 200)" % len(text)}})
            return
        if body["model"] == "picky" and "unreadable" in text:
            await self.reply(400, {"error": {"type": "invalid_request_error", "message": "this text is refused"}})
            return
        vector = [0.01] + [float(any(word in text for word in words)) for words in state.vectors]
        await self.reply(200, {"object": "list", "model": body["model"],
                               "data": [{"object": "embedding", "index": 0, "embedding": vector}],
                               "usage": {"prompt_tokens": 7, "total_tokens": 7}})

    async def one(self, method, path, headers, body):
        if method == "POST" and path.endswith("/messages"):
            await self.question("messages", headers, body)
        elif method == "POST" and path.endswith("/chat/completions"):
            await self.question("chat", headers, body)
        elif method == "POST" and path.endswith("/embeddings"):
            await self.embed(headers, json.loads(body))
        elif path.split("?")[0] == "/v1/models" and self.state.models is not None:
            await self.reply(200, {"data": self.state.models})
        elif path == "/stats":
            await self.reply(200, self.state.stats())
        elif path == "/requests":
            await self.reply(200, self.state.bodies)
        elif path == "/reset":
            self.state.reset()
            await self.reply(200, {})
        elif path == "/vectors":
            self.state.vectors = json.loads(body)
            await self.reply(200, {})
        elif path == "/health":
            await self.reply(200, {"status": "ok"})
        else:
            await self.reply(404, {"error": {"type": "not_found_error", "message": f"no {path}"}})

    async def run(self):
        try:
            while True:
                await self.one(*await self.read())
        except asyncio.IncompleteReadError:
            pass
        except Gone:
            pass
        except (ConnectionError, asyncio.LimitOverrunError):
            self.state.cancelled += 1
        finally:
            self.writer.close()


async def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--script")
    parser.add_argument("--key", default="")
    parser.add_argument("--delay", type=float, default=0, help="ms before every answer")
    parser.add_argument("--context", type=int, default=0, help="prompt tokens that fit; the rest is dropped")
    state = State(parser.parse_args())
    server = await asyncio.start_server(
        lambda r, w: Connection(state, r, w).run(), "127.0.0.1", state.args.port,
        limit=1 << 20, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
