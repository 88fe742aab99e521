#include "base/http.h"

#include "base/err.h"
#include "base/find.h"
#include "base/http_internal.h"

#include <limits.h>
#include <strings.h>

#define MAX_BODY (16u << 20)
#define MAX_HEADERS (256u << 10)
#define TURN_MAX (64u << 10) /* bytes of bodies that one turn of the loop takes */

/* A socket of curl's on the loop. */
struct socket_watch {
    LIST_ENTRY(socket_watch) link; /* http::watches */
    struct http *http;
    curl_socket_t fd;
    uv_poll_t poll;
};

/* --- how a request ends --- */

struct http_answer {
    struct http_response response;
    const struct http_request *request;
};

static const char *find_header(const struct http_response *response, const char *name) {
    const struct http_answer *answer = (const void *)response; /* its first member */
    const struct buf *lines = &answer->request->answer;
    size_t len = strlen(name);
    for (size_t i = 0; i < lines->len; i += strlen(lines->data + i) + 1) {
        const char *line = lines->data + i;
        if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
            return line + len + 1 + strspn(line + len + 1, " \t");
        }
    }
    return NULL;
}

static int connect_failure(const struct http_request *request) {
    long code = 0;
    request->http->curl->easy_getinfo(request->easy, CURLINFO_OS_ERRNO, &code);
    return code > 0 ? -(int)code : -ECONNREFUSED;
}

static int failure_of(const struct http_request *request, CURLcode code) {
    static const int codes[][2] = {
        {CURLE_OK, 0},
        {CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT},
        {CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH},
        {CURLE_COULDNT_RESOLVE_PROXY, -EHOSTUNREACH},
        {CURLE_URL_MALFORMAT, -EINVAL},
        {CURLE_UNSUPPORTED_PROTOCOL, -EINVAL},
        {CURLE_GOT_NOTHING, -ECONNRESET},
        {CURLE_RECV_ERROR, -ECONNRESET},
        {CURLE_SEND_ERROR, -ECONNRESET},
        {CURLE_PARTIAL_FILE, -ECONNRESET},
        {CURLE_PEER_FAILED_VERIFICATION, -EPROTO},
        {CURLE_SSL_CONNECT_ERROR, -EPROTO},
        {CURLE_OUT_OF_MEMORY, -ENOMEM},
    };
    if (request->cancelled) {
        return -ECANCELED;
    }
    if (code == CURLE_WRITE_ERROR) {
        return request->too_large ? -EMSGSIZE : -ECANCELED;
    }
    if (code == CURLE_COULDNT_CONNECT) {
        return request->refused ? -EACCES : connect_failure(request);
    }
    size_t at = first_of(i, 0, ARRAY_LEN(codes), codes[i][0] == (int)code);
    return at < ARRAY_LEN(codes) ? codes[at][1] : -EIO;
}

static void free_request(struct http_request *request) {
    const struct curl_table *curl = request->http->curl;
    curl->easy_cleanup(request->easy);
    curl->slist_free_all(request->headers);
    buf_finish(&request->body);
    buf_finish(&request->answer);
    free(request->sent_body);
    free(request);
}

static const char *words_for(const struct http_request *request, int failure,
                             CURLcode code) {
    if (!failure) {
        return "";
    }
    if (failure == -ECANCELED) {
        return "cancelled";
    }
    if (failure == -EMSGSIZE) {
        return "the answer is too large";
    }
    if (request->refused && failure == -EACCES) {
        return "its address is not allowed";
    }
    return request->why[0] ? request->why : request->http->curl->easy_strerror(code);
}

/* The only place where a request ends. */
static void finish(struct http_request *request, CURLcode code) {
    const struct curl_table *curl = request->http->curl;
    int failure = failure_of(request, code);
    struct http_answer answer = {.request = request};
    LIST_REMOVE(request, link);
    curl->easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &answer.response.status);
    if (request->added) {
        curl->multi_remove_handle(request->http->multi, request->easy);
    }
    answer.response.failure = failure;
    answer.response.why = words_for(request, failure, code);
    answer.response.header = find_header;
    answer.response.body = request->body.data;
    answer.response.body_len = request->body.len;
    request->end(request, &answer.response, request->data);
    free_request(request);
}

/* To be called after every socket action, also when nothing seems to run any more: a lone
 * request that timed out is reported by this alone. */
static void reap(struct http *http) {
    CURLMsg *message;
    int left;
    while ((message = http->curl->multi_info_read(http->multi, &left))) {
        struct http_request *request = NULL;
        CURLcode code = message->data.result; /* message dies with the handle's removal */
        if (message->msg == CURLMSG_DONE) {
            http->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                                     (char **)&request);
            finish(request, code);
        }
    }
}

/* --- curl on the loop --- */

static void drop_handle(struct http *http) {
    if (--http->handles) {
        return;
    }
    if (http->closed) {
        http->closed(http->closed_data);
    }
    free(http);
}

