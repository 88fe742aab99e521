#pragma once
/* http_internal: what the parts of http share; nobody else's business.
 *
 *   http.c        requests on the loop, from their start to their end
 *   http_setup.c  what curl is told of one request */
#include "base/buf.h"
#include "base/curl_table.h"
#include "base/http.h"

#include <sys/queue.h>

struct http {
    uv_loop_t *loop;
    const struct curl_table *curl; /* NULL before the first request */
    CURLM *multi;
    uv_timer_t timer; /* curl's */
    /* for work that must not happen inside a call of curl's or of the caller's */
    uv_timer_t chores;
    LIST_HEAD(, http_request) requests;
    LIST_HEAD(, socket_watch) watches;
    size_t taken;     /* bytes of bodies since the last turn of the loop */
    unsigned handles; /* close callbacks still to come */
    bool closing;
    void (*closed)(void *data);
    void *closed_data;
};

struct http_request {
    LIST_ENTRY(http_request) link; /* http::requests */
    struct http *http;
    CURL *easy;
    struct curl_slist *headers;
    char *sent_body;
    struct buf body;
    struct buf answer; /* header lines, each NUL-terminated */
    size_t max_body, received;
    bool added, paused, cancelled, too_large, refused;
    char why[CURL_ERROR_SIZE];
    bool (*allow_address)(const struct sockaddr *address);
    int (*chunk)(struct http_request *request, const char *bytes, size_t len, void *data);
    void (*end)(struct http_request *request, const struct http_response *response,
                void *data);
    void *data;
};

/* --- http_setup.c --- */

/* Sets up a request whose easy handle exists. Negative with err: it cannot be sent. */
int http_request_setup(struct http_request *request, const struct http_options *options,
                       struct err *err);
