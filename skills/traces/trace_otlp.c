/* OpenTelemetry spans of generative AI, as OTLP/JSON:
 * resourceSpans[].scopeSpans[].spans[].
 *
 * Spans come as they ended, so they are put in order of their start. A chat span repeats
 * the conversation so far: of its input only what is behind the last known message is
 * new. */
#include "base/buf.h"
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

struct otlp {
    struct branch said; /* a set of hashes of messages */
};

/* --- attributes --- */

static const json_t *attribute(const json_t *span, const char *name) {
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(span, "attributes"), i, one) {
        if (is(json_get_string(one, "key", ""), name)) {
            return json_object_get(one, "value");
        }
    }
    return NULL;
}

static const char *text_attribute(const json_t *span, const char *name) {
    return json_get_string(attribute(span, name), "stringValue", NULL);
}

/* 64-bit numbers are strings in OTLP/JSON. */
static uint64_t count_attribute(const json_t *span, const char *name) {
    const json_t *value = attribute(span, name);
    const char *s = json_get_string(value, "intValue", NULL);
    return s ? strtoull(s, NULL, 10) : build_count(value, "intValue");
}

/* AnyValue {arrayValue: {values}}, {kvlistValue: {values}} … as plain JSON. */
static json_t *plain_value(const json_t *any, unsigned depth) {
    const json_t *list = json_object_get(json_object_get(any, "arrayValue"), "values");
    const json_t *map = json_object_get(json_object_get(any, "kvlistValue"), "values");
    const json_t *one;
    size_t i;
    if (depth > 32) {
        return json_null();
    }
    if (json_is_array(list)) {
        json_t *array = json_array();
        json_array_foreach(list, i, one) {
            json_array_append_new(array, plain_value(one, depth + 1));
        }
        return array;
    }
    if (json_is_array(map)) {
        json_t *object = json_object();
        json_array_foreach(map, i, one) {
            json_object_set_new(object, json_get_string(one, "key", ""),
                                plain_value(json_object_get(one, "value"), depth + 1));
        }
        return object;
    }
    const json_t *scalar =
        json_object_iter_value(json_object_iter((json_t *)(uintptr_t)any));
    return scalar ? json_incref((json_t *)(uintptr_t)scalar) : json_null();
}

/* New reference: the attribute as JSON, whether it holds JSON text or a structure. */
static json_t *json_attribute(const json_t *span, const char *name) {
    const json_t *value = attribute(span, name);
    const char *s = json_get_string(value, "stringValue", NULL);
    if (!s) {
        return value ? plain_value(value, 0) : NULL;
    }
    autofree char *copy = xstrdup(s);
    json_t *parsed =
        strchr("[{", s[strspn(s, " \n")]) ? json_parse(copy, strlen(copy), NULL) : NULL;
    return parsed ? parsed : json_text(s, strlen(s));
}

/* --- messages --- */

static bool is_new(struct trace_build *b, const json_t *message) {
    struct otlp *o = b->state;
    autofree char *text = json_dumps(message, JSON_COMPACT | JSON_SORT_KEYS);
    struct branch_record r = {.id = branch_hash(text)};
    return !text || branch_add(&o->said, &r) != 0;
}

static void take_response(struct trace_build *b, const json_t *part) {
    const char *call = json_get_string(part, "id", NULL);
    const json_t *response = json_object_get(part, "response");
    response = response ? response : json_object_get(part, "result");
    if (build_find(b, EVENT_RESULT, call)) {
        return;
    }
    build_exit_in_text(b, build_result_json(b, call, response));
}

