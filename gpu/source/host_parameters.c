#include "gpu/source/host_parameters.h"

bool points_to_function(const struct code_tokens *t, size_t name) {
    return name >= 2 && code_word(t, name - 1) == WORD_STAR &&
           code_word(t, name - 2) == WORD_PAREN_OPEN &&
           code_word(t, name + 1) == WORD_PAREN_CLOSE;
}

static void read_parameter(const struct code_tokens *t, size_t from, size_t to,
                           struct template_parameters *ret) {
    struct template_parameter p = {.is_type = code_word(t, from) == WORD_TYPENAME ||
                                              code_word(t, from) == WORD_CLASS};
    size_t end = from;
    bool pointer = false;
    for (; end < to && code_word(t, end) != WORD_ASSIGN; end++) {
        ret->bad |= code_token_is(t, end, "...");
        if (code_word(t, end) == WORD_NAME && !pointer) {
            p.name = code_token_hash(t, end);
            pointer = points_to_function(t, end);
        }
    }
    if (end < to) {
        p.fallback = end + 1;
        p.fallback_end = to;
    }
    if (ret->count == TEMPLATE_PARAMETERS_MAX) {
        ret->bad = true;
        return;
    }
    ret->list[ret->count++] = p;
}

bool template_list_next(const struct code_tokens *t, size_t *at, size_t close,
                        struct list_part *ret) {
    int angles = 0, others = 0; /* in other brackets > is an operator */
    ret->from = *at;
    for (size_t i = *at; i <= close; i++) {
        enum code_word w = code_word(t, i);
        if (i == close || (w == WORD_COMMA && angles + others == 0)) {
            ret->to = i;
            *at = i + 1;
            if (i > ret->from) {
                return true;
            }
            ret->from = i + 1;
        }
        others += w == WORD_PAREN_OPEN || w == WORD_BRACE_OPEN;
        others -= w == WORD_PAREN_CLOSE || w == WORD_BRACE_CLOSE;
        angles += others == 0 && w == WORD_LESS;
        angles -= others ? 0 : w == WORD_GREATER ? 1 : w == WORD_SHIFT_RIGHT ? 2 : 0;
    }
    return false;
}

void template_parameters_read(const struct code_tokens *t, const struct declaration *d,
                              struct template_parameters *ret) {
    *ret = (struct template_parameters){0};
    size_t i = d->first;
    while (i < d->name && code_word(t, i) != WORD_TEMPLATE) {
        i++;
    }
    size_t open = i + 1, close = code_angles_end(t, open);
    if (i >= d->name || code_word(t, open) != WORD_LESS || close == open) {
        ret->bad = code_word(t, open) == WORD_LESS; /* else an explicit instantiation */
        return;
    }
    struct list_part part;
    for (size_t at = open + 1; template_list_next(t, &at, close, &part);) {
        read_parameter(t, part.from, part.to, ret);
    }
}

bool template_parameters_mentioned(const char *text,
                                   const struct template_parameters *p) {
    struct code_tokens t;
    bool found = false;
    if (code_tokens_read(&t, text, strlen(text)) < 0) {
        return true;
    }
    for (size_t i = 0; i < t.count; i++) {
        for (size_t k = 0; k < p->count && t.list[i].word == WORD_NAME; k++) {
            found |= p->list[k].name == code_token_hash(&t, i);
        }
    }
    code_tokens_finish(&t);
    return found;
}
