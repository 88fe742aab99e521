#include "skills/traces/trace_clean.h"

#include "base/buf.h"
#include "base/text.h"

#define BASE64_RUN 400 /* no word, path or hash is as long */

static size_t tail_start(const char *s, size_t len, size_t keep) {
    size_t at = len - keep;
    while (at < len && ((unsigned char)s[at] & 0xc0) == 0x80) {
        at++;
    }
    return at;
}

/* Half of a secret is not known for one: a text is cut at a blank, if there is one near. */
static size_t blank_before(const char *s, size_t at, size_t near) {
    for (size_t i = at; i > 0 && at - i < near; i--) {
        if (isspace((unsigned char)s[i - 1])) {
            return i;
        }
    }
    return at;
}

static size_t blank_behind(const char *s, size_t at, size_t len, size_t near) {
    for (size_t i = at; i < len && i - at < near; i++) {
        if (isspace((unsigned char)s[i])) {
            return i;
        }
    }
    return at;
}

void clean_cut(struct buf *out, const char *s, size_t len, size_t max, size_t full) {
    if (len <= max) {
        buf_add(out, s, len);
        return;
    }
    size_t near = max / 8, head = blank_before(s, text_cut(s, len, max / 3 * 2), near);
    size_t tail = blank_behind(s, tail_start(s, len, max / 3), len, near);
    size_t kept = head + (len - tail);
    buf_add(out, s, head);
    buf_addf(out, "\n[… %zu bytes left out …]\n", full > kept ? full - kept : 0);
    buf_add(out, s + tail, len - tail);
}

/* Of each line, the text after its last carriage return. */
static void drop_overwritten(struct buf *out, const char *s, size_t len) {
    for (size_t at = 0; at < len;) {
        const char *newline = memchr(s + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - s) : len, stop = end;
        while (stop > at && s[stop - 1] == '\r') {
            stop--;
        }
        const char *over = memrchr(s + at, '\r', stop - at);
        size_t from = over ? (size_t)(over + 1 - s) : at;
        buf_add(out, s + from, stop - from);
        if (newline) {
            buf_addc(out, '\n');
        }
        at = end + 1;
    }
}

static bool is_base64(unsigned char c) {
    return isalnum(c) || c == '+' || c == '/' || c == '=' || c == '_' || c == '-';
}

/* Data, not a ruler of dashes or a wall of one letter. */
static bool is_data(const char *s, size_t len) {
    bool lower = false, upper = false, digit = false;
    for (size_t i = 0; i < len && !(lower && upper && digit); i++) {
        lower = lower || islower((unsigned char)s[i]);
        upper = upper || isupper((unsigned char)s[i]);
        digit = digit || isdigit((unsigned char)s[i]);
    }
    return lower && upper && digit;
}

static void drop_base64(struct buf *out, const char *s, size_t len) {
    size_t from = 0;
    for (size_t i = 0; i < len;) {
        size_t start = i;
        while (i < len && is_base64((unsigned char)s[i])) {
            i++;
        }
        if (i - start >= BASE64_RUN && is_data(s + start, i - start)) {
            buf_add(out, s + from, start - from);
            buf_addf(out, "[%zu bytes of base64]", i - start);
            from = i;
        }
        i += i < len;
    }
    buf_add(out, s + from, len - from);
}

static void trim(struct buf *b, size_t from) {
    while (b->len > from && isspace((unsigned char)b->data[b->len - 1])) {
        b->len--;
    }
    size_t lead = from;
    while (lead < b->len && (b->data[lead] == '\n' || b->data[lead] == '\r')) {
        lead++;
    }
    memmove(b->data + from, b->data + lead, b->len - lead);
    b->len -= lead - from;
    if (b->cap) {
        b->data[b->len] = '\0';
    }
}

static void clean_piece(struct buf *out, const char *s, size_t len, enum clean_how how) {
    autobuf lines = BUF_INIT(SIZE_MAX / 4), clean = BUF_INIT(SIZE_MAX / 4);
    if (how == CLEAN_TERMINAL && memchr(s, '\r', len)) {
        drop_overwritten(&lines, s, len);
        s = lines.data;
        len = lines.len;
    }
    text_clean(&clean, s, len);
    drop_base64(out, clean.data, clean.len);
}

void clean_text(struct buf *out, const char *s, size_t len, size_t max,
                enum clean_how how, size_t full) {
    autobuf text = BUF_INIT(SIZE_MAX / 4);
    /* Cleaning shrinks, or triples malformed bytes: only what may be kept is looked at.
     */
    if (len > 8 * max) {
        size_t head = text_cut(s, len, 4 * max), tail = tail_start(s, len, 4 * max);
        clean_piece(&text, s, head, how);
        clean_piece(&text, s + tail, len - tail, how);
    } else {
        clean_piece(&text, s, len, how);
    }
    if (how != CLEAN_FILE) {
        trim(&text, 0);
    }
    clean_cut(out, text.data, text.len, max, full > text.len ? full : text.len);
}
