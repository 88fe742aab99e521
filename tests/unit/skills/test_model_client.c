#include "fake_model.h"

#include <errno.h>

static const struct model_client_options few = {.max_attempts = 3};

/* Both APIs: what an endpoint does, and what the caller hears. */
static const struct {
    const char *model; /* behind "generic." and "anthropic." */
    enum model_outcome outcome;
    const char *reason;
    unsigned requests; /* 0 = any */
    const char *text;  /* NULL = any */
    const char *only;  /* one API alone */
} cases[] = {
    {"a", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"b:answer={user}!", MODEL_ANSWERED, "", 1, "ping!", NULL},
    {"c:whole", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"d:unknown", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"e:think", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"f:empty", MODEL_ANSWERED, "", 1, "", NULL},
    {"g:nousage", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"h:nokeep", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"i:429x2=0.05", MODEL_ANSWERED, "", 3, "pong", NULL},
    {"j:500x2", MODEL_ANSWERED, "", 3, "pong", NULL},
    {"k:529x1=0.05", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"l:408x1+retryafter=0.01", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"m:409x1+retryafter=0.01", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"n:cutx1", MODEL_ANSWERED, "", 2, "pong", NULL},
    /* curl asks again by itself when a kept connection turns out to be closed. */
    {"o:deadx1", MODEL_ANSWERED, "", 0, "pong", NULL},
    {"p:errorx1=api_error", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"q:418x1+retry", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"r:500+noretry", MODEL_FAILED, "server_error", 1, "", NULL},
    {"s:500+retryafter=0.01", MODEL_FAILED, "server_error", 3, "", NULL},
    {"t:429+noretry", MODEL_FAILED, "rate_limited", 1, "", NULL},
    {"u:429=7999", MODEL_FAILED, "rate_limited", 1, "", NULL},
    {"v:quota", MODEL_FAILED, "out_of_money", 1, "", NULL},
    {"w:quota+retry", MODEL_FAILED, "out_of_money", 1, "", NULL},
    {"x:spend", MODEL_FAILED, "out_of_money", 1, "", NULL},
    {"y:billing", MODEL_FAILED, "out_of_money", 1, "", NULL},
    {"z:402", MODEL_FAILED, "out_of_money", 1, "", NULL},
    {"aa:badkey", MODEL_FAILED, "unauthorized", 1, "", NULL},
    {"ab:403", MODEL_FAILED, "forbidden", 1, "", NULL},
    {"ac:missing", MODEL_FAILED, "model_not_found", 1, "", NULL},
    {"ad:context", MODEL_FAILED, "context_too_long", 1, "", NULL},
    {"ae:413", MODEL_FAILED, "context_too_long", 1, "", NULL},
    {"af:400", MODEL_FAILED, "bad_request", 1, "", NULL},
    {"ag:cut", MODEL_FAILED, "connection_lost", 3, "", NULL},
    {"ah:dead", MODEL_FAILED, "connection_lost", 3, "", NULL},
    {"ai:garbage", MODEL_FAILED, "bad_answer", 2, "", NULL},
    {"aj:garbagejson", MODEL_FAILED, "bad_answer", 2, "", NULL},
    {"be:nochoice", MODEL_FAILED, "bad_answer", 2, "", "generic"},
    {"bf:nochoice+whole", MODEL_FAILED, "bad_answer", 2, "", "generic"},
    {"ak:longline", MODEL_FAILED, "answer_too_large", 1, "", NULL},
    {"al:endless", MODEL_FAILED, "answer_too_large", 1, "", NULL},
    {"am:huge=5", MODEL_FAILED, "answer_too_large", 1, "", NULL},
    {"an:huge=3", MODEL_ANSWERED, "", 1, NULL, NULL},
    {"ao:refuse", MODEL_REFUSED, "refused", 1, "", NULL},
    {"ap:refuse+whole", MODEL_REFUSED, "refused", 1, NULL, NULL},
    {"aq:truncate", MODEL_TRUNCATED, "max_tokens", 1, "pong", NULL},
    {"ar:full", MODEL_TRUNCATED, "context_full", 1, "pong", "anthropic"},
    {"as:nolength", MODEL_ANSWERED, "", 2, "pong", "generic"},
    {"at:nostreamoptions", MODEL_ANSWERED, "", 2, "pong", "generic"},
    {"au:nosystem", MODEL_ANSWERED, "", 2, "pong", "generic"},
    {"av:nostream", MODEL_ANSWERED, "", 2, "pong", NULL},
    {"aw:nolength+nostreamoptions+nosystem+nostream", MODEL_ANSWERED, "", 5, "pong",
     "generic"},
    {"ax:version=2026-10-21", MODEL_ANSWERED, "", 2, "pong", "anthropic"},
    {"ay:version=2023-06-01", MODEL_ANSWERED, "", 1, "pong", "anthropic"},
    {"az:keyneeded", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"ba:echokey", MODEL_ANSWERED, "", 1, "your key is [key] indeed", NULL},
    {"bc:nostop", MODEL_ANSWERED, "", 1, "pong", NULL},
    {"bd:bigerror=2", MODEL_FAILED, "server_error", 3, "", NULL},
    {"bb:echokeyhtml+noretry", MODEL_FAILED, "server_error", 0, "", NULL},
};
#define N_CASES (sizeof cases / sizeof *cases)

