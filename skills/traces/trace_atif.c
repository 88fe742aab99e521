/* ATIF, Harbor's trajectories: {schema_version, agent, steps: [{source, message,
 * reasoning_content, tool_calls, observation, metrics}]}. Sub-agents' are left out. */
#include "base/buf.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

static void take_observation(struct trace_build *b, const json_t *step) {
    const json_t *calls = json_object_get(step, "tool_calls"), *result;
    const json_t *results =
        json_object_get(json_object_get(step, "observation"), "results");
    size_t i;
    json_array_foreach(results, i, result) {
        const char *call = json_get_string(result, "source_call_id", NULL);
        const json_t *same = json_array_get(calls, i); /* by place when it has no name */
        call = call ? call : json_get_string(same, "tool_call_id", NULL);
        struct trace_event *e =
            build_result_json(b, call, json_object_get(result, "content"));
        const json_t *extra = json_object_get(result, "extra");
        const json_t *code = json_object_get(extra, "exit_code");
        if (json_is_integer(code)) {
            build_exit(b, e, (int)json_integer_value(code));
        } else {
            build_exit_in_text(b, e);
        }
        if (json_get_bool(extra, "is_error", 0)) {
            build_failed(b, e);
        }
    }
}

static void take_agent(struct trace_build *b, const json_t *step) {
    size_t i;
    const json_t *call, *metrics = json_object_get(step, "metrics");
    build_name(&b->trace->model, json_get_string(step, "model_name", NULL));
    build_words_json(b, EVENT_THINK, json_object_get(step, "reasoning_content"));
    build_words_json(b, EVENT_SAY, json_object_get(step, "message"));
    json_array_foreach(json_object_get(step, "tool_calls"), i, call) {
        build_call(b, json_get_string(call, "function_name", ""),
                   json_get_string(call, "tool_call_id", NULL),
                   json_object_get(call, "arguments"));
    }
    take_observation(b, step);
    uint64_t in = build_count(metrics, "prompt_tokens"),
             cached = build_count(metrics, "cached_tokens");
    build_usage(b, in > cached ? in - cached : 0,
                build_count(metrics, "completion_tokens"));
}

static bool take_step(struct trace_build *b, const json_t *step) {
    const char *source = json_get_string(step, "source", "");
    if (strcmp(source, "agent") == 0) {
        take_agent(b, step);
        return true;
    }
    if (strcmp(source, "user") == 0) {
        autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD),
                plain = BUF_INIT(2 * TRACE_MAX_RECORD);
        content_text(&text, json_object_get(step, "message"));
        envelope_strip(&plain, text.data, text.len);
        build_words(b, EVENT_USER, plain.data, plain.len);
        return true;
    }
    b->trace->skipped++;
    return strcmp(source, "system") == 0;
}

static bool atif_record(struct trace_build *b, const char *key, json_t *record) {
    if (key) {
        return take_step(b, record);
    }
    const json_t *agent = json_object_get(record, "agent");
    build_name(&b->trace->harness, json_get_string(agent, "name", NULL));
    build_name(&b->trace->model, json_get_string(agent, "model_name", NULL));
    b->trace->skipped +=
        1 + json_array_size(json_object_get(record, "subagent_trajectories"));
    return true;
}

static const char *const atif_keys[] = {"steps", NULL};

const struct trace_reader trace_atif = {
    .feed = FEED_ELEMENTS,
    .keys = atif_keys,
    .depth = 1,
    .record = atif_record,
};
