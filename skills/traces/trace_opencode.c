/* opencode: `opencode run --format json` (a part per line) and `opencode export`. */
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include "base/buf.h"

#include <string.h>

static void take_text(struct trace_build *b, enum trace_event_kind kind,
                      const json_t *part) {
    const json_t *text = json_object_get(part, "text");
    autobuf plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    if (json_get_bool(part, "synthetic", 0) || json_get_bool(part, "ignored", 0) ||
        !json_is_string(text)) {
        b->trace->skipped++;
    } else if (kind == EVENT_USER) {
        envelope_strip(&plain, json_string_value(text), json_string_length(text));
        build_words(b, kind, plain.data, plain.len);
    } else {
        build_words(b, kind, json_string_value(text), json_string_length(text));
    }
}

/* {tool, callID, state: {status, input, output | error, metadata: {exit, diff}}} */
static void take_tool(struct trace_build *b, const json_t *part) {
    const json_t *state = json_object_get(part, "state");
    const json_t *metadata = json_object_get(state, "metadata");
    const char *status = json_get_string(state, "status", "");
    const char *call = json_get_string(part, "callID", NULL);
    struct trace_event *e = build_call(b, json_get_string(part, "tool", ""), call,
                                       json_object_get(state, "input"));
    if (e) {
        build_set(b, &e->id, json_get_string(part, "id", NULL));
    }
    if (!is(status, "completed") && !is(status, "error")) {
        return;
    }
    const json_t *output =
        json_object_get(state, is(status, "error") ? "error" : "output");
    e = build_result_json(b, call, output);
    const json_t *code = json_object_get(metadata, "exit");
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
    if (is(status, "error")) {
        build_failed(b, e);
    }
    const char *diff = json_get_string(metadata, "diff", NULL);
    struct trace_event *edit = build_find(b, EVENT_EDIT, call);
    if (diff && edit && edit->is_diff) {
        build_set_text(b, edit, diff, strlen(diff));
    }
}

static void take_tokens(struct trace_build *b, const json_t *part) {
    const json_t *tokens = json_object_get(part, "tokens");
    build_usage(b,
                build_count(tokens, "input") +
                    build_count(json_object_get(tokens, "cache"), "write"),
                build_count(tokens, "output") + build_count(tokens, "reasoning"));
}

static bool take_part(struct trace_build *b, enum trace_event_kind speaker,
                      const json_t *part) {
    static const char *const known[] = {"step-start", "snapshot",   "patch",
                                        "file",       "agent",      "retry",
                                        "subtask",    "compaction", NULL};
    const char *type = json_get_string(part, "type", "");
    if (is(type, "text")) {
        take_text(b, speaker, part);
    } else if (is(type, "reasoning")) {
        take_text(b, EVENT_THINK, part);
    } else if (is(type, "tool")) {
        take_tool(b, part);
    } else if (is(type, "step-finish")) {
        take_tokens(b, part);
    } else {
        return build_skip(b, type, known);
    }
    return true;
}

static void take_error(struct trace_build *b, const json_t *error) {
    const char *message =
        json_get_string(json_object_get(error, "data"), "message", NULL);
    message = message ? message : json_get_string(error, "name", "error");
    build_failed(b, build_result(b, NULL, message, strlen(message)));
}

static bool run_record(struct trace_build *b, const char *key, json_t *record) {
    const char *type = json_get_string(record, "type", "");
    const json_t *part = json_object_get(record, "part");
    (void)key;
    build_name(&b->trace->harness, "opencode");
    if (is(type, "error")) {
        take_error(b, json_object_get(record, "error"));
        return true;
    }
    return part && take_part(b, EVENT_SAY, part);
}

/* {info: {role, modelID, tokens}, parts: []} */
static bool take_message(struct trace_build *b, const json_t *message) {
    const json_t *info = json_object_get(message, "info"), *part;
    bool user = is(json_get_string(info, "role", ""), "user");
    size_t i;
    if (!user) {
        build_name(&b->trace->model, json_get_string(info, "modelID", NULL));
        const json_t *path = json_object_get(info, "path");
        build_name(&b->trace->cwd, json_get_string(path, "cwd", NULL));
    }
    json_array_foreach(json_object_get(message, "parts"), i, part) {
        b->trace->unknown += !take_part(b, user ? EVENT_USER : EVENT_SAY, part);
    }
    if (json_is_object(json_object_get(info, "error"))) {
        take_error(b, json_object_get(info, "error"));
    }
    return json_is_object(info);
}

static bool export_record(struct trace_build *b, const char *key, json_t *record) {
    build_name(&b->trace->harness, "opencode");
    if (key) {
        return take_message(b, record);
    }
    const json_t *info = json_object_get(record, "info");
    build_name(&b->trace->cwd, json_get_string(info, "directory", NULL));
    b->trace->skipped++;
    return true;
}

static const char *const export_keys[] = {"messages", NULL};

const struct trace_reader trace_opencode_run = {
    .feed = FEED_LINES,
    .record = run_record,
};
const struct trace_reader trace_opencode_export = {
    .feed = FEED_ELEMENTS,
    .keys = export_keys,
    .depth = 1,
    .record = export_record,
};
