#pragma once
/* http: an HTTP client on the loop: curl's multi interface, loaded at the first request.
 *
 * libcurl costs 11 ms and 8 MiB to start, so nothing is loaded before http_start. Only
 * http and https; certificates are verified; redirects are not followed (a model
 * endpoint that redirects is a mistake to show, and a key must not travel to another
 * host). Proxies of the environment are used, except for localhost, 127.0.0.1 and [::1].
 * Single-threaded: everything runs on the loop's thread. */
#include "base/mem.h"

#include <sys/socket.h>
#include <uv.h>

struct http;
struct http_request;

struct http_response {
    int failure;      /* 0 = an HTTP answer came; else -ETIMEDOUT, -ECANCELED, -EMSGSIZE,
                         -ECONNREFUSED, -EHOSTUNREACH, -EACCES (allow_address), -EIO … */
    const char *why;  /* curl's message for the failure, "" otherwise */
    long status;      /* HTTP status, 0 without an answer */
    const char *(*header)(const struct http_response *, const char *name); /* NULL = absent */
    const char *body; /* the bytes not passed to `chunk`; NUL-terminated */
    size_t body_len;
};

struct http_options {
    const char *method;         /* "GET", "POST" … */
    const char *url;
    const char *const *headers; /* "Name: value", NULL-terminated; never logged */
    const char *body;           /* may be NULL */
    size_t body_len;
    unsigned connect_timeout_ms; /* 0 = 10 s */
    unsigned stall_timeout_s;    /* fails after this much silence, give or take the 5 s
                                    over which curl averages; 0 = 60 s */
    unsigned timeout_ms;         /* whole request; 0 = none */
    size_t max_body;             /* decoded bytes in all, streamed or not; 0 = 16 MiB */
    size_t max_kept;             /* of them, bytes kept in response->body; 0 = max_body */
    /* Called with each address before connecting to it, after name resolution; false
     * refuses it (-EACCES). Such a request uses a new connection and no proxy, because
     * otherwise it would not be called. NULL: every address is allowed. */
    bool (*allow_address)(const struct sockaddr *address);
    /* Streaming: called with each piece of a 2xx answer's body (valid during the call);
     * return nonzero to stop the transfer (-ECANCELED). The body of another answer, and
     * every body when this is NULL, is collected in response->body. */
    int (*chunk)(struct http_request *request, const char *bytes, size_t len, void *data);
    /* Exactly once, from the loop, never from inside http_start. */
    void (*end)(struct http_request *request, const struct http_response *response,
                void *data);
    void *data;
};

struct http *http_new(uv_loop_t *loop);
/* Cancels running requests (each `end` is still called), then closes and frees. */
void http_close(struct http *http, void (*closed)(void *data), void *data);

/* -ENOSYS if libcurl cannot be loaded; err says what to install. Options are copied. */
int http_start(struct http *http, const struct http_options *options,
               struct http_request **ret, struct err *err);
void http_cancel(struct http_request *request); /* closes the connection; end follows */
