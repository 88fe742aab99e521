#include "protocol/rpc/rpc_message.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "protocol/rpc/rpc.h"

/* --- a scan of JSON text that trusts nothing and needs no stack --- */

struct scan {
    char *at, *end; /* at == end: nothing more, or given up */
};

static void skip_blank(struct scan *s) {
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r')) {
        s->at++;
    }
}

static bool take_char(struct scan *s, char c) {
    skip_blank(s);
    if (s->at == s->end || *s->at != c) {
        return false;
    }
    s->at++;
    return true;
}

/* From an opening quote past the closing one. False when it does not close. */
static bool skip_string(struct scan *s) {
    for (s->at++; s->at < s->end; s->at++) {
        if (*s->at == '\\') {
            s->at += s->end - s->at > 1;
        } else if (*s->at == '"') {
            s->at++;
            return true;
        }
    }
    return false;
}

static bool ends_scalar(char c) {
    return c == ',' || c == '}' || c == ']' || c == ':' || c == ' ' || c == '\t' ||
           c == '\n' || c == '\r' || c == '"' || c == '{' || c == '[';
}

static bool skip_container(struct scan *s) {
    size_t depth = 0;
    while (s->at < s->end) {
        char c = *s->at;
        if (c == '"') {
            if (!skip_string(s)) {
                return false;
            }
            continue;
        }
        s->at++;
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && --depth == 0) {
            return true;
        }
    }
    return false;
}

/* Past one value of any kind. False when the text ends before it does. */
static bool skip_value(struct scan *s) {
    skip_blank(s);
    if (s->at == s->end) {
        return false;
    }
    if (*s->at == '"') {
        return skip_string(s);
    }
    if (*s->at == '{' || *s->at == '[') {
        return skip_container(s);
    }
    char *from = s->at;
    while (s->at < s->end && !ends_scalar(*s->at)) {
        s->at++;
    }
    return s->at > from && s->at < s->end;
}

/* --- keys --- */

/* One character of a key, `\u0069` as `i`; '\0' for one that no key of ours has. */
static char key_char(const char **at, const char *end) {
    const char *s = *at;
    if (*s != '\\') {
        (*at)++;
        return *s;
    }
    *at = end;
    if (end - s < 6 || s[1] != 'u' || s[2] != '0' || s[3] != '0') {
        return '\0';
    }
    int high = text_hex_digit(s[4]), low = text_hex_digit(s[5]);
    *at = s + 6;
    return high < 0 || high > 7 || low < 0 ? '\0' : (char)(high * 16 + low);
}

/* The key between its quotes, as the parser will see it. */
static bool key_is(const char *key, const char *end, const char *name) {
    while (key < end && *name) {
        if (key_char(&key, end) != *name++) {
            return false;
        }
    }
    return key == end && !*name;
}

/* --- ids --- */

static size_t count_digits(const char *s, const char *end) {
    size_t n = 0;
    while (s + n < end && s[n] >= '0' && s[n] <= '9') {
        n++;
    }
    return n;
}

/* A number's text taken apart; whole == 0 when it is not JSON's grammar. */
struct number {
    const char *digits;   /* of the whole part */
    size_t whole, places; /* digits before and after the point */
    const char *fraction;
    long exponent;
    bool plain; /* neither point nor exponent */
};

static struct number read_number(const char *s, const char *end) {
    struct number n = {.plain = true};
    s += s < end && *s == '-';
    n.digits = s;
    size_t whole = count_digits(s, end);
    bool good = whole && (whole == 1 || *s != '0');
    s += whole;
    if (s < end && *s == '.') {
        n.fraction = ++s;
        n.places = count_digits(s, end);
        s += n.places;
        n.plain = false;
        good = good && n.places;
    }
    if (s < end && (*s == 'e' || *s == 'E')) {
        s++;
        bool negative = s < end && *s == '-';
        s += s < end && (*s == '-' || *s == '+');
        size_t digits = count_digits(s, end);
        for (size_t i = 0; i < digits; i++) {
            n.exponent =
                n.exponent > 100000 ? n.exponent : n.exponent * 10 + (s[i] - '0');
        }
        n.exponent = negative ? -n.exponent : n.exponent;
        s += digits;
        n.plain = false;
        good = good && digits;
    }
    n.whole = good && s == end ? whole : 0;
    return n;
}

