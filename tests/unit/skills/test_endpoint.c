#include "base/mem.h"
#include "skills/models/endpoint.h"
#include "skills/models/model_retry.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

/* --- which errors are retried --- */

/* Bodies as the vendors document them. */
static const struct {
    long status;
    const char *body, *should_retry;
    enum fault_retry retry;
    const char *reason;
} errors[] = {
    {429,
     "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"message\":\"slow\"}"
     "}",
     NULL, FAULT_BUSY, "rate_limited"},
    {429, "{\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}",
     "true", FAULT_FINAL, "out_of_money"},
    {429, "{\"error\":{\"type\":\"requests\",\"code\":\"credit_balance_exhausted\"}}",
     NULL, FAULT_FINAL, "out_of_money"},
    {429,
     "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"details\":{\"error_"
     "code\":\"contract_spend_limit_reached\"}}}",
     NULL, FAULT_FINAL, "out_of_money"},
    {429,
     "{\"type\":\"error\",\"error\":{\"type\":\"rate_limit_error\",\"details\":{\"error_"
     "code\":\"ramp_limit_exceeded\"}}}",
     NULL, FAULT_BUSY, "rate_limited"},
    {402, "{}", NULL, FAULT_FINAL, "out_of_money"},
    {400,
     "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"Your credit balance "
     "is "
     "too low\"}}",
     NULL, FAULT_FINAL, "out_of_money"},
    {401, "{\"error\":{\"message\":\"no\"}}", NULL, FAULT_FINAL, "unauthorized"},
    {403, "{}", NULL, FAULT_FINAL, "forbidden"},
    {404,
     "{\"type\":\"error\",\"error\":{\"type\":\"not_found_error\",\"message\":\"model: "
     "x\"}}",
     NULL, FAULT_FINAL, "model_not_found"},
    {404, "{\"detail\":\"Not Found\"}", NULL, FAULT_FINAL, "not_found"},
    {404, "{\"error\":\"model 'llama9' not found\"}", NULL, FAULT_FINAL,
     "model_not_found"},
    {408, "{}", NULL, FAULT_SOON, "timeout"},
    {409, "{}", NULL, FAULT_SOON, "conflict"},
    {413, "{}", NULL, FAULT_FINAL, "context_too_long"},
    {400,
     "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context "
     "size\",\"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":8023,\"n_ctx\":"
     "2048}}",
     NULL, FAULT_FINAL, "context_too_long"},
    {400,
     "{\"object\":\"error\",\"message\":\"This model's maximum context length is 4096 "
     "tokens\",\"type\":\"BadRequestError\",\"code\":400}",
     NULL, FAULT_FINAL, "context_too_long"},
    {400, "{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000\"}}",
     NULL, FAULT_FINAL, "context_too_long"},
    {400, "{\"error\":{\"message\":\"bad\"}}", NULL, FAULT_FINAL, "bad_request"},
    {400, "{\"error\":{\"message\":\"bad\"}}", "true", FAULT_SOON, "bad_request"},
    {500, "", NULL, FAULT_SOON, "server_error"},
    {500, "", "false", FAULT_FINAL, "server_error"},
    {503,
     "{\"error\":{\"message\":\"Loading model\",\"type\":\"unavailable_error\",\"code\":"
     "503}}",
     NULL, FAULT_SOON, "server_error"},
    {503, "{\"error\":{\"code\":\"server_is_overloaded\"}}", NULL, FAULT_BUSY,
     "overloaded"},
    {504, "<html>", NULL, FAULT_SOON, "timeout"},
    {529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}", NULL,
     FAULT_BUSY, "overloaded"},
    {302, "", NULL, FAULT_FINAL, "redirected"},
};

static void read_error(struct endpoint_error *ret, const char *body) {
    autojson *json = json_loads(body, 0, NULL);
    if (!json || !endpoint_error_read(ret, json)) {
        endpoint_error_text(ret, body, strlen(body));
    }
}