static void check_case(size_t i, const char *api, const struct heard *h) {
    const char *name = cases[i].model;
    cr_assert(eq(uint, h->ends, 1), "%s.%s", api, name);
    cr_assert(eq(int, (int)h->outcome, (int)cases[i].outcome), "%s.%s: %s %s", api, name,
              h->reason, h->message);
    cr_assert(strcmp(h->reason, cases[i].reason) == 0, "%s.%s: %s", api, name,
              h->message);
    if (cases[i].requests) {
        cr_assert(eq(uint, h->requests, cases[i].requests), "%s.%s: %s", api, name,
                  h->message);
    }
    if (cases[i].text) {
        cr_assert(eq(str, h->text.data, (char *)cases[i].text), "%s.%s", api, name);
    }
    bool answered = h->outcome == MODEL_ANSWERED;
    cr_assert(eq(int, h->message[0] == '\0', answered), "%s.%s", api, name);
    cr_assert(eq(int, h->hint[0] == '\0', answered), "%s.%s", api, name);
    if (answered && strcmp(name, "ba:echokey") != 0) {
        cr_assert(eq(str, h->streamed.data, h->text.data), "%s.%s", api, name);
    }
    cr_assert(strstr(h->message, "0123456789") == NULL, "%s.%s: %s", api, name,
              h->message);
}

Test(model_client, every_way_an_endpoint_can_answer_has_its_outcome) {
    static const char *const apis[] = {"generic", "anthropic"};
    static struct heard heard[2][N_CASES];
    struct fake f;
    /* A 429 holds the others back: each case has its turn alone. */
    fake_start(&f, NULL, &few);
    for (size_t i = 0; i < N_CASES; i++) {
        for (int k = 0; k < 2; k++) {
            if (cases[i].only && strcmp(cases[i].only, apis[k]) != 0) {
                continue;
            }
            autofree char *name = xasprintf("%s.%s", apis[k], cases[i].model);
            struct model_request r = {.system = "Be brief.", .deadline_ms = 40000};
            struct heard *h = &heard[k][i];
            ask(&f, h, name, "ping", &r);
        }
        if (strchr(cases[i].model, '4') || i % 8 == 7) {
            fake_wait(&f);
        }
        if (strcmp(cases[i].model, "u:429=7999") == 0) { /* holds for a minute */
            model_client_close(f.client, NULL, NULL);
            f.client = model_client_new(&f.loop, f.http, &few);
        }
    }
    fake_wait(&f);
    for (size_t i = 0; i < N_CASES; i++) {
        for (int k = 0; k < 2; k++) {
            if (heard[k][i].fake) {
                check_case(i, apis[k], &heard[k][i]);
                heard_finish(&heard[k][i]);
            }
        }
    }
    fake_finish(&f);
}

