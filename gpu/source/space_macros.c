/* Macros that stand for execution spaces (__global__, __device__ …) by other names. */
#include "base/find.h"
#include "gpu/source/host_declarations.h"

#include "gpu/source/cuda_lexer.h"

#include <ctype.h>

struct macro_facts {
    bool global, device, function;
    bool host;      /* __host__ and no other space */
    bool host_only; /* what host code does: launches, throws, calls of the runtime */
    bool is_value;  /* a number that is named like a space: MAX_DEVICES */
    bool constant;  /* "static const" */
    bool attribute; /* __attribute__ stands before what is read */
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
    ret->attribute |= cuda_token_is(l, t, "__attribute__");
    if (cuda_token_is(l, t, "__global__") ||
        (ret->attribute && cuda_token_is(l, t, "global"))) {
        ret->global = true;
    } else if (ret->attribute && cuda_token_is(l, t, "device")) {
        ret->device = true;
    } else if (cuda_token_is(l, t, "__device__") || cuda_token_is(l, t, "__constant__") ||
               cuda_token_is(l, t, "__shared__") || cuda_token_is(l, t, "__managed__")) {
        ret->device = true;
    } else if (cuda_token_is(l, t, "__host__")) {
        ret->host = true;
    } else if (cuda_token_is(l, t, "<<<") || cuda_token_is(l, t, "throw") ||
               is_runtime_call(s, len)) {
        ret->host_only = true;
    } else if (t->kind == CUDA_IDENTIFIER) {
        uint64_t name = code_hash(s, len);
        for (size_t i = 0; i < m->count; i++) {
            if (m->list[i].name == name) {
                ret->global |= m->list[i].global;
                ret->device |= m->list[i].device;
                ret->host |= m->list[i].host;
                ret->host_only |= m->list[i].host_only;
            }
        }
    }
}

/* A #define's replacement, with the macros before it in mind. Returns the name's hash. */
static uint64_t read_define(const struct space_macros *m, const char *text,
                            const struct cuda_directive *d, struct macro_facts *ret) {
    struct cuda_lexer l;
    cuda_lexer_init_argument(&l, text, d);
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
    ret->host = ret->host && !ret->device && !ret->global && !ret->function;
    ret->constant &= !points; /* what "const char *" declares is none */
    return name.kind == CUDA_IDENTIFIER
               ? code_hash(text + name.start, name.end - name.start)
               : 0;
}

#define SPACE_MACROS_MAX 512 /* each #define is compared with those before it */

#define NAMES_MAX 2048 /* adding one moves those behind it */

