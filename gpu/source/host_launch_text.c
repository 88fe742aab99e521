#include "gpu/source/host_launch_text.h"

#include "gpu/source/host_tokens.h"

void host_blank_bytes(char *text, size_t from, size_t to) {
    for (; from < to; from++) {
        if (text[from] != '\n' && text[from] != '\r') {
            text[from] = ' ';
        }
    }
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

bool host_launch_text_write(char *text, const char *expression, size_t line, size_t from,
                            size_t to) {
    autofree char *statement = xasprintf("static_assert(&%s,\"\");", expression);
    struct code_tokens tokens;
    if (code_tokens_read(&tokens, statement, strlen(statement)) < 0) {
        return false;
    }
    bool written =
        write_between(&tokens, text, line, to) || write_between(&tokens, text, from, to);
    code_tokens_finish(&tokens);
    return written;
}

/* ---- those of a file ---- */
