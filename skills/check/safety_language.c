/* Sentences that the rules on prose cannot read, because those know English only.
 *
 * English prose needs function words; a sentence of several words, some of them short and
 * in lower case, that has next to none is in another language, and so is one of another
 * script. No list of other languages' words: what such a sentence says is not known, only
 * that the other rules did not look at it. Lists of names, short sentences and headings
 * are not judged. */
#include "base/lines.h"
#include "base/text.h"
#include "protocol/finding.h"
#include "skills/check/safety_patterns.h"
#include "skills/check/safety_text.h"
#include "skills/format/function_words.h"

#include <ctype.h>

#define MIN_WORDS 7u
#define MIN_LETTERS 8u /* of another script */
#define BRIEF 3u       /* letters of a short word */
#define PART_REACH 400u /* bytes */
#define ELISION SIZE_MAX

struct sentence {
    size_t at, end;
    size_t words, english, brief, breaks, letters, foreign;
};

struct reading {
    const char *text;
    const struct lines *lines;
    const unsigned char *kinds;
    struct sentence s, front; /* front: of the frontmatter, as one */
    size_t sentences, others, at, end; /* of the first of the others */
};

static bool is_letter(uint32_t cp) {
    return cp < 0x80 ? isalpha((int)cp) != 0
                     : cp >= 0xC0 && !(cp >= 0x2000 && cp <= 0x2BFF) &&
                           !(cp >= 0x3000 && cp <= 0x303F) &&
                           !(cp >= 0xFE00 && cp <= 0xFF20) && cp < 0x1F000;
}

/* --- counting --- */

static bool is_glue(char c) {
    return c && strchr("/_-.\\@=0123456789", c) != NULL;
}

static bool is_english(const char *word, size_t len) {
    char lower[32];
    size_t n = 0;
    while (n < len && n + 1 < sizeof lower) {
        lower[n] = (char)tolower((unsigned char)word[n]);
        n++;
    }
    lower[n] = '\0';
    return n == len && is_function_word(lower);
}

/* The bytes of an apostrophe and what follows it: "'s" and "'re" belong to the word, which
 * behind it is as English as without; a longer rest ("l'heure") is a word: ELISION. */
static size_t suffix_at(const char *text, size_t at, size_t end) {
    size_t sign = at < end && text[at] == '\'' ? 1
                  : end - at > 3 && memcmp(text + at, "\xE2\x80\x99", 3) == 0 ? 3
                                                                             : 0;
    size_t n = sign;
    while (sign && at + n < end && isalpha((unsigned char)text[at + n])) {
        n++;
    }
    return n > sign + 2 ? ELISION : n;
}

/* A word's letters; what is glued to others by signs is a name. Returns its end. */
static size_t read_word(struct sentence *s, const char *text, size_t at, size_t end,
                        bool glued) {
    size_t from = at, letters = 0, foreign = 0;
    bool lower = true;
    while (at < end) {
        uint32_t cp;
        size_t n = text_decode(text + at, end - at, &cp);
        if (!is_letter(cp)) {
            break;
        }
        letters++;
        foreign += cp >= 0x370;
        lower = lower && !(cp < 0x80 && isupper((int)cp));
        at += n;
    }
    size_t suffix = suffix_at(text, at, end);
    bool name = glued || (at + 1 < end && is_glue(text[at]) &&
                          isalnum((unsigned char)text[at + 1]));
    if (!name) {
        bool english = suffix != ELISION && (letters > 1 || text[from] != 'i') &&
                       is_english(text + from, at - from);
        s->words++;
        s->english += english;
        s->brief += letters <= BRIEF && lower && !english;
        s->letters += letters;
        s->foreign += foreign;
    }
    return suffix == ELISION ? at : at + suffix;
}

/* Code, a link's target and quoted text are not the sentence's own words. Returns the end
 * of what begins here, or at. */
static size_t skip_foreign_part(const char *text, size_t at, size_t end) {
    static const struct {
        const char *open, *close;
    } parts[] = {{"`", "`"}, {"\"", "\""}, {"](", ")"}, {"\xE2\x80\x9C", "\xE2\x80\x9D"},
                 {"\xC2\xAB", "\xC2\xBB"}, {"<", ">"}};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        size_t n = strlen(parts[i].open);
        if (end - at > n && memcmp(text + at, parts[i].open, n) == 0) {
            size_t room = end - at - n < PART_REACH ? end - at - n : PART_REACH;
            const char *close =
                memmem(text + at + n, room, parts[i].close, strlen(parts[i].close));
            return close ? (size_t)(close - text) + strlen(parts[i].close) : at;
        }
    }
    return at;
}

