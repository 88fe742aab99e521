/* What the end of an attempt means: an answer, another attempt, or none; what an answer
 * cost, and answers that are kept. */
#define LOG_MODULE "models"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "protocol/schema/schema.h"
#include "skills/format/tokens.h"
#include "skills/models/answer_cache.h"
#include "skills/models/model_call.h"
#include "skills/models/model_retry.h"
#include "skills/models/structured.h"

#include <sys/random.h>

#define SHORT_KEY 8 /* bytes; shorter keys are not removed from messages */
/* The same for answers, because a key may be a word such as "not-needed". */
#define LONG_KEY 16
/* Estimated prompt tokens; below, a small reported count means nothing. */
#define CUT_FROM 1000
#define BUSY_FACTOR 5 /* rate limits allow this many times max_attempts */
#define ODD_ATTEMPTS 2
#define UNREACHABLE_ATTEMPTS 3
#define MAX_QUOTED (64u << 10) /* bytes of a bad answer that the repair round quotes */

/* --- usage --- */

static double spent_cost(const struct model *m, const struct model_usage *u) {
    double cost = model_cost(m, u);
    struct model_usage plain = {.input = u->input, .output = u->output};
    return cost >= 0 ? cost : model_cost(m, &plain);
}

/* Of one attempt: what the endpoint reported, else estimates. */
static struct model_usage attempt_usage(const struct model_call *call) {
    const struct api_reply *r = &call->reply;
    struct model_usage u = r->usage;
    if (!u.input) {
        u.input = call_estimate(call, call->ask.system);
    }
    if (!u.output && call->model.api != MODEL_EMBEDDINGS) {
        u.output = tokens_estimate(r->text.data, r->text.len) +
                   tokens_estimate(r->arguments.data, r->arguments.len) +
                   r->thinking_bytes / 4;
    }
    return u;
}

static void count_usage(struct model_call *call) {
    struct model_usage one = attempt_usage(call), *sum = &call->answer.usage;
    bool first = sum->input + sum->output == 0;
    sum->reported = (first || sum->reported) && one.reported;
    sum->input += one.input;
    sum->output += one.output;
    sum->cache_read += one.cache_read;
    sum->cache_write += one.cache_write;
    sum->thinking += one.thinking;
    if (call->budget) {
        double cost = spent_cost(&call->model, &one);
        call->budget->tokens += one.input + one.output;
        call->budget->cost += cost > 0 ? cost : 0;
    }
}

static json_t *usage_to_json(const struct model_usage *u) {
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:b}", "input", (json_int_t)u->input,
                     "output", (json_int_t)u->output, "cache_read",
                     (json_int_t)u->cache_read, "cache_write", (json_int_t)u->cache_write,
                     "thinking", (json_int_t)u->thinking, "reported", u->reported);
}

static struct model_usage usage_from_json(const json_t *u) {
    return (struct model_usage){.input = reply_count(u, "input"),
                                .output = reply_count(u, "output"),
                                .cache_read = reply_count(u, "cache_read"),
                                .cache_write = reply_count(u, "cache_write"),
                                .thinking = reply_count(u, "thinking"),
                                .reported = json_get_bool(u, "reported", 0)};
}

/* --- the cache --- */

static void keep_answer(const struct model_call *call, bool truncated) {
    const struct model_answer *a = &call->answer;
    autojson *kept = json_pack("{s:o, s:o, s:s, s:s, s:f, s:b, s:b}", "text",
                               json_text(call->text.data, call->text.len), "usage",
                               usage_to_json(&a->usage), "served_model",
                               call->served_model, "stop_reason", call->stop_reason, "ms",
                               a->ms, "called", call->tool && call->json, "truncated",
                               truncated);
    struct err err = {0};
    struct answer_cache *cache = call->client->options.cache;
    if (answer_cache_put(cache, call->cache_key, kept, &err) < 0 &&
        !answer_cache_problem(cache)) {
        log_warning("an answer is not kept: %s", err.msg);
    }
}

static bool fits(struct model_call *call, json_t *value, struct err *err) {
    if (!value) {
        err_set(err, -EBADMSG, "it contains no JSON");
        return false;
    }
    return schema_check(call->checker, value, NULL, err) == 0;
}