Test(endpoint, errors_are_judged_by_code_first) {
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        struct endpoint_error e;
        read_error(&e, errors[i].body);
        struct fault fault = fault_judge(errors[i].status, 0, &e, errors[i].should_retry);
        cr_assert(eq(str, (char *)fault.reason, (char *)errors[i].reason), "case %zu", i);
        cr_assert(eq(int, (int)fault.retry, (int)errors[i].retry), "case %zu", i);
        cr_assert(fault.hint[0] != '\0');
    }
}

Test(endpoint, broken_connections_are_retried_and_wrong_ones_not) {
    static const struct {
        int failure;
        enum fault_retry retry;
    } table[] = {{-ECONNREFUSED, FAULT_SOON}, {-EHOSTUNREACH, FAULT_SOON},
                 {-ECONNRESET, FAULT_SOON},   {-ETIMEDOUT, FAULT_SOON},
                 {-EIO, FAULT_SOON},          {-EPROTO, FAULT_FINAL},
                 {-EINVAL, FAULT_FINAL},      {-EMSGSIZE, FAULT_FINAL},
                 {-ENOSYS, FAULT_FINAL},      {-EBADMSG, FAULT_ODD}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct fault fault = fault_judge(200, table[i].failure, NULL, NULL);
        cr_assert(eq(int, (int)fault.retry, (int)table[i].retry), "case %zu", i);
    }
}

Test(endpoint, an_error_text_is_cleaned_and_bounded) {
    struct endpoint_error e;
    autobuf body = BUF_INIT(1u << 20);
    buf_adds(&body, "{\"error\":{\"message\":\"\\u001b[31mred\\u202e ");
    for (int i = 0; i < 50000; i++) {
        buf_adds(&body, "\xc3\xa9");
    }
    buf_adds(&body, "\",\"type\":7,\"code\":{},\"details\":[]}}");
    read_error(&e, body.data);
    cr_assert(strncmp(e.message, "red ", 4) == 0, "%.20s", e.message);
    cr_assert(strlen(e.message) < sizeof e.message && strlen(e.message) > 1000);
    cr_assert(eq(str, e.type, "7"));
}

Test(endpoint, an_error_within_a_stream_has_the_status_it_would_have_had) {
    static const struct {
        const char *body;
        long status;
    } table[] = {
        {"{\"error\":{\"type\":\"overloaded_error\"}}", 529},
        {"{\"error\":{\"type\":\"rate_limit_error\"}}", 429},
        {"{\"error\":{\"type\":\"api_error\"}}", 500},
        {"{\"error\":{\"type\":\"invalid_request_error\"}}", 400},
        {"{\"error\":{\"code\":502,\"message\":\"provider\"}}", 502},
        {"{\"error\":{\"code\":\"rate_limit_exceeded\"}}", 429},
        {"{\"error\":\"something\"}", 500},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct endpoint_error e;
        read_error(&e, table[i].body);
        cr_assert(eq(long, endpoint_error_status(&e), table[i].status), "case %zu", i);
    }
}

/* --- when --- */

