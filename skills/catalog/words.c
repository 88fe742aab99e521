/* Cutting text into words, for the index and for tasks alike. */
#include "base/buf.h"
#include "skills/catalog/key_phrases.h"

#define PARTS_MAX 8
#define CHUNK_MAX 96 /* bytes of one compound */

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || is_upper(c) || is_digit(c) ||
           (unsigned char)c >= 128;
}

static bool is_joint(char c) {
    return c == '-' || c == '_' || c == '.';
}

static char lower(char c) {
    return is_upper(c) ? (char)(c + 32) : c;
}

struct word_part {
    size_t start, end;
};

/* aB and ABc have a seam before B. */
static bool is_seam(const char *s, size_t i, size_t end) {
    if (!is_upper(s[i])) {
        return false;
    }
    bool after_upper = is_upper(s[i - 1]);
    bool before_lower = i + 1 < end && s[i + 1] >= 'a' && s[i + 1] <= 'z';
    return after_upper ? before_lower : !is_digit(s[i - 1]);
}

/* *joints: how many separators stood between the parts. */
static size_t find_parts(const char *s, size_t len, struct word_part *parts,
                         size_t *joints) {
    size_t count = 0, start = 0;
    *joints = 0;
    for (size_t i = 1; i <= len && count < PARTS_MAX; i++) {
        bool joint = i < len && is_joint(s[i]);
        if (i < len && !joint && (is_joint(s[i - 1]) || !is_seam(s, i, len))) {
            continue;
        }
        parts[count++] = (struct word_part){start, i};
        start = joint ? i + 1 : i;
        *joints += joint;
    }
    return count;
}

static void emit(word_visit *visit, void *data, const char *s, size_t len,
                 enum word_kind kind) {
    char word[WORD_MAX + 1];
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_joint(s[i])) {
            if (n == WORD_MAX) {
                return;
            }
            word[n++] = lower(s[i]);
        }
    }
    word[n] = '\0';
    if (n) {
        visit(data, word, n, kind);
    }
}

/* "GitHub" is a name; "useEffect" and "HTTPServerError" are identifiers made of words. */
static bool is_name(const char *s, size_t count, size_t joints) {
    return joints == 0 && count == 2 && is_upper(s[0]);
}

/* A compound within a compound is there joined too: "SELinux-aware" holds "selinux". */
static void emit_inner(const char *s, const struct word_part *parts, size_t i,
                       size_t count, word_visit *visit, void *data) {
    size_t first = i;
    bool ends = i + 1 == count || parts[i + 1].start != parts[i].end;
    while (first > 0 && parts[first - 1].end == parts[first].start) {
        first--;
    }
    if (ends && first < i && (first > 0 || i + 1 < count)) {
        emit(visit, data, s + parts[first].start, parts[i].end - parts[first].start,
             WORD_WHOLE);
    }
}

static void visit_chunk(const char *s, size_t len, word_visit *visit, void *data) {
    struct word_part parts[PARTS_MAX];
    size_t joints, count = find_parts(s, len, parts, &joints);
    if (count < 2) {
        emit(visit, data, s, len, WORD_PLAIN);
        return;
    }
    if (is_name(s, count, joints)) {
        emit(visit, data, s, len, WORD_PROPER);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        emit(visit, data, s + parts[i].start, parts[i].end - parts[i].start, WORD_PART);
        emit_inner(s, parts, i, count, visit, data);
    }
    emit(visit, data, s, len, WORD_WHOLE);
}

/* Names of languages that are not made of letters. Returns the bytes taken, 0 for none.
 */
static size_t visit_special(const char *s, size_t len, bool after_word, word_visit *visit,
                            void *data) {
    static const struct {
        const char *spelling, *word;
    } specials[] = {{"c++", "cplusplus"},
                    {"c#", "csharp"},
                    {"f#", "fsharp"},
                    {".net", "dotnet"},
                    {"g++", "gplusplus"}};
    for (size_t i = 0; !after_word && i < sizeof specials / sizeof specials[0]; i++) {
        size_t n = strlen(specials[i].spelling), k = 0;
        while (k < n && k < len && lower(s[k]) == specials[i].spelling[k]) {
            k++;
        }
        if (k == n && (k == len || !is_word(s[k]))) {
            visit(data, specials[i].word, strlen(specials[i].word), WORD_PLAIN);
            return n;
        }
    }
    return 0;
}

/* The end of the run of letters and digits, with single joints inside, at `at`. */
static size_t chunk_end(const char *text, size_t len, size_t at) {
    size_t end = at;
    while (end < len && (is_word(text[end]) || (is_joint(text[end]) && end + 1 < len &&
                                                is_word(text[end + 1])))) {
        end++;
    }
    return end;
}

/* What an apostrophe leads ("user's", "don't") belongs to the word and says nothing. */
static size_t skip_ending(const char *text, size_t len, size_t at) {
    size_t end = at;
    if (at + 1 < len && text[at] == '\'' && is_word(text[at + 1])) {
        for (end = at + 1; end < len && end < at + 4 && is_word(text[end]);) {
            end++;
        }
    }
    return end;
}

/* Punctuation, arrows, dingbats and emoji beyond ASCII: the length of the one at s. */
static size_t symbol_length(const unsigned char *s, size_t len) {
    if (len >= 4 && s[0] == 0xf0 && s[1] == 0x9f) {
        return 4;
    }
    if (len >= 3 && (s[0] == 0xe2 || (s[0] == 0xe3 && s[1] == 0x80) ||
                     (s[0] == 0xef && (s[1] == 0xbc || s[1] == 0xb8)))) {
        return 3;
    }
    return len >= 2 && s[0] == 0xc2 ? 2 : 0;
}

static char *without_symbols(const char *text, size_t len) {
    char *copy = xstrndup(text, len);
    len = strlen(copy);
    for (size_t i = 0; i < len;) {
        size_t n = symbol_length((const unsigned char *)copy + i, len - i);
        memset(copy + i, ' ', n);
        i += n ? n : 1;
    }
    return copy;
}

void words_split(const char *given, size_t given_len, word_visit *visit, void *data) {
    autofree char *text = without_symbols(given, given_len);
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        bool after_word = i > 0 && is_word(text[i - 1]);
        size_t taken = visit_special(text + i, len - i, after_word, visit, data);
        if (taken || !is_word(text[i])) {
            i += taken ? taken : 1;
            continue;
        }
        size_t end = chunk_end(text, len, i);
        if (end - i <= CHUNK_MAX) {
            visit_chunk(text + i, end - i, visit, data);
        }
        i = skip_ending(text, len, end);
    }
}

static void add_word(void *data, const char *word, size_t len, enum word_kind) {
    struct buf *out = data;
    if (out->max - out->len > len) {
        buf_add(out, word, len);
        buf_addc(out, ' ');
    }
}

void words_index(struct buf *out, const char *text, size_t len) {
    words_split(text, len, add_word, out);
}
