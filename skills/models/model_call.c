#include "skills/models/model_call.h"

#include "base/clock.h"
#include "base/text.h"
#include "protocol/schema/schema.h"
#include "skills/format/tokens.h"
#include "skills/models/structured.h"

#define MAX_BODY (64u << 20)
#define STALL_S 300      /* some think for minutes before the first byte */
#define LINGER_MS 2000   /* for the connection to be reusable after the answer's end */
#define MESSAGE_TOKENS 7 /* framing of one message: an estimate */
/* The shortest beginning of a key that is removed from the end of a cut text. */
#define SHORTEST_PART 6
#define VERSION "2023-06-01"
#define OTHER_VERSION "2026-10-21"

/* --- making --- */

static int compile_schema(struct model_call *call, const json_t *schema,
                          struct err *err) {
    autobuf text = BUF_INIT(1u << 20);
    if (json_write(&text, schema) < 0) {
        return err_set(err, -EINVAL, "the schema is too large");
    }
    call->schema = json_deep_copy(schema);
    return schema_new(text.data, &call->checker, err);
}

static int copy_messages(struct model_call *call, const struct model_request *r,
                         struct err *err) {
    call->messages = xcalloc(r->message_count + 2, sizeof *call->messages);
    for (size_t i = 0; i < r->message_count; i++) {
        const struct model_message *m = &r->messages[i];
        bool user = m->role && strcmp(m->role, "user") == 0;
        if (!m->text || (!user && (!m->role || strcmp(m->role, "assistant") != 0))) {
            return err_set(err, -EINVAL,
                           "messages[%zu]: role user or assistant, and text", i);
        }
        call->messages[i].role = user ? "user" : "assistant";
        call->messages[i].text = xstrdup(m->text);
        call->ask.message_count++;
    }
    return r->message_count ? 0 : err_set(err, -EINVAL, "there is no message to send");
}

/* The key covers what is asked and not the form in which the endpoint wants it, because
 * every daemon learns that form again. */
static void make_cache_key(struct model_call *call, unsigned run) {
    json_t *list = json_array();
    for (size_t i = 0; i < call->ask.message_count; i++) {
        const struct model_message *m = &call->messages[i];
        json_array_append_new(
            list, json_pack("[s, o]", m->role, json_text(m->text, strlen(m->text))));
    }
    const struct model *m = &call->model;
    const char *system = call->system ? call->system : "";
    const char *effort = m->effort ? m->effort : "";
    autojson *key = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:i, s:O?, s:I, s:s*}", "api", (int)m->api,
        "base_url", json_text(m->base_url, strlen(m->base_url)), "model",
        json_text(m->model, strlen(m->model)), "effort",
        json_text(effort, strlen(effort)), "system", json_text(system, strlen(system)),
        "messages", list, "max_tokens", (int)call->ask.max_tokens, "schema", call->schema,
        "run", (json_int_t)run, "tool", call->tool);
    autofree char *text = json_dumps(key, JSON_SORT_KEYS | JSON_COMPACT);
    hash_bytes_hex(text, strlen(text), call->cache_key);
}

uint64_t call_estimate(const struct model_call *call, const char *system) {
    uint64_t sum = system ? tokens_estimate(system, strlen(system)) : 0;
    sum += call->tool ? tokens_estimate(call->tool, strlen(call->tool)) : 0;
    for (size_t i = 0; i < call->ask.message_count; i++) {
        const char *text = call->messages[i].text;
        sum += tokens_estimate(text, strlen(text)) + MESSAGE_TOKENS;
    }
    return sum;
}

static unsigned first_of(unsigned a, unsigned b, unsigned c) {
    return a ? a : b ? b : c;
}