/* What the offered tool was called with; a text that only looks like it is no call,
 * unless words are all that the endpoint has. */
static void take_call(struct model_call *call, bool called) {
    json_decref(take(call->json));
    call->json =
        called ? structured_find(call->text.data, call->text.len, call->schema) : NULL;
    if (call->json && !fits(call, call->json, NULL)) {
        json_decref(take(call->json));
    }
}

static void say_truncated(struct model_call *call) {
    call_say(call, "the answer ran into the limit of %u tokens", call->ask.max_tokens);
    call_over(call, MODEL_TRUNCATED, "max_tokens", "allow more with max_tokens");
}

bool call_read_cache(struct model_call *call) {
    autojson *kept = call->cached
                         ? answer_cache_get(call->client->options.cache, call->cache_key)
                         : NULL;
    const json_t *text = json_object_get(kept, "text");
    if (!json_is_string(text)) {
        return false;
    }
    buf_add(&call->text, json_string_value(text), json_string_length(text));
    bool truncated = json_get_bool(kept, "truncated", 0);
    if (call->tool && !truncated) {
        take_call(call, json_get_bool(kept, "called", 0));
    } else if (call->schema && !truncated) {
        call->json = structured_find(call->text.data, call->text.len, call->schema);
        if (!fits(call, call->json, NULL)) {
            json_decref(take(call->json));
            buf_reset(&call->text);
            return false;
        }
    }
    struct model_answer *a = &call->answer;
    a->usage = usage_from_json(json_object_get(kept, "usage"));
    a->ms = json_number_value(json_object_get(kept, "ms"));
    a->cached = true;
    reply_set_word(call->served_model, sizeof call->served_model,
                   json_object_get(kept, "served_model"));
    reply_set_word(call->stop_reason, sizeof call->stop_reason,
                   json_object_get(kept, "stop_reason"));
    if (truncated) {
        say_truncated(call);
    } else {
        call_over(call, MODEL_ANSWERED, "", "");
    }
    return true;
}

/* --- the end of an attempt, what comes next --- */

static void cancelled(struct model_call *call) {
    call_over(call, MODEL_CANCELLED, "cancelled", "");
}

/* Another attempt, at once (0) or later. Its listener may cancel the call. */
static void try_again(struct model_call *call, uint64_t due) {
    if (call->told && call->on_text) {
        call->on_text(call, "", 0, call->data);
    }
    call->told = 0;
    if (call->cancelled) {
        cancelled(call);
    } else if (due) {
        call_wait(call, due);
    } else {
        call_queue(call);
    }
}

/* --- an answer came --- */

static void redact_word(const struct model_call *call, char *word, size_t size) {
    autobuf text = BUF_INIT(size - 1);
    buf_adds(&text, word);
    call_redact(call, &text, SHORT_KEY);
    snprintf(word, size, "%s", text.data);
}

static void take_text(struct model_call *call) {
    const struct api_reply *r = &call->reply;
    const struct buf *from = call->schema && r->arguments.len ? &r->arguments : &r->text;
    buf_reset(&call->text);
    buf_add(&call->text, from->data, from->len);
    call_redact(call, &call->text, LONG_KEY);
    memcpy(call->served_model, r->served_model, sizeof call->served_model);
    memcpy(call->stop_reason, r->stop_reason, sizeof call->stop_reason);
    redact_word(call, call->served_model, sizeof call->served_model);
    redact_word(call, call->stop_reason, sizeof call->stop_reason);
}

static void commit_quirks(struct model_call *call) {
    const char *model = call->model.model;
    if (call->learned) {
        unsigned before = endpoint_quirks(call->endpoint, model);
        endpoint_learn(call->endpoint, model,
                       (before & ~call->learned) | (call->ask.quirks & call->learned));
    }
}

/* No tokenizer in use puts over 8 bytes on a token on average; text outside ASCII costs
 * less than our estimate says. What a text begins with is enough for its direction. */
