/* What agents' programs print: one JSON object per line (docs/architecture/evaluation.md
 * has the shapes). Everything unknown is skipped, so that newer versions still work; what
 * is needed and missing becomes a failure with a sentence. */
#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/evaluation/agent_student.h"

#define LINE_MAX_BYTES (8u << 20)

struct agent_events {
    enum agent_format format;
    struct buf line, text, why;
    bool too_long; /* the rest of this line is dropped */
    bool new_step; /* opencode: the next text begins an answer */
    bool activated, reported, failed, finished;
    uint64_t input, output;
    double cost;
    char model[128];
};

struct agent_events *agent_events_new(enum agent_format format) {
    struct agent_events *e = xcalloc(1, sizeof *e);
    e->format = format;
    e->line = BUF_INIT(LINE_MAX_BYTES);
    e->text = BUF_INIT(AGENT_MAX_TEXT);
    e->why = BUF_INIT(1024);
    e->cost = -1;
    return e;
}

void agent_events_free(struct agent_events *e) {
    buf_finish(&e->line);
    buf_finish(&e->text);
    buf_finish(&e->why);
    free(e);
}

static void set_text(struct agent_events *e, const char *text) {
    buf_reset(&e->text);
    buf_add(&e->text, text, text_cut(text, strlen(text), AGENT_MAX_TEXT));
}

static void fail(struct agent_events *e, const char *message) {
    size_t len = strlen(message);
    e->failed = true;
    buf_reset(&e->why);
    text_clean(&e->why, message, text_cut(message, len, 300));
    if (!e->why.len) {
        buf_adds(&e->why, "it failed and did not say why");
    }
}

static uint64_t count(const json_t *usage, const char *key) {
    json_int_t n = json_get_integer(usage, key, 0);
    return n > 0 ? (uint64_t)n : 0;
}

/* Some string within the value names a SKILL.md: the file was read, by whatever tool. */
static bool names_skill(const json_t *value, unsigned depth) {
    if (json_is_string(value)) {
        return strstr(json_string_value(value), "SKILL.md") != NULL;
    }
    if (depth > 8) {
        return false;
    }
    json_each_member(value, key, one) {
        if (names_skill(one, depth + 1)) {
            return true;
        }
    }
    return json_any(value, one, names_skill(one, depth + 1));
}

/* --- claude -p --output-format stream-json --- */

static void claude_content(struct agent_events *e, const json_t *message) {
    autobuf text = BUF_INIT(AGENT_MAX_TEXT);
    json_each(json_object_get(message, "content"), i, block) {
        const char *type = json_get_string(block, "type", "");
        if (strcmp(type, "text") == 0) {
            buf_adds(&text, json_get_string(block, "text", ""));
        } else if (strcmp(type, "tool_use") == 0) {
            bool skill = json_says(block, "name", "Skill");
            e->activated |= skill || names_skill(json_object_get(block, "input"), 0);
        }
    }
    if (text.len) {
        set_text(e, text.data);
    }
    snprintf(e->model, sizeof e->model, "%s",
             json_get_string(message, "model", e->model));
}

static void claude_result(struct agent_events *e, const json_t *event) {
    const json_t *usage = json_object_get(event, "usage");
    const char *text = json_get_string(event, "result", NULL);
    e->finished = true;
    if (text && *text) {
        set_text(e, text);
    }
    if (json_is_object(usage)) {
        e->reported = true;
        e->input = count(usage, "input_tokens") +
                   count(usage, "cache_creation_input_tokens") +
                   count(usage, "cache_read_input_tokens");
        e->output = count(usage, "output_tokens");
    }
    e->cost = json_get_number(event, "total_cost_usd", e->cost);
    const char *subtype = json_get_string(event, "subtype", "success");
    if (json_get_bool(event, "is_error", 0) || strcmp(subtype, "success") != 0) {
        const char *first =
            json_string_value(json_array_get(json_object_get(event, "errors"), 0));
        fail(e, first ? first : text && *text ? text : subtype);
    }
}

static void claude_event(struct agent_events *e, const json_t *event) {
    const char *type = json_get_string(event, "type", "");
    if (strcmp(type, "assistant") == 0) {
        claude_content(e, json_object_get(event, "message"));
    } else if (strcmp(type, "result") == 0) {
        claude_result(e, event);
    }
}

/* --- codex exec --json --- */

static void codex_item(struct agent_events *e, const json_t *item) {
    const char *type = json_get_string(item, "type", "");
    if (strcmp(type, "agent_message") == 0) {
        set_text(e, json_get_string(item, "text", ""));
    } else { /* a command, or the call of a tool */
        e->activated |= names_skill(json_object_get(item, "command"), 0) ||
                        names_skill(json_object_get(item, "arguments"), 0);
    }
}

