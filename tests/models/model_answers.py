"""What fake_model.py answers, on the wire: whole answers, their events, and failures, in each of the two APIs."""
import json
import re
import time


def error_body(request, kind, message, code=None, **more):
    error = {"type": kind, "message": message, **more}
    if code:
        error["code"] = code
    return {"type": "error", "error": error} if request.api == "messages" else {"error": error}


KINDS = {400: "invalid_request_error", 401: "authentication_error", 402: "billing_error",
         403: "permission_error", 404: "not_found_error", 409: "conflict_error",
         413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 504: "timeout_error",
         529: "overloaded_error"}


def refused_feature(request, do):
    """The message of a 400 for a feature that this endpoint does not have, or None."""
    body = request.body
    if "noschema" in do and request.native:
        return "Failed to initialize samplers: response_format is not supported"
    if "notool" in do and (request.tool or request.offered):
        return "tools: this model does not support tools"
    if "noeffort" in do and ("reasoning_effort" in body or "effort" in (body.get("output_config") or {})):
        return "reasoning_effort: Extra inputs are not permitted"
    if "nolength" in do and "max_tokens" in body:
        return ("Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.")
    if "nocompletion" in do and "max_completion_tokens" in body:
        return "Unrecognized request argument supplied: max_completion_tokens"
    if "nostreamoptions" in do and "stream_options" in body:
        return "[{'type': 'extra_forbidden', 'loc': ('body', 'stream_options'), 'msg': 'Extra inputs are not permitted'}]"
    if "nosystem" in do and any(m.get("role") == "system" for m in body.get("messages", [])):
        return "Conversation roles must alternate user/assistant; System role not supported"
    if "nostream" in do and request.stream:
        return "stream: streaming is not supported for this model"
    if "version" in do and request.headers.get("anthropic-version") != do["version"]:
        return f"anthropic-version: {request.headers.get('anthropic-version')} is not supported"
    return None


def failure(request, do):
    """(status, body, headers) when the request fails before any answer, else None."""
    state = request.state
    headers = {}
    if "noretry" in do or "retry" in do:
        headers["x-should-retry"] = "true" if "retry" in do else "false"
    if "retryafter" in do:
        headers["Retry-After"] = do["retryafter"]
    if "keyneeded" in do and request.key != state.args.key:
        return 401, error_body(request, "authentication_error", "invalid x-api-key"), headers
    if "badkey" in do:
        return 401, error_body(request, "authentication_error",
                               f"Incorrect API key provided: {request.key}."), headers
    if "quota" in do:
        return 429, error_body(request, "insufficient_quota", "You exceeded your current quota",
                               "insufficient_quota"), headers
    if "spend" in do:
        return 429, error_body(request, "rate_limit_error", "spend limit", details={
            "error_code": "enforced_spend_limit_reached"}), headers
    if "billing" in do:
        return 400, error_body(request, "invalid_request_error",
                               "Your credit balance is too low to access the API."), headers
    if "missing" in do:
        return 404, error_body(request, "not_found_error", f"model: {request.model}"), headers
    if "context" in do:
        return 400, error_body(request, "exceed_context_size_error",
                               "the request exceeds the available context size",
                               n_prompt_tokens=request.prompt_tokens, n_ctx=512), headers
    if "limit" in do and state.in_flight > int(do["limit"]):
        headers.setdefault("Retry-After", "0.1")
        return 429, error_body(request, "rate_limit_error", "too many requests in flight"), headers
    message = refused_feature(request, do)
    if message:
        return 400, error_body(request, "invalid_request_error", message), headers
    for mark, value in do.items():
        match = re.fullmatch(r"([45]\d\d)(?:x(\d+))?", mark)
        if match:
            status, times = int(match[1]), match[2]
            if times is None or state.count(request.name + mark) <= int(times):
                if value:
                    headers["Retry-After"] = value
                return status, error_body(request, KINDS.get(status, "api_error"),
                                          f"scripted {status}"), headers
    return None