static void on_watch_closed(uv_handle_t *handle) {
    struct socket_watch *watch =
        container_of((uv_poll_t *)handle, struct socket_watch, poll);
    drop_handle(watch->http);
    free(watch);
}

/* The descriptor may be closed and used anew right after this. */
static void unwatch(struct socket_watch *watch) {
    LIST_REMOVE(watch, link);
    uv_poll_stop(&watch->poll);
    uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
}

static void on_ready(uv_poll_t *poll, int status, int events) {
    struct socket_watch *watch = container_of(poll, struct socket_watch, poll);
    struct http *http = watch->http; /* the watch may be gone after the action */
    int flags = status < 0 ? CURL_CSELECT_ERR : 0, running;
    flags |= events & UV_READABLE ? CURL_CSELECT_IN : 0;
    flags |= events & UV_WRITABLE ? CURL_CSELECT_OUT : 0;
    http->curl->multi_socket_action(http->multi, watch->fd, flags, &running);
    reap(http);
}

static struct socket_watch *watch_new(struct http *http, curl_socket_t fd) {
    struct socket_watch *watch = xcalloc(1, sizeof *watch);
    if (http->closing || uv_poll_init_socket(http->loop, &watch->poll, fd) < 0) {
        free(watch);
        return NULL;
    }
    watch->http = http;
    watch->fd = fd;
    http->handles++;
    LIST_INSERT_HEAD(&http->watches, watch, link);
    http->curl->multi_assign(http->multi, fd, watch);
    return watch;
}

static int on_socket(CURL *, curl_socket_t fd, int what, void *data, void *socket) {
    struct http *http = data;
    struct socket_watch *watch = socket;
    int events = 0;
    if (what == CURL_POLL_REMOVE) {
        http->curl->multi_assign(http->multi, fd, NULL);
        if (watch) {
            unwatch(watch);
        }
        return 0;
    }
    watch = watch ? watch : watch_new(http, fd);
    if (!watch) {
        return -1;
    }
    events |= what & CURL_POLL_IN ? UV_READABLE : 0;
    events |= what & CURL_POLL_OUT ? UV_WRITABLE : 0;
    return uv_poll_start(&watch->poll, events, on_ready) < 0 ? -1 : 0;
}

static void on_timer(uv_timer_t *timer) {
    struct http *http = container_of(timer, struct http, timer);
    int running;
    http->curl->multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    reap(http);
}

/* Curl must not be called back from inside this. */
static int on_timeout_wanted(CURLM *, long timeout_ms, void *data) {
    struct http *http = data;
    if (timeout_ms < 0) {
        uv_timer_stop(&http->timer);
    } else if (!uv_is_closing((uv_handle_t *)&http->timer)) {
        uv_timer_start(&http->timer, on_timer, timeout_ms ? (uint64_t)timeout_ms : 1, 0);
    }
    return 0;
}

/* --- chores --- */

static void on_timer_closed(uv_handle_t *handle) {
    drop_handle(handle->data);
}

/* Curl is cleaned up while the loop and the timer still exist, because its cleanup calls
 * back. */
static void tear_down(struct http *http) {
    struct http_request *request;
    while ((request = LIST_FIRST(&http->requests))) {
        request->cancelled = true;
        finish(request, CURLE_OK);
    }
    if (http->multi) {
        http->curl->multi_cleanup(http->multi);
        http->multi = NULL;
    }
    while (!LIST_EMPTY(&http->watches)) {
        unwatch(LIST_FIRST(&http->watches));
    }
    uv_close((uv_handle_t *)&http->timer, on_timer_closed);
    uv_close((uv_handle_t *)&http->chores, on_timer_closed);
}

/* A request that waits for something to be done with it, or NULL. */
static struct http_request *next_chore(const struct http *http) {
    struct http_request *request;
    LIST_FOREACH(request, &http->requests, link) {
        bool resumed = request->paused && http->taken < TURN_MAX;
        if (request->cancelled || !request->added || resumed) {
            break;
        }
    }
    return request;
}

static CURLcode do_chore(struct http_request *request) {
    const struct curl_table *curl = request->http->curl;
    if (request->added) {
        request->paused = false;
        return curl->easy_pause(request->easy, CURLPAUSE_CONT);
    }
    CURLMcode code = curl->multi_add_handle(request->http->multi, request->easy);
    request->added = code == CURLM_OK;
    return request->added ? CURLE_OK : CURLE_FAILED_INIT;
}

static void on_chores(uv_timer_t *timer) {
    struct http *http = container_of(timer, struct http, chores);
    struct http_request *request;
    http->taken = 0;
    while (!http->closing && (request = next_chore(http))) {
        CURLcode code = request->cancelled ? CURLE_OK : do_chore(request);
        if (request->cancelled || code != CURLE_OK) {
            finish(request, code);
        }
    }
    if (http->closing) {
        tear_down(http);
    }
}

