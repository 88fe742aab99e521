/* Dumps of chat messages, OpenAI's or Anthropic's: {messages: []}, a list, one per line,
 * a request with its response, or a conversation per line. */
#include "base/buf.h"
#include "base/mem.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <stdlib.h>
#include <string.h>

/* --- mini-SWE-agent: what the agent says ends in the command, in a block; the next turn
 * is what came of it --- */

#define RAN "<returncode>"

/* The last words' one block becomes a call. False when they have none. */
static bool call_in_words(struct trace_build *b) {
    struct trace *t = b->trace;
    struct trace_event *said = t->count ? &t->events[t->count - 1] : NULL;
    char *open = said && said->kind == EVENT_SAY ? strstr(said->text, "```bash\n") : NULL;
    char *close = open ? strstr(open + 8, "\n```") : NULL;
    if (!close) {
        return false;
    }
    autofree char *command = xstrndup(open + 8, (size_t)(close - (open + 8)));
    *open = '\0';
    said->text_len = (size_t)(open - said->text);
    build_command(b, "bash", NULL, command);
    return true;
}

static void take_ran(struct trace_build *b, const char *text) {
    const char *output = strstr(text, "<output>\n");
    output = output ? output + strlen("<output>\n") : strchr(text, '\n');
    const char *end = output ? strstr(output, "</output>") : NULL;
    size_t len = end ? (size_t)(end - output) : (output ? strlen(output) : 0);
    struct trace_event *e = build_result(b, NULL, output ? output : "", len);
    build_exit(b, e, atoi(text + strlen(RAN)));
}

/* --- messages --- */

static void take_user_text(struct trace_build *b, const json_t *content) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, content);
    if (strncmp(text.data, RAN, strlen(RAN)) == 0 && call_in_words(b)) {
        take_ran(b, text.data);
        return;
    }
    envelope_strip(&plain, text.data, text.len);
    build_words(b, EVENT_USER, plain.data, plain.len);
}

static void take_result(struct trace_build *b, const char *call, const json_t *content,
                        bool failed) {
    struct trace_event *e = build_result_json(b, call, content);
    build_exit_in_text(b, e);
    if (failed) {
        build_failed(b, e);
    }
}

/* Anthropic's blocks, and those of OpenAI's responses. */
static void take_block(struct trace_build *b, bool user, const json_t *block) {
    const char *type = json_get_string(block, "type", "text");
    if (is(type, "tool_use")) {
        build_call(b, json_get_string(block, "name", ""),
                   json_get_string(block, "id", NULL), json_object_get(block, "input"));
    } else if (is(type, "tool_result")) {
        take_result(b, json_get_string(block, "tool_use_id", NULL),
                    json_object_get(block, "content"),
                    json_get_bool(block, "is_error", 0));
    } else if (is(type, "thinking")) {
        build_words_json(b, EVENT_THINK, json_object_get(block, "thinking"));
    } else if (!json_is_string(json_object_get(block, "text"))) {
        b->trace->skipped++; /* pictures, files */
    } else if (user) {
        take_user_text(b, block);
    } else {
        build_words_json(b, EVENT_SAY, block);
    }
}

static void take_content(struct trace_build *b, bool user, const json_t *content) {
    size_t i;
    const json_t *block;
    if (json_is_string(content) && user) {
        take_user_text(b, content);
    } else if (json_is_string(content)) {
        build_words_json(b, EVENT_SAY, content);
    }
    json_array_foreach(content, i, block) {
        take_block(b, user, block);
    }
}

static void take_assistant(struct trace_build *b, const json_t *message) {
    size_t i;
    const json_t *call, *thought = json_object_get(message, "reasoning_content");
    build_words_json(b, EVENT_THINK,
                     thought ? thought : json_object_get(message, "reasoning"));
    take_content(b, false, json_object_get(message, "content"));
    json_array_foreach(json_object_get(message, "tool_calls"), i, call) {
        const json_t *function = json_object_get(call, "function");
        build_call(b, json_get_string(function, "name", ""),
                   json_get_string(call, "id", NULL),
                   json_object_get(function, "arguments"));
    }
}

static bool take_message(struct trace_build *b, const json_t *message) {
    const char *role = json_get_string(message, "role", "");
    if (is(role, "user")) {
        take_content(b, true, json_object_get(message, "content"));
    } else if (is(role, "assistant")) {
        take_assistant(b, message);
    } else if (is(role, "tool") || is(role, "function")) {
        take_result(b, json_get_string(message, "tool_call_id", NULL),
                    json_object_get(message, "content"), false);
    } else {
        b->trace->skipped++;
        return is(role, "system") || is(role, "developer");
    }
    return true;
}

static void take_usage(struct trace_build *b, const json_t *usage) {
    build_usage(
        b, build_count(usage, "input_tokens") + build_count(usage, "prompt_tokens"),
        build_count(usage, "output_tokens") + build_count(usage, "completion_tokens"));
}

/* The rest of a document: its model, and an answer that stands in it. */
static bool take_rest(struct trace_build *b, const json_t *rest) {
    const json_t *response = json_object_get(rest, "response");
    const json_t *answer = json_object_get(rest, "role") ? rest : response;
    build_name(&b->trace->model, json_get_string(rest, "model", NULL));
    if (json_object_get(answer, "role") && !take_message(b, answer)) {
        return false;
    }
    take_usage(b, json_object_get(answer ? answer : rest, "usage"));
    return true;
}

static bool messages_record(struct trace_build *b, const char *key, json_t *record) {
    if (!key) {
        return take_rest(b, record);
    }
    const json_t *inner = json_object_get(record, "message"); /* of choices */
    const json_t *nested = json_object_get(record, "messages"), *message;
    size_t i;
    json_array_foreach(nested, i, message) { /* a list of conversations */
        b->trace->unknown += !take_message(b, message);
    }
    return nested || take_message(b, json_is_object(inner) ? inner : record);
}

static bool messages_line(struct trace_build *b, const char *key, json_t *record) {
    (void)key;
    return messages_record(b, "", record);
}

static const char *const messages_keys[] = {"messages", "choices", NULL};

const struct trace_reader trace_messages = {
    .feed = FEED_ELEMENTS,
    .keys = messages_keys,
    .depth = 2,
    .record = messages_record,
};
const struct trace_reader trace_messages_lines = {
    .feed = FEED_LINES,
    .record = messages_line,
};
