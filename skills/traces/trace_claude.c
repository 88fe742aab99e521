/* Claude Code: session JSONL, and what `claude -p --output-format stream-json` prints;
 * Cursor's stream, which is alike. */
#include "base/buf.h"
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

struct claude {
    struct branch branch;
    bool any_main;     /* a record that is no sub-agent's */
    uint64_t last;     /* hash of the last record's id that is none */
    uint64_t usage_of; /* hash of the message id whose usage is in the event … */
    unsigned usage_moved;
    uint32_t usage_at; /* … with this index + 1 */
};

static const char *type_of(const json_t *value) {
    return json_get_string(value, "type", "");
}

/* --- the tree --- */

static const char *first_call_answered(const json_t *record) {
    const json_t *content =
        json_object_get(json_object_get(record, "message"), "content");
    return json_get_string(json_array_get(content, 0), "tool_use_id", NULL);
}

/* Registers the record. False: it was there already. */
static bool enter(struct trace_build *b, const json_t *record) {
    struct claude *c = b->state;
    const char *type = type_of(record);
    const char *uuid = json_get_string(record, "uuid", NULL);
    const char *parent = json_get_string(record, "parentUuid", NULL);
    parent = parent ? parent : json_get_string(record, "logicalParentUuid", NULL);
    bool said = is(type, "user") || is(type, "assistant");
    bool side = json_get_bool(record, "isSidechain", 0) ||
                json_get_string(record, "parent_tool_use_id", NULL);
    bool prompt = is(type, "user") && !first_call_answered(record) &&
                  !json_get_bool(record, "isMeta", 0);
    const char *message = json_get_string(json_object_get(record, "message"), "id", NULL);
    b->mark = (struct trace_mark){.side = side};
    c->any_main = c->any_main || (said && !side);
    if (!uuid || !json_object_get(record, "parentUuid")) {
        return true;
    }
    /* What a program notes without a parent (a compaction) goes on from what was before.
     */
    struct branch_record r = {
        .id = branch_hash(uuid),
        .parent = parent || said || side ? branch_hash(parent) : c->last,
        .group = is(type, "assistant") ? (uint32_t)branch_hash(message) : 0,
        .call = first_call_answered(record) != NULL,
        .leaf = said && !side,
        .prompt = prompt,
    };
    bool answers = is(type, "assistant") || r.call;
    c->branch.loose = c->branch.loose || (answers && !side && !parent);
    c->last = side ? c->last : r.id;
    b->mark.record = branch_add(&c->branch, &r);
    return b->mark.record != 0;
}

static bool is_on_branch(void *data, const struct trace_event *e,
                         const struct trace_mark *m) {
    const struct branch *branch = data;
    (void)e;
    return m->side || !m->record || m->record > branch->count ||
           branch->records[m->record - 1].kept;
}

static bool is_no_order_to_agent(void *data, const struct trace_event *e,
                                 const struct trace_mark *m) {
    (void)data;
    return !(m->side && e->kind == EVENT_USER);
}

static void claude_end(struct trace_build *b) {
    struct claude *c = b->state;
    bool cursor = b->trace->format == TRACE_CURSOR_STREAM;
    build_name(&b->trace->harness, cursor ? "cursor" : "claude-code");
    if (branch_choose(&c->branch)) {
        build_filter(b, is_on_branch, &c->branch);
    }
    if (c->any_main) { /* what a sub-agent is told is the agent's word, not a person's */
        build_filter(b, is_no_order_to_agent, NULL);
    }
    branch_finish(&c->branch);
}

/* --- results --- */

/* {stdout, stderr} of a command when the answer itself is empty. */
static void output_text(struct buf *out, const json_t *result) {
    static const char *const keys[] = {"stdout", "stderr", "output", "content"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const char *s = json_get_string(result, keys[i], "");
        if (*s) {
            buf_adds(out, out->len ? "\n" : "");
            buf_adds(out, s);
        }
    }
}

/* [{oldStart, oldLines, newStart, newLines, lines[]} …] as a unified diff. */
static void patch_text(struct buf *out, const json_t *hunks) {
    size_t i, j;
    const json_t *hunk, *line;
    json_array_foreach(hunks, i, hunk) {
        buf_addf(out, "@@ -%llu,%llu +%llu,%llu @@\n",
                 (unsigned long long)build_count(hunk, "oldStart"),
                 (unsigned long long)build_count(hunk, "oldLines"),
                 (unsigned long long)build_count(hunk, "newStart"),
                 (unsigned long long)build_count(hunk, "newLines"));
        json_array_foreach(json_object_get(hunk, "lines"), j, line) {
            buf_adds(out, json_is_string(line) ? json_string_value(line) : "");
            buf_addc(out, '\n');
        }
    }
}