Test(endpoint, delays_follow_the_headers_and_else_double) {
    static const struct {
        const char *ms, *after;
        int64_t asked;
    } headers[] = {
        {NULL, "17", 17000},
        {"250", "17", 250},
        {NULL, "0.5", 500},
        {"1.2", NULL, 2},
        {NULL, "7999", 7999000},
        {NULL, "Sun, 06 Nov 1994 08:49:57 GMT",
         20000},                                     /* RFC 9110's example; now - 20 s */
        {NULL, "Sun, 06 Nov 1994 08:49:00 GMT", -1}, /* in the past */
        {NULL, NULL, -1},
        {NULL, "0", -1},
        {NULL, "-3", -1},
        {"soon", "later", -1},
        {NULL, "12 parsecs", -1},
        {NULL, "", -1},
        {NULL, "nan", -1},
        {NULL, "99999999999999999999", 366LL * 24 * 3600 * 1000},
    };
    const time_t now = 784111777; /* 08:49:37 */
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        int64_t asked = retry_after_ms(headers[i].ms, headers[i].after, now);
        cr_assert(eq(i64, asked, headers[i].asked), "case %zu: %lld", i,
                  (long long)asked);
    }
    static const int64_t expected[] = {500, 1000, 2000, 4000, 8000, 8000};
    for (unsigned n = 1; n <= 6; n++) {
        cr_assert(eq(i64, retry_delay_ms(-1, n, false, 0), expected[n - 1]));
        cr_assert(eq(i64, retry_delay_ms(-1, n, false, 0.999999999),
                     (int64_t)((double)expected[n - 1] * 0.75)));
    }
    cr_assert(eq(i64, retry_delay_ms(-1, 40, true, 0), 30000));
    cr_assert(eq(i64, retry_delay_ms(1000, 5, true, 0), 1000));
    cr_assert(retry_delay_ms(1000, 5, true, 0.99) <= 1100);
}

/* --- how many at once --- */

static void answer_full_round(struct in_flight_limit *l, uint64_t now) {
    unsigned n = limit_value(l);
    for (unsigned i = 0; i < n; i++) {
        limit_started(l, n, now);
        limit_answered(l, now);
    }
}

Test(endpoint, the_limit_doubles_until_the_first_429_and_then_grows_slowly) {
    struct in_flight_limit l;
    limit_init(&l, 20, 64);
    cr_assert(eq(uint, limit_value(&l), 20));
    answer_full_round(&l, 1000);
    cr_assert(eq(uint, limit_value(&l), 40));
    answer_full_round(&l, 1000);
    cr_assert(eq(uint, limit_value(&l), 64)); /* the bound */
    answer_full_round(&l, 1000);
    cr_assert(eq(uint, limit_value(&l), 64));
    limit_refused(&l, 2000);
    cr_assert(eq(uint, limit_value(&l), 51)); /* 64 * 0.8 */
    limit_refused(&l, 2001);
    limit_refused(&l, 16999);
    cr_assert(eq(uint, limit_value(&l), 51)); /* once in 15 s */
    answer_full_round(&l, 20000);
    cr_assert(eq(uint, limit_value(&l), 51)); /* no growth until 15 s after the last */
    limit_refused(&l, 21000);
    cr_assert(eq(uint, limit_value(&l), 40)); /* 51.2 * 0.8 = 40.96 */
    answer_full_round(&l, 40000);
    cr_assert(eq(uint, limit_value(&l), 43)); /* 40.96 * 1.05 */
    limit_server_failed(&l, 41000);
    answer_full_round(&l, 42000);
    cr_assert(eq(uint, limit_value(&l), 43)); /* 5xx only pauses */
    for (int i = 0; i < 40; i++) {
        limit_refused(&l, 100000u + (uint64_t)i * 20000u);
    }
    cr_assert(eq(uint, limit_value(&l), 1)); /* never nothing */
    answer_full_round(&l, 2000000);
    cr_assert(eq(uint, limit_value(&l), 2));
    /* Without demand there is no growth: it would say nothing. */
    limit_init(&l, 10, 64);
    for (int i = 0; i < 100; i++) {
        limit_started(&l, 3, 1000);
        limit_answered(&l, 1000);
    }
    cr_assert(eq(uint, limit_value(&l), 10));
}

Test(endpoint, a_caller_who_asks_for_more_is_believed_until_the_first_429) {
    struct in_flight_limit l;
    limit_init(&l, 20, 64);
    limit_expect(&l, 0); /* nobody said anything */
    limit_expect(&l, 8);
    cr_assert(eq(uint, limit_value(&l), 20));
    limit_expect(&l, 48);
    cr_assert(eq(uint, limit_value(&l), 48));
    limit_expect(&l, 256);
    cr_assert(eq(uint, limit_value(&l), 64)); /* the bound */
    limit_refused(&l, 1000);
    limit_expect(&l, 64);
    cr_assert(eq(uint, limit_value(&l), 51));
}

