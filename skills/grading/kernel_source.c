#include "skills/grading/kernel_source.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static void blank(char *text, size_t from, size_t to) {
    for (size_t i = from; i < to; i++) {
        text[i] = text[i] == '\n' ? '\n' : ' ';
    }
}

static size_t comment_end(const struct kernel_source *s, size_t at) {
    if (s->text[at + 1] == '/') {
        do {
            const char *newline = memchr(s->text + at, '\n', s->len - at);
            at = newline ? (size_t)(newline - s->text) : s->len;
        } while (at < s->len && s->text[at - 1] == '\\' && ++at);
        return at;
    }
    const char *close = strstr(s->text + at + 2, "*/");
    return close ? (size_t)(close - s->text) + 2 : s->len;
}

/* Past the closing quote of the string or character that opens at `at`. */
static size_t quoted_end(const struct kernel_source *s, size_t at) {
    char quote = s->text[at];
    for (at++; at < s->len && s->text[at] != quote && s->text[at] != '\n'; at++) {
        at += s->text[at] == '\\' && at + 1 < s->len;
    }
    return at < s->len ? at + 1 : s->len;
}

/* Past R"tag( … )tag"; `at` is the quote. */
static size_t raw_end(const struct kernel_source *s, size_t at) {
    char close[20] = ")";
    size_t n = strcspn(s->text + at + 1, "( )\\\t\n\"");
    if (n > 16 || s->text[at + 1 + n] != '(') {
        return quoted_end(s, at);
    }
    memcpy(close + 1, s->text + at + 1, n);
    close[n + 1] = '"';
    const char *end = strstr(s->text + at, close);
    return end ? (size_t)(end - s->text) + n + 2 : s->len;
}

static void split(struct kernel_source *s) {
    for (size_t at = 0; at < s->len;) {
        char c = s->text[at], next = s->text[at + 1];
        if (c == '/' && (next == '/' || next == '*')) {
            size_t end = comment_end(s, at);
            blank(s->words, at, end);
            at = end;
        } else if (c == '"' || (c == '\'' && (at == 0 || !is_word(s->text[at - 1])))) {
            bool raw = c == '"' && at > 0 && s->text[at - 1] == 'R' &&
                       (at == 1 || !is_word(s->text[at - 2]));
            size_t end = raw ? raw_end(s, at) : quoted_end(s, at);
            if (end > at + 1) {
                blank(s->words, at + 1, end - 1);
            }
            at = end;
        } else {
            at++;
        }
    }
}

void kernel_source_init(struct kernel_source *s, const char *text) {
    *s =
        (struct kernel_source){.text = text, .words = xstrdup(text), .len = strlen(text)};
    split(s);
}

void kernel_source_finish(struct kernel_source *s) {
    free(s->words);
}

size_t kernel_source_word(const struct kernel_source *s, const char *word, size_t from) {
    size_t n = strlen(word);
    while (from < s->len) {
        const char *found = strstr(s->words + from, word);
        if (!found) {
            break;
        }
        size_t at = (size_t)(found - s->words);
        if ((at == 0 || !is_word(s->words[at - 1])) && !is_word(s->words[at + n])) {
            return at;
        }
        from = at + n;
    }
    return SIZE_MAX;
}
