/* The name and the description of a skill. */
#include "base/file.h"
#include "base/find.h"
#include "skills/generation/builtin_skill.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/builtin_names_table.h"
#include "skills/catalog/key_phrases.h"
#include "skills/format/tokens.h"

#include <strings.h>

#define NAME_WORDS 4
#define NAME_MAX_BYTES 48u
#define NAME_MAX_WORD 20u
#define SUBJECT_WORDS 4u
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
    return len >= 2 && len <= NAME_MAX_WORD && letters >= 2;
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

/* Behind settings and what only starts another program: "A=b sudo", "npx", "python3 -m". */
static const char *behind_starters(const char *s) {
    for (;;) {
        size_t len = strcspn(s, " ");
        const char *next = s + len + strspn(s + len, " ");
        bool module = strncmp(s, "python", 6) == 0 && strncmp(next, "-m ", 3) == 0;
        bool starts = memchr(s, '=', len) || strncmp(s, "sudo ", 5) == 0 ||
                      strncmp(s, "npx ", 4) == 0 || module;
        if (!starts || !*next || (*next == '-' && !module)) {
            return s;
        }
        s = next + (module ? 3 : 0);
    }
}

/* "nvcc" of "nvcc -arch=sm_90a k.cu". */
static char *program_of(const char *command) {
    const char *s = behind_starters(command);
    size_t len = strcspn(s, " \t\n;|&");
    autofree char *word = xstrndup(s, len);
    autofree char *base = xstrdup(path_basename(word));
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

/* --- the subject of lessons --- */

struct name_subject {
    char words[SUBJECT_WORDS][NAME_MAX_WORD + 1];
    size_t count;
};

static void add_subject_word(struct name_subject *u, const char *word, size_t len) {
    autofree char *low = xstrndup(word, len);
    for (char *c = low; *c; c++) {
        *c = (char)tolower((unsigned char)*c);
    }
    bool known =
        !fits_name(low) || strings_have(bland_words, low) ||
        any_of(i, 0, u->count, strncmp(u->words[i], low, strlen(u->words[i])) == 0);
    if (!known && u->count < SUBJECT_WORDS) {
        memcpy(u->words[u->count++], low, strlen(low) + 1);
    }
}

/* The words of a name, `max` at most: of "@google/gemini-cli" gemini and cli. */
static void add_name_parts(struct name_subject *u, const char *name, size_t len,
                           size_t max) {
    const char *slash = memrchr(name, '/', len);
    const char *at = slash && slash + 1 < name + len ? slash + 1 : name, *end = name + len;
    size_t most = u->count + max;
    while (at < end && u->count < most) {
        size_t n = 0;
        while (at + n < end && isalnum((unsigned char)at[n])) {
            n++;
        }
        add_subject_word(u, at, n);
        at += n + 1;
    }
}

/* The next name in quotes behind *at; its length, or 0. */
static size_t next_quoted(const char **at) {
    for (const char *s = *at; (s = strpbrk(s, "'\"`")); s++) {
        size_t len = strcspn(s + 1, " '\"`");
        bool begins = s == *at || !isalnum((unsigned char)s[-1]);
        if (begins && s[1 + len] == *s && len >= 2 && len <= 40) {
            *at = s + 1;
            return len;
        }
    }
    return 0;
}

/* The longer name that a change brings for this one: __shfl_xor_sync for __shfl_xor. */
static size_t longer_name(const struct lesson *f, const char *name, size_t len,
                          const char **ret) {
    autofree char *word = xstrndup(name, len);
    for (size_t i = 0; i < f->change_count; i++) {
        for (const char *line = f->changes[i].to; *line; line = text_next_line(line)) {
            const char *at = *line == '+' ? strstr(line, word) : NULL;
            size_t n = 0;
            while (at && (isalnum((unsigned char)at[n]) || at[n] == '_')) {
                n++;
            }
            if (n > len && len >= 4) {
                *ret = at;
                return n;
            }
        }
    }
    return 0;
}

static void add_quoted_names(struct name_subject *u, const struct lesson *f) {
    const char *at = f->quote;
    for (size_t len; u->count < 3 && (len = next_quoted(&at)); at += len) {
        const char *longer;
        size_t more = longer_name(f, at, len, &longer);
        add_name_parts(u, more ? longer : at, more ? more : len, 3);
    }
}

/* What the corrected command has and the failed one has not: the setting, the option, the
 * option of the value, or the word. */
static void add_new_words(struct name_subject *u, const struct lesson_change *c) {
    bool program = !strchr(c->from, ' '); /* of another name or place */
    const char *option = "";
    for (const char *w = c->to; *w; w += strspn(w, " ")) {
        size_t len = strcspn(w, " "), name = strcspn(w, "= ");
        autofree char *word = xstrndup(w, len);
        bool same = !program && strstr(c->from, word);
        if (!same && *w == '-' && !program) {
            add_name_parts(u, w, name, 2);
        } else if (!same && *w != '-') {
            bool value = *option && !program;
            add_name_parts(u, value ? option : w, value ? strcspn(option, "= ") : name, 3);
        }
        option = *w == '-' && w[1] == '-' ? w : "";
        w += len;
    }
}

/* The package that was missing and is installed. */
static void add_installed(struct name_subject *u, const struct lesson *f,
                          const char *run) {
    const char *at = strstr(run, " install "), *found = NULL;
    for (at = at ? at + 9 : ""; *at && !found; at += strspn(at, " ")) {
        size_t len = strcspn(at, " =<>[");
        autofree char *word = xstrndup(at, len);
        found = *at != '-' ? strcasestr(f->quote, word) : NULL;
        if (found) {
            add_name_parts(u, at, len, 2);
        }
        at += strcspn(at, " ");
    }
    if (found) {
        add_subject_word(u, "install", 7);
    }
}

/* The most telling words of the error, in its order. */
static void add_telling_words(struct name_subject *u, const char *text, size_t count) {
    struct key_terms terms;
    key_terms_read(&terms, text);
    autofree bool *picked = xcalloc(terms.count + 1, sizeof *picked);
    pick_words(&terms, count, picked);
    for (size_t i = 0; i < terms.count; i++) {
        if (picked[i]) {
            add_subject_word(u, terms.list[i].word, strlen(terms.list[i].word));
        }
    }
    key_terms_finish(&terms);
}

/* From `from` on in the order in which the text has them. */
static void sort_words(struct name_subject *u, size_t from, const char *text) {
    for (size_t i = from + 1; i < u->count; i++) {
        for (size_t k = i; k > from; k--) {
            const char *a = strcasestr(text, u->words[k - 1]);
            const char *b = strcasestr(text, u->words[k]);
            if (!a || !b || a < b) {
                break;
            }
            char word[NAME_MAX_WORD + 1];
            memcpy(word, u->words[k], sizeof word);
            memcpy(u->words[k], u->words[k - 1], sizeof word);
            memcpy(u->words[k - 1], word, sizeof word);
        }
    }
}

/* What one lesson is about: what the corrected command brings, or the names in the error,
 * or, unless only names are asked for, its words. */
static void add_subject(struct name_subject *u, const struct lesson *f, bool only_names) {
    size_t before = u->count;
    const struct lesson_change *c = f->change_count ? &f->changes[0] : NULL;
    if (c && c->kind == CHANGE_COMMAND) {
        bool program = !strchr(c->from, ' ');
        bool sets = memchr(c->to, '=', strcspn(c->to, " ")) != NULL;
        add_new_words(u, c);
        if (!program && !sets && u->count - before == 1) {
            add_quoted_names(u, f); /* what the option is for */
        }
    } else if (c && c->kind == CHANGE_RUN) {
        add_installed(u, f, c->to);
    }
    if (u->count == before) {
        autofree char *error = short_error(f->quote, 160);
        add_quoted_names(u, f);
        size_t names = u->count - before;
        bool enough = names >= 3 || (only_names && !names);
        add_telling_words(u, error, enough ? 0 : 3 - names);
        sort_words(u, before, error);
    }
}

static void add_task_words(struct buf *out, const char *task) {
    struct name_subject u = {0};
    add_telling_words(&u, task, NAME_WORDS);
    for (size_t i = 0; i < u.count; i++) {
        add_name_word(out, u.words[i]);
    }
}

/* Of the first lessons, those that name something before those that do not. */
static void add_subjects(struct name_subject *u, const struct lessons *l) {
    size_t told = l->fixes.count < MAX_TOLD ? l->fixes.count : MAX_TOLD;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < told && u->count < 3; i++) {
            add_subject(u, &l->fixes.list[i], pass == 0);
        }
    }
}

