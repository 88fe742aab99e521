#include "skills/generation/builtin_wanted.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "skills/generation/builtin_words.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define TOKENS_MAX 3u
#define TERMS_MAX 2u

/* --- tokens of a change --- */

static bool is_token(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static bool holds(const json_t *contains, const char *text) {
    size_t i;
    const json_t *one;
    json_array_foreach(contains, i, one) {
        if (strcmp(json_string_value(one), text) == 0) {
            return true;
        }
    }
    return false;
}

static void add_token(json_t *contains, const char *token, const char *old,
                      const char *asked) {
    size_t len = strlen(token);
    if (json_array_size(contains) < TOKENS_MAX && len >= 3 && len <= 60 &&
        !strstr(old, token) && !strcasestr(asked, token) && !holds(contains, token)) {
        json_array_append_new(contains, json_string(token));
    }
}

static void add_tokens(json_t *contains, const char *line, size_t len, const char *old,
                       const char *asked) {
    for (size_t i = 0; i < len;) {
        size_t n = 0;
        while (i + n < len && is_token(line[i + n])) {
            n++;
        }
        autofree char *token = xstrndup(line + i, n);
        add_token(contains, token, old, asked);
        i += n ? n : 1;
    }
}

static void add_marked(struct buf *out, const char *diff, char mark) {
    for (const char *s = diff; *s;) {
        size_t len = strcspn(s, "\n");
        if (*s == mark) {
            buf_add(out, s, len);
            buf_addc(out, '\n');
        }
        s += len + (s[len] == '\n');
    }
}

void wanted_tokens(json_t *contains, const char *diff, const char *asked) {
    autobuf old = BUF_INIT(64u << 10);
    add_marked(&old, diff, '-');
    for (const char *s = diff; *s;) {
        size_t len = strcspn(s, "\n");
        if (*s == '+') {
            add_tokens(contains, s + 1, len - 1, old.data, asked);
        }
        s += len + (s[len] == '\n');
    }
}

char *wanted_old_lines(const char *lines) {
    struct buf out = BUF_INIT(64u << 10);
    for (const char *s = lines; *s;) {
        size_t len = strcspn(s, "\n");
        if (*s == '-') {
            buf_addf(&out, "    %.*s\n", (int)(len - 1), s + 1);
        }
        s += len + (s[len] == '\n');
    }
    return buf_detach(&out);
}

size_t wanted_new_lines(const char *lines) {
    size_t n = *lines == '+';
    for (const char *s = lines; (s = strstr(s, "\n+")); s++) {
        n++;
    }
    return n;
}

/* --- terms of a sentence --- */

static bool is_technical(const char *word) {
    size_t len = strlen(word);
    bool inner = false;
    for (size_t i = 1; i < len; i++) {
        inner |= strchr("_.:-", word[i]) || isupper((unsigned char)word[i]) ||
                 isdigit((unsigned char)word[i]);
    }
    return len >= 4 && len <= 60 && inner;
}

void wanted_terms(json_t *contains, const char *sentence, const char *asked) {
    struct words w;
    words_read(&w, sentence);
    for (size_t k = 0; k < w.count && json_array_size(contains) < TERMS_MAX; k++) {
        char *word = w.list[k];
        size_t len = strlen(word);
        while (len && strchr(".,:;!?()`", word[len - 1])) {
            word[--len] = '\0';
        }
        const char *bare = word + strspn(word, "(`");
        if (is_technical(bare) && !strcasestr(asked, bare)) {
            json_array_append_new(contains, json_string(bare));
        }
    }
    words_free(&w);
}
