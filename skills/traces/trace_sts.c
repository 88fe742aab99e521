/* Pi's sessions and Hugging Face session traces (STS): a message per line. */
#include "base/buf.h"
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

struct sts {
    struct branch branch; /* Pi's tree */
};

static void take_user(struct trace_build *b, const json_t *content) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, content);
    envelope_strip(&plain, text.data, text.len);
    build_words(b, EVENT_USER, plain.data, plain.len);
}

/* Text, thinking and toolCall{id, name, arguments} blocks. */
static void take_blocks(struct trace_build *b, const json_t *content) {
    size_t i;
    const json_t *block;
    if (json_is_string(content)) {
        build_words_json(b, EVENT_SAY, content);
    }
    json_array_foreach(content, i, block) {
        const char *type = json_get_string(block, "type", "text");
        if (is(type, "toolCall")) {
            build_call(b, json_get_string(block, "name", ""),
                       json_get_string(block, "id", NULL),
                       json_object_get(block, "arguments"));
        } else if (is(type, "thinking")) {
            build_words_json(b, EVENT_THINK, json_object_get(block, "thinking"));
        } else {
            build_words_json(b, EVENT_SAY, block);
        }
    }
}

/* toolCalls: [{id, function: {name, arguments}}] */
static void take_calls(struct trace_build *b, const json_t *calls) {
    size_t i;
    const json_t *call;
    json_array_foreach(calls, i, call) {
        const json_t *function = json_object_get(call, "function");
        build_call(b, json_get_string(function, "name", ""),
                   json_get_string(call, "id", NULL),
                   json_object_get(function, "arguments"));
    }
}

static void take_assistant(struct trace_build *b, const json_t *message) {
    const json_t *usage = json_object_get(message, "usage");
    build_name(&b->trace->model, json_get_string(message, "model", NULL));
    build_words_json(b, EVENT_THINK, json_object_get(message, "reasoningContent"));
    take_blocks(b, json_object_get(message, "content"));
    take_calls(b, json_object_get(message, "toolCalls"));
    build_usage(b, build_count(usage, "input") + build_count(usage, "cacheWrite"),
                build_count(usage, "output"));
}

static void take_result(struct trace_build *b, const json_t *message) {
    const char *call = json_get_string(message, "toolCallId", NULL);
    struct trace_event *e =
        build_result_json(b, call, json_object_get(message, "content"));
    const json_t *details = json_object_get(message, "details");
    const json_t *code = json_object_get(details, "exitCode");
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    } else {
        build_exit_in_text(b, e);
    }
    if (json_get_bool(message, "isError", 0)) {
        build_failed(b, e);
    }
    const char *diff = json_get_string(details, "diff", NULL);
    struct trace_event *edit = build_find(b, EVENT_EDIT, call);
    if (diff && edit && edit->is_diff && strstr(diff, "@@")) {
        build_set_text(b, edit, diff, strlen(diff));
    }
}

/* {role: bashExecution, command, output, exitCode}: a person's own command. */
static void take_own_command(struct trace_build *b, const json_t *message) {
    const char *command = json_get_string(message, "command", "");
    const json_t *code = json_object_get(message, "exitCode");
    build_command(b, "bash", NULL, command);
    struct trace_event *e =
        build_result_json(b, NULL, json_object_get(message, "output"));
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    }
}

static bool take_message(struct trace_build *b, const json_t *message) {
    const char *role = json_get_string(message, "role", "");
    if (is(role, "user")) {
        take_user(b, json_object_get(message, "content"));
    } else if (is(role, "assistant")) {
        take_assistant(b, message);
    } else if (is(role, "toolResult") || is(role, "tool")) {
        take_result(b, message);
    } else if (is(role, "bashExecution")) {
        take_own_command(b, message);
    } else if (is(role, "system") || is(role, "developer") || is(role, "custom")) {
        b->trace->skipped++;
    } else {
        return false;
    }
    return true;
}

static void enter(struct trace_build *b, const json_t *record) {
    struct sts *s = b->state;
    const char *id = json_get_string(record, "id", NULL);
    struct branch_record r = {
        .id = branch_hash(id),
        .parent = branch_hash(json_get_string(record, "parentId", NULL)),
        .leaf = true,
        .prompt = true,
    };
    b->mark.record =
        id && json_object_get(record, "parentId") ? branch_add(&s->branch, &r) : 0;
}

static bool sts_record(struct trace_build *b, const char *key, json_t *record) {
    static const char *const known[] = {
        "model_change",   "thinking_level_change", "label",
        "compaction",     "branch_summary",        "custom",
        "custom_message", "session_info",          NULL};
    const char *type = json_get_string(record, "type", "");
    (void)key;
    if (is(type, "session")) {
        build_name(&b->trace->harness, json_get_string(record, "harness", NULL));
        build_name(&b->trace->cwd, json_get_string(record, "cwd", NULL));
        b->trace->skipped++;
        return true;
    }
    enter(b, record);
    if (is(type, "message")) {
        return take_message(b, json_object_get(record, "message"));
    }
    return build_skip(b, type, known);
}

static bool is_on_branch(void *data, const struct trace_event *e,
                         const struct trace_mark *m) {
    const struct branch *branch = data;
    (void)e;
    return !m->record || m->record > branch->count || branch->records[m->record - 1].kept;
}

static void sts_end(struct trace_build *b) {
    struct sts *s = b->state;
    build_name(&b->trace->harness, b->trace->format == TRACE_PI ? "pi" : NULL);
    if (branch_choose(&s->branch)) {
        build_filter(b, is_on_branch, &s->branch);
    }
    branch_finish(&s->branch);
}

const struct trace_reader trace_sts = {
    .feed = FEED_LINES,
    .state_size = sizeof(struct sts),
    .record = sts_record,
    .end = sts_end,
};
const struct trace_reader trace_pi = {
    .feed = FEED_LINES,
    .state_size = sizeof(struct sts),
    .record = sts_record,
    .end = sts_end,
};