static bool is_cut(const struct model_call *call) {
    uint64_t bytes = call->ask.system ? strlen(call->ask.system) : 0;
    uint64_t estimate = call_estimate(call, call->ask.system);
    for (size_t i = 0; i < call->ask.message_count; i++) {
        bytes += strlen(call->messages[i].text);
    }
    const struct model_usage *u = &call->reply.usage;
    return u->reported && call->model.api != MODEL_EMBEDDINGS && estimate > CUT_FROM &&
           u->input < estimate / 2 && u->input < bytes / 8;
}

static void say_cut(struct model_call *call) {
    call_say(call,
             "%s read %llu prompt tokens of about %llu: it dropped part of the prompt "
             "without a word",
             call->model.name, (unsigned long long)call->reply.usage.input,
             (unsigned long long)call_estimate(call, call->ask.system));
    call_over(call, MODEL_CONTEXT_CUT, "context_cut",
              "serve the model with a larger context: Ollama takes it from "
              "OLLAMA_CONTEXT_LENGTH of its server, or from PARAMETER num_ctx of a "
              "Modelfile (not from requests); llama-server from --ctx-size");
}

/* Ask once more, with the bad answer and what is wrong with it. */
static void repair(struct model_call *call, const char *problem) {
    struct model_message *m = call->messages + call->ask.message_count;
    size_t quoted = text_cut(call->text.data, call->text.len, MAX_QUOTED);
    m[0].role = "assistant";
    m[0].text = quoted ? xstrndup(call->text.data, quoted) : xstrdup("(nothing)");
    m[1].role = "user";
    m[1].text = structured_complaint(problem, call->schema);
    call->ask.message_count += 2;
    call->repaired = true;
    try_again(call, 0);
}

/* If the endpoint's structured output is not JSON, the endpoint ignores that part of the
 * request, as llama-server's /v1/messages does. */
static void note_ignored_schema(struct model_call *call) {
    if (call->ask.form == FORM_NATIVE && !call->json) {
        call->ask.quirks |= QUIRK_NO_SCHEMA;
        call->learned |= QUIRK_NO_SCHEMA;
    }
}

static void answered(struct model_call *call) {
    if (call->cached) {
        keep_answer(call, false);
    }
    call_over(call, MODEL_ANSWERED, "", "");
}

static void take_json(struct model_call *call) {
    struct err err = {0};
    json_decref(call->json);
    call->json = structured_find(call->text.data, call->text.len, call->schema);
    if (fits(call, call->json, &err)) {
        commit_quirks(call);
        answered(call);
        return;
    }
    note_ignored_schema(call);
    commit_quirks(call);
    json_decref(take(call->json));
    if (!call->repaired) {
        repair(call, err.msg);
        return;
    }
    call_say(call, "the answer does not fit the schema, twice: %s", err.msg);
    call_over(call, MODEL_INVALID, "schema_mismatch",
              "use a model that follows instructions better, or a simpler schema");
}

static void say_refusal(struct model_call *call) {
    const struct buf *words = &call->reply.refusal;
    call_say(call, "%s declined%s%.1000s", call->model.name, words->len ? ": " : "",
             words->data);
    call_over(call, MODEL_REFUSED, "refused",
              "reword the task; harmless work can run into a filter");
}

static void take_answer(struct model_call *call) {
    struct api_reply *r = &call->reply;
    uint64_t now = clock_ms();
    call->answer.ms = (double)(now - call->sent_at);
    limit_answered(&call->endpoint->limit, now);
    count_usage(call);
    take_text(call);
    buf_reset(&call->message);
    if (r->stop == REPLY_REFUSED) {
        say_refusal(call);
    } else if (is_cut(call)) {
        say_cut(call);
    } else if (r->stop == REPLY_TRUNCATED) {
        if (call->cached) {
            keep_answer(call, true);
        }
        say_truncated(call);
    } else if (r->stop == REPLY_CONTEXT_FULL) {
        call_say(call, "prompt and answer fill the model's context");
        call_over(call, MODEL_TRUNCATED, "context_full", "shorten the prompt");
    } else if (call->tool) {
        take_call(call, r->arguments.len || call->ask.form == FORM_OFFERED_WORDS);
        answered(call);
    } else if (call->schema) {
        take_json(call);
        return; /* it commits the quirks itself, except those that an ignored form only
                   seemed to prove */
    } else {
        answered(call);
    }
    commit_quirks(call);
}

