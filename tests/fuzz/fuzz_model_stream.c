/* A hostile endpoint's bytes: the first says which API, whether it streams and how the
 * bytes come. Whatever it sends, what is kept is bounded and UTF-8, the stream read in
 * pieces gives what it gives whole, and an error body becomes words. */
#include "base/err.h"
#include "base/text.h"
#include "skills/models/api.h"
#include "skills/models/model_retry.h"
#include "skills/models/sse.h"
#include "skills/models/structured.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

struct reading {
    const struct api *api;
    struct api_reply reply;
    unsigned events;
};

static int on_event(const char *name, char *data, size_t len, void *user) {
    struct reading *r = user;
    check(strlen(name) > 0 && strlen(name) < 64 && data[len] == '\0');
    r->events++;
    json_t *json = json_parse(data, len, NULL);
    int rc = json ? r->api->event(&r->reply, name, json) : 0;
    json_decref(json);
    return rc;
}

static int read_stream(struct reading *r, const struct api *api, const char *bytes,
                       size_t len, size_t piece) {
    struct sse s;
    int rc = 0;
    *r = (struct reading){.api = api};
    reply_init(&r->reply);
    sse_init(&s, on_event, r);
    for (size_t at = 0; at < len && rc == 0; at += piece) {
        rc = sse_feed(&s, bytes + at, len - at < piece ? len - at : piece, NULL);
    }
    sse_finish(&s);
    return rc;
}

static void check_error(const struct endpoint_error *e) {
    check(text_is_utf8(e->message, strlen(e->message)));
    check(strlen(e->message) < sizeof e->message && strlen(e->type) < sizeof e->type);
    struct fault fault = fault_judge(endpoint_error_status(e), 0, e, NULL);
    check(*fault.reason && *fault.hint);
}

static void check_reply(const struct api_reply *r) {
    check(r->text.len <= API_MAX_TEXT && r->arguments.len <= API_MAX_TEXT);
    check(text_is_utf8(r->text.data, r->text.len));
    check(text_is_utf8(r->served_model, strlen(r->served_model)));
    check(text_is_utf8(r->stop_reason, strlen(r->stop_reason)));
    check(r->usage.input < 4000000000000ull && r->usage.output <= 1000000000000ull);
    check(!r->usage.reported || r->usage.input > 0);
    if (r->failed) {
        check_error(&r->error);
    }
}

static void check_stream(const struct api *api, const char *bytes, size_t len,
                         size_t piece) {
    struct reading whole, cut;
    int rc = read_stream(&whole, api, bytes, len, len ? len : 1);
    check(read_stream(&cut, api, bytes, len, piece) == rc);
    check_reply(&whole.reply);
    check(whole.events == cut.events && whole.reply.ended == cut.reply.ended);
    check(whole.reply.text.len == cut.reply.text.len);
    check(memcmp(whole.reply.text.data, cut.reply.text.data, cut.reply.text.len) == 0);
    reply_finish(&whole.reply);
    reply_finish(&cut.reply);
}

static void check_body(const struct api *api, const char *bytes, size_t len) {
    char *copy = malloc(len + 1);
    struct api_reply r;
    struct endpoint_error e;
    memcpy(copy, bytes, len);
    copy[len] = '\0';
    endpoint_error_text(&e, copy, len);
    check_error(&e);
    json_t *json = json_parse(copy, len, NULL);
    if (json) {
        reply_init(&r);
        api->whole(&r, json);
        check_reply(&r);
        reply_finish(&r);
        endpoint_error_read(&e, json);
        check_error(&e);
        structured_is_strict(json);
        json_decref(json);
    }
    free(copy);
}

static void check_text(const char *bytes, size_t len) {
    json_t *schema = json_pack("{s:s}", "type", "object");
    json_decref(structured_find(bytes, len, schema));
    json_decref(schema);
    char *text = malloc(len + 1);
    memcpy(text, bytes, len);
    text[len] = '\0';
    check(retry_after_ms(text, text, 0) >= -1);
    check(retry_delay_ms(retry_after_ms(NULL, text, 0), 1, true, 0.5) > 0);
    char *name = structured_name(text);
    check(strlen(name) >= 1 && strlen(name) <= 64);
    free(name);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    const struct api *api = data[0] & 1 ? &messages_api : &chat_api;
    const char *bytes = (const char *)data + 1;
    if (data[0] & 2) {
        check_body(api, bytes, size - 1);
        check_text(bytes, size - 1);
    } else {
        check_stream(api, bytes, size - 1, (size_t)(data[0] >> 2) % 16 + 1);
    }
    return 0;
}