struct model_call *call_new(struct model_client *client, const struct model_request *r,
                            struct err *err) {
    struct model_call *call = xcalloc(1, sizeof *call);
    call->client = client;
    model_copy(&call->model, r->model);
    call->system = r->system ? xstrdup(r->system) : NULL;
    call->ask.max_tokens = first_of(r->max_tokens, r->model->max_tokens, CALL_MAX_TOKENS);
    call->deadline_ms = first_of(r->deadline_ms, CALL_DEADLINE_MS, 0);
    call->schema_name = structured_name(r->schema_name);
    call->tool = r->tool ? xstrdup(r->tool) : NULL;
    call->budget = r->budget;
    call->text = BUF_INIT(API_MAX_TEXT);
    call->message = BUF_INIT(2048);
    call->whole = BUF_INIT(CALL_MAX_WHOLE);
    reply_init(&call->reply);
    sse_init(&call->sse, NULL, NULL);
    call->answer.reason = call->answer.hint = "";
    int rc = copy_messages(call, r, err);
    if (rc == 0 && r->schema) {
        rc = compile_schema(call, r->schema, err);
    }
    call->ask.model = &call->model;
    call->ask.messages = call->messages;
    call->ask.schema = call->schema;
    call->ask.schema_name = call->schema_name;
    call->ask.tool = call->tool;
    if (rc < 0) {
        call_free(call);
        return NULL;
    }
    call->answer.prompt_estimate = call_estimate(call, call->system);
    call->cached = client->options.cache && !r->no_cache;
    if (call->cached) {
        make_cache_key(call, r->run);
    }
    call->endpoint =
        endpoint_get(&client->endpoints, &call->model, call_key(call),
                     client->options.start_in_flight, client->options.max_in_flight);
    limit_expect(&call->endpoint->limit, r->at_once);
    call->endpoint->calls++;
    return call;
}

void call_free(struct model_call *call) {
    if (call->endpoint) {
        call->endpoint->calls--;
    }
    for (size_t i = 0; i < call->ask.message_count; i++) {
        free((char *)(uintptr_t)call->messages[i].text);
    }
    free(call->messages);
    model_finish(&call->model);
    free(call->system);
    free(call->asked_system);
    free(call->schema_name);
    free(call->tool);
    json_decref(call->schema);
    schema_free(call->checker);
    sse_finish(&call->sse);
    reply_finish(&call->reply);
    buf_finish(&call->whole);
    buf_finish(&call->text);
    buf_finish(&call->message);
    json_decref(call->json);
    free(call);
}

/* --- keys --- */

const char *call_key(const struct model_call *call) {
    const char *key = call->model.key_env ? getenv(call->model.key_env) : NULL;
    return key && *key ? key : NULL;
}

/* Bytes at the end of text that begin a key whose rest was cut off. */
static size_t cut_key(const char *key, size_t key_len, const char *text, size_t len) {
    size_t n = len < key_len ? len : key_len - 1;
    while (n >= SHORTEST_PART && memcmp(text + len - n, key, n) != 0) {
        n--;
    }
    return n >= SHORTEST_PART ? n : 0;
}

void call_redact(const struct model_call *call, struct buf *text, size_t shortest_key) {
    const char *key = call_key(call);
    size_t len = key ? strlen(key) : 0;
    if (len < shortest_key) {
        return;
    }
    struct buf clean = BUF_INIT(text->max);
    const char *at = text->data, *end = text->data + text->len, *found;
    while ((found = memmem(at, (size_t)(end - at), key, len))) {
        buf_add(&clean, at, (size_t)(found - at));
        buf_adds(&clean, "[key]");
        at = found + len;
    }
    size_t rest = (size_t)(end - at);
    buf_add(&clean, at, rest - cut_key(key, len, at, rest));
    buf_finish(text);
    *text = clean;
}

void call_say(struct model_call *call, const char *fmt, ...) {
    char words[2048];
    text_format(words, fmt);
    autobuf clean = BUF_INIT(8192);
    text_clean(&clean, words, strlen(words));
    call_redact(call, &clean, 8);
    buf_reset(&call->message);
    buf_add(&call->message, clean.data, text_cut(clean.data, clean.len, 1500));
}