Test(model_client, usage_is_the_whole_prompt_and_says_when_it_is_estimated) {
    static const char *const models[] = {"generic.a:usage=321", "anthropic.a:usage=321",
                                         "generic.a:nousage", "anthropic.a:nousage"};
    struct fake f;
    struct heard h;
    fake_start(&f, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        ask(&f, &h, models[i], "How many tokens has this?", NULL);
        fake_wait(&f);
        cr_assert(eq(int, h.usage.reported, i < 2), "%s", models[i]);
        uint64_t input = i < 2 ? 321 : h.estimate;
        cr_assert(eq(u64, h.usage.input, input), "%s", models[i]);
        cr_assert(h.usage.output >= 1);
        cr_assert(eq(str, h.served, strchr(models[i], '.') + 1));
        bool right = strcmp(h.stop, i % 2 ? "end_turn" : "stop") == 0;
        cr_assert(right);
        heard_finish(&h);
    }
    fake_finish(&f);
}

/* 40 KB are about 10,000 tokens; the endpoint reads 2,000 of them. */
Test(model_client, a_prompt_that_the_endpoint_cut_is_noticed) {
    static const struct {
        const char *model;
        const char *unit;
        size_t count;
        enum model_outcome outcome;
    } table[] = {
        {"generic.a:cutcontext=2000", "word and ", 4500, MODEL_CONTEXT_CUT},
        {"anthropic.a:cutcontext=2000", "word and ", 4500, MODEL_CONTEXT_CUT},
        {"generic.b:cutcontext=20000", "word and ", 4500, MODEL_ANSWERED},
        {"generic.c:usage=100", "word and ", 100,
         MODEL_ANSWERED}, /* short: says nothing */
        /* Chinese: 3 bytes and mostly one token or less a character. */
        {"generic.d:usage=2600", "漢字", 2000, MODEL_ANSWERED},
        {"generic.e:usage=1", "漢字", 2000, MODEL_CONTEXT_CUT},
    };
    struct fake f;
    struct heard h;
    fake_start(&f, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        autobuf prompt = BUF_INIT(1u << 20);
        for (size_t n = 0; n < table[i].count; n++) {
            buf_adds(&prompt, table[i].unit);
        }
        ask(&f, &h, table[i].model, prompt.data, NULL);
        fake_wait(&f);
        cr_assert(eq(int, (int)h.outcome, (int)table[i].outcome), "%s: %s",
                  table[i].model, h.message);
        if (h.outcome == MODEL_CONTEXT_CUT) {
            cr_assert(eq(str, h.reason, "context_cut"));
            cr_assert(strstr(h.hint, "OLLAMA_CONTEXT_LENGTH") != NULL);
            cr_assert(strstr(h.hint, "num_ctx") != NULL);
        }
        heard_finish(&h);
    }
    fake_finish(&f);
}

static json_t *grade_schema(void) {
    return json_loads("{\"type\":\"object\",\"properties\":{\"passed\":{\"type\":"
                      "\"boolean\"},\"why\":{\"type\":\"string\"}},\"required\":["
                      "\"passed\",\"why\"],\"additionalProperties\":false}",
                      0, NULL);
}