static void want_chores(struct http *http) {
    uv_timer_start(&http->chores, on_chores, 0, 0);
}

/* --- received data --- */

static size_t on_header(char *bytes, size_t one, size_t len, void *data) {
    struct http_request *request = data;
    size_t end = len * one;
    while (end && (bytes[end - 1] == '\r' || bytes[end - 1] == '\n')) {
        end--;
    }
    if (end > 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        buf_reset(&request->answer); /* the real answer after "100 Continue" */
    } else if (end && !memchr(bytes, '\0', end)) {
        buf_add(&request->answer, bytes, end);
        buf_addc(&request->answer, '\0');
    }
    request->too_large |= request->answer.full;
    return request->answer.full ? 0 : len * one;
}

/* Data that arrives faster than it is read would keep curl, and with it the loop, busy. A
 * timer of 0 ms that a timer starts may fire before anything else runs. */
static bool must_pause(struct http_request *request, size_t len) {
    struct http *http = request->http;
    request->paused = http->taken >= TURN_MAX;
    http->taken += request->paused ? 0 : len;
    if (!uv_is_active((uv_handle_t *)&http->chores)) {
        uv_timer_start(&http->chores, on_chores, 1, 0);
    }
    return request->paused;
}

static size_t on_body(char *bytes, size_t one, size_t len, void *data) {
    struct http_request *request = data;
    long status = 0;
    len *= one;
    if (request->cancelled) {
        return CURL_WRITEFUNC_ERROR;
    }
    if (must_pause(request, len)) {
        return CURL_WRITEFUNC_PAUSE;
    }
    if (len > request->max_body - request->received) {
        request->too_large = true;
        return CURL_WRITEFUNC_ERROR;
    }
    request->received += len;
    request->http->curl->easy_getinfo(request->easy, CURLINFO_RESPONSE_CODE, &status);
    if (!request->chunk || status < 200 || status > 299) {
        request->too_large = buf_add(&request->body, bytes, len) < 0;
        return request->too_large ? CURL_WRITEFUNC_ERROR : len;
    }
    return request->chunk(request, bytes, len, request->data) ? CURL_WRITEFUNC_ERROR
                                                              : len;
}

/* --- starting --- */

struct http *http_new(uv_loop_t *loop) {
    struct http *http = xcalloc(1, sizeof *http);
    http->loop = loop;
    uv_timer_init(loop, &http->timer);
    uv_timer_init(loop, &http->chores);
    http->timer.data = http->chores.data = http;
    http->handles = 2;
    return http;
}

void http_close(struct http *http, void (*closed)(void *data), void *data) {
    if (http->closing) {
        return;
    }
    http->closing = true;
    http->closed = closed;
    http->closed_data = data;
    want_chores(http);
}

static int load(struct http *http, struct err *err) {
    if (http->multi) {
        return 0;
    }
    http->curl = curl_table_load(err);
    if (!http->curl) {
        return -ENOSYS;
    }
    http->multi = http->curl->multi_init();
    if (!http->multi) {
        return err_set(err, -ENOMEM, "libcurl: no memory");
    }
    http->curl->multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    http->curl->multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    http->curl->multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
    http->curl->multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    return 0;
}

static void set_callbacks(struct http_request *request) {
    const struct curl_table *curl = request->http->curl;
    CURL *easy = request->easy;
    curl->easy_setopt(easy, CURLOPT_PRIVATE, request);
    curl->easy_setopt(easy, CURLOPT_ERRORBUFFER, request->why);
    curl->easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl->easy_setopt(easy, CURLOPT_WRITEDATA, request);
    curl->easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl->easy_setopt(easy, CURLOPT_HEADERDATA, request);
}

int http_start(struct http *http, const struct http_options *options,
               struct http_request **ret, struct err *err) {
    if (http->closing) {
        return err_set(err, -ECANCELED, "shutting down");
    }
    int rc = load(http, err);
    if (rc < 0) {
        return rc;
    }
    size_t max_body = options->max_body ? options->max_body : MAX_BODY;
    struct http_request *request = xcalloc(1, sizeof *request);
    *request = (struct http_request){
        .http = http,
        .easy = http->curl->easy_init(),
        .max_body = max_body,
        .body = BUF_INIT(options->max_kept ? options->max_kept : max_body),
        .answer = BUF_INIT(MAX_HEADERS),
        .allow_address = options->allow_address,
        .chunk = options->chunk,
        .end = options->end,
        .data = options->data};
    rc = request->easy ? http_request_setup(request, options, err) : -ENOMEM;
    if (rc < 0) {
        free_request(request);
        return rc;
    }
    set_callbacks(request);
    LIST_INSERT_HEAD(&http->requests, request, link);
    want_chores(http); /* not added here: this may be inside a callback of curl's */
    if (ret) {
        *ret = request;
    }
    return 0;
}

void http_cancel(struct http_request *request) {
    request->cancelled = true;
    want_chores(request->http);
}