/* --- judging --- */

static bool is_other(const struct sentence *s) {
    return (s->foreign >= MIN_LETTERS && 2 * s->foreign > s->letters) ||
           (s->words >= MIN_WORDS && 10 * s->english <= s->words && s->brief >= 2 &&
            4 * s->breaks <= s->words);
}

static void end_sentence(struct reading *r, size_t end) {
    if (is_other(&r->s)) {
        if (!r->others++) {
            r->at = r->s.at;
            r->end = end;
        }
    }
    r->sentences += r->s.words >= MIN_WORDS || r->s.foreign >= MIN_LETTERS;
    r->s = (struct sentence){.at = end};
}

/* The bytes of a sign that ends a sentence here, or 0. */
static size_t stop_at(const char *text, size_t at, size_t end) {
    static const char *const wide[] = {"\xE3\x80\x82", "\xEF\xBC\x81", "\xEF\xBC\x9F"};
    if (strchr(".!?", text[at])) {
        return at + 1 == end || text[at + 1] == ' ';
    }
    for (size_t i = 0; i < ARRAY_LEN(wide); i++) {
        if (end - at >= 3 && memcmp(text + at, wide[i], 3) == 0) {
            return 3;
        }
    }
    return 0;
}

static void read_line(struct reading *r, size_t at, size_t end, bool front) {
    struct sentence *s = front ? &r->front : &r->s;
    size_t start = at;
    while (at < end) {
        size_t skipped = skip_foreign_part(r->text, at, end);
        size_t stop = front || skipped > at ? 0 : stop_at(r->text, at, end);
        uint32_t cp;
        size_t n = text_decode(r->text + at, end - at, &cp);
        if (skipped > at) {
            s->breaks++;
            at = skipped;
        } else if (stop) {
            end_sentence(r, at + stop);
            at += stop;
        } else if (is_letter(cp)) {
            s->at = s->words || s->letters ? s->at : at;
            at = read_word(s, r->text, at, end,
                           at > start && is_glue(r->text[at - 1]));
        } else {
            s->breaks += cp < 0x80 ? strchr(",;:()|", (int)cp) != NULL : cp == 0x2192;
            at += n;
        }
    }
}

/* Headings, tables and what follows a blank line or begins a list belong to no sentence
 * before; what has no end is none. */
static bool begins_anew(const char *line, size_t len) {
    size_t i = 0;
    while (i < len && strchr(" \t>", line[i])) {
        i++;
    }
    return i == len || strchr("#|-*+", line[i]) || isdigit((unsigned char)line[i]);
}

static void report(const struct reading *r, const char *file, json_t *findings) {
    const struct sentence *f = &r->front;
    bool all = f->words ? 10 * f->english <= f->words || 2 * f->foreign > f->letters
                        : 2 * r->others > r->sentences;
    struct finding_span span = finding_span_of(r->lines, r->at, r->end);
    autofree char *message =
        xasprintf("%zu sentence%s in another language%s: no rule on what a text asks of a "
                  "model has read %s",
                  r->others, r->others == 1 ? "" : "s",
                  all ? "" : " than the skill's", r->others == 1 ? "it" : "them");
    json_array_append_new(findings,
                          finding_new("skill", "other_language",
                                      all ? FINDING_INFO : FINDING_WARNING, message, file,
                                      &span));
}

void safety_language_check(const char *file, const char *text, const struct lines *lines,
                           const unsigned char *kinds, json_t *findings) {
    struct reading r = {.text = text, .lines = lines, .kinds = kinds};
    for (size_t i = 0; i < lines->count; i++) {
        size_t at = lines->starts[i], end = lines_end(lines, text, i);
        bool prose = kinds[i] == IN_PROSE;
        if (!prose || begins_anew(text + at, end - at)) {
            r.s = (struct sentence){.at = at};
        }
        if (kinds[i] == IN_FRONTMATTER) {
            read_line(&r, at, end, true);
        } else if (prose && end > at && !strchr("#|", text[at])) {
            read_line(&r, at, end, false);
        }
    }
    if (r.others) {
        report(&r, file, findings);
    }
}