Test(model_client, json_is_asked_for_natively_then_by_tool_then_by_words_and_checked) {
    static const struct {
        const char *model;
        enum model_outcome outcome;
        unsigned requests, again; /* again: of a second call, what was learned is used */
    } table[] = {
        {"a", MODEL_ANSWERED, 1, 1},
        {"b:noschema", MODEL_ANSWERED, 2, 1},
        {"c:prose", MODEL_ANSWERED, 1, 1},
        {"d:wrongonce", MODEL_ANSWERED, 2, 1},
        {"e:wrongschema", MODEL_INVALID, 2, 2},
        {"f:truncate", MODEL_TRUNCATED, 1, 1},
        {"g:refuse", MODEL_REFUSED, 1, 1},
        {"i:noschema+notool+answer={\"passed\": false, \"why\": \"because\"}",
         MODEL_ANSWERED, 3, 1},
        {"j:nolength+nostreamoptions+noschema", MODEL_ANSWERED, 4, 1},
    };
    static const char *const apis[] = {"generic", "anthropic"};
    struct fake f;
    struct heard h;
    autojson *schema = grade_schema();
    struct model_request r = {.schema = schema, .schema_name = "a grade!"};
    fake_start(&f, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table) * 4; i++) {
        size_t at = i / 4;
        const char *api = apis[i / 2 % 2];
        if (strstr(table[at].model, "nolength") && i / 2 % 2) {
            continue;
        }
        autofree char *name = xasprintf("%s.%s", api, table[at].model);
        unsigned requests = i % 2 ? table[at].again : table[at].requests;
        ask(&f, &h, name, "Does it pass?", &r);
        fake_wait(&f);
        cr_assert(eq(int, (int)h.outcome, (int)table[at].outcome), "%s: %s", name,
                  h.message);
        cr_assert(eq(uint, h.requests, requests), "%s: %s", name, h.message);
        if (h.outcome == MODEL_ANSWERED) {
            bool fits = json_is_boolean(json_object_get(h.json, "passed"));
            cr_assert(fits, "%s", name);
        } else {
            cr_assert(h.json == NULL);
        }
        heard_finish(&h);
    }
    fake_finish(&f);
}

Test(model_client, an_endpoint_that_ignores_the_schema_is_asked_by_tool) {
    static const char script[] = "/tmp/upskilld-test-ignores.json";
    FILE *file = fopen(script, "w");
    fputs("{\"rules\": [{\"when\": {\"any\": \"cannot be used\"}, \"do\": \"plain\"},"
          "{\"when\": {\"user\": \"^again\"}, \"do\": \"plain\"},"
          "{\"do\": \"plain\", \"answer\": \"I think it passes.\"}]}",
          file);
    fclose(file);
    struct fake f;
    struct heard h;
    autojson *schema = grade_schema();
    struct model_request r = {.schema = schema};
    fake_start(&f, script, NULL);
    ask(&f, &h, "anthropic.m", "Does it pass?", &r);
    fake_wait(&f);
    cr_assert(eq(int, (int)h.outcome, MODEL_ANSWERED), "%s", h.message);
    cr_assert(eq(uint, h.requests, 2));
    heard_finish(&h);
    ask(&f, &h, "anthropic.m", "again", &r);
    fake_wait(&f);
    cr_assert(eq(uint, h.requests, 1));
    heard_finish(&h);
    autojson *bodies = fake_get(&f, "/requests");
    cr_assert(eq(sz, json_array_size(bodies), 3));
    cr_assert(json_object_get(json_array_get(bodies, 0), "output_config") != NULL);
    for (size_t i = 1; i < 3; i++) {
        const json_t *body = json_array_get(bodies, i);
        cr_assert(json_object_get(body, "output_config") == NULL);
        cr_assert(json_object_get(body, "tool_choice") != NULL);
    }
    /* The repair round shows the model its answer and what was wrong with it. */
    const json_t *turns = json_object_get(json_array_get(bodies, 1), "messages");
    cr_assert(eq(sz, json_array_size(turns), 3));
    const char *said = json_get_string(json_array_get(turns, 1), "content", "");
    cr_assert(eq(str, (char *)said, "I think it passes."));
    fake_finish(&f);
    unlink(script);
}

Test(model_client, no_sampling_parameter_and_no_key_is_in_a_body) {
    static const char *const never[] = {"temperature", "top_p", "top_k", "seed"};
    struct fake f;
    struct heard h;
    fake_start(&f, NULL, NULL);
    static const char *const models[] = {"generic.a", "anthropic.a"};
    for (size_t i = 0; i < ARRAY_LEN(models); i++) {
        ask(&f, &h, models[i], "ping", NULL);
        fake_wait(&f);
        heard_finish(&h);
        autojson *stats = fake_get(&f, "/stats");
        const json_t *last = json_object_get(stats, "last");
        for (size_t k = 0; k < ARRAY_LEN(never); k++) {
            cr_assert(json_object_get(last, never[k]) == NULL);
        }
        autofree char *text = json_dumps(last, 0);
        cr_assert(strstr(text, FAKE_KEY) == NULL);
    }
    autojson *status = model_client_status(f.client);
    autofree char *text = json_dumps(status, 0);
    cr_assert(strstr(text, FAKE_KEY) == NULL);
    cr_assert(eq(sz, json_array_size(status), 2));
    fake_finish(&f);
}

