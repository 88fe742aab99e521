/* Roots: the folders a legacy client works in. A modern client has no way to be asked. */
#include "protocol/mcp_internal.h"

#include "base/file.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MAX_ROOTS 256

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-decoded, or NULL for a broken escape or an escaped NUL. */
static char *percent_decode(const char *s) {
    char *out = xmalloc(strlen(s) + 1), *to = out;
    for (; *s; s++) {
        if (*s != '%') {
            *to++ = *s;
            continue;
        }
        int high = hex_digit(s[1]), low = high < 0 ? -1 : hex_digit(s[2]);
        if (low < 0 || high + low == 0) {
            free(out);
            return NULL;
        }
        *to++ = (char)(high << 4 | low);
        s += 2;
    }
    *to = '\0';
    return out;
}

/* "file:///a%20b/" -> "/a b"; NULL for anything that is no local absolute path. */
static char *path_of_uri(const char *uri) {
    if (strncasecmp(uri, "file://", 7) != 0) {
        return NULL;
    }
    uri += 7;
    if (strncasecmp(uri, "localhost/", 10) == 0) {
        uri += 9;
    }
    autofree char *path = *uri == '/' ? percent_decode(uri) : NULL;
    return path ? path_normalize(path) : NULL;
}

static json_t *paths_of(const json_t *roots) {
    json_t *paths = json_array();
    size_t i;
    json_t *root;
    json_array_foreach(roots, i, root) {
        const char *uri = json_string_value(json_object_get(root, "uri"));
        autofree char *path = uri && i < MAX_ROOTS ? path_of_uri(uri) : NULL;
        json_t *text =
            path ? json_string(path) : NULL; /* NULL: bytes that are not UTF-8 */
        if (text) {
            json_array_append_new(paths, text);
        }
    }
    return paths;
}

static void on_roots(struct rpc_request *request, int status, const json_t *result,
                     const json_t *error, void *data) {
    struct mcp *m = data;
    (void)request;
    (void)status;
    (void)error;
    m->roots_request = NULL;
    const json_t *roots = json_object_get(result, "roots");
    if (json_is_array(roots) && m->host->set_roots) {
        autojson *paths = paths_of(roots);
        m->host->set_roots(m->host->data, paths);
    }
}

void mcp_roots_ask(struct mcp *m) {
    if (!m->initialized || !m->client_has_roots) {
        return;
    }
    /* An answer on its way may be older than this change: ask again and forget it. */
    if (m->roots_request) {
        rpc_request_abandon(take(m->roots_request));
    }
    m->roots_request = rpc_request_start(m->peer, "roots/list", NULL, on_roots, m);
}
