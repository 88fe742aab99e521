"""A model that calls the tools it is told to call, one a turn, behind the APIs of Anthropic, OpenAI
(responses and chat) and Gemini: what an agent shows its model is what arrives here."""
import http.server, json, threading


def anthropic(body):
    names = {tool["name"]: {} for tool in body.get("tools", [])}
    results = [part["content"] for message in body["messages"] if isinstance(message["content"], list)
               for part in message["content"] if part.get("type") == "tool_result"]
    return names, [text_of(result) for result in results]


def openai(body):
    names = {}
    for tool in body.get("tools", []):
        if tool.get("type") == "namespace":
            names.update((inner["name"], {"namespace": tool["name"]}) for inner in tool["tools"])
        elif "name" in tool:
            names[tool["name"]] = {}
    results = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    return names, [text_of(result) for result in results]


def chat(body):
    names = {tool["function"]["name"]: {} for tool in body.get("tools", [])}
    return names, [text_of(message["content"]) for message in body["messages"] if message["role"] == "tool"]


def gemini(body):
    names = {f["name"]: {} for tool in body.get("tools", []) for f in tool.get("functionDeclarations", [])}
    results = [part["functionResponse"]["response"].get("output", "") for message in body["contents"]
               for part in message["parts"] if "functionResponse" in part]
    return names, results


def text_of(content):
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def anthropic_answer(number, call):
    block = {"type": "tool_use", "id": "toolu_%d" % number, "name": call[0], "input": {}} if call else \
        {"type": "text", "text": ""}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])} if call else \
        {"type": "text_delta", "text": "Done."}
    return [
        {"type": "message_start", "message": {
            "id": "msg_%d" % number, "type": "message", "role": "assistant", "model": "scripted", "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None},
         "usage": {"output_tokens": 1}},
        {"type": "message_stop"}]


def openai_answer(number, call):
    item = dict(call[2], type="function_call", id="fc_%d" % number, call_id="call_%d" % number, name=call[0],
                arguments=json.dumps(call[1])) if call else \
        {"type": "message", "id": "msg_%d" % number, "role": "assistant", "status": "completed",
         "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None,
             "total_tokens": 2}
    return [{"type": "response.created", "response": {"id": "resp_%d" % number}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": "resp_%d" % number, "usage": usage}}]


def chat_answer(number, call):
    delta = {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_%d" % number, "type": "function", "function": {
        "name": call[0], "arguments": json.dumps(call[1])}}]} if call else {"role": "assistant", "content": "Done."}
    head = {"id": "chat_%d" % number, "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if call else "stop"}],
             "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}]


def gemini_answer(_, call):
    part = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": "Done."}
    return [{"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}}]


APIS = (("/v1/messages", anthropic, anthropic_answer), ("/v1/responses", openai, openai_answer),
        ("/chat/completions", chat, chat_answer), ("streamGenerateContent", gemini, gemini_answer))


class ScriptedModel:
    """calls: [(end of a tool's name, arguments)]. results: what came back of them, as the model read it; first and
    last: all that it was sent with its first and its last turn."""

    def __init__(self, calls):
        self.calls, self.results, self.tools, self.first, self.last = list(calls), [], set(), None, None
        self.number = self.waits = 0
        self.lock = threading.Lock()
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def send(self, kind, text):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def do_GET(self):
                self.send("application/json", b'{"object":"list","data":[],"models":[]}')

            def do_HEAD(self):
                self.send("application/json", b"")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
                for path, read, answer in APIS:
                    if path in self.path and "count_tokens" not in self.path:
                        events = answer(*model.turn(body, *read(body)))
                        named = "".join("%sdata: %s\n\n" % ("event: %s\n" % e["type"] if "type" in e else "",
                                                            json.dumps(e)) for e in events)
                        return self.send("text/event-stream", named.encode())
                return self.send("application/json", b'{"input_tokens":1,"totalTokens":1}')

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def turn(self, body, names, results):
        """Agents also ask for titles and the like, with few tools or none: those get words."""
        with self.lock:
            self.number += 1
            if not any(name.endswith("kernel_check") for name in names):
                # On a busy machine an agent may ask before its servers have started.
                if "Bash" not in names or (self.first and not self.calls) or self.waits == 8:
                    return self.number, None
                self.waits += 1
                return self.number, ("Bash", {"command": "sleep 2"}, {})
            self.tools |= set(names)
            self.last = json.dumps(body)
            self.first = self.first or self.last
            self.results = results[self.waits:]
            if not self.calls:
                return self.number, None
            end, arguments = self.calls.pop(0)
            name = next(name for name in names if name.endswith(end))
            return self.number, (name, arguments, names[name])

    def close(self):
        self.server.shutdown()
        self.server.server_close()
