#include "skills/models/endpoint_error.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"

#include <limits.h>

#define NO_MODEL (-1) /* in the place of a status: the model is not there */

struct error_status {
    const char *word;
    long status;
};
struct fault_row {
    const char *reason, *hint;
    long first, last;
    enum fault_retry retry;
};
#include "skills/endpoint_faults_table.h"

/* --- reading --- */

void endpoint_word(char *ret, size_t size, const char *s, size_t len) {
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
        endpoint_word(ret, size, json_string_value(value), json_string_length(value));
    } else if (json_is_integer(value)) {
        snprintf(ret, size, "%lld", (long long)json_integer_value(value));
    }
}

void endpoint_error_text(struct endpoint_error *ret, const char *body, size_t len) {
    *ret = (struct endpoint_error){0};
    endpoint_word(ret->message, 256, body, len);
}

/* FastAPI's {"detail": [{"loc", "msg"}…]} is shown as it stands. */
static void set_detail(struct endpoint_error *ret, const json_t *detail) {
    if (json_is_string(detail)) {
        endpoint_word(ret->message, sizeof ret->message, json_string_value(detail),
                      json_string_length(detail));
    } else {
        autobuf text = BUF_INIT(1u << 16);
        json_write(&text, detail);
        endpoint_word(ret->message, sizeof ret->message, text.data, text.len);
    }
}

bool endpoint_error_read(struct endpoint_error *ret, const json_t *body) {
    const json_t *error = json_object_get(body, "error");
    const json_t *detail = json_object_get(body, "detail");
    *ret = (struct endpoint_error){0};
    const json_t *of = json_is_object(error) ? error : body;
    set_member(ret->type, sizeof ret->type, of, "type");
    set_member(ret->code, sizeof ret->code, of, "code");
    if (json_is_object(error)) {
        set_member(ret->detail, sizeof ret->detail, json_object_get(error, "details"),
                   "error_code");
        set_member(ret->message, sizeof ret->message, error, "message");
        return true;
    }
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

bool endpoint_error_speaks(const struct endpoint_error *e, const char *const *phrases) {
    while (*phrases && !strcasestr(e->message, *phrases)) {
        phrases++;
    }
    return *phrases;
}

static bool has_word(const struct endpoint_error *e, const char *const *list) {
    return strings_have(list, e->type) || strings_have(list, e->code) ||
           strings_have(list, e->detail);
}

static bool is_money(const struct endpoint_error *e) {
    return has_word(e, money_words) || endpoint_error_speaks(e, money_phrases);
}

bool endpoint_error_is_context(const struct endpoint_error *e) {
    return has_word(e, context_words) || endpoint_error_speaks(e, context_phrases);
}

static bool is_missing_model(long status, const struct endpoint_error *e) {
    bool of_model = strcasestr(e->message, "model");
    return has_word(e, model_words) ||
           (status == 404 && (strcmp(e->type, "not_found_error") == 0 || of_model)) ||
           (status == 400 && of_model && endpoint_error_speaks(e, model_phrases));
}

long endpoint_error_status(const struct endpoint_error *e) {
    for (const struct error_status *row = error_statuses; row->word; row++) {
        if (strcmp(e->type, row->word) == 0 || strcmp(e->code, row->word) == 0) {
            return row->status;
        }
    }
    long code = strtol(e->code, NULL, 10);
    return code >= 400 && code <= 599 ? code : 500;
}

static struct fault fault_of(const struct fault_row *row, long code) {
    while (code < row->first || code > row->last) {
        row++;
    }
    return (struct fault){row->retry, row->reason, row->hint};
}

/* The status that fits the error's message. */
static long meant_status(long status, const struct endpoint_error *e) {
    bool overloaded = strcmp(e->type, "overloaded_error") == 0 ||
                      strcmp(e->code, "server_is_overloaded") == 0;
    bool own = (status >= 300 && status < 400) || status == 401 || status == 403 ||
               status == 408 || status == 409 || status >= 500;
    if (is_money(e)) {
        return 402;
    }
    if (status >= 400 && status != 402 && status != 429 && status <= 500 &&
        endpoint_error_is_context(e)) {
        return 413;
    }
    if (status == 402 || status == 413 || status == 429) {
        return status;
    }
    return overloaded ? 529 : !own && is_missing_model(status, e) ? NO_MODEL : status;
}

struct fault fault_judge(long status, int failure, const struct endpoint_error *error,
                         const char *should_retry) {
    if (failure) {
        return fault_of(failure_faults, failure);
    }
    struct fault fault = fault_of(status_faults, meant_status(status, error));
    bool money = strcmp(fault.reason, "out_of_money") == 0;
    if (should_retry && strcasecmp(should_retry, "false") == 0) {
        fault.retry = FAULT_FINAL;
    } else if (should_retry && strcasecmp(should_retry, "true") == 0 && !money &&
               fault.retry == FAULT_FINAL) {
        fault.retry = FAULT_SOON;
    }
    return fault;
}