Test(model_client, cancelling_closes_the_transfer_at_every_moment) {
    static const char *const models[] = {"generic.a:never", "anthropic.b:stall",
                                         "generic.c:delay=500", "anthropic.d:429=5",
                                         "generic.e"};
    struct fake f;
    struct heard h[5];
    fake_start(&f, NULL, NULL);
    for (int turn = 0; turn < 60; turn += 12) {
        for (size_t i = 0; i < 5; i++) {
            ask(&f, &h[i], models[i], "ping", NULL);
        }
        for (int k = 0; k < turn; k++) {
            uv_run(&f.loop, UV_RUN_NOWAIT);
            usleep(2000);
        }
        for (size_t i = 0; i < 5; i++) {
            if (h[i].call) {
                model_call_cancel(h[i].call);
                model_call_cancel(h[i].call);
            }
        }
        fake_wait(&f);
        for (size_t i = 0; i < 5; i++) {
            cr_assert(eq(uint, h[i].ends, 1));
            cr_assert(h[i].outcome == MODEL_CANCELLED || i == 4, "%s", h[i].message);
            heard_finish(&h[i]);
        }
    }
    fake_finish(&f);
}

/* Cancels at the first piece, or (stop "restart") when another attempt begins. */
static void on_piece_cancel(struct model_call *call, const char *piece, size_t len,
                            void *data) {
    struct heard *h = data;
    (void)piece;
    h->pieces++;
    h->restarts += len == 0;
    if (len == 0 || strcmp(h->stop, "restart") != 0) {
        model_call_cancel(call);
    }
}

Test(model_client, a_listener_may_cancel_its_call) {
    static const struct {
        const char *model, *when;
        enum model_outcome outcome;
    } table[] = {
        {"generic.a:echo", "", MODEL_CANCELLED},
        {"anthropic.a:echo", "", MODEL_CANCELLED},
        {"generic.b:echo+whole", "", MODEL_CANCELLED},
        {"generic.c:echo+cutx1", "restart", MODEL_CANCELLED},
        {"anthropic.c:echo+cutx1", "restart", MODEL_CANCELLED},
        {"generic.d:echo", "restart", MODEL_ANSWERED}, /* there is none */
    };
    struct fake f;
    struct heard h;
    char text[4000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct model_message message = {"user", text};
    fake_start(&f, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct model model;
        autojson *name = json_string(table[i].model);
        cr_assert(zero(int, model_resolve(&model, name, NULL, NULL, NULL)));
        struct model_request r = {
            .model = &model, .messages = &message, .message_count = 1};
        h = (struct heard){.fake = &f, .text = BUF_INIT(1u << 20)};
        strcpy(h.stop, table[i].when);
        f.open++;
        int rc =
            model_call_start(f.client, &r, on_piece_cancel, on_heard, &h, NULL, NULL);
        cr_assert(zero(int, rc));
        fake_wait(&f);
        cr_assert(eq(int, (int)h.outcome, (int)table[i].outcome), "%s", table[i].model);
        cr_assert(h.pieces > 0);
        unsigned restarts = strstr(table[i].model, "cut") ? 1 : 0;
        cr_assert(eq(uint, h.restarts, restarts));
        model_finish(&model);
        buf_finish(&h.text);
    }
    fake_finish(&f);
}

Test(model_client, closing_cancels_what_runs_and_what_waits) {
    enum { N = 40 };
    static struct heard h[N];
    struct fake f;
    fake_start(&f, NULL, NULL);
    for (int i = 0; i < N; i++) { /* 20 at once; the others queue */
        ask(&f, &h[i], "generic.a:never", "ping", NULL);
    }
    for (int turn = 0; turn < 30; turn++) {
        uv_run(&f.loop, UV_RUN_NOWAIT);
        usleep(2000);
    }
    fake_finish(&f);
    for (int i = 0; i < N; i++) {
        cr_assert(eq(uint, h[i].ends, 1));
        cr_assert(eq(int, (int)h[i].outcome, MODEL_CANCELLED));
        heard_finish(&h[i]);
    }
}

Test(model_client, a_deadline_ends_what_never_answers) {
    static const struct {
        const char *model, *reason;
    } table[] = {{"generic.a:never", "timeout"},
                 {"anthropic.a:stall", "timeout"},
                 {"generic.b:429=100", "rate_limited"},
                 {"anthropic.c:endlessping", NULL}};
    struct fake f;
    struct heard h;
    struct model_request r = {.deadline_ms = 700};
    fake_start(&f, NULL, NULL);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        ask(&f, &h, table[i].model, "ping", &r);
        fake_wait(&f);
        cr_assert(eq(int, (int)h.outcome, MODEL_FAILED), "%s", table[i].model);
        if (table[i].reason) {
            cr_assert(eq(str, h.reason, (char *)table[i].reason), "%s: %s",
                      table[i].model, h.message);
        }
        heard_finish(&h);
    }
    fake_finish(&f);
}

