#include "skills/format/frontmatter.h"

#include "base/buf.h"
#include "base/find.h"

#include <ctype.h>

#define REPAIR_MAX (256u << 10)

/* --- the two lines --- */

/* Behind the line ending of the line that begins at `at`. */
static size_t next_line(const char *text, size_t len, size_t at) {
    while (at < len && text[at] != '\n' && text[at] != '\r') {
        at++;
    }
    if (at + 1 < len && text[at] == '\r' && text[at + 1] == '\n') {
        at++;
    }
    return at < len ? at + 1 : len;
}

static bool is_blank(const char *text, size_t at, size_t end) {
    while (at < end && isspace((unsigned char)text[at])) {
        at++;
    }
    return at == end;
}

static bool is_marker(const char *text, size_t at, size_t end) {
    return end - at >= 3 && memcmp(text + at, "---", 3) == 0 &&
           is_blank(text, at + 3, end);
}

static bool opens_late(const char *text, size_t len, size_t at) {
    while (at < len) {
        size_t end = next_line(text, len, at);
        if (!is_blank(text, at, end)) {
            return is_marker(text, at, end);
        }
        at = end;
    }
    return false;
}

void frontmatter_find(struct frontmatter *ret, const char *text, size_t len) {
    *ret = (struct frontmatter){0};
    size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    size_t end = next_line(text, len, at);
    ret->opened = is_marker(text, at, end);
    if (!ret->opened) {
        ret->body = at;
        ret->late = opens_late(text, len, at);
        return;
    }
    ret->at = ret->end = ret->body = end;
    for (at = end; at < len; at = end) {
        end = next_line(text, len, at);
        if (is_marker(text, at, end)) {
            ret->closed = true;
            ret->end = at;
            ret->body = end;
            return;
        }
    }
    ret->end = len;
}

/* --- what was meant to be the two lines --- */

/* "key:" at the beginning of a line. */
static bool is_pair(const char *text, size_t at, size_t end) {
    size_t i = at;
    while (i < end && (isalnum((unsigned char)text[i]) || strchr("_-", text[i]))) {
        i++;
    }
    return i > at && i < end && text[i] == ':';
}

/* Only dashes and blanks: two hyphens, or one typographic dash. */
static bool is_like_marker(const char *text, size_t at, size_t end) {
    size_t dashes = 0;
    while (at < end) {
        bool wide = end - at >= 3 && memcmp(text + at, "\xE2\x80", 2) == 0 &&
                    (unsigned char)text[at + 2] >= 0x90 &&
                    (unsigned char)text[at + 2] <= 0x95;
        if (!wide && text[at] != '-' && !isspace((unsigned char)text[at])) {
            return false;
        }
        dashes += wide ? 2 : text[at] == '-';
        at += wide ? 3 : 1;
    }
    return dashes >= 2;
}

static bool is_fence(const char *text, size_t at, size_t end) {
    return end - at >= 3 && memcmp(text + at, "```", 3) == 0;
}

static bool is_bare_fence(const char *text, size_t at, size_t end) {
    return is_fence(text, at, end) && is_blank(text, at + 3, end);
}

/* The next line of a kind from `at` on. */
static bool find_line(const char *text, size_t len, size_t at, size_t *ret,
                      size_t *ret_end,
                      bool (*is)(const char *text, size_t at, size_t end)) {
    for (size_t end; at < len; at = end) {
        end = next_line(text, len, at);
        if (is(text, at, end)) {
            *ret = at;
            *ret_end = end;
            return true;
        }
    }
    return false;
}

