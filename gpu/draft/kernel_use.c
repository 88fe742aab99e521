#include "gpu/draft/kernel_use.h"
#include "base/find.h"

#define ALIASES_MAX 4

/* "atomicAdd(" so many tokens before the one at i. */
static bool in_atomic(const struct code_tokens *t, size_t i, size_t before) {
    return code_word(t, i - before) == WORD_PAREN_OPEN &&
           code_word(t, i - before - 1) == WORD_NAME &&
           strncmp(t->text + t->list[i - before - 1].start, "atomic", 6) == 0;
}

/* Behind x[…], x[…].y and x[…][…]: a store, and behind the bracket of a cast, too. */
static unsigned use_of_element(const struct code_tokens *t, size_t i, size_t end) {
    bool address = code_word(t, i - 1) == WORD_AMPERSAND;
    for (;;) {
        if (code_word(t, end) == WORD_BRACKET_OPEN) {
            end = host_close(t, end) + 1;
        } else if (code_word(t, end) == WORD_DOT && code_word(t, end + 1) == WORD_NAME) {
            end += 2;
        } else {
            break;
        }
    }
    if (address) {
        return in_atomic(t, i, 2) ? USE_READS | USE_WRITES : USE_UNCLEAR;
    }
    bool stepped = code_token_steps(t, i - 1);
    while (code_word(t, end) == WORD_PAREN_CLOSE) {
        end++;
    }
    return stepped || !code_token_writes(t, end)
               ? stepped ? USE_READS | USE_WRITES : USE_READS
           : code_word(t, end) == WORD_ASSIGN ? USE_WRITES
                                              : USE_READS | USE_WRITES;
}

/* "float *y = x + 4", with x at token i: the y; 0: it is no such declaration. */
static size_t alias_at(const struct code_tokens *t, size_t i, size_t least) {
    while (i > least) {
        enum code_word w = code_word(t, --i);
        if (w == WORD_SEMICOLON || w == WORD_BRACE_OPEN || w == WORD_BRACE_CLOSE) {
            break;
        }
        if (w == WORD_ASSIGN && code_word(t, i - 1) == WORD_NAME) {
            return code_word(t, i - 2) == WORD_STAR || code_word(t, i - 2) == WORD_TYPE ||
                           code_word(t, i - 2) == WORD_CONST
                       ? i - 1
                       : 0;
        }
    }
    return 0;
}

static unsigned use_at(const struct code_tokens *t, size_t i) {
    size_t behind = i + 1;
    while (code_word(t, behind) == WORD_PAREN_CLOSE) {
        behind++;
    }
    if (code_word(t, behind) == WORD_BRACKET_OPEN) { /* with a cast around it, too */
        return use_of_element(t, i, behind);
    }
    if (in_atomic(t, i, 1) ||
        (code_word(t, i - 1) == WORD_STAR && code_token_writes(t, i + 1))) {
        return USE_READS | USE_WRITES;
    }
    bool harmless = code_token_writes(t, i + 1) || code_token_in(t, i + 1, "== !=");
    return harmless ? 0 : USE_UNCLEAR;
}

static unsigned use_of(const struct host_program *p, const struct declaration *kernel,
                       uint64_t name, size_t declared, unsigned depth) {
    const struct code_tokens *t = &p->b.tokens;
    unsigned found = 0;
    for (size_t i = kernel->body; i < kernel->body_end; i++) {
        enum code_word before = code_word(t, i - 1);
        if (code_word(t, i) != WORD_NAME || code_token_hash(t, i) != name ||
            i == declared || before == WORD_DOT || before == WORD_ARROW) {
            continue;
        }
        unsigned use = use_at(t, i);
        size_t alias = use == USE_UNCLEAR ? alias_at(t, i, kernel->body) : 0;
        if (alias && depth < ALIASES_MAX) {
            use = use_of(p, kernel, code_token_hash(t, alias), alias, depth + 1);
        }
        found |= use;
    }
    return found;
}

unsigned kernel_use_of(const struct host_program *p, const struct declaration *kernel,
                       uint64_t parameter) {
    return use_of(p, kernel, parameter, 0, 0);
}

static bool is_name(const struct code_tokens *t, size_t i, const char *name) {
    const struct code_token *one = &t->list[i];
    size_t len = strlen(name);
    return one->word == WORD_NAME && one->end - one->start == len &&
           memcmp(t->text + one->start, name, len) == 0;
}

static bool multiplies_in(const struct code_tokens *t, size_t from, size_t to,
                          const char *parameter) {
    return any_of(i, from, to,
                  is_name(t, i, parameter) && (code_word(t, i - 1) == WORD_STAR ||
                                               code_word(t, i + 1) == WORD_STAR));
}

/* Inside the brackets of buffer[…]. */
static bool index_multiplies_by(const struct code_tokens *t,
                                const struct declaration *kernel, const char *buffer,
                                const char *parameter) {
    for (size_t i = kernel->body; i + 1 < kernel->body_end; i++) {
        if (is_name(t, i, buffer) && code_word(t, i + 1) == WORD_BRACKET_OPEN &&
            multiplies_in(t, i + 2, host_close(t, i + 1), parameter)) {
            return true;
        }
    }
    return false;
}

int kernel_row_of(const struct host_program *p, const struct declaration *kernel,
                  const char *buffer, const char *const *names, size_t count) {
    const struct code_tokens *t = &p->b.tokens;
    int own = -1, any = -1;
    size_t owns = 0, anys = 0;
    for (size_t k = 0; k < count; k++) {
        if (index_multiplies_by(t, kernel, buffer, names[k])) {
            own = (int)k;
            owns++;
        }
        if (multiplies_in(t, kernel->body, kernel->body_end, names[k])) {
            any = (int)k;
            anys++;
        }
    }
    return owns == 1 ? own : !owns && anys == 1 ? any : -1;
}
