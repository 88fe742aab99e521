#include "skills/models/endpoint_error.h"

#include "base/buf.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- reading --- */

static void set_text(char *ret, size_t size, const char *s, size_t len) {
    autobuf clean = BUF_INIT(1u << 16);
    text_clean(&clean, s, len < 8192 ? len : 8192);
    size_t n = text_cut(clean.data, clean.len, size - 1);
    memcpy(ret, clean.data, n);
    ret[n] = '\0';
}

/* A string, or a number in digits. */
static void set_member(char *ret, size_t size, const json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (json_is_string(value)) {
        set_text(ret, size, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        snprintf(ret, size, "%lld", (long long)json_integer_value(value));
    }
}

void endpoint_error_text(struct endpoint_error *ret, const char *body, size_t len) {
    *ret = (struct endpoint_error){0};
    set_text(ret->message, 256, body, len);
}

/* FastAPI's {"detail": [{"loc", "msg"}…]} is shown as it stands. */
static void set_detail(struct endpoint_error *ret, const json_t *detail) {
    if (json_is_string(detail)) {
        set_text(ret->message, sizeof ret->message, json_string_value(detail),
                 json_string_length(detail));
    } else {
        autobuf text = BUF_INIT(1u << 16);
        json_write(&text, detail);
        set_text(ret->message, sizeof ret->message, text.data, text.len);
    }
}

bool endpoint_error_read(struct endpoint_error *ret, const json_t *body) {
    const json_t *error = json_object_get(body, "error");
    const json_t *detail = json_object_get(body, "detail");
    *ret = (struct endpoint_error){0};
    if (json_is_object(error)) {
        set_member(ret->type, sizeof ret->type, error, "type");
        set_member(ret->code, sizeof ret->code, error, "code");
        set_member(ret->detail, sizeof ret->detail, json_object_get(error, "details"),
                   "error_code");
        set_member(ret->message, sizeof ret->message, error, "message");
        return true;
    }
    set_member(ret->type, sizeof ret->type, body, "type");
    set_member(ret->code, sizeof ret->code, body, "code");
    if (json_is_string(error)) {
        set_member(ret->message, sizeof ret->message, body, "error");
        return true;
    }
    if (json_is_string(json_object_get(body, "message"))) {
        set_member(ret->message, sizeof ret->message, body, "message");
        return true;
    }
    if (detail) {
        set_detail(ret, detail);
    }
    return detail != NULL;
}

/* --- judging --- */

static bool is_one_of(const char *word, const char *const *list) {
    for (; *list; list++) {
        if (strcmp(word, *list) == 0) {
            return true;
        }
    }
    return false;
}

static bool speaks_of(const struct endpoint_error *e, const char *const *phrases) {
    for (; *phrases; phrases++) {
        if (strcasestr(e->message, *phrases)) {
            return true;
        }
    }
    return false;
}

static bool has_word(const struct endpoint_error *e, const char *const *list) {
    return is_one_of(e->type, list) || is_one_of(e->code, list) ||
           is_one_of(e->detail, list);
}

static bool is_money(const struct endpoint_error *e) {
    static const char *const words[] = {"insufficient_quota",
                                        "credit_balance_exhausted",
                                        "organization_spend_limit_exceeded",
                                        "project_spend_limit_exceeded",
                                        "organization_usage_limit_exceeded",
                                        "billing_error",
                                        "billing_hard_limit_reached",
                                        "billing_not_active",
                                        "enforced_spend_limit_reached",
                                        "contract_spend_limit_reached",
                                        "linked_organization_spend_limit_reached",
                                        NULL};
    static const char *const phrases[] = {"credit balance is too low",
                                          "exceeded your current quota",
                                          "exceeded your monthly included credits", NULL};
    return has_word(e, words) || speaks_of(e, phrases);
}

bool endpoint_error_is_context(const struct endpoint_error *e) {
    static const char *const words[] = {"exceed_context_size_error",
                                        "context_length_exceeded", "request_too_large",
                                        NULL};
    static const char *const phrases[] = {"prompt is too long",
                                          "maximum context length",
                                          "exceeds the available context",
                                          "exceeds the context",
                                          "context length exceeded",
                                          "exceed context limit",
                                          "context window",
                                          NULL};
    return has_word(e, words) || speaks_of(e, phrases);
}

static bool is_missing_model(long status, const struct endpoint_error *e) {
    static const char *const words[] = {"model_not_found", "model_not_supported", NULL};
    static const char *const phrases[] = {"model not found", "no such model",
                                          "does not exist", "not a valid model", NULL};
    return has_word(e, words) ||
           (status == 404 && (strcmp(e->type, "not_found_error") == 0 ||
                              strcasestr(e->message, "model"))) ||
           (status == 400 && strcasestr(e->message, "model") && speaks_of(e, phrases));
}

long endpoint_error_status(const struct endpoint_error *e) {
    static const struct {
        const char *word;
        long status;
    } table[] = {
        {"invalid_request_error", 400}, {"authentication_error", 401},
        {"billing_error", 402},         {"permission_error", 403},
        {"not_found_error", 404},       {"conflict_error", 409},
        {"request_too_large", 413},     {"rate_limit_error", 429},
        {"rate_limit_exceeded", 429},   {"slow_down", 429},
        {"insufficient_quota", 429},    {"exceed_context_size_error", 400},
        {"timeout_error", 504},         {"overloaded_error", 529},
        {"server_is_overloaded", 503},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (strcmp(e->type, table[i].word) == 0 || strcmp(e->code, table[i].word) == 0) {
            return table[i].status;
        }
    }
    long code = strtol(e->code, NULL, 10);
    return code >= 400 && code <= 599 ? code : 500;
}

static struct fault judge_failure(int failure) {
    switch (failure) {
    case -ETIMEDOUT:
        return (struct fault){FAULT_SOON, "timeout",
                              "the endpoint did not answer in time; is it busy?"};
    case -ECONNREFUSED:
    case -EHOSTUNREACH:
    case -ENETUNREACH:
        return (struct fault){FAULT_SOON, "unreachable",
                              "check that the server runs and that base_url is right"};
    case -EPROTO:
        return (struct fault){FAULT_FINAL, "insecure",
                              "the server's certificate or TLS was not accepted"};
    case -EMSGSIZE:
        return (struct fault){FAULT_FINAL, "answer_too_large",
                              "ask for less, or lower max_tokens"};
    case -EINVAL:
        return (struct fault){FAULT_FINAL, "bad_request", "check base_url"};
    case -ENOSYS:
        return (struct fault){FAULT_FINAL, "no_http", "install libcurl 4"};
    case -EBADMSG:
        return (struct fault){FAULT_ODD, "bad_answer",
                              "the endpoint does not speak this API; check base_url "
                              "(OpenAI-compatible ones end in /v1) and api"};
    default:
        return (struct fault){FAULT_SOON, "connection_lost",
                              "the connection broke before the answer was whole"};
    }
}

static struct fault judge_request(long status, const struct endpoint_error *e) {
    if (status == 401) {
        return (struct fault){FAULT_FINAL, "unauthorized",
                              "check the key in the environment, and that it is meant "
                              "for this endpoint"};
    }
    if (status == 403) {
        return (struct fault){FAULT_FINAL, "forbidden",
                              "this key may not use that model or feature"};
    }
    if (is_missing_model(status, e)) {
        return (struct fault){FAULT_FINAL, "model_not_found",
                              "check the model's name; GET /v1/models lists what the "
                              "endpoint has"};
    }
    if (status == 404) {
        return (struct fault){FAULT_FINAL, "not_found",
                              "check base_url: OpenAI-compatible ones end in /v1"};
    }
    return (struct fault){FAULT_FINAL, "bad_request", "see the endpoint's message"};
}

static struct fault judge_status(long status, const struct endpoint_error *e) {
    if (status == 402 || is_money(e)) {
        return (struct fault){FAULT_FINAL, "out_of_money",
                              "credit or a spending limit is used up; see the "
                              "provider's billing page"};
    }
    if (status == 413 || (status >= 400 && status != 429 && status <= 500 &&
                          endpoint_error_is_context(e))) {
        return (struct fault){FAULT_FINAL, "context_too_long",
                              "the prompt does not fit the model's context; shorten it "
                              "or serve the model with a larger one"};
    }
    if (status == 429) {
        return (struct fault){FAULT_BUSY, "rate_limited",
                              "the endpoint limits requests or tokens per minute"};
    }
    if (status == 529 || strcmp(e->type, "overloaded_error") == 0 ||
        strcmp(e->code, "server_is_overloaded") == 0) {
        return (struct fault){FAULT_BUSY, "overloaded", "try again later"};
    }
    if (status == 408 || status == 504) {
        return (struct fault){FAULT_SOON, "timeout", "the endpoint was too slow"};
    }
    if (status == 409) {
        return (struct fault){FAULT_SOON, "conflict", "try again"};
    }
    if (status == 501) {
        return (struct fault){FAULT_FINAL, "bad_request", "see the endpoint's message"};
    }
    if (status >= 500) {
        return (struct fault){FAULT_SOON, "server_error", "try again later"};
    }
    if (status >= 300 && status < 400) {
        return (struct fault){FAULT_FINAL, "redirected",
                              "redirects are not followed; set `base_url` to where the "
                              "endpoint is"};
    }
    return judge_request(status, e);
}

struct fault fault_judge(long status, int failure, const struct endpoint_error *error,
                         const char *should_retry) {
    if (failure) {
        return judge_failure(failure);
    }
    struct fault fault = judge_status(status, error);
    bool money = strcmp(fault.reason, "out_of_money") == 0;
    if (should_retry && strcasecmp(should_retry, "false") == 0) {
        fault.retry = FAULT_FINAL;
    } else if (should_retry && strcasecmp(should_retry, "true") == 0 && !money &&
               fault.retry == FAULT_FINAL) {
        fault.retry = FAULT_SOON;
    }
    return fault;
}