bool frontmatter_almost(struct frontmatter_almost *ret, const char *text, size_t len) {
    size_t first = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    size_t second = next_line(text, len, first);
    size_t third = next_line(text, len, second);
    bool fence = is_fence(text, first, second);
    bool inner = fence && is_marker(text, second, third);
    *ret =
        (struct frontmatter_almost){.first = first, .first_end = second, .fenced = inner};
    if (inner ? !is_pair(text, third, next_line(text, len, third))
              : !is_pair(text, second, third) ||
                    !(fence || is_like_marker(text, first, second))) {
        return false;
    }
    size_t behind = third; /* the closing fence follows the closing "---" */
    if (inner) {
        size_t close;
        (void)find_line(text, len, third, &close, &behind, is_marker);
    }
    (void)find_line(text, len, behind, &ret->last, &ret->last_end,
                    fence ? is_bare_fence : is_like_marker);
    return true;
}

/* --- quoting --- */

struct repairer {
    const char *yaml;
    size_t len;
    struct buf out;
    size_t *inserted;
    size_t count, capacity;
};

static void insert(struct repairer *r, char c) {
    list_room(r->inserted, r->count, r->capacity, 16);
    r->inserted[r->count++] = r->out.len;
    buf_addc(&r->out, c);
}

static size_t indent_of(const struct repairer *r, size_t at) {
    size_t n = 0;
    while (at + n < r->len && r->yaml[at + n] == ' ') {
        n++;
    }
    return n;
}

/* The line ending at `end` is not counted. */
static size_t trim(const struct repairer *r, size_t at, size_t end) {
    while (end > at && isspace((unsigned char)r->yaml[end - 1])) {
        end--;
    }
    return end;
}

/* Where the value of "key: value" begins on this line; 0 if it is not such a line. */
static size_t value_of_line(const struct repairer *r, size_t at, size_t end) {
    at += indent_of(r, at);
    while (at + 1 < end && r->yaml[at] == '-' && r->yaml[at + 1] == ' ') {
        at += 2;
    }
    size_t key = at;
    while (at < end &&
           (isalnum((unsigned char)r->yaml[at]) || strchr("_-.", r->yaml[at]))) {
        at++;
    }
    if (at == key || at >= end || r->yaml[at] != ':') {
        return 0;
    }
    size_t value = ++at;
    while (at < end && (r->yaml[at] == ' ' || r->yaml[at] == '\t')) {
        at++;
    }
    return at > value && at < trim(r, at, end) ? at : 0;
}

/* A line belongs to the value above when it is indented deeper or blank. */
static size_t extent_of(const struct repairer *r, size_t next, size_t indent) {
    size_t extent = next;
    while (next < r->len) {
        size_t end = next_line(r->yaml, r->len, next);
        bool blank = is_blank(r->yaml, next, end);
        if (!blank && indent_of(r, next) <= indent) {
            break;
        }
        next = end;
        extent = blank ? extent : end;
    }
    return extent;
}

/* "[a] [b]" and "{a} b": the first bracket is closed before the end. */
static bool bracket_ends_early(const char *s, size_t len) {
    int depth = 0;
    size_t i = 0;
    do {
        depth += (s[i] == '[' || s[i] == '{') - (s[i] == ']' || s[i] == '}');
        i++;
    } while (i < len && depth > 0);
    while (i < len && isspace((unsigned char)s[i])) {
        i++;
    }
    return i < len && s[i] != '#';
}

static bool has_colon(const char *s, size_t len) {
    return any_of(i, 0, len,
                  s[i] == ':' && (i + 1 == len || isspace((unsigned char)s[i + 1])));
}

/* "*Packs* wheels": no alias of YAML, which is one word. */
static bool alias_goes_on(const char *s, size_t len) {
    size_t i = 1;
    while (i < len && (isalnum((unsigned char)s[i]) || s[i] == '-' || s[i] == '_')) {
        i++;
    }
    return i < len;
}

/* "\"x\" y" and "'it's'": the quote is closed before the end. */
static bool quote_ends_early(const char *s, size_t len) {
    size_t i = 1;
    while (i < len && (s[i] != *s || (*s == '\'' && i + 1 < len && s[i + 1] == *s))) {
        i += s[i] == *s || (*s == '"' && s[i] == '\\') ? 2 : 1;
    }
    i++;
    while (i < len && isspace((unsigned char)s[i])) {
        i++;
    }
    return i < len && s[i] != '#';
}

