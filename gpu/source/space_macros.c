#include "gpu/source/host_declarations.h"

#include "base/mem.h"
#include "gpu/source/cuda_lexer.h"

#include <ctype.h>
#include <string.h>

struct macro_facts {
    bool global, device, host_only, function;
    bool is_value; /* a number that is named like a space: MAX_DEVICES */
    bool constant; /* "static const" */
};

static bool contains(const char *s, const char *part) {
    return strstr(s, part) != NULL;
}

/* Names that projects give their macros for execution spaces; their definition may be in
 * a header that is not in sight. */
static bool named_for_device(const char *s) {
    return contains(s, "DEVICE") || contains(s, "CUDA_CALLABLE") ||
           contains(s, "HOSTDEV") || strcmp(s, "HD") == 0 || contains(s, "_HD_") ||
           strncmp(s, "HD_", 3) == 0;
}

static bool is_named_for_device(const char *name, size_t len) {
    char s[64];
    len = len < sizeof s ? len : sizeof s - 1;
    memcpy(s, name, len);
    s[len] = '\0';
    return named_for_device(s);
}

/* Names that only the host's side of CUDA has: cudaMalloc, cudaMemcpyAsync … */
static bool is_runtime_call(const char *s, size_t len) {
    return len > 5 && memcmp(s, "cuda", 4) == 0 && isupper((unsigned char)s[4]);
}

static void read_word(const struct space_macros *m, const struct cuda_lexer *l,
                      const struct cuda_token *t, struct macro_facts *ret) {
    const char *s = l->text + t->start;
    size_t len = t->end - t->start;
    if (cuda_token_is(l, t, "__global__")) {
        ret->global = true;
    } else if (cuda_token_is(l, t, "__device__") || cuda_token_is(l, t, "__constant__") ||
               cuda_token_is(l, t, "__shared__") || cuda_token_is(l, t, "__managed__")) {
        ret->device = true;
    } else if (cuda_token_is(l, t, "<<<") || cuda_token_is(l, t, "throw") ||
               is_runtime_call(s, len)) {
        ret->host_only = true;
    } else if (t->kind == CUDA_IDENTIFIER) {
        uint64_t name = code_hash(s, len);
        for (size_t i = 0; i < m->count; i++) {
            if (m->list[i].name == name) {
                ret->global |= m->list[i].global;
                ret->device |= m->list[i].device;
                ret->host_only |= m->list[i].host_only;
            }
        }
    }
}

/* A #define's replacement, with the macros before it in mind. Returns the name's hash. */
static uint64_t read_define(const struct space_macros *m, const char *text,
                            const struct cuda_directive *d, struct macro_facts *ret) {
    struct cuda_lexer l;
    cuda_lexer_init(&l, text, d->argument_end);
    l.at = d->argument;
    l.line_start = false;
    struct cuda_token name = cuda_lexer_next(&l);
    ret->function = name.end < d->argument_end && text[name.end] == '(';
    bool any = false, names = false, points = false;
    for (struct cuda_token t = cuda_lexer_next(&l); t.kind != CUDA_END;
         t = cuda_lexer_next(&l)) {
        read_word(m, &l, &t, ret);
        /* extern "C" void f_##T(…) { … }: a wrapper for another language */
        ret->host_only |= ret->function && cuda_token_is(&l, &t, "\"C\"");
        ret->constant |= !ret->function && cuda_token_is(&l, &t, "const");
        points |= cuda_token_is(&l, &t, "*");
        any = true;
        names |= t.kind == CUDA_IDENTIFIER;
    }
    ret->is_value =
        any && !names && is_named_for_device(text + name.start, name.end - name.start);
    ret->host_only = ret->host_only && !ret->device && !ret->global;
    ret->constant &= !points; /* what "const char *" declares is none */
    return name.kind == CUDA_IDENTIFIER
               ? code_hash(text + name.start, name.end - name.start)
               : 0;
}

#define SPACE_MACROS_MAX 512 /* each #define is compared with those before it */

#define NAMES_MAX 2048 /* each is compared with those before it */

static bool has_name(const uint64_t *list, size_t count, uint64_t name) {
    for (size_t i = 0; i < count; i++) {
        if (list[i] == name) {
            return true;
        }
    }
    return false;
}

