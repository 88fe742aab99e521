#include "lsp_harness.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct fake fake;

json_t *J(const char *fmt, ...) {
    char text[4096];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    for (char *at = text; *at; at++) {
        if (*at == '\'') {
            *at = '"';
        }
    }
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY, &error);
    cr_assert(value != NULL, "bad JSON in a test: %s: %s", error.text, text);
    return value;
}

/* --- the fake kind --- */

struct run {
    uv_timer_t timer;
    struct document_check *check;
    bool cancelled;
    struct run *next;
};
static struct run *runs;

/* Every BAD, with the place counted by hand: lines end at \n here. */
static json_t *bads(const struct document *d) {
    json_t *list = json_array();
    int line = 1;
    const char *start = d->text;
    for (const char *at = d->text; *at; at++) {
        if (*at == '\n') {
            line++;
            start = at + 1;
        } else if (strncmp(at, "BAD", 3) == 0) {
            json_array_append_new(
                list,
                J("{'source':'fake','code':'bad','severity':'error','message':'bad',"
                  "'file':'a.fake','line':%d,'column':%d,'end_line':%d,'end_column':%d,"
                  "'fixes':[{'title':'Make it good','edits':[{'file':'a.fake',"
                  "'line':%d,'column':%d,'end_line':%d,'end_column':%d,"
                  "'text':'GOOD'}]}]}",
                  line, (int)(at - start) + 1, line, (int)(at - start) + 4, line,
                  (int)(at - start) + 1, line, (int)(at - start) + 4));
        }
    }
    return list;
}

static void run_closed(uv_handle_t *handle) {
    free(handle->data);
}

static void run_answer(struct run *run) {
    struct run **at = &runs;
    while (*at != run) {
        at = &(*at)->next;
    }
    *at = run->next;
    struct document_check *check = run->check;
    bool silent = run->cancelled && !fake.stubborn;
    uv_close((uv_handle_t *)&run->timer, run_closed);
    fake.running--;
    json_t *findings = fake.findings ? json_incref(fake.findings) : bads(check->document);
    json_t *result = NULL;
    if (check->depth == DOCUMENT_FULL) {
        result = fake.result
                     ? json_incref(fake.result)
                     : json_pack("{s:I}", "length", (json_int_t)check->document->len);
    }
    if (silent) {
        json_decref(findings);
        json_decref(result);
        findings = result = NULL;
    }
    document_check_done(check, findings, result);
}

static void run_due(uv_timer_t *timer) {
    run_answer(timer->data);
}

void fake_answer(void) {
    struct run *run = runs;
    cr_assert(run != NULL, "no check is running");
    while (run->next) {
        run = run->next;
    }
    run_answer(run);
}

static void fake_cancel(struct document_check *check) {
    struct run *run = check->kind_data;
    fake.cancelled++;
    run->cancelled = true;
    if (!fake.stubborn) {
        uv_timer_start(&run->timer, run_due, 1, 0);
    }
}

static void fake_check(struct document_check *check) {
    struct run *run = calloc(1, sizeof *run);
    run->check = check;
    run->next = runs;
    runs = run;
    check->kind_data = run;
    check->cancel = fake.uncancellable ? NULL : fake_cancel;
    fake.running++;
    *(check->depth == DOCUMENT_FULL ? &fake.full : &fake.quick) += 1;
    uv_timer_init(check->origin->loop, &run->timer);
    run->timer.data = run;
    if (fake.delay_ms != MANUAL) {
        uv_timer_start(&run->timer, run_due, fake.delay_ms, 0);
    }
}

static char *fake_hover(const struct document *d, const json_t *result, size_t offset,
                        size_t *start, size_t *end) {
    (void)result;
    document_unref(fake.seen);
    fake.seen = document_ref((struct document *)(uintptr_t)d);
    fake.offset = offset;
    *start = offset;
    *end = d->len;
    char text[64];
    snprintf(text, sizeof text, "**%zu**", offset);
    return strdup(text);
}

