/* The name and the description of a skill. */
#include "skills/generation/builtin_skill.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/builtin_names_table.h"
#include "skills/catalog/key_phrases.h"
#include "skills/format/tokens.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define NAME_WORDS 4
#define NAME_MAX_BYTES 48u
#define CATALOGUE_TOKENS 92u /* of 100; estimates differ */
#define MAX_PROGRAMS 3
#define MAX_TOLD 4u /* lessons that the name is made of */

/* --- the task --- */

static const char *strip_politeness(const char *s) {
    const char *const *head = politeness;
    s += strspn(s, " \t\n#*>-");
    while (*head && strncasecmp(s, *head, strlen(*head)) != 0) {
        head++;
    }
    size_t len = *head ? strlen(*head) : 0;
    return len && s[len] == ' ' ? strip_politeness(s + len) : s;
}

/* Up to the end of the first sentence. */
static size_t sentence_length(const char *s) {
    size_t i = 0;
    for (; s[i] && s[i] != '\n'; i++) {
        if (strchr(".!?", s[i]) && (isspace((unsigned char)s[i + 1]) || !s[i + 1])) {
            break;
        }
    }
    return i;
}

char *builtin_task_sentence(const char *task, size_t max) {
    const char *s = strip_politeness(task ? task : "");
    size_t len = sentence_length(s);
    struct buf out = BUF_INIT(max + 8);
    size_t kept = text_cut(s, len, max);
    if (kept < len) { /* at a word */
        size_t word = kept;
        while (word > kept / 2 && s[word - 1] != ' ') {
            word--;
        }
        kept = word > kept / 2 ? word : kept;
    }
    for (size_t i = 0; i < kept; i++) {
        char c = strchr("<>`\t", s[i]) && s[i] ? ' ' : s[i];
        if (c != ' ' || (out.len && out.data[out.len - 1] != ' ')) {
            buf_addc(&out, out.len ? c : (char)toupper((unsigned char)c));
        }
    }
    while (out.len && strchr(" ,;:-", out.data[out.len - 1])) {
        out.data[--out.len] = '\0';
    }
    return buf_detach(&out);
}

/* --- the name --- */

static bool fits_name(const char *word) {
    size_t len = strlen(word), letters = 0;
    for (size_t i = 0; i < len; i++) {
        if (!islower((unsigned char)word[i]) && !isdigit((unsigned char)word[i])) {
            return false;
        }
        letters += islower((unsigned char)word[i]) != 0;
    }
    return len >= 2 && len <= 20 && letters >= 2;
}

static double rank_of(const struct key_term *t) {
    if (!fits_name(t->word) || strings_have(bland_words, t->word) ||
        t->kind == WORD_WHOLE || t->optional) {
        return 0;
    }
    return t->weight * (t->position < 40 ? 1.3 : 1.0);
}

