/* OpenAI-compatible chat completions: POST …/chat/completions and its stream, as OpenAI,
 * llama.cpp, Ollama, vLLM and Hugging Face's router speak it. */

#include "skills/models/structured.h"

/* --- the request --- */

static json_t *message(const char *role, const char *before, const char *text) {
    autofree char *whole =
        xasprintf("%s%s%s", before ? before : "", before ? "\n\n" : "", text);
    return json_pack("{s:s, s:o}", "role", role, "content",
                     json_text(whole, strlen(whole)));
}

static json_t *message_list(const struct api_ask *ask) {
    const char *system = ask->system && *ask->system ? ask->system : NULL;
    json_t *list = json_array();
    if (system && !(ask->quirks & QUIRK_NO_SYSTEM)) {
        json_array_append_new(list, message("system", NULL, system));
        system = NULL;
    }
    for (size_t i = 0; i < ask->message_count; i++) {
        const struct model_message *m = &ask->messages[i];
        const char *before = strcmp(m->role, "user") == 0 ? take(system) : NULL;
        json_array_append_new(list, message(m->role, before, m->text));
    }
    return list;
}

bool api_sends_completion_length(const struct api_ask *ask) {
    static const char openai[] = "https://api.openai.com/";
    bool is_openai = strncmp(ask->model->base_url, openai, sizeof openai - 1) == 0;
    return is_openai != !!(ask->quirks & QUIRK_OTHER_LENGTH);
}

static json_t *tools_of(const struct api_ask *ask) {
    return json_pack("[{s:s, s:{s:s, s:s, s:O}}]", "type", "function", "function", "name",
                     ask->schema_name, "description", api_tool_help(ask), "parameters",
                     ask->schema);
}

static json_t *format_of(const struct api_ask *ask) {
    return json_pack("{s:s, s:{s:s, s:O, s:b}}", "type", "json_schema", "json_schema",
                     "name", ask->schema_name, "schema", ask->schema, "strict",
                     structured_is_strict(ask->schema));
}

static json_t *chat_request(const struct api_ask *ask) {
    bool tool = api_has_tool(ask), stream = !(ask->quirks & QUIRK_NO_STREAM);
    bool usage = stream && !(ask->quirks & QUIRK_NO_USAGE_OPTION);
    const char *length =
        api_sends_completion_length(ask) ? "max_completion_tokens" : "max_tokens";
    return json_pack("{s:o, s:o, s:I, s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}", "model",
                     json_text(ask->model->model, strlen(ask->model->model)), "messages",
                     message_list(ask), length, (json_int_t)ask->max_tokens,
                     "reasoning_effort", api_effort(ask), "response_format",
                     ask->form == FORM_NATIVE ? format_of(ask) : NULL, "tools",
                     tool ? tools_of(ask) : NULL, "tool_choice",
                     tool && !ask->tool ? json_pack("{s:s, s:{s:s}}", "type", "function",
                                                    "function", "name", ask->schema_name)
                                        : NULL,
                     "stream", stream ? json_true() : NULL, "stream_options",
                     usage ? json_pack("{s:b}", "include_usage", 1) : NULL);
}

/* --- the answer --- */

static void read_stop(struct api_reply *r, const json_t *word) {
    if (!json_is_string(word) || json_string_length(word) == 0) {
        return;
    }
    reply_set_word(r->stop_reason, sizeof r->stop_reason, word);
    r->stop = strcmp(r->stop_reason, "length") == 0           ? REPLY_TRUNCATED
              : strcmp(r->stop_reason, "content_filter") == 0 ? REPLY_REFUSED
                                                              : REPLY_ENDED;
    r->ended = true;
}

static void read_usage(struct api_reply *r, const json_t *usage) {
    if (!json_is_object(usage)) {
        return;
    }
    const json_t *in = json_object_get(usage, "prompt_tokens_details");
    const json_t *out = json_object_get(usage, "completion_tokens_details");
    r->usage.input = reply_count(usage, "prompt_tokens");
    r->usage.output = reply_count(usage, "completion_tokens");
    r->usage.cache_read = reply_count(in, "cached_tokens");
    r->usage.cache_write = reply_count(in, "cache_write_tokens");
    r->usage.thinking = reply_count(out, "reasoning_tokens");
    r->usage.reported = r->usage.input > 0;
}

