/* Codex: rollouts, and what `codex exec --json` prints.
 *
 * A rollout holds two logs of the same events. What was said and called comes from the
 * model's log (response_item); exit codes from the other (event_msg), whose words count
 * only where the first one has none. */
#include "base/buf.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

struct codex {
    bool has_items; /* the model's log has messages */
};

static void say(struct trace_build *b, enum trace_event_kind kind, const char *s,
                size_t len) {
    autobuf plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    if (kind == EVENT_USER) {
        envelope_strip(&plain, s, len);
        s = plain.data;
        len = plain.len;
    }
    if (!build_words(b, kind, s, len)) {
        b->trace->skipped++;
    }
}

static void say_json(struct trace_build *b, enum trace_event_kind kind,
                     const json_t *content) {
    size_t i;
    const json_t *block;
    if (kind == EVENT_USER && json_is_array(content)) {
        json_array_foreach(content, i, block) { /* an envelope is a block of its own */
            const json_t *text = json_object_get(block, "text");
            if (json_is_string(text)) {
                say(b, kind, json_string_value(text), json_string_length(text));
            }
        }
        return;
    }
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, content);
    say(b, kind, text.data, text.len);
}

/* --- results --- */

/* "Exit code: 1\nWall time: 0.2 seconds\nOutput:\n…": the text behind "Output:". */
static const char *behind_head(const char *s) {
    const char *output = strstr(s, "\nOutput:\n");
    bool head = strncmp(s, "Exit code: ", 11) == 0 || strncmp(s, "Chunk ID: ", 10) == 0 ||
                strncmp(s, "Wall time: ", 11) == 0;
    return head && output && output - s < 1000 ? output + 9 : s;
}

static struct trace_event *result_of_text(struct trace_build *b, const char *call,
                                          const char *s) {
    const char *text = behind_head(s);
    autofree char *head = xstrndup(s, (size_t)(text - s));
    struct trace_event *e =
        build_result(b, call, *head ? head : s, *head ? (size_t)(text - s) : strlen(s));
    build_exit_in_text(b, e);
    if (*head) {
        build_set_text(b, e, text, strlen(text));
    }
    return e;
}

/* output: a string, JSON {"output", "metadata": {"exit_code"}} in a string, an object
 * {content, success}, or blocks. */
static void take_output(struct trace_build *b, const char *call, const json_t *output) {
    const char *s = json_string_value(output);
    autofree char *copy = s ? xstrdup(s) : NULL;
    autojson *parsed = s && *s == '{' ? json_parse(copy, strlen(copy), NULL) : NULL;
    if (build_find(b, EVENT_RESULT, call)) { /* the other log was earlier */
        b->trace->skipped++;
        return;
    }
    const json_t *object = json_is_object(output) ? output : parsed;
    const char *inner = json_get_string(object, "output", NULL);
    inner = inner ? inner : json_get_string(object, "content", NULL);
    struct trace_event *e;
    if (json_is_array(output)) {
        e = build_result_json(b, call, output);
    } else {
        e = result_of_text(b, call, inner ? inner : s ? s : "");
    }
    const json_t *code =
        json_object_get(json_object_get(object, "metadata"), "exit_code");
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
    if (json_is_false(json_object_get(object, "success"))) {
        build_failed(b, e);
    }
}

/* --- response_item --- */

static void take_message(struct trace_build *b, const json_t *item) {
    struct codex *c = b->state;
    const char *role = json_get_string(item, "role", "");
    const json_t *content = json_object_get(item, "content");
    if (is(role, "user")) {
        c->has_items = true;
        say_json(b, EVENT_USER, content);
    } else if (is(role, "assistant")) {
        c->has_items = true;
        say_json(b, EVENT_SAY, content);
    } else {
        b->trace->skipped++; /* developer, system */
    }
}

static void take_reasoning(struct trace_build *b, const json_t *item) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, json_object_get(item, "summary"));
    if (!text.len) {
        content_text(&text, json_object_get(item, "content"));
    }
    say(b, EVENT_THINK, text.data, is(text.data, "[null]") ? 0 : text.len);
}

static bool ends(const char *s, const char *tail) {
    size_t len = strlen(s), n = strlen(tail);
    return len >= n && is(s + len - n, tail);
}