/* A server with so many slots, a question of a second in each: how many are in flight in
 * the end, and how many at most. */
static unsigned paced_limit(unsigned slots, unsigned *most) {
    struct in_flight_limit l;
    uint64_t now = 1000;
    limit_init(&l, 20, 64);
    limit_pace(&l);
    limit_expect(&l, 20);
    *most = 0;
    for (int round = 0; round < 30; round++) {
        unsigned n = limit_value(&l);
        *most = n > *most ? n : *most;
        for (unsigned i = 0; i < n; i++) {
            limit_started(&l, n, now);
        }
        for (unsigned i = 0; i < n; i++) {
            limit_answered(&l, now + 1000 * (i / slots + 1));
        }
        now += 1000 * ((n + slots - 1) / slots);
    }
    return limit_value(&l);
}

Test(endpoint, a_server_without_a_key_is_asked_as_much_as_it_does_at_once) {
    static const unsigned slots[] = {1, 2, 3, 4, 8, 16, 64};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++) {
        unsigned most, n = paced_limit(slots[i], &most);
        cr_expect(n >= slots[i] / 2 && n <= 2 * slots[i], "%u slots: %u", slots[i], n);
        cr_expect(most <= 4 * slots[i] || most <= 4, "%u slots: %u at most", slots[i],
                  most);
    }
}

Test(endpoint, one_per_address_and_key_and_what_it_learned_per_model) {
    struct endpoint_list list = TAILQ_HEAD_INITIALIZER(list);
    struct model a = {.api = MODEL_CHAT, .base_url = "http://a/v1"};
    struct model b = {.api = MODEL_CHAT, .base_url = "http://b/v1"};
    struct endpoint *e = endpoint_get(&list, &a, "k1", 20, 64);
    cr_assert(endpoint_get(&list, &a, "k1", 20, 64) == e);
    cr_assert(endpoint_get(&list, &a, "k2", 20, 64) != e);
    cr_assert(endpoint_get(&list, &b, "k1", 20, 64) != e);
    cr_assert(endpoint_get(&list, &a, NULL, 20, 64) != e);
    endpoint_learn(e, "m", QUIRK_NO_SCHEMA);
    cr_assert(eq(uint, endpoint_quirks(e, "m"), QUIRK_NO_SCHEMA));
    cr_assert(zero(uint, endpoint_quirks(e, "n")));
    endpoint_hold(e, 1000, 500);
    cr_assert(endpoint_has_room(e, 1499) == false);
    cr_assert(endpoint_has_room(e, 1500));
    endpoint_hold(e, 2000, 7999000); /* hours: a minute at most */
    cr_assert(endpoint_has_room(e, 62000));
    e->calls = 1;
    for (int i = 0; i < 300; i++) { /* idle ones are forgotten, others are not */
        autofree char *url = xasprintf("http://h%d/v1", i);
        struct model m = {.api = MODEL_CHAT, .base_url = url};
        endpoint_get(&list, &m, NULL, 20, 64);
        autofree char *name = xasprintf("m%d", i);
        endpoint_learn(e, name, QUIRK_NO_TOOL);
    }
    size_t count = 0;
    struct endpoint *at;
    TAILQ_FOREACH(at, &list, link) {
        count++;
    }
    cr_assert(count <= ENDPOINT_MAX);
    cr_assert(endpoint_get(&list, &a, "k1", 20, 64) == e);
    cr_assert(eq(sz, json_object_size(e->models), ENDPOINT_MAX_MODELS));
    autojson *json = endpoint_to_json(e);
    const json_t *m = json_object_get(json_object_get(json, "learned"), "m");
    cr_assert(eq(str, (char *)json_string_value(json_array_get(m, 0)),
                 "has no structured output"));
    endpoint_list_finish(&list);
}
