#include "base/err.h"
#include "base/mem.h"
#include "skills/models/api.h"
#include "skills/models/structured.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define SCHEMA                                                                           \
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},\"required\":["  \
    "\"a\"],\"additionalProperties\":false}"

/* --- requests --- */

/* The bodies as the vendors' references show them. */
static const struct {
    enum model_api api;
    const char *base_url, *effort;
    enum answer_form form;
    unsigned quirks;
    const char *body;
} requests[] = {
    {MODEL_MESSAGES, "https://api.anthropic.com", NULL, FORM_TEXT, 0,
     "{\"model\":\"m\",\"max_tokens\":99,\"messages\":[{\"role\":\"user\",\"content\":"
     "\"hi\"}],\"system\":\"sys\",\"stream\":true}"},
    {MODEL_MESSAGES, "https://api.anthropic.com", "low", FORM_NATIVE, QUIRK_NO_STREAM,
     "{\"model\":\"m\",\"max_tokens\":99,\"messages\":[{\"role\":\"user\",\"content\":"
     "\"hi\"}],\"system\":\"sys\",\"output_config\":{\"effort\":\"low\",\"format\":{"
     "\"type\":\"json_schema\",\"schema\":" SCHEMA "}}}"},
    {MODEL_MESSAGES, "https://api.anthropic.com", "low", FORM_TOOL, QUIRK_NO_EFFORT,
     "{\"model\":\"m\",\"max_tokens\":99,\"messages\":[{\"role\":\"user\",\"content\":"
     "\"hi\"}],\"system\":\"sys\",\"tools\":[{\"name\":\"grade\",\"description\":\"Hands "
     "over the answer.\",\"input_schema\":" SCHEMA "}],\"tool_choice\":{\"type\":"
     "\"tool\",\"name\":\"grade\"},\"stream\":true}"},
    {MODEL_CHAT, "https://api.openai.com/v1", "high", FORM_NATIVE, 0,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"sys\"},{\"role\":"
     "\"user\",\"content\":\"hi\"}],\"max_completion_tokens\":99,\"reasoning_effort\":"
     "\"high\",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
     "\"grade\",\"schema\":" SCHEMA ",\"strict\":true}},\"stream\":true,"
     "\"stream_options\":{\"include_usage\":true}}"},
    {MODEL_CHAT, "https://api.openai.com/v1", NULL, FORM_TOOL,
     QUIRK_OTHER_LENGTH | QUIRK_NO_USAGE_OPTION,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"sys\"},{\"role\":"
     "\"user\",\"content\":\"hi\"}],\"max_tokens\":99,\"tools\":[{\"type\":\"function\","
     "\"function\":{\"name\":\"grade\",\"description\":\"Hands over the answer.\","
     "\"parameters\":" SCHEMA "}}],\"tool_choice\":{\"type\":\"function\",\"function\":{"
     "\"name\":\"grade\"}},\"stream\":true}"},
    {MODEL_CHAT, "http://localhost:8080/v1", NULL, FORM_TEXT,
     QUIRK_NO_SYSTEM | QUIRK_NO_STREAM,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"sys\\n\\nhi\"}],"
     "\"max_tokens\":99}"},
    {MODEL_CHAT, "https://api.openai.com.evil.example/v1", NULL, FORM_TEXT,
     QUIRK_NO_STREAM,
     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"sys\"},{\"role\":"
     "\"user\",\"content\":\"hi\"}],\"max_tokens\":99}"},
};

Test(model_api, requests_are_worded_as_the_apis_want_them) {
    autojson *schema = json_loads(SCHEMA, 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        struct model model = {.api = requests[i].api,
                              .base_url = (char *)requests[i].base_url,
                              .model = "m",
                              .effort = (char *)requests[i].effort};
        struct model_message message = {"user", "hi"};
        struct api_ask q = {.model = &model,
                            .system = "sys",
                            .messages = &message,
                            .message_count = 1,
                            .max_tokens = 99,
                            .form = requests[i].form,
                            .schema = schema,
                            .schema_name = "grade",
                            .quirks = requests[i].quirks};
        autojson *body = api_of(&model)->request(&q);
        autojson *expected = json_loads(requests[i].body, 0, NULL);
        autofree char *text = json_dumps(body, JSON_COMPACT);
        cr_assert(expected != NULL);
        cr_assert(json_equal(body, expected), "case %zu: %s", i, text);
    }
}

