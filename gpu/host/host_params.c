#include "gpu/host/host_params.h"

#include <ctype.h>
#include <stdio.h>

/* --- types --- */

struct type_name {
    const char *word;
    enum tensor_type type;
};
#include "gpu/type_names_table.h"

/* The words of C's own integers, which come in any order. */
struct integer_words {
    bool seen, is_unsigned, is_char, is_short;
    int longs;
};

static bool take_integer_word(struct integer_words *w, const char *word) {
    bool known = true;
    if (!strcmp(word, "unsigned")) {
        w->is_unsigned = true;
    } else if (!strcmp(word, "char")) {
        w->is_char = true;
    } else if (!strcmp(word, "short")) {
        w->is_short = true;
    } else if (!strcmp(word, "long")) {
        w->longs++;
    } else {
        known = !strcmp(word, "int") || !strcmp(word, "signed");
    }
    w->seen |= known;
    return known;
}

static enum tensor_type integer_type(const struct integer_words *w) {
    int size = w->is_char ? 0 : w->is_short ? 1 : w->longs ? 3 : 2;
    static const enum tensor_type with_sign[] = {TENSOR_INT8, TENSOR_INT16, TENSOR_INT32,
                                                 TENSOR_INT64};
    static const enum tensor_type without[] = {TENSOR_UINT8, TENSOR_UINT16, TENSOR_UINT32,
                                               TENSOR_UINT64};
    return w->is_unsigned ? without[size] : with_sign[size];
}

static enum tensor_type type_find(const char *word) {
    for (size_t i = 0; types[i].word; i++) {
        if (!strcmp(types[i].word, word)) {
            return types[i].type;
        }
    }
    struct integer_words w = {0};
    return take_integer_word(&w, word) ? integer_type(&w) : TENSOR_TYPES;
}

/* "float4" is float with four lanes. */
static bool read_type(struct host_param *p, const char *word) {
    size_t len = strlen(word);
    p->type = type_find(word);
    p->lanes = p->type != TENSOR_TYPES && len > 2 &&
                       (!strcmp(word + len - 2, "f2") ||
                        !strcmp(word, "__nv_bfloat162") || !strcmp(word, "nv_bfloat162"))
                   ? 2
                   : 1;
    if (p->type == TENSOR_TYPES && len > 1 && len < 16 && strchr("1234", word[len - 1])) {
        char base[16];
        snprintf(base, sizeof base, "%.*s", (int)len - 1, word);
        p->type = type_find(base);
        p->lanes = (unsigned)(word[len - 1] - '0');
    }
    return p->type != TENSOR_TYPES;
}

/* --- parameters --- */

/* Words that say nothing of the type's elements. */
static bool is_qualifier(const struct code_tokens *t, size_t i) {
    return code_token_in(t, i,
                         "volatile __restrict__ restrict __restrict __grid_constant__ "
                         "struct typename std :: enum");
}

static bool is_identifier(const char *word) {
    return isalpha((unsigned char)*word) || *word == '_';
}

/* A word that is neither a bracket nor a qualifier: of the type, or the name. */
static void take_word(struct host_param *p, struct integer_words *integer,
                      const char *word) {
    bool typed = *p->type_name;
    if (!typed && take_integer_word(integer, word)) {
        p->type = integer_type(integer);
    } else if (typed || integer->seen) {
        snprintf(p->name, sizeof p->name, "%s", word);
    } else {
        snprintf(p->type_name, sizeof p->type_name, "%s", word);
        if (!strcmp(word, "CUtensorMap")) {
            p->kind = HOST_TENSOR_MAP;
        } else if (!read_type(p, word)) {
            p->type = TENSOR_TYPES;
        }
    }
}

void host_param_read(const struct code_tokens *t, size_t from, size_t to,
                     struct host_param *ret) {
    struct integer_words integer = {0};
    *ret = (struct host_param){.type = TENSOR_TYPES, .lanes = 1};
    for (size_t i = from; i < to && code_word(t, i) != WORD_ASSIGN; i++) {
        enum code_word w = code_word(t, i);
        char word[HOST_PARAM_NAME];
        snprintf(word, sizeof word, "%.*s", (int)(t->list[i].end - t->list[i].start),
                 t->text + t->list[i].start);
        if (w == WORD_STAR || w == WORD_BRACKET_OPEN) {
            ret->kind = ret->kind == HOST_POINTER ? HOST_UNKNOWN : HOST_POINTER;
        } else if (w == WORD_CONST) {
            ret->is_const |= ret->kind != HOST_POINTER;
        } else if (is_identifier(word) && !is_qualifier(t, i)) {
            take_word(ret, &integer, word);
        }
    }
    if (ret->type == TENSOR_TYPES && ret->kind == HOST_SCALAR) {
        ret->kind = HOST_UNKNOWN;
    }
}

/* The end of the parameter that begins at token i: its ',' or the list's end. */
static size_t param_end(const struct code_tokens *t, size_t i, size_t end) {
    for (int depth = 0; i < end; i++) {
        enum code_word w = t->list[i].word;
        depth += w == WORD_LESS || w == WORD_PAREN_OPEN || w == WORD_BRACKET_OPEN;
        depth -= w == WORD_GREATER || w == WORD_PAREN_CLOSE || w == WORD_BRACKET_CLOSE;
        if (w == WORD_COMMA && depth <= 0) {
            break;
        }
    }
    return i;
}

int host_params(const struct code_tokens *t, const struct declaration *kernel,
                struct host_param *ret, int max) {
    int count = 0;
    for (size_t i = kernel->params + 1, to; i < kernel->params_end; i = to + 1) {
        to = param_end(t, i, kernel->params_end);
        if (to == i + 1 && code_token_is(t, i, "void")) {
            break;
        }
        if (count == max) {
            return -1;
        }
        host_param_read(t, i, to, &ret[count++]);
    }
    return kernel->params ? count : -1;
}

/* Where the list begins that ends with the text's last ')'. */
static size_t last_open(const struct code_tokens *t) {
    size_t i = t->count - 1;
    for (int depth = 1; i > 0 && depth > 0;) {
        enum code_word w = code_word(t, --i);
        depth += w == WORD_PAREN_CLOSE;
        depth -= w == WORD_PAREN_OPEN;
    }
    return i;
}

int host_signature_params(const char *signature, struct host_param *ret, int max) {
    struct code_tokens t;
    size_t len = strlen(signature);
    if (len == 0 || signature[len - 1] != ')' ||
        code_tokens_read(&t, signature, len) < 0) {
        return 0;
    }
    const struct declaration list = {.params = last_open(&t), .params_end = t.count - 1};
    int count = list.params ? host_params(&t, &list, ret, max) : 0;
    code_tokens_finish(&t);
    return count;
}
