#include "skills/generation/builtin_wanted.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/text.h"

#define NAME_LEAST 3u
#define NAME_MOST 60u
#define STEM_LEAST 4u

/* "cuda-capabilities" is one. */
static size_t name_length(const char *s) {
    size_t n = 0;
    while (text_is_word(s[n]) || (n && s[n] == '-' && isalpha((unsigned char)s[n - 1]) &&
                             isalpha((unsigned char)s[n + 1]))) {
        n++;
    }
    return n;
}

/* Of the path at s behind an opening mark, as in <cub/cub.cuh>; 0 if there is none. */
static size_t path_length(const char *s) {
    const char *close = *s == '<' ? ">" : *s && strchr("\"'", *s) ? (char[]){*s, 0} : NULL;
    size_t len = close ? strcspn(s + 1, close) : 0;
    bool whole = len && s[1 + len] == *close && len <= NAME_MOST;
    for (size_t i = 1; i <= len && whole; i++) {
        whole = text_is_word(s[i]) || strchr("./-", s[i]);
    }
    return whole && (memchr(s + 1, '/', len) || memchr(s + 1, '.', len)) ? len : 0;
}

/* As a whole word. */
static bool holds(const char *text, const char *name, size_t len) {
    for (const char *s = text; *s;) {
        size_t n = name_length(s);
        if (n == len && memcmp(s, name, len) == 0) {
            return true;
        }
        s += n ? n : 1;
    }
    return false;
}

/* "n = 3" and "n" again: another writer may use another name. */
static bool is_own_name(const char *at, size_t len) {
    const char *behind = at + len + strspn(at + len, " ");
    bool assigned = behind > at + len && *behind == '=' && behind[1] != '=';
    return assigned && holds(at + len, at, len);
}

static bool is_wanted(const char *at, const char *name, const char *known,
                      const char *asked) {
    size_t len = strlen(name);
    return len >= NAME_LEAST && len <= NAME_MOST && !holds(known, name, len) &&
           !holds(asked, name, len) && !is_own_name(at, len);
}

json_t *wanted_names(const char *text, const char *known, const char *asked) {
    json_t *names = json_array();
    for (const char *s = text; *s;) {
        size_t path = path_length(s), len = path ? path : name_length(s);
        autofree char *name = xstrndup(s + (path != 0), len);
        bool wanted = path ? !strstr(known, name) && !strstr(asked, name)
                           : is_wanted(s, name, known, asked);
        if (isdigit((unsigned char)*s)) {
            wanted = false; /* 0xffffffffu can be written otherwise */
        }
        if (wanted && !json_has_text(names, name)) {
            json_array_append_new(names, json_string(name));
        }
        s += path && !wanted ? 1 : len ? len : 1;
    }
    return names;
}

void wanted_only(json_t *names, const char *told) {
    for (size_t i = json_array_size(names); i > 0; i--) {
        const json_t *name = json_array_get(names, i - 1);
        if (!holds(told, json_string_value(name), json_string_length(name))) {
            json_array_remove(names, i - 1);
        }
    }
}

static size_t common(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t n = 0;
    while (n < a_len && n < b_len &&
           tolower((unsigned char)a[n]) == tolower((unsigned char)b[n])) {
        n++;
    }
    return n;
}

char *wanted_like(const char *text, const char *told) {
    const char *best = NULL;
    size_t best_same = STEM_LEAST - 1, best_len = 0;
    for (const char *s = text; *s;) {
        size_t len = name_length(s);
        for (const char *t = told; len && *t;) {
            size_t n = name_length(t), same = common(s, len, t, n);
            if (same > best_same) {
                best = s;
                best_same = same;
                best_len = len;
            }
            t += n ? n : 1;
        }
        s += len ? len : 1;
    }
    return best ? xstrndup(best, best_len) : NULL;
}

char *wanted_lines(const char *diff, char mark) {
    struct buf out = BUF_INIT(64u << 10);
    for (const char *s = diff; *s; s = text_next_line(s)) {
        if (*s == mark) {
            buf_addf(&out, "%.*s\n", (int)strcspn(s + 1, "\n"), s + 1);
        }
    }
    return buf_detach(&out);
}
