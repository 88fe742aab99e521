#include "gpu/source/device_templates.h"

#include "base/find.h"
#include "gpu/source/host_blanker.h"

#include <ctype.h>

#define TEMPLATES_MAX 256 /* each word of the file is compared with their names */
#define PASSES_MAX 32     /* over the file: a template names one that names another … */

/* "template <>" makes an ordinary function of it. */
static bool is_specialised(const struct host_blanker *b, const struct declaration *d) {
    size_t i = d->first;
    while (i < d->name && b->tokens.list[i].word != WORD_TEMPLATE) {
        i++;
    }
    size_t open = code_token_after(&b->tokens, i);
    return open < d->name && b->tokens.list[open].word == WORD_LESS &&
           b->tokens.list[code_token_after(&b->tokens, open)].word == WORD_GREATER;
}

static bool is_template(const struct host_blanker *b, const struct declaration *d) {
    bool device = b->device_words[d->last + 1] > b->device_words[d->first];
    bool kind = d->kind == DECLARATION_FUNCTION || d->kind == DECLARATION_CLASS;
    return kind && d->has_template && d->body && d->name && !d->open && !d->has_friend &&
           device && b->tokens.list[d->name].word == WORD_NAME && !is_specialised(b, d);
}

/* A member of a class template is instantiated with it, or looked at by its own name. */
static bool is_inside(const struct host_blanker *b, const struct declaration *d) {
    for (size_t at = d->parent; at != SIZE_MAX; at = b->declarations.list[at].parent) {
        if (is_template(b, &b->declarations.list[at])) {
            return true;
        }
    }
    return false;
}

static void add(struct device_templates *t, const struct host_blanker *b,
                const struct declaration *d) {
    const struct code_token *name = &b->tokens.list[d->name];
    t->list = xreallocarray(t->list, t->count + 1, sizeof *t->list);
    t->list[t->count++] = (struct device_template){
        .name = xstrndup(b->tokens.text + name->start, name->end - name->start),
        .offset = name->start,
        .end = name->end,
        .from = b->tokens.list[d->first].start,
        .to = b->tokens.list[d->last].end,
        .kernel = d->has_global,
    };
}

static bool pastes(const struct code_tokens *t) {
    return list_any(one, t->list, t->count,
                    one->word == WORD_DIRECTIVE &&
                        memmem(t->text + one->start, one->end - one->start, "##", 2));
}

void device_templates_read(struct device_templates *ret, const char *text, size_t len) {
    struct host_blanker b;
    *ret = (struct device_templates){0};
    if (host_blanker_init(&b, text, len, HOST_SCAN_TOKENS_MAX, NULL) < 0) {
        return;
    }
    for (size_t i = 0; !pastes(&b.tokens) && i < b.declarations.count; i++) {
        const struct declaration *d = &b.declarations.list[i];
        if (ret->count < TEMPLATES_MAX && is_template(&b, d) && !is_inside(&b, d)) {
            add(ret, &b, d);
        }
    }
    host_blanker_finish(&b);
}

/* --- who names them --- */

/* Those of a name. True: one became used. */
static bool use(struct device_templates *t, const char *word, size_t len) {
    bool any = false;
    list_each(i, one, t->list, t->count) {
        if (!one->used && !one->kernel && one->name[0] == word[0] &&
            strlen(one->name) == len && memcmp(one->name, word, len) == 0) {
            any = one->used = true;
        }
    }
    return any;
}

/* A directive may hold many words. */
static bool use_words(struct device_templates *t, const char *s, size_t len) {
    bool any = false;
    for (size_t i = 0; i < len; i++) {
        size_t end = i;
        while (end < len && (isalnum((unsigned char)s[end]) || s[end] == '_')) {
            end++;
        }
        any |= end > i && use(t, s + i, end - i);
        i = end;
    }
    return any;
}

/* One pass; true: more became used, which name others. */
static bool follow_once(struct device_templates *t, const struct code_tokens *tokens) {
    bool any = false;
    for (size_t i = 0, in = 0; i < tokens->count; i++) {
        const struct code_token *one = &tokens->list[i];
        while (in < t->count && one->start >= t->list[in].to) {
            in++;
        }
        bool inside = in < t->count && one->start >= t->list[in].from;
        if ((one->word == WORD_NAME || one->word == WORD_DIRECTIVE) &&
            (!inside || t->list[in].used)) {
            any |= use_words(t, tokens->text + one->start, one->end - one->start);
        }
    }
    return any;
}

void device_templates_follow(struct device_templates *t, const char *text, size_t len) {
    struct code_tokens tokens;
    bool more = true;
    if (!t->count ||
        code_tokens_read_up_to(&tokens, text, len, HOST_SCAN_TOKENS_MAX) < 0) {
        device_templates_finish(t);
        return;
    }
    for (int i = 0; more && i < PASSES_MAX; i++) {
        more = follow_once(t, &tokens);
    }
    code_tokens_finish(&tokens);
    if (more) { /* what is left may be named yet */
        device_templates_finish(t);
    }
}

void device_templates_finish(struct device_templates *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->list[i].name);
    }
    free(t->list);
    *t = (struct device_templates){0};
}