def usage_of(request, do, text):
    n_in = request.prompt_tokens
    if "usage" in do:
        n_in = int(do["usage"])
    if "cutcontext" in do:
        n_in = min(n_in, int(do["cutcontext"]))
    return n_in, max(1, len(text.encode()) // 4)


def pieces_of(text):
    size = max(16, min(65536, len(text) // 20 + 1))
    return [text[i:i + size] for i in range(0, len(text), size)] or [""]


def messages_events(request, do, text):
    """(event name, object) pairs; the middle ones carry the text."""
    n_in, n_out = usage_of(request, do, text)
    usage = {} if "nousage" in do else {"input_tokens": n_in, "cache_creation_input_tokens": 0,
                                        "cache_read_input_tokens": 0, "output_tokens": 1}
    yield "message_start", {"type": "message_start", "message": {
        "id": f"msg_{request.state.requests}", "type": "message", "role": "assistant",
        "model": request.model, "content": [], "stop_reason": None, "usage": usage}}
    yield "ping", {"type": "ping"}
    if "think" in do:
        yield "content_block_start", {"type": "content_block_start", "index": 0,
                                      "content_block": {"type": "thinking", "thinking": ""}}
        yield "content_block_delta", {"type": "content_block_delta", "index": 0, "delta": {
            "type": "thinking_delta", "thinking": "let me think " * 20}}
        yield "content_block_stop", {"type": "content_block_stop", "index": 0}
    block = {"type": "tool_use", "id": "t1", "name": request.tool, "input": {}} \
        if request.tool else {"type": "text", "text": ""}
    yield "content_block_start", {"type": "content_block_start", "index": 1, "content_block": block}
    if "unknown" in do:
        yield "content_block_sparkle", {"type": "content_block_sparkle", "glitter": [1, {"a": 2}]}
    if "refuse" not in do:
        for piece in pieces_of(text):
            delta = {"type": "input_json_delta", "partial_json": piece} if request.tool else \
                {"type": "text_delta", "text": piece}
            yield "content_block_delta", {"type": "content_block_delta", "index": 1, "delta": delta}
    yield "content_block_stop", {"type": "content_block_stop", "index": 1}
    delta = {"stop_reason": "refusal" if "refuse" in do else "max_tokens" if "truncate" in do
             else "model_context_window_exceeded" if "full" in do
             else "tool_use" if request.tool else "end_turn", "stop_sequence": None}
    if "refuse" in do:
        delta["stop_details"] = {"type": "refusal", "category": "frontier_llm",
                                 "explanation": "I cannot help with that."}
    yield "message_delta", {"type": "message_delta", "delta": delta,
                            "usage": {} if "nousage" in do else {"output_tokens": n_out}}
    if "nostop" not in do:
        yield "message_stop", {"type": "message_stop"}


def chat_events(request, do, text):
    n_in, n_out = usage_of(request, do, text)
    head = {"id": f"c{request.state.requests}", "object": "chat.completion.chunk",
            "created": int(time.time()), "model": request.model}

    def chunk(delta, finish=None):
        return "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    yield chunk({"role": "assistant", "content": ""})
    if "think" in do:
        yield chunk({"reasoning_content": "let me think " * 20})
    if "unknown" in do:
        yield "sparkle", {**head, "object": "sparkle", "glitter": 1}
    if "refuse" in do:
        yield chunk({"refusal": "I cannot help with that."})
    elif request.tool:
        yield chunk({"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": {
            "name": request.tool, "arguments": ""}}]})
        for piece in pieces_of(text):
            yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
    else:
        for piece in pieces_of(text):
            yield chunk({"content": piece})
    yield chunk({}, "length" if "truncate" in do or "full" in do else
                "tool_calls" if request.tool else "stop")
    wanted = (request.body.get("stream_options") or {}).get("include_usage")
    if wanted and "nousage" not in do:
        yield "", {**head, "choices": [], "usage": {
            "prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}}
    if "nostop" not in do:
        yield "", "[DONE]"


def whole_answer(request, do, text):
    n_in, n_out = usage_of(request, do, text)
    if request.api == "messages":
        block = {"type": "tool_use", "id": "t1", "name": request.tool, "input": json.loads(text)} \
            if request.tool else {"type": "text", "text": text}
        return {"id": "msg", "type": "message", "role": "assistant", "model": request.model,
                "content": [block],
                "stop_reason": "refusal" if "refuse" in do else
                "max_tokens" if "truncate" in do else "tool_use" if request.tool else "end_turn",
                "usage": {"input_tokens": n_in, "output_tokens": n_out}}
    message = {"role": "assistant", "content": text}
    if request.tool:
        message = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": request.tool, "arguments": text}}]}
    if "refuse" in do:
        message = {"role": "assistant", "content": None, "refusal": "I cannot help with that."}
    return {"id": "c", "object": "chat.completion", "model": request.model, "choices": [
        {"index": 0, "message": message, "finish_reason": "length" if "truncate" in do else "stop"}],
        "usage": {"prompt_tokens": n_in, "completion_tokens": n_out, "total_tokens": n_in + n_out}}
