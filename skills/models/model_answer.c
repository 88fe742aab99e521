/* What an answer cost, and answers that are kept. */
#define LOG_MODULE "models"
#include "base/err.h"
#include "base/log.h"
#include "protocol/schema/schema.h"
#include "skills/format/tokens.h"
#include "skills/models/answer_cache.h"
#include "skills/models/model_call.h"
#include "skills/models/structured.h"

#include <errno.h>

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
    if (!u.output) {
        u.output = tokens_estimate(r->text.data, r->text.len) +
                   tokens_estimate(r->arguments.data, r->arguments.len) +
                   r->thinking_bytes / 4;
    }
    return u;
}

void call_count_usage(struct model_call *call) {
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

void call_keep_answer(const struct model_call *call) {
    const struct model_answer *a = &call->answer;
    autojson *kept = json_pack(
        "{s:o, s:o, s:s, s:s, s:f}", "text", json_text(call->text.data, call->text.len),
        "usage", usage_to_json(&a->usage), "served_model", call->served_model,
        "stop_reason", call->stop_reason, "ms", a->ms);
    struct err err = {0};
    struct answer_cache *cache = call->client->options.cache;
    if (answer_cache_put(cache, call->cache_key, kept, &err) < 0 &&
        !answer_cache_problem(cache)) {
        log_warning("an answer is not kept: %s", err.msg);
    }
}

bool call_fits(struct model_call *call, json_t *value, struct err *err) {
    if (!value) {
        err_set(err, -EBADMSG, "it holds no JSON");
        return false;
    }
    return schema_check(call->checker, value, NULL, err) == 0;
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
    if (call->schema) {
        call->json = structured_find(call->text.data, call->text.len, call->schema);
        if (!call_fits(call, call->json, NULL)) {
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
    call_over(call, MODEL_ANSWERED, "", "");
    return true;
}
