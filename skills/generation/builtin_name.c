/* The name and the description of a skill. */
#include "base/file.h"
#include "base/find.h"
#include "skills/generation/builtin_skill.h"

#include "base/buf.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/builtin_names_table.h"
#include "skills/catalog/key_phrases.h"
#include "skills/format/function_words.h"
#include "skills/format/tokens.h"

#include <strings.h>

#define NAME_WORDS 4
#define NAME_MAX_BYTES 48u
#define NAME_MAX_WORD 20u
#define SYMPTOM_WORDS 6u
#define MIN_SYMPTOM 3u /* words; with fewer a later clause may say more */
#define CATALOGUE_TOKENS 92u /* of 100; estimates differ */
#define MAX_PROGRAMS 3

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

/* "<home>" begins a word: its name stays with what follows it. Its length, or 0. */
static size_t placeholder_at(const char *s, size_t i) {
    size_t len = 1;
    while (s[i] == '<' && (islower((unsigned char)s[i + len]) || s[i + len] == '-')) {
        len++;
    }
    bool begins = i == 0 || strchr(" '\"(", s[i - 1]);
    return begins && len > 1 && s[i + len] == '>' ? len : 0;
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
    for (size_t i = 0, end = 0; i < kept; i++) {
        size_t placeholder = placeholder_at(s, i);
        end = placeholder ? i + placeholder : end;
        if (placeholder || (end && i == end)) {
            continue;
        }
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

/* "bash", "zsh:1" */
static bool is_shell(const char *word, size_t len) {
    while (len && strchr(":0123456789", word[len - 1])) {
        len--;
    }
    return len >= 2 && len <= 4 && memcmp(word + len - 2, "sh", 2) == 0;
}

/* Behind the place that says it: "/usr/bin/python: ", "(eval):1: ", "bash: line 1: ". */
static const char *behind_place(const char *quote) {
    const char *colon = strstr(quote, ": ");
    size_t len = colon ? (size_t)(colon - quote) : 0;
    bool word = len && strcspn(quote, " ") > len;
    bool place = (word && (memchr(quote, '/', len) || is_shell(quote, len))) || (len && *quote == '(');
    const char *s = place ? colon + 2 : quote;
    size_t line = strncmp(s, "line ", 5) == 0 ? 5 + strspn(s + 5, "0123456789") : 0;
    return line > 5 && strncmp(s + line, ": ", 2) == 0 ? s + line + 2 : s;
}

/* Behind the name in quotes that opens at s[0], as "'" does in "type 'T<int>'" and not in "can't"; or s. */
static const char *behind_quoted(const char *text, const char *s) {
    bool opens = (*s == '\'' || *s == '"' || *s == '`') && (s == text || !isalnum((unsigned char)s[-1]));
    const char *close = opens ? strchr(s + 1, *s) : NULL;
    while (close && isalnum((unsigned char)close[1])) {
        close = strchr(close + 1, *s);
    }
    return close ? close + 1 : s;
}

/* A description may have no angle brackets: a name that has some is "…", and a home folder "~". */
static char *without_brackets(const char *text) {
    struct buf out = BUF_INIT(2 * strlen(text) + 8);
    for (const char *s = text; *s;) {
        size_t len = (size_t)(behind_quoted(text, s) - s);
        bool brackets = len && (memchr(s, '<', len) || memchr(s, '>', len)) && !memmem(s, len, "<home>", 6);
        if (brackets) {
            buf_addf(&out, "%c…%c", *s, *s);
        } else if (!len && strncmp(s, "<home>", 6) == 0) {
            buf_addc(&out, '~');
            len = 6;
        } else {
            len = 1;
            buf_addc(&out, *s);
        }
        s += len;
    }
    return buf_detach(&out);
}

/* What was cut does not end in "because" or "from". */
static void drop_last_joint(char *sentence) {
    char *blank = strrchr(sentence, ' ');
    if (blank && is_function_word(blank + 1)) {
        *blank = '\0';
    }
}

/* The text of an error after its "file:line: error:". */
static char *short_error(const char *quote, size_t max) {
    const char *s = behind_place(quote);
    const char *mark = strcasestr(s, "error");
    const char *colon = mark ? strstr(mark, ": ") : NULL;
    const char *said = mark && mark[5] == ' ' ? mark + 6 : "";
    if (isupper((unsigned char)said[0]) && islower((unsigned char)said[1])) {
        s = said; /* "npm error Could not resolve dependency: …" */
    } else if (colon && colon - s < 60 && strlen(colon) > 18) {
        s = colon + 2;
    }
    s += strspn(s, " :");
    const char *tag = strrchr(s, '['); /* who said it: "[nvrtc]" */
    bool tagged = tag && tag > s && tag[-1] == ' ' && tag[strcspn(tag, "]")] &&
                  !tag[strcspn(tag, "]") + 1];
    autofree char *said_words = xstrndup(s, tagged ? (size_t)(tag - s) - 1 : strlen(s));
    autofree char *words = without_brackets(said_words);
    autofree char *sentence = builtin_task_sentence(words, max);
    if (strlen(words) > max) {
        drop_last_joint(sentence);
    }
    for (char *c = sentence; *c; c++) {
        *c = *c == '"' ? '\'' : *c;
    }
    if (toupper((unsigned char)*words) == *sentence && *sentence) {
        *sentence = *words; /* an error keeps its letters */
    }
    return take(sentence);
}

/* --- the symptom --- */

struct symptom {
    char words[SYMPTOM_WORDS][NAME_MAX_WORD + 1];
    size_t count;
    bool whole; /* no word of its clause is missing at the end */
};

/* A word, or a name in quotes without signs, in lower case; its length, or 0. */
static size_t plain_word(const char *token, size_t len, char ret[NAME_MAX_WORD + 1]) {
    bool quoted = len > 2 && strchr("'\"`", *token) != NULL;
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        char c = token[i];
        bool edge = strchr("'\"`.,;:!?)", c) != NULL;
        bool inner = c == '\'' && !quoted; /* "can't" */
        if (edge && (i == 0 || inner || strspn(token + i, "'\"`.,;:!?)") >= len - i)) {
            continue;
        }
        if (n == NAME_MAX_WORD || !(isalpha((unsigned char)c) ||
                                    (quoted && isdigit((unsigned char)c)))) {
            return 0;
        }
        ret[n++] = (char)tolower((unsigned char)c);
    }
    ret[n] = '\0';
    return n;
}

static bool ends_clause(const char *token, size_t len) {
    return strchr(".,;:!?", token[len - 1]) != NULL || *token == '(' ||
           strncmp(token, "\xE2\x80\xA6", 3) == 0;
}

/* The first words of the clause at *at, without what is a name; *at moves behind it. */
static struct symptom read_clause(const char **at) {
    struct symptom p = {.whole = true};
    const char *s = *at;
    bool ended = false;
    for (size_t len; !ended && (len = strcspn(s, " ")) > 0; s += len + strspn(s + len, " ")) {
        char word[NAME_MAX_WORD + 1];
        ended = ends_clause(s, len);
        if (plain_word(s, len, word) && (p.count || !strings_have(articles, word))) {
            if (p.count < SYMPTOM_WORDS) {
                memcpy(p.words[p.count++], word, sizeof word);
            } else {
                p.whole = false;
            }
        }
    }
    *at = s;
    return p;
}

/* What an error says first in words of its own: "no such file or directory". */
static struct symptom symptom_of(const char *error) {
    struct symptom best = {0};
    for (const char *at = error; *at && best.count < MIN_SYMPTOM;) {
        struct symptom p = read_clause(&at);
        best = p.count > best.count ? p : best;
    }
    if (!best.whole && best.count > 2 && is_function_word(best.words[best.count - 2])) {
        best.count--; /* "because running" begins what is cut off */
    }
    while (!best.whole && best.count > 1 && is_function_word(best.words[best.count - 1])) {
        best.count--;
    }
    return best;
}

/* Each of its words, as far as there is room; a joint is no end. */
static void add_phrase(struct buf *out, const struct symptom *p) {
    size_t fit = 0, bytes = out->len;
    while (fit < p->count && bytes + strlen(p->words[fit]) + 1 <= NAME_MAX_BYTES) {
        bytes += strlen(p->words[fit++]) + 1;
    }
    while (fit && fit < p->count && is_function_word(p->words[fit - 1])) {
        fit--;
    }
    for (size_t i = 0; i < fit; i++) {
        add_name_word(out, p->words[i]);
    }
}

/* The words of a name: of "MSYS_NO_PATHCONV" all three. */
static void add_name_parts(struct buf *out, const char *name, size_t len) {
    for (size_t at = 0, n; at < len; at += n + 1) {
        n = 0;
        while (at + n < len && isalnum((unsigned char)name[at + n])) {
            n++;
        }
        autofree char *word = xstrndup(name + at, n);
        for (char *c = word; *c; c++) {
            *c = (char)tolower((unsigned char)*c);
        }
        if (n && n <= NAME_MAX_WORD) {
            add_name_word(out, word);
        }
    }
}

/* The most telling words of a text, in its order. */
static void add_telling_words(struct buf *out, const char *text) {
    struct key_terms terms;
    key_terms_read(&terms, text);
    autofree bool *picked = xcalloc(terms.count + 1, sizeof *picked);
    pick_words(&terms, NAME_WORDS, picked);
    for (size_t i = 0; i < terms.count; i++) {
        if (picked[i]) {
            add_name_word(out, terms.list[i].word);
        }
    }
    key_terms_finish(&terms);
}

/* The setting that the corrected command begins with; its length, or 0. */
static size_t setting_of(const struct lesson *f) {
    const struct lesson_change *c = f->change_count ? f->changes : NULL;
    size_t len = c && c->kind == CHANGE_COMMAND ? strcspn(c->to, " =") : 0;
    return len && c->to[len] == '=' && strncmp(c->from, c->to, len + 1) != 0 ? len : 0;
}

/* The program, and the setting that it needs or what it says: "docker-port-is-already-
 * allocated". */
static void add_fix(struct buf *out, const struct lesson *f) {
    autofree char *program = program_of(f->context);
    autofree char *error = short_error(f->quote, 160);
    struct symptom symptom = symptom_of(error);
    size_t setting = setting_of(f);
    if (program) {
        add_name_parts(out, program, strlen(program));
    }
    if (setting) {
        add_name_parts(out, f->changes[0].to, setting);
    } else if (symptom.count > 1) {
        if (strcmp(out->data, symptom.words[0]) == 0) {
            buf_reset(out);
        }
        add_phrase(out, &symptom);
    } else {
        add_telling_words(out, error);
    }
}

static void add_correction(struct buf *out, const struct lesson *c) {
    if (c->instead) {
        add_name_word(out, "use");
    }
    add_name_parts(out, c->heeded, strlen(c->heeded));
    if (c->instead) {
        add_name_word(out, "not");
        add_name_parts(out, c->instead, strlen(c->instead));
    }
}

static void add_learnt_words(struct buf *out, const struct lessons *l) {
    if (l->fixes.count) {
        add_fix(out, &l->fixes.list[0]);
    } else if (l->corrections.count) {
        add_correction(out, &l->corrections.list[0]);
    }
}

char *builtin_name(const char *task, const struct lessons *l) {
    struct buf out = BUF_INIT(SKILL_MAX_NAME);
    if (*task) {
        add_telling_words(&out, task);
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