static void take_part(struct trace_build *b, bool user, const json_t *part) {
    const char *type = json_get_string(part, "type", "text");
    const json_t *content = json_object_get(part, "content");
    if (is(type, "tool_call")) {
        build_call(b, json_get_string(part, "name", ""),
                   json_get_string(part, "id", NULL), json_object_get(part, "arguments"));
    } else if (is(type, "tool_call_response")) {
        take_response(b, part);
    } else if (is(type, "reasoning")) {
        build_words_json(b, EVENT_THINK, content);
    } else if (!user) {
        build_words_json(b, EVENT_SAY, content);
    } else {
        autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD),
                plain = BUF_INIT(2 * TRACE_MAX_RECORD);
        content_text(&text, content);
        envelope_strip(&plain, text.data, text.len);
        build_words(b, EVENT_USER, plain.data, plain.len);
    }
}

static void take_messages(struct trace_build *b, const json_t *messages) {
    size_t i, j;
    const json_t *message, *part;
    json_array_foreach(messages, i, message) {
        const char *role = json_get_string(message, "role", "");
        autojson *said =
            json_pack("{s:O*, s:O*}", "role", json_object_get(message, "role"), "parts",
                      json_object_get(message, "parts"));
        if (is(role, "system") || !is_new(b, said ? said : message)) {
            b->trace->skipped++;
            continue;
        }
        json_array_foreach(json_object_get(message, "parts"), j, part) {
            take_part(b, is(role, "user"), part);
        }
    }
}

/* --- spans --- */

static void take_chat(struct trace_build *b, const json_t *span) {
    autojson *input = json_attribute(span, "gen_ai.input.messages"),
             *output = json_attribute(span, "gen_ai.output.messages");
    build_name(&b->trace->model, text_attribute(span, "gen_ai.request.model"));
    take_messages(b, input);
    take_messages(b, output);
    build_usage(b, count_attribute(span, "gen_ai.usage.input_tokens"),
                count_attribute(span, "gen_ai.usage.output_tokens"));
}

static bool is_failed(const json_t *span) {
    const json_t *code = json_object_get(json_object_get(span, "status"), "code");
    return json_integer_value(code) == 2 ||
           (json_is_string(code) && is(json_string_value(code), "STATUS_CODE_ERROR")) ||
           text_attribute(span, "error.type");
}

static void take_tool(struct trace_build *b, const json_t *span) {
    const char *call = text_attribute(span, "gen_ai.tool.call.id");
    autojson *input = json_attribute(span, "gen_ai.tool.call.arguments"),
             *result = json_attribute(span, "gen_ai.tool.call.result");
    const char *said = json_get_string(json_object_get(span, "status"), "message", "");
    build_call(b, text_attribute(span, "gen_ai.tool.name"), call, input);
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    if (!e && result) {
        e = build_result_json(b, call, result);
    } else if (!e) {
        e = build_result(b, call, said, strlen(said));
    }
    build_exit_in_text(b, e);
    if (is_failed(span)) {
        build_failed(b, e);
    }
}

static bool otlp_record(struct trace_build *b, const char *key, json_t *record) {
    const char *operation = text_attribute(record, "gen_ai.operation.name");
    operation = operation ? operation : "";
    if (!key) {
        b->trace->skipped++;
        return true;
    }
    build_name(&b->trace->harness, text_attribute(record, "gen_ai.agent.name"));
    if (is(operation, "chat") || is(operation, "generate_content") ||
        is(operation, "text_completion")) {
        take_chat(b, record);
    } else if (is(operation, "execute_tool")) {
        take_tool(b, record);
    } else {
        b->trace->skipped++;
        return is(operation, "invoke_agent") || is(operation, "create_agent") ||
               is(operation, "invoke_workflow") || !*operation;
    }
    return true;
}

static void otlp_end(struct trace_build *b) {
    struct otlp *o = b->state;
    branch_finish(&o->said);
}

static const char *const otlp_keys[] = {"spans", NULL};

const struct trace_reader trace_otlp = {
    .feed = FEED_ELEMENTS,
    .state_size = sizeof(struct otlp),
    .keys = otlp_keys,
    .depth = 8,
    .record = otlp_record,
    .end = otlp_end,
};
