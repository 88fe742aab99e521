#include "gpu/source/kernel_parameters.h"

#include "gpu/source/cuda_lexer.h"

#include <ctype.h>

enum { MAX_NAMES = 256 };

struct parameters {
    const char *text;
    json_t *names;
    size_t start, end; /* of the last word of the one that is read */
    bool any, valued;  /* it has begun; its default value has */
};

static void end_name(struct parameters *p) {
    if (p->any && json_array_size(p->names) < MAX_NAMES) {
        json_array_append_new(p->names, json_text(p->text + p->start, p->end - p->start));
    }
    p->start = p->end = 0;
    p->any = p->valued = false;
}

static void take_token(struct parameters *p, const struct cuda_token *t, int depth) {
    char first = p->text[t->start];
    p->any = true;
    p->valued |= first == '=' || first == '[';
    if (depth == 1 && !p->valued && (isalpha((unsigned char)first) || first == '_')) {
        p->start = t->start;
        p->end = t->end;
    }
}

json_t *kernel_parameter_names(const char *text, size_t len) {
    struct parameters p = {.text = text, .names = json_array()};
    struct cuda_lexer lexer;
    struct cuda_token t;
    int depth = 0;
    cuda_lexer_init(&lexer, text, len);
    while ((t = cuda_lexer_next(&lexer)).kind != CUDA_END) {
        bool single = t.end - t.start == 1;
        bool opens = single && strchr("([{<", text[t.start]);
        bool closes = single && strchr(")]}>", text[t.start]);
        depth -= closes;
        if (depth == 0 && closes) {
            end_name(&p);
            return p.names;
        }
        if (depth == 1 && text[t.start] == ',') {
            end_name(&p);
        } else if (depth >= 1) {
            take_token(&p, &t, depth);
        }
        depth += opens;
    }
    json_decref(p.names);
    return NULL;
}