/* Where the name is, or belongs. */
static size_t place_of(const struct name_set *s, uint64_t name) {
    size_t from = 0, to = s->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (s->list[middle] < name) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

bool name_set_has(const struct name_set *s, uint64_t name) {
    size_t i = place_of(s, name);
    return i < s->count && s->list[i] == name;
}

void name_set_add(struct name_set *s, uint64_t name) {
    size_t i = place_of(s, name);
    if (s->count < NAMES_MAX && !(i < s->count && s->list[i] == name)) {
        s->list = xreallocarray(s->list, s->count + 1, sizeof *s->list);
        memmove(s->list + i + 1, s->list + i, (s->count++ - i) * sizeof *s->list);
        s->list[i] = name;
    }
}

void name_set_remove(struct name_set *s, uint64_t name) {
    size_t i = place_of(s, name);
    if (i < s->count && s->list[i] == name) {
        memmove(s->list + i, s->list + i + 1, (--s->count - i) * sizeof *s->list);
    }
}

void name_set_copy(struct name_set *to, const struct name_set *from) {
    *to = (struct name_set){.count = from->count};
    if (from->count > 0) {
        to->list = xcalloc(from->count, sizeof *to->list);
        memcpy(to->list, from->list, from->count * sizeof *to->list);
    }
}

bool space_macros_asked(const struct space_macros *m, uint64_t name) {
    return m->all_asked || name_set_has(&m->asked, name);
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
            name_set_add(&m->asked, code_token_hash(t, i));
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

/* Whether a text names a type that <cuda_fp16.h> and its like declare. */
static bool names_library_type(const char *text, size_t len) {
    static const char *const parts[] = {"half",     "bfloat16",     "Complex",
                                        "__nv_fp8", "cudaDataType", "cufft"};
    return any_of(i, 0, ARRAY_LEN(parts), memmem(text, len, parts[i], strlen(parts[i])));
}

void space_macros_read(struct space_macros *m, const struct code_tokens *t) {
    m->library_types |= names_library_type(t->text, t->len);
    asked_read_all(m, t);
    struct cuda_directive d;
    for (size_t i = 0; i < t->count && m->count < SPACE_MACROS_MAX; i++) {
        if (!code_token_define(t, i, &d)) {
            continue;
        }
        struct macro_facts facts = {0};
        uint64_t name = read_define(m, t->text, &d, &facts);
        cuda_directive_finish(&d);
        if (name != 0 && (facts.global || facts.device || facts.host || facts.host_only ||
                          facts.is_value || facts.constant)) {
            m->list = xreallocarray(m->list, m->count + 1, sizeof *m->list);
            m->list[m->count].name = name;
            m->list[m->count].global = facts.global;
            m->list[m->count].device = facts.device;
            m->list[m->count].host = facts.host;
            m->list[m->count].host_only = facts.host_only;
            m->list[m->count].function = facts.function;
            m->list[m->count].constant = facts.constant;
            m->count++;
        }
    }
}

void space_macros_copy(struct space_macros *to, const struct space_macros *from) {
    *to = (struct space_macros){.all_asked = from->all_asked,
                                .library_types = from->library_types,
                                .count = from->count};
    if (from->count > 0) {
        to->list = xcalloc(from->count, sizeof *to->list);
        memcpy(to->list, from->list, from->count * sizeof *to->list);
    }
    name_set_copy(&to->asked, &from->asked);
    name_set_copy(&to->gone, &from->gone);
    name_set_copy(&to->gone_types, &from->gone_types);
    name_set_copy(&to->namespaces, &from->namespaces);
}

void space_macros_finish(struct space_macros *m) {
    free(m->list);
    free(m->asked.list);
    free(m->gone.list);
    free(m->gone_types.list);
    free(m->namespaces.list);
    *m = (struct space_macros){0};
}

/* Whether an execution space may stand there: it is a word before others, no member and
 * no value, as the enumerator ON_DEVICE is one. */
static bool may_be_space(const struct code_tokens *t, size_t i) {
    enum code_word before = i > 0 ? t->list[i - 1].word : WORD_NONE;
    enum code_word after = t->list[i + 1].word;
    return before != WORD_SCOPE && before != WORD_DOT && before != WORD_ARROW &&
           after != WORD_COMMA && after != WORD_SEMICOLON && after != WORD_ASSIGN &&
           after != WORD_PAREN_CLOSE && after != WORD_BRACE_CLOSE;
}

struct space_of_name space_of(const struct space_macros *m, const struct code_tokens *t,
                              size_t i) {
    struct space_of_name ret = {0};
    uint64_t name = code_token_hash(t, i);
    for (size_t k = 0; k < m->count; k++) {
        if (m->list[k].name == name) {
            ret.global |= m->list[k].global;
            ret.device |= m->list[k].device;
            ret.host |= m->list[k].host;
            ret.host_only |= m->list[k].host_only;
            ret.constant |= m->list[k].constant;
            ret.known = true;
        }
    }
    if (ret.known || !code_token_is_capital(t, i) || !may_be_space(t, i)) {
        return ret;
    }
    const struct code_token *token = &t->list[i];
    ret.device = is_named_for_device(t->text + token->start, token->end - token->start);
    return ret;
}