/* --- no answer came --- */

static double random_unit(void) {
    uint32_t bits = 0;
    if (getrandom(&bits, sizeof bits, 0) < 0) {
        return 0;
    }
    return bits / 4294967296.0;
}

static bool is_identifier(const char *s) {
    return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz_")] == '\0';
}

static void say_error(struct model_call *call, long status, int failure,
                      struct endpoint_error *e, const char *why) {
    redact_word(call, e->message, sizeof e->message);
    const char *word = is_identifier(e->detail) ? e->detail
                       : is_identifier(e->code) ? e->code
                       : is_identifier(e->type) ? e->type
                                                : "";
    if (failure) {
        call_say(call, "%s: %s", call->model.base_url, why);
    } else {
        call_say(call, "%s: HTTP %ld%s%s: %s", call->model.base_url, status,
                 *word ? " " : "", word, e->message[0] ? e->message : "no message");
    }
}

/* Sends the request again at once, without what the endpoint refused. */
static bool reword(struct model_call *call, long status, const struct fault *fault,
                   const struct endpoint_error *e) {
    bool about_wording = strcmp(fault->reason, "bad_request") == 0 ||
                         strcmp(fault->reason, "server_error") == 0;
    unsigned quirk = about_wording ? api_learn(&call->ask, status, e) : 0;
    if (!quirk || call->relearned == QUIRK_COUNT) {
        return false;
    }
    call->relearned++;
    call->ask.quirks ^= quirk;
    call->learned |= quirk;
    log_info("%s %s", call->model.base_url, api_quirk_name(quirk));
    try_again(call, 0);
    return true;
}

/* Whether another attempt is allowed; counts this one. */
static bool may_retry(struct model_call *call, const struct fault *fault) {
    unsigned most = call->client->options.max_attempts;
    switch (fault->retry) {
    case FAULT_BUSY:
        return ++call->busy < most * BUSY_FACTOR;
    case FAULT_ODD:
        return ++call->odd < ODD_ATTEMPTS && call->odd < most;
    case FAULT_SOON:
        if (strcmp(fault->reason, "unreachable") == 0 && most > UNREACHABLE_ATTEMPTS) {
            most = UNREACHABLE_ATTEMPTS;
        }
        return ++call->soon < most;
    default:
        return false;
    }
}

static int64_t asked_delay(const struct http_response *response) {
    return retry_after_ms(response->header(response, "retry-after-ms"),
                          response->header(response, "retry-after"), time(NULL));
}

/* After a rate limit, all calls to the endpoint wait for as long as it says, or else for
 * the shortest delay: the longer backoff of one call must not starve the others. */
static void note_fault(struct model_call *call, const struct fault *fault, long status,
                       int64_t asked, uint64_t now) {
    struct endpoint *e = call->endpoint;
    if (strcmp(fault->reason, "rate_limited") == 0) {
        e->rate_limited++;
        limit_refused(&e->limit, now);
        endpoint_hold(e, now, retry_delay_ms(asked, 1, true, random_unit()));
    } else if (strcmp(fault->reason, "timeout") == 0) {
        limit_refused(
            &e->limit,
            now); /* the endpoint queues requests, so fewer at once are better */
    } else if (status >= 500) {
        limit_server_failed(&e->limit, now);
    }
}

static const char *hint_for(const struct model_call *call, const struct fault *fault) {
    if (strcmp(fault->reason, "unauthorized") == 0 && !call_key(call)) {
        return "no key was sent: name its variable with key_env in the configuration's "
               "`models`; an address that only a request names gets none";
    }
    return fault->hint;
}