static void codex_event(struct agent_events *e, const json_t *event) {
    const char *type = json_get_string(event, "type", "");
    const json_t *usage = json_object_get(event, "usage");
    if (strcmp(type, "item.completed") == 0) {
        codex_item(e, json_object_get(event, "item"));
    } else if (strcmp(type, "turn.completed") == 0) {
        e->finished = true;
        e->failed = false; /* an "error" before it was one that it got over */
        buf_reset(&e->why);
        e->reported = e->reported || json_is_object(usage);
        e->input += count(usage, "input_tokens"); /* cached ones are part of them */
        e->output += count(usage, "output_tokens");
    } else if (strcmp(type, "turn.failed") == 0) {
        fail(e, json_get_string(json_object_get(event, "error"), "message",
                                "the turn failed"));
    } else if (strcmp(type, "error") == 0) {
        fail(e, json_get_string(event, "message", "an error"));
    }
}

/* --- opencode run --format json --- */

static void opencode_finish(struct agent_events *e, const json_t *part) {
    const json_t *tokens = json_object_get(part, "tokens");
    const json_t *cache = json_object_get(tokens, "cache");
    double cost = json_get_number(part, "cost", -1);
    e->finished = true;
    e->reported = e->reported || json_is_object(tokens);
    e->input += count(tokens, "input") + count(cache, "read") + count(cache, "write");
    e->output += count(tokens, "output") + count(tokens, "reasoning");
    e->cost = cost < 0 ? e->cost : cost + (e->cost < 0 ? 0 : e->cost);
}

static void opencode_error(struct agent_events *e, const json_t *event) {
    const json_t *error = json_object_get(event, "error");
    const char *message =
        json_get_string(json_object_get(error, "data"), "message", NULL);
    fail(e, message ? message : json_get_string(error, "name", "an error"));
}

static void opencode_event(struct agent_events *e, const json_t *event) {
    const char *type = json_get_string(event, "type", "");
    const json_t *part = json_object_get(event, "part");
    if (strcmp(type, "step_start") == 0) {
        e->new_step = true;
    } else if (strcmp(type, "text") == 0) {
        if (e->new_step) {
            buf_reset(&e->text);
        }
        e->new_step = false;
        buf_adds(&e->text, json_get_string(part, "text", ""));
    } else if (strcmp(type, "tool_use") == 0) {
        const json_t *state = json_object_get(part, "state");
        bool skill = json_says(part, "tool", "skill");
        e->activated |= skill || names_skill(json_object_get(state, "input"), 0);
    } else if (strcmp(type, "step_finish") == 0) {
        opencode_finish(e, part);
    } else if (strcmp(type, "error") == 0) {
        opencode_error(e, event);
    }
}

/* --- lines --- */

static void end_line(struct agent_events *e) {
    static void (*const readers[])(struct agent_events * e, const json_t *event) = {
        [AGENT_CLAUDE] = claude_event,
        [AGENT_CODEX] = codex_event,
        [AGENT_OPENCODE] = opencode_event,
    };
    autojson *event =
        e->line.len && !e->too_long ? json_parse(e->line.data, e->line.len, NULL) : NULL;
    if (json_is_object(event)) {
        readers[e->format](e, event);
    }
    buf_reset(&e->line);
    e->too_long = false;
}

void agent_events_add(struct agent_events *e, const char *bytes, size_t len) {
    const char *end;
    if (e->format == AGENT_TEXT) {
        buf_add(&e->text, bytes, len);
        e->finished = true;
        return;
    }
    while ((end = memchr(bytes, '\n', len))) {
        size_t n = (size_t)(end - bytes);
        e->too_long = buf_add(&e->line, bytes, n) < 0 || e->too_long;
        end_line(e);
        bytes += n + 1;
        len -= n + 1;
    }
    e->too_long = buf_add(&e->line, bytes, len) < 0 || e->too_long;
}

/* Text from JSON is UTF-8 already. */
static void repair_text(struct agent_events *e) {
    if (e->format == AGENT_TEXT) {
        struct buf clean = BUF_INIT(3 * AGENT_MAX_TEXT);
        text_repair(&clean, e->text.data, e->text.len);
        clean.full = e->text.full;
        buf_finish(&e->text);
        e->text = clean;
    }
}

void agent_events_end(struct agent_events *e, struct agent_answer *ret) {
    end_line(e);
    repair_text(e);
    const char *lack = e->text.full   ? "its answer is too long"
                       : !e->finished ? "it ended without its closing record"
                       : !e->text.len ? "it gave no answer"
                                      : NULL;
    if (!e->failed && lack) {
        fail(e, lack);
    }
    *ret = (struct agent_answer){
        .failure = e->failed ? -EIO : 0,
        .text = e->text.data,
        .input = e->input,
        .output = e->output,
        .reported = e->reported,
        .cost = e->cost,
        .served_model = e->model,
        .activated = e->activated,
        .why = e->why.data,
    };
}
