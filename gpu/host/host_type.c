#include "gpu/host/host_type.h"
#include "gpu/host/host_variables.h"

#include <stdio.h>

#define NAMES_MAX 6 /* that stand for one another */

static bool find(struct host_program *p, const struct host_frame *frame, const char *name,
                 struct place *ret) {
    uint64_t hash = code_hash(name, strlen(name));
    return host_alias(p, hash, ret) || host_type_argument(p, frame, hash, ret);
}

void host_type_resolve(struct host_program *p, const struct host_frame *frame,
                       struct host_param *param) {
    for (int n = 0; n < NAMES_MAX && param->type == TENSOR_TYPES &&
                    param->kind != HOST_TENSOR_MAP && *param->type_name;
         n++) {
        struct host_param type;
        struct place place;
        if (!find(p, frame, param->type_name, &place)) {
            return;
        }
        host_param_read(place.t, place.from, place.to, &type);
        param->type = type.type;
        param->lanes = type.lanes;
        snprintf(param->type_name, sizeof param->type_name, "%s", type.type_name);
        if (param->kind == HOST_UNKNOWN && type.kind != HOST_POINTER) {
            param->kind = type.kind;
        }
        frame = place.frame;
    }
}

/* place: one declaration, or only a type. */
static void host_type_read(struct host_program *p, const struct place *place,
                           struct host_param *ret) {
    host_param_read(place->t, place->from, place->to, ret);
    host_type_resolve(p, place->frame, ret);
}

/* "float *d_x": the declaration of the variable whose name is at a token of the program;
 * for "float *a, *b" the first part. */
static struct place declaration_of(const struct host_program *p,
                                   const struct host_frame *frame, size_t name) {
    const struct code_tokens *t = &p->b.tokens;
    size_t from = name;
    while (from > 0 && name - from < 24) {
        enum code_word w = code_word(t, from - 1);
        if (w == WORD_SEMICOLON || w == WORD_BRACE_OPEN || w == WORD_BRACE_CLOSE ||
            w == WORD_DIRECTIVE || w == WORD_PAREN_OPEN) {
            break;
        }
        from--;
    }
    size_t to = from; /* "float *a, *b" is told by its first */
    while (to < name && code_word(t, to) != WORD_COMMA &&
           code_word(t, to) != WORD_ASSIGN) {
        to++;
    }
    return (struct place){frame, t, from, to == name ? name + 1 : to, name};
}

/* The declaration of the variable that the one word of place names. */
static bool variable_read(struct host_program *p, const struct place *place,
                          struct host_param *ret) {
    size_t variable = host_variable(p, place);
    if (!variable || code_word(&p->b.tokens, variable + 1) == WORD_BRACKET_OPEN) {
        return false;
    }
    const struct place declared = declaration_of(p, place->frame, variable);
    host_type_read(p, &declared, ret);
    return true;
}

static int64_t bytes_of(const struct host_param *type, bool target) {
    bool pointer = type->kind == HOST_POINTER;
    return pointer && !target ? 8
           : type->type == TENSOR_TYPES || pointer != target || type->kind > HOST_POINTER
               ? 0
               : (int64_t)tensor_type_bytes(type->type) * type->lanes;
}

int64_t host_sizeof(struct host_program *p, const struct place *place) {
    struct place one = *place;
    struct host_param type;
    bool target = one.from < one.to && code_word(one.t, one.from) == WORD_STAR;
    one.from += target;
    if (one.to - one.from == 4 && code_word(one.t, one.from + 1) == WORD_BRACKET_OPEN) {
        target = true;
        one.to = one.from + 1;
    }
    bool word = one.to == one.from + 1 && code_word(one.t, one.from) == WORD_NAME;
    if (!target) {
        host_type_read(p, &one, &type);
        int64_t bytes = bytes_of(&type, false);
        if (bytes || !word) {
            return bytes;
        }
    }
    return word && variable_read(p, &one, &type) ? bytes_of(&type, target) : 0;
}