/* --- answers --- */

/* Events as "name data", one a line; a line without a name has none. */
static const struct {
    const struct api *api;
    const char *events;
    bool ended, failed;
    enum reply_stop stop;
    const char *text, *arguments, *refusal, *stop_reason;
    struct model_usage usage;
} streams[] = {
    /* The example of the streaming documentation, with prompt caching's counts. */
    {&messages_api,
     "{\"type\":\"message_start\",\"message\":{\"model\":\"m-1\",\"usage\":{\"input_"
     "tokens\":25,\"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":300,"
     "\"output_tokens\":1}}}\n"
     "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\","
     "\"text\":\"\"}}\n"
     "{\"type\":\"ping\"}\n"
     "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"Hello\"}}\n"
     "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"!\"}}\n"
     "{\"type\":\"brand_new_event\",\"x\":[1]}\n"
     "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"new_delta\",\"text\":\"x\"}"
     "}"
     "\n"
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{"
     "\"output_tokens\":15,\"output_tokens_details\":{\"thinking_tokens\":4}}}\n"
     "{\"type\":\"message_stop\"}\n",
     true,
     false,
     REPLY_ENDED,
     "Hello!",
     "",
     "",
     "end_turn",
     {425, 15, 300, 100, 4, true}},
    {&messages_api,
     "{\"type\":\"content_block_start\",\"content_block\":{\"type\":\"tool_use\","
     "\"name\":"
     "\"g\",\"input\":{}}}\n"
     "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\","
     "\"partial_json\":\"{\\\"a\\\":\"}}\n"
     "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\","
     "\"partial_json\":\"1}\"}}\n"
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n"
     "{\"type\":\"message_stop\"}\n",
     true,
     false,
     REPLY_ENDED,
     "",
     "{\"a\":1}",
     "",
     "tool_use",
     {0}},
    {&messages_api,
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"refusal\",\"stop_"
     "details\":"
     "{\"type\":\"refusal\",\"category\":\"cyber\",\"explanation\":\"No.\"}}}\n"
     "{\"type\":\"message_stop\"}\n",
     true,
     false,
     REPLY_REFUSED,
     "",
     "",
     "cyber: No.",
     "refusal",
     {0}},
    {&messages_api,
     "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n",
     false,
     true,
     REPLY_OPEN,
     "",
     "",
     "",
     "",
     {0}},
    {&messages_api,
     "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"model_context_window_"
     "exceeded\"}}\n",
     false,
     false,
     REPLY_CONTEXT_FULL,
     "",
     "",
     "",
     "model_context_window_exceeded",
     {0}},
    {&messages_api,
     "[]\n7\n\"x\"\nnull\n{}\n{\"type\":7}\n{\"type\":\"content_block_delta\"}\n"
     "{\"type\":\"message_start\"}\n{\"type\":\"message_delta\",\"usage\":{\"input_"
     "tokens\":-5,\"output_tokens\":9223372036854775807}}\n",
     false,
     false,
     REPLY_OPEN,
     "",
     "",
     "",
     "",
     {0}},
    {&chat_api,
     "{\"model\":\"g\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\","
     "\"content\":\"\"},\"finish_reason\":null}],\"usage\":null}\n"
     "{\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"hm\"}}]}\n"
     "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"},\"finish_reason\":null}]"
     ","
     "\"obfuscation\":\"zz\"}\n"
     "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":null}]}"
     "\n"
     "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n"
     "{\"choices\":[],\"usage\":{\"prompt_tokens\":19,\"completion_tokens\":10,\"total_"
     "tokens\":29,\"prompt_tokens_details\":{\"cached_tokens\":8},\"completion_tokens_"
     "details\":{\"reasoning_tokens\":3}}}\n",
     true,
     false,
     REPLY_ENDED,
     "Hello",
     "",
     "",
     "stop",
     {19, 10, 8, 0, 3, true}},
    /* llama.cpp without usage, with its timings. */
    {&chat_api,
     "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}],"
     "\"timings\":{\"cache_n\":236,\"prompt_n\":1,\"predicted_n\":35}}\n",
     true,
     false,
     REPLY_TRUNCATED,
     "a",
     "",
     "",
     "length",
     {237, 35, 236, 0, 0, true}},
    {&chat_api,
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":"
     "\"g\","
     "\"arguments\":\"\"}}]}}]}\n"
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
     "\"{\\\"a\\\":\"}},{\"index\":1,\"function\":{\"arguments\":\"nope\"}}]}}]}\n"
     "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":"
     "\"2}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n",
     true,
     false,
     REPLY_ENDED,
     "",
     "{\"a\":2}",
     "",
     "tool_calls",
     {0}},
    {&chat_api,
     "{\"choices\":[{\"delta\":{\"refusal\":\"I can\"}}]}\n"
     "{\"choices\":[{\"delta\":{\"refusal\":\"not\"}}]}\n"
     "{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     true,
     false,
     REPLY_REFUSED,
     "",
     "",
     "I cannot",
     "stop",
     {0}},
    {&chat_api,
     "{\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"content_filter\"}]"
     "}"
     "\n",
     true,
     false,
     REPLY_REFUSED,
     "x",
     "",
     "",
     "content_filter",
     {0}},
    {&chat_api,
     "{\"error\":{\"message\":\"gone\",\"code\":502}}\n",
     false,
     true,
     REPLY_OPEN,
     "",
     "",
     "",
     "",
     {0}},
    {&chat_api,
     "[]\nnull\n{}\n{\"choices\":7}\n{\"choices\":[7]}\n{\"choices\":[{\"delta\":7}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":{\"a\":1},\"tool_calls\":[7,{}]},\"finish_"
     "reason\":7}]}\n",
     false,
     false,
     REPLY_OPEN,
     "",
     "",
     "",
     "",
     {0}},
};

