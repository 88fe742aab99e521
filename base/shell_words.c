#include "base/shell_words.h"

#include "base/buf.h"

#define BLANKS " \t\r\n"

static bool escapes(const char *at, char quote) {
    return *at == '\\' && at[1] && quote != '\'' && (!quote || strchr("\"\\", at[1]));
}

/* The word at `at`, which ends before a blank; NULL: a quote is open. */
static const char *word_read(const char *at, struct buf *word) {
    char quote = '\0';
    for (; *at && (quote || !strchr(BLANKS, *at)); at++) {
        if (escapes(at, quote)) {
            buf_addc(word, *++at);
        } else if (quote ? *at == quote : *at == '"' || *at == '\'') {
            quote = quote ? '\0' : *at;
        } else {
            buf_addc(word, *at);
        }
    }
    return quote ? NULL : at;
}

json_t *shell_words(const char *text) {
    autojson *words = json_array();
    for (const char *at = text + strspn(text, BLANKS); *at; at += strspn(at, BLANKS)) {
        autobuf word = BUF_INIT(SIZE_MAX / 4);
        at = word_read(at, &word);
        if (!at) {
            return NULL;
        }
        json_array_append_new(words, json_text(word.data, word.len));
    }
    return json_incref(words);
}
