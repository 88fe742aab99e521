/* A body as it is read, ids above all: RFC 8259's grammar of numbers, and JSON-RPC 2.0 on
 * what an id may be. Numbers are put together here, so what they are worth is known. */
#include "base/buf.h"
#include "base/mem.h"
#include "protocol/rpc/rpc_message.h"

#include <criterion/criterion.h>
#include <string.h>

static struct rpc_body read_body(const char *text) {
    struct rpc_body body;
    autofree char *copy = xstrdup(text);
    rpc_body_read(copy, strlen(copy), &body);
    return body;
}

/* text NULL: a bad id. */
static void expect_id(const struct rpc_id *id, const char *text, const char *of) {
    cr_expect_eq(id->kind, text ? RPC_ID_GOOD : RPC_ID_BAD, "%s", of);
    cr_expect(text ? id->text && strcmp(id->text, text) == 0 : !id->text, "%s: %s", of,
              id->text ? id->text : "none");
}

static void expect_number(const char *number, bool good) {
    autofree char *text = xasprintf("{\"id\" : %s,\"method\":\"m\"}", number);
    struct rpc_body body = read_body(text);
    cr_assert(body.root, "%s: %s", text, body.why);
    cr_assert_eq(body.count, 1);
    expect_id(&body.ids[0], good ? number : NULL, text);
    cr_expect_str_eq(json_get_string(body.root, "method", ""), "m");
    rpc_body_finish(&body);
}

/* mantissa, which ends in no zero, with so many zeros behind it; `places` of these digits
 * stand behind the point; times ten to the power of exponent. */
static void put_number(char *to, size_t size, const char *mantissa, int zeros, int places,
                       int exponent, const char *e) {
    char digits[64], whole[64];
    snprintf(digits, sizeof digits, "%s%.*s", mantissa, zeros, "00000000");
    int len = (int)strlen(digits), before = len - places;
    snprintf(whole, sizeof whole, "%.*s", before, digits);
    snprintf(to, size, "%s%s%s%s", before > 0 ? whole : "0", places ? "." : "",
             before < 0 ? "0" : "", digits + (before > 0 ? before : 0));
    if (*e) {
        snprintf(to + strlen(to), size - strlen(to), "%s%d", e, exponent);
    }
}

Test(rpc_message, an_id_is_a_number_without_a_fraction) {
    static const char *const mantissas[] = {"1", "25", "907", "123456789012345678901"};
    static const char *const marks[] = {"", "e", "E", "e+"};
    for (size_t m = 0; m < ARRAY_LEN(mantissas); m++) {
        for (int zeros = 0; zeros < 4; zeros++) {
            int most = (int)strlen(mantissas[m]) + zeros;
            for (int places = 0; places <= most; places++) {
                for (int exponent = -6; exponent <= 6; exponent++) {
                    const char *mark = marks[(unsigned)(exponent + places + 6) % 4];
                    int power = *mark ? exponent : 0;
                    if (mark[0] && mark[1] && exponent < 0) {
                        continue;
                    }
                    char number[128] = "-";
                    put_number(number + 1, sizeof number - 1, mantissas[m], zeros, places,
                               power, mark);
                    bool good = power - places + zeros >= 0;
                    expect_number(number, good);
                    expect_number(number + 1, good);
                }
            }
        }
    }
    static const char *const zeros[] = {"0",   "-0",       "0.0",
                                        "0e5", "0.000e-7", "0E-99999999999"};
    for (size_t i = 0; i < ARRAY_LEN(zeros); i++) {
        expect_number(zeros[i], true);
    }
    expect_number("1e99999999999999999999", true);
    expect_number("1e-99999999999999999999", false);
    expect_number("10e-1", true);
    expect_number("0.1e1", true);
    expect_number("0.01e1", false);
}

/* jansson, which reads the whole, knows the grammar too. */
Test(rpc_message, what_is_no_number_is_no_json) {
    static const char *const bad[] = {"01",    "-",   "1.",  "1.e1",  "1e",   "1e+",
                                      "1e-",   "00",  "-01", "1.2.3", "1ee1", "0x10",
                                      "1e1.5", "--1", "1-1", "- 1",   "1+",   "-00.5"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        autofree char *text = xasprintf("{\"id\":%s,\"method\":\"m\"}", bad[i]);
        cr_expect_eq(json_loads(text, 0, NULL), NULL, "%s", text);
        struct rpc_body body = read_body(text);
        cr_expect(!body.root && body.why[0], "%s", text);
        for (size_t k = 0; k < body.count; k++) {
            cr_expect_neq(body.ids[k].kind, RPC_ID_GOOD, "%s", text);
        }
        rpc_body_finish(&body);
    }
}

