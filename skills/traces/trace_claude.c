/* Claude Code: session JSONL, and what `claude -p --output-format stream-json` prints;
 * Cursor's stream, which is alike. */
#include "base/buf.h"
#include "skills/traces/trace_branch.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

struct claude {
    struct branch branch;
    bool any_main;     /* a record that is no sub-agent's */
    uint64_t last;     /* hash of the last record's id that is none */
    uint64_t usage_of; /* hash of the message id whose usage is in the event … */
    unsigned usage_moved;
    uint32_t usage_at; /* … with this index + 1 */
};

/* --- the tree --- */

/* Registers the record. False: it was there already. */
static bool enter(struct trace_build *b, const char *, const json_t *record) {
    struct claude *c = b->state;
    const struct trace_node node = {.value = record};
    const char *uuid = json_get_string(record, "uuid", NULL);
    const char *parent = trace_rules_text(&node, "parentUuid,logicalParentUuid");
    const char *message = trace_rules_text(&node, "message/id");
    bool agent = trace_rules_hold(&node, "type=assistant");
    bool said = agent || trace_rules_hold(&node, "type=user");
    bool side = json_get_bool(record, "isSidechain", 0) ||
                json_get_string(record, "parent_tool_use_id", NULL);
    bool answer = trace_rules_hold(&node, "message/content/0/tool_use_id:text");
    b->mark = (struct trace_mark){.side = side};
    b->mark.group = agent ? (uint32_t)branch_hash(message) : 0;
    c->any_main = c->any_main || (said && !side);
    if (!uuid || !json_object_get(record, "parentUuid")) {
        return true;
    }
    /* What a program notes without a parent (a compaction) goes on from what was before.
     */
    struct branch_record r = {
        .id = branch_hash(uuid),
        .parent = parent || said || side ? branch_hash(parent) : c->last,
        .group = b->mark.group,
        .call = answer,
        .leaf = said && !side,
    };
    c->branch.loose = c->branch.loose || ((agent || answer) && !side && !parent);
    c->last = side ? c->last : r.id;
    b->mark.record = branch_add(&c->branch, &r);
    return b->mark.record != 0;
}

static bool is_no_order_to_agent(void *, const struct trace_event *e,
                                 const struct trace_mark *m) {
    return !(m->side && e->kind == EVENT_USER);
}

static void claude_end(struct trace_build *b) {
    struct claude *c = b->state;
    branch_filter(&c->branch, b);
    if (c->any_main) { /* what a sub-agent is told is the agent's word, not a person's */
        build_filter(b, is_no_order_to_agent, NULL);
    }
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
    json_each(hunks, i, hunk) {
        buf_addf(out, "@@ -%llu,%llu +%llu,%llu @@\n",
                 (unsigned long long)build_count(json_object_get(hunk, "oldStart")),
                 (unsigned long long)build_count(json_object_get(hunk, "oldLines")),
                 (unsigned long long)build_count(json_object_get(hunk, "newStart")),
                 (unsigned long long)build_count(json_object_get(hunk, "newLines")));
        json_each(json_object_get(hunk, "lines"), j, line) {
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

static void take_result(struct trace_build *b, const struct trace_node *node) {
    const json_t *block = node->value;
    const json_t *result = trace_rules_get(node, "^toolUseResult,^tool_use_result");
    const json_t *code = json_object_get(result, "exitCode");
    const char *call = json_get_string(block, "tool_use_id", NULL);
    bool failed = json_get_bool(block, "is_error", 0);
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    if (build_find(b, EVENT_RESULT, call)) {
        return;
    }
    content_text(&text, json_object_get(block, "content"));
    envelope_strip(&plain, text.data, text.len);
    if (plain.len == 0) {
        output_text(&plain, result);
    }
    struct trace_event *e = build_result(b, call, plain.data, plain.len);
    if (failed || json_get_bool(result, "interrupted", 0)) {
        build_failed(b, e);
    }
    build_exit_json(b, e, code);
    if (failed && !json_is_integer(code)) {
        build_exit_in_text(b, e);
    }
    refine_edit(b, call, result);
    take_refusal(b, e);
}

/* --- usage --- */

/* One message comes in several lines, each with the usage so far. */
static void take_usage(struct trace_build *b, const struct trace_node *record) {
    struct claude *c = b->state;
    const json_t *usage = trace_rules_get(record, "message/usage");
    uint64_t id = branch_hash(trace_rules_text(record, "message/id"));
    uint64_t in = build_count(json_object_get(usage, "input_tokens")) +
                  build_count(json_object_get(usage, "cache_creation_input_tokens"));
    uint64_t out = build_count(json_object_get(usage, "output_tokens"));
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

/* --- Cursor --- */

/* {"shellToolCall": {"args": {…}, "result": {"success": {…}}}} */
static void take_cursor_call(struct trace_build *b, const struct trace_node *record) {
    const char *call = trace_rules_text(record, "call_id");
    void *wrapped = json_object_iter(json_object_get(record->value, "tool_call"));
    const char *name = wrapped ? json_object_iter_key(wrapped) : "";
    const struct trace_node tool = {json_object_iter_value(wrapped), record, 0};
    void *result =
        json_object_iter((json_t *)(uintptr_t)trace_rules_get(&tool, "result"));
    b->trace->format = "cursor-stream";
    build_call(b, json_get_string(tool.value, "name", name), call,
               trace_rules_get(&tool, "args,arguments"));
    if (!trace_rules_hold(record, "subtype=completed") || !result) {
        return;
    }
    const struct trace_node value = {json_object_iter_value(result), &tool, 0};
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    output_text(&text, value.value);
    const char *said = text.len ? NULL : trace_rules_text(&value, "message,error");
    buf_adds(&text, said ? said : "");
    struct trace_event *e = build_result(b, call, text.data, text.len);
    build_exit_json(b, e, json_object_get(value.value, "exitCode"));
    if (!is(json_object_iter_key(result), "success")) {
        build_failed(b, e);
    }
}

static void is_cursor(struct trace_build *b, const struct trace_node *) {
    b->trace->format = "cursor-stream";
}

const struct trace_hooks trace_claude = {
    .state_size = sizeof(struct claude),
    .begin = enter,
    .end = claude_end,
    .odd = (const struct trace_odd[]){{"result", take_result},
                                      {"usage", take_usage},
                                      {"cursor", take_cursor_call},
                                      {"is-cursor", is_cursor},
                                      {0}},
};