/* --- reading --- */

void call_tell(struct model_call *call) {
    const struct buf *text = &call->reply.text;
    if (call->on_text && text->len > call->told && !call->cancelled) {
        size_t from = call->told;
        call->told = text->len;
        call->on_text(call, text->data + from, text->len - from, call->data);
    }
}

/* The answer is complete. The transfer may go on for a while, so that the connection can
 * be reused. */
static void mark_done(struct model_call *call) {
    if (call->marked_done) {
        return;
    }
    call->marked_done = true;
    if (!call->cancelled) {
        call->lingering = true;
        call->due = clock_ms() + LINGER_MS;
        TAILQ_INSERT_TAIL(&call->client->waiting, call, turn);
        client_wake(call->client);
    }
}

static int on_event(const char *name, char *data, size_t len, void *user) {
    struct model_call *call = user;
    struct err err = {0};
    if (call->marked_done || len == 0) {
        return 0;
    }
    if (strcmp(data, "[DONE]") == 0) {
        mark_done(call);
        return 0;
    }
    autojson *json = json_parse(data, len, &err);
    if (!json) {
        return err_set(&call->read_err, -EBADMSG,
                       "the stream holds something that is not JSON: %s", err.msg);
    }
    int rc = api_of(&call->model)->event(&call->reply, name, json);
    if (rc < 0) {
        return err_set(&call->read_err, rc, "the answer is longer than %u MiB",
                       API_MAX_TEXT >> 20);
    }
    if (call->reply.ended && call->model.api == MODEL_MESSAGES) {
        mark_done(call);
    }
    call_tell(call);
    return call->reply.failed ? -EPROTO : 0;
}

static int take_bytes(struct model_call *call, const char *bytes, size_t len) {
    if (call->body == BODY_UNKNOWN) {
        size_t blank = 0;
        while (blank < len && strchr(" \t\r\n", bytes[blank])) {
            blank++;
        }
        if (blank == len) {
            return 0;
        }
        call->body = bytes[blank] == '{' ? BODY_WHOLE : BODY_STREAM;
    }
    if (call->body == BODY_STREAM) {
        return sse_feed(&call->sse, bytes, len, &call->read_err);
    }
    int rc = buf_add(&call->whole, bytes, len);
    return rc < 0 ? err_set(&call->read_err, rc, "the answer is longer than %u MiB",
                            CALL_MAX_WHOLE >> 20)
                  : 0;
}

static int on_chunk(struct http_request *, const char *bytes, size_t len, void *data) {
    struct model_call *call = data;
    call->read_failure = take_bytes(call, bytes, len);
    return call->read_failure != 0;
}

/* --- sending --- */

static void begin_attempt(struct model_call *call, uint64_t now) {
    if (!call->begun) {
        call->ask.quirks = endpoint_quirks(call->endpoint, call->model.model);
        call->deadline = now + call->deadline_ms;
    }
    call->begun = true;
    call->sent_at = now;
    call->body = BODY_UNKNOWN;
    call->marked_done = false;
    call->read_failure = 0;
    call->read_err = (struct err){0};
    sse_finish(&call->sse);
    sse_init(&call->sse, on_event, call);
    reply_finish(&call->reply);
    reply_init(&call->reply);
    buf_reset(&call->whole);
    call->http = NULL;
    call->answer.status = 0;
}

static void reserve(struct model_call *call) {
    struct model_budget *b = call->budget;
    struct model_usage most = {.input = call->answer.prompt_estimate,
                               .output = call->ask.max_tokens};
    if (b) {
        double cost = model_cost(&call->model, &most);
        call->reserved = most.input + most.output;
        call->reserved_cost = cost > 0 ? cost : 0;
        b->reserved += call->reserved;
        b->reserved_cost += call->reserved_cost;
    }
}

