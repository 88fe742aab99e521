#include "protocol/uri.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"

#include <strings.h>

int uri_byte(const char **at) {
    const char *p = *at;
    if (*p != '%') {
        *at = p + 1;
        return (unsigned char)*p;
    }
    int high = text_hex_digit(p[1]);
    int low = high < 0 ? -1 : text_hex_digit(p[2]);
    if (low < 0 || (high == 0 && low == 0)) {
        return -1;
    }
    *at = p + 3;
    return high * 16 + low;
}

static const char *path_part(const char *uri) {
    if (strncasecmp(uri, "file:", 5) != 0) {
        return NULL;
    }
    uri += 5;
    if (strncmp(uri, "//", 2) == 0) {
        uri += 2;
        if (strncasecmp(uri, "localhost/", 10) == 0) {
            uri += 9;
        }
    }
    return *uri == '/' ? uri : NULL;
}

char *uri_to_path(const char *uri) {
    const char *at = path_part(uri);
    if (!at) {
        return NULL;
    }
    autobuf path = BUF_INIT(URI_MAX);
    while (*at && *at != '?' && *at != '#') {
        int byte = uri_byte(&at);
        if (byte < 0 || buf_addc(&path, (char)byte) < 0) {
            return NULL;
        }
    }
    return text_is_utf8(path.data, path.len) ? path_normalize(path.data) : NULL;
}

static bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("/-._~", c);
}

void uri_escape(struct buf *out, const char *path) {
    for (; *path; path++) {
        buf_addf(out, is_plain(*path) ? "%c" : "%%%02X", (unsigned char)*path);
    }
}

char *uri_of_path(const char *path) {
    autobuf uri = BUF_INIT(3 * URI_MAX);
    buf_adds(&uri, "file://");
    uri_escape(&uri, path);
    return buf_detach(&uri);
}