static bool take_item(struct trace_build *b, const json_t *item) {
    const char *type = json_get_string(item, "type", "");
    const char *call = json_get_string(item, "call_id", NULL);
    call = call ? call : json_get_string(item, "id", NULL);
    if (is(type, "message")) {
        take_message(b, item);
    } else if (is(type, "reasoning")) {
        take_reasoning(b, item);
    } else if (is(type, "function_call")) {
        build_call(b, json_get_string(item, "name", ""), call,
                   json_object_get(item, "arguments"));
    } else if (is(type, "custom_tool_call")) {
        build_call(b, json_get_string(item, "name", ""), call,
                   json_object_get(item, "input"));
    } else if (is(type, "local_shell_call") || is(type, "web_search_call")) {
        build_call(b, is(type, "local_shell_call") ? "local_shell" : "web_search", call,
                   json_object_get(item, "action"));
    } else if (ends(type, "_output")) {
        take_output(b, call, json_object_get(item, "output"));
    } else {
        return false;
    }
    return true;
}

/* --- event_msg --- */

static void take_exec_end(struct trace_build *b, const json_t *event) {
    const char *call = json_get_string(event, "call_id", NULL);
    const char *output = json_get_string(event, "aggregated_output", "");
    output = *output ? output : json_get_string(event, "formatted_output", "");
    output = *output ? output : json_get_string(event, "stdout", "");
    const json_t *code = json_object_get(event, "exit_code");
    if (!build_find(b, EVENT_CALL, call)) { /* a person's own command */
        build_call(b, "shell", call, event);
    }
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    e = e ? e : build_result(b, call, output, strlen(output));
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
}

static void take_patch_end(struct trace_build *b, const json_t *event) {
    const char *call = json_get_string(event, "call_id", NULL);
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    const char *key = json_get_bool(event, "success", 1) ? "stdout" : "stderr";
    const char *said = json_get_string(event, key, "");
    e = e ? e : build_result(b, call, said, strlen(said));
    if (!json_get_bool(event, "success", 1)) {
        build_failed(b, e);
    }
}

static void take_tokens(struct trace_build *b, const json_t *usage) {
    uint64_t in = build_count(usage, "input_tokens"),
             cached = build_count(usage, "cached_input_tokens");
    build_usage(b, in > cached ? in - cached : 0, build_count(usage, "output_tokens"));
}

static void say_tentative(struct trace_build *b, enum trace_event_kind kind,
                          const json_t *event, const char *key) {
    const char *s = json_get_string(event, key, "");
    b->mark.tentative = true;
    say(b, kind, s, strlen(s));
    b->mark.tentative = false;
}

/* Events that say nothing here, or what others say again. */
static const char *const silent_events[] = {"task_started",
                                            "task_complete",
                                            "exec_command_begin",
                                            "patch_apply_begin",
                                            "agent_reasoning_section_break",
                                            "turn_aborted",
                                            "turn_diff",
                                            "plan_update",
                                            "exec_command_output_delta",
                                            "session_configured",
                                            "agent_message_delta",
                                            "mcp_tool_call_begin",
                                            "mcp_tool_call_end",
                                            "web_search_begin",
                                            "web_search_end",
                                            "context_compacted",
                                            "agent_reasoning_raw_content",
                                            "background_event",
                                            "item_started",
                                            "item_completed",
                                            "turn_started",
                                            "turn_complete",
                                            "entered_review_mode",
                                            "exited_review_mode",
                                            "thread_name_updated",
                                            "warning",
                                            "stream_error",
                                            "token_count",
                                            "undo_completed",
                                            "view_image_tool_call",
                                            NULL};

static bool take_event(struct trace_build *b, const json_t *event) {
    const char *type = json_get_string(event, "type", "");
    if (is(type, "exec_command_end")) {
        take_exec_end(b, event);
    } else if (is(type, "patch_apply_end")) {
        take_patch_end(b, event);
    } else if (is(type, "user_message")) {
        say_tentative(b, EVENT_USER, event, "message");
    } else if (is(type, "agent_message")) {
        say_tentative(b, EVENT_SAY, event, "message");
    } else if (is(type, "agent_reasoning")) {
        say_tentative(b, EVENT_THINK, event, "text");
    } else if (is(type, "token_count")) {
        take_tokens(b,
                    json_object_get(json_object_get(event, "info"), "last_token_usage"));
    } else {
        return build_skip(b, type, silent_events);
    }
    return true;
}

/* --- codex exec --json --- */

static void take_command_item(struct trace_build *b, const json_t *item, bool done) {
    const char *call = json_get_string(item, "id", NULL);
    const char *output = json_get_string(item, "aggregated_output", "");
    const json_t *code = json_object_get(item, "exit_code");
    build_call(b, "command_execution", call, item);
    if (!done) {
        return;
    }
    struct trace_event *e = build_result(b, call, output, strlen(output));
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
    if (is(json_get_string(item, "status", ""), "failed")) {
        build_failed(b, e);
    }
}