/* The program, unless the subject says enough, and the subject of the first lessons. */
static void add_learnt_words(struct buf *out, const struct lessons *l) {
    struct name_subject u = {0};
    add_subjects(&u, l);
    for (size_t i = 0; i < l->corrections.count && i < MAX_TOLD && u.count < 3; i++) {
        const char *heeded = l->corrections.list[i].heeded;
        add_name_parts(&u, heeded, strlen(heeded), 3);
    }
    autofree char *program = l->fixes.count ? program_of(l->fixes.list[0].context) : NULL;
    const struct lesson_change *c =
        l->fixes.count && l->fixes.list[0].change_count ? l->fixes.list[0].changes : NULL;
    bool renamed = c && c->kind == CHANGE_COMMAND && !strchr(c->from, ' ');
    bool says = u.count >= 3 || (renamed && u.count == 1);
    if (program && fits_name(program) && !says &&
        !any_of(i, 0, u.count, strcmp(u.words[i], program) == 0)) {
        add_name_word(out, program);
    }
    for (size_t i = 0; i < u.count; i++) {
        add_name_word(out, u.words[i]);
    }
}

char *builtin_name(const char *task, const struct lessons *l) {
    struct buf out = BUF_INIT(SKILL_MAX_NAME);
    if (*task) {
        add_task_words(&out, task);
    } else {
        add_learnt_words(&out, l);
    }
    if (!strchr(out.data, '-')) {
        add_name_word(&out, !out.len         ? "learnt-lessons"
                            : l->fixes.count ? "command"
                                             : "lessons");
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
        buf_adds(out, "What a person ruled in this project.");
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

char *builtin_wider_description(const char *description, const struct lessons *l) {
    autofree struct lesson *others = xcalloc(l->fixes.count + 1, sizeof *others);
    struct lessons unnamed = {.fixes.list = others};
    for (size_t i = 0; i < l->fixes.count; i++) {
        autofree char *program = program_of(l->fixes.list[i].context);
        if (program && !strcasestr(description, program)) {
            others[unnamed.fixes.count++] = l->fixes.list[i];
        }
    }
    struct buf out = BUF_INIT(2 * SKILL_MAX_DESCRIPTION);
    buf_adds(&out, description);
    if (unnamed.fixes.count) {
        add_when(&out, &unnamed, 2, 60);
    }
    autofree char *text = buf_detach(&out);
    bool fits = unnamed.fixes.count && strlen(text) <= SKILL_MAX_DESCRIPTION;
    return fits && builtin_is_safe(text) ? take(text) : NULL;
}