static void retry_or_fail(struct model_call *call, const struct http_response *response,
                          const struct fault *fault, long status) {
    uint64_t now = clock_ms();
    unsigned attempt = fault->retry == FAULT_BUSY ? call->busy + 1 : call->soon + 1;
    int64_t asked = asked_delay(response);
    int64_t delay =
        retry_delay_ms(asked, attempt, fault->retry == FAULT_BUSY, random_unit());
    note_fault(call, fault, status, asked, now);
    if (!may_retry(call, fault)) {
        call_over(call, MODEL_FAILED, fault->reason, hint_for(call, fault));
    } else if (now + (uint64_t)delay >= call->deadline) {
        struct buf said = BUF_INIT(2048);
        buf_adds(&said, call->message.data);
        call_say(call, "%s (the next attempt would be in %lld s, after the deadline)",
                 said.data, (long long)(delay + 999) / 1000);
        buf_finish(&said);
        call_over(call, MODEL_FAILED, fault->reason, fault->hint);
    } else {
        call->endpoint->retries++;
        try_again(call, now + (uint64_t)delay);
    }
}

static void take_error(struct model_call *call, const struct http_response *response,
                       long status, int failure, struct endpoint_error *e,
                       const char *why) {
    struct fault fault =
        fault_judge(status, failure, e, response->header(response, "x-should-retry"));
    call->answer.status = response->status;
    if (call->reply.seen) {
        count_usage(call); /* the provider charges for it */
    }
    say_error(call, status, failure, e, why);
    if (failure || !reword(call, status, &fault, e)) {
        retry_or_fail(call, response, &fault, status);
    }
}

static void read_error_body(struct model_call *call, const struct http_response *response,
                            struct endpoint_error *ret) {
    autobuf body = BUF_INIT(CALL_MAX_ERROR);
    buf_add(&body, response->body, response->body_len);
    call_redact(call, &body, SHORT_KEY);
    autofree char *text = xstrndup(body.data, body.len);
    autojson *json = json_parse(text, strlen(text), NULL);
    if (!json || !endpoint_error_read(ret, json)) {
        endpoint_error_text(ret, body.data, body.len);
    }
}

/* --- the end of an attempt --- */

static void read_whole(struct model_call *call) {
    struct err err = {0};
    autojson *json = json_parse(call->whole.data, call->whole.len, &err);
    if (!json) {
        call->read_failure = -EBADMSG;
        call->read_err = err;
        return;
    }
    call->read_failure = api_of(&call->model)->whole(&call->reply, json);
    call_tell(call);
}

static bool is_complete(const struct model_call *call) {
    const struct api_reply *r = &call->reply;
    return !r->failed && r->seen &&
           (r->ended || call->marked_done || r->stop != REPLY_OPEN);
}

/* Why no whole answer came, as http.h's failures. */
static int failure_of(const struct model_call *call, const struct http_response *response,
                      const char **ret_why) {
    bool ok = response->status >= 200 && response->status < 300;
    if (call->read_failure < 0 && !call->reply.failed) {
        *ret_why = call->read_err.msg;
        return call->read_failure;
    }
    if (response->failure == -EMSGSIZE && response->status >= 300) {
        return 0; /* the beginning of a long error page will do */
    }
    if (response->failure && !(call->reply.failed && ok)) {
        *ret_why = response->why;
        return response->failure;
    }
    if (ok && !call->reply.failed) {
        *ret_why = call->reply.seen ? "the stream ended before the answer did"
                                    : "HTTP 200, but no answer in the API's form";
        return call->reply.seen ? -ECONNRESET : -EBADMSG;
    }
    return 0;
}

void call_conclude(struct model_call *call, const struct http_response *response) {
    struct endpoint_error error = {0};
    const char *why = "";
    bool ok = response->status >= 200 && response->status < 300;
    call->answer.status = response->status;
    if (ok && !response->failure && call->body == BODY_WHOLE && !call->read_failure &&
        !call->cancelled) {
        read_whole(call); /* its listener may cancel the call */
    }
    if (call->cancelled) {
        cancelled(call);
        return;
    }
    if (ok && is_complete(call)) {
        take_answer(call);
        return;
    }
    int failure = failure_of(call, response, &why);
    if (failure == -ECANCELED) { /* the HTTP client closes */
        cancelled(call);
        return;
    }
    if (failure) {
        take_error(call, response, response->status, failure, &error, why);
    } else if (call->reply.failed) {
        error = call->reply.error;
        take_error(call, response, endpoint_error_status(&error), 0, &error, "");
    } else {
        read_error_body(call, response, &error);
        take_error(call, response, response->status, 0, &error, "");
    }
}
