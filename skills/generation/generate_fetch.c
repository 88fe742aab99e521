/* Documents that are links, fetched before anything is read. */
#include "skills/generation/generate_flow.h"

#include "base/address.h"
#include "base/http.h"
#include "base/link.h"
#include "base/text.h"

#define MAX_BYTES (4u << 20)
#define MAX_REDIRECTS 5u
#define MAX_MS 30000u

struct fetch {
    struct fetching *fetching;
    struct given *given;
    struct http_request *request; /* NULL when it is over */
    char *url;                    /* after redirects */
    unsigned redirects;
};

/* Separate connections: a model's kept one would bypass the address check. */
struct fetching {
    struct generating *g;
    struct http *http;
    size_t running;
    struct fetch list[GENERATE_MAX_DOCUMENTS];
    size_t count;
};

static void when_closed(void *data) {
    struct fetching *f = data;
    struct generating *g = f->g;
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].url);
    }
    g->fetching = NULL;
    free(f);
    if (generate_is_over(g)) {
        generate_end(g);
    } else {
        generate_read(g);
    }
}

static void one_less(struct fetching *f) {
    if (--f->running == 0) {
        http_close(f->http, when_closed, f);
    }
}

void generate_fetch_stop(struct generating *g) {
    for (size_t i = 0; i < g->fetching->count; i++) {
        if (g->fetching->list[i].request) {
            http_cancel(g->fetching->list[i].request);
        }
    }
}

/* The first thing that is wrong ends all of them. */
static void fail_fetch(struct fetch *one, const char *why) {
    struct generating *g = one->fetching->g;
    if (!g->err.code) {
        generate_fail(g, CALL_UNAVAILABLE, "link",
                      "give the document as a file or as {name, text}", "%.200s: %.300s",
                      one->given->name, why);
        generate_fetch_stop(g);
    }
}

static void on_answer(struct http_request *request, const struct http_response *r,
                      void *data);

static int start_fetch(struct fetch *one, struct err *err) {
    static const char *const headers[] = {
        "Accept: text/markdown, text/plain, text/html;q=0.9", NULL};
    struct generating *g = one->fetching->g;
    bool any = g->request.links == LINKS_ANY;
    struct http_options options = {
        .method = "GET",
        .url = one->url,
        .headers = headers,
        .timeout_ms = MAX_MS,
        .max_body = MAX_BYTES,
        .allow_address = any ? NULL : address_is_public,
        .end = on_answer,
        .data = one,
    };
    return http_start(one->fetching->http, &options, &one->request, err);
}

/* true: on its way to the next address. */
static bool redirect(struct fetch *one, const char *location) {
    struct err err = {0};
    if (!location || one->redirects++ >= MAX_REDIRECTS) {
        fail_fetch(one, location ? "it redirects too often" : "it redirects nowhere");
        return false;
    }
    char *next = link_resolve(one->url, location, &err);
    if (!next) {
        fail_fetch(one, err.msg);
        return false;
    }
    free(one->url);
    one->url = next;
    if (start_fetch(one, &err) < 0) {
        fail_fetch(one, err.msg);
        return false;
    }
    return true;
}

static void keep(struct fetch *one, const struct http_response *r) {
    bool latin1;
    enum link_kind kind = link_kind(r->header(r, "Content-Type"), &latin1);
    if (r->status != 200 || kind == LINK_OTHER) {
        autofree char *why =
            r->status != 200
                ? xasprintf("the server answers %ld", r->status)
                : xasprintf("it is %.80s, not a text", r->header(r, "Content-Type"));
        fail_fetch(one, why);
        return;
    }
    one->given->bytes = xmalloc(r->body_len + 1);
    memcpy(one->given->bytes, r->body, r->body_len + 1);
    one->given->len = r->body_len;
    one->given->html = kind == LINK_HTML;
    one->given->latin1 = latin1;
}

static void on_answer(struct http_request *, const struct http_response *r, void *data) {
    struct fetch *one = data;
    struct fetching *f = one->fetching;
    one->request = NULL;
    if (r->failure == -EACCES) {
        fail_fetch(one, "its address is not of the public internet; `links: any` in your "
                        "own configuration allows that");
    } else if (r->failure) {
        fail_fetch(one, r->failure == -EMSGSIZE ? "over 4 MiB" : r->why);
    } else if (!f->g->cancelled && !f->g->err.code) {
        bool moved = r->status == 301 || r->status == 302 || r->status == 303 ||
                     r->status == 307 || r->status == 308;
        if (moved && redirect(one, r->header(r, "Location"))) {
            return;
        }
        if (!moved) {
            keep(one, r);
        }
    }
    one_less(f);
}

void generate_fetch(struct generating *g) {
    struct fetching *f = xcalloc(1, sizeof *f);
    f->g = g;
    f->http = http_new(call_origin(g->call)->loop);
    f->running = 1;
    g->fetching = f;
    for (size_t i = 0; i < g->request.document_count; i++) {
        struct given *given = &g->request.documents[i];
        struct fetch *one = &f->list[f->count];
        struct err err = {0};
        if (!given->url || g->err.code) {
            continue;
        }
        f->count++;
        f->running++;
        *one = (struct fetch){.fetching = f, .given = given, .url = xstrdup(given->url)};
        if (start_fetch(one, &err) < 0) {
            fail_fetch(one, err.msg);
            one_less(f);
        }
    }
    generate_report(g, GENERATE_READING, "fetching %zu document%s", f->count,
                    text_plural((double)f->count));
    one_less(f);
}