/* The real diff takes the place of one made of the call's strings. */
static void refine_edit(struct trace_build *b, const char *call, const json_t *result) {
    const json_t *hunks = json_object_get(result, "structuredPatch");
    struct trace_event *edit = build_find(b, EVENT_EDIT, call);
    if (!edit || !edit->is_diff || json_array_size(hunks) == 0) {
        return;
    }
    autobuf diff = BUF_INIT(2 * TRACE_MAX_RECORD);
    patch_text(&diff, hunks);
    build_set_text(b, edit, diff.data, diff.len);
}

/* "… the user said:\nUse tabs": a refused step with a person's words. */
static void take_refusal(struct trace_build *b, const struct trace_event *e) {
    static const char mark[] = "the user said:\n";
    const char *said = e && e->is_error && e->text ? strstr(e->text, mark) : NULL;
    if (said) {
        autofree char *copy = xstrdup(said + sizeof mark - 1);
        build_words(b, EVENT_USER, copy, strlen(copy));
    }
}

static void take_result(struct trace_build *b, const json_t *block,
                        const json_t *result) {
    const char *call = json_get_string(block, "tool_use_id", NULL);
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    if (build_find(b, EVENT_RESULT, call)) {
        b->trace->skipped++;
        return;
    }
    content_text(&text, json_object_get(block, "content"));
    envelope_strip(&plain, text.data, text.len);
    if (plain.len == 0) {
        output_text(&plain, result);
    }
    struct trace_event *e = build_result(b, call, plain.data, plain.len);
    if (json_get_bool(block, "is_error", 0) || json_get_bool(result, "interrupted", 0)) {
        build_failed(b, e);
    }
    const json_t *code = json_object_get(result, "exitCode");
    if (json_is_integer(code)) {
        build_exit(b, e, (int)json_integer_value(code));
    } else if (json_get_bool(block, "is_error", 0)) {
        build_exit_in_text(b, e);
    }
    refine_edit(b, call, result);
    take_refusal(b, e);
}

/* --- messages --- */

static void take_prompt(struct trace_build *b, const json_t *record, const char *s,
                        size_t len) {
    autobuf plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    envelope_strip(&plain, s, len);
    struct trace_event *e = build_words(b, EVENT_USER, plain.data, plain.len);
    if (e) {
        build_set(b, &e->id, json_get_string(record, "uuid", NULL));
    } else {
        b->trace->skipped++;
    }
}

static void take_user(struct trace_build *b, const json_t *record) {
    const json_t *content =
        json_object_get(json_object_get(record, "message"), "content");
    const json_t *result = json_object_get(record, "toolUseResult"), *block;
    result = result ? result : json_object_get(record, "tool_use_result");
    size_t i;
    if (json_get_bool(record, "isMeta", 0) ||
        json_get_bool(record, "isCompactSummary", 0)) {
        b->trace->skipped++;
        return;
    }
    if (json_is_string(content)) {
        take_prompt(b, record, json_string_value(content), json_string_length(content));
    }
    json_array_foreach(content, i, block) {
        const json_t *text = json_object_get(block, "text");
        if (is(type_of(block), "tool_result")) {
            take_result(b, block, result);
        } else if (json_is_string(text)) {
            take_prompt(b, record, json_string_value(text), json_string_length(text));
        } else {
            b->trace->skipped++;
        }
    }
}

/* One message comes in several lines, each with the usage so far. */
static void take_usage(struct trace_build *b, const json_t *message) {
    struct claude *c = b->state;
    const json_t *usage = json_object_get(message, "usage");
    uint64_t id = branch_hash(json_get_string(message, "id", NULL));
    uint64_t in = build_count(usage, "input_tokens") +
                  build_count(usage, "cache_creation_input_tokens");
    uint64_t out = build_count(usage, "output_tokens");
    if (id && id == c->usage_of && c->usage_moved == b->moved) {
        struct trace_event *e = &b->trace->events[c->usage_at - 1];
        e->input_tokens = in > e->input_tokens ? in : e->input_tokens;
        e->output_tokens = out > e->output_tokens ? out : e->output_tokens;
        return;
    }
    size_t before = b->trace->count;
    build_usage(b, in, out);
    if (b->trace->count > before) {
        c->usage_of = id;
        c->usage_moved = b->moved;
        c->usage_at = (uint32_t)b->trace->count;
    }
}

static bool is_said_already(const struct trace_build *b, enum trace_event_kind kind,
                            uint32_t group, const char *s) {
    for (size_t i = b->trace->count; group && i && b->trace->count - i < 16; i--) {
        const struct trace_event *e = &b->trace->events[i - 1];
        if (b->marks[i - 1].group == group && e->kind == kind && e->text &&
            strcmp(e->text, s) == 0) {
            return true;
        }
    }
    return false;
}

static void take_words(struct trace_build *b, const json_t *record,
                       enum trace_event_kind kind, const json_t *text) {
    const char *s = json_string_value(text);
    if (!s || is_said_already(b, kind, b->mark.group, s)) {
        b->trace->skipped++;
        return;
    }
    struct trace_event *e = build_words(b, kind, s, json_string_length(text));
    if (e) {
        build_set(b, &e->id, json_get_string(record, "uuid", NULL));
    }
}

