#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/http.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A server that answers each connection with the same script: pieces with a pause before
 * each, then it closes or stays silent. */
struct script {
    const char *pieces[6];
    unsigned pause_ms;
    bool stay_open;
    size_t endless; /* repeat a piece of so many bytes until the client has had enough */
};

struct server {
    uv_loop_t loop;
    uv_tcp_t listener;
    const struct script *script;
    struct buf received; /* everything the clients sent */
    unsigned connections, closed_connections;
    char url[64];
    struct http *http;
};

struct connection {
    uv_tcp_t tcp;
    uv_timer_t timer;
    struct server *server;
    unsigned next, handles;
    bool answering;
    char buffer[4096];
};

static void on_part_closed(uv_handle_t *handle) {
    struct connection *c = handle->data;
    if (--c->handles == 0) {
        c->server->closed_connections++;
        free(c);
    }
}

static void drop_connection(struct connection *c) {
    if (!uv_is_closing((uv_handle_t *)&c->tcp)) {
        uv_close((uv_handle_t *)&c->tcp, on_part_closed);
        uv_close((uv_handle_t *)&c->timer, on_part_closed);
    }
}

static void send_next(uv_timer_t *timer);

static void on_sent(uv_write_t *request, int status) {
    struct connection *c = request->data;
    free(request);
    if (status < 0) {
        drop_connection(c);
    } else if (!uv_is_closing((uv_handle_t *)&c->timer)) {
        uv_timer_start(&c->timer, send_next, c->server->script->pause_ms, 0);
    }
}

static void send_bytes(struct connection *c, const char *bytes, size_t len) {
    uv_write_t *request = malloc(sizeof *request);
    uv_buf_t piece = uv_buf_init((char *)bytes, (unsigned)len);
    request->data = c;
    uv_write(request, (uv_stream_t *)&c->tcp, &piece, 1, on_sent);
}

static void send_next(uv_timer_t *timer) {
    static char many[65536];
    struct connection *c = timer->data;
    const struct script *script = c->server->script;
    const char *piece = script->pieces[c->next];
    if (piece) {
        c->next++;
        send_bytes(c, piece, strlen(piece));
    } else if (script->endless) {
        memset(many, 'e', sizeof many);
        send_bytes(c, many, script->endless);
    } else if (!script->stay_open) {
        drop_connection(c);
    }
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret) {
    struct connection *c = handle->data;
    (void)suggested;
    *ret = uv_buf_init(c->buffer, sizeof c->buffer);
}

static void on_request(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes) {
    struct connection *c = stream->data;
    if (n < 0) {
        drop_connection(c);
        return;
    }
    buf_add(&c->server->received, bytes->base, (size_t)n);
    if (!c->answering && strstr(c->server->received.data, "\r\n\r\n")) {
        c->answering = true;
        uv_timer_start(&c->timer, send_next, 0, 0);
    }
}

static void on_connection(uv_stream_t *listener, int status) {
    struct server *server = listener->data;
    struct connection *c = calloc(1, sizeof *c);
    (void)status;
    c->server = server;
    c->handles = 2;
    uv_tcp_init(&server->loop, &c->tcp);
    uv_timer_init(&server->loop, &c->timer);
    c->tcp.data = c->timer.data = c;
    uv_accept(listener, (uv_stream_t *)&c->tcp);
    uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_request);
    server->connections++;
}

static void server_start(struct server *server, const struct script *script) {
    struct sockaddr_in address;
    int len = sizeof address;
    signal(SIGPIPE, SIG_IGN);
    setenv("http_proxy", "http://127.0.0.1:1",
           1); /* not for an address of this machine */
    *server = (struct server){.script = script, .received = BUF_INIT(1u << 24)};
    uv_loop_init(&server->loop);
    uv_tcp_init(&server->loop, &server->listener);
    server->listener.data = server;
    uv_ip4_addr("127.0.0.1", 0, &address);
    uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0);
    uv_listen((uv_stream_t *)&server->listener, 16, on_connection);
    uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &len);
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d/path",
             ntohs(address.sin_port));
    server->http = http_new(&server->loop);
}

static void on_http_closed(void *data) {
    struct server *server = data;
    server->http = NULL;
    uv_close((uv_handle_t *)&server->listener, NULL);
}

/* Every handle is gone, the client's and the server's. */
static void server_finish(struct server *server) {
    uv_run(&server->loop, UV_RUN_DEFAULT);
    cr_assert(server->http == NULL);
    cr_assert(eq(uint, server->connections, server->closed_connections));
    cr_assert(zero(int, uv_loop_close(&server->loop)));
    buf_finish(&server->received);
}

struct seen {
    struct server *server;
    unsigned ends, chunks;
    int failure;
    long status;
    char why[256], header[64];
    struct buf streamed, body;
    unsigned stop_after; /* chunks; 0 = never */
    bool cancel, keep_open;
};