static json_t *fake_lenses(const struct document *d, const json_t *result) {
    (void)d;
    return result ? J("[{'start':0,'end':1,'title':'length %d','operation':'fake/run',"
                      "'params':{'text':'x'}},{'start':0,'end':1,'title':'just words'}]",
                      (int)json_integer_value(json_object_get(result, "length")))
                  : json_array();
}

static json_t *fake_hints(const struct document *d, const json_t *result) {
    (void)result;
    return J(
        "[{'offset':0,'label':'first','tooltip':'why'},{'offset':%zu,'label':'last'}]",
        d->len);
}

static json_t *fake_symbols(const struct document *d) {
    fake.symbols_thread = uv_thread_self();
    if (fake.gate) {
        uv_sem_wait(fake.gate);
    }
    if (fake.symbols) {
        return json_incref(fake.symbols);
    }
    return J("[{'name':'all','detail':'of it','symbol':'function','start':0,'end':%zu},"
             "{'name':'','symbol':'key','start':0,'end':1}]",
             d->len);
}

static json_t *fake_completions(const struct document *d, size_t offset) {
    (void)d;
    return J(
        "[{'label':'word','detail':'a word','documentation':'*Word*','text':'word()',"
        "'start':0,'end':%zu}]",
        offset);
}

static const char *const fake_patterns[] = {"*.fake", NULL};
static const char *const fake_languages[] = {"fake", NULL};
const struct document_kind fake_kind = {
    .name = "fake",
    .patterns = fake_patterns,
    .languages = fake_languages,
    .check = fake_check,
    .hover = fake_hover,
    .lenses = fake_lenses,
    .hints = fake_hints,
    .symbols = fake_symbols,
    .completions = fake_completions,
};

/* --- fake operations --- */

struct work {
    uv_timer_t timer;
    struct call *call;
    json_int_t left;
};

static void work_closed(uv_handle_t *handle) {
    struct work *w = handle->data;
    fake.operations--;
    call_unref(w->call);
    free(w);
}

static void work_tick(uv_timer_t *timer) {
    struct work *w = timer->data;
    const json_t *params = call_params(w->call);
    if (w->left-- > 0) {
        json_int_t total = json_get_integer(params, "ticks", 0);
        bool more = json_get_bool(params, "grows", false) && w->left < total / 2;
        call_report(w->call, (double)(total - w->left),
                    (double)(more ? 4 * total : total), "tick %d",
                    (int)(total - w->left));
        return;
    }
    if (json_get_bool(params, "fail", 0)) {
        call_fail(w->call, CALL_UNAVAILABLE, "no_thing", "get the thing",
                  "there is no thing");
    } else {
        call_reply(w->call,
                   json_pack("{s:s}", "text", json_get_string(params, "text", "")));
    }
    uv_close((uv_handle_t *)timer, work_closed);
}

static void work_cancelled(struct call *call, void *data) {
    struct work *w = data;
    uv_timer_stop(&w->timer);
    uv_close((uv_handle_t *)&w->timer, work_closed);
    call_stopped(call);
}

static void work_resumed(struct call *call, const json_t *input, void *data) {
    (void)data;
    call_reply(call, json_pack("{s:O}", "input", input));
}

static void work_start(struct call *call, const json_t *params) {
    if (json_get_bool(params, "ask", 0)) {
        fake.asking = call_ref(call);
        call_require_input(call, J("{'instructions':'write'}"), work_resumed, NULL);
        return;
    }
    struct work *w = calloc(1, sizeof *w);
    w->call = call_ref(call);
    w->left = json_get_integer(params, "ticks", 0);
    w->timer.data = w;
    fake.operations++;
    uv_timer_init(call_origin(call)->loop, &w->timer);
    uv_timer_start(&w->timer, work_tick, 1, 10);
    if (!json_get_bool(params, "stubborn", 0)) {
        call_on_cancel(call, work_cancelled, w);
    }
}

