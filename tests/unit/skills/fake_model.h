#pragma once
/* A model client on a loop with tests/models/fake_model.py behind it. */
#include "base/buf.h"
#include "base/err.h"
#include "base/http.h"
#include "base/mem.h"
#include "skills/models/answer_cache.h"
#include "skills/models/model_client.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAKE_KEY "sk-test-0123456789-abcdef"

struct fake {
    uv_loop_t loop;
    struct http *http;
    struct model_client *client;
    pid_t pid;
    char url[64];
    unsigned open; /* calls not yet done */
};

/* What a call came to; text copied. */
struct heard {
    struct fake *fake;
    struct model_call *call;
    unsigned ends, pieces, restarts;
    enum model_outcome outcome;
    struct model_usage usage;
    unsigned requests;
    bool cached;
    long status;
    uint64_t estimate;
    char reason[64], message[2048], hint[512], served[128], stop[64];
    struct buf text, streamed;
    json_t *json;
};

static inline int fake_spawn(struct fake *f, const char *script) {
    int out[2];
    cr_assert(zero(int, pipe(out)));
    f->pid = fork();
    if (f->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], 1);
        close(out[0]);
        close(out[1]);
        execlp("python3", "python3", FAKE_MODEL, "--key", FAKE_KEY,
               script ? "--script" : NULL, script, NULL);
        _exit(127);
    }
    close(out[1]);
    return out[0];
}

static inline void fake_start(struct fake *f, const char *script,
                              const struct model_client_options *options) {
    char line[32] = "";
    size_t len = 0;
    *f = (struct fake){0};
    signal(SIGPIPE, SIG_IGN);
    int fd = fake_spawn(f, script);
    while (len < sizeof line - 1 && !strchr(line, '\n')) {
        ssize_t n = read(fd, line + len, sizeof line - 1 - len);
        cr_assert(n > 0, "fake_model.py did not start");
        len += (size_t)n;
    }
    close(fd);
    snprintf(f->url, sizeof f->url, "http://127.0.0.1:%d/v1", atoi(line));
    setenv("GENERIC_BASE_URL", f->url, 1);
    setenv("ANTHROPIC_BASE_URL", f->url, 1);
    setenv("GENERIC_API_KEY", FAKE_KEY, 1);
    setenv("ANTHROPIC_API_KEY", FAKE_KEY, 1);
    uv_loop_init(&f->loop);
    f->http = http_new(&f->loop);
    f->client = model_client_new(&f->loop, f->http, options);
}

static inline void fake_http_closed(void *data) {
    ((struct fake *)data)->http = NULL;
}

static inline void fake_client_closed(void *data) {
    struct fake *f = data;
    f->client = NULL;
    http_close(f->http, fake_http_closed, f);
}

static inline void fake_finish(struct fake *f) {
    if (f->client) {
        model_client_close(f->client, fake_client_closed, f);
    }
    uv_run(&f->loop, UV_RUN_DEFAULT);
    cr_assert(f->client == NULL && f->http == NULL);
    cr_assert(zero(int, uv_loop_close(&f->loop)));
    kill(f->pid, SIGKILL);
    waitpid(f->pid, NULL, 0);
}

static inline void on_heard(struct model_call *call, const struct model_answer *a,
                            void *data) {
    struct heard *h = data;
    (void)call;
    h->ends++;
    h->call = NULL;
    h->outcome = a->outcome;
    h->usage = a->usage;
    h->requests = a->requests;
    h->cached = a->cached;
    h->status = a->status;
    h->estimate = a->prompt_estimate;
    snprintf(h->reason, sizeof h->reason, "%s", a->reason);
    snprintf(h->message, sizeof h->message, "%s", a->message);
    snprintf(h->hint, sizeof h->hint, "%s", a->hint);
    snprintf(h->served, sizeof h->served, "%s", a->served_model);
    snprintf(h->stop, sizeof h->stop, "%s", a->stop_reason);
    buf_adds(&h->text, a->text);
    h->json = json_deep_copy(a->json);
    h->fake->open--;
}

static inline void on_piece(struct model_call *call, const char *piece, size_t len,
                            void *data) {
    struct heard *h = data;
    (void)call;
    h->pieces++;
    if (len == 0) {
        h->restarts++;
        buf_reset(&h->streamed);
    }
    buf_add(&h->streamed, piece, len);
}

/* name: "generic.…" or "anthropic.…". *r may hold what differs from the defaults. */
static inline void ask(struct fake *f, struct heard *h, const char *name,
                       const char *prompt, const struct model_request *r) {
    struct err err = {0};
    struct model model;
    struct model_request request = r ? *r : (struct model_request){0};
    struct model_message message = {"user", prompt};
    autojson *id = json_string(name);
    *h = (struct heard){
        .fake = f, .text = BUF_INIT(1u << 26), .streamed = BUF_INIT(1u << 26)};
    int rc = model_resolve(&model, id, NULL, NULL, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    request.model = &model;
    if (!request.messages) {
        request.messages = &message;
        request.message_count = 1;
    }
    rc = model_call_start(f->client, &request, on_piece, on_heard, h, &h->call, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    cr_assert(zero(uint, h->ends)); /* never from inside */
    model_finish(&model);
    f->open++;
}

static inline void heard_finish(struct heard *h) {
    buf_finish(&h->text);
    buf_finish(&h->streamed);
    json_decref(h->json);
}

static inline void fake_wait(struct fake *f) {
    while (f->open) {
        uv_run(&f->loop, UV_RUN_ONCE);
    }
}

struct fetched {
    bool done;
    json_t *json;
};

static inline void on_fetched(struct http_request *request,
                              const struct http_response *response, void *data) {
    struct fetched *fetched = data;
    (void)request;
    fetched->done = true;
    fetched->json = json_loads(response->body, 0, NULL);
}

/* GET path of the fake; new reference. */
static inline json_t *fake_get(struct fake *f, const char *path) {
    struct fetched fetched = {0};
    autofree char *url = xasprintf("%.*s%s", (int)strlen(f->url) - 3, f->url, path);
    struct http_options options = {
        .method = "GET", .url = url, .end = on_fetched, .data = &fetched};
    cr_assert(zero(int, http_start(f->http, &options, NULL, NULL)));
    while (!fetched.done) {
        uv_run(&f->loop, UV_RUN_ONCE);
    }
    cr_assert(fetched.json != NULL);
    return fetched.json;
}

static inline json_int_t fake_stat(struct fake *f, const char *key) {
    autojson *stats = fake_get(f, "/stats");
    return json_get_integer(stats, key, -1);
}