static void call_end_attempt(struct model_call *call) {
    struct model_budget *b = call->budget;
    call->endpoint->in_flight--;
    if (b) {
        b->reserved -= call->reserved;
        b->reserved_cost = b->reserved ? b->reserved_cost - call->reserved_cost : 0;
    }
    call->reserved = 0;
    call->reserved_cost = 0;
}

static void word(struct model_call *call) {
    struct api_ask *ask = &call->ask;
    free(take(call->asked_system));
    ask->form = call->tool ? structured_offer(ask->quirks)
                           : structured_form(call->schema, ask->quirks);
    if (ask->form == FORM_WORDS) {
        call->asked_system = structured_system(call->system, call->schema);
    } else if (ask->form == FORM_OFFERED_WORDS) {
        call->asked_system =
            structured_offer_system(call->system, call->tool, call->schema);
    }
    ask->system = call->asked_system ? call->asked_system : call->system;
}

static char *key_header(const struct model_call *call) {
    const char *key = call_key(call);
    bool bearer = call->model.api != MODEL_MESSAGES || call->model.bearer;
    return key ? xasprintf("%s%s", bearer ? "Authorization: Bearer " : "x-api-key: ", key)
               : NULL;
}

static char *version_header(const struct model_call *call) {
    const char *version = call->model.version ? call->model.version : VERSION;
    if (call->ask.quirks & QUIRK_OTHER_VERSION) {
        version = strcmp(version, VERSION) == 0 ? OTHER_VERSION : VERSION;
    }
    return call->model.api == MODEL_MESSAGES ? xasprintf("anthropic-version: %s", version)
                                             : NULL;
}

static void on_end(struct http_request *, const struct http_response *response,
                   void *data) {
    struct model_call *call = data;
    if (call->lingering) {
        TAILQ_REMOVE(&call->client->waiting, call, turn);
        call->lingering = false;
    }
    call->http = NULL;
    call_end_attempt(call);
    call_conclude(call, response);
}

static int post(struct model_call *call, const struct buf *body, struct err *err) {
    autofree char *key = key_header(call);
    autofree char *version = version_header(call);
    const char *headers[5] = {"Content-Type: application/json"};
    size_t n = 1;
    if (version) {
        headers[n++] = version;
    }
    if (key) {
        headers[n++] = key;
    }
    autofree char *url =
        xasprintf("%s%s", call->model.base_url, api_of(&call->model)->path);
    struct http_options options = {
        .method = "POST",
        .url = url,
        .headers = headers,
        .body = body->data,
        .body_len = body->len,
        .stall_timeout_s = STALL_S,
        .timeout_ms = (unsigned)(call->deadline - call->sent_at),
        .max_body = CALL_MAX_STREAM,
        .max_kept = CALL_MAX_ERROR,
        .chunk = on_chunk,
        .end = on_end,
        .data = call,
    };
    int rc = http_start(call->client->http, &options, &call->http, err);
    if (key) {
        explicit_bzero(key, strlen(key));
    }
    return rc;
}

void call_send(struct model_call *call) {
    begin_attempt(call, clock_ms());
    word(call);
    struct err err = {0};
    autobuf body = BUF_INIT(MAX_BODY);
    autojson *json = api_of(&call->model)->request(&call->ask);
    int rc = json_write(&body, json);
    rc = rc < 0
             ? err_set(&err, -EINVAL, "the prompt is longer than %u MiB", MAX_BODY >> 20)
             : post(call, &body, &err);
    if (rc < 0) {
        struct fault fault = fault_judge(0, rc, NULL, NULL);
        call_say(call, "%s", err.msg);
        call_over(call, rc == -ECANCELED ? MODEL_CANCELLED : MODEL_FAILED, fault.reason,
                  fault.hint);
        return;
    }
    struct endpoint *e = call->endpoint;
    e->in_flight++;
    e->requests++;
    call->answer.requests++;
    limit_started(&e->limit, e->in_flight, clock_ms());
    reserve(call);
}
