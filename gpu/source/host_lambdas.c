#include "gpu/source/host_lambdas.h"

#include "gpu/source/host_blanker.h"
#include "gpu/source/host_launch_text.h"

enum { PARAMETERS_MAX = 256 }; /* tokens that are looked at for one lambda */

static bool is_space(const struct code_tokens *t, size_t i) {
    return code_word(t, i) == WORD_HOST || code_token_is(t, i, "__device__");
}

/* With i at "]", the end of [ … ] < … >: the first token behind. */
static size_t after_introducer(const struct code_tokens *t, size_t i) {
    if (code_word(t, i + 1) != WORD_LESS) {
        return i + 1;
    }
    size_t end = code_angles_end(t, i + 1);
    return end > i + 1 ? end + 1 : i + 1;
}

/* A declaration with [[…]] in front has a type behind its execution space. */
bool host_lambdas_blank(const struct code_tokens *t, char *text) {
    bool any = false;
    for (size_t i = 0; i < t->count; i++) {
        if (code_word(t, i) != WORD_BRACKET_CLOSE) {
            continue;
        }
        size_t first = after_introducer(t, i), end = first;
        while (is_space(t, end)) {
            end++;
        }
        enum code_word behind = code_word(t, end);
        if (end == first || (behind != WORD_PAREN_OPEN && behind != WORD_BRACE_OPEN)) {
            continue;
        }
        any = true;
        for (size_t k = first; text && k < end; k++) {
            host_blank_bytes(text, t->list[k].start, t->list[k].end);
        }
    }
    return any;
}

static bool has_auto_parameter(const struct code_tokens *t, size_t open) {
    int depth = 0;
    for (size_t i = open; i < t->count && i - open < PARAMETERS_MAX; i++) {
        enum code_word w = code_word(t, i);
        depth += (w == WORD_PAREN_OPEN) - (w == WORD_PAREN_CLOSE);
        if (depth == 0 || w == WORD_SEMICOLON || w == WORD_BRACE_OPEN) {
            return false;
        }
        if (w == WORD_TYPE && code_token_is(t, i, "auto")) {
            return true;
        }
    }
    return false;
}

bool host_lambdas_are_generic(const struct code_tokens *t) {
    for (size_t i = 0; i < t->count; i++) {
        if (code_word(t, i) != WORD_BRACKET_CLOSE) {
            continue;
        }
        size_t open = after_introducer(t, i);
        bool typed = open > i + 1; /* []<class T>(T x) */
        while (is_space(t, open)) {
            open++;
        }
        if (code_word(t, open) == WORD_PAREN_OPEN &&
            (typed || has_auto_parameter(t, open))) {
            return true;
        }
    }
    return false;
}
