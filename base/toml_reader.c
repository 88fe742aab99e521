#include "base/toml_reader.h"
#include "base/text.h"

bool toml_fail(struct toml_reader *r, size_t at, const char *fmt, ...) {
    if (!r->error[0]) {
        text_format(r->error, fmt);
        r->error_at = at;
    }
    return false;
}

int toml_peek(const struct toml_reader *r, size_t ahead) {
    return ahead < r->len - r->at ? (unsigned char)r->text[r->at + ahead] : -1;
}

bool toml_eat(struct toml_reader *r, const char *prefix) {
    size_t n = strlen(prefix);
    bool there = r->len - r->at >= n && memcmp(r->text + r->at, prefix, n) == 0;
    r->at += there ? n : 0;
    return there;
}

size_t toml_newline(const struct toml_reader *r) {
    if (toml_peek(r, 0) == '\n') {
        return 1;
    }
    return toml_peek(r, 0) == '\r' && toml_peek(r, 1) == '\n' ? 2 : 0;
}

void toml_skip_blanks(struct toml_reader *r) {
    while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t') {
        r->at++;
    }
}

static bool skip_comment(struct toml_reader *r) {
    if (toml_peek(r, 0) != '#') {
        return true;
    }
    for (int c = toml_peek(r, 0); c >= 0 && !toml_newline(r); c = toml_peek(r, 0)) {
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return toml_fail(r, r->at, "control character 0x%02x in a comment", c);
        }
        r->at++;
    }
    return true;
}

bool toml_skip_space(struct toml_reader *r) {
    for (;;) {
        toml_skip_blanks(r);
        if (!skip_comment(r)) {
            return false;
        }
        size_t newline = toml_newline(r);
        if (!newline) {
            return true;
        }
        r->at += newline;
    }
}

bool toml_end_line(struct toml_reader *r, const char *what) {
    toml_skip_blanks(r);
    if (!skip_comment(r)) {
        return false;
    }
    if (r->at == r->len) {
        return true;
    }
    size_t newline = toml_newline(r);
    r->at += newline;
    return newline || toml_fail(r, r->at, "nothing may follow %s on its line", what);
}
