/* Names that two texts share. */
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/text.h"

#include <ctype.h>

#define MIN_NAME 4u   /* letters that two texts must share to mean the same */

/* The next name in *at, at least `least` long; its length, or 0. *at is where it is. */
static size_t next_name(const char **at, size_t least) {
    for (;;) {
        while (**at && !text_is_word(**at)) {
            ++*at;
        }
        size_t len = 0;
        while (text_is_word((*at)[len])) {
            len++;
        }
        if (len >= least || !len) {
            return len;
        }
        *at += len;
    }
}

/* One begins with the other: "zlib1g" and "ZLIB". */
static bool same_name(const char *a, size_t a_len, const char *b, size_t b_len) {
    size_t len = a_len < b_len ? a_len : b_len;
    return len >= MIN_NAME && strncasecmp(a, b, len) == 0 &&
           (len >= 6 || 2 * len >= (a_len > b_len ? a_len : b_len));
}

static bool holds_word(const char *text, const char *name, size_t len) {
    size_t n;
    for (const char *at = text; (n = next_name(&at, len)); at += n) {
        if (n == len && strncasecmp(at, name, len) == 0) {
            return true;
        }
    }
    return false;
}

static bool holds_name(const char *text, const char *name, size_t len) {
    size_t n;
    for (const char *at = text; (n = next_name(&at, MIN_NAME)); at += n) {
        if (same_name(at, n, name, len)) {
            return true;
        }
    }
    return false;
}

/* Some name of `text` stands in `told`, and not as a word in `known`. Of "-lcublas" also
 * "cublas". */
bool lesson_names_any(const char *told, const char *text, const char *known) {
    size_t n;
    for (const char *at = text; (n = next_name(&at, MIN_NAME)); at += n) {
        bool glued = at > text && at[-1] == '-';
        if (!holds_word(known, at, n) &&
            (holds_name(told, at, n) || (glued && holds_name(told, at + 1, n - 1)))) {
            return true;
        }
    }
    return false;
}

bool lesson_names(const char *told, const char *text, const char *known) {
    size_t n;
    for (const char *at = text; (n = next_name(&at, MIN_NAME)); at += n) {
        bool glued = at > text + 1 && at[-1] == '-' && at[-2] == ' ';
        if (!holds_word(known, at, n) &&
            (holds_word(told, at, n) || (glued && holds_name(told, at + 1, n - 1)))) {
            return true;
        }
    }
    return false;
}

bool lesson_has_name(const char *text) {
    return next_name(&text, 1) > 0;
}

bool lesson_has_word(const char *text, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; text && len && (at = strstr(at, word)); at += len) {
        char before = at > text ? at[-1] : ' ';
        if (!isalnum((unsigned char)before) && before != '_' && !isalnum((unsigned char)at[len]) &&
            at[len] != '_') {
            return true;
        }
    }
    return false;
}

char *lesson_quoted(const char *text) {
    struct buf out = BUF_INIT(LESSON_MAX_LINE);
    for (const char *at = text; *at; at++) {
        bool opens = strchr("'\"`", *at) && (at == text || !isalnum((unsigned char)at[-1]));
        const char *end = opens ? strchr(at + 1, *at) : NULL;
        if (end) {
            buf_addf(&out, "%.*s\n", (int)(end - at - 1), at + 1);
            at = end;
        }
    }
    return buf_detach(&out);
}