static void add_name(uint64_t **list, size_t *count, uint64_t name) {
    if (*count < NAMES_MAX && !has_name(*list, *count, name)) {
        *list = xreallocarray(*list, *count + 1, sizeof **list);
        (*list)[(*count)++] = name;
    }
}

static void copy_names(uint64_t **to, const uint64_t *from, size_t count) {
    if (count > 0) {
        *to = xcalloc(count, sizeof **to);
        memcpy(*to, from, count * sizeof **to);
    }
}

bool space_macros_asked(const struct space_macros *m, uint64_t name) {
    return m->all_asked || has_name(m->asked, m->asked_count, name);
}

bool space_macros_gone(const struct space_macros *m, uint64_t name) {
    return has_name(m->gone, m->gone_count, name);
}

void space_macros_add_gone(struct space_macros *m, uint64_t name) {
    add_name(&m->gone, &m->gone_count, name);
}

/* The functions between a decltype's parentheses, the first of which is token i. */
static size_t asked_read(struct space_macros *m, const struct code_tokens *t, size_t i) {
    size_t depth = 0;
    for (; i < t->count; i++) {
        enum code_word word = t->list[i].word, next = t->list[i + 1].word;
        depth += word == WORD_PAREN_OPEN;
        depth -= word == WORD_PAREN_CLOSE;
        if (depth == 0) {
            break;
        }
        if (word == WORD_NAME && (next == WORD_PAREN_OPEN || next == WORD_LESS)) {
            add_name(&m->asked, &m->asked_count, code_token_hash(t, i));
        }
    }
    return i;
}

static void asked_read_all(struct space_macros *m, const struct code_tokens *t) {
    for (size_t i = 0; i + 1 < t->count; i++) {
        if (t->list[i + 1].word == WORD_PAREN_OPEN && code_token_is(t, i, "decltype")) {
            i = asked_read(m, t, i + 1);
        }
    }
}

void space_macros_read(struct space_macros *m, const struct code_tokens *t) {
    asked_read_all(m, t);
    struct cuda_directive d;
    for (size_t i = 0; i < t->count && m->count < SPACE_MACROS_MAX; i++) {
        if (!code_token_define(t, i, &d)) {
            continue;
        }
        struct macro_facts facts = {0};
        uint64_t name = read_define(m, t->text, &d, &facts);
        cuda_directive_finish(&d);
        if (name != 0 && (facts.global || facts.device || facts.host_only ||
                          facts.is_value || facts.constant)) {
            m->list = xreallocarray(m->list, m->count + 1, sizeof *m->list);
            m->list[m->count].name = name;
            m->list[m->count].global = facts.global;
            m->list[m->count].device = facts.device;
            m->list[m->count].host_only = facts.host_only;
            m->list[m->count].function = facts.function;
            m->list[m->count].constant = facts.constant;
            m->count++;
        }
    }
}

void space_macros_copy(struct space_macros *to, const struct space_macros *from) {
    *to = (struct space_macros){.all_asked = from->all_asked,
                                .count = from->count,
                                .asked_count = from->asked_count,
                                .gone_count = from->gone_count};
    if (from->count > 0) {
        to->list = xcalloc(from->count, sizeof *to->list);
        memcpy(to->list, from->list, from->count * sizeof *to->list);
    }
    copy_names(&to->asked, from->asked, from->asked_count);
    copy_names(&to->gone, from->gone, from->gone_count);
}

void space_macros_finish(struct space_macros *m) {
    free(m->list);
    free(m->asked);
    free(m->gone);
    *m = (struct space_macros){0};
}

struct space_of_name space_of(const struct space_macros *m, const struct code_tokens *t,
                              size_t i) {
    struct space_of_name ret = {0};
    uint64_t name = code_token_hash(t, i);
    for (size_t k = 0; k < m->count; k++) {
        if (m->list[k].name == name) {
            ret.global |= m->list[k].global;
            ret.device |= m->list[k].device;
            ret.host_only |= m->list[k].host_only;
            ret.constant |= m->list[k].constant;
            ret.known = true;
        }
    }
    if (ret.known || !code_token_is_capital(t, i)) {
        return ret;
    }
    const struct code_token *token = &t->list[i];
    ret.device = is_named_for_device(t->text + token->start, token->end - token->start);
    return ret;
}