#define WORK_PARAMS                                                                      \
    "{\"type\":\"object\",\"properties\":{\"ticks\":{\"type\":\"integer\"},"             \
    "\"grows\":{\"type\":\"boolean\"},"                                                  \
    "\"text\":{\"type\":\"string\"},\"fail\":{\"type\":\"boolean\"},"                    \
    "\"stubborn\":{\"type\":\"boolean\"},\"ask\":{\"type\":\"boolean\"}},"               \
    "\"additionalProperties\":false}"

static const struct operation operations[] = {
    {.name = "fake/run",
     .title = "Run a fake",
     .summary = "Runs it",
     .params_schema = WORK_PARAMS,
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .start = work_start},
    {.name = "fake/long",
     .title = "Run a long fake",
     .summary = "Runs it",
     .params_schema = WORK_PARAMS,
     .result_schema = "{\"type\":\"object\"}",
     .example = "{}",
     .flags = OPERATION_LONG,
     .start = work_start},
};

/* --- the wire --- */

static void put(struct harness *h, json_t *message) {
    char *body = json_dumps(message, JSON_COMPACT);
    char head[64];
    int len = snprintf(head, sizeof head, "Content-Length: %zu\r\n\r\n", strlen(body));
    rpc_feed(h->peer, head, (size_t)len);
    rpc_feed(h->peer, body, strlen(body));
    free(body);
    json_decref(message);
}

/* As a client must: work-done tokens are accepted (or not), other requests get null. */
static void answer_server(struct harness *h, const json_t *message) {
    json_t *id = json_object_get(message, "id");
    if (!id || !json_object_get(message, "method")) {
        return;
    }
    if (h->refuse_progress) {
        put(h, json_pack("{s:s, s:O, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", id, "error",
                         "code", -32603, "message", "no"));
    } else {
        put(h, json_pack("{s:s, s:O, s:n}", "jsonrpc", "2.0", "id", id, "result"));
    }
}

static void on_send(struct rpc_peer *peer, char *bytes, size_t len, bool droppable,
                    void *data) {
    (void)peer;
    (void)droppable;
    struct harness *h = data;
    size_t said = 0;
    int head = 0;
    cr_assert(sscanf(bytes, "Content-Length: %zu\r\n\r\n%n", &said, &head) == 1 &&
              head > 0);
    const char *body = memmem(bytes, len, "\r\n\r\n", 4);
    cr_assert(body != NULL);
    body += 4;
    cr_assert(eq(sz, said, len - (size_t)(body - bytes)));
    json_t *message = json_loadb(body, said, JSON_ALLOW_NUL, NULL);
    cr_assert(message != NULL, "the server sent no JSON: %.*s", (int)said, body);
    free(bytes);
    json_array_append_new(h->sent, message);
    const char *method = json_get_string(message, "method", "");
    if (h->published && strcmp(method, "textDocument/publishDiagnostics") == 0) {
        h->published(h, json_object_get(message, "params"));
    }
}

static void on_request(struct rpc_call *call, void *data) {
    struct harness *h = data;
    if (!lsp_request(h->lsp, call)) {
        rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "no such method");
    }
}

static void on_notification(struct rpc_peer *peer, enum frame_mode mode,
                            const char *method, json_t *params, void *data) {
    (void)peer;
    (void)mode;
    struct harness *h = data;
    lsp_notification(h->lsp, method, params);
}

static void on_quit(void *data, int code) {
    struct harness *h = data;
    h->quits++;
    h->quit_code = code;
}

static void on_roots(void *data, const json_t *paths) {
    struct harness *h = data;
    json_decref(h->roots);
    h->roots = json_deep_copy(paths);
}

static void on_client(void *data, const char *name, const char *version) {
    struct harness *h = data;
    snprintf(h->client, sizeof h->client, "%s %s", name, version);
}