/* Has it no fraction? 1.50e1 and 100e-2 have none. */
static bool number_is_integral(const struct number *n) {
    size_t places = n->places, zeros = 0;
    while (places && n->fraction[places - 1] == '0') {
        places--;
    }
    if (places) {
        return n->exponent > 0 && (size_t)n->exponent >= places;
    }
    while (zeros < n->whole && n->digits[n->whole - 1 - zeros] == '0') {
        zeros++;
    }
    return zeros == n->whole || n->exponent >= 0 || (size_t)-n->exponent <= zeros;
}

static void set_id(struct rpc_id *id, enum rpc_id_kind kind, char *text) {
    free(id->text);
    *id = (struct rpc_id){.kind = kind, .text = text};
}

/* Keeps a number's text, and overwrites digits that the parser would round or reject with
 * 0. */
static void read_number_id(char *from, char *to, struct rpc_id *id) {
    struct number n = read_number(from, to);
    if (!n.whole) {
        set_id(id, RPC_ID_BAD, NULL);
        return; /* the parser will say why */
    }
    size_t len = (size_t)(to - from);
    bool good = len <= RPC_MAX_ID && (n.plain || number_is_integral(&n));
    set_id(id, good ? RPC_ID_GOOD : RPC_ID_BAD, good ? xstrndup(from, len) : NULL);
    if (!n.plain || n.whole > 18) {
        *from = '0';
        memset(from + 1, ' ', len - 1);
    }
}

/* The value at s is the top-level "id" of a message. A string's text comes from the tree.
 */
static bool read_id(struct scan *s, struct rpc_id *id) {
    skip_blank(s);
    char *from = s->at;
    if (!skip_value(s)) {
        return false;
    }
    size_t len = (size_t)(s->at - from);
    if (*from == '-' || (*from >= '0' && *from <= '9')) {
        read_number_id(from, s->at, id);
    } else if (*from == '"' && len <= RPC_MAX_ID) {
        set_id(id, RPC_ID_GOOD, xstrndup(from, len));
    } else {
        set_id(id, RPC_ID_BAD, NULL);
    }
    return true;
}

/* The keys of one object, from its '{' on. False when the text ends or breaks before it.
 */
static bool scan_object(struct scan *s, struct rpc_head *head) {
    if (!take_char(s, '{')) {
        return false;
    }
    if (take_char(s, '}')) {
        return true;
    }
    do {
        skip_blank(s);
        char *key = s->at + 1;
        if (s->at == s->end || *s->at != '"' || !skip_string(s)) {
            return false;
        }
        const char *end = s->at - 1;
        head->method = head->method || key_is(key, end, "method");
        head->response =
            head->response || key_is(key, end, "result") || key_is(key, end, "error");
        bool is_id = key_is(key, end, "id");
        if (!take_char(s, ':') || !(is_id ? read_id(s, &head->id) : skip_value(s))) {
            return false;
        }
    } while (take_char(s, ','));
    return take_char(s, '}');
}

static void add_id(struct rpc_body *body, size_t *cap, struct rpc_id id) {
    list_room(body->ids, body->count, *cap, 1);
    body->ids[body->count++] = id;
}

/* One id per element, as far as RPC_MAX_BATCH; longer batches are refused unseen. */
static void scan_batch(struct scan *s, struct rpc_body *body) {
    size_t cap = 0;
    s->at++;
    do {
        struct rpc_head head = {.id.kind = RPC_ID_ABSENT};
        skip_blank(s);
        bool object = s->at < s->end && *s->at == '{';
        bool good = object ? scan_object(s, &head) : skip_value(s);
        if (!good) {
            free(head.id.text);
            return;
        }
        add_id(body, &cap, head.id);
    } while (body->count < RPC_MAX_BATCH && take_char(s, ','));
}

static void scan_ids(char *text, size_t len, struct rpc_body *body) {
    struct scan s = {text, text + len};
    skip_blank(&s);
    if (s.at < s.end && *s.at == '[') {
        scan_batch(&s, body);
        return;
    }
    struct rpc_head head = {.id.kind = RPC_ID_ABSENT};
    size_t cap = 0;
    scan_object(&s, &head);
    add_id(body, &cap, head.id);
}

/* --- after the parse --- */

static bool is_plain(const char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text >= 0x80 || *text == '\\') {
            return false;
        }
    }
    return true;
}

/* A string's text may contain broken UTF-8 and lone surrogates, which the tree has
 * repaired; the text sent back must not. This also gives equal strings equal texts. */
