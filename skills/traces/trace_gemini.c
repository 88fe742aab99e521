/* Gemini CLI: saved chats ({sessionId, messages[]}, newer ones a record per line),
 * checkpoints (a list of {role, parts[]}) and `--output-format stream-json`. */
#include "base/buf.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <stdio.h>
#include <string.h>

struct gemini {
    struct buf said; /* pieces of one message of a stream */
    uint64_t said_line;
    unsigned calls, results; /* checkpoints have no ids: in order */
};

static void take_user(struct trace_build *b, const json_t *content) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, content);
    envelope_strip(&plain, text.data, text.len);
    build_words(b, EVENT_USER, plain.data, plain.len);
}

/* --- saved chats --- */

/* {response: {output | error}} or any words. */
static struct trace_event *take_response(struct trace_build *b, const char *call,
                                         const json_t *response) {
    const json_t *error = json_object_get(response, "error");
    const json_t *output = json_object_get(response, "output");
    struct trace_event *e = build_result_json(b, call, error ? error : output);
    if (error) {
        build_failed(b, e);
    }
    build_exit_in_text(b, e);
    return e;
}

static void take_tool_call(struct trace_build *b, const json_t *tool) {
    const char *call = json_get_string(tool, "id", NULL);
    const char *status = json_get_string(tool, "status", "");
    const json_t *result = json_object_get(tool, "result");
    const json_t *response = json_object_get(
        json_object_get(json_array_get(result, 0), "functionResponse"), "response");
    struct trace_event *e;
    build_call(b, json_get_string(tool, "name", ""), call, json_object_get(tool, "args"));
    if (response) {
        e = take_response(b, call, response);
    } else {
        const json_t *shown = json_object_get(tool, "resultDisplay");
        e = build_result_json(b, call,
                              result && json_array_size(result) ? result : shown);
    }
    if (is(status, "error") || is(status, "cancelled")) {
        build_failed(b, e);
    }
}

static void take_gemini(struct trace_build *b, const json_t *message) {
    const json_t *tokens = json_object_get(message, "tokens"), *one;
    size_t i;
    build_name(&b->trace->model, json_get_string(message, "model", NULL));
    json_array_foreach(json_object_get(message, "thoughts"), i, one) {
        const char *words = json_get_string(one, "description", "");
        build_words(b, EVENT_THINK, words, strlen(words));
    }
    build_words_json(b, EVENT_SAY, json_object_get(message, "content"));
    json_array_foreach(json_object_get(message, "toolCalls"), i, one) {
        take_tool_call(b, one);
    }
    uint64_t in = build_count(tokens, "input"), cached = build_count(tokens, "cached");
    build_usage(b, in > cached ? in - cached : 0,
                build_count(tokens, "output") + build_count(tokens, "thoughts"));
}

/* --- checkpoints --- */

static const char *numbered(const json_t *part, unsigned *count, char out[static 24]) {
    snprintf(out, 24, "call-%u", ++*count);
    return json_get_string(part, "id", out);
}

static void take_parts(struct trace_build *b, const json_t *message) {
    struct gemini *g = b->state;
    bool user = is(json_get_string(message, "role", ""), "user");
    size_t i;
    const json_t *part;
    json_array_foreach(json_object_get(message, "parts"), i, part) {
        const json_t *call = json_object_get(part, "functionCall"),
                     *response = json_object_get(part, "functionResponse");
        char id[24];
        if (call) {
            build_call(b, json_get_string(call, "name", ""),
                       numbered(call, &g->calls, id), json_object_get(call, "args"));
        } else if (response) {
            take_response(b, numbered(response, &g->results, id),
                          json_object_get(response, "response"));
        } else if (user) {
            take_user(b, json_object_get(part, "text"));
        } else {
            build_words_json(b,
                             json_get_bool(part, "thought", 0) ? EVENT_THINK : EVENT_SAY,
                             json_object_get(part, "text"));
        }
    }
}

static bool gemini_record(struct trace_build *b, const char *key, json_t *record) {
    const char *type = json_get_string(record, "type", "");
    (void)key;
    build_name(&b->trace->harness, "gemini-cli");
    if (json_object_get(record, "parts")) {
        take_parts(b, record);
    } else if (is(type, "user")) {
        take_user(b, json_object_get(record, "content"));
    } else if (is(type, "gemini")) {
        take_gemini(b, record);
    } else {
        bool known = is(type, "info") || is(type, "error") || is(type, "warning") ||
                     json_object_get(record, "sessionId") ||
                     json_object_get(record, "$set");
        b->trace->skipped += known;
        return known;
    }
    return true;
}

/* --- the stream --- */

static void end_said(struct trace_build *b, struct gemini *g) {
    uint64_t line = b->line;
    b->line = g->said_line;
    build_words(b, EVENT_SAY, g->said.data, g->said.len);
    b->line = line;
    buf_reset(&g->said);
}

static void take_stream_message(struct trace_build *b, struct gemini *g,
                                const json_t *record) {
    const char *content = json_get_string(record, "content", "");
    if (is(json_get_string(record, "role", ""), "user")) {
        take_user(b, json_object_get(record, "content"));
        return;
    }
    g->said_line = g->said.len ? g->said_line : b->line;
    buf_adds(&g->said, content);
    if (!json_get_bool(record, "delta", 0)) {
        end_said(b, g);
    }
}

static void take_stream_result(struct trace_build *b, const json_t *record) {
    const json_t *error = json_object_get(record, "error");
    const json_t *output = json_object_get(record, "output");
    const json_t *words = json_object_get(error, "message");
    struct trace_event *e = build_result_json(b, json_get_string(record, "tool_id", NULL),
                                              output ? output : words);
    build_exit_in_text(b, e);
    if (is(json_get_string(record, "status", ""), "error")) {
        build_failed(b, e);
    }
}

static bool gemini_line(struct trace_build *b, const char *key, json_t *record) {
    struct gemini *g = b->state;
    const char *type = json_get_string(record, "type", "");
    g->said.data = g->said.max ? g->said.data : buf_empty;
    g->said.max = TRACE_MAX_RECORD;
    if (!is(type, "message")) {
        end_said(b, g);
    }
    if (is(type, "init")) {
        build_name(&b->trace->model, json_get_string(record, "model", NULL));
        b->trace->skipped++;
    } else if (is(type, "message") && json_object_get(record, "role")) {
        take_stream_message(b, g, record);
    } else if (is(type, "tool_use")) {
        build_call(b, json_get_string(record, "tool_name", ""),
                   json_get_string(record, "tool_id", NULL),
                   json_object_get(record, "parameters"));
    } else if (is(type, "tool_result")) {
        take_stream_result(b, record);
    } else if (is(type, "result")) {
        const json_t *stats = json_object_get(record, "stats");
        build_usage(b, build_count(stats, "input_tokens"),
                    build_count(stats, "output_tokens"));
    } else {
        return gemini_record(b, key, record);
    }
    build_name(&b->trace->harness, "gemini-cli");
    return true;
}

static void gemini_end(struct trace_build *b) {
    struct gemini *g = b->state;
    if (g->said.max) {
        end_said(b, g);
        buf_finish(&g->said);
    }
}

static const char *const gemini_keys[] = {"messages", NULL};

const struct trace_reader trace_gemini = {
    .feed = FEED_ELEMENTS,
    .state_size = sizeof(struct gemini),
    .keys = gemini_keys,
    .depth = 1,
    .record = gemini_record,
};
const struct trace_reader trace_gemini_lines = {
    .feed = FEED_LINES,
    .state_size = sizeof(struct gemini),
    .record = gemini_line,
    .end = gemini_end,
};
