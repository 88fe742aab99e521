#include "skills/traces/redaction_words.h"

#include <ctype.h>

#define MAX_LINES 2u /* ends of lines within double quotes */

/* The length of the backslashes and the quote at s[at], 0: none. */
static size_t quote_at(const char *s, size_t len, size_t at, struct secret_quote *ret) {
    size_t i = at;
    while (i < len && s[i] == '\\' && i - at < 8) {
        i++;
    }
    if (i >= len || !s[i] || !strchr("\"'`", s[i])) {
        return 0;
    }
    *ret = (struct secret_quote){s[i], i - at};
    return i + 1 - at;
}

static bool quote_is(struct secret_quote a, struct secret_quote b) {
    return a.mark && a.mark == b.mark && a.slashes == b.slashes;
}

/* 'it'\''s': a quote within the quotes that stand around. */
static size_t nested_quote(const struct command_words *w, size_t at) {
    return w->around.mark == '\'' && (secret_starts(w->s, w->len, at, "'\\''") ||
                                      secret_starts(w->s, w->len, at, "'\"'\"'"))
               ? (w->s[at + 1] == '\\' ? 4 : 5)
               : 0;
}

/* Behind the quoted stretch that opens with q, of n bytes, at s[at]; 0: it does not end.
 */
static size_t quoted_end(const struct command_words *w, size_t at, size_t n,
                         struct secret_quote q, size_t stop) {
    bool nested = n > 3 && w->s[at] == '\'';
    size_t lines = q.mark == '"' && !nested ? MAX_LINES : 0;
    for (size_t i = at + n; i < stop && (w->s[i] != '\n' || lines > 0);) {
        lines -= w->s[i] == '\n';
        struct secret_quote here;
        size_t m = quote_at(w->s, stop, i, &here);
        if (nested ? nested_quote(w, i) > 0 : (m > 0 && quote_is(here, q))) {
            return i + (nested ? n : m);
        }
        i += m ? m : 1;
    }
    return 0;
}

static bool ends_command(const char *s, size_t len, size_t at) {
    if (s[at] == '&' && at > 0 && s[at - 1] == '>') {
        return false; /* 2>&1 */
    }
    bool escaped = s[at] == '\\' && at + 1 < len && s[at + 1] == 'n';
    return s[at] == '\0' || strchr("\n;|&)", s[at]) || escaped;
}

/* Behind blanks and the ends of lines that go on. */
static size_t skip_gap(const char *s, size_t stop, size_t at) {
    for (size_t before = stop; at != before;) {
        before = at;
        at = secret_blanks(s, stop, at);
        at += at + 1 < stop && s[at] == '\\' && s[at + 1] == '\n' ? 2 : 0;
    }
    return at;
}

/* Behind the word at s[at]; *ret_over: the command ends there. */
static size_t word_end(struct command_words *w, size_t at, size_t stop, bool *ret_over) {
    size_t i = at;
    while (i < stop && !isspace((unsigned char)w->s[i]) && !ends_command(w->s, stop, i)) {
        struct secret_quote q = {0};
        size_t nested = nested_quote(w, i),
               n = nested ? nested : quote_at(w->s, stop, i, &q);
        if (!n) {
            i++;
            continue;
        }
        size_t end = !nested && quote_is(q, w->around) ? 0 : quoted_end(w, i, n, q, stop);
        bool apostrophe = !end && q.mark == '\'' && i > at && !w->around.mark;
        if (!end && !apostrophe) {
            *ret_over = true;
            return i;
        }
        i = end ? end : i + n;
    }
    *ret_over = i >= stop || (ends_command(w->s, stop, i) && w->s[i] != '\n');
    return i;
}

void command_words_read(struct command_words *w, size_t at, bool lines) {
    size_t stop = w->len - at < COMMAND_BYTES ? w->len : at + COMMAND_BYTES, i = at;
    bool over = false;
    w->count = 0;
    while (!over && w->count < COMMAND_WORDS) {
        i = skip_gap(w->s, stop, i);
        while (lines && i < stop && isspace((unsigned char)w->s[i])) {
            i++;
        }
        size_t end = i < stop ? word_end(w, i, stop, &over) : i;
        if (end == i) {
            break;
        }
        w->list[w->count++] = (struct word){i, end};
        i = end;
    }
    w->end = i;
}

/* Without the quotes around it. */
struct word command_word_bare(const struct command_words *w, size_t start, size_t end) {
    struct secret_quote open = {0}, close = {0};
    size_t n = quote_at(w->s, end, start, &open);
    size_t m = nested_quote(w, start);
    if (m && end - start >= 2 * m) {
        return (struct word){start + m, end - m};
    }
    for (size_t k = 1; n && k <= n && end - k > start; k++) {
        if (quote_at(w->s, end, end - k, &close) == k && quote_is(open, close)) {
            return (struct word){start + n, end - n};
        }
    }
    return (struct word){start, end};
}
