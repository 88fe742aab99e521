/* OpenTelemetry spans of generative AI, as OTLP/JSON:
 * resourceSpans[].scopeSpans[].spans[].
 *
 * Spans come as they ended, so they are put in order of their start. A chat span repeats
 * the conversation so far: of its input only what is behind the last known message is
 * new. */
#include "base/find.h"
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

/* --- attributes --- */

/* AnyValue {arrayValue: {values}}, {kvlistValue: {values}} … as plain JSON. */
static json_t *plain_value(const json_t *any, unsigned depth) {
    const json_t *list = json_object_get(json_object_get(any, "arrayValue"), "values");
    const json_t *map = json_object_get(json_object_get(any, "kvlistValue"), "values");
    if (depth > 32) {
        return json_null();
    }
    if (json_is_array(list)) {
        return json_map(list, one, plain_value(one, depth + 1));
    }
    if (json_is_array(map)) {
        json_t *object = json_object();
        json_each(map, i, one) {
            json_object_set_new(object, json_get_string(one, "key", ""),
                                plain_value(json_object_get(one, "value"), depth + 1));
        }
        return object;
    }
    const json_t *scalar =
        json_object_iter_value(json_object_iter((json_t *)(uintptr_t)any));
    return scalar ? json_incref((json_t *)(uintptr_t)scalar) : json_null();
}

/* JSON in a text, as what it says; 64-bit numbers are strings in OTLP/JSON. */
static json_t *attribute_value(const char *name, const json_t *any) {
    static const char *const in_texts[] = {
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result"};
    const char *count = json_get_string(any, "intValue", NULL);
    const char *s = json_get_string(any, "stringValue", NULL);
    bool holds_json = s && strchr("[{", s[strspn(s, " \n")]) &&
                      any_of(i, 0, ARRAY_LEN(in_texts), is(name, in_texts[i]));
    autofree char *copy = holds_json ? xstrdup(s) : NULL;
    json_t *parsed = copy ? json_parse(copy, strlen(copy), NULL) : NULL;
    return parsed  ? parsed
           : count ? json_integer((json_int_t)strtoull(count, NULL, 10))
                   : plain_value(any, 0);
}

/* {name: value}; of one that stands twice the first counts. */
static json_t *attributes_of(const json_t *span) {
    json_t *attributes = json_object();
    json_each(json_object_get(span, "attributes"), i, one) {
        const char *name = json_get_string(one, "key", "");
        const json_t *value = json_object_get(one, "value");
        if (value && !json_object_get(attributes, name)) {
            json_object_set_new(attributes, name, attribute_value(name, value));
        }
    }
    return attributes;
}

/* --- messages --- */

/* b->state: a set of hashes of messages. */
static bool is_new(struct trace_build *b, const json_t *message) {
    autofree char *text = json_dumps(message, JSON_COMPACT | JSON_SORT_KEYS);
    struct branch_record r = {.id = branch_hash(text)};
    return !text || branch_add(b->state, &r) != 0;
}

static void take_answer(struct trace_build *b, const struct trace_node *part) {
    const char *call = trace_rules_text(part, "id");
    if (!build_find(b, EVENT_RESULT, call)) {
        build_exit_in_text(
            b, build_result_json(b, call, trace_rules_get(part, "response,result")));
    }
}

static void take_messages(struct trace_build *b, const json_t *messages) {
    static const struct trace_node none;
    json_each(messages, i, message) {
        const json_t *role = json_object_get(message, "role");
        const json_t *parts = json_object_get(message, "parts");
        autojson *said = json_pack("{s:O*, s:O*}", "role", role, "parts", parts);
        if (is(json_is_string(role) ? json_string_value(role) : "", "system") ||
            !is_new(b, said ? said : message)) {
            continue;
        }
        const struct trace_node up = {message, &none, i};
        json_each(parts, j, part) {
            const struct trace_node node = {part, &up, j};
            trace_rules_take(b, "otlp-part", &node);
        }
    }
}

static void take_chat(struct trace_build *b, const struct trace_node *span) {
    take_messages(b, trace_rules_get(span, "gen_ai.input.messages"));
    take_messages(b, trace_rules_get(span, "gen_ai.output.messages"));
}

/* --- spans --- */

static bool is_failed(const struct trace_node *span) {
    const json_t *code = trace_rules_get(span, "^status/code");
    return json_integer_value(code) == 2 ||
           trace_rules_hold(span, "^status/code=STATUS_CODE_ERROR") ||
           trace_rules_text(span, "error.type");
}

static void take_tool(struct trace_build *b, const struct trace_node *span) {
    const char *call = trace_rules_text(span, "gen_ai.tool.call.id");
    build_call(b, trace_rules_text(span, "gen_ai.tool.name"), call,
               trace_rules_get(span, "gen_ai.tool.call.arguments"));
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    e = e ? e
          : build_result_json(
                b, call,
                trace_rules_get(span, "gen_ai.tool.call.result,^status/message"));
    build_exit_in_text(b, e);
    if (is_failed(span)) {
        build_failed(b, e);
    }
}

static void take_span(struct trace_build *b, const struct trace_node *span) {
    autojson *attributes = attributes_of(span->value);
    const struct trace_node node = {attributes, span, 0};
    trace_rules_take(b, "otlp-span", &node);
}

static void otlp_end(struct trace_build *b) {
    branch_finish(b->state);
}

const struct trace_hooks trace_otlp = {
    .state_size = sizeof(struct branch),
    .end = otlp_end,
    .odd = (const struct trace_odd[]){{"span", take_span},
                                      {"messages", take_chat},
                                      {"tool", take_tool},
                                      {"answer", take_answer},
                                      {0}},
};
