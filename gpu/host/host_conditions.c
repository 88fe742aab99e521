#include "gpu/host/host_conditions.h"

#include "base/text.h"
#include "gpu/source/cuda_lexer.h"

static size_t name_length(const char *s, const char *end) {
    const char *at = s;
    while (at < end && text_is_word(*at)) {
        at++;
    }
    return (size_t)(at - s);
}

/* Whether the text defines a macro outside of conditions. */
static bool is_defined(const struct host_program *p, const char *name, size_t len) {
    const struct code_tokens *t = &p->b.tokens;
    struct cuda_directive d;
    int depth = 0;
    bool found = false;
    for (size_t i = 0; i < t->count && !found; i++) {
        if (code_token_directive(t, i, &d)) {
            const char *s = t->text + d.argument, *end = t->text + d.argument_end;
            depth += cuda_directive_nests(&d);
            found = depth <= 0 && !strcmp(d.name, "define") &&
                    name_length(s, end) == len && !memcmp(s, name, len);
            cuda_directive_finish(&d);
        }
    }
    return found;
}

/* Whether the branch that a directive opens is taken: "ifdef X", "if defined(X)", "if 0"
 * and their like. What else it may be is not. */
static bool is_taken(const struct host_program *p, const struct cuda_directive *d) {
    const char *text = p->b.tokens.text, *s = text + d->argument,
               *end = text + d->argument_end;
    bool no = !strcmp(d->name, "ifndef"), plain = no || !strcmp(d->name, "ifdef");
    if (!plain && s < end && *s == '!') {
        no = true;
        s++;
        s += strspn(s, " \t");
    }
    if (!plain && !strncmp(s, "defined", 7)) {
        s += 7 + strspn(s + 7, " \t(");
        plain = true;
    }
    const char *name = s;
    size_t len = name_length(s, end), rest = len + strspn(s + len, " \t)\r");
    if (s + rest < end && s[rest] != '/' && s[rest] != '\n') {
        return false;
    }
    return plain ? is_defined(p, name, len) != no : len == 1 && *name == '1';
}

#define NESTED_MAX 64

struct host_branch {
    bool outer, taken, now; /* the lines around it; a branch before it; its own */
};

/* What a directive does to the branches that are open. */
static void step(const struct host_program *p, const struct cuda_directive *d,
                 struct host_branch *open, size_t *depth) {
    struct host_branch *last = *depth ? &open[*depth - 1] : NULL;
    if (cuda_directive_nests(d) > 0 && *depth < NESTED_MAX) {
        bool outer = !last || last->now, taken = is_taken(p, d);
        open[(*depth)++] = (struct host_branch){outer, taken, outer && taken};
    } else if (last && !strcmp(d->name, "elif")) {
        bool taken = !last->taken && is_taken(p, d);
        last->now = last->outer && taken;
        last->taken |= taken;
    } else if (last && !strcmp(d->name, "else")) {
        last->now = last->outer && !last->taken;
    } else if (last && cuda_directive_nests(d) < 0) {
        --*depth;
    }
}

bool *host_conditions_read(const struct host_program *p) {
    const struct code_tokens *t = &p->b.tokens;
    struct host_branch open[NESTED_MAX];
    struct cuda_directive d;
    bool *active = xcalloc(t->count + 1, sizeof *active);
    size_t depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (code_token_directive(t, i, &d)) {
            step(p, &d, open, &depth);
            cuda_directive_finish(&d);
        }
        active[i] = depth == 0 || (!p->certain && open[depth - 1].now);
    }
    return active;
}