static void settle_string_id(const json_t *message, struct rpc_id *id) {
    if (id->kind != RPC_ID_GOOD || *id->text != '"' || is_plain(id->text)) {
        return;
    }
    autobuf text = BUF_INIT(4 * RPC_MAX_ID);
    const json_t *value = json_object_get(message, "id");
    if (!json_is_string(value) || json_write(&text, value) < 0) {
        set_id(id, RPC_ID_BAD, NULL);
    } else {
        set_id(id, RPC_ID_GOOD, buf_detach(&text));
    }
}

void rpc_body_read(char *body, size_t len, struct rpc_body *ret) {
    struct err err = {0};
    *ret = (struct rpc_body){.root = NULL};
    scan_ids(body, len, ret);
    ret->root = json_parse(body, len, &err);
    if (!ret->root) {
        bool is_json = err.code == -ERANGE;
        snprintf(ret->why, sizeof ret->why, "%s%.200s", is_json ? "" : "not valid JSON: ",
                 err.msg);
        return;
    }
    ret->batch = json_is_array(ret->root);
    for (size_t i = 0; i < ret->count; i++) {
        settle_string_id(ret->batch ? json_array_get(ret->root, i) : ret->root,
                         &ret->ids[i]);
    }
}

void rpc_body_attach(struct rpc_body *body, struct buf *attached) {
    json_t *own = json_object_get(body->root, "result");
    if (!own || json_object_get(body->root, "method")) {
        return;
    }
    json_t *whole = json_parse(attached->data, attached->len, NULL);
    if (json_is_object(whole) && json_is_object(own)) {
        json_object_update(whole, own);
        json_object_set_new(body->root, "result", whole);
        return;
    }
    json_decref(whole);
    json_object_del(body->root, "result");
    json_object_set_new(body->root, "error",
                        json_pack("{s:i, s:s}", "code", RPC_INTERNAL_ERROR, "message",
                                  "the attachment of the answer is not a JSON object"));
}

void rpc_body_finish(struct rpc_body *body) {
    for (size_t i = 0; i < body->count; i++) {
        free(body->ids[i].text);
    }
    free(body->ids);
    json_decref(body->root);
    *body = (struct rpc_body){.root = NULL};
}

static struct rpc_message bad(const char *why) {
    return (struct rpc_message){.kind = RPC_KIND_BAD, .why = why};
}

static struct rpc_message read_call(json_t *value, const json_t *method,
                                    const struct rpc_id *id) {
    json_t *params = json_object_get(value, "params");
    const json_t *version = json_object_get(value, "jsonrpc");
    if (!json_is_string(method) ||
        memchr(json_string_value(method), '\0', json_string_length(method))) {
        return bad("\"method\" must be a string");
    }
    if (version &&
        (!json_is_string(version) || strcmp(json_string_value(version), "2.0") != 0)) {
        return bad("\"jsonrpc\" must be \"2.0\"");
    }
    if (params && !json_is_object(params) && !json_is_array(params) &&
        !json_is_null(params)) {
        return bad("\"params\" must be an object or an array");
    }
    if (id->kind == RPC_ID_BAD) {
        return bad(
            "\"id\" must be a string or a whole number, and not longer than 1 KiB");
    }
    return (struct rpc_message){.kind = id->kind == RPC_ID_GOOD ? RPC_KIND_REQUEST
                                                                : RPC_KIND_NOTIFICATION,
                                .method = json_string_value(method),
                                .params = json_is_null(params) ? NULL : params};
}

void rpc_message_read(json_t *value, const struct rpc_id *id, struct rpc_message *ret) {
    const json_t *method = json_object_get(value, "method");
    if (!json_is_object(value)) {
        *ret = bad("a message must be an object");
    } else if (method) {
        *ret = read_call(value, method, id);
    } else if (!json_object_get(value, "result") && !json_object_get(value, "error")) {
        *ret = bad("a message needs \"method\", \"result\" or \"error\"");
    } else {
        *ret = (struct rpc_message){.kind = RPC_KIND_RESPONSE};
    }
}

void rpc_head_read(const char *head, size_t len, struct rpc_head *ret) {
    autofree char *copy = xstrndup(head, len); /* the scan may write into it */
    struct scan s = {copy, copy + strlen(copy)};
    *ret = (struct rpc_head){.id.kind = RPC_ID_ABSENT};
    scan_object(&s, ret);
    if (ret->id.kind == RPC_ID_GOOD && *ret->id.text == '"' && !is_plain(ret->id.text)) {
        set_id(&ret->id, RPC_ID_BAD, NULL); /* cannot be mended without the tree */
    }
}