static void read_stream(struct api_reply *r, const struct api *api, const char *events) {
    while (*events) {
        size_t len = strcspn(events, "\n");
        autojson *data = json_loadb(events, len, JSON_DECODE_ANY, NULL);
        cr_assert(data != NULL);
        cr_assert(zero(int, api->event(r, "message", data)));
        events += len + 1;
    }
}

Test(model_api, streams_become_text_usage_and_a_reason_to_stop) {
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        struct api_reply r;
        reply_init(&r);
        read_stream(&r, streams[i].api, streams[i].events);
        const struct model_usage *u = &r.usage, *e = &streams[i].usage;
        cr_assert(eq(int, r.ended, streams[i].ended), "case %zu", i);
        cr_assert(eq(int, r.failed, streams[i].failed), "case %zu", i);
        cr_assert(eq(int, (int)r.stop, (int)streams[i].stop), "case %zu", i);
        cr_assert(eq(str, r.text.data, (char *)streams[i].text), "case %zu", i);
        cr_assert(eq(str, r.arguments.data, (char *)streams[i].arguments), "case %zu", i);
        cr_assert(eq(str, r.refusal.data, (char *)streams[i].refusal), "case %zu", i);
        cr_assert(eq(str, r.stop_reason, (char *)streams[i].stop_reason), "case %zu", i);
        bool same = u->input == e->input && u->output == e->output &&
                    u->cache_read == e->cache_read && u->cache_write == e->cache_write &&
                    u->thinking == e->thinking && u->reported == e->reported;
        cr_assert(same, "case %zu: %llu in, %llu out", i, (unsigned long long)u->input,
                  (unsigned long long)u->output);
        reply_finish(&r);
    }
}

Test(model_api, an_answer_that_grows_without_end_is_refused) {
    static const char *const pieces[] = {
        "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":"
        "\"%s\"}}",
        "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"input_json_delta\","
        "\"partial_json\":\"%s\"}}",
        "{\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}",
        "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"%s\"}}]"
        "}"
        "}]}",
    };
    char many[65537];
    memset(many, 'x', sizeof many - 1);
    many[sizeof many - 1] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        struct api_reply r;
        autofree char *text = malloc(70000);
        const char *mark = strstr(pieces[i], "%s");
        sprintf(text, "%.*s%s%s", (int)(mark - pieces[i]), pieces[i], many, mark + 2);
        autojson *data = json_loads(text, 0, NULL);
        reply_init(&r);
        int rc = 0;
        size_t fed = 0;
        for (; rc == 0 && fed < 2 * API_MAX_TEXT; fed += sizeof many - 1) {
            rc = (i < 2 ? &messages_api : &chat_api)->event(&r, "", data);
        }
        cr_assert(rc < 0, "case %zu", i);
        cr_assert(r.text.len <= API_MAX_TEXT && r.arguments.len <= API_MAX_TEXT);
        reply_finish(&r);
    }
}