static void take_change_item(struct trace_build *b, const json_t *item) {
    const char *call = json_get_string(item, "id", NULL);
    bool failed = is(json_get_string(item, "status", ""), "failed");
    size_t i;
    const json_t *change;
    json_array_foreach(json_object_get(item, "changes"), i, change) {
        const char *diff = json_get_string(change, "diff", NULL);
        bool gone = is(json_get_string(change, "kind", ""), "delete");
        diff = gone ? NULL : diff ? diff : ""; /* what changed is not told */
        struct trace_event *e =
            build_edit(b, call, "file_change", json_get_string(change, "path", NULL),
                       diff, diff ? strlen(diff) : 0, true);
        if (e) {
            e->is_error = failed;
        }
    }
}

static void take_mcp_item(struct trace_build *b, const json_t *item, bool done) {
    const char *call = json_get_string(item, "id", NULL);
    const json_t *result = json_object_get(item, "result"),
                 *error = json_object_get(item, "error");
    build_call(b, json_get_string(item, "tool", "mcp"), call,
               json_object_get(item, "arguments"));
    if (done && (result || error)) {
        const json_t *content = json_object_get(result, "content");
        struct trace_event *e = build_result_json(
            b, call, content ? content : json_object_get(error, "message"));
        if (json_is_object(error)) {
            build_failed(b, e);
        }
    }
}

static void take_error(struct trace_build *b, const json_t *error) {
    const char *message = json_get_string(error, "message", "");
    struct trace_event *e = build_result(b, NULL, message, strlen(message));
    build_failed(b, e);
}

static bool take_exec_item(struct trace_build *b, const json_t *item, bool done) {
    const char *type = json_get_string(item, "type", "");
    type = *type ? type : json_get_string(item, "item_type", "");
    if (is(type, "command_execution")) {
        take_command_item(b, item, done);
    } else if (is(type, "mcp_tool_call")) {
        take_mcp_item(b, item, done);
    } else if (!done) {
        b->trace->skipped++;
    } else if (is(type, "agent_message") || is(type, "assistant_message")) {
        say_json(b, EVENT_SAY, item);
    } else if (is(type, "user_message")) {
        say_json(b, EVENT_USER, item);
    } else if (is(type, "reasoning")) {
        say_json(b, EVENT_THINK, item);
    } else if (is(type, "file_change")) {
        take_change_item(b, item);
    } else if (is(type, "web_search")) {
        build_call(b, "web_search", json_get_string(item, "id", NULL), item);
    } else if (is(type, "error")) {
        take_error(b, item);
    } else {
        b->trace->skipped += is(type, "todo_list");
        return is(type, "todo_list");
    }
    return true;
}

static bool take_exec_record(struct trace_build *b, const char *type,
                             const json_t *record) {
    if (strncmp(type, "item.", 5) == 0) {
        return take_exec_item(b, json_object_get(record, "item"),
                              is(type, "item.completed"));
    }
    if (is(type, "turn.completed")) {
        take_tokens(b, json_object_get(record, "usage"));
    } else if (is(type, "turn.failed")) {
        take_error(b, json_object_get(record, "error"));
    } else if (is(type, "error")) {
        take_error(b, record);
    } else {
        b->trace->skipped++;
        return is(type, "thread.started") || is(type, "turn.started");
    }
    return true;
}

/* --- records --- */

static bool codex_record(struct trace_build *b, const char *key, json_t *record) {
    const char *type = json_get_string(record, "type", "");
    const json_t *payload = json_object_get(record, "payload");
    (void)key;
    build_name(&b->trace->harness, "codex");
    if (is(type, "session_meta") || is(type, "turn_context")) {
        build_name(&b->trace->cwd, json_get_string(payload, "cwd", NULL));
        build_name(&b->trace->model, json_get_string(payload, "model", NULL));
        b->trace->skipped++;
        return true;
    }
    if (is(type, "response_item")) {
        return take_item(b, payload);
    }
    if (is(type, "event_msg")) {
        return take_event(b, payload);
    }
    if (is(type, "compacted") || is(type, "world_state") ||
        json_object_get(record, "record_type") || (!*type && json_is_object(record))) {
        b->trace->skipped++;
        return true;
    }
    if (b->trace->format == TRACE_CODEX_EXEC) {
        return take_exec_record(b, type, record);
    }
    return take_item(b, record); /* rollouts of 2025 were not wrapped */
}

static bool is_not_tentative(void *data, const struct trace_event *e,
                             const struct trace_mark *m) {
    (void)data;
    (void)e;
    return !m->tentative;
}

static void codex_end(struct trace_build *b) {
    const struct codex *c = b->state;
    if (c->has_items) {
        build_filter(b, is_not_tentative, NULL);
    }
}

const struct trace_reader trace_codex = {
    .feed = FEED_LINES,
    .state_size = sizeof(struct codex),
    .record = codex_record,
    .end = codex_end,
};