Test(model_client, as_many_are_in_flight_as_the_limit_allows) {
    enum { N = 120 };
    static struct heard h[N];
    struct fake f;
    struct model_client_options options = {.max_in_flight = 32, .start_in_flight = 8};
    fake_start(&f, NULL, &options);
    for (int i = 0; i < N; i++) {
        ask(&f, &h[i], "generic.a:delay=60", "ping", NULL);
    }
    fake_wait(&f);
    autojson *status = model_client_status(f.client);
    const json_t *e = json_array_get(status, 0);
    json_int_t peak = fake_stat(&f, "peak");
    cr_assert(peak > 8 && peak <= 32, "peak %d", (int)peak); /* it grew, and stopped */
    cr_assert(json_get_integer(e, "requests", 0) == N);
    cr_assert(json_get_integer(e, "in_flight", -1) == 0);
    cr_assert(json_get_integer(e, "queued", -1) == 0);
    for (int i = 0; i < N; i++) {
        cr_assert(eq(int, (int)h[i].outcome, MODEL_ANSWERED));
        heard_finish(&h[i]);
    }
    fake_finish(&f);
}

Test(model_client, an_endpoint_that_bears_few_gets_fewer) {
    enum { N = 60 };
    static struct heard h[N];
    struct fake f;
    fake_start(&f, NULL, NULL);
    for (int i = 0; i < N; i++) {
        ask(&f, &h[i], "generic.a:limit=10+delay=20", "ping", NULL);
    }
    fake_wait(&f);
    autojson *status = model_client_status(f.client);
    const json_t *e = json_array_get(status, 0);
    cr_assert(json_get_integer(e, "limit", 99) < 20);
    cr_assert(json_get_integer(e, "rate_limited", 0) > 0);
    for (int i = 0; i < N; i++) {
        cr_assert(eq(int, (int)h[i].outcome, MODEL_ANSWERED), "%s", h[i].message);
        heard_finish(&h[i]);
    }
    fake_finish(&f);
}

Test(model_client, a_budget_stops_the_run_and_is_passed_by_one_call_at_most) {
    enum { N = 30 };
    static struct heard h[N];
    struct fake f;
    struct model_budget budget = {.max_tokens = 1000};
    struct model_request r = {.budget = &budget, .max_tokens = 200};
    fake_start(&f, NULL, NULL);
    for (int i = 0; i < N; i++) {
        ask(&f, &h[i], "generic.a:usage=90+delay=5", "ping", &r);
    }
    fake_wait(&f);
    unsigned answered = 0, refused = 0;
    for (int i = 0; i < N; i++) {
        answered += h[i].outcome == MODEL_ANSWERED;
        refused += h[i].outcome == MODEL_BUDGET &&
                   strcmp(h[i].reason, "budget_spent") == 0 && h[i].requests == 0;
        heard_finish(&h[i]);
    }
    cr_assert(eq(uint, answered + refused, N));
    cr_assert(eq(uint, answered, 11)); /* 91 tokens each */
    cr_assert(eq(u64, budget.tokens, 11 * 91));
    cr_assert(zero(u64, budget.reserved));
    /* Money without a price. */
    struct model_budget money = {.max_cost = 1};
    r.budget = &money;
    ask(&f, &h[0], "generic.a", "ping", &r);
    fake_wait(&f);
    cr_assert(eq(str, h[0].reason, "price_unknown"));
    heard_finish(&h[0]);
    fake_finish(&f);
}