/* Ends like a text, not like YAML: "x y */
static bool quote_is_open(const char *s, size_t len) {
    return (*s == '"' || *s == '\'') && !memchr(s + 1, *s, len - 1) &&
           !memchr(s, '\\', len);
}

static bool needs_quotes(const char *s, size_t len) {
    switch (*s) {
    case '"':
    case '\'':
        return quote_ends_early(s, len);
    case '*':
        return alias_goes_on(s, len);
    case '|':
    case '>':
    case '&':
    case '!':
    case '#':
        return false;
    case '[':
    case '{':
        return bracket_ends_early(s, len);
    case '@':
    case '`':
    case '%':
        return true;
    default:
        return has_colon(s, len);
    }
}

/* The quotes at both ends stay quotes; those between them are escaped. */
static void copy_within_quotes(struct repairer *r, size_t at, size_t end) {
    char quote = r->yaml[at];
    buf_addc(&r->out, quote);
    for (size_t i = at + 1; i + 1 < end; i++) {
        bool escaped = quote == '"' && r->yaml[i] == '\\' && i + 2 < end;
        if (r->yaml[i] == quote) {
            insert(r, quote == '"' ? '\\' : quote);
        }
        buf_addc(&r->out, r->yaml[i]);
        if (escaped) {
            buf_addc(&r->out, r->yaml[++i]);
        }
    }
    buf_addc(&r->out, quote);
}

static void copy_quoted(struct repairer *r, size_t at, size_t end) {
    char first = r->yaml[at];
    if ((first == '"' || first == '\'') && end - at > 2 && r->yaml[end - 1] == first) {
        copy_within_quotes(r, at, end);
        return;
    }
    insert(r, '"');
    for (; at < end; at++) {
        char c = r->yaml[at];
        if (c == '"' || c == '\\') {
            insert(r, '\\');
        }
        buf_addc(&r->out, c);
    }
    insert(r, '"');
}

static void copy(struct repairer *r, size_t at, size_t end) {
    buf_add(&r->out, r->yaml + at, end - at);
}

/* Copies the field or line at `at`; returns where the next begins. */
static size_t repair_line(struct repairer *r, size_t at) {
    size_t end = next_line(r->yaml, r->len, at);
    size_t value = value_of_line(r, at, end);
    if (!value) {
        copy(r, at, end);
        return end;
    }
    size_t extent = extent_of(r, end, indent_of(r, at));
    size_t stop = trim(r, value, extent);
    copy(r, at, value);
    if (needs_quotes(r->yaml + value, stop - value)) {
        copy_quoted(r, value, stop);
    } else {
        copy(r, value, stop);
    }
    if (quote_is_open(r->yaml + value, stop - value)) {
        insert(r, r->yaml[value]);
    }
    copy(r, stop, extent);
    return extent;
}

bool frontmatter_repair(struct frontmatter_repair *ret, const char *yaml, size_t len) {
    struct repairer r = {.yaml = yaml, .len = len, .out = BUF_INIT(REPAIR_MAX)};
    for (size_t at = 0; at < len;) {
        at = repair_line(&r, at);
    }
    *ret = (struct frontmatter_repair){0};
    if (!r.count || r.out.full) {
        buf_finish(&r.out);
        free(r.inserted);
        return false;
    }
    ret->len = r.out.len;
    ret->yaml = buf_detach(&r.out);
    ret->inserted = r.inserted;
    ret->inserted_count = r.count;
    return true;
}

void frontmatter_repair_finish(struct frontmatter_repair *r) {
    free(r->yaml);
    free(r->inserted);
    *r = (struct frontmatter_repair){0};
}

size_t frontmatter_repair_origin(const struct frontmatter_repair *r, size_t offset) {
    size_t low = 0, high = r->inserted_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->inserted[middle] < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return offset - low;
}
