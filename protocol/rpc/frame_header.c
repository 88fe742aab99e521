#include "protocol/rpc/frame_header.h"

#include <strings.h>

static const char content_length[] = "content-length";

ptrdiff_t frame_header_find(const char *text, size_t from, size_t to) {
    const size_t name = FRAME_HEADER_NAME;
    while (from < to) {
        const char *colon = memchr(text + from, ':', to - from);
        if (!colon) {
            return -1;
        }
        size_t at = (size_t)(colon - text);
        if (at >= name && strncasecmp(colon - name, content_length, name) == 0) {
            return (ptrdiff_t)(at - name);
        }
        from = at + 1;
    }
    return -1;
}

static bool is_token_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

size_t frame_header_name(const char *line, size_t len) {
    size_t n = 0;
    while (n < len && is_token_char(line[n])) {
        n++;
    }
    return n < len && line[n] == ':' ? n : 0;
}

long long frame_header_length(const char *s, size_t len) {
    while (len && (*s == ' ' || *s == '\t')) {
        s++, len--;
    }
    while (len && (s[len - 1] == ' ' || s[len - 1] == '\t')) {
        len--;
    }
    long long value = len ? 0 : -1;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9') {
            return -1;
        }
        value = value > FRAME_ABSURD_LENGTH ? value : value * 10 + (s[i] - '0');
    }
    return value;
}

bool frame_header_is(const char *line, size_t name, const char *known) {
    return name == strlen(known) && strncasecmp(line, known, name) == 0;
}
