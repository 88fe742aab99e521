#include "gpu/draft/host_conditions.h"

#include <ctype.h>
#include <string.h>

static bool is_name_char(char c) {
    return c == '_' || isalnum((unsigned char)c);
}

/* The words of a directive behind its '#'. */
static const char *directive_at(const struct code_tokens *t, size_t i, size_t *len) {
    const char *s = t->text + t->list[i].start, *end = t->text + t->list[i].end;
    s += s < end && *s == '#';
    s += strspn(s, " \t");
    *len = s < end ? (size_t)(end - s) : 0;
    return s;
}

static bool directive_is(const struct code_tokens *t, size_t i, const char *name) {
    size_t len, want = strlen(name);
    const char *s = directive_at(t, i, &len);
    return t->list[i].word == WORD_DIRECTIVE && len >= want && !memcmp(s, name, want) &&
           (len == want || !is_name_char(s[want]));
}

/* Whether the text defines a macro outside of conditions. */
static bool is_defined(const struct host_program *p, const char *name, size_t len) {
    const struct code_tokens *t = &p->b.tokens;
    int depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t have;
        const char *s = t->text;
        if (t->list[i].word != WORD_DIRECTIVE) {
            continue;
        }
        s = directive_at(t, i, &have);
        depth += have > 2 && !memcmp(s, "if", 2);
        depth -= directive_is(t, i, "endif");
        if (depth > 0 || !directive_is(t, i, "define")) {
            continue;
        }
        s += strlen("define");
        s += strspn(s, " \t");
        if (!strncmp(s, name, len) && !is_name_char(s[len])) {
            return true;
        }
    }
    return false;
}

/* Whether the branch that a directive opens is taken: "ifdef X", "if defined(X)", "if 0"
 * and their like. What else it may be is not. */
static bool is_taken(const struct host_program *p, size_t i) {
    size_t len;
    const char *s = directive_at(&p->b.tokens, i, &len), *end = s + len;
    bool no = directive_is(&p->b.tokens, i, "ifndef");
    bool plain = no || directive_is(&p->b.tokens, i, "ifdef");
    while (s < end && is_name_char(*s)) {
        s++;
    }
    s += strspn(s, " \t");
    if (!plain && s < end && *s == '!') {
        no = true;
        s++;
    }
    if (!plain && !strncmp(s, "defined", 7)) {
        s += 7 + strspn(s + 7, " \t(");
        plain = true;
    }
    const char *name = s;
    while (s < end && is_name_char(*s)) {
        s++;
    }
    size_t rest = strspn(s, " \t)\r");
    if (s + rest < end && s[rest] != '/' && s[rest] != '\n') {
        return false;
    }
    return plain ? is_defined(p, name, (size_t)(s - name)) != no
                 : *name != '0' && s == name + 1 && *name == '1';
}

/* Whether the compiler sees token i, as far as its conditions tell. */
bool host_is_active(const struct host_program *p, size_t i) {
    const struct code_tokens *t = &p->b.tokens;
    int depth = 0;
    bool later = false; /* an #else of ours: the branches before must not be taken */
    while (i-- > 0) {
        if (t->list[i].word != WORD_DIRECTIVE) {
            continue;
        }
        bool begins = directive_is(t, i, "if") || directive_is(t, i, "ifdef") ||
                      directive_is(t, i, "ifndef");
        if (depth > 0) {
            depth += directive_is(t, i, "endif") - begins;
        } else if (directive_is(t, i, "endif")) {
            depth = 1;
        } else if (directive_is(t, i, "else")) {
            later = true;
        } else if (begins || directive_is(t, i, "elif")) {
            if (is_taken(p, i) == later) {
                return false;
            }
            later = !begins;
        }
    }
    return true;
}
