#include "gpu/source/host_blanker.h"

#include "base/mem.h"

#include <string.h>

static bool is_duplicate(const struct host_launches *l, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (strcmp(l->list[k].expression, l->list[i].expression) == 0) {
            return true;
        }
    }
    return false;
}

/* Lay the tokens out over the blanks and newlines from `at` on. Returns 0 when they found
 * room, else the offset that was in the way. */
static size_t lay_out(const struct code_tokens *statement, char *text, size_t at,
                      size_t to, bool write) {
    for (size_t i = 0; i < statement->count; i++) {
        const struct code_token *token = &statement->list[i];
        size_t gap = i > 0 && token->start > statement->list[i - 1].end;
        size_t need = token->end - token->start + gap, run = 0;
        for (; run < need; at++) {
            if (at >= to || !strchr(" \n\r", text[at])) {
                return at < to ? at : to;
            }
            run = text[at] == ' ' ? run + 1 : 0;
        }
        if (write) {
            memcpy(text + at - need + gap, statement->text + token->start, need - gap);
        }
    }
    return 0;
}

static bool write_between(const struct code_tokens *statement, char *text, size_t from,
                          size_t to) {
    while (from < to) {
        size_t blocked = lay_out(statement, text, from, to, false);
        if (blocked == 0) {
            lay_out(statement, text, from, to, true);
            return true;
        }
        from = blocked + 1;
    }
    return false;
}

/* On the launch's own line where it fits, else from there on, else anywhere in what went.
 */
static void write_launch(const struct host_launch *launch, const struct host_blanker *b,
                         char *text) {
    const struct declaration *d = &b->declarations.list[launch->declaration];
    size_t from = b->tokens.list[d->first].start, to = b->tokens.list[d->last].end;
    autofree char *statement = xasprintf("static_assert(&%s,\"\");", launch->expression);
    struct code_tokens tokens;
    size_t line = launch->offset;
    while (line > from && text[line - 1] != '\n') {
        line--;
    }
    if (code_tokens_read(&tokens, statement, strlen(statement)) == 0) {
        if (!write_between(&tokens, text, line, to)) {
            write_between(&tokens, text, from, to);
        }
        code_tokens_finish(&tokens);
    }
}

void host_launches_write(const struct host_launches *launches,
                         const struct host_blanker *b, char *text) {
    for (size_t i = 0; i < launches->count; i++) {
        if (!is_duplicate(launches, i)) {
            write_launch(&launches->list[i], b, text);
        }
    }
}
