#include "gpu/host/host_conditions.h"

#include "base/mem.h"

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

#define NESTED_MAX 64

struct branch {
    bool outer, taken, now; /* the lines around it; a branch before it; its own */
};

/* What a directive does to the branches that are open. */
static void step(const struct host_program *p, size_t i, struct branch *open,
                 size_t *depth) {
    const struct code_tokens *t = &p->b.tokens;
    bool begins = directive_is(t, i, "if") || directive_is(t, i, "ifdef") ||
                  directive_is(t, i, "ifndef");
    struct branch *last = *depth ? &open[*depth - 1] : NULL;
    if (begins && *depth < NESTED_MAX) {
        bool outer = !last || last->now, taken = is_taken(p, i);
        open[(*depth)++] = (struct branch){outer, taken, outer && taken};
    } else if (last && directive_is(t, i, "elif")) {
        bool taken = !last->taken && is_taken(p, i);
        last->now = last->outer && taken;
        last->taken |= taken;
    } else if (last && directive_is(t, i, "else")) {
        last->now = last->outer && !last->taken;
    } else if (last && directive_is(t, i, "endif")) {
        --*depth;
    }
}

bool *host_conditions_read(const struct host_program *p) {
    const struct code_tokens *t = &p->b.tokens;
    struct branch open[NESTED_MAX];
    bool *active = xcalloc(t->count + 1, sizeof *active);
    size_t depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->list[i].word == WORD_DIRECTIVE) {
            step(p, i, open, &depth);
        }
        active[i] = depth == 0 || (!p->certain && open[depth - 1].now);
    }
    return active;
}
