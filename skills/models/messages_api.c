/* Anthropic Messages: POST /v1/messages and its stream. No sampling parameters are sent:
 * version 2026-10-21 refuses them even at their defaults. */
#include "skills/models/api.h"

/* --- the request --- */

static json_t *message_list(const struct api_ask *ask) {
    json_t *list = json_array();
    for (size_t i = 0; i < ask->message_count; i++) {
        const struct model_message *m = &ask->messages[i];
        json_array_append_new(list, json_pack("{s:s, s:o}", "role", m->role, "content",
                                              json_text(m->text, strlen(m->text))));
    }
    return list;
}

/* NULL where there is nothing to say in it. */
static json_t *output_config(const struct api_ask *ask) {
    json_t *effort = api_effort(ask);
    bool native = ask->form == FORM_NATIVE;
    json_t *format =
        native ? json_pack("{s:s, s:O}", "type", "json_schema", "schema", ask->schema)
               : NULL;
    return effort || format
               ? json_pack("{s:o*, s:o*}", "effort", effort, "format", format)
               : NULL;
}

static json_t *messages_request(const struct api_ask *ask) {
    bool tool = api_has_tool(ask), system = ask->system && *ask->system;
    return json_pack(
        "{s:o, s:I, s:o, s:o*, s:o*, s:o*, s:o*, s:o*}", "model",
        json_text(ask->model->model, strlen(ask->model->model)), "max_tokens",
        (json_int_t)ask->max_tokens, "messages", message_list(ask), "system",
        system ? json_text(ask->system, strlen(ask->system)) : NULL, "output_config",
        output_config(ask), "tools",
        tool ? json_pack("[{s:s, s:s, s:O}]", "name", ask->schema_name, "description",
                         api_tool_help(ask), "input_schema", ask->schema)
             : NULL,
        "tool_choice",
        tool && !ask->tool
            ? json_pack("{s:s, s:s}", "type", "tool", "name", ask->schema_name)
            : NULL,
        "stream", ask->quirks & QUIRK_NO_STREAM ? NULL : json_true());
}

/* --- the answer --- */

static void read_stop(struct api_reply *r, const json_t *from) {
    static const struct {
        const char *word;
        enum reply_stop stop;
    } table[] = {
        {"max_tokens", REPLY_TRUNCATED},
        {"model_context_window_exceeded", REPLY_CONTEXT_FULL},
        {"refusal", REPLY_REFUSED},
    };
    const char *word = json_get_string(from, "stop_reason", NULL);
    if (!word) {
        return;
    }
    reply_set_word(r->stop_reason, sizeof r->stop_reason,
                   json_object_get(from, "stop_reason"));
    r->stop = REPLY_ENDED;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        r->stop = strcmp(word, table[i].word) == 0 ? table[i].stop : r->stop;
    }
    const json_t *details = json_object_get(from, "stop_details");
    if (r->stop == REPLY_REFUSED && r->refusal.len == 0) {
        const json_t *category = json_object_get(details, "category");
        if (json_is_string(category)) {
            reply_add(&r->refusal, category);
            buf_adds(&r->refusal, ": ");
        }
        reply_add(&r->refusal, json_object_get(details, "explanation"));
    }
}

static void take_count(uint64_t *ret, const json_t *usage, const char *key) {
    if (json_is_integer(json_object_get(usage, key))) {
        *ret = reply_count(usage, key);
    }
}

/* Later figures are cumulative and replace the earlier ones; absent ones stay. */
static void read_usage(struct api_reply *r, const json_t *usage) {
    if (!json_is_object(usage)) {
        return;
    }
    take_count(&r->uncached, usage, "input_tokens");
    take_count(&r->usage.cache_write, usage, "cache_creation_input_tokens");
    take_count(&r->usage.cache_read, usage, "cache_read_input_tokens");
    take_count(&r->usage.output, usage, "output_tokens");
    take_count(&r->usage.thinking, json_object_get(usage, "output_tokens_details"),
               "thinking_tokens");
    r->usage.input = r->uncached + r->usage.cache_write + r->usage.cache_read;
    r->usage.reported = r->usage.input > 0;
}

static void read_head(struct api_reply *r, const json_t *message) {
    r->seen = true;
    reply_set_word(r->served_model, sizeof r->served_model,
                   json_object_get(message, "model"));
    read_usage(r, json_object_get(message, "usage"));
    read_stop(r, message);
}

/* The start of a block in a stream, a whole block, or text to add to one. A gateway may
 * send a tool's input at once. */
static int read_part(struct api_reply *r, const json_t *part) {
    const char *type = json_get_string(part, "type", "");
    const json_t *input = json_object_get(part, "input");
    r->seen = true;
    if (strcmp(type, "text") == 0 || strcmp(type, "text_delta") == 0) {
        return reply_add(&r->text, json_object_get(part, "text"));
    }
    if (strcmp(type, "tool_use") == 0 && json_object_size(input)) {
        return reply_add_json(&r->arguments, input);
    }
    if (strcmp(type, "input_json_delta") == 0) {
        return reply_add(&r->arguments, json_object_get(part, "partial_json"));
    }
    if (strcmp(type, "thinking") == 0 || strcmp(type, "thinking_delta") == 0) {
        r->thinking_bytes += json_string_length(json_object_get(part, "thinking"));
    }
    return 0;
}

static int messages_event(struct api_reply *r, const char *name, const json_t *data) {
    const char *type = json_get_string(data, "type", name);
    if (strcmp(type, "message_start") == 0) {
        read_head(r, json_object_get(data, "message"));
    } else if (strcmp(type, "content_block_start") == 0) {
        return read_part(r, json_object_get(data, "content_block"));
    } else if (strcmp(type, "content_block_delta") == 0) {
        return read_part(r, json_object_get(data, "delta"));
    } else if (strcmp(type, "message_delta") == 0) {
        read_usage(r, json_object_get(data, "usage"));
        read_stop(r, json_object_get(data, "delta"));
    } else if (strcmp(type, "message_stop") == 0) {
        r->ended = true;
    } else if (strcmp(type, "error") == 0) {
        r->failed = true;
        endpoint_error_read(&r->error, data);
    }
    return 0;
}

static int messages_whole(struct api_reply *r, const json_t *answer) {
    const json_t *content = json_object_get(answer, "content");
    if (!json_is_array(content)) {
        r->failed = endpoint_error_read(&r->error, answer);
        return 0;
    }
    read_head(r, answer);
    json_each(content, i, block) {
        int rc = read_part(r, block);
        if (rc < 0) {
            return rc;
        }
    }
    r->ended = r->stop != REPLY_OPEN;
    return 0;
}

const struct api messages_api = {"/v1/messages", messages_request, messages_event,
                                 messages_whole};