/* --- what errors teach --- */

static const struct {
    enum model_api api;
    const char *base_url;
    enum answer_form form;
    long status;
    const char *message;
    unsigned quirk;
} lessons[] = {
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 400,
     "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
     "'max_completion_tokens' instead.",
     QUIRK_OTHER_LENGTH},
    {MODEL_CHAT, "https://api.openai.com/v1", FORM_TEXT, 400,
     "Unrecognized request argument supplied: max_completion_tokens", QUIRK_OTHER_LENGTH},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 400,
     "max_tokens is too large: 99999. This model supports at most 4096 tokens.", 0},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 422,
     "[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"stream_options\"]}]",
     QUIRK_NO_USAGE_OPTION},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 400,
     "Failed to initialize samplers: std::exception", QUIRK_NO_SCHEMA},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 400, "something else", QUIRK_NO_SCHEMA},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 500, "json_schema conversion failed",
     QUIRK_NO_SCHEMA},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 500, "out of memory", 0},
    {MODEL_CHAT, "http://h/v1", FORM_TOOL, 400, "tools are not supported", QUIRK_NO_TOOL},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 400,
     "reasoning_effort: Extra inputs are not permitted", QUIRK_NO_EFFORT},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 500,
     "Conversation roles must alternate; System role not supported", 0},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 400, "System role not supported",
     QUIRK_NO_SYSTEM},
    {MODEL_CHAT, "http://h/v1", FORM_TEXT, 400, "stream is not supported for this model",
     QUIRK_NO_STREAM},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 400,
     "This model's maximum context length is 4096 tokens", 0},
    {MODEL_MESSAGES, "http://h", FORM_NATIVE, 400,
     "output_config: Extra inputs are not permitted", QUIRK_NO_SCHEMA},
    {MODEL_MESSAGES, "http://h", FORM_TEXT, 400,
     "anthropic-version: 2023-06-01 is not supported", QUIRK_OTHER_VERSION},
    {MODEL_MESSAGES, "http://h", FORM_TEXT, 400, "max_tokens: not permitted", 0},
    {MODEL_MESSAGES, "http://h", FORM_TEXT, 400, "messages: text must not be empty", 0},
    {MODEL_CHAT, "http://h/v1", FORM_NATIVE, 401, "json_schema", 0},
};

Test(model_api, errors_teach_what_an_endpoint_refuses) {
    for (size_t i = 0; i < ARRAY_LEN(lessons); i++) {
        struct model model = {.api = lessons[i].api,
                              .base_url = (char *)lessons[i].base_url,
                              .model = "m",
                              .effort = "low"};
        struct api_ask sent = {.model = &model, .system = "s", .form = lessons[i].form};
        struct endpoint_error e = {0};
        snprintf(e.message, sizeof e.message, "%s", lessons[i].message);
        cr_assert(eq(uint, api_learn(&sent, lessons[i].status, &e), lessons[i].quirk),
                  "case %zu", i);
        /* Known already: it teaches nothing, but the two that swap. */
        sent.quirks =
            lessons[i].quirk & ~(unsigned)(QUIRK_OTHER_LENGTH | QUIRK_OTHER_VERSION);
        if (sent.quirks) {
            unsigned again = api_learn(&sent, lessons[i].status, &e);
            cr_assert(zero(uint, again & sent.quirks), "case %zu", i);
        }
    }
}

/* --- JSON out of text --- */

Test(model_api, json_is_found_in_prose_fences_and_behind_thoughts) {
    static const struct {
        const char *text, *found;
    } table[] = {
        {"{\"a\":1}", "{\"a\":1}"},
        {" \n{\"a\":1}\n", "{\"a\":1}"},
        {"```json\n{\"a\":1}\n```", "{\"a\":1}"},
        {"As [1] says: {\"a\":1}. Right?", "{\"a\":1}"},
        {"Use {curly} or {\"a\":\"}\"} here", "{\"a\":\"}\"}"},
        {"{\"a\":\"\\\"}\"}", "{\"a\":\"\\\"}\"}"},
        {"<think>maybe {\"a\":2}</think>{\"a\":1}", "{\"a\":1}"},
        {"<think>{\"a\":2}</think>", "{\"a\":2}"},
        {"{\"a\":{\"b\":[1,2]}} {\"a\":3}", "{\"a\":{\"b\":[1,2]}}"},
        {"no JSON at all", NULL},
        {"{\"a\":", NULL},
        {"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", NULL},
        {"}}]]", NULL},
        {"", NULL},
    };
    autojson *schema = json_loads(SCHEMA, 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autojson *found = structured_find(table[i].text, strlen(table[i].text), schema);
        autofree char *text = found ? json_dumps(found, JSON_COMPACT) : NULL;
        bool same = table[i].found ? text && strcmp(text, table[i].found) == 0 : !text;
        cr_assert(same, "case %zu: %s", i, text);
    }
    autojson *list = json_loads("{\"type\":\"array\"}", 0, NULL);
    autojson *found = structured_find("see {x}: [1,2]", 14, list);
    cr_assert(eq(sz, json_array_size(found), 2));
}