Test(model_client, an_answer_is_asked_for_once) {
    char path[] = "/tmp/upskilld-answers-XXXXXX";
    cr_assert(mkdtemp(path) != NULL);
    autofree char *file = xasprintf("%s/answers.db", path);
    struct answer_cache *cache = answer_cache_new(file);
    struct model_client_options options = {.cache = cache, .max_attempts = 1};
    static const struct {
        const char *model;
        unsigned run;
        bool no_cache, cached;
    } table[] = {
        {"generic.a:coin=0.5:fresh", 0, false, false},
        {"generic.a:coin=0.5:fresh", 0, false, true},
        {"generic.a:coin=0.5:fresh", 1, false, false}, /* another draw */
        {"generic.a:coin=0.5:fresh", 1, false, true},
        {"generic.a:coin=0.5:fresh", 1, true, false},
        {"anthropic.a:coin=0.5:fresh", 0, false, false},
        {"generic.a:truncate", 0, false, false}, /* it would be as long again */
        {"generic.a:truncate", 0, false, true},
        {"generic.a:refuse", 0, false, false},
        {"generic.a:refuse", 0, false, false},
        {"generic.a:500", 0, false, false},
        {"generic.a:500", 0, false, false},
    };
    struct fake f;
    struct heard h;
    char first[16] = "";
    fake_start(&f, NULL, &options);
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct model_request r = {.run = table[i].run, .no_cache = table[i].no_cache};
        ask(&f, &h, table[i].model, "yes or no?", &r);
        fake_wait(&f);
        cr_assert(eq(int, h.cached, table[i].cached), "case %zu", i);
        unsigned sent = table[i].cached ? 0 : 1;
        cr_assert(eq(uint, h.requests, sent), "case %zu", i);
        if (i == 0) {
            snprintf(first, sizeof first, "%s", h.text.data);
        } else if (i == 1) {
            cr_assert(eq(str, h.text.data, first));
            cr_assert(h.usage.reported && h.usage.input > 0);
            cr_assert(eq(str, h.served, "a:coin=0.5:fresh"));
        }
        heard_finish(&h);
    }
    fake_finish(&f);
    answer_cache_free(cache);
    autofree char *remove = xasprintf("grep -rc sk-test %s >&2; rm -r %s", path, path);
    cr_assert(system(remove) == 0);
}

Test(model_client, what_can_never_be_sent_is_refused_at_once) {
    struct fake f;
    struct heard h = {.fake = &f};
    struct model model;
    struct err err = {0};
    fake_start(&f, NULL, NULL);
    autojson *name = json_string("generic.a");
    autojson *odd = json_loads("{\"$ref\": \"#/x\"}", 0, NULL);
    cr_assert(zero(int, model_resolve(&model, name, NULL, NULL, &err)));
    struct model_message good = {"user", "ping"}, bad = {"robot", "ping"};
    struct model_request table[] = {
        {.model = &model},
        {.model = &model, .messages = &bad, .message_count = 1},
        {.model = &model, .messages = &good, .message_count = 1, .schema = odd},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        err.msg[0] = '\0';
        int rc = model_call_start(f.client, &table[i], NULL, on_heard, &h, NULL, &err);
        cr_assert(eq(int, rc, -EINVAL), "case %zu", i);
        cr_assert(err.msg[0] != '\0');
    }
    cr_assert(zero(uint, h.ends));
    model_finish(&model);
    fake_finish(&f);
}
