/* How a request is given to libcurl: URL, method, headers, limits, allowed addresses. */
#include "base/err.h"
#include "base/http_internal.h"

#include <strings.h>

#define CONNECT_TIMEOUT_MS 10000
#define STALL_TIMEOUT_S 60

static bool fits_in_line(const char *s) {
    return !strpbrk(s, "\r\n");
}

static int set_headers(struct http_request *request, const struct http_options *options,
                       struct err *err) {
    const struct curl_table *curl = request->http->curl;
    /* Empty: no "Expect: 100-continue", which costs a round trip or a second. */
    request->headers = curl->slist_append(NULL, "Expect:");
    for (const char *const *at = options->headers; at && *at; at++) {
        if (!fits_in_line(*at)) {
            return err_set(err, -EINVAL, "a header value contains a line break");
        }
        request->headers = curl->slist_append(request->headers, *at);
    }
    curl->easy_setopt(request->easy, CURLOPT_HTTPHEADER, request->headers);
    return 0;
}

static int set_method(struct http_request *request, const struct http_options *options,
                      struct err *err) {
    const struct curl_table *curl = request->http->curl;
    CURL *easy = request->easy;
    if (!options->method || strspn(options->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") !=
                                strlen(options->method)) {
        return err_set(err, -EINVAL, "not an HTTP method");
    }
    if (options->body) {
        request->sent_body = xmalloc(options->body_len);
        memcpy(request->sent_body, options->body, options->body_len);
        curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                          (curl_off_t)options->body_len);
        curl->easy_setopt(easy, CURLOPT_POSTFIELDS, request->sent_body);
    } else if (strcmp(options->method, "HEAD") == 0) {
        curl->easy_setopt(easy, CURLOPT_NOBODY, 1L);
        return 0;
    } else if (strcmp(options->method, "POST") == 0) {
        curl->easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)0);
        curl->easy_setopt(easy, CURLOPT_POSTFIELDS, "");
    }
    curl->easy_setopt(easy, CURLOPT_CUSTOMREQUEST, options->method);
    return 0;
}

static void set_limits(struct http_request *request, const struct http_options *options) {
    const struct curl_table *curl = request->http->curl;
    CURL *easy = request->easy;
    unsigned connect = options->connect_timeout_ms;
    unsigned stall = options->stall_timeout_s;
    curl->easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a name's answer */
    curl->easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                      connect ? (long)connect : CONNECT_TIMEOUT_MS);
    curl->easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl->easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                      stall ? (long)stall : STALL_TIMEOUT_S);
    curl->easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)options->timeout_ms);
    curl->easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl->easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl->easy_setopt(easy, CURLOPT_USERAGENT, "upskilld/" UPSKILLD_VERSION);
    if (curl->certificates) {
        curl->easy_setopt(easy, CURLOPT_CAINFO, curl->certificates);
    }
}

/* A model on this machine is not asked through the environment's proxy. */
static bool is_local(const char *url) {
    static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]"};
    const char *host = strstr(url, "://");
    for (size_t i = 0; host && i < ARRAY_LEN(hosts); i++) {
        size_t len = strlen(hosts[i]);
        if (strncasecmp(host + 3, hosts[i], len) == 0 &&
            (host[3 + len] == '\0' || strchr(":/?#", host[3 + len]))) {
            return true;
        }
    }
    return false;
}

static int set_url(struct http_request *request, const struct http_options *options,
                   struct err *err) {
    const struct curl_table *curl = request->http->curl;
    if (!options->url || curl->easy_setopt(request->easy, CURLOPT_URL, options->url) ||
        !fits_in_line(options->url)) {
        return err_set(err, -EINVAL, "not a URL");
    }
    if (is_local(options->url)) {
        curl->easy_setopt(request->easy, CURLOPT_PROXY, "");
    }
    if (curl->easy_setopt(request->easy, CURLOPT_PROTOCOLS_STR, "http,https") !=
        CURLE_OK) {
        return err_set(err, -ENOSYS, "libcurl is too old: 7.85 or newer is needed");
    }
    return 0;
}

static curl_socket_t on_open(void *data, curlsocktype purpose,
                             struct curl_sockaddr *address) {
    struct http_request *request = data;
    if (purpose != CURLSOCKTYPE_IPCXN || !request->allow_address(&address->addr)) {
        request->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* A kept connection or a proxy would reach an address that allow_address was not called
 * with. */
static void set_watch_over_addresses(struct http_request *request) {
    const struct curl_table *curl = request->http->curl;
    curl->easy_setopt(request->easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl->easy_setopt(request->easy, CURLOPT_OPENSOCKETDATA, request);
    curl->easy_setopt(request->easy, CURLOPT_PROXY, "");
    curl->easy_setopt(request->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl->easy_setopt(request->easy, CURLOPT_FORBID_REUSE, 1L);
}

int http_request_setup(struct http_request *request, const struct http_options *options,
                       struct err *err) {
    int rc = set_url(request, options, err);
    rc = rc < 0 ? rc : set_method(request, options, err);
    rc = rc < 0 ? rc : set_headers(request, options, err);
    if (rc < 0) {
        return rc;
    }
    set_limits(request, options);
    if (options->allow_address) {
        set_watch_over_addresses(request);
    }
    return 0;
}