Test(model_api, an_offered_tool_is_not_forced) {
    autojson *schema = json_loads(SCHEMA, 0, NULL);
    struct model model = {.name = "m", .base_url = "http://x/v1", .model = "m"};
    const struct model_message message = {.role = "user", .text = "hi"};
    for (int api = 0; api < 2; api++) {
        model.api = api ? MODEL_CHAT : MODEL_MESSAGES;
        struct api_ask ask = {.model = &model,
                              .messages = &message,
                              .message_count = 1,
                              .max_tokens = 9,
                              .form = structured_offer(0),
                              .schema = schema,
                              .schema_name = "Skill",
                              .tool = "Loads a skill."};
        autojson *offered = api_of(&model)->request(&ask);
        const json_t *one = json_array_get(json_object_get(offered, "tools"), 0);
        one = api ? json_object_get(one, "function") : one;
        cr_assert(
            eq(str, (char *)json_get_string(one, "description", ""), "Loads a skill."));
        cr_assert(json_object_get(offered, "tool_choice") == NULL);
        ask.tool = NULL;
        ask.form = FORM_TOOL;
        autojson *forced = api_of(&model)->request(&ask);
        cr_assert(json_object_get(forced, "tool_choice") != NULL);
        struct endpoint_error error = {.message = "tools are not supported"};
        ask.tool = "Loads a skill.";
        ask.form = FORM_OFFERED;
        cr_assert(eq(uint, api_learn(&ask, 400, &error), QUIRK_NO_TOOL));
    }
    cr_assert(eq(int, (int)structured_offer(QUIRK_NO_TOOL), FORM_OFFERED_WORDS));
    autofree char *words = structured_offer_system("Be brief.", "Loads a skill.", schema);
    cr_assert(strstr(words, "Be brief.") == words && strstr(words, "Loads a skill."));
}

Test(model_api, the_ladder_and_strictness) {
    static const struct {
        const char *schema;
        bool strict;
    } table[] = {
        {SCHEMA, true},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"}},"
         "\"required\":"
         "[\"a\"]}",
         false},
        {"{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},\"required\":[\"a\"],"
         "\"additionalProperties\":false}",
         false},
        {"{\"type\":\"array\",\"items\":" SCHEMA "}", false},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{"
         "\"type\":\"object\"}}},\"required\":[\"a\"],\"additionalProperties\":false}",
         false},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\","
         "\"items\":" SCHEMA "}},\"required\":[\"a\"],\"additionalProperties\":false}",
         true},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autojson *schema = json_loads(table[i].schema, 0, NULL);
        cr_assert(eq(int, structured_is_strict(schema), table[i].strict), "case %zu", i);
    }
    autojson *object = json_loads(SCHEMA, 0, NULL);
    autojson *array = json_loads("{\"type\":\"array\"}", 0, NULL);
    cr_assert(eq(int, (int)structured_form(NULL, 0), FORM_TEXT));
    cr_assert(eq(int, (int)structured_form(object, 0), FORM_NATIVE));
    cr_assert(eq(int, (int)structured_form(object, QUIRK_NO_SCHEMA), FORM_TOOL));
    cr_assert(eq(int, (int)structured_form(object, QUIRK_NO_SCHEMA | QUIRK_NO_TOOL),
                 FORM_WORDS));
    cr_assert(eq(int, (int)structured_form(array, QUIRK_NO_SCHEMA), FORM_WORDS));
    autofree char *name = structured_name("a grade!");
    cr_assert(eq(str, name, "a_grade_"));
}