Test(rpc_message, an_id_is_of_the_message_itself_and_of_one_key) {
    static const struct {
        const char *text, *id; /* NULL: bad; "": absent */
    } cases[] = {
        {"{\"method\":\"m\"}", ""},
        {"{}", ""},
        {" {\"id\":\"a\"} ", "\"a\""},
        {"{\"\\u0069\\u0064\":7}", "7"},
        {"{\"\\u0049d\":7}", ""}, /* Id */
        {"{\"i\":1,\"idx\":2,\"\":3}", ""},
        {"{\"params\":{\"id\":1},\"list\":[{\"id\":2}]}", ""},
        {"{\"params\":{\"s\":\"}\\\"\",\"t\":[\"]\",{}]},\"id\":3}", "3"},
        {"{\"id\":1,\"id\":\"two\"}", "\"two\""},
        {"{\"id\":\"two\",\"id\":{}}", NULL},
        {"{\"id\":null}", NULL},
        {"{\"id\":true}", NULL},
        {"{\"id\":[1]}", NULL},
        {"{\"id\":{\"id\":1}}", NULL},
        {"{\t\"id\"\r\n:\t-5\n,\"x\":false}", "-5"},
        {"{\"id\":\"\\u00e4\\ud83d\\ude00\"}", "\"\u00e4\U0001f600\""},
        {"{\"id\":\"a\\/b\\\\\"}", "\"a/b\\\\\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rpc_body body = read_body(cases[i].text);
        cr_assert(body.root && body.count == 1 && !body.batch, "%s", cases[i].text);
        if (cases[i].id && !*cases[i].id) {
            cr_expect_eq(body.ids[0].kind, RPC_ID_ABSENT, "%s", cases[i].text);
        } else {
            expect_id(&body.ids[0], cases[i].id, cases[i].text);
        }
        rpc_body_finish(&body);
    }
}

Test(rpc_message, an_id_has_a_kibibyte) {
    for (size_t over = 0; over < 2; over++) {
        char digits[RPC_MAX_ID + 2];
        memset(digits, '7', sizeof digits);
        digits[RPC_MAX_ID + over] = 0;
        expect_number(digits, !over);
        autofree char *text = xasprintf("{\"id\":\"%s\"}", digits + 2);
        autofree char *id = xasprintf("\"%s\"", digits + 2);
        struct rpc_body body = read_body(text);
        expect_id(&body.ids[0], over ? NULL : id, "of a string");
        rpc_body_finish(&body);
    }
}

Test(rpc_message, every_message_of_a_batch_has_its_own_id) {
    struct rpc_body body = read_body(
        " [ {\"id\":1} , {\"method\":\"m\"},5,{\"id\":\"\\u0062\"}, [], {\"id\":2.5}]");
    cr_assert(body.batch && body.count == 6, "%s", body.why);
    expect_id(&body.ids[0], "1", "first");
    cr_expect_eq(body.ids[1].kind, RPC_ID_ABSENT);
    cr_expect_eq(body.ids[2].kind, RPC_ID_ABSENT);
    expect_id(&body.ids[3], "\"b\"", "fourth");
    cr_expect_eq(body.ids[4].kind, RPC_ID_ABSENT);
    expect_id(&body.ids[5], NULL, "sixth");
    cr_expect_eq(json_array_size(body.root), 6);
    rpc_body_finish(&body);
    autobuf many = BUF_INIT(1u << 20);
    for (int i = 0; i < RPC_MAX_BATCH + 5; i++) {
        buf_addf(&many, "%c{\"id\":%d}", i ? ',' : '[', i);
    }
    buf_addc(&many, ']');
    body = read_body(many.data);
    cr_assert_eq(body.count, RPC_MAX_BATCH);
    expect_id(&body.ids[RPC_MAX_BATCH - 1], "1023", "the last that is read");
    rpc_body_finish(&body);
}

/* A message that was cut anywhere shows no more than its beginning. */
Test(rpc_message, the_beginning_of_a_message_tells_what_it_holds) {
    static const char text[] =
        "{\"a\":[1,\"id\"],\"method\":\"m\",\"id\":\"x\",\"result\":{}}";
    size_t method = (size_t)(strstr(text, "\"method\"") - text) + 8,
           id = (size_t)(strstr(text, "\"x\"") - text) + 3,
           result = (size_t)(strstr(text, "\"result\"") - text) + 8;
    for (size_t len = 0; len < sizeof text; len++) {
        struct rpc_head head;
        rpc_head_read(text, len, &head);
        cr_expect_eq(head.method, len >= method, "%zu", len);
        cr_expect_eq(head.id.kind, len >= id ? RPC_ID_GOOD : RPC_ID_ABSENT, "%zu", len);
        cr_expect_eq(head.response, len >= result, "%zu", len);
        free(head.id.text);
    }
    static const struct {
        const char *text;
        enum rpc_id_kind kind;
    } cases[] = {
        {"{\"id\":12", RPC_ID_ABSENT}, /* there may be more digits */
        {"{\"id\":12,", RPC_ID_GOOD},
        {"{\"id\":1.5,", RPC_ID_BAD},
        {"{\"id\":\"\\u0061\",", RPC_ID_BAD},
        {"{\"id\":\"\xc3\xa4\",", RPC_ID_BAD},
        {"[{\"id\":1,", RPC_ID_ABSENT},
        {"\"id\":1,", RPC_ID_ABSENT},
        {"{\"error\":1,\"id\":2}", RPC_ID_GOOD},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rpc_head head;
        rpc_head_read(cases[i].text, strlen(cases[i].text), &head);
        cr_expect_eq(head.id.kind, cases[i].kind, "%s", cases[i].text);
        cr_expect_eq(head.response, strstr(cases[i].text, "error") != NULL);
        free(head.id.text);
    }
}

Test(rpc_message, a_message_is_one_of_four_kinds) {
    static const struct {
        const char *text;
        enum rpc_kind kind;
        const char *why;
    } cases[] = {
        {"{\"method\":\"m\",\"id\":1}", RPC_KIND_REQUEST, NULL},
        {"{\"method\":\"m\",\"id\":1,\"result\":2,\"params\":[]}", RPC_KIND_REQUEST,
         NULL},
        {"{\"method\":\"m\",\"jsonrpc\":\"2.0\",\"params\":{}}", RPC_KIND_NOTIFICATION,
         NULL},
        {"{\"method\":\"m\",\"params\":null}", RPC_KIND_NOTIFICATION, NULL},
        {"{\"result\":null,\"id\":1}", RPC_KIND_RESPONSE, NULL},
        {"{\"error\":{},\"id\":null}", RPC_KIND_RESPONSE, NULL},
        {"{\"method\":\"m\",\"id\":null}", RPC_KIND_BAD, "\"id\""},
        {"{\"method\":\"m\",\"params\":1}", RPC_KIND_BAD, "\"params\""},
        {"{\"method\":\"m\",\"params\":\"x\"}", RPC_KIND_BAD, "\"params\""},
        {"{\"method\":\"m\",\"jsonrpc\":\"1.0\"}", RPC_KIND_BAD, "\"jsonrpc\""},
        {"{\"method\":\"m\",\"jsonrpc\":2}", RPC_KIND_BAD, "\"jsonrpc\""},
        {"{\"method\":3}", RPC_KIND_BAD, "\"method\""},
        {"{\"id\":1}", RPC_KIND_BAD, "\"result\""},
        {"[]", RPC_KIND_BAD, "object"},
        {"7", RPC_KIND_BAD, "object"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rpc_body body = read_body(cases[i].text);
        struct rpc_message message;
        struct rpc_id none = {.kind = RPC_ID_ABSENT};
        rpc_message_read(body.root, body.count ? &body.ids[0] : &none, &message);
        cr_expect_eq(message.kind, cases[i].kind, "%s", cases[i].text);
        cr_expect(!cases[i].why || strstr(message.why, cases[i].why), "%s: %s",
                  cases[i].text, message.why);
        if (message.kind < RPC_KIND_RESPONSE) {
            cr_expect_str_eq(message.method, "m");
            cr_expect_eq(message.params != NULL,
                         strstr(cases[i].text, "[]") || strstr(cases[i].text, ":{}"));
        }
        rpc_body_finish(&body);
    }
}

Test(rpc_message, an_attachment_is_the_rest_of_a_result) {
    static const struct {
        const char *text, *attached, *after;
    } cases[] = {
        {"{\"result\":{\"a\":1}}", "{\"a\":2,\"b\":3}", "{\"result\":{\"a\":1,\"b\":3}}"},
        {"{\"id\":4,\"result\":{}}", "{}", "{\"id\":4,\"result\":{}}"},
        {"{\"error\":{\"code\":1}}", "{\"b\":3}", "{\"error\":{\"code\":1}}"},
        {"{\"method\":\"m\",\"result\":{}}", "{\"b\":3}",
         "{\"method\":\"m\",\"result\":{}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rpc_body body = read_body(cases[i].text);
        autobuf attached = BUF_INIT(1000);
        buf_adds(&attached, cases[i].attached);
        rpc_body_attach(&body, &attached);
        autojson *after = json_loads(cases[i].after, 0, NULL);
        cr_expect(json_equal(body.root, after), "%s", cases[i].text);
        rpc_body_finish(&body);
    }
    static const char *const bad[][2] = {
        {"{\"result\":{}}", "[]"}, {"{\"result\":5}", "{}"}, {"{\"result\":{}}", "{"}};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct rpc_body body = read_body(bad[i][0]);
        autobuf attached = BUF_INIT(1000);
        buf_adds(&attached, bad[i][1]);
        rpc_body_attach(&body, &attached);
        const json_t *error = json_object_get(body.root, "error");
        cr_expect_eq(json_object_get(body.root, "result"), NULL);
        cr_expect_eq(json_get_integer(error, "code", 0), -32603);
        cr_expect(strstr(json_get_string(error, "message", ""), "attachment"));
        rpc_body_finish(&body);
    }
}