/* llama.cpp's own figures, for a build that gives no usage. */
static void read_timings(struct api_reply *r, const json_t *timings) {
    if (!json_is_object(timings) || r->usage.reported) {
        return;
    }
    r->usage.cache_read = reply_count(timings, "cache_n");
    r->usage.input = reply_count(timings, "prompt_n") + r->usage.cache_read;
    r->usage.output = reply_count(timings, "predicted_n");
    r->usage.reported = r->usage.input > 0;
}

/* A string, or a list of {"type": "text", "text"}. */
static int add_content(struct buf *out, const json_t *content) {
    int rc = reply_add(out, content);
    json_each(content, i, part) {
        rc = rc < 0 ? rc : reply_add(out, json_object_get(part, "text"));
    }
    return rc;
}

static int add_arguments(struct buf *out, const json_t *arguments) {
    return json_is_object(arguments) ? reply_add_json(out, arguments)
                                     : reply_add(out, arguments);
}

/* The first tool call alone: one is asked for. */
static int read_tool_calls(struct api_reply *r, const json_t *calls) {
    int rc = 0;
    json_each(calls, i, call) {
        const json_t *function = json_object_get(call, "function");
        if (json_get_integer(call, "index", (json_int_t)i) == 0 && rc == 0) {
            rc = add_arguments(&r->arguments, json_object_get(function, "arguments"));
        }
    }
    return rc;
}

static int read_message(struct api_reply *r, const json_t *m) {
    static const char *const reasoning[] = {"reasoning_content", "reasoning"};
    for (size_t i = 0; i < ARRAY_LEN(reasoning); i++) {
        size_t bytes = json_string_length(json_object_get(m, reasoning[i]));
        if (bytes) {
            r->thinking_bytes += bytes;
            break;
        }
    }
    int rc = add_content(&r->text, json_object_get(m, "content"));
    rc = rc < 0 ? rc : read_tool_calls(r, json_object_get(m, "tool_calls"));
    reply_add(&r->refusal, json_object_get(m, "refusal"));
    return rc;
}

static int read_answer(struct api_reply *r, const json_t *answer, const char *member) {
    const json_t *error = json_object_get(answer, "error");
    if (error && !json_is_null(error)) {
        r->failed = endpoint_error_read(&r->error, answer);
        return 0;
    }
    const json_t *choices = json_object_get(answer, "choices");
    const json_t *choice = json_array_get(choices, 0);
    r->seen |= json_is_object(json_object_get(choice, member));
    reply_set_word(r->served_model, sizeof r->served_model,
                   json_object_get(answer, "model"));
    int rc = choice ? read_message(r, json_object_get(choice, member)) : 0;
    read_usage(r, json_object_get(answer, "usage"));
    read_timings(r, json_object_get(answer, "timings"));
    read_stop(r, json_object_get(choice, "finish_reason"));
    if (r->refusal.len && r->stop == REPLY_ENDED) {
        r->stop = REPLY_REFUSED;
    }
    return rc;
}

static int chat_event(struct api_reply *r, const char *name, const json_t *data) {
    int rc = read_answer(r, data, "delta");
    if (strcmp(name, "error") == 0 && !r->failed) {
        r->failed = endpoint_error_read(&r->error, data);
    }
    return rc;
}

/* Some endpoints leave out finish_reason; an answer that did not come as a stream is
 * complete without it. */
static int chat_whole(struct api_reply *r, const json_t *answer) {
    int rc = read_answer(r, answer, "message");
    if (!r->seen && !r->failed) {
        r->failed = endpoint_error_read(&r->error, answer);
    }
    r->ended |= r->seen;
    return rc;
}

const struct api chat_api = {"/chat/completions", chat_request, chat_event, chat_whole};