void harness_start(struct harness *h) {
    static const struct rpc_events events = {
        .request = on_request, .notification = on_notification, .send = on_send};
    static const struct document_kind *const kinds[] = {&fake_kind, NULL};
    static const struct document_kinds kind_table = {kinds};
    memset(h, 0, sizeof *h);
    memset(&fake, 0, sizeof fake);
    fake.delay_ms = 1;
    uv_loop_init(&h->loop);
    h->settings = face_settings_default;
    h->settings.debounce_ms = 5;
    h->operations = operation_table_new();
    struct err err = {0};
    cr_assert(
        zero(int, operation_table_add(h->operations, operations,
                                      sizeof operations / sizeof *operations, &err)),
        "%s", err.msg);
    h->tables = (struct face_tables){.operations = h->operations, .kinds = &kind_table};
    h->origin = (struct call_origin){.loop = &h->loop, .client = "test"};
    h->host = (struct face_host){.tables = &h->tables,
                                 .settings = &h->settings,
                                 .origin = &h->origin,
                                 .name = "upskilld",
                                 .title = "upskilld",
                                 .version = "1.2.3",
                                 .set_roots = on_roots,
                                 .set_client = on_client,
                                 .quit = on_quit,
                                 .data = h};
    h->sent = json_array();
    h->peer = rpc_peer_new(FRAME_HEADERS, FRAME_MAX_BODY, &events, h);
    h->lsp = lsp_new(&h->host, h->peer);
}

void harness_end(struct harness *h) {
    lsp_free(h->lsp);
    rpc_peer_free(h->peer);
    if (fake.gate) {
        uv_sem_post(fake.gate);
    }
    while (runs) {
        run_answer(runs);
    }
    uv_run(&h->loop, UV_RUN_DEFAULT);
    cr_expect(zero(int, fake.operations), "operations still run");
    cr_expect(zero(int, uv_loop_close(&h->loop)), "handles are left open");
    operation_table_free(h->operations);
    document_unref(fake.seen);
    json_decref(fake.findings);
    json_decref(fake.result);
    json_decref(fake.symbols);
    json_decref(h->sent);
    json_decref(h->roots);
}

int harness_send(struct harness *h, const char *method, json_t *params) {
    int id = ++h->next_id;
    json_t *message =
        json_pack("{s:s, s:i, s:s}", "jsonrpc", "2.0", "id", id, "method", method);
    if (params) {
        json_object_set_new(message, "params", params);
    }
    put(h, message);
    return id;
}

void harness_notify(struct harness *h, const char *method, json_t *params) {
    json_t *message = json_pack("{s:s, s:s}", "jsonrpc", "2.0", "method", method);
    if (params) {
        json_object_set_new(message, "params", params);
    }
    put(h, message);
}

static void woken(uv_timer_t *timer) {
    *(bool *)timer->data = true;
}

static void timer_gone(uv_handle_t *handle) {
    free(handle);
}

static void answer_all(struct harness *h) {
    while (!h->mute && h->answered < json_array_size(h->sent)) {
        answer_server(h, json_array_get(h->sent, h->answered++));
    }
}

/* Let things happen, for at most ms; answers what the server asks. */
static void step(struct harness *h, unsigned ms) {
    answer_all(h);
    size_t before = json_array_size(h->sent);
    bool over = false;
    uv_timer_t *timer = malloc(sizeof *timer);
    uv_timer_init(&h->loop, timer);
    timer->data = &over;
    uv_timer_start(timer, woken, ms, 0);
    while (!over && json_array_size(h->sent) == before) {
        uv_run(&h->loop, UV_RUN_ONCE);
    }
    uv_close((uv_handle_t *)timer, timer_gone);
    answer_all(h);
}

void harness_run(struct harness *h, unsigned ms) {
    uint64_t end = clock_ms() + ms;
    for (uint64_t now = clock_ms(); now < end; now = clock_ms()) {
        step(h, (unsigned)(end - now));
    }
}