static int on_chunk(struct http_request *request, const char *bytes, size_t len,
                    void *data) {
    struct seen *seen = data;
    buf_add(&seen->streamed, bytes, len);
    seen->chunks++;
    if (seen->cancel) {
        http_cancel(request);
        return 0;
    }
    return seen->stop_after && seen->chunks >= seen->stop_after;
}

static void on_end(struct http_request *request, const struct http_response *response,
                   void *data) {
    struct seen *seen = data;
    (void)request;
    seen->ends++;
    seen->failure = response->failure;
    seen->status = response->status;
    snprintf(seen->why, sizeof seen->why, "%s", response->why);
    const char *header = response->header(response, "retry-after");
    snprintf(seen->header, sizeof seen->header, "%s", header ? header : "-");
    buf_add(&seen->body, response->body, response->body_len);
    cr_assert(eq(sz, strlen(response->body), response->body_len));
    if (!seen->keep_open) {
        http_close(seen->server->http, on_http_closed, seen->server);
    }
}

static struct http_options options_for(struct server *server, struct seen *seen) {
    *seen = (struct seen){
        .server = server, .streamed = BUF_INIT(1u << 24), .body = BUF_INIT(1u << 24)};
    return (struct http_options){
        .method = "GET", .url = server->url, .end = on_end, .data = seen};
}

static void seen_finish(struct seen *seen) {
    buf_finish(&seen->streamed);
    buf_finish(&seen->body);
}