/* The best words in the order of the text. */
static void pick_words(const struct key_terms *terms, size_t count, bool *picked) {
    for (size_t n = 0; n < count; n++) {
        size_t best = SIZE_MAX;
        double best_rank = 0.01;
        for (size_t i = 0; i < terms->count; i++) {
            double rank = picked[i] ? 0 : rank_of(&terms->list[i]);
            if (rank > best_rank) {
                best = i;
                best_rank = rank;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        picked[best] = true;
    }
}

static void add_name_word(struct buf *out, const char *word) {
    if (out->len + strlen(word) + 1 <= NAME_MAX_BYTES) {
        buf_addf(out, "%s%s", out->len ? "-" : "", word);
    }
}

/* "nvcc" of "nvcc -arch=sm_90a k.cu". */
static char *program_of(const char *command) {
    const char *s = command;
    if (strncmp(s, "sudo ", 5) == 0) {
        s += 5;
    }
    size_t len = strcspn(s, " \t\n;|&");
    autofree char *word = xstrndup(s, len);
    const char *slash = strrchr(word, '/');
    autofree char *base = xstrdup(slash ? slash + 1 : word);
    return strpbrk(base, "=$\"'(){}<>`.") || strlen(base) < 2 || strlen(base) > 24 ||
                   strcmp(base, "cd") == 0
               ? NULL
               : take(base);
}

/* Behind the place that says it, "/usr/bin/python: " or "(eval):1: ". */
static const char *behind_place(const char *quote) {
    const char *colon = strstr(quote, ": ");
    size_t len = colon ? (size_t)(colon - quote) : 0;
    bool place = len && strcspn(quote, " ") > len && memchr(quote, '/', len);
    place |= len && *quote == '(';
    return place ? colon + 2 : quote;
}

/* The text of an error after its "file:line: error:". */
static char *short_error(const char *quote, size_t max) {
    const char *s = behind_place(quote);
    const char *mark = strcasestr(s, "error");
    const char *colon = mark ? strstr(mark, ": ") : NULL;
    if (colon && colon - s < 60 && strlen(colon) > 18) {
        s = colon + 2;
    }
    s += strspn(s, " :");
    const char *tag = strrchr(s, '['); /* who said it: "[nvrtc]" */
    bool tagged = tag && tag > s && tag[-1] == ' ' && tag[strcspn(tag, "]")] &&
                  !tag[strcspn(tag, "]") + 1];
    autofree char *words = xstrndup(s, tagged ? (size_t)(tag - s) - 1 : strlen(s));
    autofree char *sentence = builtin_task_sentence(words, max);
    for (char *c = sentence; *c; c++) {
        *c = *c == '"' ? '\'' : *c;
    }
    if (toupper((unsigned char)*words) == *sentence && *sentence) {
        *sentence = *words; /* an error keeps its letters */
    }
    return take(sentence);
}

/* The subject of the lessons, in words. */
static char *learnt_words(const struct lessons *l) {
    struct buf out = BUF_INIT(16u << 10);
    for (size_t i = 0; i < l->fixes.count && i < MAX_TOLD; i++) {
        const struct lesson *f = &l->fixes.list[i];
        autofree char *error = short_error(f->quote, 160);
        buf_addf(&out, "%s. ", error);
    }
    for (size_t i = 0; i < l->corrections.count && i < MAX_TOLD; i++) {
        buf_addf(&out, "%s. ", l->corrections.list[i].heeded);
    }
    return buf_detach(&out);
}

char *builtin_name(const char *task, const struct lessons *l) {
    struct key_terms terms;
    struct buf out = BUF_INIT(SKILL_MAX_NAME);
    autofree char *words = *task ? xstrdup(task) : learnt_words(l);
    autofree char *program =
        !*task && l->fixes.count ? program_of(l->fixes.list[0].context) : NULL;
    if (program && fits_name(program)) {
        add_name_word(&out, program);
    }
    key_terms_read(&terms, words);
    autofree bool *picked = xcalloc(terms.count + 1, sizeof *picked);
    pick_words(&terms, out.len ? NAME_WORDS - 1 : NAME_WORDS, picked);
    for (size_t i = 0; i < terms.count; i++) {
        if (picked[i] && !(out.len && strcmp(out.data, terms.list[i].word) == 0)) {
            add_name_word(&out, terms.list[i].word);
        }
    }
    key_terms_finish(&terms);
    if (!strchr(out.data, '-')) {
        add_name_word(&out, out.len ? "lessons" : "learnt-lessons");
    }
    return buf_detach(&out);
}

/* --- the description --- */

static void add_program(char *programs[MAX_PROGRAMS], const char *command) {
    char *program = command ? program_of(command) : NULL;
    for (size_t i = 0; i < MAX_PROGRAMS && program; i++) {
        if (!programs[i]) {
            programs[i] = take(program);
        } else if (strcmp(programs[i], program) == 0) {
            break;
        }
    }
    free(program);
}

/* "nvcc, cmake and pytest" */
static void add_programs(struct buf *out, const struct lessons *l, const char *last) {
    char *programs[MAX_PROGRAMS] = {0};
    for (size_t i = 0; i < l->fixes.count; i++) {
        add_program(programs, l->fixes.list[i].context);
    }
    for (size_t i = 0; i < MAX_PROGRAMS && programs[i]; i++) {
        bool more = i + 1 < MAX_PROGRAMS && programs[i + 1];
        buf_addf(out, "%s%s", i == 0 ? "" : (more ? ", " : last), programs[i]);
    }
    for (size_t i = 0; i < MAX_PROGRAMS; i++) {
        free(programs[i]);
    }
}

static bool fits(const char *name, const struct buf *text) {
    return tokens_estimate(name, strlen(name)) + tokens_estimate(text->data, text->len) <=
           CATALOGUE_TOKENS;
}

static void add_errors(struct buf *out, const struct lessons *l, size_t count,
                       size_t length) {
    for (size_t i = 0; i < count && i < l->fixes.count; i++) {
        autofree char *error = short_error(l->fixes.list[i].quote, length);
        buf_addf(out, "%s\"%s\"", i ? " or " : "", error);
    }
}

static void add_when(struct buf *out, const struct lessons *l, size_t errors,
                     size_t error_length) {
    autobuf programs = BUF_INIT(256), told = BUF_INIT(1024);
    add_programs(&programs, l, " or ");
    add_errors(&told, l, errors, error_length);
    buf_addf(out, " Use when %s fails", programs.len ? programs.data : "a command");
    buf_addf(out, "%s%s.", told.len ? " with " : " like that", told.data);
}

/* What it does: in the words of the request, or from the lessons. */
static void add_what(struct buf *out, const char *task, const struct lessons *l,
                     size_t max) {
    autofree char *sentence = builtin_task_sentence(task, max);
    if (*sentence) {
        buf_addf(out, "%s.", sentence);
    } else if (l->fixes.count) {
        autobuf programs = BUF_INIT(256);
        add_programs(&programs, l, " and ");
        buf_addf(out, "Fixes for %s%s.", programs.len ? "errors of " : "errors",
                 programs.len ? programs.data : "");
    } else {
        buf_adds(out, "Says what to use.");
    }
}

static void compose(struct buf *out, const char *task, const struct lessons *l,
                    size_t what, size_t errors, size_t error_length) {
    buf_reset(out);
    add_what(out, task, l, what);
    if (l->fixes.count) {
        add_when(out, l, errors, error_length);
    } else if (l->corrections.count && l->corrections.list[0].instead) {
        buf_addf(out, " Use when about to use %.60s: use %.60s.",
                 l->corrections.list[0].instead, l->corrections.list[0].heeded);
    } else if (l->corrections.count) {
        buf_addf(out, " Use when %.60s is in question.", l->corrections.list[0].heeded);
    } else {
        buf_adds(out, " Use for the same task.");
    }
}

char *builtin_description(const char *name, const char *task, const struct lessons *l) {
    static const struct {
        size_t what, errors, length;
    } sizes[] = {{220, 2, 90}, {180, 2, 60}, {180, 1, 60}, {150, 1, 45},
                 {140, 0, 0},  {100, 0, 0},  {60, 0, 0}};
    struct buf out = BUF_INIT(SKILL_MAX_DESCRIPTION);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        compose(&out, task, l, sizes[i].what, sizes[i].errors, sizes[i].length);
        if (fits(name, &out)) {
            break;
        }
    }
    return buf_detach(&out);
}