static void take_assistant_block(struct trace_build *b, const json_t *record,
                                 const json_t *block) {
    const char *type = type_of(block);
    size_t len = strlen(type);
    if (is(type, "text")) {
        take_words(b, record, EVENT_SAY, json_object_get(block, "text"));
    } else if (is(type, "thinking")) {
        take_words(b, record, EVENT_THINK, json_object_get(block, "thinking"));
    } else if (len >= 8 && is(type + len - 8, "tool_use")) { /* server_tool_use too */
        struct trace_event *e = build_call(b, json_get_string(block, "name", ""),
                                           json_get_string(block, "id", NULL),
                                           json_object_get(block, "input"));
        if (e) {
            build_set(b, &e->id, json_get_string(record, "uuid", NULL));
        }
    } else if (len >= 11 && is(type + len - 11, "tool_result")) {
        take_result(b, block, NULL);
    } else {
        b->trace->skipped++;
    }
}

static void take_assistant(struct trace_build *b, const json_t *record) {
    const json_t *message = json_object_get(record, "message"), *block;
    const json_t *content = json_object_get(message, "content");
    const char *model = json_get_string(message, "model", "<");
    size_t i;
    b->mark.group = (uint32_t)branch_hash(json_get_string(message, "id", NULL));
    if (model[0] != '<' && !b->mark.side) { /* "<synthetic>" */
        build_name(&b->trace->model, model);
    }
    if (json_is_string(content)) {
        take_words(b, record, EVENT_SAY, content);
    }
    json_array_foreach(content, i, block) {
        take_assistant_block(b, record, block);
    }
    take_usage(b, message);
}

/* --- Cursor --- */

/* {"shellToolCall": {"args": {…}, "result": {"success": {…}}}} */
static void take_cursor_call(struct trace_build *b, const json_t *record) {
    const char *call = json_get_string(record, "call_id", NULL);
    json_t *wrapped = json_object_get(record, "tool_call");
    const char *name = json_object_iter_key(json_object_iter(wrapped));
    const json_t *tool = json_object_get(wrapped, name ? name : ""), *result;
    const char *outcome, *called = json_get_string(tool, "name", name ? name : "");
    const json_t *args = json_object_get(tool, "args"), *value;
    b->trace->format = TRACE_CURSOR_STREAM;
    build_call(b, called, call, args ? args : json_object_get(tool, "arguments"));
    result = json_object_get(tool, "result");
    if (!is(json_get_string(record, "subtype", ""), "completed") || !result) {
        return;
    }
    json_object_foreach((json_t *)(uintptr_t)result, outcome, value) {
        autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
        output_text(&text, value);
        const char *said = json_get_string(value, "message", NULL);
        said = said ? said : json_get_string(value, "error", NULL);
        buf_adds(&text, said && !text.len ? said : "");
        struct trace_event *e = build_result(b, call, text.data, text.len);
        const json_t *code = json_object_get(value, "exitCode");
        if (json_is_integer(code)) {
            build_exit(b, e, (int)json_integer_value(code));
        }
        if (!is(outcome, "success")) {
            build_failed(b, e);
        }
        return;
    }
}

/* --- records --- */

static void take_system(struct trace_build *b, const json_t *record) {
    if (is(json_get_string(record, "subtype", ""), "init")) {
        build_name(&b->trace->model, json_get_string(record, "model", NULL));
        build_name(&b->trace->cwd, json_get_string(record, "cwd", NULL));
        const char *key = json_get_string(record, "apiKeySource", NULL);
        bool cursor = key && !json_object_get(record, "tools");
        b->trace->format = cursor ? TRACE_CURSOR_STREAM : b->trace->format;
    }
    b->trace->skipped++;
}

/* Records that say nothing here, or what others say again. */
static const char *const silent_records[] = {
    "summary",
    "attachment",
    "file-history-snapshot",
    "queue-operation",
    "custom-title",
    "agent-name",
    "ai-title",
    "last-prompt",
    "permission-mode",
    "mode",
    "pr-link",
    "result",
    "stream_event",
    "rate_limit_event",
    "progress",
    "tag",
    "thinking",
    "tool_progress",
    "auth_status",
    "agent-color",
    NULL,
};

static bool claude_record(struct trace_build *b, const char *key, json_t *record) {
    const char *type = type_of(record);
    (void)key;
    if (!enter(b, record)) {
        b->trace->skipped++;
        return true;
    }
    build_name(&b->trace->cwd, json_get_string(record, "cwd", NULL));
    if (is(type, "user")) {
        take_user(b, record);
    } else if (is(type, "assistant")) {
        take_assistant(b, record);
    } else if (is(type, "tool_call")) {
        take_cursor_call(b, record);
    } else if (is(type, "system")) {
        take_system(b, record);
    } else {
        return build_skip(b, type, silent_records);
    }
    return true;
}

const struct trace_reader trace_claude = {
    .feed = FEED_LINES,
    .state_size = sizeof(struct claude),
    .record = claude_record,
    .end = claude_end,
};