static void start(struct server *server, const struct http_options *options,
                  struct http_request **ret) {
    struct err err = {0};
    const struct seen *seen = options->data;
    int rc = http_start(server->http, options, ret, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    cr_assert(zero(uint, seen->ends));
}

#define HEAD "HTTP/1.1 200 OK\r\n"
static const struct script plain = {{HEAD "Content-Length: 5\r\n\r\nhello"}};

Test(http, a_post_arrives_and_is_answered) {
    static const char *const headers[] = {"X-Key: secret",
                                          "Content-Type: application/json", NULL};
    struct server server;
    struct seen seen;
    server_start(&server, &plain);
    struct http_options options = options_for(&server, &seen);
    char body[] = "{\"a\":1}";
    options.method = "POST";
    options.headers = headers;
    options.body = body;
    options.body_len = strlen(body);
    start(&server, &options, NULL);
    memset(body, 'x', sizeof body); /* it was copied */
    uv_run(&server.loop, UV_RUN_DEFAULT);
    static const char *const parts[] = {"POST /path HTTP/1.1\r\n", "X-Key: secret\r\n",
                                        "\r\n\r\n{\"a\":1}"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        cr_assert(strstr(server.received.data, parts[i]) != NULL, "%s", parts[i]);
    }
    cr_assert(strstr(server.received.data, "Expect") == NULL);
    server_finish(&server);
    cr_assert(eq(uint, seen.ends, 1));
    cr_assert(zero(int, seen.failure), "%s", seen.why);
    cr_assert(eq(long, seen.status, 200));
    cr_assert(eq(str, seen.body.data, "hello"));
    cr_assert(eq(str, seen.why, ""));
    seen_finish(&seen);
}

Test(http, a_chunked_stream_arrives_piece_by_piece) {
    static const struct script script = {{HEAD "Transfer-Encoding: chunked\r\n\r\n",
                                          "5\r\none, \r\n", "4\r\ntwo,\r\n",
                                          "6\r\n three\r\n", "0\r\n\r\n"},
                                         .pause_ms = 30};
    struct server server;
    struct seen seen;
    server_start(&server, &script);
    struct http_options options = options_for(&server, &seen);
    options.chunk = on_chunk;
    start(&server, &options, NULL);
    server_finish(&server);
    cr_assert(zero(int, seen.failure), "%s", seen.why);
    cr_assert(eq(str, seen.streamed.data, "one, two, three"));
    cr_assert(eq(uint, seen.chunks, 3));
    cr_assert(zero(sz, seen.body.len));
    seen_finish(&seen);
}

Test(http, an_error_answer_has_its_status_header_and_body_even_when_streaming) {
    static const struct script script = {
        {"HTTP/1.1 429 Too Many Requests\r\nRetry-After:  17\r\nContent-Length: "
         "4\r\n\r\nslow"}};
    struct server server;
    struct seen seen;
    server_start(&server, &script);
    struct http_options options = options_for(&server, &seen);
    options.chunk = on_chunk;
    start(&server, &options, NULL);
    server_finish(&server);
    cr_assert(zero(int, seen.failure));
    cr_assert(eq(long, seen.status, 429));
    cr_assert(eq(str, seen.header, "17"));
    cr_assert(eq(str, seen.body.data, "slow"));
    cr_assert(zero(uint, seen.chunks));
    seen_finish(&seen);
}

Test(http, failures_have_their_own_codes) {
    static const struct script silent = {{NULL}, .stay_open = true};
    /* No byte of the body: curl averages its speed over some five seconds. */
    static const struct script stalled = {{HEAD "Content-Length: 100\r\n\r\n"},
                                          .stay_open = true};
    static const struct script cut = {{HEAD "Content-Length: 100\r\n\r\nbegin"}};
    static const struct script nothing = {{NULL}};
    static const struct script endless = {{HEAD "\r\n"}, .endless = 65536};
    static const struct script redirect = {
        {"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: "
         "0\r\n\r\n"}};
    static const struct {
        const struct script *script;
        const char *url;
        unsigned timeout_ms, stall_s;
        size_t max_body;
        int failure;
        long status;
    } cases[] = {
        {&silent, NULL, 150, 0, 0, -ETIMEDOUT, 0},
        {&stalled, NULL, 0, 1, 0, -ETIMEDOUT, 200},
        {&cut, NULL, 0, 0, 0, -ECONNRESET, 200},
        {&nothing, NULL, 0, 0, 0, -ECONNRESET, 0},
        {&endless, NULL, 0, 0, 100000, -EMSGSIZE, 200},
        {&redirect, NULL, 0, 0, 0, 0, 302},
        {&silent, "http://127.0.0.1:1/", 0, 0, 0, -ECONNREFUSED, 0},
        {&silent, "file:///etc/passwd", 0, 0, 0, -EINVAL, 0},
        {&silent, "http://", 0, 0, 0, -EINVAL, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct server server;
        struct seen seen;
        server_start(&server, cases[i].script);
        struct http_options options = options_for(&server, &seen);
        options.url = cases[i].url ? cases[i].url : server.url;
        options.timeout_ms = cases[i].timeout_ms;
        options.stall_timeout_s = cases[i].stall_s;
        options.max_body = cases[i].max_body;
        start(&server, &options, NULL);
        server_finish(&server);
        cr_assert(eq(uint, seen.ends, 1), "case %zu", i);
        cr_assert(eq(int, seen.failure, cases[i].failure), "case %zu: %s", i, seen.why);
        cr_assert(eq(long, seen.status, cases[i].status), "case %zu", i);
        cr_assert(eq(int, seen.why[0] != '\0', cases[i].failure != 0), "case %zu", i);
        cr_assert(seen.body.len <= 100000);
        seen_finish(&seen);
    }
}

Test(http, a_consumer_can_stop_the_stream_and_anyone_can_cancel) {
    static const struct script endless = {{HEAD "\r\n"}, .endless = 100, .pause_ms = 1};
    static const struct script silent = {{NULL}, .stay_open = true};
    for (int way = 0; way < 4; way++) {
        struct server server;
        struct seen seen;
        struct http_request *request;
        server_start(&server, way < 2 ? &endless : &silent);
        struct http_options options = options_for(&server, &seen);
        options.chunk = on_chunk;
        seen.stop_after = way == 0 ? 3 : 0;
        seen.cancel = way == 1;
        start(&server, &options, &request);
        for (int turn = 0; way == 2 && turn < 20; turn++) {
            uv_run(&server.loop, UV_RUN_NOWAIT);
        }
        if (way >= 2) { /* 3: before it has begun */
            http_cancel(request);
            http_cancel(request);
            cr_assert(zero(uint, seen.ends));
        }
        server_finish(&server);
        cr_assert(eq(uint, seen.ends, 1), "way %d", way);
        cr_assert(eq(int, seen.failure, -ECANCELED), "way %d", way);
        cr_assert(seen.chunks <= 3);
        seen_finish(&seen);
    }
}

/* What one turn of the loop took of all streams together. */
struct turn {
    uv_prepare_t prepare;
    size_t taken, most;
    unsigned streams;
};

static void on_turn(uv_prepare_t *prepare) {
    struct turn *turn = prepare->data;
    turn->most = turn->taken > turn->most ? turn->taken : turn->most;
    turn->taken = 0;
}

struct flood {
    struct seen seen;
    struct turn *turn;
    size_t taken;
};

static int on_flood(struct http_request *request, const char *bytes, size_t len,
                    void *data) {
    struct flood *flood = data;
    (void)request;
    (void)bytes;
    flood->turn->taken += len;
    flood->taken += len;
    return flood->taken > 2u << 20;
}

static void on_flood_end(struct http_request *request,
                         const struct http_response *response, void *data) {
    struct flood *flood = data;
    on_end(request, response, &flood->seen);
    if (--flood->turn->streams == 0) {
        uv_close((uv_handle_t *)&flood->turn->prepare, NULL);
        http_close(flood->seen.server->http, on_http_closed, flood->seen.server);
    }
}

Test(http, streams_that_flood_leave_the_loop_its_turns) {
    static const struct script script = {{HEAD "\r\n"}, .endless = 65536};
    struct server server;
    struct flood floods[8];
    struct turn turn = {.streams = 8};
    server_start(&server, &script);
    uv_prepare_init(&server.loop, &turn.prepare);
    turn.prepare.data = &turn;
    uv_prepare_start(&turn.prepare, on_turn);
    for (size_t i = 0; i < 8; i++) {
        struct err err = {0};
        struct http_options options = options_for(&server, &floods[i].seen);
        floods[i].seen.keep_open = true;
        floods[i].turn = &turn;
        floods[i].taken = 0;
        options.chunk = on_flood;
        options.end = on_flood_end;
        options.data = &floods[i];
        cr_assert(zero(int, http_start(server.http, &options, NULL, &err)));
    }
    server_finish(&server);
    for (size_t i = 0; i < 8; i++) {
        cr_assert(eq(int, floods[i].seen.failure, -ECANCELED));
        cr_assert(gt(sz, floods[i].taken, 2u << 20));
        seen_finish(&floods[i].seen);
    }
    /* 64 KiB and the piece of at most 16 that passes them, from the sockets and then from
     * what was held back: the turn of the timers lies between two of these. */
    cr_assert(le(sz, turn.most, 160u << 10), "%zu", turn.most);
}

Test(http, closing_cancels_what_runs_and_tells_every_owner) {
    static const struct script silent = {{NULL}, .stay_open = true};
    enum { N = 10 };
    struct server server;
    struct seen seen[N];
    server_start(&server, &silent);
    for (int i = 0; i < N; i++) {
        struct http_options options = options_for(&server, &seen[i]);
        seen[i].keep_open = true;
        start(&server, &options, NULL);
    }
    for (int turn = 0; turn < 50; turn++) {
        uv_run(&server.loop, UV_RUN_NOWAIT);
    }
    http_close(server.http, on_http_closed, &server);
    struct http_options options = {.method = "GET", .url = server.url, .end = on_end};
    cr_assert(eq(int, http_start(server.http, &options, NULL, NULL), -ECANCELED));
    server_finish(&server);
    for (int i = 0; i < N; i++) {
        cr_assert(eq(uint, seen[i].ends, 1));
        cr_assert(eq(int, seen[i].failure, -ECANCELED));
        seen_finish(&seen[i]);
    }
    /* Nothing was ever started: nothing was loaded. */
    server_start(&server, &silent);
    http_close(server.http, on_http_closed, &server);
    server_finish(&server);
}

Test(http, what_cannot_be_sent_is_refused_at_once) {
    static const char *const forged[] = {"X: a\r\nY: b", NULL};
    struct server server;
    struct seen seen;
    struct err err = {0};
    server_start(&server, &plain);
    struct http_options options = options_for(&server, &seen);
    options.headers = forged;
    cr_assert(eq(int, http_start(server.http, &options, NULL, &err), -EINVAL));
    options.headers = NULL;
    options.method = "GE T";
    cr_assert(eq(int, http_start(server.http, &options, NULL, &err), -EINVAL));
    options.method = "GET";
    options.url = "http://127.0.0.1/\r\nX: y";
    cr_assert(eq(int, http_start(server.http, &options, NULL, &err), -EINVAL));
    http_close(server.http, on_http_closed, &server);
    server_finish(&server);
    cr_assert(zero(uint, seen.ends));
}

struct chain {
    struct server *server;
    unsigned left;
};

static void on_link_end(struct http_request *request,
                        const struct http_response *response, void *data) {
    struct chain *chain = data;
    (void)request;
    cr_assert(zero(int, response->failure), "%s", response->why);
    if (chain->left-- > 1) { /* a new request from inside an end */
        struct http_options options = {.method = "GET",
                                       .url = chain->server->url,
                                       .end = on_link_end,
                                       .data = chain};
        cr_assert(zero(int, http_start(chain->server->http, &options, NULL, NULL)));
    } else {
        http_close(chain->server->http, on_http_closed, chain->server);
    }
}

Test(http, one_request_can_start_the_next) {
    struct server server;
    server_start(&server, &plain);
    struct chain chain = {&server, 50};
    struct http_options options = {
        .method = "GET", .url = server.url, .end = on_link_end, .data = &chain};
    cr_assert(zero(int, http_start(server.http, &options, NULL, NULL)));
    uint64_t before = clock_ms();
    server_finish(&server);
    cr_assert(zero(uint, chain.left));
    cr_log_info("50 requests one after another: %d ms", (int)(clock_ms() - before));
}