static json_t *find_response(const struct harness *h, int id, size_t *ret_count) {
    json_t *found = NULL;
    size_t i;
    json_t *message;
    *ret_count = 0;
    json_array_foreach(h->sent, i, message) {
        if (!json_object_get(message, "method") &&
            json_integer_value(json_object_get(message, "id")) == id) {
            found = message;
            *ret_count += 1;
        }
    }
    return found;
}

size_t harness_responses(const struct harness *h, int id) {
    size_t count;
    find_response(h, id, &count);
    return count;
}

json_t *harness_response(struct harness *h, int id) {
    size_t count;
    uint64_t end = clock_ms() + 5000;
    json_t *found = find_response(h, id, &count);
    while (!found && clock_ms() < end) {
        step(h, 50);
        found = find_response(h, id, &count);
    }
    cr_assert(found != NULL, "no answer to request %d", id);
    return found;
}

json_t *harness_request(struct harness *h, const char *method, json_t *params) {
    return harness_response(h, harness_send(h, method, params));
}

json_t *harness_result(struct harness *h, const char *method, json_t *params) {
    json_t *response = harness_request(h, method, params);
    json_t *result = json_object_get(response, "result");
    cr_assert(result != NULL, "%s failed: %s", method,
              json_get_string(json_object_get(response, "error"), "message", "?"));
    return result;
}

int harness_error_code(const json_t *response) {
    return (int)json_get_integer(json_object_get(response, "error"), "code", 0);
}

static json_t *find_message(const struct harness *h, const char *method, size_t n,
                            size_t *ret_count) {
    json_t *found = NULL;
    size_t i;
    json_t *message;
    *ret_count = 0;
    json_array_foreach(h->sent, i, message) {
        if (strcmp(json_get_string(message, "method", ""), method) == 0 &&
            (*ret_count)++ == n) {
            found = message;
        }
    }
    return found;
}

size_t harness_count(const struct harness *h, const char *method) {
    size_t count;
    find_message(h, method, 0, &count);
    return count;
}

json_t *harness_message(struct harness *h, const char *method, size_t n) {
    size_t count;
    uint64_t end = clock_ms() + 5000;
    json_t *found = find_message(h, method, n, &count);
    while (!found && clock_ms() < end) {
        step(h, 50);
        found = find_message(h, method, n, &count);
    }
    cr_assert(found != NULL, "no %s number %zu", method, n);
    return json_object_get(found, "params");
}

json_t *harness_initialize(struct harness *h, json_t *capabilities) {
    json_t *params = json_pack("{s:n, s:o}", "processId", "capabilities",
                               capabilities ? capabilities : json_object());
    json_t *result = harness_result(h, "initialize", params);
    harness_notify(h, "initialized", json_object());
    return result;
}

void harness_open(struct harness *h, const char *uri, int version, const char *text) {
    harness_notify(h, "textDocument/didOpen",
                   json_pack("{s:{s:s, s:s, s:i, s:s}}", "textDocument", "uri", uri,
                             "languageId", "fake", "version", version, "text", text));
}

void harness_edit(struct harness *h, const char *uri, int version, int line,
                  int character, int end_line, int end_character, const char *text) {
    harness_notify(h, "textDocument/didChange",
                   json_pack("{s:{s:s, s:i}, s:[{s:{s:{s:i, s:i}, s:{s:i, s:i}}, s:s}]}",
                             "textDocument", "uri", uri, "version", version,
                             "contentChanges", "range", "start", "line", line,
                             "character", character, "end", "line", end_line, "character",
                             end_character, "text", text));
}

json_t *harness_document(const char *uri) {
    return json_pack("{s:{s:s}}", "textDocument", "uri", uri);
}

char *string_of(const json_t *obj, const char *key, const char *fallback) {
    return (char *)(uintptr_t)json_get_string(obj, key, fallback);
}
